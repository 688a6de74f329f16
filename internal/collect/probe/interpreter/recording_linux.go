package interpreter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/collect/probe"
)

// How often stacks are looked at. Looks take at most one part in lookCost of a CPU, unless that would make them rarer than lookRare. The times
// between are random, from half to one and a half of their mean: regular looks would see periodic work always or never.
const (
	lookEach = 14 * time.Millisecond
	lookRare = 500 * time.Millisecond
	lookCost = 100

	lookCosts   = 8               // the quickest of so many looks tells what one costs: others had to wait for a CPU
	writeEach   = time.Second     // between two writes; a thread that stays is written anew in each
	refreshEach = 5 * time.Second // between two searches for workers
	mostFailed  = 20              // looks of a process that fail one after the other, after which it is given up
)

// recording writes the stacks of a process and of its workers.
type recording struct {
	lead    int
	workers bool
	each    time.Duration
	passive bool            // nothing is switched on: running threads of a [Sampler] are not sampled
	open    map[int]*looked // by PID
	mu      sync.Mutex      // guards out
	out     *writer
	beside  sync.WaitGroup
}

// looked is a process that is looked at.
type looked struct {
	Stacks
	failed int
	end    context.CancelFunc // of its samples; nil: it is not sampled
}

func newRecording(lead int, workers bool) *recording {
	r := &recording{lead: lead, workers: workers, each: lookEach, open: make(map[int]*looked)}
	r.refreshProcesses()
	return r
}

// refreshProcesses begins with the workers that are new, and forgets those that have ended.
func (r *recording) refreshProcesses() {
	all := []int{r.lead}
	if r.workers {
		all = append(all, probe.Workers(r.lead)...)
	}
	old := r.open
	r.open = make(map[int]*looked, len(all))
	for _, pid := range all {
		if r.open[pid] = old[pid]; r.open[pid] != nil {
			continue
		}
		delete(r.open, pid)
		if s, _, err := openStacks(pid); err == nil {
			r.open[pid] = &looked{Stacks: s}
		}
	}
	for pid, s := range old {
		if r.open[pid] != s && s.end != nil {
			s.end()
		}
	}
}

// startSampling begins to sample the processes that are new.
func (r *recording) startSampling(ctx context.Context) {
	for _, s := range r.open {
		sampler, is := s.Stacks.(Sampler)
		if !is || s.end != nil || r.passive {
			continue
		}
		var ends context.Context
		ends, s.end = context.WithCancel(ctx)
		r.beside.Go(func() {
			sampler.Sample(ends, func(at int64, t Thread) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.out.addMoment(at, t)
			})
		})
	}
}

// run looks until the context ends.
func (r *recording) run(ctx context.Context, out io.Writer) error {
	r.out = newWriter(out)
	now := time.Now()
	title := ""
	for _, s := range r.open {
		title = s.Title()
		break
	}
	r.out.buf = fmt.Appendf(r.out.buf, "# interpreter stacks of pid %d, %s\nfrom %d\n", r.lead, title, now.UnixNano())
	ctx, end := context.WithCancel(ctx)
	defer r.beside.Wait()
	defer end()
	r.startSampling(ctx)
	written, refreshed := now, now
	apart := r.each
	var costs [lookCosts]time.Duration
	for n := 0; probe.Wait(ctx, apart/2+rand.N(apart)); n++ {
		began := time.Now()
		r.lookAtAll()
		costs[n%len(costs)] = time.Since(began)
		if now = time.Now(); now.Sub(written) >= writeEach {
			if written = now; !probe.Alive(r.lead) {
				break
			}
			if err := r.flush(now); err != nil {
				return err
			}
		}
		if now.Sub(refreshed) >= refreshEach {
			refreshed = now
			r.refreshProcesses()
			r.startSampling(ctx)
		}
		apart = max(r.each, min(lookRare, lookCost*slices.Min(costs[:min(n+1, len(costs))])))
	}
	end()
	r.beside.Wait()
	return r.flush(time.Now())
}

func (r *recording) flush(now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.flush(now)
}

