package jvm

import (
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// DegeneratedGC is Shenandoah cycles that end with the world stopped.
var DegeneratedGC = check.Check{
	ID:    "jvm.degenerated-gc",
	Title: "Shenandoah cannot keep up and pauses the program to finish its cycles",
	Step:  check.StepCollector,
	Doc: `Shenandoah marks, copies and updates references while the program runs. If the heap is
full before a cycle ends (Cancelling GC: Allocation Failure), the program is paused and
the cycle continues from where it was: a degenerated collection, tens to hundreds of ms.
If that does not free enough, a full collection follows, which compacts everything:
seconds in a large heap. Both mean that the program allocates faster than the collector
frees, in the heap it has.

Before that, threads that allocate are delayed (pacing, up to 10 ms each time):
-Xlog:gc+stats tells how long, after each cycle (jvm.allocation-stall).

How to tell it from similar problems: System.gc() is concurrent here and pauses little
(jvm.explicit-gc). Stalls of single threads come from ZGC (jvm.allocation-stall). A live
set that grows until the heap is full is jvm.old-gen-leak.

What helps: a larger heap; starting cycles earlier (-XX:ShenandoahMinFreeThreshold, 10 %
by default; a larger -XX:ShenandoahInitFreeThreshold for the first cycles), more threads
for the concurrent phases (-XX:ConcGCThreads) where CPUs are idle; allocating less; from
JDK 25 on the generational mode, which frees short-lived objects without a whole cycle.
What does not help: more threads for pauses (-XX:ParallelGCThreads) alone.`,
	Least: fmt.Sprintf("pauses of %v of the time (4 %% of the worst minute) over %v of log, %v in total over less, or one of a second; with requests, %v of slow time",
		stoppedSpecial, leastWatched, check.PausedEnough, check.Material),
	Thresholds: []check.Threshold{concurrently, halfOne, leastWatched, longMinutes, manyCores, mostFreed, mostOfThem, leastPaced, pacePart, oldEmpty, oldRoomy, permFull, sameStop, stoppedSpecial,
		stoppedYoung, unified, worthKernel, worthStarved, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost,
		check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow,
		check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall, check.OftenPaused,
		check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "Shenandoah's log; requests from the same time, to show what it costs",
	Applies: func(c *check.Case) bool { return isJVM(c) && withCollector(c, "Shenandoah") },
	Judge:   unlessPartial(judgeDegenerated),
}

func judgeDegenerated(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	p := g.pausesWith(degenerated)
	g.judgePauses(&v, "jvm.degenerated-gc", p, "degenerated and full collections", stoppedSpecial)
	if !v.Supported() {
		return v
	}
	full := p.Of(evidence.PauseFull)
	v.Evidence = append(v.Evidence,
		c.Figure("gc.degenerated", "degenerated collections", float64(len(p)-len(full)), "count", g.OriginOf(p[0])),
		c.Figure("gc.full", "full collections", float64(len(full)), "count", g.OriginOf(p[0])))
	capacity := g.Capacity.Number
	var after []float64
	for _, x := range p {
		after = append(after, g.Get(x, evidence.HeapAfter))
	}
	live := medianKnown(after)
	if g.Alloc.Known() {
		v.Evidence = append(v.Evidence, c.Figure("alloc.bytes_per_s", "allocation rate", g.Alloc.Number, "bytes/s", g.Origin))
	}
	if !math.IsNaN(live) {
		v.Evidence = append(v.Evidence, c.Figure("heap.after_bytes", "heap in use after them (median)", live, "bytes", g.OriginOf(p[0])))
	}
	if !math.IsNaN(capacity) {
		v.Evidence = append(v.Evidence, c.Figure("heap.capacity_bytes", "heap capacity", capacity, "bytes", g.OriginOf(p[0])))
	}
	var which []string
	if n := len(p) - len(full); n > 0 {
		which = append(which, units.Plural(n, "degenerated collection"))
	}
	if len(full) > 0 {
		which = append(which, units.Plural(len(full), "full collection"))
	}
	verb := "pause"
	if len(p) == 1 {
		verb = "pauses"
	}
	v.Title = fmt.Sprintf("%s %s the program %s of the time, because it allocates faster than Shenandoah frees.", strings.Join(which, " and "), verb, units.Percent(g.ShareOf(p)))
	v.Title = g.addWorstToTitle(v.Title, p)
	g.adviseConcurrent(&v, live, capacity)
	v.Fix = append(v.Fix, earlier)
	if version := featureRelease(c); version >= 25 && !g.Is("generational") {
		v.Fix = append(v.Fix, generational)
	}
	return v
}

// Advice for a Shenandoah that does not keep up.
var (
	earlier      = check.Fix{Text: "start cycles while more is free (default: 10 %)", Setting: "-XX:+UnlockExperimentalVMOptions -XX:ShenandoahMinFreeThreshold=25"}
	generational = check.Fix{Text: "use the generational mode: it frees short-lived objects without a whole cycle", Setting: "-XX:ShenandoahGCMode=generational"}
)

var concurrently = check.Threshold{Name: "heap over what is live, for a collector that frees beside the program", Value: 3, Unit: "times",
	Why: "the program goes on allocating at that time", Source: "judgement: what lives, as much again for what is allocated during a cycle, and as much to spare; the collectors' documents give no factor"}

var manyCores = check.Threshold{Name: "CPUs from which some can be spared for the collector", Value: 4, Unit: "CPUs",
	Why: "of fewer each one is missed", Source: "HotSpot: -XX:ConcGCThreads is about a quarter of -XX:ParallelGCThreads by default (G1); of fewer than four CPUs one thread is more"}

// adviseConcurrent adds advice for concurrent collectors that do not keep up.
func (g *collector) adviseConcurrent(v *check.Verdict, live, capacity float64) {
	if capacity > 0 {
		text, more := "enlarge the heap: GC must finish before the free part is used up", 2*capacity
		if live > 0 {
			text += fmt.Sprintf(" (now %s of the heap is in use right after a collection)", units.Percent(live/capacity))
			more = max(enlarged*capacity, concurrently.Value*live)
		}
		if room := g.roomBeside(); room > 0 && more > room {
			text += fmt.Sprintf("; but %s GiB of memory is too little for that: reduce the live set or allocate less", units.Num(room/(1<<30)))
		}
		v.Fix = append(v.Fix, check.Fix{Text: text, Setting: sizeFlag("-Xmx", more)})
	}
	if threads, cores := g.Flag(evidence.FactConcGCThreads), g.cpuCount(); threads > 0 && cores >= manyCores.Value && threads < cores/2 {
		v.Fix = append(v.Fix, check.Fix{Text: "use more GC threads, if CPUs are idle", Setting: fmt.Sprintf("-XX:ConcGCThreads=%.0f", min(cores/2, 2*threads))})
	}
	text := "allocate less: an allocation profile shows where (jcmd PID JFR.start duration=60s settings=profile)"
	if l := g.c.Ledger; l != nil && l.Requests.Rate > 0 && g.meetsRequests() && g.Alloc.Known() {
		text += fmt.Sprintf("; now %s MiB per request", units.Num(g.Alloc.Number/l.Requests.Rate/(1<<20)))
	}
	v.Fix = append(v.Fix, check.Fix{Text: text})
}
