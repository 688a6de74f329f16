package dotnet

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// HeapLeak is a live set that grows from one gen 2 collection to the next.
var HeapLeak = check.Check{
	ID:    "dotnet.heap-leak",
	Title: "live memory after gen 2 collections keeps growing (a leak)",
	Step:  check.StepRest,
	Doc: `GC cannot collect objects that are still referenced: event handlers that are never removed,
unbounded static dictionaries and caches, timers and cancellation registrations that are
never disposed, state of hanging requests. What remains after a gen 2 collection is live, and
it grows from one collection to the next. Requests become slow late, when these collections
take longer and memory runs short.

The trend is the median of the slopes between all such points, with its 95 % interval (Theil
and Sen); it must also rise in the second half of the recording, because caches that fill
after a start grow first and then stop. The heap size between two gen 2 collections proves
nothing.

Undisposed objects with a finalizer (~Type) wait for the finalizer thread, and so does
everything they reference. If every sample shows that thread inside a finalizer, objects
arrive faster than it finalizes them: one blocking finalizer delays all.

How to tell it from similar problems: garbage that gen 2 collections free is not a leak
(dotnet.mid-life-objects, dotnet.loh-churn), nor is a cache that has reached its size. Memory
outside of the heap is not seen here.

What helps: find what grows: two heap snapshots some minutes apart (dotnet-gcdump collect),
compared by type, and the path that holds the type; remove handlers, bound caches
(MemoryCache with a SizeLimit), dispose registrations. What does not help: GC.Collect, a
larger heap.`,
	Least: fmt.Sprintf("5 gen 2 collections in %v or more (collections of any generation if those of gen 1 and 2 pause noticeably and almost nothing that they keep dies); a slope whose 95 %% interval is above 0, and growth by %v that continues in the second half; or 3 MB/s retained while %v of %v or more samples in 4 bursts show the finalizer thread in a finalizer",
		leastTrend, grown, endless, leastLooks),
	Thresholds: []check.Threshold{endless, grown, leastBursts, leastGCs, leastLooks, leastPoints, leastTrend, levelling, reaching, remains, worthType, leastWatched, mostDies, stopped,
		check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost, check.HostFull,
		check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow, check.MostlyUnseen,
		check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall, check.OftenPaused, check.PausedEnough,
		check.SlowShare, check.SomeSlow},

	Needs:   "GC events over several gen 2 collections: minutes to hours",
	Applies: isDotnet,
	Judge:   judgeLeak,
}

// A trend needs this many points over this time, and growth by this part of the initial live heap. Growth that slows in the
// second half to less than this part of the whole trend levels out.
var (
	leastPoints = check.Threshold{Name: "collections that a trend needs", Value: 5, Unit: "count",
		Why: "of fewer a line fits anything", Source: "permutation: 5 points rise in order by chance once in 120 (5!)"}
	leastTrend = check.Threshold{Name: "time over which a trend is seen", Value: 5., Unit: "s",
		Why: "in less, a program that starts grows as a leak does", Source: "judgement: weighs a start, in which caches and code fill for some seconds, against leaks that fill memory in a minute"}
	grown = check.Threshold{Name: "growth of live memory over the recording", Value: .1, Unit: "1",
		Why: "a cache that fills varies by less", Source: "judgement: weighs a cache that comes and goes against a leak that is seen early; at this pace live memory doubles in ten recordings"}
	levelling = check.Threshold{Name: "how many times less the second half may grow than all of it", Value: 3, Unit: "times",
		Why: "what levels out is a cache that is full", Source: "arithmetic: what fills exponentially has slowed down so after 3.2 time constants (2x/(1+x) is 1/3 at x = e^−1.6)"}
)

