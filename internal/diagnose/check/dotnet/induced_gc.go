package dotnet

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// InducedGC is collections that the program, a library or a tool asks for.
var InducedGC = check.Check{
	ID:    "dotnet.induced-gc",
	Title: "garbage collections requested by code (GC.Collect) pause the program",
	Step:  check.StepCollector,
	Doc: `GC.Collect() collects all generations and stops the program until it ends; the larger
the heap, the longer the stop. Programs call it after large jobs; libraries call it from
timers and at limits: ASP.NET's cache compares the private bytes of the process with 60
% of the physical memory, regardless of free memory; image and interop libraries call
GC.AddMemoryPressure. Tools that count objects (dotnet-gcdump) also trigger one.

The runtime reports each one with the caller's stack (GC/Triggered), which shows the
library behind timers and observers.

How to tell it from similar problems: collections that the runtime starts itself have a
reason (small allocations, large allocations, low memory). Regular intervals point to a
timer, not to the load.

What helps: remove the call; raise the limit of the library that watches memory, or set
it to the container's size; if memory must be returned, GC.Collect(2,
GCCollectionMode.Optimized, blocking: false) leaves it to the runtime, and
System.GC.ConserveMemory does it without a call. What does not help: a larger heap.`,
	Least: fmt.Sprintf("%v of slow time in these pauses and behind them; if requests wait before the service sees them, pauses of 20 ms on average and 1 %% of the time; without requests, %v of the time or one pause of a second",
		check.Material, stopped),
	Thresholds: []check.Threshold{leastGCs, leastInduced, leastWatched, mostDies, reaching, stopped, check.ASecond, check.Arguable, check.Edge,
		check.FewPauses, check.FullCPUs, check.FullHost, check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests,
		check.MinuteOf, check.MostOfSlow, check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall,
		check.OftenPaused, check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "GC events with stacks: " + record,
	Applies: isDotnet,
	Judge:   judgeInduced,
}

func judgeInduced(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	p := g.pausesOf(isInduced)
	const what = "induced collections"
	all := g.selectCollections(isInduced)
	v.Evidence = append(v.Evidence, c.Figure("gc.induced", "induced collections", float64(len(all)), "count", g.Origin))
	g.judgePauses(&v, "dotnet.induced-gc", p, what, nil)
	if !v.Supported() {
		return v
	}
	who := g.gc.Induced()
	name := "The program"
	if len(who) > 0 {
		name = askerName(&who[0])
	}
	does := "requests collections"
	switch {
	case len(who) > 0 && who[0].Pressure:
		does = "tells the collector of memory outside the heap (GC.AddMemoryPressure), which makes it collect everything"
	case len(who) > 0 && mayPress(&who[0]):
		does = "requests collections without force, as GC.AddMemoryPressure does"
	}
	v.Title = fmt.Sprintf("%s %s: %s paused the program for %s in total, the longest for %s.", name, does, units.Plural(len(all), "induced collection"),
		units.Time(1e9*p.Seconds()), units.Time(1e9*p.Longest().Seconds()))
	for i := range who[:min(3, len(who))] {
		t := &who[i]
		text := "of these, requested by " + askerName(t)
		if len(t.Chain) > 1 {
			text += ": " + strings.Join(t.Chain, " ← ")
		}
		if t.Began != "" {
			text += ", run by the " + t.Began
		}
		v.Evidence = append(v.Evidence, c.Figure("gc.induced_by_caller", text, float64(t.Count), "count", t.Origin))
	}
	if every := p.Interval(); len(all) > 2 {
		g.addFigure(&v, "gc.interval_s", "time from one to the next (median)", every, "s", g.Origin)
	}
	limit := g.inferMemoryLimit(all)
	v.Evidence = append(v.Evidence, limit.listFigures(c)...)
	g.adviseInduced(&v, who, limit)
	return v
}

// mayPress says whether code may have asked for collections by GC.AddMemoryPressure: they are not forced, and its stack does not show what it called.
func mayPress(t *metrics.GCTrigger) bool { return t.Inlined && t.Reason == metrics.InducedSoftly }

// askerName names the code that asks for collections.
func askerName(t *metrics.GCTrigger) string {
	switch {
	case t.Caller != "":
		return t.Caller
	case t.Owner != "":
		return t.Owner
	}
	return "The program"
}

func (g *collector) adviseInduced(v *check.Verdict, who []metrics.GCTrigger, limit *memoryLimit) {
	add := func(text, setting, code string) {
		v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting, Code: code})
	}
	code := ""
	if len(who) > 0 {
		code = askerName(&who[0])
	}
	if len(who) > 0 && who[0].Pressure {
		add("tell it of no more memory than is held outside the heap, and take it back where that is freed: GC.RemoveMemoryPressure in Dispose, which callers call, not in a finalizer", "", code)
		return
	}
	if len(who) > 0 && mayPress(&who[0]) {
		add("look for GC.AddMemoryPressure in it: tell the collector of no more memory than is held outside the heap, and take it back in Dispose, not in a finalizer", "", code)
		limit = nil // what it compares with is not the process's memory
	}
	if limit != nil {
		add(fmt.Sprintf("raise the limit that it compares with: it requests a collection whenever the process uses more than about %s%s", units.Size(limit.at), limit.formatShare()), "", code)
	}
	add("remove the call: the runtime decides when to collect", "", code)
	add("or, if memory must be returned, request a non-blocking collection: GC.Collect(2, GCCollectionMode.Optimized, blocking: false)", "", "")
}
