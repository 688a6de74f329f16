package jvm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
)

// Safepoint is time that stops cost besides collections: until all threads have stopped,
// and operations of the JVM that collect nothing.
var Safepoint = cause.Cause{
	ID:    "jvm.safepoint",
	Title: "stopping the threads takes longer than what they are stopped for",
	Step:  cause.StepRest,
	Doc: `To collect, to deoptimize, to dump threads the JVM brings all threads to a safepoint, and
all wait for the last one. A thread looks for the request at method returns and loop ends;
compiled loops over an int with a known end (counted loops) need not where the collector is
Serial or Parallel, so that one long loop, or one copy of a huge array, makes everybody wait:
the time to safepoint. No log of the collector's pauses shows it. Threads that the host does
not run, or that wait for a page from disk, come as late.

The other part are operations that are no collections: RevokeBias of biased locks (before JDK
15), Deoptimize, thread dumps and deadlock searches of monitoring agents (ThreadDump,
FindDeadlocks, PrintThreads), heap inspection, class redefinition.

Told from its look-alikes: what a collection itself takes is that collector's cause. On a host
without free processors everything reaches late: linux.cpu-saturation, linux.noisy-neighbour.

What helps: for counted loops -XX:+UseCountedLoopSafepoints (with
-XX:LoopStripMiningIter=1000 from JDK 10 on; what G1, ZGC and Shenandoah do by default); who
comes late is told by -XX:+SafepointTimeout -XX:SafepointTimeoutDelay=100 (ms), from JDK 25 on
by the event jdk.SafepointLatency; for the operations, asking less often. What does not help:
anything about the heap.`,
	Needs:   "safepoints in the log: -Xlog:safepoint (JDK 9 and later; before: -XX:+PrintGCApplicationStoppedTime); requests of the same time to say what they cost",
	Applies: isJVM,
	Judge:   judgeSafepoint,
}

// halt is a stop of all threads, or that part of it which is no collection.
type halt struct {
	reading.Pause
	operation string
	reaching  bool // it is the way to the safepoint, of a collection
}

func judgeSafepoint(c *cause.Case) cause.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched(c)
	}
	stops, seen := g.besides()
	if !seen {
		return cause.Verdict{State: cause.Inconclusive, Summary: "safepoints were not watched", Needs: logging}
	}
	var v cause.Verdict
	var p reading.Pauses
	for _, s := range stops {
		p = append(p, s.Pause)
	}
	g.judge(&v, p, "stops besides collections", least(p))
	if v.Saves == nil && p.Longest().Seconds() < perceptible {
		v.State, v.Needs = cause.RuledOut, nil
	}
	v.Weight = float64(length(p.Spans())) / 1e9 / max(g.Span, 1e-9)
	if v.State != cause.Supported {
		return v
	}
	reaching := make(map[bool]reading.Pauses)
	by := make(map[string]reading.Pauses)
	for _, s := range stops {
		reaching[s.reaching] = append(reaching[s.reaching], s.Pause)
		by[s.operation] = append(by[s.operation], s.Pause)
	}
	var late reading.Pauses // all ways to safepoints, those of other operations included
	for _, s := range stops {
		if d := g.Get(s.Pause, evidence.ToSafepoint); d > 0 {
			late = append(late, reading.Pause{Row: s.Row, From: s.From, To: s.From + int64(d)})
		}
	}
	v.Evidence = append(v.Evidence, c.Figure("until all threads had stopped, in all", late.Seconds(), "s", g.Origin))
	if most := late.Longest(); len(late) > 0 {
		v.Evidence = append(v.Evidence, c.Figure("the longest time to safepoint", 1e3*most.Seconds(), "ms", g.OriginOf(most)))
	}
	v.Evidence = append(v.Evidence, c.Figure("operations that are no collections, the way to them included", reaching[false].Seconds(), "s", g.Origin))
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b].Seconds(), by[a].Seconds()), cmp.Compare(a, b))
	})
	for _, name := range names[:min(4, len(names))] {
		v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("stops for %s", operation(name)), by[name].Seconds(), "s", g.OriginOf(by[name].Longest())))
	}
	if late.Seconds() >= p.Seconds()/2 {
		v.Title = fmt.Sprintf("Some thread takes up to %s to stop, and all others wait for it.", inSeconds(late.Longest().Seconds()))
		g.adviseLate(&v)
		return v
	}
	v.Title = fmt.Sprintf("All threads are stopped %[2]d times for %[3]s in all by %[1]s.", operation(names[0]), len(by[names[0]]), inSeconds(by[names[0]].Seconds()))
	g.adviseOperation(&v, names[0])
	return v
}

