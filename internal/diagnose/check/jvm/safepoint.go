package jvm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Safepoint is time that stops cost besides collections: until all threads have stopped,
// and operations of the JVM that collect nothing.
var Safepoint = check.Check{
	ID:       "jvm.safepoint",
	Title:    "pauses that are not GC: slow safepoints and VM operations",
	Step:     check.StepRest,
	StopsAll: true,
	Doc: `To run GC, to deoptimize or to dump threads the JVM brings all threads to a safepoint,
and all of them wait for the last one. A thread checks for the request at method returns and
loop ends; compiled loops over an int with a known end (counted loops) do not where the
collector is Serial or Parallel, so that one long loop, or one copy of a huge array,
makes all others wait: the time to safepoint. It is not part of the GC pauses in the
log. Threads that the host does not run, or that wait for a page from disk, are late as
well.

The other part is VM operations that are not collections: RevokeBias of biased locks
(before JDK 15), Deoptimize, thread dumps and deadlock searches of monitoring agents
(ThreadDump, FindDeadlocks, PrintThreads), heap inspection, class redefinition; and
safepoints of a fraction of a millisecond, back to back, many hundred per second
(ICBufferFull, Deoptimize). A line that names no operation may be a collection's: without
GC lines beside it only the time until all threads had stopped counts.

How to tell it from similar problems: the duration of a collection itself belongs to the
causes about GC. On a host without free CPUs all threads reach safepoints late:
linux.cpu-saturation, linux.noisy-neighbour.

What helps: for counted loops -XX:+UseCountedLoopSafepoints (with
-XX:LoopStripMiningIter=1000 from JDK 10 on; what G1, ZGC and Shenandoah do by default);
which thread is late is shown by -XX:+SafepointTimeout -XX:SafepointTimeoutDelay=100
(ms), from JDK 25 on by the event jdk.SafepointLatency; for VM operations, running them
less often. What does not help: heap settings.`,
	Least: fmt.Sprintf("pauses of %v of the time (4 %% of the worst minute) over %v of log, %v in total over less, or one of a second; with requests, %v of slow time; without requests, one pause of %v, or five shorter ones that take %v of the time; or a thread that did not stop within SafepointTimeoutDelay",
		stoppedSpecial, leastWatched, check.PausedEnough, check.Material, perceptible, check.MuchStopped),
	Thresholds: []check.Threshold{crowding, halfOne, lateInMost, leastStretches, leastWatched, longMinutes, mostFreed, mostOfThem, leastPaced, pacePart, perceptible, ranOfWay, oldEmpty, oldRoomy, permFull, sameStop, stoppedSpecial,
		stoppedYoung, unified, worthKernel, worthStarved, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost,
		check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow,
		check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall, check.OftenPaused,
		check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "safepoints in the log: -Xlog:safepoint (JDK 9 and later; before: -XX:+PrintGCApplicationStoppedTime); requests from the same time, to show what they cost",
	Applies: isJVM,
	Judge:   withoutImpossibleAdvice(judgeSafepoint),
}

// halt is a stop of all threads, or that part of it which is no collection.
type halt struct {
	metrics.Pause
	operation string
	reaching  bool // it is the way to the safepoint, of a collection
	leaving   bool // it is the way out of the safepoint, of a collection
}

func judgeSafepoint(c *check.Case) check.Verdict {
	v := judgeStops(c)
	if v.Supported() || v.RuledOut() && c.Ledger != nil && !c.Slow() {
		return v
	}
	return judgeLate(c, v)
}

// judgeLate judges by the threads that the JVM reported because they did not stop in time, which
// is 10 s unless set otherwise.
func judgeLate(c *check.Case, v check.Verdict) check.Verdict {
	late := lateThreads(c)
	if len(late) == 0 {
		return v
	}
	w := check.Verdict{Rule: check.StandsAlone, Weight: 1, Title: fmt.Sprintf("Thread %q did not reach a safepoint in time, and all others waited for it.", late[0].Value),
		Summary: units.Plural(len(late), "thread") + " did not stop in time", Needs: logging}
	for _, f := range late[:min(len(late), 4)] {
		w.Evidence = append(w.Evidence, c.Seen(fmt.Sprintf("%q did not stop within SafepointTimeoutDelay", f.Value), f.Origin))
	}
	w.Fix = []check.Fix{{Text: "find the long loop without a safepoint poll, or the copy of a large array, that this thread runs: a thread dump or a profile with --ttsp of async-profiler while it lasts", Code: late[0].Value},
		{Text: "let counted loops stop at safepoints, too (JDK 10 and later do so with every collector but Serial and Parallel)", Setting: "-XX:+UseCountedLoopSafepoints"}}
	return w
}

// judgeStops judges by the stops that a log reports.
func judgeStops(c *check.Case) check.Verdict {
	g := stopsOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	stops, untold, seen := g.nonGCStops()
	if !seen {
		return check.Verdict{Rule: check.NotRecorded, Summary: "safepoints were not recorded", Needs: logging}
	}
	var v check.Verdict
	var p metrics.Pauses
	for _, s := range stops {
		p = append(p, s.Pause)
	}
	g.judgePauses(&v, "jvm.safepoint", p, "pauses other than GC", stoppedSpecial)
	short := v.Saves == nil && p.Longest().Seconds() < perceptible.Value
	crowded := short && g.isCrowded(p)
	switch {
	case crowded && !v.Supported():
		v.Rule, v.Needs = check.Matters, g.needRequests()
		v.Summary = fmt.Sprintf("%s other than GC took %s of the %s recorded", units.Plural(len(p), "pause"), units.Percent(g.ShareOf(p)), units.Time(1e9*g.Span))
	case short && !crowded && !(v.LeftOpen() && g.Span < leastWatched.Value && g.ShareOf(p) >= check.MuchStopped.Value):
		v.Rule, v.Needs = check.TooLittle, nil
		v.Weigh(p.Longest().Seconds(), perceptible)
		if c.Ledger == nil && nearlyPerceptible(stops) {
			v.Rule, v.Needs = check.OnTheEdge, append(g.needRequests(), check.NeedLimit)
			v.Summary = fmt.Sprintf("pauses other than GC of up to %s, again and again: just below what is named without requests", units.Time(1e9*p.Longest().Seconds()))
		}
	}
	if v.RuledOut() && g.wouldMatter(untold) {
		v.Rule, v.Needs = check.Untold, logging
		v.Summary = fmt.Sprintf("pauses that the log does not name took %s in total, the longest %s; all threads stopped in time, so they were GC or VM operations", units.Time(1e9*untold.Seconds()), units.Time(1e9*untold.Longest().Seconds()))
	}
	v.Weight = float64(p.Spans().Time()) / 1e9 / max(g.Span, 1e-9)
	if !v.Supported() {
		return v
	}
	var operations metrics.Pauses
	by, began := make(map[string]metrics.Pauses), make(map[string]bool)
	var late, left metrics.Pauses // all ways to safepoints and out of them, those of other operations included
	for _, s := range stops {
		by[s.operation] = append(by[s.operation], s.Pause)
		began[s.operation] = began[s.operation] || !s.reaching // else it is GC's, and only what was before it counts
		if !s.reaching && !s.leaving {
			operations = append(operations, s.Pause)
		}
		if d := g.Get(s.Pause, evidence.ToSafepoint); d > 0 && !s.leaving {
			late = append(late, metrics.Pause{Row: s.Row, From: s.From, To: s.From + int64(d)})
		}
		if d := g.leavingOf(s.Pause); d > 0 && !s.reaching {
			left = append(left, metrics.Pause{Row: s.Row, From: s.To - d, To: s.To})
		}
	}
	v.Evidence = append(v.Evidence, c.Figure("safepoint.reaching_s", "time until all threads had stopped, in total", late.Seconds(), "s", g.Origin))
	if most := late.Longest(); len(late) > 0 {
		v.Evidence = append(v.Evidence, c.Figure("safepoint.reaching_longest_ms", "longest time to safepoint", 1e3*most.Seconds(), "ms", g.OriginOf(most)))
	}
	if len(operations) > 0 {
		v.Evidence = append(v.Evidence, c.Figure("safepoint.operations_s", "VM operations other than GC, including the time to safepoint", operations.Seconds(), "s", g.Origin))
	}
	if most := left.Longest(); most.Seconds() >= perceptible.Value {
		v.Evidence = append(v.Evidence, c.Figure("safepoint.leaving_s", "time until all threads ran again, in total", left.Seconds(), "s", g.Origin),
			c.Figure("safepoint.leaving_longest_ms", "longest time to leave a safepoint", 1e3*most.Seconds(), "ms", g.OriginOf(most)))
	}
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b].Seconds(), by[a].Seconds()), cmp.Compare(a, b))
	})
	for _, name := range names[:min(4, len(names))] {
		what := "pauses for "
		if !began[name] {
			what = "pauses until all threads had stopped for "
		}
		v.Evidence = append(v.Evidence, c.Figure("safepoint.operation_s", what+operationTitle(name), by[name].Seconds(), "s", g.OriginOf(by[name].Longest())))
	}
	if late.Seconds() >= p.Seconds()/2 && !crowded {
		v.Title = fmt.Sprintf("One thread takes up to %s to reach a safepoint, and all others wait for it.", units.Time(1e9*late.Longest().Seconds()))
		if most := late.Longest(); most.Seconds() >= check.ASecond.Value {
			v.Title = fmt.Sprintf("One thread took %s to reach a safepoint %s, and all others waited for it.", units.Time(1e9*most.Seconds()), g.formatMoment(most.From))
		}
		g.adviseLate(&v, late)
		return v
	}
	if left.Seconds() >= p.Seconds()/2 && !crowded {
		v.Title = fmt.Sprintf("The JVM took up to %s to leave a safepoint, and all threads waited for it, for %s in total.", units.Time(1e9*left.Longest().Seconds()), units.Time(1e9*left.Seconds()))
		v.Fix = append(v.Fix, check.Fix{Text: "find why the VM thread does not run: a CPU quota, a host without free CPUs, or another process with a higher priority; it wakes the threads one after another"})
		v.Needs = append(v.Needs, check.Need{What: "how long the JVM's threads waited for a CPU, and what else used the CPUs", Command: "unstall record PID"})
		return v
	}
	v.Title = fmt.Sprintf("All threads were paused %[2]s, for %[3]s in total, by %[1]s.", operationTitle(names[0]), units.Times(len(by[names[0]])), units.Time(1e9*by[names[0]].Seconds()))
	if crowded {
		v.Title = fmt.Sprintf("Safepoints other than GC follow one another: %s in %s paused all threads for %s of the time, most of them for %s.", units.Num(float64(len(p))), units.Time(1e9*g.Span), units.Percent(g.ShareOf(p)), operationTitle(names[0]))
	}
	v.Title = g.addWorstToTitle(v.Title, by[names[0]])
	g.adviseOperation(&v, names[0])
	return v
}

