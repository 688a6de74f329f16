package dotnet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
)

const (
	burst       = 50 * time.Millisecond  // of thread stacks
	longBurst   = 250 * time.Millisecond // … where there are few of them, unless it costs 1 % of a core before
	betweenThem = 400 * time.Millisecond // in the mean, at least: stalls of some 10 ms now and then are to be met some times
	betweenLong = 2 * time.Second        // … of the long ones
	mostLooks   = 300                    // of a recording, beside those with names
	mostTurns   = 4                      // … where each ends a session that threads write into: few, as 3.1.2 once ended while it was recorded
	lastStacks  = time.Second            // before the end
	switching   = time.Second / 2        // what a look and the sessions around it take beside
	newNames    = 30 * time.Second       // until names are told, and told again before the end, at least

	window       = time.Second     // of detail, where it comes too fast
	betweenViews = 4 * time.Second // in the mean, at least

	awaited       = 500 * time.Millisecond // of awaits
	betweenAwaits = 4 * time.Second        // at least
	lastAwaits    = 2 * time.Second        // before the end, where there is one session at a time

	allocated    = 500 * time.Millisecond // of who allocates
	betweenTicks = 4 * time.Second        // at least
	leastTicks   = 10 * time.Second       // a recording lasts, where there is one session at a time

	died          = 3 * time.Second  // of what dies, where that is asked for: some collections of generation 2 if they are too many
	betweenDeaths = 10 * time.Second // at least
	mostDeaths    = 32 << 20         // bytes
	leastDeaths   = 6 * time.Second  // a recording lasts

	walked   = 30 * time.Second // at most, of what lies on the heap
	walkedIn = time.Second      // without more of it, it has been told
	mostHeap = 1 << 30          // bytes; 40 for an object
	heapMB   = 256              // of them not read yet, as they come at once
)

// tooFast is how many bytes a second (over fastFor) tell that events cost the target too much, unless it uses
// so much processor time that they are less than 2 % of it ([affordableBytes]). This many are 2 to 3 % of a
// core (docs/decisions/recording.md).
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
	heap    bool // what dies and what lies on the heap, too
	crashes bool // before 3.1.5: where names are told as generated methods are freed
	sink    probe.Sink

	long time.Duration // planned
	end  time.Time
	stop context.CancelFunc

	moments, whole *artifact   // of [evidence.MomentsSeries], and of the long session
	frees          bool        // methods it generated
	generates      bool        // methods, when last looked at: as it starts, any program does
	gone           atomic.Bool // the process ended, or its diagnostics hang

	ending sync.Mutex // held while names are told, or the sampler is on
	many   bool       // events came too fast

	awaiting atomic.Bool // awaits are recorded all the time

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
	r.moments, r.whole = &artifact{}, &artifact{}
	if r.fragile {
		r.inTurn(ctx)
	} else {
		r.atOnce(ctx)
	}
	r.recordNames(context.WithoutCancel(ctx))
	if r.heap && !r.hasFailed() && !r.gone.Load() {
		r.recordHeap(context.WithoutCancel(ctx), r.moments)
	}
	r.moments.close(r)
	r.whole.close(r)
	return r.failure
}

// atOnce records moments beside the long session.
func (r *recording) atOnce(ctx context.Context) {
	tracked := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { r.recordLooks(ctx, sync.OnceFunc(func() { close(tracked) })) })
	<-tracked
	all.Go(func() { r.recordEvents(ctx) })
	all.Wait()
}

// recordHeap has the runtime collect its heap and tell what lies there, after all else: it stops
// the program as long as that takes. Where only one session at a time is possible, what dies is
// recorded just before, so that a session which the runtime breaks off, as 3.1.2 once did this
// one, loses nothing else.
func (r *recording) recordHeap(ctx context.Context, moments *artifact) {
	if r.fragile && !r.recordPiece(ctx, r.deathsPiece(moments)).ok {
		return
	}
	r.recordPiece(ctx, piece{series: evidence.MomentsSeries, into: moments, providers: heap, lasts: walked, settles: walkedIn, most: mostHeap, buffer: heapMB})
}

// deathsPiece returns the piece that records what dies.
func (r *recording) deathsPiece(into *artifact) piece {
	return piece{series: evidence.MomentsSeries, into: into, providers: withCounters(dying), lasts: died, most: mostDeaths}
}

// recordNames has the runtime tell the names of all methods, last, so that those compiled
// meanwhile are among them: once, for both artifacts. Its session writes nothing else. That
// matters before .NET 6: while that runtime tells names it enables the events of compiling
// methods, unless the session asks for other events of the same provider, and a thread that writes
// as the session ends may never return (dotnet/runtime#51579), or write into freed memory.
func (r *recording) recordNames(ctx context.Context) {
	into, also := r.moments, r.whole
	if into.to == nil {
		into, also = also, into
	}
	if into.to == nil || r.hasFailed() || r.gone.Load() {
		return
	}
	if r.crashes && !r.recordPiece(ctx, piece{series: evidence.MomentsSeries, into: into, providers: compiling, lasts: allocated, most: 4 * tooFast, watches: true}).ok {
		return
	}
	if r.generates {
		r.sink.Lack(probe.Lack{What: "names of methods", Why: "the process generates methods as it runs, and .NET Core before 3.1.5 may crash if unstall reads a method name while it is freed (dotnet/coreclr#28036)",
			Do: "update .NET Core to 3.1.5 or later"})
		return
	}
	r.recordPiece(ctx, piece{series: evidence.MomentsSeries, into: into, also: also, providers: quietly, named: true, lasts: time.Millisecond})
}

