package golang

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// GCRate is a collector that runs often because the heap it manages is small,
// while memory lies idle.
var GCRate = check.Check{
	ID:    "go.gc-rate",
	Title: "GC runs often because the heap is small",
	Step:  check.StepCollector,
	Doc: `Go starts a GC cycle when the heap has grown by GOGC percent (100: doubled) over what
was live after the last one. A service with a small live heap and much garbage per
request therefore runs GC all the time, however much memory is free. Each cycle marks
the whole live heap again.

What it costs requests is not the stop-the-world pauses: they are well below a
millisecond. It is CPU: mark workers take a quarter of the CPUs for as long as a cycle
lasts, and idle CPUs too; requests wait for a CPU, run slower, and those that allocate
must help to mark (mark assist) before they get memory. All three are counted.

How to tell it from similar problems: a memory limit that is too tight makes GC run
often too, but then the heap goal follows the limit, not the live heap
(go.memory-limit-thrash). On a host that does not run the process's threads every phase
looks long, marking included (linux.cpu-saturation); then this cause is not reported.

What helps: let the heap grow more before a cycle starts. Since Go 1.19: GOMEMLIMIT with
GOGC=off or a high GOGC; before: a ballast, a large allocation that is never touched.
Fewer cycles mark less; the memory between the live heap and the goal fills with garbage
and becomes resident. Twice the headroom halves the cycles: the gain per MiB falls
quickly, so the advice is the knee of that curve, not all the total memory: the least
from which another doubling of the headroom would save less than 5 % of what GC costs
now and of the p99 that can be gained (unstall predict shows the whole curve). Where the
live heap may grow by half before a limit makes GC take a quarter of the CPUs, the
advice is a limit; else it is GOGC, or more memory. What does not help: tuning pauses,
more goroutines, runtime.GC().`,
	Least: fmt.Sprintf("a GC cycle per second that marks %v of the time, or marking for half of the time, and %v of slow time; without requests, 5 cycles and %v of all CPUs, or %v of a CPU profile, or %v of the CPUs since the start (GCCPUFraction)",
		marking, check.Material, burningProcs, burning, burningProcs),
	Thresholds: []check.Threshold{backToBack, burning, burningProcs, frequent, hurting, leastCounted, leastCycles, marking, mostDenied, roomy, sparing, check.Arguable,
		check.FullCPUs, check.HostFull, check.Material, check.MinRequests, check.MostOfSlow, check.NearlyFull, check.NoticeableCall,
		check.OftenStopped, check.SlowShare, check.SomeSlow, check.Starved},

	Needs:   "GC cycles: an execution trace, or a log with GODEBUG=gctrace=1",
	Applies: isGo,
	Judge:   judgeGCRate,
}

// A collector is worth slowing down if it runs at least once a second and marks for a twentieth of the time: below, fewer than
// one request in twenty can meet it. One that runs back to back is, too, however long its cycles take.
var (
	frequent = check.Threshold{Name: "GC cycles from which they are frequent", Value: 1.0, Unit: "1/s",
		Why: "below, fewer than one request in twenty meets one that marks for 5 % of the time", Source: "arithmetic: at 5 % of the time for marking, a cycle a second marks for 50 ms"}
	marking = check.Threshold{Name: "share of the time that marking takes", Value: .05, Unit: "1",
		Why: "below, fewer than one request in twenty meets it", Source: "PASTA (R. Wolff, Operations Research 30, 1982): one request in twenty meets it: the p95"}
)

// The collector's CPU time decides where no requests show its cost. Marking is designed to take a quarter of the processors
// while it lasts (gcBackgroundUtilization in https://go.dev/src/runtime/mgcpacer.go), so that a quarter of all CPU time is
// marking nearly all the time. A tenth is bearable, in our opinion. Where some processors are idle, less than a quarter of all
// of them has the same meaning.
var (
	burning = check.Threshold{Name: "share of the process's CPU time in GC, by a profile", Value: .25, Unit: "1",
		Why: "marking takes a quarter of the CPUs: so much of all CPU time is marking nearly all the time", Source: "gcBackgroundUtilization in https://go.dev/src/runtime/mgcpacer.go"}
	sparing = check.Threshold{Name: "share of the process's CPU time in GC below which it burns little", Value: .1, Unit: "1",
		Why: "a tenth is bearable", Source: "arithmetic: at 25 % of the CPUs (gcBackgroundUtilization in https://go.dev/src/runtime/mgcpacer.go) marking takes 40 % of the time"}
	burningProcs = check.Threshold{Name: "share of all CPUs that GC takes, where no requests tell its cost", Value: .15, Unit: "1",
		Why: "where CPUs are idle in part, less than a quarter says as much", Source: "arithmetic: at 25 % of the CPUs (gcBackgroundUtilization in https://go.dev/src/runtime/mgcpacer.go) marking takes 60 % of the time"}
)

