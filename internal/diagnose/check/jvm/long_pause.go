package jvm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// LongPause is a single collection, other than a full one, that takes a second or more.
var LongPause = check.Check{
	ID:    "jvm.long-pause",
	Title: "single GC pauses take seconds",
	Step:  check.StepCollector,
	Doc: `A young collection usually takes a few to some tens of ms, a remark as well. If one takes
a second or more, every request in flight waits that long, health checks fail and callers
give up, though it is a small share of the time. One such pause is enough: unstall
reports it, however rare, with its time.

A young collection takes long if much survives it: it copies live objects at some hundred
MiB/s per GC thread. Typical reasons: a cache or a large list is built within one young
generation, survivor spaces are too small so that everything is promoted, or a single
thread copies (Serial, ParallelGCThreads=1). A remark or cleanup takes long where many
references, classes or a full young generation must be visited.

How to tell it from similar problems: a pause with far less CPU time than wall time was
not run by the host (jvm.gc-cpu-starved); more system than user time is the kernel's
(jvm.gc-kernel-time); full collections (jvm.full-gc) and requested ones (jvm.explicit-gc)
are separate causes. Without CPU times in the log these cannot be distinguished.

What helps: more GC threads where one copies and CPUs are idle; a smaller young
generation where all of it survives; building large caches outside the heap, or in parts;
a collector that copies while the program runs (generational ZGC, Shenandoah). For a
remark: -XX:+ParallelRefProcEnabled, and with CMS -XX:+CMSScavengeBeforeRemark. What does
not help: a larger young generation.`,
	Least: "one pause of a second",
	Thresholds: []check.Threshold{halfOne, leastWatched, longMinutes, mostFreed, mostOfThem, muchCopied, leastPaced, pacePart, oldEmpty, oldRoomy, permFull, sameStop, stoppedFull, stoppedSpecial,
		stoppedYoung, worthKernel, worthStarved, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost,
		check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow,
		check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall, check.OftenPaused,
		check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "a GC log; CPU times in it, to show what took the time; requests from the same time, to show what it costs",
	Applies: isJVM,
	Judge:   unlessPartial(judgeLong),
}

func judgeLong(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		if v, ok := longSinceStart(c); ok {
			return v
		}
		return unwatchedVerdict(c)
	}
	if g.Unlogged() {
		return unlogged
	}
	p := g.longPauses()
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("the longest pause was %s", units.Time(1e9*g.Pauses.Longest().Seconds()))}
	v.Weigh(g.Pauses.Longest().Seconds(), check.ASecond)
	if len(g.Pauses) == 0 {
		v.Summary = "no pauses"
	}
	if len(p) == 0 && c.IsHome("jvm.long-pause", g.Collector, &terms) {
		return g.cyclePauses(&v)
	}
	if len(p) == 0 {
		if g.Pauses.Longest().Seconds() >= check.ASecond.Value { // they are long all the same
			v.Rule, v.Summary, v.Needs = check.PartlyExplained, "other causes explain all pauses of a second or more", otherwiseLong
		}
		return v
	}
	g.judgePauses(&v, "jvm.long-pause", p, "pauses of a second or more", check.Threshold{}) // whatever their share
	most := p.Longest()
	v.Title = fmt.Sprintf("%s (%s) paused the program for %s, %s.", g.kindOf(most), g.NameOf(most), units.Time(1e9*most.Seconds()), g.formatMoment(most.From))
	if len(p) > 1 {
		v.Title = fmt.Sprintf("%s of a second or more paused the program for %s in total; the longest (%s), %s, for %s.", units.Plural(len(p), "pause"), units.Time(1e9*p.Seconds()), g.NameOf(most), g.formatMoment(most.From), units.Time(1e9*most.Seconds()))
	}
	g.longFigures(&v, p)
	return v
}

// cyclePauses judges the pauses of concurrent cycles, where they are the largest part of pauses
// that matter only together.
func (g *collector) cyclePauses(v *check.Verdict) check.Verdict {
	for _, part := range terms.Parts(g.c) {
		if part.What != cyclesPause {
			continue
		}
		*v = check.Verdict{}
		g.judgePauses(v, "jvm.long-pause", part.Pauses, part.What, part.Least)
		if v.Supported() {
			most := part.Pauses.Longest()
			v.Title = fmt.Sprintf("Pauses of concurrent cycles stop the program %s of the time; the longest (%s), %s, for %s.", units.Percent(g.ShareOf(part.Pauses)), g.NameOf(most), g.formatMoment(most.From), units.Time(1e9*most.Seconds()))
			g.longFigures(v, part.Pauses)
		}
	}
	return *v
}

// cyclesPause is what remarks, initial marks and cleanups are together.
const cyclesPause = "pauses of concurrent cycles"

