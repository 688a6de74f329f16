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

	stop  context.CancelFunc
	texts int // heap profiles taken
	mu    sync.Mutex
	cut   map[string]bool // handlers whose answer was broken off: "profile", "trace"
	gone  bool            // nothing listens any more
	// brokenOff says which answers the server broke off: a warning, unless it has ended, which says it once.
	brokenOff []string
	failure   error           // of the sink: no more data can be stored
	said      map[string]bool // warnings given
	any       bool            // something was recorded
}

// grace is how long a request may take beyond its seconds. Stopping a profile takes 0.2 s, longer on a starved host.
const grace = 3 * time.Second

func recordEndpoint(ctx context.Context, e *endpoint, about evidence.Subject, plan probe.Plan, sink probe.Sink) error {
	defer e.client.CloseIdleConnections()
	r := &recording{endpoint: e, sink: sink, about: about, end: time.Now().Add(plan.For), said: make(map[string]bool), cut: make(map[string]bool)}
	outer := ctx
	ctx, r.stop = context.WithDeadline(ctx, r.end.Add(grace))
	defer r.stop()

	var all sync.WaitGroup
	if !plan.Passive {
		all.Go(func() { r.recordProfiles(ctx) })
		all.Go(func() { r.recordTraces(ctx) })
	}
	all.Go(func() { r.fetchSnapshots(ctx, 1) })
	all.Go(func() { r.recordHeaps(ctx, plan.Always) })
	all.Wait()

	if !r.gone && r.firstFailure() == nil {
		// This also runs after Ctrl-C, because the changes since the start are worth a moment.
		last, done := context.WithTimeout(context.WithoutCancel(outer), 2*time.Second)
		defer done()
		var ends sync.WaitGroup
		ends.Go(func() { r.fetchSnapshots(last, 2) })
		ends.Go(func() { r.fetchHeap(last) })
		ends.Wait()
	}
	if !r.gone {
		for _, text := range r.brokenOff {
			r.warnOnce("%s", text)
		}
	}
	if len(r.cut) > 0 && !r.gone {
		r.waitSettled(context.WithoutCancel(outer))
	}
	if err := r.firstFailure(); err != nil {
		return err
	}
	if !r.any && outer.Err() == nil {
		return fmt.Errorf("%s: nothing could be recorded: it no longer answers", r.shown)
	}
	return nil
}

// recordHeaps takes the text of the heap profile, with the runtime's memory statistics, every 5 s, or every 30 s in a recording that always
// runs. Reading the statistics stops the world for some 10 to 100 µs, and the text grows with the allocation sites. That costs nothing every
// 5 s, and too much every 0.1 s. In a recording that always runs, storing these texts costs the recorder more than everything else.
func (r *recording) recordHeaps(ctx context.Context, always bool) {
	every := 5 * time.Second
	if always {
		every = 30 * time.Second
	}
	for {
		r.fetchHeap(ctx)
		if time.Until(r.end) < every+every/2 || !probe.Wait(ctx, every) {
			break // the last one is taken at the end
		}
	}
	probe.Wait(ctx, time.Until(r.end))
}

func (r *recording) fetchHeap(ctx context.Context) {
	r.texts++
	r.fetchPiece(ctx, piece{path: "heap", query: "debug=1", name: fmt.Sprintf("heap-%04d.txt", r.texts), series: "heap", within: 2 * grace, most: 64 << 20})
}

// fetchSnapshots takes the profiles that show a moment, or count since the process started. n is 1 at the start and 2 at the end.
func (r *recording) fetchSnapshots(ctx context.Context, n int) {
	r.fetchPiece(ctx, piece{path: "goroutine", name: fmt.Sprintf("goroutine-%d.pb.gz", n), within: 2 * grace, most: 64 << 20})
	index, _ := r.readHead(ctx, "", "", 2*grace)
	for _, lock := range []string{"mutex", "block"} {
		if count, ok := listedSamples(index, lock); ok && count == 0 {
			continue
		}
		if r.isSampled(ctx, lock) {
			r.fetchPiece(ctx, piece{path: lock, name: fmt.Sprintf("%s-%d.pb.gz", lock, n), within: 2 * grace, most: 64 << 20})
		}
	}
}

// piece is one artifact to be fetched.
type piece struct {
	path, query  string
	name, series string
	within       time.Duration // for the whole piece
	most         int64         // bytes
	switches     bool          // asking for it switches something on
	meter        *meter        // watches the piece and ends it; nil: it ends by itself
}

