package jvm

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// ExplicitGC is collections that the program, a library or a tool asks for.
var ExplicitGC = check.Check{
	ID:    "jvm.explicit-gc",
	Title: "garbage collections requested by code or tools (System.gc(), jcmd) pause the program",
	Step:  check.StepCollector,
	Doc: `System.gc() collects the whole heap, in a stop-the-world pause in Serial,
Parallel, and, unless told otherwise, CMS and G1. Programs and libraries call it: RMI
once an hour (sun.rmi.dgc.server.gcInterval), NIO where direct buffers reach their
limit, frameworks. Tools trigger it as well: jcmd GC.run (Diagnostic Command), jmap
-histo:live and GC.class_histogram without -all (Heap Inspection), heap dumps of live
objects (Heap Dump), profilers (JvmtiEnv ForceGarbageCollection).

How to tell it from similar problems: look at the trigger in brackets. Allocation
Failure, Ergonomics and G1 Compaction Pause are GC's own (jvm.full-gc); Metadata GC
Threshold is about class metadata (jvm.metaspace-gc). Regular intervals point to a
timer, not to the load.

What helps: remove the call. Otherwise -XX:+ExplicitGCInvokesConcurrent, which makes CMS
and G1 run a concurrent cycle instead (Shenandoah and ZGC do so anyway, Serial and
Parallel cannot). -XX:+DisableExplicitGC ignores all calls of System.gc(), including
those that free direct buffers: a program that uses many then fails with
OutOfMemoryError: Direct buffer memory unless -XX:MaxDirectMemorySize is large enough.
Neither affects collections requested by tools. What does not help: a larger heap, which
makes each collection longer.`,
	Least: fmt.Sprintf("pauses of %v of the time (4 %% of the worst minute) over %v of log, %v in total over less, or one of a second; with requests, %v of slow time",
		stoppedSpecial, leastWatched, check.PausedEnough, check.Material),
	Thresholds: []check.Threshold{halfOne, hourly, leastWatched, longMinutes, mostFreed, mostOfThem, leastPaced, pacePart, oldEmpty, oldRoomy, permFull, sameStop, stoppedSpecial, stoppedYoung,
		unified, worthKernel, worthStarved, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost, check.HostFull,
		check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow, check.MostlyUnseen,
		check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall, check.OftenPaused, check.PausedEnough,
		check.SlowShare, check.SomeSlow},

	Needs:   "a GC log with the triggers of collections; requests from the same time, to show what they cost",
	Applies: isJVM,
	Judge:   unlessPartial(judgeExplicit),
}

func judgeExplicit(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	p := g.pausesWith(requested)
	const what = "explicitly requested collections"
	g.judgePauses(&v, "jvm.explicit-gc", p, what, stoppedSpecial)
	g.leaveOpenIfUntriggered(&v, what)
	if !v.Supported() {
		return v
	}
	callers := make(map[string]metrics.Pauses)
	most := ""
	for _, x := range p {
		t := g.TriggerOf(x)
		callers[t] = append(callers[t], x)
		if callers[t].Seconds() > callers[most].Seconds() || most == "" {
			most = t
		}
	}
	for _, t := range slices.Sorted(maps.Keys(callers)) {
		v.Evidence = append(v.Evidence, c.Figure("gc.explicit_by_caller", fmt.Sprintf("of these, triggered by %s", t), float64(len(callers[t])), "count", g.OriginOf(callers[t][0])))
	}
	full := callers[most].Of(evidence.PauseFull)
	if len(full) == 0 {
		full = callers[most]
	}
	every := full.Interval()
	if !math.IsNaN(every) {
		v.Evidence = append(v.Evidence, c.Figure("gc.interval_s", "interval between them (median)", every, "s", g.Origin))
	}
	v.Title = fmt.Sprintf("%s paused the program for %s in total, in %s.", most, units.Time(1e9*callers[most].Seconds()), units.Plural(len(callers[most]), "pause"))
	if n := len(callers[most]); n > len(full) { // a young collection before each full one, or a remark after it
		v.Title = fmt.Sprintf("%s paused the program for %s in total, in %s: %s and the pauses that go with them.", most, units.Time(1e9*callers[most].Seconds()), units.Plural(n, "pause"), units.Plural(len(full), "full collection"))
	}
	v.Title = g.addWorstToTitle(v.Title, callers[most])
	g.adviseExplicit(&v, most, every)
	return v
}

var hourly = check.Threshold{Name: "period of RMI's distributed collection", Value: 3600., Unit: "s",
	Why: "an hour since JDK 6", Source: "sun.rmi.dgc.server.gcInterval"}

func (g *collector) adviseExplicit(v *check.Verdict, trigger string, every float64) {
	add := func(text, setting string) { v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting}) }
	switch {
	case strings.Contains(trigger, "Heap Inspection"):
		add("a tool takes class histograms of live objects (jmap -histo:live, jcmd GC.class_histogram), which collects first; with -all it does not", "jcmd PID GC.class_histogram -all")
		return
	case strings.Contains(trigger, "Heap Dump"):
		add("a tool dumps the live objects of the heap, which collects first; with -all it does not, but the dump still pauses the service while it is written", "jcmd PID GC.heap_dump -all FILE.hprof")
		return
	case strings.Contains(trigger, "Diagnostic Command"):
		add("a tool runs jcmd PID GC.run: find it (a cron job, a monitoring agent) and remove the call", "")
		return
	case strings.Contains(trigger, "Jvmti"):
		add("an agent in the JVM forces collections (-agentpath or -agentlib on the command line: a profiler, a monitor): reconfigure or remove it", "")
		return
	}
	if math.Abs(every-hourly.Value) < hourly.Value/20 {
		add("one per hour is RMI's distributed GC, also used by JMX and application servers: let it run once a day (the value is in ms)", "-Dsun.rmi.dgc.server.gcInterval=86400000 -Dsun.rmi.dgc.client.gcInterval=86400000")
	}
	add("find the caller and remove the call: search the sources for System.gc(), set a breakpoint or profiler on java.lang.Runtime.gc, or take thread dumps during a pause", "")
	version := featureRelease(g.c)
	switch {
	case g.Is("CMS"), g.Is("G1"):
		add("or make it a concurrent cycle, with short pauses instead of a full collection; the caller of System.gc() still waits until it ends", "-XX:+ExplicitGCInvokesConcurrent")
	case g.Is("Shenandoah"), g.Is("ZGC"):
		add("this collector already runs it concurrently: only its short pauses stop the program", "")
	case version == 0 || version >= 9:
		add("use G1, which can run it while the program runs; Serial and Parallel cannot", "-XX:+UseG1GC -XX:+ExplicitGCInvokesConcurrent")
	default:
		add("use CMS or G1, which can run it while the program runs; Serial and Parallel cannot", "-XX:+ExplicitGCInvokesConcurrent")
	}
	add("or ignore the calls, if the program does not rely on them: they free direct buffers (NIO, Netty), so set -XX:MaxDirectMemorySize large enough and watch it", "-XX:+DisableExplicitGC")
}