var leastCycles = check.Threshold{Name: "GC cycles from which their rate is known", Value: 5, Unit: "count",
	Why: "of five it is known within a half", Source: "Poisson error: 1/√5"}

var hurting = check.Threshold{Name: "how many times as long requests take that meet a GC cycle", Value: 2, Unit: "times",
	Why: "those that take long meet more of everything", Source: "arithmetic: half of the time of such requests is then what the others do not have"}

var leastCounted = check.Threshold{Name: "time for which the runtime's counter of cycles was watched", Value: 1e9, Unit: "ns",
	Why: "a rate of once per second needs a second", Source: "arithmetic: once a second is one in a second"}

func judgeGCRate(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		if v, ok := judgeGCCounter(c); ok && !v.LeftOpen() {
			return v
		}
		if v, ok := judgeGCFraction(c); ok {
			return v
		}
		if v, ok := judgeGCProfile(c); ok {
			return v
		}
		if v, ok := judgeGCCounter(c); ok {
			return v
		}
		return check.Verdict{Rule: check.NotRecorded, Summary: "no GC cycles were recorded",
			Needs: []check.Need{gcTrace, {What: "or an execution trace", Command: platform.GoTrace}}}
	}
	return g.orBackToBack(c, judgeGCRateOf(c, g), judgeGCRateOf)
}

// judgeGCRateOf judges a collector, or a stretch of it.
func judgeGCRateOf(c *check.Case, g *collector) check.Verdict {
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("%s GC cycles/s, marking %s of the time", units.Num(g.Rate.Number), units.Percent(g.Marking.Number))}
	g.weighBusy(&v)
	v.Weigh(g.Marking.Number, marking)
	v.Evidence = append(v.Evidence,
		c.Figure("gc.cycles_per_s", "GC cycles, without forced ones", g.Rate.Number, "1/s", g.Origin),
		c.Figure("gc.marking_share", "share of the time in which GC was marking", g.Marking.Number, "1", g.Origin))
	if forced := askedFor(g); forced > 0 {
		v.Evidence = append(v.Evidence, c.Figure("gc.forced_cycles", "GC cycles requested by the program", float64(forced), "count", g.Origin))
		v.Summary = fmt.Sprintf("%s GC cycles/s without the %d requested ones, marking %s of the time", units.Num(g.Rate.Number), forced, units.Percent(g.Marking.Number))
	}
	if !g.isBusy() || g.Marking.Number < marking.Value {
		return v
	}
	if limited, known := g.Limited(); known && limited && g.Live.Known() && !(g.Goal.Number >= roomy.Value*g.Live.Number) {
		v.Rule = check.Explained
		v.Summary = "GC runs often, but because of a memory limit"
		return v
	}
	share, profile, profiled := profileShare(c)
	if profiled {
		v.Evidence = append(v.Evidence, c.Figure("gc.cpu_share", "share of the process's CPU time used by GC", share, "1", profile))
	}
	if c.Traced() {
		return judgeGCRateByRequests(c, g, v, share)
	}
	met := g.Meetings()
	if met != nil {
		v.Evidence = append(v.Evidence,
			c.Figure("requests.mean_during_gc_ms", "mean latency of "+units.Plural(met.Overlap, "request")+" that ran during a GC cycle", met.MeanOverlap/1e6, "ms", check.From(c.Ledger.StatesFrom())),
			c.Figure("requests.mean_without_gc_ms", "mean latency of "+units.Plural(met.Free, "request")+" that ran without one", met.MeanFree/1e6, "ms", check.From(c.Ledger.StatesFrom())))
	}
	if share, origin, ok := c.LongRuns(); ok && share >= check.Starved.Value {
		return starvedVerdict(c, v, share, origin)
	}
	// Without requests, CPU time decides.
	v.Weight = g.Stopped.Number + g.Assist.Number + g.Background.Number
	cores := g.Assist.Number + g.Background.Number
	if g.Processors.Known() {
		v.Evidence = append(v.Evidence, c.Figure("gc.all_cpus_share", "share of all CPU time used by mark assists and mark workers", cores/g.Processors.Number, "1", g.Origin))
	}
	switch {
	case profiled:
		v.Weigh(share, burning)
	case g.Processors.Known():
		v.Weigh(cores/g.Processors.Number, burningProcs)
	}
	switch {
	case met != nil && c.Slow() && met.MeanOverlap >= hurting.Value*met.MeanFree && float64(met.Total()) >= check.Material.Value*float64(c.Ledger.Total):
		v.Rule = check.Matters
		v.Title = g.formatOften() + " because the heap is too small."
		v.Summary = fmt.Sprintf("requests during a GC cycle take %s × as long", units.Num(met.MeanOverlap/met.MeanFree))
		// Meeting a cycle does not prove that the collector is the reason: a bound.
		v.Saves = c.Bound(float64(met.Total()), 0, float64(met.Total()))
		g.adviseHeap(c, &v, nil)
		v.Needs = []check.Need{{What: "an execution trace, which shows exactly where that time goes", Command: platform.GoTrace}}
	case len(g.Cycles) < leastCycles.Int():
		if since, ok := judgeGCFraction(c); ok && since.Supported() {
			return since
		}
		v.Rule = check.TooFew
		v.Counted(float64(len(g.Cycles)), leastCycles)
		v.Summary = fmt.Sprintf("only %s: too few to tell how often GC runs", units.Plural(len(g.Cycles), "GC cycle"))
		v.Needs = []check.Need{gcTrace}
	case profiled && share >= burning.Value || !profiled && g.Processors.Known() && cores/g.Processors.Number >= burningProcs.Value:
		v.Rule = check.Matters
		v.Title = g.formatOften() + " because the heap is too small."
		if profiled {
			v.Title = fmt.Sprintf("%s and uses %s of the process's CPU time because the heap is too small.", g.formatOften(), units.Percent(share))
		}
		v.Summary = fmt.Sprintf("%s GC cycles/s, marking %s of the time", units.Num(g.Rate.Number), units.Percent(g.Marking.Number))
		g.adviseHeap(c, &v, nil)
		v.Needs = []check.Need{{What: "what it costs requests: add an access log from the same period, or an execution trace"}}
	case profiled && share < sparing.Value:
		v.Summary = fmt.Sprintf("%s GC cycles/s, but only %s of the process's CPU time", units.Num(g.Rate.Number), units.Percent(share))
	default:
		v.Rule = check.CostUnknown
		v.Summary = fmt.Sprintf("%s GC cycles/s, but no requests to show what they cost", units.Num(g.Rate.Number))
		v.Needs = []check.Need{{What: "what it costs requests: an execution trace", Command: platform.GoTrace}}
	}
	return v
}