var perceptible = check.Threshold{Name: "length of a stop that is no collection, without requests", Value: .01, Unit: "s",
	Why: "each JVM has many that are shorter", Source: "judgement: as long as a call that is noticed"}

// nearlyPerceptible says whether stops that the log names as no collection's are nearly as long as one that is named, and come again.
func nearlyPerceptible(stops []halt) bool {
	n := 0
	for _, s := range stops {
		if !s.reaching && !s.leaving && operationTitle(s.operation) == s.operation && float64(s.To-s.From)/1e9 >= check.Edge.Value*perceptible.Value {
			n++
		}
	}
	return n >= crowding.Int()
}

var crowding = check.Threshold{Name: "short stops one after another", Value: someCounted.Value, Unit: "count",
	Why: "each of them alone, every JVM has", Source: "Poisson error: 1/√5"}

// isCrowded says whether stops that are short each take much of the time, or of a minute of it.
func (g *collector) isCrowded(p metrics.Pauses) bool {
	return len(p) >= crowding.Int() && max(g.ShareOf(p), g.worstMinute(p).Share()) >= check.MuchStopped.Value
}

// wouldMatter says whether pauses would be reported if they were known not to be GC.
func (g *collector) wouldMatter(p metrics.Pauses) bool {
	if len(p) == 0 {
		return false
	}
	return p.Longest().Seconds() >= check.ASecond.Value || max(g.ShareOf(p), g.worstMinute(p).Share()/check.MinuteOf.Value) >= stoppedSpecial.Value && (p.Longest().Seconds() >= perceptible.Value || g.isCrowded(p))
}