// perceptible is a stop from which on it is worth naming without requests, s: each JVM has
// many that are shorter.
const perceptible = .01

// nameless is the name of stops whose log does not tell the operation.
const nameless = "stopped"

func operation(name string) string {
	if name == "" || name == nameless {
		return "an operation the log does not name"
	}
	return name
}

// besides are the parts of safepoints that are no collections' pauses; seen says whether
// safepoints were watched at all. A safepoint without a pause that is named after a
// collection has one that its log does not print.
func (g *collector) besides() (out []halt, seen bool) {
	v := &g.c.Bundle.Intervals
	collected := g.All.Spans()
	for _, i := range v.Select(evidence.Safepoint, g.c.Subject) {
		seen = true
		if v.Start[i] < g.From || v.Start[i] >= g.Until {
			continue
		}
		name := g.c.Bundle.Names.Text(v.Cause[i])
		s := halt{reading.Pause{Row: i, From: v.Start[i], To: v.End[i]}, name, false}
		reach, told := v.Get(i, evidence.ToSafepoint)
		if collects(name) || collected.Within(s.From, s.To) > (s.To-s.From)/10 {
			s.To, s.reaching = s.From+int64(reach), true
			if !told || reach <= 0 {
				continue
			}
		}
		out = append(out, s)
	}
	return out, seen
}

// collects says whether an operation is a collection's, as vmOperation.hpp and the
// collectors call them.
func collects(operation string) bool {
	return holds(operation, []string{"Collect", "G1", "CMS_", "CGC_", "ParallelGC", "Shenandoah", "XMark", "XRelocate", "ZMark", "ZRelocate", "ZOperation", "GC_HeapInspection", "SerialGC"})
}

// length is how long spans are in all, ns.
func length(s reading.Spans) (sum int64) {
	for _, x := range s {
		sum += x.To - x.From
	}
	return sum
}

func (g *collector) adviseLate(v *cause.Verdict) {
	add := func(text, setting string) { v.Fix = append(v.Fix, cause.Fix{Text: text, Setting: setting}) }
	version := release(g.c)
	add("find who comes late: the JVM prints the threads that have not stopped after that many ms", "-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=100")
	switch {
	case g.Is("G1") || g.Is("ZGC") || g.Is("Shenandoah"):
		if version > 0 && version < 10 {
			add("if it is a counted loop: let compiled loops look for safepoints", "-XX:+UseCountedLoopSafepoints")
			break
		}
		add("this collector's compiled loops look for safepoints: look for copies of huge arrays, native code that returns late, pages that come from disk (swap, mapped files), a host without free processors", "")
	case version == 0 || version >= 10:
		add("with Serial, Parallel and CMS compiled loops over an int do not look for safepoints; let them, every thousand rounds", "-XX:+UseCountedLoopSafepoints -XX:LoopStripMiningIter=1000")
	default:
		add("let compiled loops over an int look for safepoints; it costs loops some per cent", "-XX:+UseCountedLoopSafepoints")
	}
	if version >= 25 {
		add("a flight recording names thread and stack that came late: jdk.SafepointLatency", "jcmd PID JFR.start duration=60s settings=profile")
	}
	add("or work in shorter loops: a long one over a long, or split by calls that are not inlined, looks for safepoints", "")
}

func (g *collector) adviseOperation(v *cause.Verdict, name string) {
	add := func(text, setting string) { v.Fix = append(v.Fix, cause.Fix{Text: text, Setting: setting}) }
	switch {
	case strings.Contains(name, "Bias"):
		add("biased locks are taken away from their threads again and again: where locks are shared, do without (off by default from JDK 15 on)", "-XX:-UseBiasedLocking")
	case holds(name, []string{"ThreadDump", "PrintThreads", "FindDeadlocks", "PrintJNI"}):
		add("somebody dumps all threads: monitoring agents, deadlock checks, jstack in a loop; let them do it less often, and without locked monitors and synchronizers", "")
	case strings.Contains(name, "Deoptimize"), strings.Contains(name, "MarkActiveNMethods"):
		add("compiled code is thrown away: classes loaded late, agents that instrument; with a full code cache it is compiled again and again (-Xlog:codecache)", "")
	case strings.Contains(name, "Redefine"):
		add("an agent redefines classes in a running JVM: attach it at the start", "")
	case strings.Contains(name, "Heap"):
		add("somebody inspects or dumps the heap of a running service", "")
	case name == "" || name == nameless || strings.HasPrefix(name, "no vm operation"):
		add("which operation it is says -Xlog:safepoint (JDK 9 and later), before -XX:+PrintSafepointStatistics -XX:PrintSafepointStatisticsCount=1", "")
	default:
		add(name+" stops all threads: ask for it less often", "")
	}
}
