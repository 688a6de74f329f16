package jvm

import (
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/stats"
)

// GCStarved is collections whose threads the host does not run.
var GCStarved = cause.Cause{
	ID:    "jvm.gc-cpu-starved",
	Title: "the host does not run the collector's threads",
	Step:  cause.StepProcessors,
	Doc: `While the world is stopped only the collector's threads run, each on a processor of its
own: their CPU time together (user + sys) is then about the wall time (real) times their
number. Where wall time is far above CPU time ÷ threads, they did not get the processors: a
quota of the container was used up (the collector's threads use it up faster than anything
else: ParallelGCThreads on a 32-core host with a quota of 2 spend the period's share in a
few ms, and the rest of the period is the pause), other processes hold the processors, or
the hypervisor does. Pauses are then long though little is copied.

The log is held against itself: how many processors its collections had when they had most
(the 9th decile of CPU ÷ wall) is what they can use; those that had less than half of that,
or less than half a processor, are the starved ones, and what they lost is the wall time
beyond what their work takes at that pace.

Told from its look-alikes: pages read from swap, or a log on a slow disk, keep threads
waiting without CPU as well: then the host's processors are idle, no quota stops anything,
and major faults say it (jvm.gc-kernel-time). A collection by one thread on purpose (Serial,
a full collection of CMS) has CPU equal to wall time.

What helps: as many collector threads as the quota has processors (-XX:ParallelGCThreads,
-XX:ActiveProcessorCount; JDK 8u191 and later see the quota by themselves, earlier ones the
host), a higher quota, fewer neighbours. What does not help: tuning the heap.`,
	Needs:   "the collector's log with CPU times; /proc and cpu.stat of the same time",
	Applies: isJVM,
	Judge:   judgeStarved,
}

// Starved collections: those of at least so many ns that had fewer processors than this,
// or than half of what the best of their kind had. The times of logs have a resolution of 10 ms.
const (
	worthStarved = 50e6
	halfOne      = .5
	pacePart     = .5
	paceOf       = .9
)

func judgeStarved(c *cause.Case) cause.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched(c)
	}
	timed := g.Pauses.Where(func(x reading.Pause) bool { return !math.IsNaN(g.Get(x, evidence.UserCPU)) })
	if len(timed) == 0 && len(g.Pauses) > 0 {
		return g.untold()
	}
	pace := g.paces(timed)
	starved := timed.Where(func(x reading.Pause) bool { return g.starved(x, pace) })
	v := cause.Verdict{State: cause.RuledOut, Summary: fmt.Sprintf("collections had %s processors at their best, and no long one less than half of what others of its kind had", cause.Digits(2, pace.best(timed)))}
	if len(g.Pauses) == 0 {
		v.Summary = "no collection"
	}
	if len(starved) == 0 {
		return v
	}
	var lost float64
	for _, x := range starved {
		lost += max(0, x.Seconds()-g.used(x)*x.Seconds()/max(pace[x.Of], 1))
	}
	part := lost / max(starved.Seconds(), 1e-9)
	what := "collections whose threads did not run"
	v = cause.Verdict{}
	g.judgePart(&v, starved, part, what)
	v.Evidence = append(v.Evidence,
		c.Figure("processors the collector's threads had in these collections, in the mean", g.meanUsed(starved), "CPUs", g.OriginOf(starved[0])),
		c.Figure("in those that had most", pace.best(starved), "CPUs", g.Origin),
		c.Figure("of their time, for want of processors", part, "1", g.Origin))
	if v.State != cause.Supported {
		return v
	}
	g.judgeHost(&v, starved, lost)
	return v
}

// starved says whether a collection's threads did not run for most of it.
func (g *collector) starved(x reading.Pause, pace paces) bool {
	used := g.used(x)
	return float64(x.To-x.From) >= worthStarved && (used < halfOne || used < pacePart*pace[x.Of])
}

// own are the pauses whose length is the collector's own doing: not the kernel's, nor the
// host's, which have causes of their own.
func (g *collector) own(p reading.Pauses) reading.Pauses {
	pace := g.paces(g.Pauses.Where(func(x reading.Pause) bool { return !math.IsNaN(g.Get(x, evidence.UserCPU)) }))
	return p.Where(func(x reading.Pause) bool { return !g.inKernel(x) && !g.starved(x, pace) })
}

// used is how many processors the collector's threads had during a pause.
func (g *collector) used(x reading.Pause) float64 {
	return (g.Get(x, evidence.UserCPU) + g.Get(x, evidence.SystemCPU)) / float64(max(1, x.To-x.From))
}

func (g *collector) meanUsed(p reading.Pauses) float64 {
	user, system, real := g.CPUOf(p)
	return (user + system) / max(real, 1e-9)
}

// paces are how many processors each kind of collection can use: one thread makes the full
// collections of CMS, and of G1 before JDK 10, while all make the young ones.
type paces map[evidence.Pause]float64

