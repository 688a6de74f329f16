package dotnet

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var shrinks = check.Threshold{Name: "part of generation 2 that a collection frees", Value: .1, Unit: "1",
	Why: "its counters show then that it collected the generation as a whole, and not in the background", Source: "judgement: weighs a generation that was collected as a whole against counters that were read between two collections"}

// judgeGen2Counted judges by counters where no events of the collector were recorded: the
// process sent none for some seconds, and the first it sent then count a gen 2 collection,
// which left a smaller generation 2.
func judgeGen2Counted(c *check.Case) (v check.Verdict, ok bool) {
	stall, ok := metrics.CounterStallOf(c.Bundle, c.Subject, evidence.SeriesGen2Collections)
	if !ok {
		return v, false
	}
	counted := counterCurve(c, evidence.SeriesGen2Collections)
	if n := firstAfterStall(counted, stall); !(n > 0) {
		return v, false
	}
	v = unwatchedVerdict(c)
	v.Evidence = append(v.Evidence,
		c.Figure("counters.stalled_s", fmt.Sprintf("time without any counter, of a process that sends them every %s", units.Time(float64(stall.Beat))), stall.Window.Seconds(), "s", stall.Origin),
		c.Figure("gc.gen2_counted", "gen 2 collections counted right after the stall", math.Round(firstAfterStall(counted, stall)*float64(stall.Beat)/1e9), "count", counted.Origin))
	size := counterCurve(c, evidence.SeriesGen2Size)
	before, after := size.At(stall.From), firstAfterStall(size, stall)
	if math.IsNaN(before) || math.IsNaN(after) || after > (1-shrinks.Value)*before {
		v.Summary = fmt.Sprintf("no counters came for %s, until a gen 2 collection had ended; whether it stopped the program was not recorded", units.Time(float64(stall.Until-stall.From)))
		return v, true
	}
	v.Rule = check.StandsAlone
	v.Title = fmt.Sprintf("A gen 2 collection of %s stopped the program for up to %s.", units.Size(before), units.Time(float64(stall.Until-stall.From)))
	v.Summary = fmt.Sprintf("no counters came for %s, while a gen 2 collection freed %s", units.Time(float64(stall.Until-stall.From)), units.Size(before-after))
	v.Evidence = append(v.Evidence,
		c.Figure("heap.gen2_before_bytes", "generation 2 before it", before, "bytes", size.Origin),
		c.Figure("heap.gen2_after_bytes", "generation 2 after it", after, "bytes", size.Origin))
	v.Fix = []check.Fix{{Text: "turn on background GC if it is off: without it each gen 2 collection stops the program until it ends", Setting: "System.GC.Concurrent=true (DOTNET_gcConcurrent=1)"},
		{Text: "keep fewer long-lived objects, or keep them in fewer objects without references: each gen 2 collection marks all of them"}}
	return v, true
}

// counterCurve returns a counter of the process over the whole recording.
func counterCurve(c *check.Case, name string) *metrics.Curve {
	return metrics.CurveOf(c.Bundle, c.Subject, name, metrics.Whole)
}

// firstAfterStall returns the first reading of a counter after a stall, in the round of readings
// that ended it; NaN if there is none.
func firstAfterStall(k *metrics.Curve, stall metrics.CounterStall) float64 {
	if !k.Known() {
		return math.NaN()
	}
	for i, t := range k.T {
		if t >= stall.Until && t <= stall.Until+2*max(stall.Beat, 1e9) {
			return k.V[i]
		}
	}
	return math.NaN()
}

var manyQueued = check.Threshold{Name: "work items in the pool's queue", Value: 10, Unit: "count",
	Why: "a pool that is given work at once passes through fewer", Source: "judgement: weighs a burst that the pool works off against a queue that stands"}

// findCounterStall says whether the process's counters stopped coming and its queue was longest
// afterwards: until .NET 5 a timer on the pool sends the counters, so that neither that nor the
// queued work found a thread. A gen 2 collection in that time is another reason.
func (s *starving) findCounterStall() (stall metrics.CounterStall, ok bool) {
	p := s.pool
	stall, ok = metrics.CounterStallOf(s.c.Bundle, s.c.Subject, evidence.SeriesPoolQueue)
	if !ok || p.CPU > idleEnough.Value || firstAfterStall(counterCurve(s.c, evidence.SeriesGen2Collections), stall) > 0 {
		return stall, false
	}
	before := 0.0
	for i, t := range p.Queue.T {
		if t <= stall.From {
			before = max(before, p.Queue.V[i])
		}
	}
	return stall, p.Queue.Last() >= manyQueued.Value && p.Queue.Last() > before && p.Queue.Last() > firstAfterStall(p.Queue, stall)
}

// byQueue judges by the queue alone, where the pool's threads were not recorded.
func (s *starving) byQueue(v *check.Verdict) {
	q := s.pool.Queue
	most := 0.0
	for _, n := range q.V {
		most = max(most, n)
	}
	v.Rule = check.CostUnknown
	v.Evidence = append(v.Evidence, s.c.Figure("pool.queued_items_most", "most work items waiting for a pool thread", most, "count", q.Origin))
	missing := "the number of pool threads was not recorded"
	if math.IsNaN(s.pool.CPU) {
		missing = "the number of pool threads and CPU use were not recorded"
	}
	v.Summary = fmt.Sprintf("up to %.0f work items waited for a pool thread; %s", most, missing)
	v.Needs = []check.Need{countersEvidence, stacksEvidence}
	stall, ok := s.findCounterStall()
	if !ok {
		return
	}
	v.Rule, v.Weight = check.Matters, 1
	v.Weigh(q.Last(), manyQueued)
	v.Title = fmt.Sprintf("Work waits for threads of the pool: %.0f items are queued, and for %s no counters came.", q.Last(), units.Time(float64(stall.Until-stall.From)))
	v.Evidence = append(v.Evidence, s.c.Figure("counters.stalled_s", fmt.Sprintf("time without any counter, of a process that sends them every %s", units.Time(float64(stall.Beat))), stall.Window.Seconds(), "s", stall.Origin))
	v.Fix = []check.Fix{{Text: "await instead of blocking, from the blocking call up to the handler; the thread stacks show where"}}
}
