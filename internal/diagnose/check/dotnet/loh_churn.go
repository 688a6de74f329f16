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
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// LOHChurn is large objects that are dead soon: each fills the budget of the large object heap,
// which is collected only with the oldest generation.
var LOHChurn = check.Check{
	ID:    "dotnet.loh-churn",
	Title: "short-lived large objects bring on collections of the oldest generation",
	Step:  check.StepCollector,
	Doc: `Objects of 85,000 bytes and more live on the large object heap (LOH), which only gen 2
collections clean. Where they are temporary – buffers of whole answers, arrays that lists
and sets grow into, strings of documents – the runtime collects gen 2 each time their
budget is used up, as often as the young generations, and marks all that lives for good
each time. Blocking ones stop the program for all of it. Background ones stop it twice for
a moment, take a CPU meanwhile, and threads that allocate large objects wait while the
collector sweeps.

Allocation events name the types and the code: every large object over 100 KiB is told.
.NET 6 and later tell which threads wait for memory meanwhile. Before, slow requests that meet
background collections more often than by chance are charged what they take longer than
usual, until those that came meanwhile are answered.

How to tell it from similar problems: gen 2 collections for small allocations have another
reason (dotnet.gen2-pause, dotnet.mid-life-objects); induced ones name who asked
(dotnet.induced-gc); a heap that is larger after each of them leaks (dotnet.heap-leak).

What helps: no large temporary objects – answers written to the stream as they are made
instead of to a MemoryStream first, buffers from ArrayPool or RecyclableMemoryStream,
lists and sets in chunks below 85,000 bytes (Unstall.Collections), capacities given at
once instead of growing. System.GC.LOHThreshold moves the border where objects are only a
little larger. What does not help: a larger heap; GCSettings.LargeObjectHeapCompactionMode,
which makes the collections longer.`,
	Thresholds: "2 gen 2 collections for large objects, and a quarter of slow time in their pauses, behind them and waiting for memory; where requests wait before the service sees them, pauses of 20 ms in the mean and 1 % of the time; without requests 5 % of the time or one of a second",
	Needs:      "the collector's events, best with allocations: " + record,
	Applies:    isDotnet,
	Judge:      judgeChurn,
}

// Gen 2 collections for large objects are churn from so many on; where what they cost is not certain, they may be only if they
// are this part of the collections of gen 1: what must be rare is not.
const (
	leastChurn = 2
	churning   = .1
)

func judgeChurn(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched(c)
	}
	var v check.Verdict
	large := g.those(func(x *metrics.Collection) bool { return forLarge(x) && x.Generation == evidence.Gen2 }) // one of gen 1 may come first
	gen1 := len(g.those(func(x *metrics.Collection) bool { return x.Generation == evidence.Gen1 }))
	const what = "gen 2 collections for large objects"
	v.Evidence = append(v.Evidence, c.Figure("gc.gen2_for_large", what, float64(len(large)), "count", g.Origin),
		c.Figure("gc.gen1_collections", "gen 1 collections", float64(gen1), "count", g.Origin))
	waits := g.largeWaits(&v)
	stalled := g.beside(&v)
	if len(waits) > 0 && c.Ledger != nil {
		stalled = longest(stalled, c.Ledger.AllocStalls())
	}
	g.judge(&v, g.pauses(forLarge), what, stalled)
	if v.State == check.RuledOut && len(waits) > 0 && c.Ledger != nil && !c.HasRequestStates() && c.Share(ledger.Unobserved) >= check.Material {
		v.State = check.Inconclusive
		v.Summary += ", and threads waited for memory beside them; what requests waited for was hardly seen"
		v.Needs = []check.Need{{What: "a longer recording under load", Command: "unstall record PID --for 60s"}}
	}
	if v.State == check.RuledOut || len(large) < leastChurn || v.State != check.Supported && float64(len(large)) < churning*float64(gen1) {
		if v.State != check.RuledOut {
			v = check.Verdict{State: check.RuledOut, Evidence: v.Evidence, Summary: fmt.Sprintf("%s among %s", units.Plural(len(large), "gen 2 collection")+" for large objects", units.Plural(gen1, "gen 1 collection"))}
		}
		return v
	}
	g.figure(&v, "alloc.large_bytes_per_s", "large objects allocated", g.gc.LargeAlloc.Number, "bytes/s", g.gc.LargeAlloc.Origin)
	sites := g.culprits(&v)
	if v.State != check.Supported {
		return v
	}
	v.Title = fmt.Sprintf("Large temporary objects bring on %s gen 2 collections per minute.", units.Num(g.perMinute(len(large))))
	if types := typesOf(sites); len(types) > 0 {
		v.Title = fmt.Sprintf("Large temporary objects (%s) bring on %s gen 2 collections per minute.", strings.Join(types[:min(3, len(types))], ", "), units.Num(g.perMinute(len(large))))
	}
	g.adviseChurn(&v, sites)
	v.Prediction = append(v.Prediction, g.fewer(large, sites)...)
	return v
}

