package linux

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/model/hugepages"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// THPStall is time lost to getting transparent huge pages.
var THPStall = check.Check{
	ID:    "linux.thp-stall",
	Title: "page faults are slow because the kernel makes huge pages",
	Step:  check.StepProcessors,
	Doc: `With transparent huge pages (THP) one page fault provides 2 MiB instead of 4 KiB. If none
is free, and the settings allow it (/sys/kernel/mm/transparent_hugepage: defrag=always,
or defrag=madvise for memory that requests them), the faulting thread first moves other
pages until there is room for one: direct compaction. On a host with fragmented memory
that takes milliseconds, often without success, and each fault pays again: an operation
of 9 µs was measured to take 8 to 11 ms.

Free huge pages also cost time: the kernel clears the whole page, however little of it is
used. A fault for a huge page takes as long as about 20 faults for small pages, so an
allocator that touches a few bytes of each 2 MiB and returns the memory pays ten times as
much with huge pages, and holds more memory.

It shows as system time instead of user time, in page faults: in kernel stacks under
__alloc_pages_direct_compact, or clearing pages under do_huge_pmd_anonymous_page; in
/proc/vmstat as compact_stall and thp_fault_fallback that rise. The share of system time
alone proves nothing: any program that maps, touches and unmaps memory has it, with or
without huge pages.

How to tell it from similar problems: compaction without page faults on the stack is for
kernel buffers; linux.page-faults is many small faults, which huge pages reduce;
khugepaged makes huge pages in the background and delays no thread.

What helps, least first: defrag=defer+madvise (a fault takes a free huge page, else small
ones; kcompactd makes room in the background) keeps the benefit of huge pages. For a
program that uses little of each: THP off for it alone (unstall run --thp=off, or
PR_SET_THP_DISABLE of prctl(2)), or enabled=madvise for the host, which gives them to
programs that request them. unstall try thp=never --host tries it for two minutes and
restores the setting. enabled=never for the whole host also takes them from programs they
help: if most of each page is used they save nine in ten page faults, and TLB misses.

Outdated advice: since Linux 5.8 a write after a fork copies 4 KiB of a huge page, not 2
MiB, and THP makes the fork of a Redis of 2 GB 30 times faster there (LATENCY DOCTOR
predates this). MongoDB wants THP on from 8.0, off before; Oracle wants madvise; Go since
1.21.4 requests none for its heap.`,
	Least: fmt.Sprintf("%v of the process's CPU time, and 3 %% of a CPU or %v of slow request time; with requests, threads in it for %v of request time; by a listing of perf report alone, %v of the samples",
		worthTHP, check.Material, check.Arguable, ofProfile),
	Thresholds: []check.Threshold{beyondQueue, fewAtWork, leastTHP, leastWork, ofBusyThreads, ofProfile, oneAtWork, someStalls, suspectTHP, worthTHP, check.Arguable,
		check.Material, check.MaterialBeyond, check.TwoKinds, check.MaterialUnseen, check.MinRequests, check.MostlyUnseen, check.Noticeable,
		check.SlowShare, check.SomeSlow, check.WorthTelling},

	Needs:     "kernel stacks (unstall record PID --kernel); else /proc/vmstat, which can rule it out",
	Applies:   func(c *check.Case) bool { return thpOf(c).isKnown() },
	Judge:     judgeTHP,
	JudgeHost: judgeHostTHP,
}

// Parts of a process's CPU time for huge pages: from the first they are reported; from the second the counters of a host without stacks
// justify a closer look.
var (
	worthTHP = check.Threshold{Name: "share of the process's CPU time in making huge pages", Value: .2, Unit: "1",
		Why: "less is within what requests differ by", Source: "judgement: weighs a change of a setting of the host against what requests differ by; without it the same work takes a fifth less CPU time"}
	suspectTHP = check.Threshold{Name: "share of the process's CPU time from which the counters of a host deserve a second look", Value: .1, Unit: "1",
		Why: "half of what is named", Source: "arithmetic: half of what is named"}
)

var leastTHP = check.Threshold{Name: "CPU that making huge pages takes", Value: .03, Unit: "CPUs",
	Why: "30 ms a second", Source: "arithmetic: 30 ms of CPU time in each second"}

var someStalls = check.Threshold{Name: "times that a thread on the host compacted memory", Value: 3, Unit: "1/s",
	Why: "at some ms each, from a few on they matter", Source: "measured: 8.4–11.1 ms for each 8 MiB mapped where memory is fragmented and defrag is always (Linux 6.18)"}

var kernelStacks = check.Need{What: "kernel stacks of the process, to show what its page faults do", Command: "unstall record PID --kernel"}