// outcome is the result of fetching a piece.
type outcome int

const (
	fetched outcome = iota
	busy            // another program profiles or traces
	tooLong         // the server's WriteTimeout is shorter
	broken          // the answer is missing or not whole
	ended           // the recording is over
)

// fetchPiece stores an answer as it comes, and keeps the part before a break. It also returns how many bytes came.
func (r *recording) fetchPiece(ctx context.Context, p piece) (outcome, int64) {
	if ctx.Err() != nil {
		return ended, 0
	}
	asked := ctx
	if p.meter != nil {
		asked, p.meter.ends = newEnding(ctx)
		defer p.meter.ends.release()
	}
	a, err := r.requestPath(asked, p.path, p.query, p.within)
	if err != nil {
		var status *refused
		if errors.As(err, &status) {
			return r.explainRefusal(p, status), 0
		}
		return r.reportBreak(ctx, p, err, 0), 0
	}
	defer a.Close()
	w := &artifact{sink: r.sink, meter: p.meter, meta: capture.Meta{Name: p.name, Series: p.series, Probe: name, Origin: r.shown + "/" + p.path, About: r.about}}
	n, err := io.Copy(w, io.LimitReader(a.Body, p.most))
	if cerr := w.Close(); w.err == nil {
		w.err = cerr
	}
	r.mu.Lock()
	r.any = r.any || n > 0
	r.mu.Unlock()
	switch {
	case w.err != nil:
		r.noteLeftOn(p)
		r.failWith(w.err)
		return ended, n
	case err != nil:
		return r.reportBreak(ctx, p, explainError(err), n), n
	case n == p.most:
		r.noteLeftOn(p)
		r.warnOnce("%s: ended early at the limit of %d MB", p.name, p.most>>20)
	}
	return fetched, n
}

// reportBreak says why a piece is not whole. A connection breaks when a target ends; once nothing
// listens any more, the recording ends too.
func (r *recording) reportBreak(ctx context.Context, p piece, err error, got int64) outcome {
	r.noteLeftOn(p)
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			r.warnOnce("%s: %s %v", r.shown, p.path, errTimeout)
		}
		return ended
	}
	switch {
	case errors.Is(err, errGone):
		r.warnOnce("%s: %v any more: the process ended; the data recorded until then is kept", r.shown, errGone)
		r.mu.Lock()
		r.gone = true
		r.mu.Unlock()
		r.stop()
		return ended
	case errors.Is(err, errHungUp):
		r.mu.Lock()
		r.brokenOff = append(r.brokenOff, r.describeBreak(p, err, got))
		r.mu.Unlock()
	default:
		r.warnOnce("%s", r.describeBreak(p, err, got))
	}
	return broken
}

// describeBreak says which piece is not whole, and why.
func (r *recording) describeBreak(p piece, err error, got int64) string {
	if got > 0 {
		return fmt.Sprintf("%s: interrupted after %d kB: %v; that part is kept", p.name, got>>10, err)
	}
	return fmt.Sprintf("%s: %s: %v", r.shown, p.path, err)
}

// noteLeftOn notes that what a piece switched on may still be on.
func (r *recording) noteLeftOn(p piece) {
	if p.switches {
		r.mu.Lock()
		r.cut[p.path] = true
		r.mu.Unlock()
	}
}

// artifact is created when there is data to store.
type artifact struct {
	sink  probe.Sink
	meta  capture.Meta
	meter *meter // nil: the artifact is not watched
	w     io.WriteCloser
	err   error // of the sink
}

func (a *artifact) Write(p []byte) (int, error) {
	if a.w == nil && a.err == nil {
		a.w, a.err = a.sink.Create(a.meta)
	}
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.w.Write(p)
	if a.err = err; err == nil && a.meter != nil {
		a.meter.countBytes(p)
	}
	return n, err
}

func (a *artifact) Close() error {
	if a.w == nil {
		return nil
	}
	return a.w.Close()
}

// failWith ends the recording, because nothing more can be stored.
func (r *recording) failWith(err error) {
	r.mu.Lock()
	if r.failure == nil {
		r.failure = err
	}
	r.mu.Unlock()
	r.stop()
}

func (r *recording) firstFailure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure
}

// warnOnce writes a warning to the sink, each text once.
func (r *recording) warnOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	again := r.said[text]
	r.said[text] = true
	r.mu.Unlock()
	if !again {
		r.sink.Warnf("%s", text)
	}
}
