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
	burst       = 50 * time.Millisecond  // of thread stacks
	longBurst   = 250 * time.Millisecond // … where there are few of them, unless it costs 1 % of a core before
	betweenThem = 2 * time.Second        // in the mean, at least
	mostLooks   = 300                    // of a recording, beside those with names
	mostTurns   = 4                      // … where each ends a session that threads write into: few, as 3.1.2 once ended while it was recorded
	lastStacks  = time.Second            // before the end
	switching   = time.Second / 2        // what a look and the sessions around it take beside
	newNames    = 30 * time.Second       // until names are told again, at least

	window       = time.Second     // of detail, where it comes too fast
	betweenViews = 4 * time.Second // in the mean, at least

	awaited       = 500 * time.Millisecond // of awaits
	betweenAwaits = 4 * time.Second        // at least
	lastAwaits    = 2 * time.Second        // before the end, where there is one session at a time

	allocated    = 500 * time.Millisecond // of who allocates
	betweenTicks = 4 * time.Second        // at least
	leastTicks   = 10 * time.Second       // a recording lasts, where there is one session at a time
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

	long time.Duration // planned
	end  time.Time
	stop context.CancelFunc

	ending sync.Mutex // held while names are told, or the sampler is on
	many   bool       // events came too fast

	mu      sync.Mutex
	failure error
	said    map[string]bool
	pieces  map[string]int // by series, of those begun
}

// run records until the context ends or d has passed.
func (r *recording) run(ctx context.Context, d time.Duration) error {
	r.said, r.pieces = map[string]bool{}, map[string]int{}
	r.long, r.end = d, time.Now().Add(d)
	ctx, r.stop = context.WithDeadline(ctx, r.end)
	defer r.stop()
	if r.fragile {
		r.inTurn(ctx)
		return r.failure
	}
	tracked := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { r.looks(ctx, sync.OnceFunc(func() { close(tracked) })) })
	<-tracked
	all.Go(func() { r.events(ctx) })
	all.Wait()
	return r.failure
}

// inTurn records without two sessions at once, which crashed .NET Core 3.1.2 on a
// busy host in one of some ten tries: the long session is left at random moments for a
// look at threads and requests, as often as that runtime bears. What tasks are awaited is in the end of
// the long session, as one of its own, where that came slowly enough until then. Names are
// told before and by the last of its turns, for all. Who allocates is asked once, first, with
// counters: whoever only listens to allocations of an idle process would not be noticed to be gone.
func (r *recording) inTurn(ctx context.Context) {
	first := &artifact{}
	defer first.close(r)
	if r.long >= leastTicks {
		who := piece{series: evidence.MomentsSeries, into: first, providers: noticed(allocating), lasts: allocated, most: 4 * tooFast}
		if !r.take(ctx, who).ok {
			return
		}
	}
	o := r.take(ctx, piece{series: evidence.MomentsSeries, into: first, providers: tracking, lasts: burst, named: true})
	if !o.ok {
		return
	}
	events := &artifact{}
	defer events.close(r)
	last, apart := r.end.Add(-lastAwaits), max(betweenThem, r.long/mostTurns)
	for o.ok && ctx.Err() == nil {
		left := time.Until(last) - lastStacks - longBurst - switching // else nothing is left for awaits
		if left < apart/2 {
			break
		}
		if o = r.turn(ctx, events, min(around(apart), left), false); o.ok && ctx.Err() == nil {
			look := piece{series: "events", into: events, providers: stacks, lasts: longBurst, most: int(apart / (100 * lookByte))}
			if !r.many {
				look.providers = merge(stacks, r.detail())
			}
			o = r.take(ctx, look)
		}
	}
	told := o.ok && ctx.Err() == nil
	if told {
		long := max(lastStacks, time.Until(last))
		if r.long < 2*lastAwaits {
			long = 0
		}
		o = r.turn(ctx, events, long, true)
	}
	if o.ok && !r.many && ctx.Err() == nil {
		o = r.take(ctx, piece{series: "events", into: events, providers: merge(r.everything(), awaits), most: 4 * tooFast})
	}
	if o.ok && (ctx.Err() == nil || !told || errors.Is(ctx.Err(), context.DeadlineExceeded)) { // not interrupted after names were told, nor the target gone
		r.take(context.WithoutCancel(ctx), piece{series: "events", into: events, providers: stacks, lasts: burst, named: !told})
	}
}