// askedFor returns the number of cycles that the program asked for.
func askedFor(g *collector) (n int) {
	for _, x := range g.Cycles {
		if x.Forced {
			n++
		}
	}
	return n
}

// judgeGCCounter judges by the runtime's count of cycles, where no cycle itself was watched.
func judgeGCCounter(c *check.Case) (v check.Verdict, ok bool) {
	var count *metrics.Curve // of several, the one that goes on for longest
	for i := range c.Bundle.Series {
		if s := &c.Bundle.Series[i]; s.Subject == c.Subject && s.Name == evidence.SeriesGoCycles && len(s.T) > 1 && (count == nil || s.T[len(s.T)-1] > count.Window().Until) {
			count = &metrics.Curve{T: s.T, V: s.V, Origin: s.Origin}
		}
	}
	if count == nil {
		return v, false
	}
	var from int64 // the runtime's counters cover more than the recording
	for _, w := range c.Bundle.Covered(c.Subject, evidence.CoverHeap) {
		if from == 0 || w.From < from {
			from = w.From
		}
	}
	from = max(from, count.T[0]) // the runtime remembers the last 256 cycles
	watched := count.Window().Until - from
	rate := count.Growth(from) / (float64(watched) / 1e9)
	if watched < leastCounted.Int64() || math.IsNaN(rate) {
		return v, false
	}
	v = check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("%s GC cycles/s", units.Num(rate))}
	v.Weigh(rate, frequent)
	v.Evidence = append([]check.Evidence{c.Figure("gc.counted_cycles_per_s", "GC cycles, counted by the runtime", rate, "1/s", count.Origin)}, heapSettings(c)...)
	if rate < frequent.Value {
		return v, true
	}
	share, profile, profiled := profileShare(c)
	if profiled {
		v.Evidence = append(v.Evidence, c.Figure("gc.cpu_share", "share of the process's CPU time used by GC", share, "1", profile))
	}
	switch {
	case profiled && share < sparing.Value:
		v.Weigh(share, sparing)
		v.Summary += fmt.Sprintf(", but only %s of the process's CPU time", units.Percent(share))
	case profiled && share >= burning.Value:
		v.Weigh(share, burning)
		v.Rule = check.Matters
		v.Title = fmt.Sprintf("GC runs %s times per second and uses %s of the process's CPU time because the heap is too small.", units.Num(rate), units.Percent(share))
		v.Fix = append(v.Fix, check.Fix{Text: "let the heap grow before a cycle starts: GOMEMLIMIT since Go 1.19, a ballast before"})
		v.Needs = []check.Need{{What: "how large the heap should be, and what GC costs requests: an execution trace", Command: platform.GoTrace}}
	default:
		v.Rule = check.CostUnknown
		v.Summary += ", but what they cost was not recorded"
		v.Needs = []check.Need{{What: "what they cost: an execution trace (unstall record takes one, unless --passive)", Command: platform.GoTrace}}
	}
	return v, true
}