func (g *collector) paces(p reading.Pauses) paces {
	by := make(map[evidence.Pause]reading.Pauses)
	for _, x := range p {
		by[x.Of] = append(by[x.Of], x)
	}
	out := make(paces)
	for of, all := range by {
		out[of] = g.pace(all)
	}
	return out
}

// best is the most that a kind of some pauses can use.
func (s paces) best(p reading.Pauses) float64 {
	most := 1.
	for _, x := range p {
		most = max(most, s[x.Of])
	}
	return most
}

// pace is how many processors collections of a kind can use: those of the 9th decile had so
// many, of pauses long enough for their times to tell.
func (g *collector) pace(p reading.Pauses) float64 {
	var all []float64
	for _, x := range p {
		if float64(x.To-x.From) >= worthStarved/2 {
			all = append(all, g.used(x))
		}
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	pace := max(1, stats.Quantile(all, paceOf))
	if n := g.processors(); n > 0 {
		pace = min(pace, n)
	}
	return pace
}

// oftenThrottled is the share of its periods from which a quota stops a process often;
// busy the share of the host's processors from which it has none to give.
const (
	oftenThrottled = .05
	busy           = .9
)

// judgeHost says who had the processors, by /proc; where that clears the host, it is
// something else that kept the threads.
func (g *collector) judgeHost(v *cause.Verdict, p reading.Pauses, lost float64) {
	c := g.c
	who := ""
	if q := reading.QuotaOf(c.Bundle, c.Subject, -1, g.Window); q.Stopped.MostlyKnown() && q.Periods.Number > 0 {
		share := q.Share()
		v.Evidence = append(v.Evidence, c.Figure("periods in which a quota stopped the process", share, "1", q.Stopped.Origin))
		if share >= oftenThrottled {
			who = fmt.Sprintf("a quota stopped it in %.0f %% of its periods", 100*share)
			v.Fix = append(v.Fix, g.quotaFix()...)
		}
	}
	host := reading.HostOf(c.Bundle, c.Subject, g.Window)
	seen := host.Busy.MostlyKnown()
	if cores := host.CPUs; seen && cores > 0 {
		v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("CPUs of the host that were busy or stolen, of %.0f", cores), host.Taken(), "CPUs", host.Busy.Origin))
		if own := reading.ProcessOf(c.Bundle, c.Subject, g.Window).CPU; own.MostlyKnown() {
			v.Evidence = append(v.Evidence, c.Figure("CPUs the process used", own.Number, "CPUs", own.Origin))
		}
		if who == "" && host.Taken() >= busy*cores {
			who = fmt.Sprintf("the host's %.0f CPUs were %.0f %% busy", cores, 100*host.Taken()/cores)
			v.Fix = append(v.Fix, cause.Fix{Text: "find who has the processors and give this service its own: cpuset, weights, fewer neighbours"})
		}
	}
	v.Title = fmt.Sprintf("%d of %d collections had %s processors: they lost %s.", len(p), len(g.Pauses), cause.Digits(2, g.meanUsed(p)), inSeconds(lost))
	switch {
	case who != "":
		v.Title = fmt.Sprintf("%d of %d collections had %s processors and lost %s: %s.", len(p), len(g.Pauses), cause.Digits(2, g.meanUsed(p)), inSeconds(lost), who)
	case seen:
		v.State, v.Saves = cause.Inconclusive, nil
		v.Summary = "the collector's threads did not run, though the host had processors to give: swapped pages, or a log on a slow disk?"
		v.Needs = []cause.Need{{What: "major page faults and disk waits of the same seconds (vmstat 1 shows them, too)", Command: "unstall record PID"}}
	default:
		v.Fix = append(v.Fix, g.quotaFix()...)
		v.Needs = append(v.Needs, cause.Need{What: "who had the processors: /proc/stat and the container's cpu.stat of the same seconds", Command: "unstall record PID"})
	}
}

// quotaFix is for a collector with more threads than its quota feeds.
func (g *collector) quotaFix() (out []cause.Fix) {
	cores := g.processors()
	if quota, ok := g.c.Fact(evidence.FactContainerCPU); ok && quota.Number > 0 {
		cores = math.Max(1, math.Floor(quota.Number))
	}
	if n := g.Told(evidence.FactParallelGCThreads); cores > 0 && n > cores {
		out = append(out, cause.Fix{Text: fmt.Sprintf("as many collector threads as there are processors to use: %.0f now", n), Setting: fmt.Sprintf("-XX:ParallelGCThreads=%.0f", cores)})
	}
	out = append(out, cause.Fix{Text: "a higher CPU quota, at least what the process uses in its busiest 100 ms"})
	if v := release(g.c); v == 8 {
		fix := cause.Fix{Text: "JDK 8 before 8u191 takes the host's processors for its own: update, or tell it how many it may use (-XX:ParallelGCThreads)"}
		if cores > 0 {
			fix.Setting = fmt.Sprintf("-XX:ParallelGCThreads=%.0f", cores)
		}
		out = append(out, fix)
	}
	return out
}
