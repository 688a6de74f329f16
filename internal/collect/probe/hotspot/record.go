package hotspot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// undoing is how long switching off and the last looks may take: record waits 10 s.
const undoing = 8 * time.Second

// recording is one run of the probe.
type recording struct {
	vm      *attach.VM // nil: it cannot be attached to, or is not to be
	release int        // 8, 17, 25, as it says itself; 0 unknown
	about   evidence.Subject
	pid     int
	sink    probe.Sink
	plan    probe.Plan
	end     time.Time
	stops   stops
	flown   *flown // the flight recording, if there was to be one

	mu     sync.Mutex
	said   map[string]bool
	pieces map[string]int // by series, of those stored
}

// record records a JVM until the context ends, the plan or the JVM.
func record(ctx context.Context, vm *attach.VM, t discover.Target, plan probe.Plan, sink probe.Sink) error {
	r := &recording{vm: vm, about: t.Subject(), pid: t.PID, sink: sink, plan: plan,
		end: time.Now().Add(plan.For), said: map[string]bool{}, pieces: map[string]int{}}
	if plan.Passive && vm != nil {
		sink.Lack(probe.Lack{What: recorded, Why: "the JVM must be asked for them, and --passive asks it nothing", Do: "record without --passive"})
		r.vm = nil
	}
	ctx, cancel := context.WithDeadline(ctx, r.end)
	defer cancel()
	var counters sync.WaitGroup
	counters.Go(func() { r.counters(ctx) })
	defer counters.Wait()
	if r.vm == nil {
		return nil
	}
	err := r.attached(ctx)
	switch {
	case errors.Is(err, attach.ErrGone):
		r.warn("the JVM ended; the data recorded until then is kept")
		cancel()
		return nil
	case err != nil && !errors.Is(err, context.Canceled) && r.stored() == 0: // a JVM that never answered, however short the recording
		r.sink.Lack(lack(err))
	case err != nil && ctx.Err() == nil:
		r.warn("%s; the data recorded until then is kept", lack(err).Why)
	}
	return nil
}

// attached records what the JVM is asked for.
func (r *recording) attached(ctx context.Context) error {
	var version release
	if err := r.answer(ctx, "vm-version.txt", "", "VM.version", &version); err != nil {
		return err
	}
	r.release = version.number()
	log, err := r.switchOn(ctx)
	if log != nil {
		defer func() { r.undo(ctx, log.off) }()
	}
	if err != nil {
		return err
	}
	defer func() { r.undo(ctx, r.land) }()
	if r.plan.Flight && r.plan.For < 2*flightCalm { // else when there are latencies to hold it against
		if err := r.fly(ctx, ""); err != nil {
			return err
		}
	}
	for _, a := range []struct{ name, series, command string }{
		{"vm-flags.txt", "", "VM.flags -all"},
		{"vm-command.txt", "", "VM.command_line"},
		{"", "heap", "GC.heap_info"},
	} {
		if err := r.answer(ctx, a.name, a.series, a.command); err != nil {
			return err
		}
	}
	if err := r.threads(ctx); err != nil {
		return err
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing)
	defer cancel()
	if log != nil {
		log.off(late) // first: nothing may stay on, nor walking the heap be taken for the service's own doing
	}
	r.land(late)
	if err := r.answer(late, "", "heap", "GC.heap_info"); err != nil {
		return err
	}
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		r.sink.Lack(probe.Lack{What: "class histogram", Why: "it is taken at the end, and the recording was interrupted before", Do: "let the recording run to its end"})
		return nil
	}
	return r.classes(late)
}

// undo calls what switches something off, whether the context has ended or not.
func (r *recording) undo(ctx context.Context, off func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing)
	defer cancel()
	off(ctx)
}

// answer stores what a command says, for others to read, too. That this JVM does not know it
// is no failure.
func (r *recording) answer(ctx context.Context, file, series, command string, others ...io.Writer) error {
	numbered := file == ""
	if numbered {
		file = r.name(series, "txt")
	}
	w := &lazy{r: r, meta: capture.Meta{Name: file, Series: series, Probe: name, Origin: command, About: r.about, Lines: true}}
	to := io.MultiWriter(append([]io.Writer{w}, others...)...)
	if command == "VM.command_line" {
		to = &commands{to: w}
	}
	err := r.vm.Ask(ctx, command, to)
	if numbered && w.to == nil {
		r.unname(series)
	}
	if e := w.Close(); err == nil || e != nil {
		return e
	}
	if errors.Is(err, attach.ErrRefused) {
		return nil
	}
	return err
}

// mostAnswer bounds one answer: the dump of 10,000 threads is 30 MB.
const mostAnswer = 32 << 20

// release reads which JDK it is:
//
//	OpenJDK 64-Bit Server VM version 25.0.3+9-LTS
//	JDK 25.0.3
type release struct{ said []byte }

func (v *release) Write(p []byte) (int, error) {
	v.said = append(v.said, p[:min(len(p), 1<<10-len(v.said))]...)
	return len(p), nil
}

// number is 8, 17 or 25, 0 unknown.
func (v *release) number() int {
	for l := range bytes.Lines(v.said) {
		if rest, ok := bytes.CutPrefix(l, []byte("JDK ")); ok {
			number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte("."))
			n, _ := strconv.Atoi(string(number))
			return n
		}
	}
	return 0
}

// lazy is an artifact that is made when something is written to it.
type lazy struct {
	r    *recording
	meta capture.Meta
	to   io.WriteCloser
	n    int
}

func (l *lazy) Write(p []byte) (int, error) {
	if l.to == nil {
		var err error
		if l.to, err = l.r.sink.Create(l.meta); err != nil {
			return 0, err
		}
		l.r.store()
	}
	all := len(p)
	if l.n+len(p) > mostAnswer {
		p = p[:max(0, mostAnswer-l.n)]
		l.r.warn("%s is longer than %d MB: the rest was not recorded", l.meta.Origin, mostAnswer>>20)
	}
	l.n += len(p)
	if _, err := l.to.Write(p); err != nil {
		return 0, err
	}
	return all, nil
}

func (l *lazy) Close() error {
	if l.to == nil {
		return nil
	}
	return l.to.Close()
}

// name numbers the artifacts of a series.
func (r *recording) name(series, extension string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces[series]++
	return fmt.Sprintf("%s-%04d.%s", series, r.pieces[series], extension)
}

// unname takes back a number that nothing was stored under.
func (r *recording) unname(series string) {
	r.mu.Lock()
	r.pieces[series]--
	r.mu.Unlock()
}

func (r *recording) store() {
	r.mu.Lock()
	r.pieces[""]++
	r.mu.Unlock()
}

// stored is how many answers were kept.
func (r *recording) stored() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pieces[""]
}

// warn says each thing once.
func (r *recording) warn(format string, args ...any) {
	text := fmt.Sprintf("pid %d: %s", r.pid, fmt.Sprintf(format, args...))
	r.mu.Lock()
	again := r.said[text]
	r.said[text] = true
	r.mu.Unlock()
	if !again {
		r.sink.Warnf("%s", text)
	}
}

// short is the first line of what somebody says.
func short(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