func judgeLeak(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	v := check.Verdict{Rule: check.TooLittle}
	// The whole recording: the time of the requests is only a part of it.
	whole := metrics.ReadDotnetGC(c.Bundle, c.Subject, metrics.Whole)
	if whole == nil {
		return unwatchedVerdict(c)
	}
	if kept, died, known := g.keptByYoung(); known && kept >= reaching.Value && died <= remains.Value {
		if f := finalizersOf(c); f.isBehind() {
			g.waitForFinalizers(&v, &f, kept)
			return v
		}
	}
	points := whole.Heap.Points
	what := "gen 2 collections"
	if g.promotedStays() { // then younger collections count, too
		what, points = "collections (almost nothing that they kept died)", pointsAfterBlocking(whole.Collections)
	}
	if len(points) < leastPoints.Int() {
		g.judgeFewPoints(&v, points, whole.Origin)
		return v
	}
	slope, low, high := liveTrend(points)
	first, last := points[0], points[len(points)-1]
	took := float64(last.At-first.At) / 1e9
	growth := slope * took
	v.Counted(float64(len(points)), leastPoints)
	v.Counted(took, leastTrend)
	if first.Live > 0 {
		v.Weigh(growth/first.Live, grown)
	}
	v.Evidence = append(v.Evidence,
		c.Figure("heap.live_first_bytes", fmt.Sprintf("live after the first of %d %s", len(points), what), first.Live, "bytes", whole.Origin),
		c.Figure("heap.live_last_bytes", "live after the last", last.Live, "bytes", whole.Origin),
		c.Figure("heap.growth_bytes_per_s", "growth of live memory (median of slopes)", slope, "bytes/s", whole.Origin),
		c.Figure("heap.growth_least_bytes_per_s", "growth, at least", low, "bytes/s", whole.Origin),
		c.Figure("heap.growth_most_bytes_per_s", "growth, at most", high, "bytes/s", whole.Origin))
	v.Summary = fmt.Sprintf("live memory after gen 2 collections changed by %s in %s", units.MiB(growth), units.Time(1e9*took))
	late, latest, _ := liveTrend(points[len(points)/2:])
	switch {
	case !(low > 0), last.Live <= first.Live:
		v.Rule = check.Absent // chance makes as much
		return v
	case growth < grown.Value*first.Live:
		return v
	case took < leastTrend.Value:
		v.Rule, v.Needs = check.TooFew, longRecording
		v.Summary += ": too short to distinguish a leak from a start"
		return v
	case late < slope/levelling.Value || latest <= 0 && len(points) >= 2*leastPoints.Int():
		v.Rule = check.Explained
		v.Summary += ", but growth is levelling off, as after a start"
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Live memory after collections grows by %s per minute.", units.MiB(60*slope))
	g.chargeOrdinaryPauses(&v)
	g.addTopAllocators(&v)
	v.Fix = append(v.Fix,
		check.Fix{Text: "find which types grow: two snapshots of the heap some minutes apart", Setting: "dotnet-gcdump collect -p PID"},
		check.Fix{Text: "then fix what holds them: remove event handlers, dispose registrations and timers, limit caches by size and age; until then, restart before memory runs short"})
	return v
}

// judgeFewPoints judges a heap that too few collections left for a trend. It is cleared by what the others keep; where that is unknown, by what
// all pauses cost.
func (g *collector) judgeFewPoints(v *check.Verdict, points []metrics.HeapPoint, origin evidence.Origin) {
	c, n := g.c, len(points)
	counted := units.Plural(n, "gen 2 collection")
	v.Evidence = append(v.Evidence, c.Figure("gc.gen2_collections", "gen 2 collections", float64(n), "count", origin))
	kept, died, known := g.keptByYoung()
	if known {
		v.Evidence = append(v.Evidence, c.Figure("gc.promoted_bytes_per_s", "bytes that survive them", kept, "bytes/s", g.Origin))
	}
	tooFew := func(summary string) {
		v.Counted(float64(n), leastPoints)
		v.Rule, v.Summary, v.Needs = check.TooFew, summary, longRecording
	}
	switch {
	case known && kept >= reaching.Value && died <= remains.Value:
		tooFew(fmt.Sprintf("GC retains %s and almost none of it dies: %s are too few to distinguish a leak from a start", units.Of(kept, "bytes/s"), counted))
	case n > 1 && points[n-1].Live >= (1+grown.Value)*points[0].Live:
		tooFew(fmt.Sprintf("live memory grew by %s from the first to the last of %s: too few to show a trend", units.MiB(points[n-1].Live-points[0].Live), counted))
	case known && kept < reaching.Value:
		v.Weigh(kept, reaching)
		v.Summary = fmt.Sprintf("GC retains %s, so no more than that can grow", units.Of(kept, "bytes/s"))
	case known:
		v.WeighBelow(died, remains)
		v.Summary = fmt.Sprintf("GC retains %s, but %s of it dies soon after", units.Of(kept, "bytes/s"), units.Percent(died))
	default:
		g.judgePauses(v, "dotnet.heap-leak", g.pausesOf(isOrdinary), "collections", nil)
		if !v.RuledOut() {
			v.Saves, v.Prediction = nil, nil
			tooFew(counted + ": too few to show a trend")
		}
	}
}

// longRecording asks for what shows a trend.
var longRecording = []check.Need{{What: "a longer recording: minutes to hours", Command: "unstall record PID --for 600s"}}

// chargeOrdinaryPauses charges a leak with the pauses of all collections that the program did not ask for: each copies or marks what survives.
func (g *collector) chargeOrdinaryPauses(v *check.Verdict) {
	c, p := g.c, g.pausesOf(isOrdinary)
	v.Weight = g.ShareOf(p)
	v.Evidence = append(v.Evidence, c.Figure("gc.paused_share", "share of the time paused by GC", v.Weight, "1", g.Origin))
	if b := c.BillOf(g.Collector, p); b != nil && c.Slow() && b.Sum() > 0 {
		v.Evidence = append(v.Evidence, b.Figures(c, "collections")...)
		v.Saves = b.Saves(c)
	}
}

var remains = check.Threshold{Name: "part of what reaches gen 2 that may die there", Value: .2, Unit: "1",
	Why: "where all of it counts as staying", Source: "judgement: weighs a generation that keeps what it is given against one that is collected late"}

// promotedStays says whether noticeable collections of gen 1 and 2 promote objects that stay in
// gen 2: then the heap after each of them is live, not only after those of gen 2, which are few in
// a short time.
func (g *collector) promotedStays() bool {
	promoted, died, known := g.throughGen2()
	if !known { // fewer than two collections of gen 2: the heap grows by what younger ones keep
		promoted, died, known = g.keptByYoung()
	}
	return known && promoted >= reaching.Value && died <= remains.Value && check.SlowPausesMet(g.Collector, g.pausesOf(func(x *metrics.Collection) bool { return x.Generation >= evidence.Gen1 }))
}

// pointsAfterBlocking returns the heap after each blocking collection.
func pointsAfterBlocking(all []metrics.Collection) (out []metrics.HeapPoint) {
	for i := range all {
		if c := &all[i]; c.After > 0 && c.Kind == evidence.CollectionBlocking {
			out = append(out, metrics.HeapPoint{At: c.To, Live: c.Small()})
		}
	}
	return out
}

// addTopAllocators adds the largest allocators: the leak is among them.
func (g *collector) addTopAllocators(v *check.Verdict) {
	if g.who == nil {
		return
	}
	n := 0
	for _, s := range g.who.Sites {
		if s.Owner != "" && s.Bytes >= worthType.Value*g.who.Bytes && n < 3 {
			v.Evidence = append(v.Evidence, g.c.Figure("alloc.site_share", fmt.Sprintf("share of allocated bytes: %s in %s", s.Type, s.Owner), s.Bytes/max(g.who.Bytes, 1), "1", s.Origin))
			n++
		}
	}
}

func liveTrend(points []metrics.HeapPoint) (slope, low, high float64) {
	var at, bytes []float64
	for _, p := range points {
		at, bytes = append(at, float64(p.At-points[0].At)/1e9), append(bytes, p.Live)
	}
	return stats.TheilSen(at, bytes)
}
