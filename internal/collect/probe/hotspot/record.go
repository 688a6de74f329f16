package hotspot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
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

// undoing is how long switching off and the last dumps may take. Package record waits 10 s.
const undoing = 8 * time.Second

// recording is one run of the probe.
type recording struct {
	vm      *attach.VM // nil: this user cannot or must not attach to it
	release int        // 8, 17, 25, as it says itself; 0 unknown
	about   evidence.Subject
	pid     int
	sink    probe.Sink
	plan    probe.Plan
	end     time.Time
	stops   stops
	flown   *flown // the flight recording, if one was wanted

	mu     sync.Mutex
	said   map[string]bool
	pieces map[string]int // by series, of those stored
}

// recordJVM records a JVM until the context, the plan or the JVM ends. vm is nil if the recorder cannot attach to the JVM.
func recordJVM(ctx context.Context, vm *attach.VM, t discover.Target, plan probe.Plan, sink probe.Sink) error {
	r := &recording{vm: vm, about: t.Subject(), pid: t.PID, sink: sink, plan: plan,
		end: time.Now().Add(plan.For), said: map[string]bool{}, pieces: map[string]int{}}
	if plan.Passive && vm != nil {
		sink.Lack(probe.Lack{What: recorded, Why: "the JVM must be asked for them, and --passive asks it nothing", Do: "record without --passive"})
		r.vm = nil
	}
	ctx, cancel := context.WithDeadline(ctx, r.end)
	defer cancel()
	var counters sync.WaitGroup
	counters.Go(func() { r.copyCounters(ctx) })
	defer counters.Wait()
	if r.vm == nil {
		return nil
	}
	err := r.recordAttached(ctx)
	switch {
	case errors.Is(err, attach.ErrGone):
		r.warnOnce("the JVM ended; the data recorded until then is kept")
		cancel()
		return nil
	case err != nil && !errors.Is(err, context.Canceled) && r.countStored() == 0: // the JVM never answered, however short the recording
		r.sink.Lack(explainLack(err))
		return nil
	case err != nil && ctx.Err() == nil:
		r.warnOnce("%s; the data recorded until then is kept", explainLack(err).Why)
	}
	r.reportMissed()
	return nil
}

// recordAttached records the JVM's answers to commands.
func (r *recording) recordAttached(ctx context.Context) error {
	var version release
	if err := r.storeAnswer(ctx, "vm-version.txt", "", "VM.version", &version); err != nil {
		return err
	}
	r.release = version.majorVersion()
	log, err := r.switchOn(ctx)
	if log != nil {
		defer func() { r.runUndo(ctx, log.switchOff) }()
	}
	if err != nil {
		return err
	}
	defer func() { r.runUndo(ctx, r.stopFlight) }()
	if r.plan.Flight && r.plan.For < 2*flightCalm { // otherwise it starts when there are latencies to compare with
		if err := r.startFlight(ctx, ""); err != nil {
			return err
		}
	}
	for _, a := range []struct{ name, series, command string }{
		{"vm-flags.txt", "", "VM.flags -all"},
		{"vm-command.txt", "", "VM.command_line"},
		{"", "heap", "GC.heap_info"},
	} {
		if err := r.storeAnswer(ctx, a.name, a.series, a.command); err != nil {
			return err
		}
	}
	if err := r.dumpThreads(ctx); err != nil {
		return err
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing)
	defer cancel()
	if log != nil {
		log.switchOff(late) // first, so that nothing stays on, and walking the heap is not taken for the service's own pause
	}
	r.stopFlight(late)
	if err := r.storeAnswer(late, "", "heap", "GC.heap_info"); err != nil {
		return err
	}
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		r.sink.Lack(probe.Lack{What: "class histogram", Why: "it is taken at the end, and the recording was interrupted before", Do: "let the recording run to its end"})
		return nil
	}
	return r.countClasses(late)
}

// reportMissed reports what the recording was too short for. On a busy host a JVM's first answers take seconds.
func (r *recording) reportMissed() {
	missed := map[string]bool{"thread dumps": r.countSeries("threads") == 0, "flight recording": r.plan.Flight && r.flown == nil}
	for _, what := range slices.Sorted(maps.Keys(missed)) {
		if missed[what] {
			r.sink.Lack(probe.Lack{What: what, Why: "the recording ended before the JVM had answered what is asked first", Do: "record for longer: --for 30s"})
		}
	}
}

// runUndo calls a function that switches something off, even if the context has ended.
func (r *recording) runUndo(ctx context.Context, off func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing)
	defer cancel()
	off(ctx)
}

// storeAnswer stores the answer to a command, and also passes it to other writers. A JVM that does not know the command is no error.
func (r *recording) storeAnswer(ctx context.Context, file, series, command string, others ...io.Writer) error {
	numbered := file == ""
	if numbered {
		file = r.artifactName(series, "txt")
	}
	w := &lazy{r: r, meta: capture.Meta{Name: file, Series: series, Probe: name, Origin: command, About: r.about, Lines: true}}
	to := io.MultiWriter(append([]io.Writer{w}, others...)...)
	if command == "VM.command_line" {
		to = &commands{to: w}
	}
	err := r.vm.Ask(ctx, command, to)
	if numbered && w.to == nil {
		r.returnName(series)
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

// release reads the JDK's version:
//
//	OpenJDK 64-Bit Server VM version 25.0.3+9-LTS
//	JDK 25.0.3
type release struct{ said []byte }

func (v *release) Write(p []byte) (int, error) {
	v.said = append(v.said, p[:min(len(p), 1<<10-len(v.said))]...)
	return len(p), nil
}

// majorVersion returns the feature release, such as 8, 17 or 25; 0 if it is unknown.
func (v *release) majorVersion() int {
	for l := range bytes.Lines(v.said) {
		if rest, ok := bytes.CutPrefix(l, []byte("JDK ")); ok {
			number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte("."))
			n, _ := strconv.Atoi(string(number))
			return n
		}
	}
	return 0
}

// lazy is an artifact that is created at its first byte.
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
		l.r.addStored()
	}
	all := len(p)
	if l.n+len(p) > mostAnswer {
		p = p[:max(0, mostAnswer-l.n)]
		l.r.warnOnce("%s is longer than %d MB: the rest was not recorded", l.meta.Origin, mostAnswer>>20)
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

// artifactName returns the name of the next artifact of a series. Names are numbered from 1.
func (r *recording) artifactName(series, extension string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces[series]++
	return fmt.Sprintf("%s-%04d.%s", series, r.pieces[series], extension)
}

// returnName gives back a number that was not used.
func (r *recording) returnName(series string) {
	r.mu.Lock()
	r.pieces[series]--
	r.mu.Unlock()
}

func (r *recording) addStored() {
	r.mu.Lock()
	r.pieces[""]++
	r.mu.Unlock()
}

// countSeries returns how many artifacts of a series were kept.
func (r *recording) countSeries(series string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pieces[series]
}

// countStored returns how many answers were kept.
func (r *recording) countStored() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pieces[""]
}

// warnOnce writes a warning to the sink, each text once.
func (r *recording) warnOnce(format string, args ...any) {
	text := fmt.Sprintf("pid %d: %s", r.pid, fmt.Sprintf(format, args...))
	r.mu.Lock()
	again := r.said[text]
	r.said[text] = true
	r.mu.Unlock()
	if !again {
		r.sink.Warnf("%s", text)
	}
}

// firstLine returns the first line of an answer.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
