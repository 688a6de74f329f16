package jvm

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// GCKernelTime is collections that spend their time in the kernel instead of on objects.
var GCKernelTime = check.Check{
	ID:    "jvm.gc-kernel-time",
	Title: "garbage collections spend their CPU time in the kernel",
	Step:  check.StepCollector,
	Doc: `Copying and marking objects is work in user mode. Where GC threads use more system than
user time (user=0.04 sys=0.35 in [Times: …], or the gc,cpu lines of unified logs), the
kernel works for them: it provides pages that were never touched (a heap that grows, or
was returned, without -XX:+AlwaysPreTouch), reads pages that were swapped out, zeroes
and compacts transparent huge pages, or migrates pages between NUMA nodes. All threads
wait, because this is a stop-the-world pause.

The log does not show which of these it is; the kernel's counters do: page faults of the process,
pages read from swap, huge pages split and compaction stalls in /proc/vmstat, memory
pressure.

How to tell it from similar problems: if user time is the larger part, GC really works
(jvm.young-gc-rate, jvm.full-gc); if both together are far below the wall time, GC threads did
not run at all (jvm.gc-cpu-starved), or waited for a disk: swapped pages cost little CPU and much
wall time.

What helps: -Xms equal to -Xmx with -XX:+AlwaysPreTouch (pages are touched once, at the
start, which takes longer then); no swap for this host or container (swapoff, or a lower
limit and vm.swappiness 1); transparent huge pages set to madvise with
-XX:+UseTransparentHugePages, or static huge pages. What does not help: another
collector, which touches the same pages.`,
	Least: fmt.Sprintf("0.25 s of system time (25 ticks of the log's clock) in collections that have more of it than user time, and 1 %% of the time lost, or %v of slow time",
		check.Material),
	Thresholds: []check.Threshold{halfOne, leastKernel, leastPart, leastWatched, longMinutes, mostFreed, mostOfThem, muchFaults, muchHuge, muchStalled,
		muchSwap, leastPaced, pacePart, oldEmpty, oldRoomy, permFull, sameStop, stoppedPart, stoppedSpecial, stoppedYoung, unified, worthKernel, worthStarved, check.ASecond,
		check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost, check.HostFull, check.LeastStopped, check.LongPause,
		check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow, check.MostlyUnseen, check.MuchStopped, check.NearlyFull,
		check.Noticeable, check.NoticeableCall, check.OftenPaused, check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "a GC log with CPU times; /proc of the host, to show why",
	Applies: isJVM,
	Judge:   unlessPartial(judgeKernel),
}

// worthKernel is the system time of a collection from which on it counts, ns, leastKernel
// what they must have used together to be worth naming, s: the times of logs are counted in
// ticks of 10 ms, and 25 of them are known within a fifth.
var (
	worthKernel = check.Threshold{Name: "system time of a collection that counts", Value: 20e6, Unit: "ns",
		Why: "logs count ticks of 10 ms", Source: "arithmetic: two ticks"}
	leastKernel = check.Threshold{Name: "system time of such collections together", Value: .25, Unit: "s",
		Why: "25 ticks of 10 ms are known within a fifth", Source: "Poisson error: 1/√25"}
)

func judgeKernel(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	if g.Unlogged() {
		return unlogged
	}
	user, system, _ := g.CPUOf(g.Pauses)
	if math.IsNaN(user) && len(g.Pauses) > 0 {
		return g.noCPUTimesVerdict()
	}
	p := g.Pauses.Where(g.inKernel)
	var v check.Verdict
	if len(p) == 0 {
		v.Rule, v.Summary = check.Absent, fmt.Sprintf("collections used %s s of user and %s s of system CPU time", units.Num(user), units.Num(system))
		if len(g.Pauses) == 0 {
			v.Summary = "no collections"
		}
		return v
	}
	u, s, _ := g.CPUOf(p)
	part := s / (u + s)
	what := "collections with more system than user time"
	g.judgePart(&v, "jvm.gc-kernel-time", p, part, what)
	v.Evidence = append(v.Evidence,
		c.Figure("gc.these_user_s", "user time of these collections", u, "s", g.OriginOf(p[0])),
		c.Figure("gc.these_system_s", "system time of these collections", s, "s", g.OriginOf(p[0])),
		c.Figure("gc.user_s", "user time of all collections", user, "s", g.Origin),
		c.Figure("gc.system_s", "system time of all collections", system, "s", g.Origin))
	why, seen := g.kernelWork()
	v.Evidence = append(v.Evidence, why.figures...)
	if !v.Supported() {
		return v
	}
	if s < leastKernel.Value && p.Longest().Seconds() < check.ASecond.Value {
		v.Rule, v.Saves, v.Needs = check.TooLittle, nil, nil
		v.Weigh(s, leastKernel)
		v.Summary = fmt.Sprintf("%s used %s of system CPU time, which the log counts in steps of 10 ms: too little to matter", units.Plural(len(p), "collection"), units.Time(1e9*s))
		return v
	}
	v.Title = fmt.Sprintf("%d of %s spent %s of their CPU time in the kernel.", len(p), units.Plural(len(g.Pauses), "collection"), units.Percent(part))
	if why.what != "" {
		v.Title = fmt.Sprintf("%d of %s spent %s of their CPU time in the kernel: %s.", len(p), units.Plural(len(g.Pauses), "collection"), units.Percent(part), why.what)
	}
	v.Title = g.addWorstToTitle(v.Title, p)
	v.Fix = append(v.Fix, g.kernelFix(why)...)
	if !seen {
		v.Needs = append(v.Needs, check.Need{What: "what the kernel does: page faults, swap and huge pages from /proc at the same time (vmstat 1 shows them too)", Command: "unstall record PID"})
	}
	return v
}

// inKernel says whether a collection spent most of its CPU time in the kernel.
func (g *collector) inKernel(x metrics.Pause) bool {
	s := g.Get(x, evidence.SystemCPU)
	return s >= worthKernel.Value && s > g.Get(x, evidence.UserCPU)
}

var leastPart = check.Threshold{Name: "part of pauses that counts, which bounds how long they may be", Value: .01, Unit: "1",
	Why: "below, none is long enough for it", Source: "arithmetic: pauses of which it is 1 % take at most all of the time, of which it is then 1 %: the p99"}

// judgePart is judgePauses for a part of what the pauses cost.
func (g *collector) judgePart(v *check.Verdict, cause string, p metrics.Pauses, part float64, what string) {
	c := g.c
	least := stoppedPart
	least.Value /= max(part, leastPart.Value)
	of := g.newPaused(cause, p, what, least)
	g.judgePauses(v, cause, p, what, of.Least)
	if v.Saves == nil && !v.RuledOut() {
		v.Weight *= part
		return
	}
	b := g.billOf(p).Scaled(part)
	v.Weight *= part
	if b == nil {
		return
	}
	v.Rule, v.Saves, v.Needs = check.TooLittle, nil, nil
	c.JudgeBill(v, b, of)
	c.JudgeLength(v, of, b)
}

var stoppedPart = check.Threshold{Name: "share of the time lost in pauses, where no requests tell their cost", Value: .01, Unit: "1",
	Why: "what need not be is worth naming from less on", Source: "PASTA (R. Wolff, Operations Research 30, 1982): 1 % of what arrives at random meets one: the p99"}

// kernelWork is what the kernel did meanwhile.
type kernelWork struct {
	what    string
	swap    bool
	huge    bool
	faults  bool
	figures []check.Evidence
}

// What is worth telling of what the kernel does, each second.
var (
	muchSwap = check.Threshold{Name: "pages read from swap, or major faults, while collections run", Value: 10, Unit: "1/s",
		Why: "fewer are no reason for system time", Source: "arithmetic: at 10 ms for each on a disk that seeks, a tenth of the time"}
	muchHuge = check.Threshold{Name: "huge pages allocated or split, or stalls of compaction", Value: 5, Unit: "1/s",
		Why: "fewer are no reason for system time", Source: "arithmetic: at 2.1–2.8 ms for each where memory is fragmented (8.4–11.1 ms for 8 MiB mapped, measured on Linux 6.18), 1 % of the time"}
	muchFaults = check.Threshold{Name: "minor faults", Value: 2000, Unit: "1/s",
		Why: "8 MiB of new memory a second", Source: "arithmetic: 4 KiB each"}
	muchStalled = check.Threshold{Name: "share of the time stalled by lack of memory", Value: .02, Unit: "1",
		Why: "what a quiet host has stays below", Source: "judgement: weighs a stall that passes against a lack of memory; by PASTA (R. Wolff, Operations Research 30, 1982) one request in fifty meets it"}
)

// kernelWork returns what the kernel did meanwhile; seen is false where that was not recorded.
func (g *collector) kernelWork() (w kernelWork, seen bool) {
	p, h := metrics.ProcessOf(g.c.Bundle, g.c.Subject, g.Window), metrics.HostMemoryOf(g.c.Bundle, g.Window)
	read := func(id string, v metrics.Value, text string) float64 {
		if !v.MostlyKnown() {
			return 0
		}
		seen = true
		w.figures = append(w.figures, g.c.Figure(id, text, v.Number, "1/s", v.Origin))
		return v.Number
	}
	major := read("process.major_faults_per_s", p.MajorFaults, "major page faults of the process")
	swap := read("host.swap_in_pages_per_s", h.SwapIn, "pages the host read from swap")
	minor := read("process.minor_faults_per_s", p.MinorFaults, "minor page faults of the process")
	huge := read("host.huge_faults_per_s", h.HugeFaults, "huge pages allocated on the host")
	split := read("host.huge_splits_per_s", h.HugeSplits, "huge pages split on the host")
	stall := read("host.compact_stalls_per_s", h.CompactStalls, "waits for memory compaction on the host")
	if h.Pressure.MostlyKnown() && h.Pressure.Number >= muchStalled.Value {
		w.figures = append(w.figures, g.c.Figure("host.memory_pressure_share", "share of the time in which some task on the host waited for memory", h.Pressure.Number, "1", h.Pressure.Origin))
	}
	switch {
	case major >= muchSwap.Value || swap >= muchSwap.Value:
		w.swap, w.what = true, "pages are read from swap"
	case stall >= muchHuge.Value || split >= muchHuge.Value:
		w.huge, w.what = true, "huge pages are allocated and split"
	case minor >= muchFaults.Value:
		w.faults, w.what = true, "the heap's pages are touched for the first time"
		w.huge = huge >= muchHuge.Value
	}
	return w, seen
}

func (g *collector) kernelFix(w kernelWork) (out []check.Fix) {
	touch := check.Fix{Text: "touch the heap's pages once at the start, and return none", Setting: "-XX:+AlwaysPreTouch"}
	if heap := sizeFlag("-Xms", g.Flag(evidence.FactMaxHeapSize)); heap != "" {
		touch.Setting = joinFlags(heap, touch.Setting)
	} else if heap := g.Capacity.Number; !math.IsNaN(heap) {
		touch.Text += "; with -Xms equal to -Xmx"
	}
	if featureRelease(g.c) >= 12 && g.Is("G1") || g.Is("ZGC") || g.Is("Shenandoah") {
		touch.Text += " (with -Xms equal to -Xmx this collector also returns no memory while idle)"
	}
	pages := check.Fix{Text: "use huge pages only on request, and request them for the heap", Setting: "-XX:+UseTransparentHugePages", Code: "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled\necho defer+madvise >/sys/kernel/mm/transparent_hugepage/defrag"}
	swap := check.Fix{Text: "keep the heap out of swap: free memory on this host, swapoff, or vm.swappiness=1", Code: "sysctl vm.swappiness=1"}
	if isNotLinux(g.c) {
		swap = check.Fix{Text: "keep the heap out of swap: free memory on this host"}
	}
	switch {
	case w.swap:
		return []check.Fix{swap, touch}
	case w.huge && !w.faults:
		return []check.Fix{pages, touch}
	case w.faults:
		return []check.Fix{touch, pages}
	}
	return []check.Fix{touch, swap, pages}
}
