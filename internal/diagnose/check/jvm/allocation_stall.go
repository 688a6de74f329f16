package jvm

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// AllocationStall is threads that wait until the collector has freed memory.
var AllocationStall = check.Check{
	ID:    "jvm.allocation-stall",
	Title: "threads wait for GC to free memory",
	Step:  check.StepCollector,
	Doc: `ZGC collects while the program runs and pauses it for less than a ms. If the heap is
full before a cycle ends, each thread that allocates waits until memory is free: an
allocation stall, of that thread alone. A relocation stall occurs if a thread needs an
object moved and no free space is left. The log gives thread and time. Ten threads that
stall for a second at the same time are ten seconds in the log, and at most one second
for a request: stalls are not pauses, so unstall compares their sum with the requests in
flight.

How to tell it from similar problems: if requests are slow without stalls while GC runs
all the time, they compete with GC for CPUs (linux.cpu-saturation). If the heap is still
full after each GC cycle, it is too small or leaks (jvm.old-gen-leak). Shenandoah delays
threads that allocate, up to 10 ms each time (pacing, reported by -Xlog:gc+stats after
each cycle), before it pauses all (jvm.degenerated-gc).

What helps: a larger heap: the free part must hold everything allocated during a cycle,
and a larger live heap makes cycles longer; allocating less; generational ZGC
(-XX:+ZGenerational in JDK 21 and 22, the default from 23 on, the only one from 24 on),
whose young cycles are short; more GC threads where CPUs are idle (-XX:ConcGCThreads).
-XX:SoftMaxHeapSize below -Xmx makes cycles start earlier and keeps the rest for bursts.
What does not help: a pause goal, which it does not have.`,
	Least: fmt.Sprintf("stalls in %v of the time, or one of a second; with requests, %v of slow time, or %v of %v where most of it was not seen",
		stoppedSpecial, check.Material, stoppedSpecial, leastWatched),
	Thresholds: []check.Threshold{concurrently, leastWatched, manyCores, stoppedSpecial, unified, check.ASecond, check.Material, check.MinRequests,
		check.MostlyUnseen, check.Noticeable, check.SlowShare, check.SomeSlow},

	Needs: "ZGC's log (-Xlog:gc is enough: stalls are logged at level info), Shenandoah's with -Xlog:gc*; requests from the same time, to show what they cost",
	Applies: func(c *check.Case) bool {
		return isJVM(c) && (withCollector(c, "ZGC") || withCollector(c, "Shenandoah") && tellsPacing(c))
	},
	Judge: judgeStall,
}

