package gotrace

import (
	"github.com/unstall/unstall/internal/base/evidence"
)

// collector follows the garbage collector: its phases, what it cost, and the
// heap as the pacer saw it. Sizes are bytes.
type collector struct {
	cycleFrom int64
	marking   bool
	markFrom  int64
	cut       bool // the phase began before the trace
	forced    bool // the program asked for the cycle
	askedAt   evidence.StackID

	heapNow, heapAtStart, heapAtEnd uint64
	allocated                       uint64 // since the trace began

	assist, background, idle int64 // ns of the present cycle
	stops                    int64
	begun, cycles, assists   int64
	total                    struct{ assist, background, idle, mark int64 }

	stopFrom   int64
	stopDepth  int
	pendingEnd *evidence.Interval // the cycle, until the stop that ends it is over

	heapT, goalT evidence.Series
	step         int64 // ns between kept heap points
}

// maxPoints bounds the heap series; when it is full, every second point goes.
const maxPoints = 1 << 16

func (c *collector) init() {
	c.heapT = evidence.Series{Name: evidence.SeriesGoHeap, Unit: "bytes"}
	c.goalT = evidence.Series{Name: evidence.SeriesGoGoal, Unit: "bytes"}
	c.step = 100e3
}

func (c *collector) noteHeap(t int64, v uint64) {
	if v > c.heapNow && c.heapNow != 0 {
		c.allocated += v - c.heapNow
	}
	fell := v < c.heapNow
	if fell {
		c.heapAtEnd = c.heapNow
	}
	c.heapNow = v
	s := &c.heapT
	if n := len(s.T); n == 0 || fell || t-s.T[n-1] >= c.step {
		thinSeries(s, &c.step)
		s.T, s.V = append(s.T, t), append(s.V, float64(v))
	}
}

func thinSeries(s *evidence.Series, step *int64) {
	if len(s.T) < maxPoints {
		return
	}
	n := 0
	for i := 0; i < len(s.T); i += 2 {
		s.T[n], s.V[n] = s.T[i], s.V[i]
		n++
	}
	s.T, s.V = s.T[:n], s.V[:n]
	*step *= 2
}

func (c *collector) setGoal(t int64, v uint64) {
	if n := len(c.goalT.V); n == 0 || c.goalT.V[n-1] != float64(v) {
		if n < maxPoints {
			c.goalT.T, c.goalT.V = append(c.goalT.T, t), append(c.goalT.V, float64(v))
		}
	}
}

func (c *collector) addAssist(dur int64) {
	c.assist += dur
	c.total.assist += dur
}

func (c *collector) addWork(h evidence.Holder, dur int64) {
	if h == evidence.HeldByIdleMark {
		c.idle += dur
		c.total.idle += dur
		return
	}
	c.background += dur
	c.total.background += dur
}

func (c *collector) stopBegins(t int64) {
	c.stopDepth++
	if c.stopDepth == 1 {
		c.stopFrom = t
	}
}

func (c *collector) beginCycle(t int64) {
	c.cycleFrom = t
	c.begun++
	c.heapAtStart = c.heapNow
	c.assist, c.background, c.idle, c.stops = 0, 0, 0, 0
}

func (c *collector) stopEnds(w *world, t int64, reason string) {
	if c.stopDepth == 0 {
		return // began before the trace
	}
	c.stopDepth--
	if c.stopDepth > 0 {
		return
	}
	w.b.Interval(evidence.Interval{Subject: w.subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: c.stopFrom, End: t,
		Request: evidence.NoRequest, Cause: w.b.Name(reason), Origin: w.b.Origin(w.events)})
	if reason == "GC mark termination" || reason == "GC sweep termination" {
		c.stops += t - c.stopFrom
	}
	if reason == "GC sweep termination" && c.marking {
		c.markFrom = t // the phase is announced before the world stops for it
	}
	w.host.noteStop(t - c.stopFrom)
	if p := c.pendingEnd; p != nil && reason == "GC mark termination" {
		c.emitPendingCycle(w, t)
	}
}

// markBegins notes that marking begins, where by started it: the goroutine whose allocation met the goal, or that asked for a cycle.
func (c *collector) markBegins(t int64, active bool, by *stack) {
	if c.marking {
		return // announced again at the start of a generation
	}
	c.beginCycle(t)
	c.marking, c.markFrom, c.cut, c.forced, c.askedAt = true, t, active, by != nil && by.forces, 0
	if c.forced {
		c.askedAt = by.stackID()
	}
}