// turn is a part of the long session; once many events came too fast, it is without them.
func (r *recording) turn(ctx context.Context, events *artifact, lasts time.Duration, named bool) outcome {
	p := piece{series: "events", into: events, providers: r.everything(), limit: tooFast, lasts: lasts, named: named}
	if r.many {
		p.providers, p.limit = r.rare(), 0
	}
	o := r.take(ctx, p)
	if o.fast {
		r.many = true
		r.warn("requests and lock waits are too frequent to record them all without slowing the process, and this version may hang when recording is switched on and off: they are recorded up to this moment only")
	}
	return o
}

// events is the long session. Where its events come too fast, it goes on without the
// many, which are then recorded now and then; the names that were told by then are those of
// what follows.
func (r *recording) events(ctx context.Context) {
	into := &artifact{}
	defer into.close(r)
	var views sync.WaitGroup
	defer views.Wait()
	p := piece{series: "events", into: into, providers: r.everything(), limit: tooFast, named: true}
	for ctx.Err() == nil && r.take(ctx, p).fast {
		p = piece{series: "events", into: into, providers: r.rare()}
		r.warn("requests, locks and waits are too frequent to record them all without slowing the process: they are recorded for %v at a time", window)
		views.Go(func() { r.views(ctx) })
	}
}

// views records the many events for a moment now and then.
func (r *recording) views(ctx context.Context) {
	for {
		o := r.take(ctx, piece{series: "detail", providers: r.detail(), lasts: window, most: 2 * tooFast, named: true})
		if !o.ok || !wait(ctx, around(max(betweenViews, o.distance()))) {
			return
		}
	}
}

// looks are what is recorded for a moment now and then into one artifact, in turn.
//
// Stacks of all threads are taken at once, then as often as they cost little, at
// random moments, since at regular ones they would always meet the same of what a service does
// now and then, and once more at the end. Between them, what tasks are awaited: each await,
// and what ends it, are events of their own; and who allocates what: as many events as the
// program allocates 100 KB.
//
// Names are told at the first look, at the last one, and now and then between: of what a
// look takes of the target's time they are nine tenths. Tracked is called when activities
// are tracked, or never will be.
func (r *recording) looks(ctx context.Context, tracked func()) {
	defer tracked()
	into := &artifact{}
	defer into.close(r)
	first := r.take(ctx, piece{series: evidence.MomentsSeries, into: into, providers: tracking, lasts: burst, started: tracked, named: true})
	if !first.ok {
		return
	}
	told, apart := time.Now(), max(newNames, first.distance())
	last := r.end.Add(-lastStacks)
	threads := time.Now().Add(around(betweenThem))
	tasks := time.Now().Add(time.Second + rand.N(betweenAwaits)) // not beside the first looks
	ticks := time.Now().Add(time.Second + rand.N(betweenTicks))
	for {
		next := piece{series: evidence.MomentsSeries, into: into, providers: stacks, lasts: burst}
		at := threads
		if tasks.Before(at) {
			at, next = tasks, piece{series: evidence.MomentsSeries, into: into, providers: noticed(awaits), lasts: awaited, most: 4 * tooFast}
		}
		if ticks.Before(at) {
			at, next = ticks, piece{series: evidence.MomentsSeries, into: into, providers: noticed(allocating), lasts: allocated, most: 4 * tooFast}
		}
		ends := !at.Before(last)
		if ends {
			at, next = last, piece{series: evidence.MomentsSeries, into: into, providers: stacks, lasts: burst, named: first.distance() <= r.long}
		}
		if ends && at.Sub(told) < betweenThem/2 || !wait(ctx, time.Until(at)) {
			return
		}
		if next.named = next.named || time.Since(told) > apart; next.named {
			told = time.Now()
		}
		o := r.take(ctx, next)
		if !o.ok || ends {
			return
		}
		switch at {
		case tasks:
			tasks = time.Now().Add(max(betweenAwaits, o.distance()))
		case ticks:
			ticks = time.Now().Add(max(betweenTicks, o.distance(), 100*tickByte*time.Duration(o.seen)))
		default:
			threads = time.Now().Add(around(max(betweenThem, r.long/mostLooks, o.distance(), 100*lookByte*time.Duration(o.seen))))
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