// nameless is the name of stops whose log does not tell the operation.
const nameless = "stopped"

func operationTitle(name string) string {
	if name == "" || name == nameless {
		return "a VM operation that the log does not name"
	}
	return name
}

// nonGCStops returns the parts of safepoints that are not pauses of collections; seen says whether
// safepoints were watched at all. A safepoint named after a collection contains a pause even if
// the log does not print it. Untold are stops, without the time to safepoint, that no line names
// in a log without collections: they may be collections or not.
func (g *collector) nonGCStops() (out []halt, untold metrics.Pauses, seen bool) {
	v := &g.c.Bundle.Intervals
	collected := g.All.Spans()
	uncollected := len(g.All) == 0 && !g.Unlogged()
	for _, i := range v.Select(evidence.Safepoint, g.c.Subject) {
		seen = true
		if v.Start[i] < g.From || v.Start[i] >= g.Until {
			continue
		}
		name := g.c.Bundle.Names.Text(v.Cause.At(i))
		if isDump(name) && g.wasDumpTakenAt(v.End[i]) {
			continue
		}
		s := halt{Pause: metrics.Pause{Row: i, From: v.Start[i], To: v.End[i]}, operation: name}
		reach, told := v.Get(i, evidence.ToSafepoint)
		unnamed := uncollected && (name == "" || name == nameless)
		if unnamed {
			untold = append(untold, metrics.Pause{Row: i, From: s.From + int64(max(0, reach)), To: s.To})
		}
		if unnamed || isCollection(name) || collected.Within(s.From, s.To) > (s.To-s.From)/10 {
			if left := g.leavingOf(s.Pause); left > 0 {
				out = append(out, halt{Pause: metrics.Pause{Row: i, From: s.To - left, To: s.To}, operation: name, leaving: true})
			}
			s.To, s.reaching = s.From+int64(reach), true
			if !told || reach <= 0 {
				continue
			}
		}
		out = append(out, s)
	}
	return out, untold, seen
}

