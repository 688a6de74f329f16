package nettrace

import (
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// collector is the state of GC. A background collection (of
// generation 2, concurrent) may contain others, and has pauses of its own.
type collector struct {
	watched   bool
	open      []*cycle // begun and not ended: a background one and one within it
	done      []*cycle
	told      *cycle // the collection of the last history of all heaps
	pauses    []pause
	holds     rowBlocks[hold] // of the sample profiler
	heaps     []heap
	suspended [9]int64 // suspensions by reason, others last
	dropped   int64    // beyond maxCycles
	headless  uint32   // number of a collection that began before the session, 0: none
	plain     int64    // collections beyond maxHistories, without their histories
	waits     largeWaits
	figures   figures // reused

	// Suspensions by the thread that requested them, which also ends them. A second thread's
	// suspension begins during the first one and waits for its turn. Ended ones stay, for
	// reuse: the sample profiler begins a thousand a second.
	stopping map[int64]*pause
	stopper  *pause // looked up last

	trigger struct { // of the collection that begins next
		stack eventpipe.StackID
		at    int64
	}
}

type cycle struct {
	number, generation uint32
	reason, kind       uint32
	start, end         int64
	n                  int64             // of the event
	after              int64             // heap size, bytes, -1 unknown
	trigger            eventpipe.StackID // stack of the thread that triggered it; 0 unknown
	triggered          int64
	since              *process // the earlier session that it began in; nil: this one
	seen               int64    // ns: up to when sessions before this one watched it
	nameless           bool     // it began between two sessions; its number is in its end
	paused, suspended  int64    // ns, of its pauses: total, and until all threads had stopped
	history            *history // nil: none was recorded
	survivors          *survivors
}

type pause struct {
	thread     int64
	under      bool // way
	start, end int64
	stopped    int64 // when all threads had stopped, 0 unknown
	resumed    int64 // when their restart began, 0 unknown
	reason     uint32
	collects   int32 // generation of the collection that began within, -1: none
	kind       uint32
	why        uint32
	of         *cycle // the collection that its time is charged to from since on; nil: none yet
	since      int64
	number     uint32 // of the first collection that it was for
	n          int64
}

// maxNested is how many collections may be in progress at once.
const maxNested = 4

// maxCycles is how many collections of a stream are kept, more are counted. At 100 a second
// that is three hours.
const maxCycles = 1 << 20

// Kinds of collection.
const (
	blocking   = 0
	background = 1
	foreground = 2 // during a background one
)

var kindWords = [...]string{blocking: "", background: " background", foreground: " foreground"}

// reasonWords are the runtime's reasons for a collection (gc_reason in gc.h).
var reasonWords = [...]string{"small allocations", "induced", "low memory", "empty", "large allocations",
	"out of space for small objects", "out of space for large objects", "induced, not forced", "internal", "induced by low memory",
	"induced, compacting", "low memory of the host", "full collection of provisional mode", "low memory of the host, blocking"}

// induced are the reasons of collections that the program requested.
var induced = map[uint32]bool{1: true, 7: true, 9: true, 10: true}

// Reasons of a suspension. The collector's are 1 and 6, the sample profiler's 0.
const (
	suspendOther  = 0
	suspendGC     = 1
	suspendGCPrep = 6
)

// gcTriggered reads Triggered (35): it comes before the suspension, with the stack of the thread
// whose allocation or call triggers the collection.
func (q *process) gcTriggered(e *eventpipe.Event) {
	q.gc.trigger.stack, q.gc.trigger.at = e.Stack, e.Time
}

func (q *process) gcStart(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	y := &cycle{number: c.U32(), start: e.Time, n: e.N, after: -1}
	if e.Meta.Version >= 1 {
		y.generation, y.reason, y.kind = c.U32(), c.U32(), c.U32()
	} else {
		y.reason = c.U32()
	}
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	g := &q.gc
	g.watched = true
	y.trigger, y.triggered = g.trigger.stack, g.trigger.at
	g.trigger.stack = 0
	if p := g.pauseWithin(e.Thread); p != nil {
		if p.collects < 0 {
			p.collects, p.kind, p.why = int32(min(y.generation, 2)), y.kind, y.reason
		}
		p.chargeTo(y, e.Time)
	}
	if under := g.latestOpen(); under != nil {
		q.settleObjects(under) // before this one moves what it kept
	}
	if y.kind == background { // there is one at a time: the end of another came between two sessions
		g.endUnseen(func(x *cycle) bool { return x.since != nil }, 0)
	}
	if len(g.open) >= maxNested { // ends were lost
		g.open = g.open[1:]
	}
	g.open = append(g.open, y)
}

// chargeTo charges the pause to a collection from now on: a young collection may come
// first, within the pause that begins one in the background.
func (p *pause) chargeTo(y *cycle, now int64) {
	from := p.start
	if p.of != nil {
		from = p.since
		p.of.paused += now - from
		from = now
	} else {
		p.number = y.number
		if p.stopped > 0 {
			y.suspended += p.stopped - p.start
		}
	}
	p.of, p.since = y, from
}

func (q *process) gcEnd(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	number := c.U32()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	g := &q.gc
	g.watched = true
	for i := len(g.open) - 1; i >= 0; i-- {
		y := g.open[i]
		if y.nameless {
			y.number = number
		}
		if y.number != number {
			continue
		}
		y.nameless = false
		y.end = e.Time
		q.placeObjects(y)
		g.open = append(g.open[:i], g.open[i+1:]...)
		g.addEnded(y)
		return
	}
	if len(g.done) == 0 {
		g.headless = number
	}
}

func (g *collector) addEnded(y *cycle) {
	if len(g.done) == maxCycles {
		g.dropped++
		return
	}
	g.done = append(g.done, y)
}

// resumeBackground continues the collections that ran in the background when the previous session
// ended: they last a second and more, and the time between sessions is a few seconds.
func (g *collector) resumeBackground(last *process) {
	for _, y := range last.gc.open {
		if y.kind != background {
			continue
		}
		if y.since == nil {
			y.since = last
		}
		if last.gc.watched {
			y.seen = last.watchedUntil()
		}
		g.open = append(g.open, y)
	}
	last.gc.open = nil
}

// endUnseen ends background collections whose end was not recorded at the time when they were last
// known to run, at least at then.
func (g *collector) endUnseen(match func(*cycle) bool, then int64) {
	g.open = slices.DeleteFunc(g.open, func(y *cycle) bool {
		if y.kind != background || !match(y) {
			return false
		}
		y.end = max(y.start, y.seen, then)
		g.addEnded(y)
		return true
	})
}

// beginUnseen returns a background collection that began between two sessions, whose
// first event is its history; nil for others. It runs from the beginning of this session.
func (q *process) beginUnseen(generation, reason, mechanisms uint32, n int64) *cycle {
	if mechanisms&mechanismConcurrent == 0 || q.prior == nil || q.gc.backgroundCycle() != nil {
		return nil
	}
	y := &cycle{generation: generation, reason: reason, kind: background, start: q.watchedSince(), n: n, after: -1, nameless: true}
	q.gc.open = append(q.gc.open, y)
	return y
}

// suspendStart reads SuspendEEStart (9).
func (q *process) suspendStart(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	var reason uint32
	if e.Meta.Version >= 1 {
		reason = c.U32()
	} else {
		reason = uint32(c.U16())
	}
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	g := &q.gc
	g.watched = true
	g.suspended[min(reason, uint32(len(g.suspended)-1))]++
	p := g.pauseBy(e.Thread)
	if p == nil {
		if g.stopping == nil {
			g.stopping = make(map[int64]*pause)
		}
		if len(g.stopping) == maxCycles {
			return
		}
		p = new(pause)
		g.stopping[e.Thread] = p
	}
	*p = pause{thread: e.Thread, under: true, start: e.Time, reason: reason, collects: -1, n: e.N}
}

// suspendStop reads SuspendEEStop (8): all threads have stopped.
func (q *process) suspendStop(e *eventpipe.Event) {
	if p := q.gc.pauseBy(e.Thread); p != nil && p.under && p.stopped == 0 {
		p.stopped = e.Time
	}
}

// restartStart reads RestartEEStart (7): GC is done and threads are resumed.
func (q *process) restartStart(e *eventpipe.Event) {
	if p := q.gc.pauseBy(e.Thread); p != nil && p.under {
		p.resumed = e.Time
	}
}

// pauseBy returns the last suspension that a thread asked for; nil if it never did.
func (g *collector) pauseBy(thread int64) *pause {
	if p := g.stopper; p != nil && p.thread == thread {
		return p
	}
	p := g.stopping[thread]
	if p != nil {
		g.stopper = p
	}
	return p
}

// pauseWithin returns the suspension in which a collection begins: that of its thread, else the only
// suspension for a collection.
func (g *collector) pauseWithin(thread int64) *pause {
	if p := g.pauseBy(thread); p != nil && p.under {
		return p
	}
	var only *pause
	for _, p := range g.stopping {
		if p.under && p.isForCollection() {
			if only != nil {
				return nil
			}
			only = p
		}
	}
	return only
}

func (p *pause) isForCollection() bool { return p.reason == suspendGC || p.reason == suspendGCPrep }

// restartStop reads RestartEEStop (3): all threads run again.
func (q *process) restartStop(e *eventpipe.Event) {
	g := &q.gc
	g.watched = true
	p := g.pauseBy(e.Thread)
	if p == nil || !p.under {
		return
	}
	p.under = false
	if p.end = e.Time; p.reason == suspendOther {
		g.addHold(p)
	}
	if !p.isForCollection() {
		return
	}
	if p.of == nil {
		if y := g.backgroundCycle(); y != nil { // it needs another stop
			p.chargeTo(y, e.Time)
		}
	}
	if p.of != nil {
		p.of.paused += p.end - p.since
	}
	if len(g.pauses) == maxCycles {
		g.dropped++
		return
	}
	g.pauses = append(g.pauses, *p)
}

// backgroundCycle returns the collection that runs beside the program; nil without.
func (g *collector) backgroundCycle() *cycle {
	for _, y := range g.open {
		if y.kind == background {
			return y
		}
	}
	return nil
}

// describeCycle describes a collection: "gen 2 background, induced".
func (y *cycle) describeCycle() string {
	s := "gen " + strconv.Itoa(int(y.generation)) + kindWords[min(y.kind, foreground)]
	if int(y.reason) < len(reasonWords) {
		s += ", " + reasonWords[y.reason]
	}
	return s
}

func (p *pause) describePause() string {
	if p.collects < 0 {
		return "background collection"
	}
	return "gen " + strconv.Itoa(int(p.collects)) + kindWords[min(p.kind, foreground)]
}
