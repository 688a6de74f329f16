package golang

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// ForcedGC is a program that asks for GC cycles.
var ForcedGC = check.Check{
	ID:    "go.forced-gc",
	Title: "the program requests GC cycles (runtime.GC, debug.FreeOSMemory)",
	Step:  check.StepCollector,
	Doc: `runtime.GC and debug.FreeOSMemory start a GC cycle at once, whatever the heap has grown
by, and return when it has ended. The cycle marks the whole live heap: mark workers take a
quarter of the CPUs for as long as it lasts, and idle CPUs too; requests wait for a CPU and
run slower. The caller waits for all of it and also sweeps the heap. FreeOSMemory then
returns all free memory to the host, so that the next requests meet page faults on memory
that they had before.

Programs call it from timers ("give memory back"), after large jobs, before they measure
their memory, and in request handlers. A cycle that the runtime starts after two minutes
without one is not counted here.

How to tell it from similar problems: gctrace marks these cycles "(forced)", a trace has
the caller's stack, as have samples of the kernel's CPU clock while the caller sweeps, and
MemStats.NumForcedGC counts them. Cycles that the pacer starts
belong to go.gc-rate and go.memory-limit-thrash: there a larger heap helps, here it does
not.

What helps: remove the call. The runtime returns free memory in the background by itself;
to keep the process below a limit, set GOMEMLIMIT (since Go 1.19). After a rare, large job
one call may be worth it, outside of requests. What does not help: GOGC, a ballast, a
larger limit.`,
	Least: fmt.Sprintf("2 requested cycles, and %v of slow time while they mark or waiting for them; without requests, 5 requested cycles that mark 5 %% of the time and take 5 %% of all CPUs, or GC with %v of a CPU profile; without cycles, such calls in the samples of 5 seconds, and GC with %v of all of them",
		check.Material, sparing, burning),
	Thresholds: []check.Threshold{burning, burningProcs, fewForced, hurting, leastCounted, leastCycles, limping, marking, sparing, check.Arguable, check.Material,
		check.MinRequests, check.MostOfSlow, check.NoticeableCall, check.SlowShare, check.SomeSlow, check.Starved},

	Needs:   "GC cycles: an execution trace, or a log with GODEBUG=gctrace=1",
	Applies: isGo,
	Judge:   judgeForced,
}

var fewForced = check.Threshold{Name: "requested GC cycles", Value: 2, Unit: "count",
	Why: "one alone may be by chance", Source: "arithmetic: the least number that repeats itself"}

func judgeForced(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		if v, ok := judgeForcedProfile(c); ok {
			return v
		}
		return judgeForcedCounter(c)
	}
	v := check.Verdict{Rule: check.TooLittle, Summary: "the program requested no GC cycles"}
	forced := slices.DeleteFunc(slices.Clone(g.Cycles), func(x metrics.Cycle) bool { return !x.Forced })
	if len(forced) == 0 {
		v.Rule = check.Absent
		return g.unlessMissing(v)
	}
	mark, work := math.NaN(), 0.
	for _, x := range forced {
		if x.Mark > 0 { // the end of the first or the last may not have been recorded
			mark = x.Mark/1e9 + stats.ZeroIfNaN(mark)
		}
		for _, on := range []float64{x.Assist, x.Background, x.Idle} {
			if on > 0 {
				work += on / 1e9
			}
		}
	}
	rate, marked := float64(len(forced))/max(g.Span, 1e-9), mark/max(g.Span, 1e-9)
	v.Evidence = append(v.Evidence,
		c.Figure("gc.forced_cycles", "GC cycles requested by the program", float64(len(forced)), "count", g.Origin),
		c.Figure("gc.forced_cycles_per_s", "GC cycles requested by the program", rate, "1/s", g.Origin),
		c.Figure("gc.forced_marking_share", "share of the time in which requested GC cycles were marking", marked, "1", g.Origin))
	v.Summary = units.Plural(len(forced), "GC cycle") + " requested"
	if !math.IsNaN(marked) {
		v.Summary += fmt.Sprintf(", marking %s of the time", units.Percent(marked))
	}
	v.Weigh(float64(len(forced)), fewForced)
	v.Weigh(marked, marking)
	v.Weight = work / max(g.Span, 1e-9)
	share, profile, profiled := profileShare(c)
	if profiled {
		v.Evidence = append(v.Evidence, c.Figure("gc.cpu_share", "share of the process's CPU time used by GC", share, "1", profile))
	}
	site := g.findAsker(c, forced)
	switch {
	case c.Traced():
		g.judgeForcedByRequests(c, &v, forced, share)
	case len(forced) < leastCycles.Int():
		v.Rule = check.TooFew
		v.Counted(float64(len(forced)), leastCycles)
		v.Needs = []check.Need{gcTrace, {What: "or an execution trace", Command: platform.GoTrace}}
	case marked < marking.Value:
	default:
		if long, origin, ok := c.LongRuns(); ok && long >= check.Starved.Value {
			return starvedVerdict(c, v, long, origin)
		}
		g.judgeForcedByCPU(c, &v, work, share, profiled)
	}
	v = g.unlessMissing(v)
	if !v.Supported() {
		return v
	}
	who := cmp.Or(site.Function, "The program")
	marks := "."
	if !math.IsNaN(marked) {
		marks = fmt.Sprintf("; these cycles mark %s of the time.", units.Percent(marked))
	}
	v.Title = fmt.Sprintf("%s requests a GC cycle %s times per second%s", who, units.Num(rate), marks)
	if site.Callee != "" {
		v.Title = fmt.Sprintf("%s requests a GC cycle %s times per second (%s)%s", who, units.Num(rate), site.Callee, marks)
		v.Evidence = append(v.Evidence, c.Seen(fmt.Sprintf("most of them requested by %s, which calls %s", site, site.Callee), g.Origin))
	}
	if g.Live.Known() {
		v.Evidence = append(v.Evidence, c.Figure("heap.live_bytes", "live heap", g.Live.Number, "bytes", g.Origin))
	}
	code := ""
	if site.Function != "" {
		code = site.String()
	}
	v.Fix = append(v.Fix, check.Fix{Text: "remove the call: GC starts a cycle when the heap has grown, and returns free memory to the host in the background", Code: code},
		check.Fix{Text: "if memory must stay below a limit, set it (Go 1.19 or later) instead of collecting by hand: GOMEMLIMIT"})
	v.Explains = func(p *ledger.Place) bool { return p.Wait.Kind == evidence.ForcedCycle }
	return v
}

