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
	Title: "threads have to free memory before they get any",
	Step:  check.StepProcessors,
	Doc: `When a control group meets its memory limit, or the host runs out of free pages, whoever
allocates frees memory first (direct reclaim): it looks for pages of files that can be
dropped, or of programs that can be swapped out, in the middle of a page fault or a read.
Above memory.high the kernel besides lets each thread that allocates sleep, the longer the further it is
above. What was dropped and is needed again is read from the disk once more (refaults):
then all of the group waits for the disk although nobody wants anything new.

It shows as stacks with try_to_free_mem_cgroup_pages, try_to_free_pages or
mem_cgroup_handle_over_high, as memory pressure of the group (memory.pressure), as a rate of
high or max in its memory.events, and as refaults in its memory.stat; of the host as pages
that were scanned directly in /proc/vmstat. CPU time for it is the process's own, in the
kernel.

How to tell it from similar problems: new memory that is only touched for the first time costs a
page fault (linux.page-faults), not a search. Where a large page is made by moving others
it is linux.thp-stall; where pages come back from swap, linux.swap.

What helps: a higher limit, or a smaller heap or cache below it; memory.high well below
memory.max, if somebody reacts to it, else only memory.max: memory.high slows threads down without
end, where the limit kills; memory.min for a service whose neighbours fill the memory;
files that are read once not kept (posix_fadvise with POSIX_FADV_DONTNEED, O_DIRECT). On a host
short of free pages, vm.min_free_kbytes and vm.watermark_scale_factor let kswapd begin
sooner, so that fewer threads have to do it themselves.`,
	Thresholds: "5 slow requests that took 1 % of all request time together, a quarter of slow time in reclaim, or in waits for files that were dropped for the limit; without requests, a quarter of the time of threads with work or, without stacks, of all time as the group's memory pressure counts it while it meets its limit",
	Needs:      "memory.pressure, memory.events and memory.stat of its control group, /proc/vmstat: unstall record PID, with --kernel for stacks",
	Applies:    func(c *check.Case) bool { m := reclaim(c); return m.met(c) || shortOf(c) >= slight },
	Judge:      judgeReclaim,
}

// reclaim is the mechanism as it is recognised here: where the group drops files and reads them
// again, waits for the disk are waits for memory.
func reclaim(c *check.Case) *mechanism {
	m := &mechanism{what: "freeing memory", classes: []string{evidence.KernelReclaim}}
	if thrashing(c) {
		m.what = "freeing memory, and reading again what was dropped"
		m.classes = append(m.classes, evidence.KernelDiskFault, evidence.KernelDisk)
		m.onFiles, m.functions = reads, goReads
	}
	if kernelOf(c) == nil && shortOf(c) >= much && !swapping(c) {
		m.calls = []string{"page fault"}
	}
	return m
}

// shortOf is the memory pressure of its group or, where that is not known, of the host; 0 unknown.
func shortOf(c *check.Case) float64 {
	s := strain(c)
	p, _ := pressure(s.Memory, s.HostMemory)
	if !p.Known() {
		return 0
	}
	return p.Number
}

// manyRefaults is how many pages a second are read back from which that is not the start of a program.
const manyRefaults = 100

// thrashing says that the group drops pages of files for its limit and reads them again.
func thrashing(c *check.Case) bool {
	s := strain(c)
	return s.Refaults.Known() && s.Refaults.Number >= manyRefaults && limited(c) > 0
}

// limited is how often a second the group met its limits, 0 unknown.
func limited(c *check.Case) (rate float64) {
	s := strain(c)
	for _, v := range []metrics.Value{s.High, s.Max} {
		if v.Known() {
			rate += v.Number
		}
	}
	return rate
}