// otherwiseLong asks for what shows whether such pauses would be long without those causes.
var otherwiseLong = []check.Need{{What: "a GC log from after their fix, to see whether pauses are still long"}}

// longPauses returns the pauses of a second or more that no other cause explains.
func (g *collector) longPauses() metrics.Pauses {
	return g.ownPauses(g.ordinaryPauses(g.Pauses)).Where(func(p metrics.Pause) bool {
		return p.Seconds() >= check.ASecond.Value && p.Of != evidence.PauseFull && p.Of != evidence.PauseDegenerated
	})
}

// kindOf returns the kind of a pause with its article: "A young collection".
func (g *collector) kindOf(p metrics.Pause) string {
	switch p.Of {
	case evidence.PauseYoung:
		return "A young collection"
	case evidence.PauseMixed:
		return "A mixed collection"
	case evidence.PauseRemark:
		return "A remark"
	case evidence.PauseInitialMark:
		return "An initial mark"
	case evidence.PauseCleanup:
		return "A cleanup"
	}
	return "A GC pause"
}

// mostLong is how many of the longest pauses are told.
const mostLong = 3

var muchCopied = check.Threshold{Name: "bytes that a collection copied in a second, from which copying is why it took long", Value: 64 << 20, Unit: "bytes/s",
	Why: "a GC thread copies some hundred MiB a second", Source: "judgement: weighs pauses that copy against those that wait; a part of what one thread copies, as the heap before and after a pause does not show all that it copied"}

func (g *collector) longFigures(v *check.Verdict, p metrics.Pauses) {
	worst := slices.Clone(p)
	sorting.Short(worst, func(a, b metrics.Pause) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	copying, marking, untimed := false, false, false
	for _, x := range worst[:min(mostLong, len(worst))] {
		v.Evidence = append(v.Evidence, g.c.Figure("gc.pause_s", fmt.Sprintf("%s, %s", g.NameOf(x), g.formatMoment(x.From)), x.Seconds(), "s", g.OriginOf(x)))
		if user, system, _ := g.CPUOf(metrics.Pauses{x}); math.IsNaN(user) {
			untimed = true
		} else {
			v.Evidence = append(v.Evidence, g.c.Figure("gc.pause_cpu_s", "CPU time of GC threads in it", user+system, "s", g.OriginOf(x)))
		}
		if bytes := g.survivedBytes(x); bytes > 0 {
			v.Evidence = append(v.Evidence, g.c.Figure("gc.pause_survived_bytes", "survived it, and was copied", bytes, "bytes", g.OriginOf(x)))
			copying = copying || bytes >= muchCopied.Value*x.Seconds()
		}
		marking = marking || x.Of == evidence.PauseRemark || x.Of == evidence.PauseInitialMark || x.Of == evidence.PauseCleanup
	}
	add := func(text, setting string) { v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting}) }
	if copying {
		if n := g.Flag(evidence.FactParallelGCThreads); g.Is("Serial") || n == 1 {
			add("let several threads copy, where there are CPUs for them", "-XX:+UseParallelGC")
		}
		v.Fix = append(v.Fix, fewerSurvive)
	}
	if marking {
		add("let all GC threads process references in remark", "-XX:+ParallelRefProcEnabled")
		if g.Is("CMS") {
			add("collect the young generation just before remark, so that remark has less to visit", "-XX:+CMSScavengeBeforeRemark")
		}
	}
	if untimed {
		v.Needs = append(v.Needs, check.Need{What: "CPU times of collections, which distinguish work from waiting for a CPU, a disk or swap (JDK 9 or later)", Command: "-Xlog:gc*,gc+cpu:file=gc.log:time,uptime,level,tags"},
			check.Need{What: "or, before JDK 9", Command: "-XX:+PrintGCDetails"})
	}
	if len(v.Fix) == 0 {
		add("find what it waited for: see the log's lines about this collection (references, roots, time to safepoint), and what else ran on the host at that time", "")
	}
}

var fewerSurvive = check.Fix{Text: "make fewer objects survive each collection: build large caches in parts, or let the young generation be smaller, so that each collection copies less"}

// copiedBy returns what survived one of these collections on average, in bytes, over those for
// which it is known; NaN if it is for none.
func (g *collector) copiedBy(p metrics.Pauses) float64 {
	sum, n := 0., 0.
	for _, x := range p {
		if bytes := g.survivedBytes(x); !math.IsNaN(bytes) {
			sum, n = sum+bytes, n+1
		}
	}
	return sum / n
}

// survivedBytes returns what survived a young collection, in bytes: what was left of the young
// generation and what was promoted; NaN if unknown.
func (g *collector) survivedBytes(x metrics.Pause) float64 {
	if x.Of != evidence.PauseYoung && x.Of != evidence.PauseMixed {
		return math.NaN()
	}
	before, after := g.OldOf(x)
	return g.Get(x, evidence.YoungAfter) + max(0, after-before)
}