// starvedVerdict returns the verdict where the host did not run the process all the time: the
// collector's time on CPUs then does not measure what it cost.
func starvedVerdict(c *check.Case, v check.Verdict, share float64, origin evidence.Origin) check.Verdict {
	v.Rule = check.Withheld
	v.Summary = "the host did not run the process all the time, so the cost of GC is unknown"
	v.Evidence = append(v.Evidence, c.Figure("host.long_runs_share", "share of run time in stretches longer than the scheduler allows", share, "1", origin))
	v.Needs = []check.Need{{What: "the same recording while the host has free CPUs"}}
	return v
}

var mostDenied = check.Threshold{Name: "share of run time that the host withheld, for the rest to speak", Value: .5, Unit: "1",
	Why: "more than half was not", Source: "arithmetic: half"}

// judgeGCRateByRequests judges by what GC cost requests whose states are known. Profile is its
// part of the process's CPU time, 0 if unknown.
func judgeGCRateByRequests(c *check.Case, g *collector, v check.Verdict, profile float64) check.Verdict {
	l := c.Ledger
	b := g.Bill()
	total := float64(max(l.Total, 1))
	v.Evidence = append(v.Evidence,
		c.Figure("requests.mean_during_gc_ms", "mean latency of "+units.Plural(b.Overlap, "request")+" that ran during a GC cycle", b.MeanOverlap/1e6, "ms", g.Origin),
		c.Figure("requests.mean_without_gc_ms", "mean latency of "+units.Plural(b.Free, "request")+" that ran without one", b.MeanFree/1e6, "ms", g.Origin),
		c.Figure("slow.gc_ms", "slow time: GC itself (mark assists, waiting for a CPU, pauses)", float64(b.Direct)/1e6, "ms", g.Origin),
		c.Figure("slow.behind_gc_ms", "slow time: waiting behind other requests that GC delayed", float64(b.KnockOn)/1e6, "ms", g.Origin),
		c.Figure("slow.slower_in_gc_ms", "slow time: running slower while GC marks", float64(b.Slower)/1e6, "ms", g.Origin),
		c.Figure("gc.paused_ms", "stop-the-world pauses of GC, in total", 1e3*g.Pauses.Seconds(), "ms", g.Origin))
	if p := b.Behind; p != nil {
		v.Evidence = append(v.Evidence,
			c.Figure("slow.pool_held_by_gc_ms", fmt.Sprintf("slow time: waiting for the %s, whose slots GC kept occupied longer (replay of %s, which gives %s of the %s that requests waited for it, and %s without GC)",
				p.Name, units.Plural(p.Places, "place"), units.Time(float64(p.Replayed)), units.Time(float64(p.Observed)), units.Time(float64(p.Without))), float64(b.Pool)/1e6, "ms", g.Origin),
			c.Figure("pool.held_by_gc_share", "share of the holding time in which the holders waited for GC", p.Part, "1", g.Origin))
	}
	share := float64(b.Total()) / total
	v.Summary = check.OfSlow(share)
	v.Weigh(share, check.Material)
	crowded := func() bool { return crowdsCPUs(c, b, profile) }
	switch weight := c.Matters(share, &terms); {
	case l.Host.Starved():
		if float64(b.Direct)/total < check.Material.Value {
			v.Rule = check.Explained
			v.Summary += ", on a host that did not run the process all the time"
			return v
		}
		if h := &l.Host; c.Slow() && h.Measured && h.Denied < mostDenied.Value && profile >= burning.Value {
			// The host's part is known and taken out of each figure. CPU time itself, which a profile samples,
			// does not grow on a busy host.
			v.Rule = check.Matters
			v.Title = g.formatOften() + " because the heap is too small."
			v.Evidence = append(v.Evidence, c.Figure("host.withheld_share", "share of its run time in which the host did not run the process; not counted above", h.Denied, "1", g.Origin))
			v.Saves = c.SaveMechanism(ledger.MarkAssist, ledger.CollectorCPU, ledger.StopTheWorld)
			g.adviseHeap(c, &v, nil)
			return v
		}
		v.Rule = check.Withheld
		v.Summary = "the host did not run the process all the time, so the cost of GC is unknown"
		v.Needs = []check.Need{{What: "the same recording on a host with free CPUs, or with /proc of the host"}}
		return v
	case weight == check.OnTheEdge && !crowded() && !c.Full():
		v.Rule, v.Needs = check.OnTheEdge, []check.Need{{What: "a longer recording under load", Command: platform.GoTrace}}
		v.Summary += ", just below the threshold"
		return v
	case weight != check.Matters && !(c.Slow() && crowded()):
		v.Rule = c.Cleared(share)
		return v
	case c.Full():
		v.Rule = check.Explained
		v.Summary += ", but the service's own work fills the CPUs: requests queue for CPUs, with or without GC"
		return v
	case c.Stopped() >= check.OftenStopped.Value:
		v.Rule = check.Withheld
		v.Summary += fmt.Sprintf(", while a CPU quota throttled the process in %s of its periods", units.Percent(c.Stopped()))
		v.Needs = []check.Need{{What: "the same recording with a higher CPU quota"}}
		return v
	}
	v.Rule = check.Matters
	v.Title = g.formatOften() + " because the heap is too small."
	v.Saves = c.Save(b.Slow, b.Direct, min(max(b.InMark, b.Total()), l.Total))
	g.adviseHeap(c, &v, b)
	return v
}

