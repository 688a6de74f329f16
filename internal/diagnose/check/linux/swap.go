package linux

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Swap is waiting for memory that was swapped out.
var Swap = check.Check{
	ID:    "linux.swap",
	Title: "memory that was swapped out is read back in the middle of requests",
	Step:  check.StepProcessors,
	Doc: `If memory is short, the kernel writes unused pages of a program to swap. The next access waits until
the page is read back: 0.1 ms from an SSD, 10 ms from a hard disk, one page after the other. A
garbage collector that walks its heap, or a program that touches all of a large table, waits for
each of them.

It shows as stacks with do_swap_page, as major page faults of the process while pswpin of
/proc/vmstat grows, and as refaults of anonymous memory in the group's memory.stat. Swap in use
proves nothing: pages that are swapped out and never accessed cost nothing.

How to tell it from similar problems: major faults without pages from swap read files
(linux.disk-busy). If memory is only freed, not read back, it is linux.memory-reclaim.

What helps: more memory, or less of it in use: smaller heaps and caches, fewer programs on the host. For one
service: memory.min (MemoryMin= in systemd) so that the kernel takes other memory first,
memory.swap.max=0 (MemorySwapMax=0) so that it is never swapped out, mlockall for a small
one. vm.swappiness low makes the kernel drop files first; 0 does not switch swap off. Zswap or zram make reading back cheaper.`,
	Least: fmt.Sprintf("pages read from swap, and %v of slow time in these reads with %v slow requests with %v of all request time; without requests, %v of the time of busy threads or, without stacks, memory pressure in %v of the time while the process has major faults; of a host alone, 256 pages/s read from swap and as many written, and CPUs that wait for disks %v of the time",
		check.Material, check.SomeSlow, check.SlowShare, check.Material, check.Material, check.Material),
	Thresholds: []check.Threshold{beyondQueue, fewAtWork, fewPages, leastWork, manyPages, ofBusyThreads, oneAtWork, check.Arguable, check.Material,
		check.MaterialBeyond, check.TwoKinds, check.MaterialUnseen, check.MinRequests, check.MostlyUnseen, check.Noticeable, check.SlowShare,
		check.SomeSlow, check.WorthTelling},

	Needs:     "/proc/vmstat and the process's major faults: unstall record PID, with --kernel for stacks",
	Applies:   func(c *check.Case) bool { m := swapIn(c); return m.hasEvidence(c) || strainOf(c).SwapIn.Known() },
	Judge:     judgeSwap,
	JudgeHost: judgeHostSwap,
}

var fewPages = check.Threshold{Name: "pages read from swap below which nothing is slower", Value: 10, Unit: "1/s",
	Why: "some ms of a disk", Source: "arithmetic: at 0.1 ms for each on an SSD 0.1 % of the time; on a disk that seeks, a tenth"}

// isSwapping says whether pages are read back from swap.
func isSwapping(c *check.Case) bool {
	s := strainOf(c)
	return s.SwapIn.Known() && s.SwapIn.Number >= fewPages.Value
}

// isSwapThrashing says whether the kernel swaps out pages that are soon read back, rather than dropping file pages. Reclaiming
// memory is then a part of swapping.
func isSwapThrashing(c *check.Case) bool {
	s := strainOf(c)
	return isSwapping(c) && s.SwapOut.Known() && s.SwapOut.Number >= fewPages.Value && !(s.Refaults.Known() && s.Refaults.Number > s.SwapIn.Number)
}

// swapIn matches waits for swapped pages. Major faults count too while the host reads from swap, because a fault does not
// name its source.
func swapIn(c *check.Case) *mechanism {
	m := &mechanism{what: "reading memory back from swap", classes: []string{evidence.KernelSwapIn}}
	if isSwapThrashing(c) {
		m.what = "swapping memory out and reading it back"
		m.classes = append(m.classes, evidence.KernelReclaim)
	}
	if s := strainOf(c); kernelOf(c) == nil && isSwapping(c) && s.MajorFaults.Known() && s.MajorFaults.Number >= fewPages.Value {
		m.calls = []string{"page fault"}
	}
	return m
}

func judgeSwap(c *check.Case) check.Verdict {
	m := swapIn(c)
	v, f := m.judgeLoss(c)
	s := strainOf(c)
	var figures []check.Evidence
	if s.SwapIn.Known() {
		figures = append(figures, c.Figure("host.swap_in_pages_per_s", "pages of the host read from swap", s.SwapIn.Number, "1/s", s.SwapIn.Origin))
	}
	if s.SwapOut.Known() {
		figures = append(figures, c.Figure("host.swap_out_pages_per_s", "pages of the host written to swap", s.SwapOut.Number, "1/s", s.SwapOut.Origin))
	}
	if s.MajorFaults.Known() {
		figures = append(figures, c.Figure("process.major_faults_per_s", "major page faults of the process", s.MajorFaults.Number, "1/s", s.MajorFaults.Origin))
	}
	v.Evidence = append(v.Evidence, figures...)
	if s.SwapIn.Known() {
		v.Weigh(s.SwapIn.Number, fewPages)
	}
	p, _ := groupOrHostPressure(s.Memory, s.HostMemory)
	switch {
	case s.SwapIn.Known() && s.SwapIn.Number < fewPages.Value:
		v.Rule, v.Needs, v.Saves, v.Weight, v.Explains = check.TooLittle, nil, nil, 0, nil
		v.Summary = fmt.Sprintf("%s pages/s were read from swap", units.Num(s.SwapIn.Number))
		return v
	case v.Supported():
	case s.MajorFaults.Known() && s.MajorFaults.Number < fewPages.Value:
		v.Rule, v.Needs = check.TooLittle, nil
		v.Weigh(s.MajorFaults.Number, fewPages)
		v.Summary = fmt.Sprintf("the process had %s major page faults/s", units.Num(s.MajorFaults.Number))
		if s.SwapIn.Known() {
			v.Summary = fmt.Sprintf("%s pages/s were read from swap on the host, but %s", units.Num(s.SwapIn.Number), v.Summary)
		}
		return v
	case kernelOf(c) == nil && c.Ledger == nil && isSwapping(c) && s.MajorFaults.Known() && p.Known() && p.Number >= check.Material.Value:
		v.Rule, v.Weight, v.Needs = check.Matters, p.Number, []check.Need{kernelEvidence}
		v.Weigh(p.Number, check.Material)
		f = finding{share: p.Number, of: "the time"}
	default:
		if kernelOf(c) == nil && c.Ledger == nil && !s.MajorFaults.Known() { // the process's part is not known, but the host does little else
			if w, ok := judgeHostSwap(c); ok {
				return w
			}
		}
		return v
	}
	v.Title = fmt.Sprintf("%s wait for memory that was swapped out: %s.", f.who(), f.formatShare())
	v.Summary = f.formatShare() + " is " + m.what
	v.Fix = append(v.Fix,
		check.Fix{Text: "give the host more memory, or use less of it: smaller heaps and caches, fewer programs"},
		check.Fix{Text: "protect this service: memory.min of its group (MemoryMin= in systemd) for what it needs, or memory.swap.max of 0 (MemorySwapMax=0), so that it is never swapped out"},
		check.Fix{Text: "make the kernel drop files before it swaps programs out", Setting: "vm.swappiness=1"})
	return v
}
