package jvm

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
)

// DegeneratedGC is Shenandoah that ends its cycles with the world stopped.
var DegeneratedGC = cause.Cause{
	ID:    "jvm.degenerated-gc",
	Title: "Shenandoah ends its cycles with the world stopped",
	Step:  cause.StepCollector,
	Doc: `Shenandoah marks, copies and updates references beside the program. If the heap is full
before a cycle ends (Cancelling GC: Allocation Failure), the program is stopped and the cycle
goes on from where it was: a degenerated collection, tens to hundreds of ms. If that does not
free enough, a full collection follows, which compacts everything: seconds in a large heap.
Both say that the program allocates faster than the collector frees, in the room it has.

Before that, threads that allocate are delayed (pacing, up to 10 ms each time); logs at the
level info do not tell of it: requests are then slow without a pause, and -Xlog:gc+stats or
JFR show it.

Told from its look-alikes: System.gc() is concurrent here and stops little
(jvm.explicit-gc). Stalls of single threads are ZGC's (jvm.allocation-stall). A live set
that grows until no room is left is jvm.old-gen-leak.

What helps: room; beginning earlier (-XX:ShenandoahMinFreeThreshold, 10 % unless set; a larger
-XX:ShenandoahInitFreeThreshold for the first cycles), more threads for the concurrent phases
(-XX:ConcGCThreads) where processors are idle; allocating less; from JDK 25 on the
generational mode, which frees short-lived objects without a whole cycle. What does not help:
more threads for pauses (-XX:ParallelGCThreads) alone.`,
	Needs:   "Shenandoah's log; requests of the same time to say what it costs",
	Applies: func(c *cause.Case) bool { return isJVM(c) && withCollector(c, "Shenandoah") },
	Judge:   judgeDegenerated,
}

func judgeDegenerated(c *cause.Case) cause.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched(c)
	}
	var v cause.Verdict
	p := g.with(degenerated)
	g.judge(&v, p, "degenerated and full collections", least(p))
	if v.State != cause.Supported {
		return v
	}
	full := p.Of(evidence.PauseFull)
	v.Evidence = append(v.Evidence,
		c.Figure("degenerated collections", float64(len(p)-len(full)), "count", g.OriginOf(p[0])),
		c.Figure("full collections", float64(len(full)), "count", g.OriginOf(p[0])))
	capacity := g.Capacity.Number
	var after []float64
	for _, x := range p {
		after = append(after, g.Get(x, evidence.HeapAfter))
	}
	live := known(after)
	if g.Alloc.Known() {
		v.Evidence = append(v.Evidence, c.Figure("allocation rate", g.Alloc.Number, "bytes/s", g.Origin))
	}
	if !math.IsNaN(live) {
		v.Evidence = append(v.Evidence, c.Figure("heap after them, in the median", live, "bytes", g.OriginOf(p[0])))
	}
	if !math.IsNaN(capacity) {
		v.Evidence = append(v.Evidence, c.Figure("heap capacity", capacity, "bytes", g.OriginOf(p[0])))
	}
	v.Title = fmt.Sprintf("Shenandoah cannot free as fast as the program allocates: %d degenerated and %d full collections stop %.1f %% of the time.", len(p)-len(full), len(full), 100*g.ShareOf(p))
	g.adviseConcurrent(&v, live, capacity)
	threshold := "-XX:ShenandoahMinFreeThreshold=25"
	v.Fix = append(v.Fix, cause.Fix{Text: "begin cycles while more is free (10 % unless set)", Setting: "-XX:+UnlockExperimentalVMOptions " + threshold})
	if version := release(c); version >= 25 && !g.Is("generational") {
		v.Fix = append(v.Fix, cause.Fix{Text: "its generational mode frees what dies young without a whole cycle", Setting: "-XX:ShenandoahGCMode=generational"})
	}
	return v
}

// concurrently is how many times what is live a heap is to be whose collector frees beside
// the program, which goes on allocating meanwhile.
const concurrently = 3

// manyCores is from how many processors on some can be spared for the collector.
const manyCores = 4

// adviseConcurrent is advice for collectors that free beside the program and do not keep up.
func (g *collector) adviseConcurrent(v *cause.Verdict, live, capacity float64) {
	if capacity > 0 {
		text, more := "more room: the collector has so long as the free part lasts", 2*capacity
		if live > 0 {
			text += fmt.Sprintf(" (%.0f %% of the heap is in use when it has just freed)", 100*live/capacity)
			more = max(enlarged*capacity, concurrently*live)
		}
		if room := g.roomBeside(); room > 0 && more > room {
			text += fmt.Sprintf("; the memory of %.1f GiB is too small for that: keep or allocate less", room/(1<<30))
		}
		v.Fix = append(v.Fix, cause.Fix{Text: text, Setting: sized("-Xmx", more)})
	}
	if threads, cores := g.Told(evidence.FactConcGCThreads), g.processors(); threads > 0 && cores >= manyCores && threads < cores/2 {
		v.Fix = append(v.Fix, cause.Fix{Text: "more threads beside the program, if processors are idle", Setting: fmt.Sprintf("-XX:ConcGCThreads=%.0f", min(cores/2, 2*threads))})
	}
	text := "allocate less: an allocation profile says where (jcmd PID JFR.start duration=60s settings=profile)"
	if l := g.c.Ledger; l != nil && l.Requests.Rate > 0 && g.meets() && g.Alloc.Known() {
		text += fmt.Sprintf("; now %s MiB a request", cause.Digits(3, g.Alloc.Number/l.Requests.Rate/(1<<20)))
	}
	v.Fix = append(v.Fix, cause.Fix{Text: text})
}
