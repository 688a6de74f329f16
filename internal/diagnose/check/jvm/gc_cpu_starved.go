package jvm

import (
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// GCStarved is collections whose threads the host does not run.
var GCStarved = check.Check{
	ID:    "jvm.gc-cpu-starved",
	Title: "GC threads do not get enough CPU",
	Step:  check.StepProcessors,
	Doc: `During a stop-the-world pause only the GC threads run, each on a CPU of its own: their
CPU time together (user + sys) is then about the wall time (real) times their number.
Where wall time is far above CPU time ÷ threads, they did not get the CPUs: the
container's CPU quota was used up (GC threads use it up faster than anything else:
ParallelGCThreads on a 32-core host with a quota of 2 spend the period's share in a few
ms, and the rest of the period is the pause), other processes or virtual machines use
the CPUs. Pauses are then long though little is copied.

unstall compares collections within the log: the 90th percentile of CPU ÷ wall is the
number of CPUs that collections can use. Collections with less than half of that, or
less than half a CPU, are starved. Their loss is the wall time beyond what the same work
takes at that number of CPUs.

How to tell it from similar problems: pages read from swap, or a log on a slow disk,
keep threads waiting without CPU as well: then the host's CPUs are idle, no quota
throttles the process, and there are major page faults (jvm.gc-kernel-time). A
collection that uses one thread by design (Serial, a full collection of CMS) has CPU
equal to wall time.

What helps: as many GC threads as the quota has CPUs (-XX:ParallelGCThreads,
-XX:ActiveProcessorCount; JDK 8u191 and later see the quota by themselves, earlier ones
see the host), a higher quota, fewer other processes on the host. What does not help:
tuning the heap.`,
	Least: fmt.Sprintf("0.25 s lost in collections of %v or more that had less than half a CPU or half of the CPUs of the best, and 1 %% of the time, or %v of slow time",
		worthStarved, check.Material),
	Thresholds: []check.Threshold{busy, halfOne, leastLost, leastPart, leastWatched, longMinutes, mostFreed, mostOfThem, oftenThrottled, leastPaced, pacePart,
		oldEmpty, oldRoomy, permFull, sameStop, stoppedPart, stoppedSpecial, stoppedYoung, unified, worthKernel, worthStarved, check.ASecond, check.Arguable,
		check.Edge, check.FewPauses, check.FullCPUs, check.FullHost, check.HostFull, check.LeastStopped, check.LongPause, check.Material,
		check.MinRequests, check.MinuteOf, check.MostOfSlow, check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable,
		check.NoticeableCall, check.OftenPaused, check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "a GC log with CPU times; /proc and cpu.stat from the same time",
	Applies: isJVM,
	Judge:   unlessPartial(judgeStarved),
}

var leastLost = check.Threshold{Name: "time lost in collections by lack of CPU", Value: .25, Unit: "s",
	Why: "25 ticks of 10 ms, by which logs count CPU time, are known within a fifth", Source: "Poisson error: 1/√25"}

// Starved collections: those of at least so many ns that had fewer processors than this,
// or than half of what the best of their kind had. The times of logs have a resolution of 10 ms.
var (
	worthStarved = check.Threshold{Name: "length of a collection that counts as short of CPU", Value: 50e6, Unit: "ns",
		Why: "the times of logs have a resolution of 10 ms", Source: "arithmetic: a fifth"}
	halfOne = check.Threshold{Name: "CPUs that a collection had", Value: .5, Unit: "CPUs",
		Why: "one thread alone gets more where CPUs are free", Source: "arithmetic: a thread that never waits has 1; this one waited for a CPU for as long as it ran"}
	pacePart = check.Threshold{Name: "part of the CPUs that the best of its kind had", Value: .5, Unit: "1",
		Why: "collections of a kind differ by less", Source: "arithmetic: the same work took twice as long"}
)

// paceOf is the quantile of the CPUs that pauses of a kind had, which stands for the best.
const paceOf = .9

var leastPaced = check.Threshold{Name: "pauses of a kind that tell how many CPUs the collector can use", Value: 3, Unit: "count",
	Why: "with two, either may be the one that lacked CPUs", Source: "arithmetic: of three the best two agree"}

func judgeStarved(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	if g.Unlogged() {
		return unlogged
	}
	timed, pace := g.timedPauses()
	if len(timed) == 0 && len(g.Pauses) > 0 {
		return g.noCPUTimesVerdict()
	}
	starved := timed.Where(func(x metrics.Pause) bool { return g.isStarved(x, pace) })
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("GC threads got enough CPU in all long collections (up to %s)", ofCPUs(pace.bestPace(timed)))}
	switch long := timed.Where(func(x metrics.Pause) bool { return float64(x.To-x.From) >= worthStarved.Value }); {
	case len(g.Pauses) == 0:
		v.Summary = "no collections"
	case len(long) == 0:
		v.Summary = fmt.Sprintf("no collection took %v", worthStarved)
	}
	if len(starved) == 0 {
		v.Rule = check.Absent
		return v
	}
	var lost float64
	for _, x := range starved {
		lost += max(0, x.Seconds()-g.cpusUsed(x)*x.Seconds()/max(pace[x.Of], 1))
	}
	part := lost / max(starved.Seconds(), 1e-9)
	what := "collections whose GC threads lacked CPU"
	v = check.Verdict{}
	g.judgePart(&v, "jvm.gc-cpu-starved", starved, part, what)
	v.Weigh(lost, leastLost)
	v.Evidence = append(v.Evidence,
		c.Figure("gc.starved_cpus", "CPUs that GC threads got in these collections, on average", g.meanUsed(starved), "CPUs", g.OriginOf(starved[0])),
		c.Figure("gc.best_cpus", "CPUs that GC threads got in the best collections", pace.bestPace(starved), "CPUs", g.Origin),
		c.Figure("gc.starved_time_share", "share of their time lost by lack of CPU", part, "1", g.Origin))
	if !v.Supported() {
		return v
	}
	if lost < leastLost.Value {
		v.Rule, v.Saves, v.Needs = check.TooLittle, nil, nil
		v.Summary = fmt.Sprintf("lack of CPU made %s longer by only %s in total", units.Plural(len(starved), "collection"), units.Time(1e9*lost))
		return v
	}
	g.judgeHost(&v, starved, lost)
	v.Title = g.addWorstToTitle(v.Title, starved)
	return v
}

// isStarved says whether a collection's threads did not run for most of it.
func (g *collector) isStarved(x metrics.Pause, pace paces) bool {
	used := g.cpusUsed(x)
	return float64(x.To-x.From) >= worthStarved.Value && (used < halfOne.Value || used < pacePart.Value*pace[x.Of])
}

// ownPauses returns the pauses whose length the collector causes itself: not the kernel or the
// host, which have causes of their own.
func (g *collector) ownPauses(p metrics.Pauses) metrics.Pauses {
	_, pace := g.timedPauses()
	return p.Where(func(x metrics.Pause) bool { return !g.inKernel(x) && !g.isStarved(x, pace) })
}

// cpusUsed returns how many CPUs the collector's threads had during a pause.
func (g *collector) cpusUsed(x metrics.Pause) float64 {
	return (g.Get(x, evidence.UserCPU) + g.Get(x, evidence.SystemCPU)) / float64(max(1, x.To-x.From))
}

func (g *collector) meanUsed(p metrics.Pauses) float64 {
	user, system, real := g.CPUOf(p)
	return (user + system) / max(real, 1e-9)
}

// timedPauses returns the pauses whose CPU time is known, and how many CPUs each kind of them can
// use.
func (g *collector) timedPauses() (metrics.Pauses, paces) {
	if g.speed == nil {
		g.timed = g.Pauses.Where(func(x metrics.Pause) bool { return !math.IsNaN(g.Get(x, evidence.UserCPU)) })
		g.speed = g.pacesByKind(g.timed)
	}
	return g.timed, g.speed
}

// paces are how many processors each kind of collection can use: one thread makes the full
// collections of CMS, and of G1 before JDK 10, while all make the young ones.
type paces map[evidence.Pause]float64

func (g *collector) pacesByKind(p metrics.Pauses) paces {
	by := make(map[evidence.Pause]metrics.Pauses)
	for _, x := range p {
		by[x.Of] = append(by[x.Of], x)
	}
	out := make(paces)
	for of, all := range by {
		out[of] = g.paceOfKind(all)
	}
	return out
}

// bestPace returns the most CPUs that any kind among the pauses can use.
func (s paces) bestPace(p metrics.Pauses) float64 {
	most := 1.
	for _, x := range p {
		most = max(most, s[x.Of])
	}
	return most
}

// paceOfKind returns how many CPUs collections of a kind can use: the 9th decile of those used by
// pauses long enough to be timed. Among few pauses that is the most of all; a pace that one pause
// alone had says nothing about the others, so the second counts then.
func (g *collector) paceOfKind(p metrics.Pauses) float64 {
	var all []float64
	for _, x := range p {
		if float64(x.To-x.From) >= worthStarved.Value/2 {
			all = append(all, g.cpusUsed(x))
		}
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	pace := max(1, stats.Quantile(all, paceOf))
	if n := len(all); n >= leastPaced.Int() {
		pace = max(1, min(pace, all[n-2]))
	}
	if n := g.cpuCount(); n > 0 {
		pace = min(pace, n)
	}
	return pace
}

// oftenThrottled is the share of its periods from which a quota stops a process often;
// busy the share of the host's processors from which it has none to give.
var (
	oftenThrottled = check.Threshold{Name: "share of its periods from which a quota stops a process often", Value: .05, Unit: "1",
		Why: "a p95 meets a stop", Source: "PASTA (R. Wolff, Operations Research 30, 1982): one request in twenty meets a stop: the p95"}
	busy = check.Threshold{Name: "share of the host's CPUs from which it has none to give", Value: .9, Unit: "1",
		Why: "M/M/1: ρ/(1−ρ) is 9 at 90 %", Source: "M/M/1: ρ/(1−ρ) is 9 at 90 %"}
)

// judgeHost says what used the CPUs, by /proc; where the host had free CPUs, something else kept
// GC threads from running.
func (g *collector) judgeHost(v *check.Verdict, p metrics.Pauses, lost float64) {
	c := g.c
	who := ""
	if q := metrics.QuotaOf(c.Bundle, c.Subject, -1, g.Window); q.Stopped.MostlyKnown() && q.Periods.Number > 0 {
		share := q.Share()
		v.Evidence = append(v.Evidence, c.Figure("quota.stopped_periods_share", "share of periods in which the CPU quota throttled the process", share, "1", q.Stopped.Origin))
		if share >= oftenThrottled.Value {
			who = fmt.Sprintf("a CPU quota throttled the process in %s of its periods", units.Percent(share))
			v.Fix = append(v.Fix, g.quotaFix()...)
		}
	}
	host := metrics.HostOf(c.Bundle, c.Subject, g.Window)
	seen := host.Busy.MostlyKnown()
	if cores := host.CPUs; seen && cores > 0 {
		v.Evidence = append(v.Evidence, c.Figure("host.taken_cpus", fmt.Sprintf("CPUs of the host that were busy or taken by the hypervisor, of %.0f", cores), host.Taken(), "CPUs", host.Busy.Origin))
		if own := metrics.ProcessOf(c.Bundle, c.Subject, g.Window).CPU; own.MostlyKnown() {
			v.Evidence = append(v.Evidence, c.Figure("process.cpus", "CPUs the process used", own.Number, "CPUs", own.Origin))
		}
		if who == "" && host.Taken() >= busy.Value*cores {
			who = fmt.Sprintf("the host's %.0f CPUs were %s busy", cores, units.Percent(host.Taken()/cores))
			v.Fix = append(v.Fix, check.Fix{Text: "find the process that uses the CPUs and give this service its own: cpuset, CPU weights, or fewer processes on this host"})
		}
	}
	v.Title = fmt.Sprintf("In %d of %s GC threads got only %s, which made pauses %s longer in total.", len(p), units.Plural(len(g.Pauses), "collection"), ofCPUs(g.meanUsed(p)), units.Time(1e9*lost))
	switch {
	case who != "":
		v.Title = fmt.Sprintf("In %d of %s GC threads got only %s, which made pauses %s longer in total: %s.", len(p), units.Plural(len(g.Pauses), "collection"), ofCPUs(g.meanUsed(p)), units.Time(1e9*lost), who)
	case seen:
		v.Rule, v.Saves = check.Untold, nil
		v.Summary = "GC threads did not run though the host had free CPUs: they may have waited for swapped pages, or for a log on a slow disk"
		v.Needs = []check.Need{{What: "major page faults and disk waits at the same time (vmstat 1 shows them too)", Command: "unstall record PID"}}
	default:
		v.Fix = append(v.Fix, g.quotaFix()...)
		v.Needs = append(v.Needs, check.Need{What: "what used the CPUs: /proc/stat and the container's cpu.stat from the same time", Command: "unstall record PID"})
	}
}

// quotaFix returns fixes for a collector with more threads than its quota can run.
func (g *collector) quotaFix() (out []check.Fix) {
	cores := g.cpuCount()
	if quota, ok := g.c.Fact(evidence.FactContainerCPU); ok && quota.Number > 0 {
		cores = math.Max(1, math.Floor(quota.Number))
	}
	if n := g.Flag(evidence.FactParallelGCThreads); cores > 0 && n > cores {
		out = append(out, check.Fix{Text: fmt.Sprintf("use as many GC threads as there are CPUs available (now %.0f)", n), Setting: fmt.Sprintf("-XX:ParallelGCThreads=%.0f", cores)})
	}
	out = append(out, check.Fix{Text: "raise the CPU quota to at least what the process uses in its busiest 100 ms"})
	if v := featureRelease(g.c); v == 8 {
		fix := check.Fix{Text: "update the JDK, or set the number: JDK 8 before 8u191 sees all CPUs of the host instead of the quota how many it may use (-XX:ParallelGCThreads)"}
		if cores > 0 {
			fix.Setting = fmt.Sprintf("-XX:ParallelGCThreads=%.0f", cores)
		}
		out = append(out, fix)
	}
	return out
}

// ofCPUs writes a number of CPUs: "0.36 of a CPU", "1.5 CPUs".
func ofCPUs(n float64) string {
	switch text := units.Num(n); {
	case n < 1:
		return text + " of a CPU"
	case text == "1":
		return "1 CPU"
	default:
		return text + " CPUs"
	}
}
