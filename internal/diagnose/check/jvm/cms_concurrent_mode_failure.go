package jvm

import (
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// CMSConcurrentModeFailure is a CMS collection that did not keep up, or found no free block large enough, and fell back to a
// single-threaded collection with the world stopped.
var CMSConcurrentModeFailure = check.Check{
	ID:    "jvm.cms-concurrent-mode-failure",
	Title: "CMS falls back to full collections on one thread",
	Step:  check.StepCollector,
	Doc: `CMS collects the old generation while the program runs and does not move objects. It
falls back to a compacting collection on a single thread, the longest pause a JVM knows,
in two cases. The cycle began too late or takes too long: young collections promote more
than is left before it ends (concurrent mode failure). Or enough is free, but in pieces
too small for what is to be promoted (promotion failed): fragmentation. A call of
System.gc() during a cycle interrupts it (concurrent mode interrupted): that is
jvm.explicit-gc.

The figures tell them apart: how full the old generation was when the cycle began, what
was promoted per second, how long cycles take, and how much was free when promotion
failed. JDK 9 to 13 log the failure only at level debug; there a full collection for
lack of space is recognised by its position in the log.

How to tell it from similar problems: if most of the old generation is live even after
the full collection, no CMS setting helps and the heap is too small (as in jvm.full-gc);
if the live set grows, it is a leak (jvm.old-gen-leak).

What helps: an earlier start (-XX:CMSInitiatingOccupancyFraction with
-XX:+UseCMSInitiatingOccupancyOnly: without the latter the JVM uses the fraction for the
first cycle only), a larger heap, survivor spaces large enough that less is promoted;
against fragmentation a collector that compacts: G1. CMS was deprecated in JDK 9 and
removed in 14. What does not help: more threads for young collections, a larger young
generation alone: each promotion then needs a larger free piece.`,
	Least: fmt.Sprintf("pauses of %v of the time (4 %% of the worst minute) over %v of log, %v in total over less, or one of a second; with requests, %v of slow time; the log must name a failure, or show CMS's cycles before",
		stoppedSpecial, leastWatched, check.PausedEnough, check.Material),
	Thresholds: []check.Threshold{crowded, halfOne, leastWatched, longMinutes, mostFreed, mostOfThem, oldEmpty, oldRoomy, leastPaced, pacePart, permFull, partFree, sameStop, stoppedSpecial,
		stoppedYoung, timesFree, worthKernel, worthStarved, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost,
		check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow,
		check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall, check.OftenPaused,
		check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "a CMS log with the sizes of the old generation (-Xlog:gc*, before JDK 9 -XX:+PrintGCDetails); requests from the same time, to show what it costs",
	Applies: func(c *check.Case) bool { return isJVM(c) && withCollector(c, "CMS") },
	Judge:   unlessPartial(judgeCMS),
}

// withCollector says whether the name of the subject's collector contains a word.
func withCollector(c *check.Case, word string) bool {
	f, ok := c.Fact(evidence.FactCollector)
	return ok && strings.Contains(f.Value, word)
}

func judgeCMS(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	p := g.pausesWith(fellBack)
	g.judgePauses(&v, "jvm.cms-concurrent-mode-failure", p, "full collections after CMS failed", stoppedSpecial)
	if !v.Supported() {
		return v
	}
	for _, f := range []struct{ id, word, text string }{
		{"cms.mode_failures", "concurrent mode failure", "concurrent mode failures"}, {"cms.cycles_interrupted", "concurrent mode interrupted", "concurrent cycles interrupted"}, {"cms.promotions_failed", "promotion failed", "failed promotions"},
	} {
		if n := len(p.Where(func(x metrics.Pause) bool { return strings.Contains(g.FailureOf(x), f.word) })); n > 0 {
			v.Evidence = append(v.Evidence, c.Figure(f.id, f.text, float64(n), "count", g.OriginOf(p[0])))
		}
	}
	s := g.cmsOf(p)
	v.Evidence = append(v.Evidence, s.listFigures(g)...)
	v.Title = fmt.Sprintf("CMS fell back to a full collection %s, pausing %s in total: %s.", units.Times(len(p)), units.Time(1e9*p.Seconds()), s.failureReason())
	v.Title = g.addWorstToTitle(v.Title, p)
	s.adviseFixes(g, &v)
	return v
}

// cms is what a log says of CMS before its failures. NaN is unknown.
type cms struct {
	began    float64 // of the old generation, median use at initial marks
	cycle    float64 // s from an initial mark to the end of the sweep, in the median
	promoted float64 // bytes/s into the old generation
	free     float64 // bytes free in the old generation when it failed, in the median
	need     float64 // bytes: the most a young collection promoted
	live     float64 // of the old generation, what is in use after the full collection
	capacity float64 // bytes, of the old generation
	young    float64 // bytes, capacity of the young generation
	at       evidence.Origin
}

func (g *collector) cmsOf(p metrics.Pauses) cms {
	s := cms{promoted: g.Promoted.Number, cycle: g.cmsCycle(), need: math.NaN(), capacity: math.NaN(), young: math.NaN(), at: g.OriginOf(p[0])}
	var began, free, live []float64
	for _, x := range g.All {
		if capacity := g.Get(x, evidence.OldCapacity); capacity > 0 {
			s.capacity = capacity
		}
		if x.Of == evidence.PauseInitialMark {
			began = append(began, g.Get(x, evidence.OldBefore)/g.Get(x, evidence.OldCapacity))
		}
		if before, after := g.OldOf(x); x.Of == evidence.PauseYoung && g.reasonOf(x) == ordinary {
			s.need = maxKnown(s.need, after-before)
		}
		s.young = maxKnown(s.young, g.Get(x, evidence.YoungCapacity))
	}
	if math.IsNaN(s.young) {
		s.young = g.Capacity.Number - s.capacity
	}
	for _, x := range p {
		before, after := g.OldOf(x)
		free = append(free, s.capacity-before)
		live = append(live, after/s.capacity)
	}
	s.began, s.free, s.live = medianKnown(began), medianKnown(free), medianKnown(live)
	return s
}

// maxKnown returns the larger of two figures; a figure that is NaN is ignored.
func maxKnown(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// medianKnown returns the median of the figures that are not NaN; NaN if there are none.
func medianKnown(all []float64) float64 {
	var some []float64
	for _, x := range all {
		if !math.IsNaN(x) {
			some = append(some, x)
		}
	}
	if len(some) == 0 {
		return math.NaN()
	}
	return stats.Median(some)
}

// cmsCycle returns how long completed cycles took (s, median); NaN if none was completed.
func (g *collector) cmsCycle() float64 {
	v := &g.c.Bundle.Intervals
	marks := g.All.Of(evidence.PauseInitialMark)
	var took []float64
	next := 0
	for _, i := range v.Select(evidence.GCConcurrent, g.c.Subject) {
		if !strings.Contains(strings.ToLower(g.c.Bundle.Names.Text(v.Cause.At(i))), "sweep") {
			continue
		}
		for next+1 < len(marks) && marks[next+1].From < v.Start[i] {
			next++
		}
		if next < len(marks) && marks[next].From < v.Start[i] {
			took = append(took, float64(v.End[i]-marks[next].From)/1e9)
			next++
		}
	}
	return medianKnown(took)
}

func (s cms) listFigures(g *collector) (out []check.Evidence) {
	add := func(id, text string, x float64, unit string) {
		if !math.IsNaN(x) {
			out = append(out, g.c.Figure(id, text, x, unit, s.at))
		}
	}
	add("cms.old_at_start_share", "share of the old generation in use when cycles began", s.began, "1")
	add("cms.cycle_s", "duration of a cycle, from initial mark to the end of the sweep", s.cycle, "s")
	add("gc.promoted_bytes_per_s", "promoted to the old generation", s.promoted, "bytes/s")
	add("cms.promoted_in_cycle_bytes", "promoted during a cycle", s.promoted*s.cycle, "bytes")
	add("cms.old_free_bytes", "free in the old generation when promotion failed", s.free, "bytes")
	add("cms.largest_promotion_bytes", "largest promotion by one young collection", s.need, "bytes")
	add("cms.old_after_full_share", "share of the old generation in use after the full collection", s.live, "1")
	return out
}

// An old generation with this many times the need of any young collection free, and with this part of its size free, has enough
// room: then CMS lacked a free block of the size.
var (
	timesFree = check.Threshold{Name: "free old generation over what a young collection needed", Value: 3, Unit: "times",
		Why: "there was room enough: what failed was to find a hole", Source: "judgement: weighs holes against a heap that is merely full: at three times, two thirds of what is free would have to lie in holes"}
	partFree = check.Threshold{Name: "free part of the old generation", Value: .2, Unit: "1",
		Why: "there was room enough: what failed was to find a hole", Source: "arithmetic: more than twice what is free when CMS begins a cycle by default, 8 % (100 − MinHeapFreeRatio + CMSTriggerRatio · MinHeapFreeRatio/100 = 92 % in use)"}
)

func (s cms) isFragmented() bool {
	return s.free >= timesFree.Value*s.need && s.free >= partFree.Value*s.capacity
}

func (s cms) isFull() bool { return s.live >= crowded.Value }

func (s cms) failureReason() string {
	switch {
	case s.isFull():
		return fmt.Sprintf("%s of the old generation is live", units.Percent(s.live))
	case s.isFragmented():
		return "the old generation is fragmented"
	case !math.IsNaN(s.began):
		return fmt.Sprintf("its cycles start too late, when the old generation is %s full", units.Percent(s.began))
	}
	return "its cycles start too late or take too long"
}

// The part of a cycle's promotions that must be free when it begins, and the percentages between which a cycle can begin
// sensibly: without figures at half; below a third it would run all the time. Advice uses round numbers.
const (
	reserve         = 1.5
	earliest, ahead = 30., 10.
	atHalf, round   = 50., 5.
)

func (s cms) adviseFixes(g *collector, v *check.Verdict) {
	add := func(text, setting string) { v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting}) }
	switch {
	case s.isFull():
		add("enlarge the heap: it is too small for the live objects, whenever a cycle starts", sizeFlag("-Xmx", 2*s.live*s.capacity+s.young))
	case s.isFragmented():
		add("use a collector that compacts while the program runs: G1 (8u40 or later); until then a larger heap makes this rarer", "-XX:+UseG1GC")
	default:
		at := atHalf
		if x := 100 * (1 - (reserve*s.promoted*s.cycle+s.young)/s.capacity); !math.IsNaN(x) {
			at = x
		}
		if !math.IsNaN(s.began) {
			at = min(at, 100*s.began-ahead)
		}
		at = max(earliest, math.Floor(at/round)*round)
		if !math.IsNaN(s.live) && at < 100*s.live+ahead {
			add(fmt.Sprintf("also enlarge the heap: live objects fill %s of the old generation, so starting earlier alone would make CMS run all the time", units.Percent(s.live)), sizeFlag("-Xmx", enlarged*s.capacity+s.young))
		}
		add("start cycles earlier, so that there is room for objects promoted during a cycle", fmt.Sprintf("-XX:CMSInitiatingOccupancyFraction=%.0f -XX:+UseCMSInitiatingOccupancyOnly", at))
		add("promote less: make survivor spaces large enough for what requests keep (object ages: -XX:+PrintTenuringDistribution, since JDK 9 -Xlog:gc+age*=debug)", "")
	}
	if !s.isFragmented() {
		add("CMS was removed in JDK 14: plan for G1, or from JDK 21 on generational ZGC, and measure under the same load", "-XX:+UseG1GC")
	}
}