// findAsker finds where the program asks for most of the forced cycles, as far as a trace shows
// it.
func (g *collector) findAsker(c *check.Case, forced []metrics.Cycle) (most check.Site) {
	times := make(map[check.Site]int)
	for _, x := range forced {
		if s := c.SiteOf(c.Bundle.Intervals.Stack.At(x.Row)); s.Function != "" || s.Callee != "" {
			if times[s]++; times[s] > times[most] {
				most = s
			}
		}
	}
	return most
}

// judgeForcedByRequests judges by what the cycles cost requests whose states are known: those that
// wait for a cycle they asked for, and all that run while one marks. Profile is GC's part of the
// process's CPU time, 0 if unknown.
func (g *collector) judgeForcedByRequests(c *check.Case, v *check.Verdict, forced []metrics.Cycle, profile float64) {
	l := c.Ledger
	b := g.BillOf(forced)
	per := slices.Clone(b.Slow)
	var waited int64
	for _, p := range c.Places() {
		if p.Wait.Kind != evidence.ForcedCycle {
			continue
		}
		for n, ns := range p.Per {
			add := min(ns, max(0, c.Bundle.Requests.Latency(l.Slow[n])-per[n]))
			per[n] += add
			waited += add
		}
	}
	total := float64(max(l.Total, 1))
	share := (float64(b.Total()) + float64(waited)) / total
	v.Evidence = append(v.Evidence,
		c.Figure("requests.mean_during_gc_ms", "mean latency of "+units.Plural(b.Overlap, "request")+" that ran during a GC cycle", b.MeanOverlap/1e6, "ms", g.Origin),
		c.Figure("requests.mean_without_gc_ms", "mean latency of "+units.Plural(b.Free, "request")+" that ran without one", b.MeanFree/1e6, "ms", g.Origin),
		c.Figure("slow.gc_ms", "slow time: GC itself (mark assists, waiting for a CPU, pauses)", float64(b.Direct)/1e6, "ms", g.Origin),
		c.Figure("slow.behind_gc_ms", "slow time: waiting behind other requests that GC delayed", float64(b.KnockOn)/1e6, "ms", g.Origin),
		c.Figure("slow.slower_in_gc_ms", "slow time: running slower while GC marks", float64(b.Slower)/1e6, "ms", g.Origin))
	if waited > 0 {
		v.Evidence = append(v.Evidence, c.Figure("slow.forced_gc_wait_ms", "slow time: waiting for a GC cycle that the request itself asked for", float64(waited)/1e6, "ms", g.Origin))
	}
	v.Summary = check.OfSlow(share)
	v.Weigh(share, check.Material)
	crowded := func() bool { return 2*len(forced) >= len(g.Cycles) && crowdsCPUs(c, b, profile) }
	switch weight := c.Matters(share, &terms); {
	case len(forced) < fewForced.Int():
		v.Summary = "only one GC cycle was requested"
	case weight == check.NotSlow:
		v.Rule = check.NotSlow
		v.Summary = fmt.Sprintf("%s requested, but almost no requests are slow", units.Plural(len(forced), "GC cycle"))
	case l.Host.Starved() && float64(b.Direct+waited)/total < check.Material.Value:
		v.Rule = check.Explained
		v.Summary += ", on a host that did not run the process all the time"
	case weight == check.Matters || crowded():
		v.Rule = check.Matters
		v.Saves = c.Save(per, b.Direct+waited, min(max(b.InMark, b.Total())+waited, l.Total))
		at := make(map[int]int64, len(per))
		for n, row := range l.Slow {
			at[row] = per[n]
		}
		v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return at[row] }))
	case weight == check.OnTheEdge:
		v.Summary += ", just below the threshold"
		v.Rule, v.Needs = check.OnTheEdge, []check.Need{{What: "a longer recording under load", Command: platform.GoTrace}}
	default:
		v.Rule = c.Cleared(share)
	}
}