// lookAtAll looks at each process once.
func (r *recording) lookAtAll() {
	for pid, s := range r.open {
		at := time.Now().UnixNano()
		r.mu.Lock()
		torn, err := s.Look(func(t Thread) { r.out.addThread(at, t) })
		r.out.torn += torn
		r.mu.Unlock()
		if err == nil {
			s.failed = 0
		} else if s.failed++; s.failed == mostFailed {
			delete(r.open, pid)
		}
	}
}

// writer writes an artifact. Functions and stacks come once each, before the lines that refer to them by number.
type writer struct {
	out    io.Writer
	buf    []byte
	frames map[*Frame]int
	texts  map[string]int // the same frame of several processes
	stacks map[string]int
	stands map[int]*stand // by thread
	torn   int
	frame  int // the last assigned number
	stack  int
	key    []byte
}

// stand is what several looks at a thread after each other saw alike.
type stand struct {
	from, until int64
	looks       int
	state       State
	stack       int
}

// mostKnown bounds the numbered entries; beyond it all of them are written anew.
const mostKnown = 1 << 15

func newWriter(out io.Writer) *writer {
	w := &writer{out: out, stands: make(map[int]*stand)}
	w.forgetKnown()
	return w
}

func (w *writer) forgetKnown() {
	w.frames, w.texts, w.stacks = make(map[*Frame]int), make(map[string]int), make(map[string]int)
}

// addThread adds what a look saw of a thread. A thread without a known number is left out: nothing else could be joined with it.
func (w *writer) addThread(at int64, t Thread) {
	if t.ID == 0 || len(t.Frames) == 0 {
		return
	}
	stack := w.stackNumber(t.Frames)
	s := w.stands[t.ID]
	if s != nil && s.stack == stack && s.state == t.State {
		s.until = at
		s.looks++
		return
	}
	if s == nil {
		s = new(stand)
		w.stands[t.ID] = s
	} else {
		w.writeStand(t.ID, s)
	}
	*s = stand{from: at, until: at, looks: 1, state: t.State, stack: stack}
}

// addMoment adds a sample of a thread, which says nothing about the time before and after.
func (w *writer) addMoment(at int64, t Thread) {
	if t.ID != 0 && len(t.Frames) > 0 {
		w.writeStand(t.ID, &stand{from: at, until: at, looks: 1, state: t.State, stack: w.stackNumber(t.Frames)})
	}
}

func (w *writer) writeStand(tid int, s *stand) {
	if s.looks > 0 {
		w.buf = fmt.Appendf(w.buf, "l %d %d %d %d %c %d\n", s.from, s.until, s.looks, tid, s.state, s.stack)
	}
}

func (w *writer) stackNumber(frames []*Frame) int {
	w.key = w.key[:0]
	for _, f := range frames {
		w.key = strconv.AppendInt(append(w.key, ' '), int64(w.frameNumber(f)), 10)
	}
	id, known := w.stacks[string(w.key)]
	if !known {
		w.stack++
		id = w.stack
		w.stacks[string(w.key)] = id
		w.buf = append(strconv.AppendInt(append(w.buf, "s "...), int64(id), 10), w.key...)
		w.buf = append(w.buf, '\n')
	}
	return id
}

func (w *writer) frameNumber(f *Frame) int {
	if n, known := w.frames[f]; known {
		return n
	}
	text := fmt.Sprintf("%d %s\t%s", f.Line, redact.Value([]byte(probe.OneLine(f.File))), redact.Value([]byte(probe.OneLine(f.Function))))
	n, known := w.texts[text]
	if !known {
		w.frame++
		n = w.frame
		w.texts[text] = n
		w.buf = fmt.Appendf(w.buf, "f %d %s\n", n, text)
	}
	w.frames[f] = n
	return n
}

// flush writes what was seen until now. Threads that are still there begin anew, so that a recording that breaks off has them.
func (w *writer) flush(now time.Time) error {
	for tid, s := range w.stands {
		w.writeStand(tid, s)
		delete(w.stands, tid)
	}
	if w.torn > 0 {
		w.buf = fmt.Appendf(w.buf, "torn %d\n", w.torn)
		w.torn = 0
	}
	w.buf = fmt.Appendf(w.buf, "until %d\n", now.UnixNano())
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	if len(w.frames) > mostKnown || len(w.stacks) > mostKnown {
		w.forgetKnown()
	}
	return err
}

// errEnded is the error of a process that has ended, or that has become another program.
var errEnded = errors.New("the process has ended")