func judgeTHP(c *check.Case) check.Verdict {
	t := thpOf(c)
	v := check.Verdict{Rule: check.TooLittle, Evidence: t.listFigures(c)}
	switch {
	case !t.isSampled():
		return t.byCounters(c, v)
	}
	v.Summary = t.summaryText()
	if t.compactsElsewhere() {
		v.Summary = fmt.Sprintf("compaction takes %s of the CPU time, but for kernel buffers, not for huge pages", units.Percent(t.Seen.Running.Elsewhere))
		return v
	}
	share, ok := t.ofRequests(c)
	v.Weigh(t.costShare(), worthTHP)
	v.Weigh(t.costShare()*t.CPU, leastTHP)
	if t.costShare() < worthTHP.Value || t.costShare()*t.CPU < leastTHP.Value && !(ok && share >= check.Material.Value) {
		if t.isHelpful() {
			v.Summary = t.helpfulText()
			v.Prediction = append(v.Prediction, t.predictWithoutTHP())
		}
		return v
	}
	// Requests lose more than the threads that work on them, because others wait behind these for a CPU or a lock of the memory map. They lose
	// no more than its part of all work.
	if ok && share < check.Arguable.Value {
		v.Summary += fmt.Sprintf(", but that is %s of slow request time", units.Percent(share))
		return v
	}
	v.Rule = check.Matters
	v.Title = t.titleText()
	v.Work, v.Weight = min(1, t.costShare()), t.costShare()*t.CPU
	if ok && c.Slow() {
		total := float64(c.Ledger.Total)
		v.Saves = c.Bound(share*total, 0, max(share, min(1, t.costShare()))*total)
	}
	v.Prediction = append(v.Prediction, t.predictKernelTime())
	t.useRequestLoss(c, &v)
	v.Fix = t.listFixes(c)
	return v
}

// useRequestLoss takes what requests themselves were seen to lose, where that is more than their
// part of what the process lost: some requests do more of it than others.
func (t *thp) useRequestLoss(c *check.Case, v *check.Verdict) {
	m := &mechanism{what: "compacting memory", classes: []string{evidence.KernelCompaction}}
	if t.sparseShare() > 0 {
		m.what, m.classes = "allocating huge pages", append(m.classes, evidence.KernelPageFault)
	}
	v.Explains = func(p *ledger.Place) bool { return m.matchesPlace(c, p) }
	seen, _ := m.judgeLoss(c)
	if seen.Supported() && seen.Saves != nil && (v.Saves == nil || seen.Saves.Value > v.Saves.Value) {
		v.Saves, v.Explains = seen.Saves, seen.Explains
		v.Work = max(v.Work, seen.Work)
	}
	v.Evidence = append(v.Evidence, m.stackEvidence(c, kernelOf(c))...)
}

// byCounters judges by the host's counters, which can clear huge pages but not show that they are
// the cause.
func (t *thp) byCounters(c *check.Case, v check.Verdict) check.Verdict {
	s, stalls := t.System/t.CPU, t.Seen.Stalls.Mostly()
	v.Summary = fmt.Sprintf("page faults compacted memory %s times per second on the host", units.Num(stalls.Number))
	excess := 0.
	if saved := t.Saved(); saved.Known() && saved.Low > 0 {
		excess = saved.Value / t.CPU
	}
	switch {
	case t.isIdle():
		v.Rule, v.Summary = check.Absent, t.summaryText()
	case math.IsNaN(s):
		v.Rule, v.Needs = check.NotRecorded, []check.Need{kernelStacks}
	case s < worthTHP.Value:
		v.Weigh(s, worthTHP)
		v.Summary = fmt.Sprintf("the process uses only %s of its CPU time in the kernel", units.Percent(s))
	case t.System < leastTHP.Value && !inKernel(c):
		v.Weigh(t.System, leastTHP)
		v.Summary = fmt.Sprintf("the process uses only %s of a CPU in the kernel", units.Percent(t.System))
	case t.isHelpful() && !(stalls.Number >= someStalls.Value): // compaction is not included in the faults' cost
		v.Weigh(excess, suspectTHP)
		v.Summary = t.helpfulText()
		v.Prediction = append(v.Prediction, t.predictWithoutTHP())
	case stalls.Number >= someStalls.Value || excess >= suspectTHP.Value:
		v.Rule, v.Needs = check.CostUnknown, []check.Need{kernelStacks}
		v.Summary += fmt.Sprintf(", and the process uses %s of its CPU time in the kernel", units.Percent(s))
		if t.Enabled != "" {
			v.Summary += fmt.Sprintf(" (enabled=%s, defrag=%s)", t.Enabled, t.Defrag)
		}
	default:
		v.WeighOne(stalls.Number, someStalls)
		v.WeighOne(excess, suspectTHP)
	}
	return v
}

// thp is what huge pages do to a process.
type thp struct{ *hugepages.Use }