func judgeReclaim(c *check.Case) check.Verdict {
	m := reclaim(c)
	v, f := m.judge(c)
	s := strain(c)
	p, of := pressure(s.Memory, s.HostMemory)
	spans := metrics.KernelSpansOf(c.Bundle, c.Subject, span(c))
	figures := reclaimFigures(c, spans)
	switch {
	case toAndFro(c):
		v.State, v.Needs, v.Saves, v.Weight, v.Explains, v.Work, v.Prediction = check.RuledOut, nil, nil, 0, nil, 0, nil
		v.Summary = "memory is freed by swapping out what is read back soon after: see linux.swap"
		v.Evidence = append(v.Evidence, figures...)
		return v
	case v.State == check.Supported:
	case p.Known() && p.Number < slight:
		v.State, v.Needs = check.RuledOut, nil
		v.Summary = fmt.Sprintf("tasks of %s waited for memory for %s of the time", of, units.Percent(p.Number))
		v.Evidence = append(v.Evidence, figures...)
		return v
	case byPressure(c, s):
		v.State, v.Weight, v.Needs = check.Supported, p.Number, []check.Need{kernelEvidence}
		f = finding{share: p.Number, of: "the time"}
	default:
		v.Evidence = append(v.Evidence, figures...)
		return v
	}
	v.Evidence = append(v.Evidence, figures...)
	limit := ""
	if l, ok := c.Bundle.Fact(c.Subject, evidence.FactContainerLimit); ok && l.Number > 0 && limited(c) > 0 {
		limit = " of " + units.Size(l.Number)
	}
	switch {
	case limited(c) > 0 && thrashing(c):
		v.Title = fmt.Sprintf("The memory limit%s leaves no room for the files it reads, which are dropped and read again: %s.", limit, f.portion())
	case limited(c) > 0:
		v.Title = fmt.Sprintf("The memory limit%s makes threads free memory before they get any: %s.", limit, f.portion())
	default:
		v.Title = fmt.Sprintf("Threads free memory before they get any, because the host is short of it: %s.", f.portion())
	}
	v.Summary = f.portion() + " is " + m.what
	high := s.High.Known() && s.High.Number > 0 && !(s.Max.Known() && s.Max.Number >= s.High.Number)
	switch {
	case high:
		v.Fix = append(v.Fix, check.Fix{Text: "raise memory.high, or let the process use less: above it the kernel lets each thread that allocates sleep. Where nobody reacts to it, set memory.max alone"})
	case limited(c) > 0:
		v.Fix = append(v.Fix, check.Fix{Text: "raise the memory limit, or make the heap and caches smaller, so that the files which the service reads fit beside them; files that are read once need not stay (posix_fadvise with POSIX_FADV_DONTNEED)"})
	default:
		v.Fix = append(v.Fix, check.Fix{Text: "find who fills the host's memory (memory.current of each group), limit that (memory.high), and protect this service (memory.min, in systemd MemoryMin=)"},
			check.Fix{Text: "let the kernel begin sooner, in the background: raise vm.watermark_scale_factor"})
	}
	return v
}

// byPressure says whether, without stacks, counters alone show it: no request says what it costs,
// and tasks of the group wait for memory for a quarter of the time while it meets its limit.
func byPressure(c *check.Case, s metrics.Strain) bool {
	return kernelOf(c) == nil && c.Ledger == nil && s.Memory.Known() && s.Memory.Number >= check.Material && limited(c) > 0 && !swapping(c)
}

func reclaimFigures(c *check.Case, spans metrics.KernelSpans) (out []check.Evidence) {
	s := strain(c)
	if p, of := pressure(s.Memory, s.HostMemory); p.Known() {
		out = append(out, c.Figure("host.memory_pressure_share", "share of the time in which a task of "+of+" waited for memory", p.Number, "1", p.Origin))
	}
	for _, x := range []struct {
		id, text, unit string
		v              metrics.Value
	}{
		{"group.memory_high_per_s", "times the group met memory.high", "1/s", s.High}, {"group.memory_max_per_s", "times the group met its memory limit", "1/s", s.Max},
		{"group.refaults_per_s", "pages of files that it read back soon after they were dropped", "1/s", s.Refaults},
		{"host.direct_reclaim_pages_per_s", "pages of the host that were taken back by who allocated", "1/s", s.Direct},
		{"process.reclaim_threads", "threads in direct reclaim for want of memory on the host, on average", "count", spans.Reclaim},
		{"process.limit_reclaim_threads", "threads in reclaim for the group's limit, on average", "count", spans.LimitReclaim},
	} {
		if x.v.Known() && x.v.Number > 0 && !math.IsInf(x.v.Number, 0) {
			out = append(out, c.Figure(x.id, x.text, x.v.Number, x.unit, x.v.Origin))
		}
	}
	return out
}