func (r *recording) hasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure != nil
}

// inTurn records without two sessions at once, which crashed .NET Core 3.1.2 on a
// busy host in one of some ten tries: the long session is left at random moments for a
// look at threads and requests, as often as that runtime bears. What tasks are awaited is in the end of
// the long session, as one of its own, where that came slowly enough until then. Who allocates is asked
// once, first, without counters: a session of half a second ends as they are read for the first time, by which
// the runtime hung.
func (r *recording) inTurn(ctx context.Context) {
	if r.long >= leastTicks { // it tells of collections as well, which may go on in the first turn
		who := piece{series: "events", into: r.whole, providers: allocating, lasts: allocated, most: 4 * tooFast}
		if r.crashes {
			who.providers, who.watches = mergeProviders(allocating, compiling), true
		}
		if !r.recordPiece(ctx, who).ok {
			return
		}
	}
	r.awaiting.Store(true)
	o := r.recordPiece(ctx, piece{series: evidence.MomentsSeries, into: r.moments, providers: tracking, lasts: burst})
	last, apart := r.end.Add(-lastAwaits), max(betweenLong, r.long/mostTurns)
	for o.ok && ctx.Err() == nil {
		left := time.Until(last) - lastStacks - longBurst - switching // else nothing is left for awaits
		if left < apart/2 {
			break
		}
		if o = r.recordTurn(ctx, min(jitterAround(apart), left)); o.ok && ctx.Err() == nil {
			look := piece{series: "events", into: r.whole, providers: stacks, lasts: longBurst, most: int(apart / (100 * lookByte))}
			if !r.many {
				look.providers = mergeProviders(stacks, r.detailProviders())
			}
			o = r.recordPiece(ctx, look)
		}
	}
	if o.ok && ctx.Err() == nil {
		long := max(lastStacks, time.Until(last))
		if r.long < 2*lastAwaits {
			long = 0
		}
		o = r.recordTurn(ctx, long)
	}
	if o.ok && !r.many && ctx.Err() == nil {
		p := piece{series: "events", into: r.whole, providers: mergeProviders(r.allProviders(), awaits), most: 4 * tooFast}
		if r.awaiting.Load() {
			p.most = 0 // as all the time before
		}
		o = r.recordPiece(ctx, p)
	}
	if o.ok && (ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded)) {
		r.recordPiece(context.WithoutCancel(ctx), piece{series: "events", into: r.whole, providers: stacks, lasts: burst})
	}
}

// recordTurn records a part of the long session. Once awaits came too fast it leaves them out, and
// once many events did, it leaves those out.
func (r *recording) recordTurn(ctx context.Context, lasts time.Duration) outcome {
	p := piece{series: "events", into: r.whole, providers: r.allProviders(), limit: tooFast, lasts: lasts}
	switch {
	case r.many:
		p.providers, p.limit = r.rareProviders(), 0
	case r.awaiting.Load():
		p.providers = mergeProviders(p.providers, awaits)
	}
	o := r.recordPiece(ctx, p)
	switch {
	case !o.fast:
	case r.awaiting.Load():
		r.awaiting.Store(false)
	default:
		r.many = true
		r.warnOnce("requests and lock waits are too frequent to record them all without slowing the process, and this version may hang when recording is switched on and off: they are recorded up to this moment only")
	}
	return o
}

// recordEvents records the long session. Where its events come too fast, it goes on without the
// most frequent of them, which are then recorded now and then: awaits first, then all but requests
// and their calls, then these.
func (r *recording) recordEvents(ctx context.Context) {
	var views sync.WaitGroup
	defer views.Wait()
	in := func(providers []ipc.Provider, limit int) piece {
		return piece{series: "events", into: r.whole, providers: providers, limit: limit}
	}
	r.awaiting.Store(true)
	fast := r.recordPiece(ctx, in(mergeProviders(r.allProviders(), awaits), tooFast)).fast
	r.awaiting.Store(false)
	if !fast || ctx.Err() != nil || !r.recordPiece(ctx, in(r.allProviders(), tooFast)).fast || ctx.Err() != nil {
		return
	}
	ends, end := context.WithCancel(ctx)
	defer end()
	views.Go(func() { r.recordViews(ends, r.detailProviders()) })
	r.warnOnce("locks and waits are too frequent to record them all without slowing the process: they are recorded for %v at a time", window)
	if !r.recordPiece(ctx, in(mergeProviders(r.rareProviders(), r.requestProviders()), tooFast)).fast || ctx.Err() != nil {
		return
	}
	r.warnOnce("requests are too frequent to record them all without slowing the process: they, too, are recorded for %v at a time", window)
	r.recordPiece(ctx, in(r.rareProviders(), 0))
}