// longest is the larger of what two ways to know it say of each slow request; either may be nil.
func longest(a, b []int64) []int64 {
	if a == nil {
		return b
	}
	for i := range b {
		a[i] = max(a[i], b[i])
	}
	return a
}

// largeWaits are the waits of threads that allocate a large object while gen 2 is collected in
// the background.
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
		g.c.Figure("alloc.large_waits", "waits of threads for a large object while gen 2 is collected in the background", float64(len(waits)), "count", waits[0].Origin),
		g.c.Figure("alloc.large_waits_thread_s", "their total over all threads (not a pause)", sum, "thread s", waits[0].Origin),
		g.c.Figure("alloc.large_wait_longest_ms", "longest of them", 1e3*longest, "ms", waits[0].Origin))
	return waits
}

// worthType is the part of the bytes of large objects from which on a type or place is worth
// naming.
const worthType = .05

// onlyThere is the part from which on it is all of them.
const onlyThere = .99

// culprits are the places that allocate large objects, as evidence, most first; nil where nobody asked.
func (g *collector) culprits(v *check.Verdict) (sites []metrics.AllocationSite) {
	c := g.c
	if g.who == nil || g.who.Large == 0 {
		for i, t := range g.gc.Triggers {
			if i < 3 && t.Reason == largeReason && t.Owner != "" {
				v.Evidence = append(v.Evidence, c.Figure("gc.gen2_by_caller", "of these, brought on by allocations in "+t.Owner, float64(t.Count), "count", t.Origin))
			}
		}
		v.Needs = append(v.Needs, check.Need{What: "which objects: allocation events", Command: "unstall record PID"})
		return nil
	}
	for _, t := range g.who.Types {
		if t.Large >= worthType*g.who.Large {
			v.Evidence = append(v.Evidence, c.Figure("alloc.large_type_share", fmt.Sprintf("share of large bytes: %s, %s", t.Type, units.Plural(int(t.Count), "object")), t.Large/g.who.Large, "1", g.who.Origin))
		}
	}
	for _, s := range bySite(g.who.LargeSites(), func(s *metrics.AllocationSite) string { return s.Serves }) {
		if s.Serves != "" && s.Large >= onlyThere*g.who.Large {
			v.Evidence = append(v.Evidence, c.Seen(fmt.Sprintf("large objects are allocated in requests that %s handles, and in no others", s.Serves), s.Origin))
		} else if s.Serves != "" && s.Large >= worthType*g.who.Large {
			v.Evidence = append(v.Evidence, c.Figure("alloc.large_route_share", fmt.Sprintf("share of large bytes: in requests that %s handles", s.Serves), s.Large/g.who.Large, "1", s.Origin))
		}
	}
	sites = bySite(g.who.LargeSites(), func(s *metrics.AllocationSite) string { return s.Type + " in " + s.Owner })
	for _, s := range sites[:min(4, len(sites))] {
		if s.Large >= worthType*g.who.Large {
			v.Evidence = append(v.Evidence, c.Figure("alloc.large_site_share", fmt.Sprintf("share of large bytes: %s in %s", s.Type, s.Owner), s.Large/g.who.Large, "1", s.Origin))
		}
	}
	return sites
}

