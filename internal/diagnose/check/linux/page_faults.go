package linux

import (
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// PageFaults is time lost to the first use of memory.
var PageFaults = check.Check{
	ID:    "linux.page-faults",
	Title: "the process grows into new memory, with a page fault per page",
	Step:  check.StepProcessors,
	Doc: `The kernel provides requested memory only when it is touched: it takes a page fault, finds a page
and clears it: some 0.5–2 µs per 4 KiB, more in virtual machines. A heap that grows into new memory
pays this in the middle of requests. After a start with a large GOMEMLIMIT, ballast or -Xmx the
first fill of the heap can take many seconds. It passes: once all of the heap has been touched,
there are no more faults.

It shows as own work that takes longer while the heap is larger than ever before, while
GC is idle; a CPU profile shows clearing (runtime.memclrNoHeapPointers) under
allocation. Minor page faults of the process (/proc/PID/stat) prove it.

If it continues while no more memory becomes resident, the same memory is returned to the system and
requested again: an allocator that maps and unmaps large buffers for each request (malloc above
M_MMAP_THRESHOLD, a scavenger, madvise).

How to tell it from similar problems: GC does not run at that time, so it is not
go.gc-rate.

What helps: for memory taken again and again, keeping it: buffers that are reused, or an
allocator that does not return them. For a heap that grows: waiting for it to pass before judging a change of heap size; warming up or
pre-touching before the service takes traffic; transparent huge pages for the heap.`,
	Least: fmt.Sprintf("20 requests inside and outside the time in which the heap grew, 50 %% more work inside, and %v of slow time; without requests, page faults that take %v of the CPU time, and 0.25 CPUs",
		check.Material, clearsMuch),
	Thresholds: []check.Threshold{inKernelCPU, calm, clears, clearsMuch, fewFaults, kept, longer, manyFaults, mostly, noticed, check.Arguable, check.Material,
		check.MinRequests, check.MostlyUnseen, check.NoticeableCall, check.SlowShare, check.SomeSlow},

	Needs:   "minor page faults of the process (/proc/PID/stat), or an execution trace from the start: " + Record,
	Applies: func(c *check.Case) bool { return true },
	Judge:   judgeFaults,
}

var faultEvidence = check.Need{What: "minor page faults of the process (field 10 of /proc/PID/stat). While it happens, with the service's PID", Command: Record}

// A request met new memory if the heap grew for most of it. Its own work then takes longer by a share that exceeds the differences among requests.
var (
	mostly = check.Threshold{Name: "part of a request in which the heap grew", Value: .5, Unit: "1",
		Why: "the request met new memory", Source: "arithmetic: half"}
	longer = check.Threshold{Name: "work of requests that met new memory, over that of others", Value: 1.5, Unit: "times",
		Why: "requests differ by less", Source: "arithmetic: a third of their work is then what the others do not have (1 − 1/1.5)"}
)

// Parts of its CPU time that a process spends on clearing memory for allocations: from the first, faults are reported; from the second,
// they may be the reason where nothing can be compared. A profile sees the clearing, about half of a fault's cost.
var (
	clears = check.Threshold{Name: "share of CPU time that clears memory, by a profile", Value: .1, Unit: "1",
		Why: "a profile sees half of what a fault costs", Source: "arithmetic: as a profile sees half of what a fault costs, a fifth of CPU time"}
	clearsMuch = check.Threshold{Name: "share of CPU time that clears memory, where nothing can be compared", Value: .2, Unit: "1",
		Why: "it may be the reason", Source: "arithmetic: as a profile sees half of what a fault costs, two fifths of CPU time"}
)

const (
	ofFault = .5
)

func judgeFaults(c *check.Case) check.Verdict {
	heap := c.Series(evidence.SeriesGoHeap)
	if c.Ledger == nil || len(c.Ledger.Rows) < ledger.MinRequests {
		if v, ok := faultsByStacks(c); ok {
			return v
		}
	}
	if f := faultsOf(c); f != nil {
		return f.judgeCounted(c, heap)
	}
	if !c.Traced() || heap == nil || len(heap.T) < 2 {
		return faultsByProfile(c)
	}
	l := c.Ledger
	fresh := freshMemory(heap)
	var inside, outside []int64
	r := &c.Bundle.Requests
	for _, row := range l.KnownRows() {
		ch := l.Of(row)
		work := ch[ledger.Own] + ch[ledger.Kernel]
		switch part := float64(fresh.Within(r.Begins(row), r.End.At(row))) / float64(max(1, r.Latency(row))); {
		case part > mostly.Value:
			inside = append(inside, work)
		case part == 0:
			outside = append(outside, work)
		}
	}
	origin := check.From(l.StatesFrom())
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("the heap grew into new memory during %d of %d requests", len(inside), len(l.Rows))}
	v.Evidence = append(v.Evidence, c.Figure("heap.grew_requests", "requests while the heap grew into new memory", float64(len(inside)), "count", origin))
	if len(inside) < ledger.MinRequests {
		v.Weigh(float64(len(inside)), check.MinRequests)
		return v
	}
	if len(outside) < ledger.MinRequests {
		return alwaysFresh(c, heap, v)
	}
	slices.Sort(inside)
	slices.Sort(outside)
	in, out := stats.Quantile(inside, .5), stats.Quantile(outside, .5)
	v.Evidence = append(v.Evidence,
		c.Figure("requests.own_while_heap_grew_ms", "own work of a request during that (median)", float64(in)/1e6, "ms", origin),
		c.Figure("requests.own_otherwise_ms", "own work of a request otherwise (median)", float64(out)/1e6, "ms", origin))
	per := make([]int64, len(l.Slow))
	var extra int64
	lost := l.Likely(func(row int) int64 {
		if fresh.Within(r.Begins(row), r.End.At(row)) == 0 {
			return 0
		}
		ch := l.Of(row)
		return max(0, ch[ledger.Own]+ch[ledger.Kernel]-out)
	})
	for n, row := range l.Slow {
		per[n] = lost(row)
		extra += per[n]
	}
	share := float64(extra) / float64(max(1, l.Total))
	v.Summary = fmt.Sprintf("requests in new memory use %s × the CPU time, which is %s of slow time", units.Num(float64(in)/float64(max(out, 1))), units.Percent(share))
	v.Weigh(float64(in)/float64(max(out, 1)), longer)
	v.Weigh(share, check.Material)
	switch {
	case float64(in) < longer.Value*float64(out) || share < check.Material.Value:
		return v
	case !c.Slow():
		v.Rule = check.NotSlow
		return v
	case l.Host.Starved():
		v.Rule = check.Explained
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("The heap grows into new memory: during that time a request's own work takes %s × as long.", units.Num(float64(in)/float64(out)))
	v.Saves = c.Save(per, -1, -1)
	v.Needs = []check.Need{faultEvidence}
	v.Fix = append(v.Fix, passes)
	v.Prediction = append(v.Prediction, c.PredictP99(lost))
	return v
}

// alwaysFresh judges a recording in which the heap grew all the time, so that there are no other
// requests to compare with. Waits of requests behind each other count, for these are waits for
// each other's faults. A CPU profile can decide; without one only the host's figures can.
func alwaysFresh(c *check.Case, heap *evidence.Series, v check.Verdict) check.Verdict {
	work := c.Share(ledger.Own, ledger.Kernel, ledger.RequestsCPU)
	v.Weigh(work, check.Material)
	if work < check.Material.Value || !c.Slow() {
		if work >= check.Material.Value {
			v.Rule = check.NotSlow
		}
		v.Summary = fmt.Sprintf("the heap grew into new memory, but own work and waiting for a CPU are %s of slow time", units.Percent(work))
		return v
	}
	pages := (slices.Max(heap.V) - heap.V[0]) / (4 << 10)
	span := float64(heap.T[len(heap.T)-1]-heap.T[0]) / 1e9
	v.Rule, v.Needs = check.NotRecorded, []check.Need{faultEvidence}
	v.Evidence = append(v.Evidence, c.Figure("heap.grew_pages_per_s", "pages of 4 KiB by which the heap grew", pages/max(span, 1e-9), "1/s", check.From(c.Ledger.StatesFrom())))
	v.Summary = fmt.Sprintf("the heap grew all the time, by %s pages/s, so there are no other requests to compare with", units.Num(pages/max(span, 1e-9)))
	cleared, origin, ok := clearingShare(c)
	if !ok {
		return v
	}
	v.Evidence = append(v.Evidence, c.Figure("process.clearing_cpu_share", "share of CPU time spent clearing new memory", cleared, "1", origin))
	if cleared*work < ofFault*check.Material.Value || cleared < clearsMuch.Value || c.Ledger.Host.Starved() {
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("The heap grows into new memory: clearing it takes %s of the process's CPU time.", units.Percent(cleared))
	l := c.Ledger
	of := func(row int) int64 {
		ch := l.Of(row)
		return int64(cleared * float64(ch[ledger.Own]+ch[ledger.Kernel]+ch[ledger.RequestsCPU]))
	}
	var sum, low float64
	for _, row := range l.Slow {
		ch := l.Of(row)
		sum += float64(of(row))
		low += cleared * float64(ch[ledger.Own]+ch[ledger.Kernel])
	}
	v.Saves = c.Bound(sum, low, work*float64(l.Total)) // a queue shrinks by more than the work does
	v.Fix = append(v.Fix, passes)
	v.Prediction = append(v.Prediction, c.PredictP99(of))
	return v
}

var keeps = check.Fix{Text: "keep memory instead of returning it after each use: reuse large buffers (a pool, one per thread), or let the allocator keep them (glibc: mallopt with M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, or MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ in the environment); transparent huge pages take one fault for 512 pages"}

var passes = check.Fix{Text: "wait until the heap has reached its full size: then it stops; judge a new heap size only after that, and warm up before taking traffic"}

// clearingShare returns the share of CPU time that a profile shows clearing memory for
// allocations; ok is false without a profile.
func clearingShare(c *check.Case) (share float64, origin evidence.Origin, ok bool) {
	s := &c.Bundle.Samples
	cpu, class := c.Bundle.Names.Lookup("cpu"), c.Bundle.Names.Lookup("page fault / zeroing")
	var all, clear int64
	for i := range s.Len() {
		if cpu == 0 || s.Subject[i] != c.Subject || s.Type[i] != cpu {
			continue
		}
		all += s.Value[i]
		a, _ := s.Origin[i].Artifact()
		origin = check.From(a)
		if class != 0 && s.Class[i] == class {
			clear += s.Value[i]
		}
	}
	return float64(clear) / float64(max(all, 1)), origin, all > 0
}

// faultsByStacks judges without requests, by the part of CPU time that stacks of running threads
// show in faults; ok is false where there are no such stacks.
func faultsByStacks(c *check.Case) (v check.Verdict, ok bool) {
	k := kernelOf(c)
	part := k.faultShare()
	if math.IsNaN(part) {
		return v, false
	}
	used := k.CPU(evidence.KernelPageFault)
	v = check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("page faults are %s of its CPU time", units.Percent(part))}
	v.Weigh(part, clearsMuch)
	v.Weigh(used.Number, inKernelCPU)
	v.Evidence = append(v.Evidence, c.Figure("process.new_memory_cpu_share", "share of its CPU time in page faults for new memory", part, "1", used.Origin))
	if part < clearsMuch.Value || used.Number < inKernelCPU.Value {
		return v, true
	}
	v.Rule, v.Weight, v.Work = check.Matters, used.Number, part
	v.Title = fmt.Sprintf("Page faults take %s of the process's CPU time: it touches new memory.", units.Percent(part))
	v.Evidence = append(v.Evidence, (&mechanism{what: "page faults", classes: []string{evidence.KernelPageFault}}).stackEvidence(c, k)...)
	v.Fix = append(v.Fix, passes)
	if f := faultsOf(c); f != nil {
		v.Evidence = append(v.Evidence, c.Figure("process.minor_faults_per_s", "minor page faults of the process", f.rate, "1/s", f.origin))
		if f.isMemoryRecycled() {
			v.Fix = []check.Fix{keeps}
		}
	}
	return v, true
}

// faultShare returns the part of a process's CPU time in faults that got it new memory, NaN if
// unknown.
func (k *kernel) faultShare() float64 {
	if k == nil {
		return math.NaN()
	}
	return k.CPUShare(evidence.KernelPageFault).Number
}

func faultsByProfile(c *check.Case) check.Verdict {
	v := check.Verdict{Rule: check.NotRecorded, Summary: "page faults were not recorded", Needs: []check.Need{faultEvidence}}
	share, origin, ok := clearingShare(c)
	if !ok {
		return v
	}
	v.Summary = fmt.Sprintf("clearing new memory takes %s of the CPU time", units.Percent(share))
	v.Weigh(share, clears)
	v.Evidence = append(v.Evidence, c.Figure("process.clearing_cpu_share", "share of CPU time spent clearing new memory", share, "1", origin))
	if share < clears.Value {
		v.Rule, v.Needs = check.TooLittle, nil
	}
	return v
}
