package dotnet

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
)

// GCStarved is collections whose threads a quota does not let run.
var GCStarved = cause.Cause{
	ID:    "dotnet.gc-cpu-starved",
	Title: "GC threads have more to do at once than the CPU quota allows",
	Step:  cause.StepProcessors,
	Doc: `Server GC has a heap and a thread for each CPU, and collects with all of them at once.
In a container with a CPU quota below that they use up a period's share in a few
milliseconds, and the rest of the period belongs to the pause: pauses of 100 ms and more
though little is collected. .NET takes a heap per CPU of the quota by itself; with
GCHeapCount, PROCESSOR_COUNT or a quota below what the host's templates say it does not.

How to tell it from similar problems: a service that uses up its quota by its own work is
throttled outside of collections as well (linux.cpu-throttled); pauses that are long
without a quota collect much.

What helps: workstation GC (System.GC.Server=false) or as many heaps as the quota has
CPUs (System.GC.HeapCount), .NET 9's adaptation to application sizes
(System.GC.DynamicAdaptationMode=1), a higher quota. What does not help: a larger heap.`,
	Least:   "more heaps than the quota has CPUs, a tenth of the periods stopped, and a quarter of slow time in GC pauses and behind them; without requests 5 % of the time",
	Needs:   "the collector's events, and cpu.stat of its cgroup: " + record,
	Applies: isDotnet,
	Judge:   judgeStarved,
}

func judgeStarved(c *cause.Case) cause.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched()
	}
	v := cause.Verdict{State: cause.RuledOut}
	quota, limited := c.Fact(evidence.FactContainerCPU)
	heaps := g.gc.Heaps
	switch {
	case !limited || !(quota.Number > 0):
		v.Summary = "its cgroup has no CPU quota"
		v.Evidence = append(v.Evidence, c.Figure("GC pauses", float64(len(g.Pauses)), "count", g.Origin))
		return v
	case !heaps.Known():
		v.State, v.Summary = cause.Inconclusive, "how many heaps it has was not recorded"
		v.Needs = []cause.Need{{What: "the collector's events", Command: "unstall record PID"}}
		return v
	}
	v.Evidence = append(v.Evidence, c.Figure("GC heaps, each with a thread", heaps.Number, "count", heaps.Origin), c.Figure("CPU quota", quota.Number, "CPUs", quota.Origin))
	stopped := reading.QuotaOf(c.Bundle, c.Subject, -1, g.Window).Share()
	if !math.IsNaN(stopped) {
		v.Evidence = append(v.Evidence, c.Figure("share of periods in which the quota stopped it", stopped, "1", quota.Origin))
	}
	if heaps.Number <= math.Ceil(quota.Number) || !(stopped >= cause.OftenStopped) {
		v.Summary = fmt.Sprintf("%.0f heaps on a quota of %s CPUs", heaps.Number, cause.Digits(2, quota.Number))
		return v
	}
	g.judge(&v, g.Pauses, "GC pauses", nil)
	if v.State != cause.Supported {
		return v
	}
	v.Title = fmt.Sprintf("%.0f GC threads share a quota of %s CPUs: GC pauses last up to %s.", heaps.Number, cause.Digits(2, quota.Number), inMs(g.Pauses.Longest().Seconds()))
	v.Fix = append(v.Fix,
		cause.Fix{Text: "use workstation GC: one heap, collected by one thread", Setting: "System.GC.Server=false (DOTNET_gcServer=0)"},
		cause.Fix{Text: "or as many heaps as the quota has CPUs", Setting: fmt.Sprintf("System.GC.HeapCount=%.0f (DOTNET_GCHeapCount=%.0f)", math.Ceil(quota.Number), math.Ceil(quota.Number))})
	return v
}

func inMs(seconds float64) string { return fmt.Sprintf("%.0f ms", 1e3*seconds) }
