package dotnet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// LOHChurn is large objects that die soon: they fill the budget of the large object heap, which is collected only with the
// oldest generation.
var LOHChurn = check.Check{
	ID:    "dotnet.loh-churn",
	Title: "short-lived large objects trigger gen 2 collections",
	Step:  check.StepCollector,
	Doc: `Objects of 85,000 bytes or more live on the large object heap (LOH), which only gen 2
collections clean. If they are temporary (buffers of whole responses, arrays of growing lists
and sets, strings of documents), the runtime collects gen 2 each time their budget is used up,
as often as the young generations, and marks all long-lived objects each time. A blocking
collection stops the program until it ends. A background collection stops it twice, briefly,
and uses a CPU; threads that allocate large objects wait while it sweeps.

Allocation events name the types and the code of every large object over 100 KiB. .NET 6 and
later also report the threads that wait for memory during a background collection. For earlier
versions, if slow requests overlap background collections more often than by chance, their
time above the usual latency is charged to the collections, until the backlog is answered.

How to tell it from similar problems: gen 2 collections for small allocations have another
reason (dotnet.gen2-pause, dotnet.mid-life-objects); induced ones name the caller
(dotnet.induced-gc); a heap that is larger after each of them leaks (dotnet.heap-leak).

What helps: no large temporary objects: write responses directly to the stream instead of a
MemoryStream first, take buffers from ArrayPool or RecyclableMemoryStream, keep lists and sets
in chunks below 85,000 bytes (Unstall.Collections), set the capacity at creation.
System.GC.LOHThreshold raises the threshold if objects are only slightly larger. What does not
help: a larger heap; GCSettings.LargeObjectHeapCompactionMode, which makes the collections
longer.`,
	Least: fmt.Sprintf("2 gen 2 collections for large objects, and %v of slow time in their pauses, behind them and waiting for memory; if requests wait before the service sees them, pauses of 20 ms on average and 1 %% of the time; without requests, 5 %% of the time or one pause of a second",
		check.Material),
	Thresholds: []check.Threshold{churning, leastChurn, leastGCs, leastWatched, moreMet, mostDies, onlyThere, reaching, stopped, worthType, check.ASecond,
		check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost, check.HostFull, check.LeastStopped, check.LongPause,
		check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow, check.MostlyUnseen, check.MuchStopped, check.NearlyFull,
		check.Noticeable, check.NoticeableCall, check.OftenPaused, check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "GC events, best with allocations: " + record,
	Applies: isDotnet,
	Judge:   judgeChurn,
}

// This many gen 2 collections for large objects are churn. Where their cost is uncertain, they must also be at least this part
// of the gen 1 collections: gen 2 collections should be rare.
var (
	leastChurn = check.Threshold{Name: "gen 2 collections for large objects", Value: 2, Unit: "count",
		Why: "one may be chance", Source: "arithmetic: the least number that repeats itself"}
	churning = check.Threshold{Name: "gen 2 collections for large objects, as part of gen 1 collections", Value: .1, Unit: "1",
		Why: "what must be rare is not", Source: "Improving .NET Application Performance and Scalability, Microsoft, 2004, chapter 15: gen 2 collections a tenth of gen 1 where all is well"}
)

func judgeChurn(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	large := g.selectCollections(func(x *metrics.Collection) bool { return isForLarge(x) && x.Generation == evidence.Gen2 }) // a gen 1 collection may come first
	gen1 := len(g.selectCollections(func(x *metrics.Collection) bool { return x.Generation == evidence.Gen1 }))
	const what = "gen 2 collections for large objects"
	v.Evidence = append(v.Evidence, c.Figure("gc.gen2_for_large", fmt.Sprintf("gen 2 collections for large objects in %s", units.Time(1e9*g.Span)), float64(len(large)), "count", g.Origin),
		c.Figure("gc.gen1_collections", "gen 1 collections", float64(gen1), "count", g.Origin))
	waits := g.largeWaits(&v)
	v.Counted(float64(len(large)), leastChurn)
	stalled := g.excessDuringLargeGC(&v)
	if len(waits) > 0 && c.Ledger != nil {
		stalled = maxOfEach(stalled, c.Ledger.AllocStalls())
	}
	g.judgePauses(&v, "dotnet.loh-churn", g.pausesOf(isForLarge), what, stalled)
	if v.RuledOut() && len(waits) > 0 && c.Ledger != nil && !c.HasRequestStates() && c.Share(ledger.Unobserved) >= check.Material.Value {
		v.Rule = check.Unseen
		v.Summary += ", and threads also waited for memory; most waits of requests were not recorded"
		v.Needs = []check.Need{{What: "a longer recording under load", Command: "unstall record PID --for 60s"}}
	}
	if v.RuledOut() || len(large) < leastChurn.Int() || !v.Supported() && float64(len(large)) < churning.Value*float64(gen1) {
		if !v.RuledOut() {
			v = check.Verdict{Rule: check.TooLittle, Evidence: v.Evidence, Summary: fmt.Sprintf("%s among %s", units.Plural(len(large), "gen 2 collection")+" for large objects", units.Plural(gen1, "gen 1 collection"))}
			v.Weigh(float64(len(large)), leastChurn)
			v.Weigh(float64(len(large))/float64(max(1, gen1)), churning)
		}
		return v
	}
	g.addFigure(&v, "alloc.large_bytes_per_s", "large objects allocated", g.gc.LargeAlloc.Number, "bytes/s", g.gc.LargeAlloc.Origin)
	sites := g.addLargeSites(&v)
	if !v.Supported() {
		return v
	}
	v.Title = fmt.Sprintf("Large temporary objects trigger %s gen 2 collections per minute.", units.Num(g.perMinute(len(large))))
	if types := typesOf(sites); len(types) > 0 {
		v.Title = fmt.Sprintf("Large temporary objects (%s) trigger %s gen 2 collections per minute.", strings.Join(types[:min(3, len(types))], ", "), units.Num(g.perMinute(len(large))))
	}
	g.adviseChurn(&v, sites)
	v.Prediction = append(v.Prediction, g.predictRemaining(large, sites)...)
	return v
}

// maxOfEach returns the larger of two figures for each slow request, and overwrites a; either may be nil.
func maxOfEach(a, b []int64) []int64 {
	if a == nil {
		return b
	}
	for i := range b {
		a[i] = max(a[i], b[i])
	}
	return a
}

// largeWaits adds and returns the waits of threads that allocate a large object during a
// background gen 2 collection.
func (g *collector) largeWaits(v *check.Verdict) []metrics.GCWait {
	waits := g.gc.LargeWaits
	if len(waits) == 0 {
		return nil
	}
	var sum, longest float64
	for _, w := range waits {
		sum, longest = sum+w.Seconds(), max(longest, w.Seconds())
	}
	v.Evidence = append(v.Evidence,
		g.c.Figure("alloc.large_waits", "waits of threads to allocate a large object during a background gen 2 collection", float64(len(waits)), "count", waits[0].Origin),
		g.c.Figure("alloc.large_waits_thread_s", "their total over all threads (not a pause)", sum, "thread s", waits[0].Origin),
		g.c.Figure("alloc.large_wait_longest_ms", "longest of them", 1e3*longest, "ms", waits[0].Origin))
	return waits
}

var worthType = check.Threshold{Name: "share of the bytes of large objects from which a type or place is reported", Value: .05, Unit: "1",
	Why: "a report has room for some", Source: "arithmetic: at most twenty can have it"}

var onlyThere = check.Threshold{Name: "share that is reported as all of them", Value: .99, Unit: "1",
	Why: "rounding", Source: "arithmetic: 99 %"}

// addLargeSites adds the places that allocate large objects as evidence, and returns them, the
// largest first; nil where allocations were not recorded.
func (g *collector) addLargeSites(v *check.Verdict) (sites []metrics.AllocationSite) {
	c := g.c
	if g.who == nil || g.who.Large == 0 {
		for i, t := range g.gc.Triggers {
			if i < 3 && t.Reason == largeReason && t.Owner != "" {
				v.Evidence = append(v.Evidence, c.Figure("gc.gen2_by_caller", "of these, triggered by allocations in "+t.Owner, float64(t.Count), "count", t.Origin))
			}
		}
		v.Needs = append(v.Needs, check.Need{What: "which objects: allocation events", Command: "unstall record PID"})
		return nil
	}
	for _, t := range g.who.Types {
		if t.Large >= worthType.Value*g.who.Large {
			v.Evidence = append(v.Evidence, c.Figure("alloc.large_type_share", fmt.Sprintf("share of large bytes: %s, %s", t.Type, units.Plural(int(t.Count), "object")), t.Large/g.who.Large, "1", g.who.Origin))
		}
	}
	for _, s := range bySite(g.who.LargeSites(), func(s *metrics.AllocationSite) string { return s.Serves }) {
		if s.Serves != "" && s.Large >= onlyThere.Value*g.who.Large {
			v.Evidence = append(v.Evidence, c.Seen(fmt.Sprintf("only requests handled by %s allocate large objects", s.Serves), s.Origin))
		} else if s.Serves != "" && s.Large >= worthType.Value*g.who.Large {
			v.Evidence = append(v.Evidence, c.Figure("alloc.large_route_share", fmt.Sprintf("share of large bytes: in requests handled by %s", s.Serves), s.Large/g.who.Large, "1", s.Origin))
		}
	}
	sites = bySite(g.who.LargeSites(), func(s *metrics.AllocationSite) string { return s.Type + " in " + s.Owner })
	for _, s := range sites[:min(4, len(sites))] {
		if s.Large >= worthType.Value*g.who.Large {
			v.Evidence = append(v.Evidence, c.Figure("alloc.large_site_share", fmt.Sprintf("share of large bytes: %s in %s", s.Type, s.Owner), s.Large/g.who.Large, "1", s.Origin))
		}
	}
	return sites
}

// bySite merges sites with the same name, the most large bytes first.
func bySite(all []metrics.AllocationSite, name func(*metrics.AllocationSite) string) (out []metrics.AllocationSite) {
	at := make(map[string]int)
	for _, s := range all {
		i, ok := at[name(&s)]
		if !ok {
			at[name(&s)] = len(out)
			out = append(out, s)
			continue
		}
		out[i].Large, out[i].Bytes, out[i].Count = out[i].Large+s.Large, out[i].Bytes+s.Bytes, out[i].Count+s.Count
	}
	sorting.Short(out, func(a, b metrics.AllocationSite) int { return cmp.Compare(b.Large, a.Large) })
	return out
}

func typesOf(sites []metrics.AllocationSite) (types []string) {
	for _, s := range sites {
		if !slices.Contains(types, s.Type) {
			types = append(types, s.Type)
		}
	}
	return types
}

// adviseChurn adds, for each of the worst places, how to avoid the large object.
func (g *collector) adviseChurn(v *check.Verdict, sites []metrics.AllocationSite) {
	for _, s := range sites[:min(3, len(sites))] {
		if s.Large >= worthType.Value*g.who.Large {
			v.Fix = append(v.Fix, check.Fix{Text: largeObjectAdvice(s.Type), Code: s.Owner})
		}
	}
	if len(v.Fix) == 0 {
		v.Fix = append(v.Fix, check.Fix{Text: "avoid large temporary objects: write responses directly to the stream, rent buffers (ArrayPool), keep lists and sets in chunks below 85,000 bytes"})
	}
}

// largeObjectAdvice returns what helps against large objects of a type.
func largeObjectAdvice(class string) string {
	switch {
	case strings.HasPrefix(class, "System.Byte[]"), strings.HasPrefix(class, "System.Char[]"):
		return "write directly to the stream, or rent the buffer (ArrayPool, RecyclableMemoryStream), instead of one " + class + " for the whole response"
	case class == "System.String":
		return "write the text directly to the response stream (TextWriter, Utf8JsonWriter) instead of building one string"
	case strings.Contains(class, "Slot") || strings.Contains(class, "Entry"):
		return "keep the set or dictionary in chunks (Unstall.Collections: ChunkedHashSet, ChunkedDictionary), or set its capacity at creation: it grows through arrays of " + class
	case strings.HasSuffix(class, "[]"):
		return "keep the list in chunks (Unstall.Collections: ChunkedList), or set its capacity at creation: it grows through arrays of " + class
	}
	return "make it smaller than 85,000 bytes, or reuse it"
}

// predictRemaining predicts the gen 2 collections that remain, and the pauses. Collections come when the budget of large
// objects is used up, and the runtime enlarges the budget with the live amount. With a part of the bytes gone, collections come
// between as often as now and less often by that part; [remainExponent] says where between.
func (g *collector) predictRemaining(large []*metrics.Collection, sites []metrics.AllocationSite) []check.Prediction {
	now := g.perMinute(len(g.selectCollections(func(x *metrics.Collection) bool { return x.Generation == evidence.Gen2 })))
	rest := now - g.perMinute(len(large))
	paused, without := 1e3*g.ShareOf(g.Pauses), 1e3*g.ShareOf(g.pausesOf(func(x *metrics.Collection) bool { return !isForLarge(x) }))
	out := []check.Prediction{{ID: "gc.gen2_per_min", Metric: "gen 2 collections", Unit: "1/min", Now: stats.FiniteOrNil(now), Then: stats.FiniteOrNil(rest)},
		{ID: "gc.paused_ms_per_s", Metric: "paused by GC", Unit: "ms/s", Now: stats.FiniteOrNil(paused), Then: stats.FiniteOrNil(without)}}
	exponent := remainExponent(g.c)
	owners := bySite(sites, func(s *metrics.AllocationSite) string { return s.Owner })
	for _, s := range owners[:min(3, len(owners))] {
		part := s.Large / g.who.Large
		if s.Owner != "" && part >= worthType.Value && part < 1-worthType.Value {
			each := g.perMinute(len(large))
			out = append(out, check.Prediction{ID: "gc.gen2_without_owner_per_min", Metric: "gen 2 collections without large objects of " + s.Owner, Unit: "1/min", Now: stats.FiniteOrNil(now),
				Then: stats.FiniteOrNil(rest + math.Pow(1-part, exponent)*each), Low: stats.FiniteOrNil(rest + (1-part)*each), High: stats.FiniteOrNil(now)})
		}
	}
	return out
}

// remainExponent returns e such that, with a part p of the large bytes left, p^e of the gen 2
// collections for large objects remain: 0 all of them, 1 in proportion. In the lab, where about
// half of the bytes went, .75 of them were left twice on .NET Core 3.1; on 9, whose heap consists
// of regions (since 7), .5 and .54.
func remainExponent(c *check.Case) float64 {
	if major, ok := threadpool.Release(c.Bundle.Subjects[c.Subject].Version); ok && major >= 7 {
		return .75
	}
	return .5
}
