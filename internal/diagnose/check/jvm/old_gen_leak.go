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
	Thresholds: "6 collections of the old generation in 5 s or more, a slope whose 95 % interval is above 0, growth by 10 % (for G1 without mixed collections, by more than these leave), and more live memory after the last than after the first; with 2 to 5 of them, if pauses of 20 ms promote 3 MB/s and 80 % of it stays, the same of the old generation after each young collection",
	Needs:      "a GC log with many collections of the old generation: hours rather than seconds",
	Applies:    isJVM,
	Judge:      unlessPartial(judgeLeak),
}

// A trend needs so many points, of which the first part, a start, is left out where there
// are as many as enough. What grows in the second half by less than a part of the whole
// trend levels out.
const (
	leastPoints = metrics.FewLeft
	enough      = 12
	starting    = 3  // the first third
	levelling   = 3  // a third
	leastTrend  = 5  // s: in less, a program that starts grows as a leak does
	grown       = .1 // of the heap's capacity, or of what was live at first, over the window
)

func judgeLeak(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched(c)
	}
	v := check.Verdict{State: check.RuledOut}
	points, what := g.OldGenerationLeft(), "collections of the old generation"
	if len(points) < leastPoints && g.stays(points) {
		points, what = g.afterEach(points[0].At), "collections (nothing that they promoted died)"
	}
	if len(points) < leastPoints {
		return g.fewLeft(points)
	}
	if len(points) >= enough {
		points = points[len(points)/starting:]
	}
	slope, low, high := trend(points)
	first, last := points[0], points[len(points)-1]
	took := float64(last.At-first.At) / 1e9
	capacity := g.Capacity.Number
	growth := slope * took
	v.Evidence = append(v.Evidence,
		c.Figure("heap.live_first_bytes", fmt.Sprintf("live after the first of %d %s", len(points), what), first.Bytes, "bytes", first.Origin),
		c.Figure("heap.live_last_bytes", "live after the last", last.Bytes, "bytes", last.Origin),
		c.Figure("heap.growth_bytes_per_h", "growth of the live objects (median of slopes)", 3600*slope, "bytes/h", g.Origin),
		c.Figure("heap.growth_least_bytes_per_h", "growth, at least", 3600*low, "bytes/h", g.Origin),
		c.Figure("heap.growth_most_bytes_per_h", "growth, at most", 3600*high, "bytes/h", g.Origin))
	v.Summary = fmt.Sprintf("live objects in the old generation changed by %s of the heap in %s", signed(units.Percent(growth/capacity)), units.Time(1e9*took))
	if math.IsNaN(capacity) {
		v.Summary = fmt.Sprintf("live objects in the old generation changed by %s in %s", signed(units.Size(growth)), units.Time(1e9*took))
	}
	if !(low > 0) || growth < grown*first.Bytes && !(growth >= grown*capacity) {
		return v
	}
	if last.Bytes <= first.Bytes {
		v.Summary += ", but after the last collection less was live than after the first"
		return v
	}
	if took < leastTrend {
		v.State, v.Needs = check.Inconclusive, []check.Need{{What: "a longer GC log: minutes to hours"}}
		v.Summary += ": too short to distinguish a leak from a start"
		return v
	}
	if late, latest, _ := trend(points[len(points)/2:]); late < slope/levelling || latest <= 0 {
		v.Summary += ", but growth is levelling off, as after a start"
		return v
	}
	if growth <= uncollected(g, first.At, last.At, last.Bytes) {
		v.State, v.Needs = check.Inconclusive, []check.Need{{What: "a longer GC log: with mixed or full collections"}}
		v.Summary += ", but no mixed collections followed: it may be garbage that G1 has not collected yet"
		return v
	}
	v.State = check.Supported
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
		v.Prediction = append(v.Prediction, check.Prediction{ID: "heap.full_in_s", Anyway: true, Metric: "heap exhausted in", Unit: "s", Then: check.Number(left),
			Low: check.Number((capacity - last.Bytes) / high), High: check.Number((capacity - last.Bytes) / low)})
		v.Title = strings.TrimSuffix(v.Title, ".") + fmt.Sprintf(": the heap will be full in %s.", units.Time(1e9*left))
	}
	v.Evidence = append(v.Evidence, g.classes()...)
	alive, code := g.survivors()
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

