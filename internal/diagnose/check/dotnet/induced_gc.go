package dotnet

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// InducedGC is somebody who asks for collections: the program, a library, a tool.
var InducedGC = check.Check{
	ID:    "dotnet.induced-gc",
	Title: "garbage collections that code asks for (GC.Collect) pause the program",
	Step:  check.StepCollector,
	Doc: `GC.Collect() collects all generations at once and stops the program meanwhile, for
longer the more is in memory. Programs call it after large jobs; libraries call it by
timers and when a limit is reached: ASP.NET's cache compares the private bytes of the
process with 60 % of the physical memory however much of that is free, image and interop
libraries call GC.AddMemoryPressure. Tools that count objects (dotnet-gcdump) bring one
on as well.

The runtime reports each with the stack of who asked (GC/Triggered), which leads through
timers and observers to the library it came from.

How to tell it from similar problems: collections that the runtime begins itself say why
(small allocations, large allocations, low memory). Even intervals mean that a timer
asks, not the load.

What helps: remove the call; raise the limit of who watches memory, or give it the size
of the container; where memory must be given back, GC.Collect(2,
GCCollectionMode.Optimized, blocking: false) leaves it to the runtime, and
System.GC.ConserveMemory does it without a call. What does not help: a larger heap.`,
	Thresholds: "a quarter of slow time in these pauses and behind them; where requests wait before the service sees them, pauses of 20 ms in the mean and 1 % of the time; without requests 5 % of the time or one of a second",
	Needs:      "the collector's events with stacks: " + record,
	Applies:    isDotnet,
	Judge:      judgeInduced,
}

func judgeInduced(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched(c)
	}
	var v check.Verdict
	p := g.pauses(induced)
	const what = "induced collections"
	all := g.those(induced)
	v.Evidence = append(v.Evidence, c.Figure("gc.induced", "induced collections", float64(len(all)), "count", g.Origin))
	g.judge(&v, p, what, nil)
	if v.State != check.Supported {
		return v
	}
	who := g.gc.Induced()
	name := "The program"
	if len(who) > 0 {
		name = asker(&who[0])
	}
	v.Title = fmt.Sprintf("%s asks for collections: %s paused the program for %s in all, the longest for %s.", name, units.Plural(len(all), "induced collection"),
		units.Time(1e9*p.Seconds()), units.Time(1e9*p.Longest().Seconds()))
	for i := range who[:min(3, len(who))] {
		t := &who[i]
		text := "of these, asked for by " + asker(t)
		if len(t.Chain) > 1 {
			text += ": " + strings.Join(t.Chain, " ← ")
		}
		if t.Began != "" {
			text += ", run by the " + t.Began
		}
		v.Evidence = append(v.Evidence, c.Figure("gc.induced_by_caller", text, float64(t.Count), "count", t.Origin))
	}
	if every := p.Interval(); len(all) > 2 {
		g.figure(&v, "gc.interval_s", "time from one to the next (median)", every, "s", g.Origin)
	}
	limit := g.limit(all)
	v.Evidence = append(v.Evidence, limit.figures(c)...)
	g.adviseInduced(&v, who, limit)
	return v
}

// asker is who asks for collections, in one word.
func asker(t *metrics.GCTrigger) string {
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
		code = asker(&who[0])
	}
	if limit != nil {
		add(fmt.Sprintf("raise the limit that it compares with: it asks whenever the process has more than about %s%s", units.Size(limit.at), limit.share()), "", code)
	}
	add("do not ask for collections: the runtime collects when it is worth it", "", code)
	add("or, where memory must be given back, ask for one that need not stop the program: GC.Collect(2, GCCollectionMode.Optimized, blocking: false)", "", "")
}