// leavingOf returns how long (ns) the threads of a stop took to run again, 0 if its log does not say.
func (g *collector) leavingOf(p metrics.Pause) int64 {
	if left := g.Get(p, evidence.Resuming); left > 0 {
		return min(int64(left), p.To-p.From)
	}
	return 0
}

// isDump says whether an operation is part of a dump of all threads, as jcmd takes it.
func isDump(operation string) bool {
	return containsAny(operation, []string{"PrintThreads", "PrintJNI", "FindDeadlocks"})
}

// answered is the time (ns) after its stop within which a dump is written out.
const answered = int64(1e9)

// wasDumpTakenAt says whether the recording itself took a thread dump at a time: the stop for it
// ends when the recording does.
func (g *collector) wasDumpTakenAt(at int64) bool {
	looks := check.Once(g.c, func(c *check.Case) *dumpTimes {
		d := &dumpTimes{}
		x, typ := &c.Bundle.Samples, c.Bundle.Names.Lookup(evidence.SampleThread)
		for i := range x.Len() {
			if x.Type[i] == typ && x.Subject[i] == c.Subject && x.Time[i] != 0 {
				d.at = append(d.at, x.Time[i])
			}
		}
		slices.Sort(d.at)
		return d
	})
	n, _ := slices.BinarySearch(looks.at, at-answered/10)
	return n < len(looks.at) && looks.at[n] <= at+answered
}

type dumpTimes struct{ at []int64 }

// isCollection says whether a VM operation is a collection, by the names in vmOperation.hpp and
// the collectors.
func isCollection(operation string) bool {
	return containsAny(operation, []string{"Collect", "G1", "CMS_", "CGC_", "ParallelGC", "Shenandoah", "XMark", "XRelocate", "ZMark", "ZRelocate", "ZOperation", "GC_HeapInspection", "SerialGC"})
}

// lateThreads returns the threads that the JVM reported because they did not stop in time, the
// most often reported first.
func lateThreads(c *check.Case) (all []evidence.Fact) {
	for _, f := range c.Bundle.Facts {
		if f.Subject == c.Subject && strings.HasPrefix(f.Key, evidence.FactSafepointLate+": ") {
			all = append(all, f)
		}
	}
	sorting.Short(all, func(a, b evidence.Fact) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(a.Value, b.Value))
	})
	return all
}

// mostLate is how many late threads are reported.
const mostLate = 3

