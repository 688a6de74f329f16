package jvm

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// G1EvacuationFailure is G1 that has no free region to copy survivors to.
var G1EvacuationFailure = check.Check{
	ID:    "jvm.g1-evacuation-failure",
	Title: "G1 runs out of free regions to copy survivors to",
	Step:  check.StepCollector,
	Doc: `G1's collections copy what survives into free regions. When none is left in the middle
of one, what could not be copied stays where it is: its regions become old as they are,
marks are corrected object by object, the pause takes several times as long, and often a
full collection follows (G1 Compaction Pause). Logs say to-space exhausted or overflow
(JDK 7 to 21), from 22 on Evacuation Failure: Allocation. Evacuation Failure: Pinned is
something else: a thread in native code holds an array (JNI critical), its region stays;
that costs little.

The heap is too full for what survives at one time: marking starts too late, so that old
regions are not free in time; a burst that survives (a cache is loaded, a backlog is
read); a young generation set large by hand (-Xmn, NewRatio), which G1 may then not
shrink; humongous objects that take the free regions (jvm.g1-humongous).

How to tell it from similar problems: full collections without it, in a heap full of
live objects, are jvm.full-gc; a live set that grows is jvm.old-gen-leak.

What helps: a larger heap; no fixed young generation; a larger reserve
(-XX:G1ReservePercent, 10 by default) and an earlier start of marking
(-XX:InitiatingHeapOccupancyPercent; from JDK 9 on that is only the value G1 starts to
adapt from, so -XX:-G1UseAdaptiveIHOP with it); more threads for marking. What does not
help: a shorter pause goal.`,
	Least: fmt.Sprintf("pauses of %v of the time (4 %% of the worst minute) over %v of log, %v in total over less, or one of %v; with requests, %v of slow time",
		stoppedSpecial, leastWatched, noticed, noticed, check.Material),
	Thresholds: []check.Threshold{crowded, halfOne, leastWatched, longMinutes, mostFreed, mostOfThem, noticed, leastPaced, pacePart, oldEmpty, oldRoomy, permFull, sameStop, stoppedSpecial,
		stoppedYoung, unified, worthKernel, worthStarved, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost,
		check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow,
		check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall, check.OftenPaused,
		check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "G1's log; requests from the same time, to show what it costs",
	Applies: func(c *check.Case) bool { return isJVM(c) && withCollector(c, "G1") },
	Judge:   unlessPartial(judgeEvacuation),
}

func judgeEvacuation(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	p := g.pausesWith(evacuation)
	g.judgePauses(&v, "jvm.g1-evacuation-failure", p, "collections without a free region, and full collections after them", stoppedSpecial)
	g.judgeRareFailures(&v, p)
	if !v.Supported() {
		return v
	}
	full := p.Of(evidence.PauseFull)
	young := p.Where(func(x metrics.Pause) bool { return x.Of != evidence.PauseFull })
	v.Evidence = append(v.Evidence, c.Figure("gc.evacuation_failures", "collections with evacuation failure", float64(len(young)), "count", g.OriginOf(p[0])))
	if len(full) > 0 {
		v.Evidence = append(v.Evidence, c.Figure("gc.full", "full collections after them", float64(len(full)), "count", g.OriginOf(full[0])))
	}
	var before, after []float64
	for _, x := range p {
		before, after = append(before, g.Get(x, evidence.HeapBefore)), append(after, g.Get(x, evidence.HeapAfter))
	}
	capacity, live := g.Capacity.Number, medianKnown(after)
	for _, f := range []struct {
		id, text string
		x        float64
	}{{"heap.before_bytes", "heap in use before them (median)", medianKnown(before)}, {"heap.after_bytes", "heap in use after them (median)", live}, {"heap.capacity_bytes", "heap capacity", capacity}} {
		if !math.IsNaN(f.x) {
			v.Evidence = append(v.Evidence, c.Figure(f.id, f.text, f.x, "bytes", g.OriginOf(p[0])))
		}
	}
	v.Title = fmt.Sprintf("G1 ran out of free regions %s, which paused the program %s of the time.", units.Times(len(young)), units.Percent(g.ShareOf(p)))
	if len(full) > 0 {
		v.Title = fmt.Sprintf("G1 ran out of free regions %s; that and %s after it pause the program %s of the time.", units.Times(len(young)), units.Plural(len(full), "full collection"), units.Percent(g.ShareOf(p)))
	}
	v.Title = g.addWorstToTitle(v.Title, p)
	g.adviseEvacuation(&v, live, capacity)
	return v
}

// judgeRareFailures judges evacuation failures that are rare and short, or in a log too short for a share, where requests do not show
// their cost: a healthy collector has none, so one that is long enough to be noticed is a finding.
func (g *collector) judgeRareFailures(v *check.Verdict, p metrics.Pauses) {
	if len(p) == 0 || v.Supported() || g.meetsRequests() {
		return
	}
	if v.RuledOut() {
		v.Rule, v.Needs = check.CostUnknown, g.needRequests()
	}
	if p.Longest().Seconds() >= noticed.Value {
		v.Rule = check.StandsAlone
	}
}

func (g *collector) adviseEvacuation(v *check.Verdict, live, capacity float64) {
	add := func(text, setting string) { v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting}) }
	if young := g.fixedYoung(); young > 0 {
		text := "let G1 size the young generation: a fixed one cannot shrink when regions run short"
		if capacity > 0 {
			text += fmt.Sprintf(" (now it is %s of the heap)", units.Percent(young/capacity))
		}
		add(text+"; remove -Xmn, NewSize and NewRatio", "")
	}
	if capacity > 0 {
		room := g.roomBeside()
		text := "enlarge the heap"
		if live > crowded.Value*capacity {
			text = fmt.Sprintf("enlarge the heap: %s of it is in use after such a collection", units.Percent(live/capacity))
		}
		if room > 0 && enlarged*capacity > room {
			text += fmt.Sprintf("; but %s GiB of memory is too little for that: reduce the live set", units.Num(room/(1<<30)))
		}
		add(text, sizeFlag("-Xmx", enlarged*capacity))
	}
	add("keep more regions in reserve (default: 10 %)", "-XX:G1ReservePercent=20")
	switch version := featureRelease(g.c); {
	case version == 0 || version >= 9:
		add("start marking earlier, so that old regions are free in time", "-XX:InitiatingHeapOccupancyPercent=30 -XX:-G1UseAdaptiveIHOP")
	default:
		add("start marking earlier (default: 45 %), so that old regions are free in time", "-XX:InitiatingHeapOccupancyPercent=30")
	}
}

// fixedYoung returns the size of a young generation that was fixed by hand, in bytes; 0 if G1
// sizes it, or it is unknown.
func (g *collector) fixedYoung() float64 {
	low, high := g.Flag(evidence.FactNewSize), g.Flag(evidence.FactMaxNewSize)
	if low > 0 && low == high {
		return low
	}
	return 0
}
