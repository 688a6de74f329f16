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
	burst       = 50 * time.Millisecond  // length of a look at thread stacks
	longBurst   = 250 * time.Millisecond // … if there are few threads; it ends earlier if it costs 1 % of a core
	betweenThem = 400 * time.Millisecond // mean pause between looks, at least: occasional stalls of some 10 ms must be met several times
	betweenLong = 2 * time.Second        // … between long ones
	mostLooks   = 300                    // looks of a recording, beside those with names
	mostTurns   = 4                      // … if each ends a session that threads write into: few, because 3.1.2 once ended while it was recorded
	lastStacks  = time.Second            // the last look's time before the end
	switching   = time.Second / 2        // what a look and the sessions around it take in addition
	newNames    = 30 * time.Second       // least time before names are written, and before they are written again at the end

	window       = time.Second     // length of a view of detail, if events come too fast
	betweenViews = 4 * time.Second // mean pause between views, at least

	awaited       = 500 * time.Millisecond // length of a view of awaits
	betweenAwaits = 4 * time.Second        // least pause between them
	lastAwaits    = 2 * time.Second        // their time before the end, if there is one session at a time

	allocated    = 500 * time.Millisecond // length of a view of allocations
	betweenTicks = 4 * time.Second        // least pause between them
	leastTicks   = 10 * time.Second       // least length of a recording with them, if there is one session at a time

	died          = 3 * time.Second  // length of a view of dying objects, if requested: some gen 2 collections if there are too many of them
	betweenDeaths = 10 * time.Second // least pause between them
	mostDeaths    = 32 << 20         // bytes
	leastDeaths   = 6 * time.Second  // least length of a recording with them

	walked   = 30 * time.Second // longest time for the objects on the heap
	walkedIn = time.Second      // a pause of this length means that all objects were reported
	mostHeap = 1 << 30          // bytes; an object takes 40
	heapMB   = 256              // MB for unread events, because they come all at once
)

// tooFast is how many bytes a second, over fastFor, show that events cost the target too much. It does not apply if the target uses so much
// CPU time that they are less than 2 % of it ([affordableBytes]). tooFast is 2 to 3 % of a core (docs/decisions/recording.md).
const (
	tooFast = 64 << 10
	fastFor = 3 * time.Second
)

// bufferMB bounds the target's memory for unread events. The names at a session's end must fit: 3 MB for a small service.
const bufferMB = 64

// recording is one run of the probe.
type recording struct {
	client  *ipc.Client
	about   evidence.Subject
	secrets []secret
	release int  // 9 of 9.0.7, 0 unknown
	fragile bool // before .NET 6: sessions must be few, and one at a time
	heap    bool // also record dying objects and those on the heap
	crashes bool // before 3.1.5, which crashes if names are written while generated methods are freed
	sink    probe.Sink

	long time.Duration // planned length
	end  time.Time
	stop context.CancelFunc

	moments, whole *artifact   // the artifact of [evidence.MomentsSeries], and that of the long session
	frees          bool        // the program frees methods it generated
	generates      bool        // the program generated methods at the last look, as any program does when it starts
	gone           atomic.Bool // the process has ended, or its diagnostics hang

	ending sync.Mutex // held while names are written, or the sampler is on
	many   bool       // events came too fast

	awaiting atomic.Bool // awaits are in the long session

	mu      sync.Mutex
	failure error
	said    map[string]bool
	pieces  map[string]int // number of pieces begun, by series
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

// atOnce records looks beside the long session.
func (r *recording) atOnce(ctx context.Context) {
	tracked := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { r.recordLooks(ctx, sync.OnceFunc(func() { close(tracked) })) })
	<-tracked
	all.Go(func() { r.recordEvents(ctx) })
	all.Wait()
}

// recordHeap has the runtime collect its heap and report the objects on it. It runs last, because it stops the program as long as that takes.
// If only one session at a time is possible, dying objects are recorded just before it. So a session that the runtime breaks off, as 3.1.2
// once did here, loses nothing else.
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

// recordNames has the runtime write the names of all methods, once, for both artifacts. It runs last, so that recently compiled methods are
// among them. Its session writes nothing else. That matters before .NET 6: while that runtime writes names it enables the events of compiling
// methods, unless the session requests other events of the same provider. A thread that writes such an event as the session ends may never
// return (dotnet/runtime#51579), or write into freed memory.
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

// inTurn records without two sessions at once, which crashed .NET Core 3.1.2 on a busy host in one of some ten tries. The long session is
// interrupted at random moments for a look at threads and requests, as often as that runtime tolerates. Awaited tasks are recorded at the end
// of the long session, in a session of their own, if events came slowly enough until then. Allocations are recorded once, first, without
// counters: a session of half a second would end as counters are read for the first time, and the runtime hung then.
func (r *recording) inTurn(ctx context.Context) {
	if r.long >= leastTicks { // it reports collections as well, which may continue in the first turn
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
		left := time.Until(last) - lastStacks - longBurst - switching // otherwise no time is left for awaits
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
			p.most = 0 // as long as the time before
		}
		o = r.recordPiece(ctx, p)
	}
	if o.ok && (ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded)) {
		r.recordPiece(context.WithoutCancel(ctx), piece{series: "events", into: r.whole, providers: stacks, lasts: burst})
	}
}

// recordTurn records a part of the long session. It leaves awaits out once they came too fast, and frequent events once those did.
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

// recordEvents records the long session. If its events come too fast, it continues without the most frequent of them, which are then recorded
// for a moment now and then: first awaits, then all but requests and their calls, then these.
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

// recordLooks records short looks into one artifact, in turn.
//
// Stacks of all threads are taken at the beginning, at random moments as often as they cost little, and at the end. At regular moments they
// would always meet the same part of periodic work. Between them it records awaited tasks: each await, and what ends it, are separate events.
// It also records allocations: one event for each 100 KB that the program allocates.
//
// Names are written at the recording's end, because they take nine tenths of the target's time for a look. A longer recording also has them at
// the first look and now and then between, so that its capture has names even if the recorder or the process is killed. tracked is called when
// activities are tracked, or never will be.
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
	tasks := time.Now().Add(time.Second + rand.N(betweenAwaits)) // apart from the first looks
	ticks := time.Now().Add(time.Second + rand.N(betweenTicks))
	deaths := r.end // never
	if r.heap && r.long >= leastDeaths {
		deaths = time.Now().Add(time.Second)
	}
	for {
		next := piece{series: evidence.MomentsSeries, into: into, providers: stacks, lasts: burst}
		at := threads
		if r.awaiting.Load() {
			tasks = time.Now().Add(rand.N(betweenAwaits)) // they are in the long session until they come too fast
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

// jitterAround returns a random time between d/2 and 3d/2, with mean d.
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

// artifactName returns the name of the next artifact of a series. Names are numbered from 1.
func (r *recording) artifactName(series string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces[series]++
	return fmt.Sprintf("%s-%04d.nettrace", series, r.pieces[series])
}