// lateThreads adds the threads that the JVM reported because they did not stop in time as
// evidence, and returns the most often reported; "" if there is none.
func (g *collector) lateThreads(v *check.Verdict) string {
	all := lateThreads(g.c)
	for _, f := range all[:min(mostLate, len(all))] {
		v.Evidence = append(v.Evidence, g.c.Figure("safepoint.late_times", fmt.Sprintf("times that thread %q did not stop in time (SafepointTimeout)", f.Value), f.Number, "count", f.Origin))
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("thread %q", all[0].Value)
}

func (g *collector) adviseLate(v *check.Verdict, ways metrics.Pauses) {
	add := func(text, setting string) { v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting}) }
	version := featureRelease(g.c)
	late := g.lateThreads(v)
	if late != "" {
		add("look at what "+late+" does: the JVM named it, as it did not stop in time", "")
	}
	if guess := g.sayLateThread(v, ways); late == "" && guess != nil {
		v.Fix = append(v.Fix, check.Fix{Text: "look at what thread " + guess.name + " does: it runs while the others wait for it", Code: guess.in})
	}
	if late == "" {
		add("find the late thread: with this the JVM logs the threads that have not stopped after 100 ms", "-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=100")
	}
	switch {
	case g.Is("G1") || g.Is("ZGC") || g.Is("Shenandoah"):
		if version > 0 && version < 10 {
			add("if it is a counted loop: make compiled loops check for safepoints", "-XX:+UseCountedLoopSafepoints")
			break
		}
		add("look for copies of huge arrays, native code that returns late, pages read from disk (swap, mapped files), or a host without free CPUs; it is not loops, which check for safepoints with this collector", "")
	case version == 0 || version >= 10:
		add("make compiled loops check for safepoints every thousand iterations; with Serial, Parallel and CMS, loops over an int do not", "-XX:+UseCountedLoopSafepoints -XX:LoopStripMiningIter=1000")
	default:
		add("make compiled loops over an int check for safepoints; this slows loops by a few percent", "-XX:+UseCountedLoopSafepoints")
	}
	if version >= 25 {
		add("a flight recording shows which thread was late, and its stack (event jdk.SafepointLatency)", "jcmd PID JFR.start duration=60s settings=profile")
	}
	add("or shorten the loop: a loop over a long, or one with calls that are not inlined, checks for safepoints", "")
}

func (g *collector) adviseOperation(v *check.Verdict, name string) {
	add := func(text, setting string) { v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting}) }
	switch {
	case strings.Contains(name, "Bias"):
		add("switch off biased locking: biases are revoked again and again because locks are shared (off by default from JDK 15 on)", "-XX:-UseBiasedLocking")
	case containsAny(name, []string{"ThreadDump", "PrintThreads", "FindDeadlocks", "PrintJNI"}):
		add("take thread dumps less often, and without locked monitors and synchronizers: monitoring agents, deadlock checks or a jstack loop take them", "")
	case strings.Contains(name, "Deoptimize"), strings.Contains(name, "MarkActiveNMethods"):
		add("find why compiled code is discarded: classes loaded late, agents that instrument code, or a full code cache, which makes the JVM compile again and again (-Xlog:codecache)", "")
	case strings.Contains(name, "Redefine"):
		add("attach the agent at the start: it redefines classes in the running JVM", "")
	case strings.Contains(name, "Heap"):
		add("find the tool that inspects or dumps the heap of the running service, and stop it", "")
	case strings.Contains(name, "ICBuffer"):
		add("update the JDK: from JDK 23 on there are no such safepoints, and JDK 18 fixed a GC that cleaned inline caches in use again and again (JDK-8277212)", "")
	case name == evidence.StopAroundCollection:
		add("let the JVM write its verbose GC log in larger pieces, or to a faster disk: all threads wait while it writes (OpenJ9)", "-Xgc:bufferedLogging")
		add("if the log is not written to a slow disk, look for a host without free CPUs, and for pages that were swapped out", "")
	case name == "" || name == nameless || strings.HasPrefix(name, "no vm operation"):
		add("find out which VM operation it is: -Xlog:safepoint (JDK 9 or later), before that -XX:+PrintSafepointStatistics -XX:PrintSafepointStatisticsCount=1", "")
	default:
		add(name+" pauses all threads: run it less often", "")
	}
}
