package dotnet

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// GCStarved is collections whose threads a CPU quota stops.
var GCStarved = check.Check{
	ID:    "dotnet.gc-cpu-starved",
	Title: "GC threads use up the CPU quota",
	Step:  check.StepProcessors,
	Doc: `A collection uses all available CPUs at once. In a container with a CPU quota it uses up
the quota of a period in a few milliseconds, and the program stays paused for the rest of
the 100 ms: pauses last several times as long as the GC work. Server GC, with a heap and a
thread per CPU, uses up the quota faster. By default .NET creates one heap per CPU of the
quota; GCHeapCount or PROCESSOR_COUNT override that.

unstall compares the throttled time (cpu.stat) with the pauses: if most of it lies in
pauses, collections use up the quota, not requests.

How to tell it from similar problems: a service that uses up its quota by its own work is
throttled outside of collections as well (linux.cpu-throttled); long pauses without a
quota have much to collect.

What helps: workstation GC (System.GC.Server=false) or as many heaps as the quota has
CPUs (System.GC.HeapCount), .NET 9's adaptation to application sizes
(System.GC.DynamicAdaptationMode=1), a higher quota. What does not help: a larger heap.`,
	Least: fmt.Sprintf("half of the throttled time lies in GC pauses, and twice as much as by chance, or there are more heaps than the quota has CPUs and 10 %% of the periods are throttled; and %v of slow time is in GC pauses and behind them; without requests %v of the time",
		check.Material, stopped),
	Thresholds: []check.Threshold{byChance, leastGCs, leastWatched, mostDies, mostlyPauses, paused, reaching, stopped, check.ASecond, check.Arguable,
		check.Edge, check.FewPauses, check.FullCPUs, check.FullHost, check.HostFull, check.LeastStopped, check.LongPause, check.Material,
		check.MinRequests, check.MinuteOf, check.MostOfSlow, check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable,
		check.NoticeableCall, check.OftenPaused, check.OftenStopped, check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "GC events, and cpu.stat of its cgroup: " + record,
	Applies: isDotnet,
	Judge:   judgeStarved,
}

var cgroupEvidence = check.Need{What: "cpu.stat of its cgroup, with the GC events", Command: record}

func judgeStarved(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	v := check.Verdict{Rule: check.TooLittle}
	quota, limited := c.Fact(evidence.FactContainerCPU)
	limits := metrics.QuotaOf(c.Bundle, c.Subject, -1, g.Window)
	heaps := g.gc.Heaps
	switch {
	case !limited && !limits.Periods.Known():
		v.Rule, v.Summary = check.NotRecorded, "whether its cgroup has a CPU quota was not recorded"
		v.Needs = []check.Need{cgroupEvidence}
		return v
	case !limited || !(quota.Number > 0):
		v.Rule, v.Summary = check.Absent, "its cgroup has no CPU quota"
		v.Evidence = append(v.Evidence, c.Figure("gc.all_pauses", "GC pauses", float64(len(g.Pauses)), "count", g.Origin))
		return v
	case !heaps.Known():
		v.Rule, v.Summary = check.NotRecorded, "how many heaps it has was not recorded"
		v.Needs = []check.Need{{What: "GC events", Command: "unstall record PID"}}
		return v
	}
	v.Evidence = append(v.Evidence, c.Figure("gc.heaps", "GC heaps, each with a thread", heaps.Number, "count", heaps.Origin), c.Figure("quota.cpus", "CPU quota", quota.Number, "CPUs", quota.Origin))
	stopped := limits.Share()
	if !math.IsNaN(stopped) {
		v.Evidence = append(v.Evidence, c.Figure("quota.stopped_periods_share", "share of periods that the quota throttled", stopped, "1", quota.Origin))
	}
	part, within := g.throttledIn()
	if !math.IsNaN(part) {
		v.Weigh(part, mostlyPauses)
		v.Evidence = append(v.Evidence, c.Figure("quota.stopped_in_pauses_share", "share of the throttled time that lies in GC pauses", part, "1", quota.Origin))
	}
	if math.IsNaN(stopped) && math.IsNaN(part) {
		v.Rule, v.Summary = check.NotRecorded, "when its CPU quota throttled it was not recorded"
		v.Needs = []check.Need{cgroupEvidence}
		return v
	}
	many := heaps.Number > math.Ceil(quota.Number) && stopped >= check.OftenStopped.Value
	if !many && !(part >= mostlyPauses.Value && part >= byChance.Value*within) {
		if part >= mostlyPauses.Value && within > 0 {
			v.Weigh(part/within, byChance)
		}
		if !math.IsNaN(stopped) && stopped < check.OftenStopped.Value && math.IsNaN(part) {
			v.Weigh(stopped, check.OftenStopped)
		}
		v.Summary = fmt.Sprintf("%s on a quota of %s CPUs, which throttles GC pauses no more than other times", units.Plural(int(heaps.Number), "heap"), units.Num(quota.Number))
		return v
	}
	g.judgePauses(&v, "dotnet.gc-cpu-starved", g.Pauses, "GC pauses", nil)
	if !v.Supported() {
		return v
	}
	v.Title = fmt.Sprintf("Collections use up a quota of %s CPUs: GC pauses last up to %s.", units.Num(quota.Number), units.Time(1e9*g.Pauses.Longest().Seconds()))
	if many {
		v.Title = fmt.Sprintf("%.0f GC threads share a quota of %s CPUs: GC pauses last up to %s.", heaps.Number, units.Num(quota.Number), units.Time(1e9*g.Pauses.Longest().Seconds()))
		v.Fix = append(v.Fix,
			check.Fix{Text: "use workstation GC: one heap, collected by one thread", Setting: "System.GC.Server=false (DOTNET_gcServer=0)"},
			check.Fix{Text: "or as many heaps as the quota has CPUs", Setting: fmt.Sprintf("System.GC.HeapCount=%.0f (DOTNET_GCHeapCount=%.0f)", math.Ceil(quota.Number), math.Ceil(quota.Number))})
	}
	v.Fix = append(v.Fix,
		check.Fix{Text: "raise the quota: for a few milliseconds a collection needs more CPU than the service does on average"},
		check.Fix{Text: "or reduce GC work: fewer objects that survive a collection, or a larger gen 0 so that collections are rarer", Setting: "DOTNET_GCgen0size=0x4000000 (hexadecimal: 64 MB)"})
	return v
}

// Collections use up the quota if most of its stops lie in pauses, and more than by chance.
var (
	mostlyPauses = check.Threshold{Name: "share of throttled time that lies in GC pauses", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
	byChance = check.Threshold{Name: "how many times as much throttled time lies in GC pauses as by chance", Value: 2, Unit: "times",
		Why: "pauses are some of the time anyway", Source: "arithmetic: half of it is then more than chance (1 − 1/2)"}
	paused = check.Threshold{Name: "share of a step between two readings of cpu.stat from which it counts as a pause", Value: .2, Unit: "1",
		Why: "a reading is coarser than a pause", Source: "judgement: weighs steps in which a pause lies as a whole against those that it only touches"}
)

// throttledIn returns the part of the throttled time that lies in GC pauses, at the resolution of the cpu.stat readings, and
// the part of all time that does; NaN if unknown.
func (g *collector) throttledIn() (part, within float64) {
	stops := metrics.ThrottledQueues(g.c.Bundle, g.c.Subject, g.Window)
	if stops.Span() == 0 {
		return math.NaN(), math.NaN()
	}
	pauses := g.Pauses.Spans()
	var all, in, time, inTime float64
	for i := range len(stops.T) - 1 {
		from, until := stops.T[i], stops.T[i+1]
		if from < g.From || until > g.Until {
			continue
		}
		d := float64(until - from)
		all, time = all+d*stops.V[i], time+d
		if float64(pauses.Within(from, until)) >= paused.Value*d {
			in, inTime = in+d*stops.V[i], inTime+d
		}
	}
	if all == 0 || time == 0 {
		return math.NaN(), math.NaN()
	}
	return in / all, inTime / time
}
