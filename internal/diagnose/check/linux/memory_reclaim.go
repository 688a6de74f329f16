package linux

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// MemoryReclaim is threads that free memory before they get some.
var MemoryReclaim = check.Check{
	ID:    "linux.memory-reclaim",
	Title: "threads must free memory before they can allocate",
	Step:  check.StepProcessors,
	Doc: `If a cgroup reaches its memory limit, or the host runs out of free pages, the allocating thread must
free memory first (direct reclaim): it looks for file pages to drop or program pages to swap out, in
the middle of a page fault or a read. Above memory.high the kernel also puts each allocating thread
to sleep, longer the further the cgroup is above it. Dropped pages that are needed again are reread
from the disk (refaults): then the whole cgroup waits for the disk although it reads nothing new.

It shows as stacks with try_to_free_mem_cgroup_pages, try_to_free_pages or
mem_cgroup_handle_over_high, as memory pressure of the group (memory.pressure), as a rate of high or
max in its memory.events, and as refaults in its memory.stat; for the host as directly scanned pages
in /proc/vmstat. The process itself pays the CPU time, in the kernel.

How to tell it from similar problems: the first touch of new memory costs a page fault
(linux.page-faults), not a search. If the kernel moves pages to make a huge one, it is
linux.thp-stall; if pages come back from swap, linux.swap.

What helps: a higher limit, or a smaller heap or cache below it; memory.high well below memory.max
if something reacts to it, else only memory.max: memory.high slows threads down indefinitely, while
the limit kills; memory.min for a service whose neighbours fill the memory; files that are read once
not cached (posix_fadvise with POSIX_FADV_DONTNEED, O_DIRECT). On a host short of free pages,
vm.min_free_kbytes and vm.watermark_scale_factor make kswapd start earlier, so that fewer threads
reclaim memory themselves.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, %v of slow time in reclaim, or in waits for files that the limit dropped; without requests, %v of the time of busy threads or, without stacks, %v memory pressure of the cgroup while it is at its limit; by a listing of perf report alone, %v of the samples; of a host alone, %v that are scanned by allocating threads, and most of all that are, or a container near its limit that reads %v times as much as it may hold, or at one look %v tasks in reclaim that are %v of those whose sleep nothing interrupts",
		check.SomeSlow, check.SlowShare, check.Material, check.Material, check.Material, ofProfile, manyScanned, manyTimesRead, fewTasks, mostTasks),
	Thresholds: []check.Threshold{beyondQueue, busyKernelThread, fewAtWork, fewPages, fewTasks, mostTasks, leastWork, manyRefaults, manyScanned, manyTimesRead, scannedBySelf, much, ofBusyThreads, ofProfile, oneAtWork, slight, check.Arguable,
		check.Material, check.MaterialBeyond, check.TwoKinds, check.MaterialUnseen, check.MinRequests, check.MostlyUnseen, check.Noticeable,
		check.SlowShare, check.SomeSlow, check.WorthTelling},

	Needs: "memory.pressure, memory.events and memory.stat of its cgroup, /proc/vmstat: unstall record PID, with --kernel for stacks",
	Applies: func(c *check.Case) bool {
		m := reclaimMechanism(c)
		if _, scans := judgeScanned(c); scans && c.Ledger == nil {
			return true
		}
		return m.hasEvidence(c) || shortOf(c) >= slight.Value
	},
	Judge:     judgeReclaim,
	JudgeHost: judgeHostReclaim,
}

// reclaimMechanism returns how freeing memory is recognised: where the group drops files and reads
// them again, waits for the disk are waits for memory.
func reclaimMechanism(c *check.Case) *mechanism {
	m := &mechanism{what: "freeing memory", classes: []string{evidence.KernelReclaim}}
	if isThrashing(c) {
		m.what = "freeing memory, and rereading dropped files"
		m.classes = append(m.classes, evidence.KernelDiskFault, evidence.KernelDisk)
		m.onFiles, m.functions = reads, goReads
	}
	if kernelOf(c) == nil && shortOf(c) >= much.Value && !isSwapping(c) {
		m.calls = []string{"page fault"}
	}
	return m
}

// shortOf returns the memory pressure of the group or, where that is not known, of the host; 0 if
// unknown.
func shortOf(c *check.Case) float64 {
	s := strainOf(c)
	p, _ := groupOrHostPressure(s.Memory, s.HostMemory)
	if !p.Known() {
		return 0
	}
	return p.Number
}

var manyRefaults = check.Threshold{Name: "pages read back after the limit dropped them", Value: 100, Unit: "1/s",
	Why: "the start of a program reads fewer", Source: "arithmetic: at 0.1 ms for each on an SSD 1 % of the time; on a disk that seeks, all of it"}

// isThrashing says whether the group drops pages of files because of its limit and reads them
// again.
func isThrashing(c *check.Case) bool {
	s := strainOf(c)
	return s.Refaults.Known() && s.Refaults.Number >= manyRefaults.Value && limitHitRate(c) > 0
}

// limitHitRate returns how often a second the group met its memory limits, 0 if unknown.
func limitHitRate(c *check.Case) (rate float64) {
	s := strainOf(c)
	for _, v := range []metrics.Value{s.High, s.Max} {
		if v.Known() {
			rate += v.Number
		}
	}
	return rate
}

func judgeReclaim(c *check.Case) check.Verdict {
	m := reclaimMechanism(c)
	if scanned, ok := judgeScanned(c); ok && c.Ledger == nil && !m.hasEvidence(c) {
		return scanned
	}
	v, f := m.judgeLoss(c)
	s := strainOf(c)
	p, of := groupOrHostPressure(s.Memory, s.HostMemory)
	spans := metrics.KernelSpansOf(c.Bundle, c.Subject, requestWindow(c))
	figures := reclaimFigures(c, spans)
	if p.Known() {
		v.Weigh(p.Number, slight)
	}
	switch {
	case isSwapThrashing(c):
		v.Rule, v.Needs, v.Saves, v.Weight, v.Explains, v.Work, v.Prediction = check.Explained, nil, nil, 0, nil, 0, nil
		v.Summary = "memory is freed by swapping out pages that are read back soon after: see linux.swap"
		v.Evidence = append(v.Evidence, figures...)
		return v
	case v.Supported():
	case p.Known() && p.Number < slight.Value:
		v.Rule, v.Needs = check.TooLittle, nil
		v.Summary = fmt.Sprintf("tasks of %s waited for memory for %s of the time", of, units.Percent(p.Number))
		v.Evidence = append(v.Evidence, figures...)
		return v
	case byPressure(c, s):
		v.Rule, v.Weight, v.Needs = check.Matters, p.Number, []check.Need{kernelEvidence}
		v.Weigh(p.Number, check.Material)
		f = finding{share: p.Number, of: "the time"}
	default:
		v.Evidence = append(v.Evidence, figures...)
		return v
	}
	v.Evidence = append(v.Evidence, figures...)
	limit := ""
	if l, ok := c.Bundle.Fact(c.Subject, evidence.FactContainerLimit); ok && l.Number > 0 && limitHitRate(c) > 0 {
		limit = " of " + units.Size(l.Number)
	}
	switch {
	case limitHitRate(c) > 0 && isThrashing(c):
		v.Title = fmt.Sprintf("The memory limit%s leaves no room for the files it reads, so they are dropped and reread: %s.", limit, f.formatShare())
	case limitHitRate(c) > 0:
		v.Title = fmt.Sprintf("The memory limit%s makes threads free memory before they can allocate: %s.", limit, f.formatShare())
	default:
		v.Title = fmt.Sprintf("Threads free memory before they can allocate, because the host is short of memory: %s.", f.formatShare())
	}
	v.Summary = f.formatShare() + " is " + m.what
	high := s.High.Known() && s.High.Number > 0 && !(s.Max.Known() && s.Max.Number >= s.High.Number)
	switch {
	case high:
		v.Fix = append(v.Fix, check.Fix{Text: "raise memory.high, or reduce memory use: above it the kernel puts each allocating thread to sleep. If nothing reacts to memory.high, set only memory.max"})
	case limitHitRate(c) > 0:
		v.Fix = append(v.Fix, check.Fix{Text: "raise the memory limit, or make the heap and caches smaller, so that the files which the service reads also fit; drop files that are read once (posix_fadvise with POSIX_FADV_DONTNEED)"})
	default:
		v.Fix = append(v.Fix, check.Fix{Text: "find what fills the host's memory (memory.current of each cgroup), limit it (memory.high), and protect this service (memory.min, in systemd MemoryMin=)"},
			check.Fix{Text: "make the kernel start earlier, in the background: raise vm.watermark_scale_factor"})
	}
	return v
}

// byPressure says whether, without stacks and requests, counters alone show it: tasks of the group
// wait for memory a quarter of the time while it meets its limit.
func byPressure(c *check.Case, s metrics.Strain) bool {
	return kernelOf(c) == nil && c.Ledger == nil && s.Memory.Known() && s.Memory.Number >= check.Material.Value && limitHitRate(c) > 0 && !isSwapping(c)
}

func reclaimFigures(c *check.Case, spans metrics.KernelSpans) (out []check.Evidence) {
	s := strainOf(c)
	if p, of := groupOrHostPressure(s.Memory, s.HostMemory); p.Known() {
		out = append(out, c.Figure("host.memory_pressure_share", "share of the time in which a task of "+of+" waited for memory", p.Number, "1", p.Origin))
	}
	for _, x := range []struct {
		id, text, unit string
		v              metrics.Value
	}{
		{"group.memory_high_per_s", "times the cgroup reached memory.high", "1/s", s.High}, {"group.memory_max_per_s", "times the cgroup reached its memory limit", "1/s", s.Max},
		{"group.refaults_per_s", "file pages that it reread soon after they were dropped", "1/s", s.Refaults},
		{"host.direct_reclaim_pages_per_s", "pages of the host reclaimed by allocating threads (direct reclaim)", "1/s", s.Direct},
		{"process.reclaim_threads", "threads in direct reclaim because the host was short of memory, on average", "count", spans.Reclaim},
		{"process.limit_reclaim_threads", "threads in reclaim because of the cgroup's limit, on average", "count", spans.LimitReclaim},
	} {
		if x.v.Known() && x.v.Number > 0 && !math.IsInf(x.v.Number, 0) {
			out = append(out, c.Figure(x.id, x.text, x.v.Number, x.unit, x.v.Origin))
		}
	}
	return out
}