func judgeStall(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	s := g.allocationStalls()
	share := float64(s.any.Time()) / 1e9 / max(g.Span, 1e-9)
	v := check.Verdict{Rule: check.TooLittle, Summary: "no thread waited for GC to free memory", Weight: share}
	if len(s.rows) == 0 {
		v.Rule = check.Absent
		return v
	}
	v.Summary = fmt.Sprintf("threads waited for memory in %s of the time", units.Percent(share))
	v.WeighOne(share, stoppedSpecial)
	v.WeighOne(s.longest, check.ASecond)
	v.Evidence = append(v.Evidence,
		c.Figure("alloc.stalls", "allocation stalls of single threads", float64(len(s.rows)), "count", s.origin),
		c.Figure("alloc.stalls_thread_s", "their total over all threads (not a pause)", s.sum, "thread s", s.origin),
		c.Figure("alloc.stalled_share", "share of the time in which at least one thread stalled", share, "1", s.origin),
		c.Figure("alloc.stall_longest_ms", "longest stall", 1e3*s.longest, "ms", s.origin))
	l := c.Ledger
	switch {
	case l != nil && len(l.Slow) > 0 && g.meetsRequests():
		per := l.AllocStalls()
		var all int64
		for _, ns := range per {
			all += ns
		}
		part := float64(all) / float64(max(l.Total, 1))
		v.Summary = "waiting for memory is " + check.OfSlow(part)
		v.Weigh(part, check.Material)
		v.Evidence = append(v.Evidence, c.Figure("slow.alloc_stall_ms", "slow time: waiting for memory (stalled threads, shared among the requests in flight)", float64(all)/1e6, "ms", s.origin))
		// If most of the slow requests' time was not observed, the requests do not contradict the log.
		unseen := share >= stoppedSpecial.Value && g.Span >= leastWatched.Value && !c.HasRequestStates() && c.UserVisible(check.Noticeable)
		switch {
		case !c.Slow():
			v.Rule = check.NotSlow
			return v
		case part < check.Material.Value && !unseen:
			return v
		}
		// The requests of stalled threads are unknown: the cost is between nothing and all the time in which any thread
		// stalled.
		var most int64
		for _, row := range l.Slow {
			end := c.Bundle.Requests.End.At(row)
			most += s.any.Within(end-c.Bundle.Requests.Latency(row), end)
		}
		v.Saves = c.Save(per, 0, most)
	case l != nil && g.meetsRequests():
		v.Rule = check.NotSlow
		v.Summary += ", but requests are not slow"
		return v
	case share < stoppedSpecial.Value && s.longest < check.ASecond.Value:
		return v
	default:
		v.Needs = append(v.Needs, requestsEvidence)
	}
	v.Rule = check.Matters
	title, longest := "ZGC", units.Time(1e9*s.longest)
	if g.Is("Shenandoah") { // its log sums up the delays of each thread
		title, longest = "Shenandoah", longest+" in one cycle"
	}
	v.Title = fmt.Sprintf("Threads waited %s for GC to free memory, for up to %s, because the program allocates faster than %s frees.", units.Times(len(s.rows)), longest, title)
	capacity, live := g.Capacity.Number, g.Live.Number
	if g.Alloc.Known() {
		v.Evidence = append(v.Evidence, c.Figure("alloc.bytes_per_s", "allocation rate", g.Alloc.Number, "bytes/s", g.Origin))
	}
	for _, f := range []struct {
		id, text string
		x        float64
	}{{"heap.after_bytes", "heap in use after GC cycles (median)", live}, {"heap.capacity_bytes", "heap capacity", capacity}} {
		if !math.IsNaN(f.x) {
			v.Evidence = append(v.Evidence, c.Figure(f.id, f.text, f.x, "bytes", g.Origin))
		}
	}
	g.adviseConcurrent(&v, live, capacity)
	switch version := featureRelease(c); {
	case g.Is("Shenandoah"):
		v.Fix = append(v.Fix, earlier)
		if version >= 25 && !g.Is("generational") {
			v.Fix = append(v.Fix, generational)
		}
	case g.Is("generational"):
	case version == 0 || version == 21 || version == 22:
		v.Fix = append(v.Fix, check.Fix{Text: "use generational ZGC (JDK 21 and 22): its young cycles free most of the garbage in a fraction of the time", Setting: "-XX:+UseZGC -XX:+ZGenerational"})
	case version < 21:
		v.Fix = append(v.Fix, check.Fix{Text: "update to JDK 21 or later and use generational ZGC: its young cycles free most of the garbage in a fraction of the time", Setting: "-XX:+UseZGC -XX:+ZGenerational"})
	}
	return v
}

// tellsPacing says whether Shenandoah's log tells how long it delayed threads.
func tellsPacing(c *check.Case) bool {
	return len(c.Bundle.Covered(c.Subject, evidence.CoverStalls)) > 0
}

// stalls are the times in which single threads waited for memory, within the window.
type stalls struct {
	rows    []int
	any     metrics.Spans // when at least one thread waited
	sum     float64       // s, over all threads
	longest float64       // s
	origin  evidence.Origin
}

func (g *collector) allocationStalls() (s stalls) {
	v := &g.c.Bundle.Intervals
	for _, i := range v.Select(evidence.AllocStall, g.c.Subject) {
		if v.End[i] <= g.From || v.Start[i] >= g.Until {
			continue
		}
		d := float64(v.End[i]-v.Start[i]) / 1e9
		if s.rows = append(s.rows, i); d > s.longest || len(s.rows) == 1 {
			s.longest, s.origin = d, v.Origin.At(i)
		}
		s.sum += d
		s.any = s.any.Add(v.Start[i], v.End[i])
	}
	return s
}
