package gopprof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
)

// recording is one run of the probe.
type recording struct {
	*endpoint
	sink  probe.Sink
	about evidence.Subject
	end   time.Time

	stop    context.CancelFunc
	texts   int // heap profiles taken
	mu      sync.Mutex
	cut     map[string]bool // handlers whose answer was not waited for: "profile", "trace"
	gone    bool            // nobody listens any more
	failure error           // of the sink: nothing more can be stored
	said    map[string]bool // warnings given
	any     bool            // something was recorded
}

// grace is how long what was asked for may take beyond its seconds: stopping a
// profile takes 0.2 s, on a starved host longer.
const grace = 3 * time.Second

func record(ctx context.Context, e *endpoint, about evidence.Subject, plan probe.Plan, sink probe.Sink) error {
	defer e.client.CloseIdleConnections()
	r := &recording{endpoint: e, sink: sink, about: about, end: time.Now().Add(plan.For), said: make(map[string]bool), cut: make(map[string]bool)}
	outer := ctx
	ctx, r.stop = context.WithDeadline(ctx, r.end.Add(grace))
	defer r.stop()

	var all sync.WaitGroup
	if !plan.Passive {
		all.Go(func() { r.profiles(ctx) })
		all.Go(func() { r.traces(ctx) })
	}
	all.Go(func() { r.snapshots(ctx, 1) })
	all.Go(func() { r.heaps(ctx, plan.Always) })
	all.Wait()

	if !r.gone && r.failed() == nil {
		// After Ctrl-C, too: what has changed since the start is worth a moment.
		last, done := context.WithTimeout(context.WithoutCancel(outer), 2*time.Second)
		defer done()
		var ends sync.WaitGroup
		ends.Go(func() { r.snapshots(last, 2) })
		ends.Go(func() { r.heap(last) })
		ends.Wait()
	}
	if len(r.cut) > 0 && !r.gone {
		r.settle(context.WithoutCancel(outer))
	}
	if err := r.failed(); err != nil {
		return err
	}
	if !r.any && outer.Err() == nil {
		return fmt.Errorf("%s: nothing could be recorded: it no longer answers", r.shown)
	}
	return nil
}

// heaps takes the heap profile's text with the runtime's memory statistics. It
// stops the world while those are read, some 10 to 100 µs, and makes a text as
// long as there are places that allocate: nothing every 5 s, too much every 0.1 s. To store such texts for as
// long as the process lives costs us more than all else.
func (r *recording) heaps(ctx context.Context, always bool) {
	every := 5 * time.Second
	if always {
		every = 30 * time.Second
	}
	for {
		r.heap(ctx)
		if time.Until(r.end) < every+every/2 || !probe.Wait(ctx, every) {
			break // the last one is taken at the end
		}
	}
	probe.Wait(ctx, time.Until(r.end))
}

func (r *recording) heap(ctx context.Context) {
	r.texts++
	r.fetch(ctx, piece{path: "heap", query: "debug=1", name: fmt.Sprintf("heap-%04d.txt", r.texts), series: "heap", within: 2 * grace, most: 64 << 20})
}

// snapshots takes what is of a moment, or counts since the process started: the
// first or the second of each.
func (r *recording) snapshots(ctx context.Context, n int) {
	r.fetch(ctx, piece{path: "goroutine", name: fmt.Sprintf("goroutine-%d.pb.gz", n), within: 2 * grace, most: 64 << 20})
	index, _ := r.head(ctx, "", "", 2*grace)
	for _, lock := range []string{"mutex", "block"} {
		if count, ok := listed(index, lock); ok && count == 0 {
			continue
		}
		if r.sampled(ctx, lock) {
			r.fetch(ctx, piece{path: lock, name: fmt.Sprintf("%s-%d.pb.gz", lock, n), within: 2 * grace, most: 64 << 20})
		}
	}
}

// piece is one artifact to be fetched.
type piece struct {
	path, query  string
	name, series string
	within       time.Duration // all of it
	most         int64         // bytes
	switches     bool          // asking for it switches something on
}

// outcome is how fetching a piece went.
type outcome int

const (
	fetched outcome = iota
	busy            // somebody else profiles or traces
	tooLong         // the server's WriteTimeout is shorter
	broken          // nothing, or not all of it, came
	ended           // the recording is over
)

// fetch stores an answer as it comes; what came before it broke off stays. It
// returns how many bytes that were, too.
func (r *recording) fetch(ctx context.Context, p piece) (outcome, int64) {
	if ctx.Err() != nil {
		return ended, 0
	}
	a, err := r.get(ctx, p.path, p.query, p.within)
	if err != nil {
		var status *refused
		if errors.As(err, &status) {
			return r.refusal(p, status), 0
		}
		return r.broke(ctx, p, err, 0), 0
	}
	defer a.Close()
	w := &artifact{sink: r.sink, meta: capture.Meta{Name: p.name, Series: p.series, Probe: name, Origin: r.shown + "/" + p.path, About: r.about}}
	n, err := io.Copy(w, io.LimitReader(a.Body, p.most))
	if cerr := w.Close(); w.err == nil {
		w.err = cerr
	}
	r.mu.Lock()
	r.any = r.any || n > 0
	r.mu.Unlock()
	switch {
	case w.err != nil:
		r.left(p)
		r.fail(w.err)
		return ended, n
	case err != nil:
		return r.broke(ctx, p, plain(err), n), n
	case n == p.most:
		r.left(p)
		r.warn("%s: ended early at the limit of %d MB", p.name, p.most>>20)
	}
	return fetched, n
}

// broke says why a piece is not whole. A connection that breaks is how a target
// ends; once nobody listens any more, so does the recording.
func (r *recording) broke(ctx context.Context, p piece, err error, got int64) outcome {
	r.left(p)
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			r.warn("%s: %s %v", r.shown, p.path, errTimeout)
		}
		return ended
	}
	switch {
	case errors.Is(err, errGone):
		r.warn("%s: %v any more: the process ended; the data recorded until then is kept", r.shown, errGone)
		r.mu.Lock()
		r.gone = true
		r.mu.Unlock()
		r.stop()
		return ended
	case got > 0:
		r.warn("%s: interrupted after %d kB: %v; that part is kept", p.name, got>>10, err)
	default:
		r.warn("%s: %s: %v", r.shown, p.path, err)
	}
	return broken
}

// left notes that what a piece switched on may still be.
func (r *recording) left(p piece) {
	if p.switches {
		r.mu.Lock()
		r.cut[p.path] = true
		r.mu.Unlock()
	}
}

// artifact is created when there is something to be stored.
type artifact struct {
	sink probe.Sink
	meta capture.Meta
	w    io.WriteCloser
	err  error // of the sink
}

func (a *artifact) Write(p []byte) (int, error) {
	if a.w == nil && a.err == nil {
		a.w, a.err = a.sink.Create(a.meta)
	}
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.w.Write(p)
	a.err = err
	return n, err
}

func (a *artifact) Close() error {
	if a.w == nil {
		return nil
	}
	return a.w.Close()
}

// fail ends the recording: nothing more can be stored.
func (r *recording) fail(err error) {
	r.mu.Lock()
	if r.failure == nil {
		r.failure = err
	}
	r.mu.Unlock()
	r.stop()
}

func (r *recording) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure
}

// warn says each thing once.
func (r *recording) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	again := r.said[text]
	r.said[text] = true
	r.mu.Unlock()
	if !again {
		r.sink.Warnf("%s", text)
	}
}