// recordViews records the frequent events for a moment now and then.
func (r *recording) recordViews(ctx context.Context, providers []ipc.Provider) {
	for {
		o := r.recordPiece(ctx, piece{series: "detail", providers: providers, lasts: window, most: 2 * tooFast, named: true})
		if !o.ok || !probe.Wait(ctx, jitterAround(max(betweenViews, o.requiredDistance()))) {
			return
		}
	}
}

// recordLooks records into one artifact, in turn, what is recorded for a moment now and then.
//
// Stacks of all threads are taken at once, then as often as they cost little, at random moments,
// since at regular ones they would always meet the same of what a service does now and then, and
// once more at the end. Between them it records what tasks are awaited: each await, and what ends
// it, are events of their own; and what allocates what: as many events as the program allocates
// 100 KB.
//
// Names are told at the recording's end, as they are nine tenths of what a look takes of the
// target's time. In a longer recording they are also told at the first look and now and then
// between, so that its capture has them even if the recorder or the process is killed. tracked is
// called when activities are tracked, or never will be.
func (r *recording) recordLooks(ctx context.Context, tracked func()) {
	defer tracked()
	into := r.moments
	first := r.recordPiece(ctx, piece{series: evidence.MomentsSeries, into: into, providers: tracking, lasts: burst, started: tracked, named: r.long >= newNames})
	if !first.ok {
		return
	}
	told, apart := time.Now(), max(newNames, first.requiredDistance())
	last := r.end.Add(-lastStacks)
	threads := time.Now().Add(jitterAround(betweenThem))
	tasks := time.Now().Add(time.Second + rand.N(betweenAwaits)) // not beside the first looks
	ticks := time.Now().Add(time.Second + rand.N(betweenTicks))
	deaths := r.end // never
	if r.heap && r.long >= leastDeaths {
		deaths = time.Now().Add(time.Second)
	}
	for {
		next := piece{series: evidence.MomentsSeries, into: into, providers: stacks, lasts: burst}
		at := threads
		if r.awaiting.Load() {
			tasks = time.Now().Add(rand.N(betweenAwaits)) // they are in the long session, until they come too fast
		}
		if tasks.Before(at) {
			at, next = tasks, piece{series: evidence.MomentsSeries, into: into, providers: withCounters(awaits), lasts: awaited, most: 4 * tooFast}
		}
		if ticks.Before(at) {
			at, next = ticks, piece{series: evidence.MomentsSeries, into: into, providers: withCounters(allocating), lasts: allocated, most: 4 * tooFast}
		}
		if deaths.Before(at) && deaths.Add(died).Before(last) {
			at, next = deaths, r.deathsPiece(into)
		}
		ends := !at.Before(last)
		if ends {
			at, next = last, piece{series: evidence.MomentsSeries, into: into, providers: stacks, lasts: burst}
		}
		if ends && at.Sub(told) < lastStacks || !probe.Wait(ctx, time.Until(at)) {
			return
		}
		if next.named = !ends && time.Since(told) > apart; next.named {
			told = time.Now()
		}
		o := r.recordPiece(ctx, next)
		if !o.ok || ends {
			return
		}
		switch at {
		case tasks:
			tasks = time.Now().Add(max(betweenAwaits, o.requiredDistance()))
		case ticks:
			ticks = time.Now().Add(max(betweenTicks, o.requiredDistance(), 100*tickByte*time.Duration(o.seen)))
		case deaths:
			deaths = time.Now().Add(max(betweenDeaths, o.requiredDistance()))
		default:
			threads = time.Now().Add(jitterAround(max(betweenThem, r.long/mostLooks, o.requiredDistance(), 100*lookByte*time.Duration(o.seen))))
		}
	}
}

// jitterAround returns a random time between d/2 and 3d/2, d in the mean.
func jitterAround(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// failWith ends the recording with an error. The first error is kept.
func (r *recording) failWith(err error) {
	r.mu.Lock()
	if r.failure == nil {
		r.failure = err
	}
	r.mu.Unlock()
	r.stop()
}

// warnOnce writes a warning to the sink, each text once.
func (r *recording) warnOnce(format string, args ...any) {
	text := fmt.Sprintf("pid %d: %s", r.client.PID(), fmt.Sprintf(format, args...))
	r.mu.Lock()
	again := r.said[text]
	r.said[text] = true
	r.mu.Unlock()
	if !again {
		r.sink.Warnf("%s", text)
	}
}

// artifactName returns the name of the next artifact of a series: they are numbered from 1.
func (r *recording) artifactName(series string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces[series]++
	return fmt.Sprintf("%s-%04d.nettrace", series, r.pieces[series])
}