// leftOver notes a cycle that was under way when the trace ended.
func (c *collector) leftOver(w *world) {
	if !c.marking {
		return
	}
	for _, k := range []evidence.Kind{evidence.GCMark, evidence.GCCycle} {
		from := c.markFrom
		if k == evidence.GCCycle {
			from = c.cycleFrom
		}
		x := evidence.Interval{Subject: w.subject, Kind: k, Start: from, End: w.now, Request: evidence.NoRequest,
			Cause: w.b.Name("goes on after the trace"), Origin: w.b.Origin(w.events)}
		if k == evidence.GCCycle && c.forced {
			x.Stack, x.Extra = c.askedAt, []evidence.Extra{{Key: evidence.Forced, Value: 1}}
		}
		w.b.Interval(x)
	}
}

// markEnds notes a finished cycle. The heap metric falls to what was marked
// while the world is stopped for mark termination, before the phase's end is
// written; the new goal follows.
func (c *collector) markEnds(w *world, t int64) {
	if !c.marking {
		c.markFrom, c.cut, c.forced, c.askedAt = w.first, true, false, 0
		c.beginCycle(w.first)
	}
	c.marking = false
	c.cycles++
	c.total.mark += t - c.markFrom
	cause := ""
	if c.cut {
		cause = "began before the trace"
	}
	w.b.Interval(evidence.Interval{Subject: w.subject, Lane: 0, Kind: evidence.GCMark, Start: c.markFrom, End: t, Request: evidence.NoRequest,
		Cause: w.b.Name(cause), Origin: w.b.Origin(w.events)})
	c.pendingEnd = &evidence.Interval{Subject: w.subject, Kind: evidence.GCCycle, Start: c.cycleFrom, End: t, Request: evidence.NoRequest,
		Stack: c.askedAt, Cause: w.b.Name(cause), Origin: w.b.Origin(w.events),
		Extra: []evidence.Extra{
			{Key: evidence.CycleNumber, Value: float64(c.cycles)},
			{Key: evidence.MarkTime, Value: float64(t - c.markFrom)},
			{Key: evidence.AssistTime, Value: float64(c.assist)},
			{Key: evidence.BackgroundTime, Value: float64(c.background)},
			{Key: evidence.IdleTime, Value: float64(c.idle)},
		}}
	if c.forced {
		c.pendingEnd.Extra = append(c.pendingEnd.Extra, evidence.Extra{Key: evidence.Forced, Value: 1})
	}
	if !c.cut && c.heapAtStart != 0 {
		c.pendingEnd.Extra = append(c.pendingEnd.Extra, evidence.Extra{Key: evidence.HeapBefore, Value: float64(c.heapAtStart)})
	}
	if goal := c.goalDuring(); goal != 0 {
		c.pendingEnd.Extra = append(c.pendingEnd.Extra, evidence.Extra{Key: evidence.HeapGoal, Value: goal})
	}
	if w.held.total > 0 {
		c.pendingEnd.Extra = append(c.pendingEnd.Extra, evidence.Extra{Key: evidence.Processors, Value: float64(w.held.total)})
	}
	if c.stopDepth == 0 {
		c.emitPendingCycle(w, t) // the stop is over already, or was never seen
	}
}

// goalDuring is the goal that was in force when the cycle began marking.
func (c *collector) goalDuring() float64 {
	for i := len(c.goalT.T) - 1; i >= 0; i-- {
		if c.goalT.T[i] <= c.markFrom {
			return c.goalT.V[i]
		}
	}
	return 0
}

func (c *collector) emitPendingCycle(w *world, t int64) {
	p := c.pendingEnd
	c.pendingEnd = nil
	if p == nil {
		return
	}
	p.End = max(p.End, t)
	p.Extra = append(p.Extra, evidence.Extra{Key: evidence.STWTime, Value: float64(c.stops)})
	if c.heapAtEnd > c.heapNow {
		p.Extra = append(p.Extra, evidence.Extra{Key: evidence.HeapAfter, Value: float64(c.heapAtEnd)}, evidence.Extra{Key: evidence.HeapLive, Value: float64(c.heapNow)})
	}
	w.b.Interval(*p)
}
