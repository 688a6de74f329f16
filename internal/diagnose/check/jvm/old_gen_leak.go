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

// OldGenLeak is a live set that grows from one collection of the old generation to the
// next.
var OldGenLeak = check.Check{
	ID:    "jvm.old-gen-leak",
	Title: "the live objects in the old generation keep growing (a leak)",
	Step:  check.StepRest,
	Doc: `GC cannot collect objects that are still referenced: unbounded caches, listeners that
are never removed, thread locals of pooled threads, class loaders of redeployed
applications. What remains after a collection of the old generation (a full collection,
the end of a concurrent cycle, the mixed collections after it) is live, and it grows
from one collection to the next. Requests become slow late: first old collections become
more frequent, then they run all the time and each frees less, until OutOfMemoryError.

The trend is the median of the slopes between all such points, with its 95 % interval
(Theil and Sen), so that no single collection decides; it must also rise in the second
half of the recording, because caches that fill after a start grow first and then stop.

How to tell it from similar problems: growth between two collections of the old
generation is promotion and proves nothing; a heap that is merely too small is full but
does not grow (jvm.full-gc); class metadata has its own space (jvm.metaspace-gc).

What helps: find what holds the objects. Two class histograms some minutes apart show
which classes grow; a heap dump and its dominator tree show what holds them. A larger
heap only postpones it. What does not help: collecting more often.`,
	Least: fmt.Sprintf("6 collections of the old generation in %v or more, a slope whose 95 %% interval is above 0, growth by %v (for G1 without mixed collections, by more than these leave), and more live memory after the last than after the first; with 2 to 5 of them, if pauses of 20 ms promote 3 MB/s and 80 %% of it stays, the same of the old generation after each young collection",
		leastTrend, grown),
	Thresholds: []check.Threshold{crowded, enough, grown, leastAllocated, leastMixed, leastPoints, leastTrend, leftInHeap, leftInRegions, levelling,
		mostFreed, promotedDies, promoting, oldEmpty, oldRoomy, permFull, sameStop, starting, check.FullCPUs, check.HostFull, check.LongPause, check.MinRequests,
		check.NearlyFull, check.OftenPaused, check.SlowShare, check.SomeSlow},

	Needs:   "a GC log with many collections of the old generation: hours rather than seconds",
	Applies: isJVM,
	Judge:   unlessPartial(judgeLeakInTime),
}

// A trend needs so many points, of which the first part, a start, is left out where there
// are as many as enough. What grows in the second half by less than a part of the whole
// trend levels out.
var (
	leastPoints = check.Threshold{Name: "collections of the old generation that a trend needs", Value: metrics.FewLeft, Unit: "count",
		Why: "of fewer a line fits anything", Source: "permutation: 6 points rise in order by chance once in 720 (6!)"}
	enough = check.Threshold{Name: "collections from which the first third is left out as a start", Value: 12, Unit: "count",
		Why: "of fewer too few would be left", Source: "arithmetic: two thirds of 12 are 8, more than a trend needs"}
	starting = check.Threshold{Name: "part of the collections that is a start: one in so many", Value: 3, Unit: "times",
		Why: "a program that starts grows as a leak does", Source: "judgement: weighs caches that fill after the start against a trend that must be seen in what is left"}
	levelling = check.Threshold{Name: "how many times less the second half may grow than all of it", Value: 3, Unit: "times",
		Why: "what levels out is a cache that is full", Source: "arithmetic: what fills exponentially has slowed down so after 3.2 time constants (2x/(1+x) is 1/3 at x = e^−1.6)"}
	leastTrend = check.Threshold{Name: "time over which a trend is seen", Value: 5, Unit: "s",
		Why: "in less, a program that starts grows as a leak does", Source: "judgement: weighs a start, in which caches and code fill for some seconds, against leaks that fill a heap in a minute"}
	grown = check.Threshold{Name: "growth over the window, of the heap's capacity or of what was live", Value: .1, Unit: "1",
		Why: "a cache that fills varies by less", Source: "judgement: weighs a cache that comes and goes against a leak that is seen early; at this pace a heap is full within ten recordings"}
)