// crowding are waits for processors to which a collector with much CPU time contributes, whichever work held the processor at
// that moment.
var crowding = []ledger.Mechanism{ledger.CollectorCPU, ledger.MarkAssist, ledger.StopTheWorld, ledger.RequestsCPU, ledger.BackgroundCPU}

// crowdsCPUs says whether GC burns so much CPU (profile, its share of the process's) that slow
// requests wait for CPUs because of it, though each single wait is behind something else: such
// waits are a quarter of slow time, and requests that meet a cycle take far longer than others.
func crowdsCPUs(c *check.Case, b *goheap.Bill, profile float64) bool {
	return profile >= burning.Value && c.Share(crowding...) >= check.Material.Value && b.MeanOverlap >= hurting.Value*b.MeanFree && c.UserVisible(check.NoticeableCall)
}

// heapSettings returns the heap settings of the process, where its environment could be read.
func heapSettings(c *check.Case) (out []check.Evidence) {
	for _, key := range []string{evidence.FactGOGC, evidence.FactGOMEMLIMIT} {
		if f, ok := c.Fact(key); ok {
			out = append(out, c.Seen(key+"="+f.Value, f.Origin))
		}
	}
	return out
}

// judgeGCFraction judges by GC's share of the available CPU time since the process started, as
// runtime.MemStats reports it: that shows neither what requests wait for nor the present rate.
func judgeGCFraction(c *check.Case) (v check.Verdict, ok bool) {
	number, origin := 0., evidence.Origin(0)
	if s := c.Series(evidence.SeriesGoCPUFraction); s != nil {
		number, origin = s.V[len(s.V)-1], s.Origin
	} else if f, ok := c.Fact(evidence.FactGCCPUFraction); ok {
		number, origin = f.Number, f.Origin
	}
	if !(number > 0) {
		return v, false
	}
	v = check.Verdict{Rule: check.NotRecorded, Summary: fmt.Sprintf("GC had %s of the CPUs since the process began", units.Percent(number)), Needs: []check.Need{gcTrace}}
	v.Evidence = append(v.Evidence, c.Figure("gc.since_start_share", "share of the available CPU time that GC had since the start (GCCPUFraction)", number, "1", origin))
	v.Weigh(number, burningProcs)
	if number < burningProcs.Value {
		return v, true
	}
	v.Rule, v.Weight = check.Matters, number
	v.Title = fmt.Sprintf("GC used %s of the available CPU time since the process began, probably because the heap is too small.", units.Percent(number))
	v.Fix = append(v.Fix, check.Fix{Text: "let the heap grow before a cycle starts: raise GOMEMLIMIT (or debug.SetMemoryLimit) if it is set, else set it with a higher GOGC; before Go 1.19 a ballast"})
	return v, true
}
