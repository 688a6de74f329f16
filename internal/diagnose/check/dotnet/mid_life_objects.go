package dotnet

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// MidLife is objects that live long enough to be copied out of the young generations, and die soon after.
var MidLife = check.Check{
	ID:    "dotnet.mid-life-objects",
	Title: "objects die after promotion (mid-life objects)",
	Step:  check.StepCollector,
	Doc: `GC is cheap if objects die young or live forever. Objects that live for seconds (state of
slow requests, batches, buffers between stages, short-lived cache entries) are alive when
gen 0 is collected, so GC copies them, often again out of gen 1, and they become garbage
soon after. Those that reach gen 2 stay until all of gen 2 is marked. Young collections
take long because they copy much, and gen 2 collections are frequent.

The runtime's events say how much each collection kept. The bytes that gen 0 and gen 1
collections retain per second, minus the growth of the heap, died soon after.

How to tell it from similar problems: with a leak the heap is larger after each
collection (dotnet.heap-leak); collections for large objects have that reason (dotnet.loh-churn).

What helps: release state earlier (build it after the slow call, not before), stream instead of
collecting batches, pool objects that are created repeatedly, refresh cache values in place; a
larger gen 0 budget (DOTNET_GCgen0size) so that more objects are dead at collection. What does
not help: GC.Collect, which promotes all live objects.`,
	Least: fmt.Sprintf("gen 0 and gen 1 collections retain 3 MB/s, more than half of which dies soon after, and %v of slow time is in pauses and behind them; if requests wait before the service sees them, pauses of 20 ms on average and 1 %% of the time; without requests, %v of the time",
		check.Material, stopped),
	Thresholds: []check.Threshold{leastGCs, leastWatched, mostDies, reaching, stopped, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs,
		check.FullHost, check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf,
		check.MostOfSlow, check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall,
		check.OftenPaused, check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "GC events: " + record,
	Applies: isDotnet,
	Judge:   judgeMidLife,
}

// What young collections keep matters from this many bytes/s on, if more than this part of it dies soon after.
var (
	reaching = check.Threshold{Name: "bytes that young collections keep", Value: 3e6, Unit: "bytes/s",
		Why: "gen 2 then has to be collected within minutes on a usual heap", Source: "arithmetic: 1 GiB in six minutes"}
	mostDies = check.Threshold{Name: "part of what is kept that dies soon after", Value: .5, Unit: "1",
		Why: "most of it was kept in vain", Source: "arithmetic: half"}
	leastGCs = check.Threshold{Name: "gen 2 collections that show it", Value: 3, Unit: "count",
		Why: "two ends of a line say nothing of its middle", Source: "arithmetic: a line goes through any two points"}
)

func judgeMidLife(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	kept, died, known := g.keptByYoung()
	young := g.selectCollections(func(x *metrics.Collection) bool { return isOrdinary(x) && x.Generation < evidence.Gen2 })
	v.Evidence = append(v.Evidence, c.Figure("gc.gen0_gen1_collections", "collections of gen 0 and gen 1", float64(len(young)), "count", g.Origin))
	if !known {
		sized := len(g.selectCollections(leavesSize))
		if sized >= leastGCs.Int() {
			v.Weigh(0, reaching)
			v.Rule, v.Summary = check.TooLittle, "nothing is known to survive collections of gen 0 and gen 1"
			return v
		}
		// Too few show what dies after them: then they are cleared by what they cost, or not at all.
		g.judgePauses(&v, "dotnet.mid-life-objects", g.pausesOf(func(x *metrics.Collection) bool { return isOrdinary(x) && x.Generation < evidence.Gen2 }), "collections of gen 0 and gen 1", nil)
		if !v.RuledOut() {
			v.Saves, v.Prediction = nil, nil
			v.Counted(float64(sized), leastGCs)
			v.Rule, v.Summary, v.Needs = check.TooFew, "too few collections to show what dies after them", longRecording
		}
		return v
	}
	v.Evidence = append(v.Evidence, c.Figure("gc.promoted_bytes_per_s", "bytes that survive them", kept, "bytes/s", g.Origin),
		c.Figure("gc.promoted_dies_share", "share of them that dies soon after", died, "1", g.Origin))
	v.Weigh(kept, reaching)
	v.Weigh(died, mostDies)
	if kept < reaching.Value || died < mostDies.Value {
		v.Rule, v.Summary = check.TooLittle, fmt.Sprintf("gen 0 and gen 1 collections retain %s MB/s, %s of which dies soon after", units.Num(kept/1e6), units.Percent(died))
		return v
	}
	what := "collections of gen 0 and gen 1"
	promoted, there, ok := g.throughGen2()
	toGen2 := ok && promoted >= reaching.Value && there >= mostDies.Value
	if toGen2 { // gen 2 is collected for these
		what = "collections, including gen 2 collections for objects that die there,"
	}
	p := g.pausesOf(func(x *metrics.Collection) bool { return isOrdinary(x) && (toGen2 || x.Generation < evidence.Gen2) })
	g.judgePauses(&v, "dotnet.mid-life-objects", p, what, nil)
	if !v.Supported() {
		return v
	}
	v.Title = fmt.Sprintf("Objects outlive the young generations: %s MB/s survive a collection, and %s of that is garbage soon after.", units.Num(kept/1e6), units.Percent(died))
	if toGen2 {
		v.Title = fmt.Sprintf("Objects die in gen 2: %s MB/s are promoted to it, and %s of that is garbage soon after.", units.Num(promoted/1e6), units.Percent(there))
	}
	gen1 := &g.gc.Generations[evidence.Gen1]
	g.addFigure(&v, "gc.gen1_survival_share", "share of gen 0 and gen 1 that survives gen 1 collections", gen1.Survival(), "1", g.Origin)
	g.addFigure(&v, "gc.gen1_mean_pause_ms", "mean pause of gen 1 collections", 1e3*gen1.Mean, "ms", g.Origin)
	site := ""
	if g.who != nil && len(g.who.Sites) > 0 {
		for _, s := range g.who.Sites[:min(3, len(g.who.Sites))] {
			if s.Owner != "" {
				v.Evidence = append(v.Evidence, c.Figure("alloc.site_share", fmt.Sprintf("share of allocated bytes: %s in %s", s.Type, s.Owner), s.Bytes/max(g.who.Bytes, 1), "1", s.Origin))
				if site == "" {
					site = s.Owner
				}
			}
		}
	}
	v.Fix = append(v.Fix, check.Fix{Text: "release these objects earlier, or pool and reuse them: objects that live for seconds are copied and need a gen 2 collection", Code: site},
		check.Fix{Text: "or enlarge gen 0, so that more objects are dead when it is collected", Setting: "DOTNET_GCgen0size=0x10000000 (hexadecimal: 256 MB)"})
	return v
}

// leavesSize says whether the size of the heap after a collection is known.
func leavesSize(x *metrics.Collection) bool {
	return x.After > 0 && x.Kind != evidence.CollectionBackground
}

// keptByYoung returns how many bytes/s young collections kept, and which share of what survived
// its first collection was garbage soon after: the part by which the heap did not grow. What gen 1
// collections keep of gen 1 was kept before. Known is false if there were too few collections.
func (g *collector) keptByYoung() (bytes, died float64, known bool) {
	var sizes []metrics.HeapPoint
	var from, until int64
	fresh := 0. // of gen 0
	for i := range g.gc.Collections {
		x := &g.gc.Collections[i]
		if leavesSize(x) {
			sizes = append(sizes, metrics.HeapPoint{At: x.To, Live: x.Small()})
		}
		if x.Generation == evidence.Gen2 {
			continue
		}
		if from == 0 {
			from = x.From
		}
		until = x.To
		for n, gen := range x.Gen[:x.Generation+1] {
			if gen.Survived > 0 {
				bytes += gen.Survived
				if n == evidence.Gen0 {
					fresh += gen.Survived
				}
			}
		}
	}
	if len(sizes) < leastGCs.Int() || until <= from || bytes == 0 {
		return 0, 0, false
	}
	if fresh == 0 {
		fresh = bytes
	}
	slope, _, _ := liveTrend(sizes)
	seconds := float64(until-from) / 1e9
	return bytes / seconds, max(0, 1-max(0, slope)*seconds/fresh), true
}

// throughGen2 returns how many bytes/s gen 1 collections promoted to gen 2, and which share of
// them was garbage at the following gen 2 collections; known is false with fewer than two gen 2
// collections, as nothing then shows what died.
func (g *collector) throughGen2() (promoted, died float64, known bool) {
	var from, until *metrics.Collection
	for i := range g.gc.Collections {
		if x := &g.gc.Collections[i]; x.Generation == evidence.Gen2 && x.Gen[evidence.Gen2].After > 0 {
			if from == nil {
				from = x
			}
			until = x
		}
	}
	if from == until || until == nil {
		return 0, 0, false
	}
	seconds := float64(until.To-from.To) / 1e9
	var bytes float64
	for i := range g.gc.Collections {
		x := &g.gc.Collections[i]
		if x.Generation == evidence.Gen1 && x.From >= from.To && x.To <= until.To {
			if kept := x.Gen[evidence.Gen1].Survived; kept > 0 {
				bytes += kept
			}
		}
	}
	if seconds <= 0 || bytes <= 0 {
		return 0, 0, seconds > 0
	}
	grew := max(0, until.Gen[evidence.Gen2].After-from.Gen[evidence.Gen2].After)
	return bytes / seconds, max(0, 1-grew/bytes), true
}