// fewLeft answers where too few collections of the old generation tell a trend: none is ruled out but where the heap did not
// grow from the first of them to the last, or there were none and young ones promote little.
func (g *collector) fewLeft(points []metrics.Left) check.Verdict {
	v := check.Verdict{State: check.Inconclusive, Summary: "only " + units.Plural(len(points), "collection") + " of the old generation: too few to show a trend",
		Needs: []check.Need{{What: "a longer GC log: with at least six collections of the old generation"}}}
	n := len(points)
	promotes := g.Promoted.Known() && g.Promoted.Number >= promoting && check.SlowPausesMet(g.Collector, g.Pauses)
	switch {
	case n == 0 && len(g.full(g.Pauses)) == 0 && !promotes:
		v.State, v.Needs, v.Summary = check.RuledOut, nil, "no collections of the old generation"
	case n == 0 && promotes:
		v.Summary = fmt.Sprintf("young collections promote %s/s, and no collection of the old generation shows whether it stays", units.Size(g.Promoted.Number))
		v.Evidence = append(v.Evidence, g.c.Figure("gc.promoted_bytes_per_s", "promoted to the old generation", g.Promoted.Number, "bytes/s", g.Origin))
	case n > 1 && points[n-1].Bytes < (1+grown)*points[0].Bytes && points[n-1].Bytes-points[0].Bytes < grown*g.Capacity.Number && points[n-1].Bytes < crowded*g.Capacity.Number:
		v.State, v.Needs = check.RuledOut, nil
		v.Summary = fmt.Sprintf("live objects in the old generation changed from %s to %s in %s of it", units.Size(points[0].Bytes), units.Size(points[n-1].Bytes), units.Plural(n, "collection"))
	}
	return v
}

// What young collections promote matters from so many bytes/s on, and stays if no more than a part of it dies.
const (
	promoting    = 3e6
	promotedDies = .2
)

// stays says whether pauses that are long and frequent enough to be noticed promote what stays: from the first collection of the
// old generation to the last it grew by nearly all that was promoted.
func (g *collector) stays(points []metrics.Left) bool {
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
	return promoted >= promoting*seconds && last.Bytes-first.Bytes >= (1-promotedDies)*promoted
}

// afterEach is the old generation after each young collection from a moment on.
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
const (
	leftInRegions = .15
	leftInHeap    = .05
	leastMixed    = 3 // collections that did collect it
)

// uncollected is how much of what is taken for live (bytes) may be garbage that no collection
// took; 0 where enough of them did, or the collector always does.
func uncollected(g *collector, from, until int64, live float64) float64 {
	collected := g.All.Where(func(p metrics.Pause) bool {
		return p.To >= from && p.From <= until && (p.Of == evidence.PauseMixed || p.Of == evidence.PauseFull)
	})
	if !g.Is("G1") || len(collected) >= leastMixed {
		return 0
	}
	left := leftInRegions * live
	if !math.IsNaN(g.Capacity.Number) {
		left += leftInHeap * g.Capacity.Number
	}
	return left
}

// signed words a change.
func signed(figure string) string {
	if strings.HasPrefix(figure, "−") {
		return figure
	}
	return "+" + figure
}

// trend is the median of the slopes between all pairs of points (bytes/s), and its 95 %
// interval.
func trend(points []metrics.Left) (slope, low, high float64) {
	var at, bytes []float64
	for _, p := range points {
		at, bytes = append(at, float64(p.At-points[0].At)/1e9), append(bytes, p.Bytes)
	}
	return stats.TheilSen(at, bytes)
}