// bySite sums sites that are the same by some name, most large bytes first.
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
	slices.SortStableFunc(out, func(a, b metrics.AllocationSite) int { return cmp.Compare(b.Large, a.Large) })
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

// adviseChurn says for each of the worst places what would not be large.
func (g *collector) adviseChurn(v *check.Verdict, sites []metrics.AllocationSite) {
	for _, s := range sites[:min(3, len(sites))] {
		if s.Large >= worthType*g.who.Large {
			v.Fix = append(v.Fix, check.Fix{Text: instead(s.Type), Code: s.Owner})
		}
	}
	if len(v.Fix) == 0 {
		v.Fix = append(v.Fix, check.Fix{Text: "make no large temporary objects: write answers to the stream as they are made, rent buffers (ArrayPool), keep lists and sets in chunks below 85,000 bytes"})
	}
}

// instead is what helps against large objects of a type.
func instead(class string) string {
	switch {
	case strings.HasPrefix(class, "System.Byte[]"), strings.HasPrefix(class, "System.Char[]"):
		return "write to the stream as you go, or rent the buffer (ArrayPool, RecyclableMemoryStream), instead of a " + class + " of the whole"
	case class == "System.String":
		return "write the text as it is made (TextWriter, Utf8JsonWriter onto the answer's stream) instead of one string of the whole"
	case strings.Contains(class, "Slot") || strings.Contains(class, "Entry"):
		return "keep the set or dictionary in chunks (Unstall.Collections: ChunkedHashSet, ChunkedDictionary), or give its capacity at once: it grows by arrays of " + class
	case strings.HasSuffix(class, "[]"):
		return "keep the list in chunks (Unstall.Collections: ChunkedList), or give its capacity at once: it grows by arrays of " + class
	}
	return "make it smaller than 85,000 bytes, or keep and use it again"
}

// fewer predicts the gen 2 collections that remain, and the pauses. They come as often as the budget of
// large objects is used up. That is not the same whatever is allocated: the runtime gives more of it the
// more was alive, as what came meanwhile is. With a part of the bytes gone they come between as often as
// now and that part less often; [remainExponent] says where between.
func (g *collector) fewer(large []*metrics.Collection, sites []metrics.AllocationSite) []check.Prediction {
	now := g.perMinute(len(g.those(func(x *metrics.Collection) bool { return x.Generation == evidence.Gen2 })))
	rest := now - g.perMinute(len(large))
	paused, without := 1e3*g.ShareOf(g.Pauses), 1e3*g.ShareOf(g.pauses(func(x *metrics.Collection) bool { return !forLarge(x) }))
	out := []check.Prediction{{ID: "gc.gen2_per_min", Metric: "gen 2 collections", Unit: "1/min", Now: check.Number(now), Then: check.Number(rest)},
		{ID: "gc.paused_ms_per_s", Metric: "paused by GC", Unit: "ms/s", Now: check.Number(paused), Then: check.Number(without)}}
	exponent := remainExponent(g.c)
	owners := bySite(sites, func(s *metrics.AllocationSite) string { return s.Owner })
	for _, s := range owners[:min(3, len(owners))] {
		part := s.Large / g.who.Large
		if s.Owner != "" && part >= worthType && part < 1-worthType {
			each := g.perMinute(len(large))
			out = append(out, check.Prediction{ID: "gc.gen2_without_owner_per_min", Metric: "gen 2 collections without large objects of " + s.Owner, Unit: "1/min", Now: check.Number(now),
				Then: check.Number(rest + math.Pow(1-part, exponent)*each), Low: check.Number(rest + (1-part)*each), High: check.Number(now)})
		}
	}
	return out
}

// remainExponent is the power of the bytes that are left as which gen 2 collections for large objects remain, 0 as often as now, 1 in
// proportion. In the lab, where about half of the bytes went, .75 of them were left twice on .NET Core 3.1; on 9, whose heap
// consists of regions (since 7), .5 and .54.
func remainExponent(c *check.Case) float64 {
	if major, ok := threadpool.Release(c.Bundle.Subjects[c.Subject].Version); ok && major >= 7 {
		return .75
	}
	return .5
}