// judgeLeakInTime rules no growth out by a log in which it could not be seen.
func judgeLeakInTime(c *check.Case) check.Verdict {
	v, g := judgeLeak(c), collectorOf(c)
	if g == nil || !v.RuledOut() || g.Span >= leastTrend.Value {
		return v
	}
	v.Counted(g.Span, leastTrend)
	v.Rule, v.Needs = check.TooFew, []check.Need{{What: "a longer GC log: minutes to hours"}}
	log := "the log"
	if g.Span > 0 {
		log += " of " + units.Time(1e9*g.Span)
	}
	v.Summary += ": " + log + " is too short to rule growth out"
	return v
}

func judgeLeak(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	v := check.Verdict{Rule: check.TooLittle}
	points, what := g.OldGenerationLeft(), "collections of the old generation"
	if len(points) < leastPoints.Int() && g.promotedStays(points) {
		points, what = g.afterEach(points[0].At), "collections (nothing that they promoted died)"
	}
	if len(points) < leastPoints.Int() {
		return g.fewLeft(points)
	}
	if len(points) >= enough.Int() {
		points = points[len(points)/starting.Int():]
	}
	slope, low, high := liveTrend(points)
	first, last := points[0], points[len(points)-1]
	took := float64(last.At-first.At) / 1e9
	capacity := g.Capacity.Number
	growth := slope * took
	v.Counted(float64(len(points)), leastPoints)
	v.Counted(took, leastTrend)
	if first.Bytes > 0 {
		v.Weigh(growth/first.Bytes, grown)
	}
	v.Evidence = append(v.Evidence,
		c.Figure("heap.live_first_bytes", fmt.Sprintf("live after the first of %d %s", len(points), what), first.Bytes, "bytes", first.Origin),
		c.Figure("heap.live_last_bytes", "live after the last", last.Bytes, "bytes", last.Origin),
		c.Figure("heap.growth_bytes_per_h", "growth of the live objects (median of slopes)", 3600*slope, "bytes/h", g.Origin),
		c.Figure("heap.growth_least_bytes_per_h", "growth, at least", 3600*low, "bytes/h", g.Origin),
		c.Figure("heap.growth_most_bytes_per_h", "growth, at most", 3600*high, "bytes/h", g.Origin))
	v.Summary = fmt.Sprintf("live objects in the old generation changed by %s of the heap in %s", withSign(units.Percent(growth/capacity)), units.Time(1e9*took))
	if math.IsNaN(capacity) {
		v.Summary = fmt.Sprintf("live objects in the old generation changed by %s in %s", withSign(units.Size(growth)), units.Time(1e9*took))
	}
	if !(low > 0) { // chance makes as much
		v.Rule = check.Absent
		return v
	}
	if growth < grown.Value*first.Bytes && !(growth >= grown.Value*capacity) {
		return v
	}
	if last.Bytes <= first.Bytes {
		v.Rule = check.Absent
		v.Summary += ", but after the last collection less was live than after the first"
		return v
	}
	if took < leastTrend.Value {
		v.Rule, v.Needs = check.TooFew, []check.Need{{What: "a longer GC log: minutes to hours"}}
		v.Summary += ": too short to distinguish a leak from a start"
		return v
	}
	if late, latest, _ := liveTrend(points[len(points)/2:]); late < slope/levelling.Value || latest <= 0 {
		v.Rule = check.Explained
		v.Summary += ", but growth is levelling off, as after a start"
		return v
	}
	if growth <= possibleGarbage(g, first.At, last.At, last.Bytes) {
		v.Rule, v.Needs = check.Untold, []check.Need{{What: "a longer GC log: with mixed or full collections"}}
		v.Summary += ", but no mixed collections followed: it may be garbage that G1 has not collected yet"
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Live objects in the old generation grow by %s MiB per minute.", units.Num(60*slope/(1<<20)))
	full := g.Pauses.Where(func(p metrics.Pause) bool {
		return p.Of == evidence.PauseFull || p.Of == evidence.PauseMixed || p.Of == evidence.PauseDegenerated || p.Of == evidence.PauseRemark || p.Of == evidence.PauseInitialMark
	})

	v.Weight = g.ShareOf(full)
	if b := g.billOf(full); b != nil && c.Slow() && b.Sum() > 0 {
		v.Evidence = append(v.Evidence, b.Figures(g.c, "collections of the old generation")...)
		v.Saves = b.Saves(c)
	}
	if !math.IsNaN(capacity) {
		left := (capacity - last.Bytes) / slope
		v.Evidence = append(v.Evidence, c.Figure("heap.capacity_bytes", "heap capacity", capacity, "bytes", g.Origin),
			c.Figure("heap.full_in_s", "time until the heap is full, at this rate", left, "s", g.Origin))
		v.Prediction = append(v.Prediction, check.Prediction{ID: "heap.full_in_s", Anyway: true, Metric: "heap exhausted in", Unit: "s", Then: stats.FiniteOrNil(left),
			Low: stats.FiniteOrNil((capacity - last.Bytes) / high), High: stats.FiniteOrNil((capacity - last.Bytes) / low)})
		v.Title = strings.TrimSuffix(v.Title, ".") + fmt.Sprintf(": the heap will be full in %s.", units.Time(1e9*left))
	}
	v.Evidence = append(v.Evidence, g.largestClasses()...)
	alive, code := g.topSurvivors()
	v.Evidence = append(v.Evidence, alive...)
	if code != "" {
		v.Fix = append(v.Fix, check.Fix{Text: "find what keeps the objects that are allocated there: most of the live ones are", Code: code})
	}
	v.Fix = append(v.Fix,
		check.Fix{Text: "find which classes grow: compare two class histograms some minutes apart", Setting: "jcmd PID GC.class_histogram -all"},
		check.Fix{Text: "then find what holds them: a heap dump (it pauses the service while it is written) and its dominator tree", Setting: "jcmd PID GC.heap_dump FILE.hprof"},
		check.Fix{Text: "limit caches by size and age, remove listeners and thread locals; until then, restart before the heap is full"})
	return v
}

// fewLeft returns the verdict where there were too few collections of the old generation for a
// trend. It rules the cause out only where the heap did not grow from the first to the last, or
// there were none and young collections promote little.
func (g *collector) fewLeft(points []metrics.Left) check.Verdict {
	v := check.Verdict{Rule: check.TooFew, Summary: "only " + units.Plural(len(points), "collection") + " of the old generation: too few to show a trend",
		Needs: []check.Need{{What: "a longer GC log: with at least six collections of the old generation"}}}
	n := len(points)
	v.Counted(float64(n), leastPoints)
	promotes := g.Promoted.Known() && g.Promoted.Number >= promoting.Value && check.SlowPausesMet(g.Collector, g.Pauses)
	switch {
	case n == 0 && len(g.fullCollections(g.Pauses)) == 0 && !promotes:
		v.Rule, v.Needs, v.Summary = check.Absent, nil, "no collections of the old generation"
		if g.Promoted.Known() {
			v.Summary += fmt.Sprintf(", and young ones promote %s/s", units.Size(g.Promoted.Number))
			v.Evidence = append(v.Evidence, g.c.Figure("gc.promoted_bytes_per_s", "promoted to the old generation", g.Promoted.Number, "bytes/s", g.Origin))
		}
	case n == 0 && promotes:
		v.Summary = fmt.Sprintf("young collections promote %s/s, and no collection of the old generation shows whether it stays", units.Size(g.Promoted.Number))
		v.Evidence = append(v.Evidence, g.c.Figure("gc.promoted_bytes_per_s", "promoted to the old generation", g.Promoted.Number, "bytes/s", g.Origin))
	case n > 1 && points[n-1].Bytes < (1+grown.Value)*points[0].Bytes && points[n-1].Bytes-points[0].Bytes < grown.Value*g.Capacity.Number && points[n-1].Bytes < crowded.Value*g.Capacity.Number:
		v.Rule, v.Needs = check.TooLittle, nil
		v.Weigh(points[n-1].Bytes/max(1, points[0].Bytes)-1, grown)
		v.Summary = fmt.Sprintf("live objects in the old generation changed from %s to %s in %s of it", units.Size(points[0].Bytes), units.Size(points[n-1].Bytes), units.Plural(n, "collection"))
	}
	return v
}

// What young collections promote matters from so many bytes/s on, and stays if no more than a part of it dies.
var (
	promoting = check.Threshold{Name: "bytes that young collections promote", Value: 3e6, Unit: "bytes/s",
		Why: "the old generation fills within minutes on a usual heap", Source: "arithmetic: 1 GiB in six minutes"}
	promotedDies = check.Threshold{Name: "part of what is promoted that may die, where it counts as staying", Value: .2, Unit: "1",
		Why: "some always dies", Source: "judgement: weighs a generation that keeps what it is given against one that is collected late"}
)

// promotedStays says whether noticeable pauses promote objects that stay: from the first
// collection of the old generation to the last it grew by nearly all that was promoted.
func (g *collector) promotedStays(points []metrics.Left) bool {
	if len(points) < 2 || !check.SlowPausesMet(g.Collector, g.Pauses) {
		return false
	}
	first, last := points[0], points[len(points)-1]
	promoted, all := 0., g.Promotions()
	for i, at := range all.At {
		if at > first.At && at < last.At {
			promoted += all.V[i]
		}
	}
	seconds := float64(last.At-first.At) / 1e9
	return promoted >= promoting.Value*seconds && last.Bytes-first.Bytes >= (1-promotedDies.Value)*promoted
}

// afterEach returns the size of the old generation after each young collection from a moment on.
func (g *collector) afterEach(from int64) (all []metrics.Left) {
	for _, p := range g.All.Of(evidence.PauseYoung, evidence.PauseMixed) {
		if _, after := g.OldOf(p); p.From >= from && after > 0 {
			all = append(all, metrics.Left{At: p.To, Bytes: after, Origin: g.OriginOf(p)})
		}
	}
	return all
}

// What G1 leaves in the old generation where it marks what is live and then finds too little
// to collect (-XX:G1MixedGCLiveThresholdPercent=85, -XX:G1HeapWastePercent=5): parts of it and
// of the heap.
var (
	leftInRegions = check.Threshold{Name: "part of old regions that G1 leaves", Value: .15, Unit: "1",
		Why: "it collects regions that are less than 85 % live", Source: "-XX:G1MixedGCLiveThresholdPercent=85"}
	leftInHeap = check.Threshold{Name: "part of the heap that G1 leaves", Value: .05, Unit: "1",
		Why: "it stops where it would free less", Source: "-XX:G1HeapWastePercent=5"}
	leastMixed = check.Threshold{Name: "mixed collections that did collect the old generation", Value: 3, Unit: "count",
		Why: "one may be cut short", Source: "HotSpot, g1_globals.hpp: G1 spreads what a cycle found over eight collections (G1MixedGCCountTarget=8); three are more than a third"}
)

// possibleGarbage returns how much of the bytes counted as live may be garbage that no collection
// freed; 0 where enough mixed or full collections ran, or the collector is not G1.
func possibleGarbage(g *collector, from, until int64, live float64) float64 {
	collected := g.All.Where(func(p metrics.Pause) bool {
		return p.To >= from && p.From <= until && (p.Of == evidence.PauseMixed || p.Of == evidence.PauseFull)
	})
	if !g.Is("G1") || len(collected) >= leastMixed.Int() {
		return 0
	}
	left := leftInRegions.Value * live
	if !math.IsNaN(g.Capacity.Number) {
		left += leftInHeap.Value * g.Capacity.Number
	}
	return left
}

// withSign puts a plus sign before a figure that has no minus.
func withSign(figure string) string {
	if strings.HasPrefix(figure, "−") {
		return figure
	}
	return "+" + figure
}

// liveTrend returns the median of the slopes between all pairs of points (bytes/s), and its 95 %
// interval.
func liveTrend(points []metrics.Left) (slope, low, high float64) {
	var at, bytes []float64
	for _, p := range points {
		at, bytes = append(at, float64(p.At-points[0].At)/1e9), append(bytes, p.Bytes)
	}
	return stats.TheilSen(at, bytes)
}
