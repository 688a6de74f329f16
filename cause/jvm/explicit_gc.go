package jvm

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
)

// ExplicitGC is somebody who asks for collections: the program, a library, a tool.
var ExplicitGC = cause.Cause{
	ID:    "jvm.explicit-gc",
	Title: "collections that somebody asked for stop the world",
	Step:  cause.StepCollector,
	Doc: `System.gc() collects the whole heap at once, with the world stopped in Serial, Parallel,
and, unless told otherwise, CMS and G1. Programs and libraries call it: RMI once an hour
(sun.rmi.dgc.server.gcInterval), NIO where direct buffers reach their limit, frameworks that
mean well. Tools do as well: jcmd GC.run (Diagnostic Command), jmap -histo:live and
GC.class_histogram without -all (Heap Inspection), heap dumps of live objects (Heap Dump),
profilers (JvmtiEnv ForceGarbageCollection).

Told from its look-alikes: the trigger in brackets. Allocation Failure, Ergonomics and G1
Compaction Pause are the collector's own (jvm.full-gc); Metadata GC Threshold is of class
metadata (jvm.metaspace-gc). An even period says that a timer calls, not the load.

What helps: take the call away. Else -XX:+ExplicitGCInvokesConcurrent, with which CMS and G1
make a concurrent cycle of it (Shenandoah and ZGC do so anyway, Serial and Parallel cannot).
-XX:+DisableExplicitGC ignores all calls of System.gc(), and with them that which frees
direct buffers: a program that uses many then fails with OutOfMemoryError: Direct buffer
memory unless -XX:MaxDirectMemorySize is ample. Neither changes what tools ask for. What
does not help: a larger heap, which makes each of them longer.`,
	Needs:   "the collector's log with the triggers of collections; requests of the same time to say what they cost",
	Applies: isJVM,
	Judge:   judgeExplicit,
}

func judgeExplicit(c *cause.Case) cause.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched(c)
	}
	var v cause.Verdict
	p := g.with(requested)
	const what = "collections that were asked for"
	g.judge(&v, p, what, least(p))
	if v.State != cause.Supported {
		return v
	}
	callers := make(map[string]reading.Pauses)
	most := ""
	for _, x := range p {
		t := g.TriggerOf(x)
		callers[t] = append(callers[t], x)
		if callers[t].Seconds() > callers[most].Seconds() || most == "" {
			most = t
		}
	}
	for _, t := range slices.Sorted(maps.Keys(callers)) {
		v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("of them, by %s", t), float64(len(callers[t])), "count", g.OriginOf(callers[t][0])))
	}
	full := callers[most].Of(evidence.PauseFull)
	if len(full) == 0 {
		full = callers[most]
	}
	every := full.Interval()
	if !math.IsNaN(every) {
		v.Evidence = append(v.Evidence, c.Figure("from one to the next, in the median", every, "s", g.Origin))
	}
	v.Title = fmt.Sprintf("%s stops the world for %s in all, in %d pauses.", most, inSeconds(callers[most].Seconds()), len(callers[most]))
	if n := len(callers[most]); n > len(full) { // a young collection before each full one, or a remark after it
		v.Title = fmt.Sprintf("%s stops the world for %s in all, in %d pauses: %d full collections and what goes with them.", most, inSeconds(callers[most].Seconds()), n, len(full))
	}
	g.adviseExplicit(&v, most, every)
	return v
}

// hourly is the period of RMI's distributed collection, s: since JDK 6 an hour, a minute
// before; it varies by some seconds, as the time of the collection is added.
const hourly = 3600.

func (g *collector) adviseExplicit(v *cause.Verdict, trigger string, every float64) {
	add := func(text, setting string) { v.Fix = append(v.Fix, cause.Fix{Text: text, Setting: setting}) }
	switch {
	case strings.Contains(trigger, "Heap Inspection"):
		add("somebody takes class histograms of live objects (jmap -histo:live, jcmd GC.class_histogram): with -all they do not collect first", "jcmd PID GC.class_histogram -all")
		return
	case strings.Contains(trigger, "Heap Dump"):
		add("somebody dumps the heap's live objects: with -all it does not collect first, and it stops the service for as long as it writes all the same", "jcmd PID GC.heap_dump -all FILE.hprof")
		return
	case strings.Contains(trigger, "Diagnostic Command"):
		add("somebody runs jcmd PID GC.run: find who (a cron job, a monitoring agent) and take it away", "")
		return
	case strings.Contains(trigger, "Jvmti"):
		add("an agent in the JVM forces collections (-agentpath, -agentlib on the command line): a profiler, a monitor; configure or remove it", "")
		return
	}
	if math.Abs(every-hourly) < hourly/20 {
		add("one an hour is RMI's distributed collection, of JMX and application servers as well: let it run less often (ms, here a day)", "-Dsun.rmi.dgc.server.gcInterval=86400000 -Dsun.rmi.dgc.client.gcInterval=86400000")
	}
	add("find the caller and take the call away: a breakpoint or a profiler on java.lang.Runtime.gc, or thread dumps while it is stopped; in the sources: System.gc()", "")
	version := release(g.c)
	switch {
	case g.Is("CMS"), g.Is("G1"):
		add("else let a concurrent cycle do it: one short pause instead of a full collection; System.gc() still waits for its end", "-XX:+ExplicitGCInvokesConcurrent")
	case g.Is("Shenandoah"), g.Is("ZGC"):
		add("it is concurrent in this collector already: what stops are its short pauses", "")
	case version == 0 || version >= 9:
		add("Serial and Parallel cannot collect beside the program; G1 can", "-XX:+UseG1GC -XX:+ExplicitGCInvokesConcurrent")
	default:
		add("Serial and Parallel cannot collect beside the program; CMS and G1 can", "-XX:+ExplicitGCInvokesConcurrent")
	}
	add("or ignore the calls, if the program does not lean on them: where it uses direct buffers (NIO, Netty) they are what frees them, so make -XX:MaxDirectMemorySize ample and watch it", "-XX:+DisableExplicitGC")
}