// judgeForcedByCPU judges by the CPU time of the cycles, where requests do not show what they
// cost. Work is in CPU seconds.
func (g *collector) judgeForcedByCPU(c *check.Case, v *check.Verdict, work, profile float64, profiled bool) {
	burnt := 0.
	if g.Processors.Known() {
		burnt = work / max(g.Span, 1e-9) / g.Processors.Number
		v.Evidence = append(v.Evidence, c.Figure("gc.all_cpus_share", "share of all CPU time used by mark assists and mark workers", burnt, "1", g.Origin))
	}
	switch {
	case profiled:
		v.Weigh(profile, sparing)
	case g.Processors.Known():
		v.Weigh(burnt, limping)
	}
	switch met := g.Meetings(); {
	case c.Ledger != nil && len(c.Ledger.Rows) >= ledger.MinRequests && !c.Slow():
		v.Rule = check.NotSlow
		v.Summary += ", but almost no requests are slow"
	case met != nil && c.Slow() && met.MeanOverlap >= hurting.Value*met.MeanFree && float64(met.Total()) >= check.Material.Value*float64(c.Ledger.Total):
		v.Rule = check.Matters
		v.Summary = fmt.Sprintf("requests during a GC cycle take %s × as long", units.Num(met.MeanOverlap/met.MeanFree))
		v.Saves = c.Bound(float64(met.Total()), 0, float64(met.Total()))
	case !profiled && burnt >= limping.Value, profiled && profile >= sparing.Value:
		v.Rule = check.Matters
		v.Needs = append(v.Needs, check.Need{What: "what it costs requests, and the caller: an execution trace", Command: platform.GoTrace})
	case profiled, g.Processors.Known():
		v.Summary += ", which takes little CPU time"
	default:
		v.Rule = check.CostUnknown
		v.Needs = []check.Need{{What: "what it costs requests: an execution trace", Command: platform.GoTrace}}
	}
}

// judgeForcedCounter judges by the runtime's count of requested cycles, where no cycle was
// watched.
func judgeForcedCounter(c *check.Case) check.Verdict {
	v := check.Verdict{Rule: check.NotRecorded, Summary: "no GC cycles were recorded",
		Needs: []check.Need{gcTrace, {What: "or an execution trace", Command: platform.GoTrace}}}
	count := c.Series(evidence.SeriesGoForced)
	if count == nil || len(count.T) < 2 || count.T[len(count.T)-1]-count.T[0] < leastCounted.Int64() {
		return v
	}
	n := (&metrics.Curve{T: count.T, V: count.V}).Growth(count.T[0])
	if math.IsNaN(n) {
		return v
	}
	rate := n / (float64(count.T[len(count.T)-1]-count.T[0]) / 1e9)
	v.Evidence = append(v.Evidence, c.Figure("gc.forced_cycles_per_s", "GC cycles requested by the program, counted by the runtime", rate, "1/s", count.Origin))
	if n <= 0 {
		v.Rule, v.Needs, v.Summary = check.Absent, nil, "the program requested no GC cycles"
		return v
	}
	v.Summary = fmt.Sprintf("%s GC cycles/s requested by the program; what they cost was not recorded", units.Num(rate))
	return v
}

// unlessMissing makes a verdict inconclusive that rules out by a log which lacks most of the
// cycles.
func (g *collector) unlessMissing(v check.Verdict) check.Verdict {
	if v.RuledOut() && g.Marking.Known() && !g.Marking.MostlyKnown() {
		v.Rule = check.Unseen
		v.Summary = fmt.Sprintf("%.0f GC cycles are not in the log, as their numbers show: those that are there cannot speak for the rest", g.Missing)
		v.Needs = []check.Need{{What: "all GC lines of the log: a part of them was cut or sampled away", Command: gcTrace.Command}}
	}
	return v
}
