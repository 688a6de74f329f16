package dotnet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/probe/dotnet/ipc"
)

const (
	burst       = 50 * time.Millisecond // of thread stacks
	betweenThem = 2 * time.Second       // in the mean, at least
	lastStacks  = time.Second           // before the end

	window       = time.Second     // of detail, where it comes too fast
	betweenViews = 4 * time.Second // in the mean, at least

	awaited       = 500 * time.Millisecond // of awaits
	betweenAwaits = 4 * time.Second        // in the mean, at least
)

// tooFast is how many bytes a second (over fastFor) tell that events cost the
// target too much: one with its stack takes .NET Core 3.1 about 20 µs and some 40
// bytes, so that this is about 1,000 events a second or 2 % of a core.
const (
	tooFast = 64 << 10
	fastFor = 3 * time.Second
)

// bufferMB bounds the target's memory that holds what was not read yet. What a
// session tells at its end has to fit: 3 MB for a small service.
const bufferMB = 64

// recording is one run of the probe.
type recording struct {
	client  *ipc.Client
	about   evidence.Subject
	secrets []secret
	release int  // 9 of 9.0.7, 0 unknown
	fragile bool // before .NET 6: sessions are to be few, and one at a time
	sink    probe.Sink

	end  time.Time
	stop context.CancelFunc

	mu      sync.Mutex
	failure error
	said    map[string]bool
	pieces  map[string]int // by series, of those begun
}

// run records until the context ends or d has passed.
func (r *recording) run(ctx context.Context, d time.Duration) error {
	r.said, r.pieces = map[string]bool{}, map[string]int{}
	r.end = time.Now().Add(d)
	ctx, r.stop = context.WithDeadline(ctx, r.end)
	defer r.stop()
	if r.fragile {
		r.inTurn(ctx)
		return r.failure
	}
	tracked := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { r.threads(ctx, sync.OnceFunc(func() { close(tracked) })) })
	<-tracked
	all.Go(func() { r.events(ctx) })
	all.Go(func() { r.awaits(ctx) })
	all.Wait()
	return r.failure
}

// inTurn records without two sessions at once, which crashed .NET Core 3.1.2 on a
// busy host in one of some ten tries: stacks, the long session, and stacks again.
func (r *recording) inTurn(ctx context.Context) {
	look := func(ctx context.Context, providers []ipc.Provider) bool {
		return r.take(ctx, piece{series: "threads", providers: providers, lasts: burst}).ok
	}
	if !look(ctx, tracking) {
		return
	}
	r.events(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) { // not interrupted, nor the target gone
		look(context.WithoutCancel(ctx), stacks)
	}
}

// events is the long session. Where its events come too fast, it goes on without the
// many, which are then recorded now and then.
func (r *recording) events(ctx context.Context) {
	var views sync.WaitGroup
	defer views.Wait()
	p := piece{series: "events", providers: r.everything(), limit: tooFast}
	for ctx.Err() == nil {
		o := r.take(ctx, p)
		if !o.fast {
			return
		}
		p = piece{series: "events", providers: rare}
		if r.fragile {
			r.warn("requests and lock waits are too frequent to record them all without slowing the process, and this version may hang when recording is switched on and off: they are recorded up to this moment only")
			continue
		}
		r.warn("requests, locks and waits are too frequent to record them all without slowing the process: they are recorded for %v at a time", window)
		views.Go(func() { r.views(ctx) })
	}
}

// views records the many events for a moment now and then.
func (r *recording) views(ctx context.Context) {
	for {
		o := r.take(ctx, piece{series: "detail", providers: r.detail(), lasts: window, most: 2 * tooFast})
		if !o.ok || !wait(ctx, around(max(betweenViews, o.distance()))) {
			return
		}
	}
}

// awaits records what tasks are awaited for a moment now and then: each await, and what ends it,
// are events of their own.
func (r *recording) awaits(ctx context.Context) {
	for wait(ctx, time.Second+rand.N(betweenAwaits)) { // not beside the first looks
		o := r.take(ctx, piece{series: "awaits", providers: awaits, lasts: awaited, most: 4 * tooFast})
		if !o.ok || !wait(ctx, max(betweenAwaits/4, o.distance()-betweenAwaits)) {
			return
		}
	}
}

// threads takes the stacks of all threads: at once, then as often as they cost little, at
// random moments, since at regular ones they would always meet the same of what a service does
// now and then, and once more at the end. Tracked is called when activities are tracked, or
// never will be.
func (r *recording) threads(ctx context.Context, tracked func()) {
	defer tracked()
	p := piece{series: "threads", providers: tracking, lasts: burst, started: tracked}
	for {
		o := r.take(ctx, p)
		if !o.ok {
			return
		}
		p = piece{series: "threads", providers: stacks, lasts: burst}
		next := min(around(max(betweenThem, o.distance())), time.Until(r.end)-lastStacks)
		if next < betweenThem/2 || !wait(ctx, next) {
			return
		}
	}
}

// around is a random time that is d in the mean.
func around(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// wait returns false if the context ended first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// fail ends the recording.
func (r *recording) fail(err error) {
	r.mu.Lock()
	if r.failure == nil {
		r.failure = err
	}
	r.mu.Unlock()
	r.stop()
}

// warn says each thing once.
func (r *recording) warn(format string, args ...any) {
	text := fmt.Sprintf("pid %d: %s", r.client.PID(), fmt.Sprintf(format, args...))
	r.mu.Lock()
	again := r.said[text]
	r.said[text] = true
	r.mu.Unlock()
	if !again {
		r.sink.Warnf("%s", text)
	}
}

// name numbers the artifacts of a series.
func (r *recording) name(series string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces[series]++
	return fmt.Sprintf("%s-%04d.nettrace", series, r.pieces[series])
}
