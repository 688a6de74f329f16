package linux

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// What one fault costs the process, ns: measured 1.7 µs per 4 KiB; the bounds are
// what is seen on hardware and in small virtual machines.
const (
	faultCost     = 2e3
	faultCostLow  = .5e3
	faultCostHigh = 10e3
	faultCostMost = 20e3 // where the host of a virtual machine has to find the page, too
)

// perRequest is the kernel's time (ns) for what else a request needs of it – sockets, waking
// others –, generously: what a process uses in the kernel beyond that went into its faults.
const perRequest = 200e3

// Minor faults per second below which they cost nothing that matters, and from which they may matter.
var (
	fewFaults = check.Threshold{Name: "minor faults below which they matter to nothing", Value: 500, Unit: "1/s",
		Why: "1 ms of a CPU a second", Source: "measured: 1.7 µs for a fault of 4 KiB"}
	manyFaults = check.Threshold{Name: "minor faults from which they may matter", Value: 5000, Unit: "1/s",
		Why: "10 ms of a CPU a second", Source: "measured: 1.7 µs for a fault of 4 KiB"}
)

// faults is what /proc said of a process's page faults over the trace, or over
// its requests. NaN is not known.
type faults struct {
	rate      float64 // minor faults per second
	otherwise float64 // the same before and after
	system    float64 // cores it used in the kernel
	sampled   float64 // of its CPU time, in faults that got it new memory, by stacks of running threads
	run       float64 // cores its runtime believes it had; untraced, those that the kernel counted
	requests  float64 // per second
	grew      float64 // bytes by which more of it was resident afterwards
	seconds   float64 // of the window
	origin    evidence.Origin
}

func faultsOf(c *check.Case) *faults {
	w, run := chargedWindow(c)
	p := metrics.ProcessOf(c.Bundle, c.Subject, w)
	if !p.MinorFaults.MostlyKnown() {
		return nil
	}
	requests := math.NaN()
	if l := c.Ledger; l != nil && l.To > l.From {
		requests = float64(len(l.Rows)) / (float64(l.To-l.From) / 1e9)
	}
	if !c.Traced() {
		run = p.CPU.Mostly().Number
	}
	return &faults{sampled: kernelOf(c).faultShare(), requests: requests, grew: p.Grew, seconds: float64(w.Until-w.From) / 1e9, rate: p.MinorFaults.Number, otherwise: p.FaultsElse.Number, system: p.System.Mostly().Number, run: run, origin: p.MinorFaults.Origin}
}

// costPerFault returns what a fault costs here (ns), by the kernel time of the process; the usual
// cost if that is not known.
func (f *faults) costPerFault() float64 {
	if f.sampled > 0 && f.rate > 0 {
		return f.sampled * f.run * 1e9 / f.rate
	}
	measured := (f.system*1e9 - f.requests*perRequest) / f.rate
	if math.IsNaN(measured) {
		return faultCost
	}
	return min(max(measured, faultCost), faultCostMost)
}

// cpuShare returns the share of the process's CPU time that went into faults of the given cost, at
// most all of its kernel time; the sampled share, where there is one.
func (f *faults) cpuShare(cost float64) float64 {
	if !math.IsNaN(f.sampled) {
		return f.sampled
	}
	cores := f.rate * cost / 1e9
	if !math.IsNaN(f.system) {
		cores = min(cores, f.system)
	}
	return min(1, cores/f.run)
}

// page is the least that a fault makes resident, bytes.
const page = 4 << 10

var kept = check.Threshold{Name: "part of new memory that is still resident, below which most was given back", Value: .5, Unit: "1",
	Why: "the larger part decides", Source: "arithmetic: half"}

// isMemoryRecycled says whether the same memory is returned to the system and requested again:
// resident memory grows by less than the faults bring.
func (f *faults) isMemoryRecycled() bool { return f.grew < kept.Value*page*f.rate*f.seconds }

// titleText says which memory is touched, and what the faults cost.
func (f *faults) titleText() string {
	what := "The heap grows into new memory"
	if f.isMemoryRecycled() {
		what = "Memory is returned to the system and requested again"
	}
	return fmt.Sprintf("%s: %s page faults/s take about %s of the process's run time.", what, units.Num(f.rate), units.Percent(f.cpuShare(f.costPerFault())))
}

// chooseFix returns what helps.
func (f *faults) chooseFix() check.Fix {
	if f.isMemoryRecycled() {
		return keeps
	}
	return passes
}

// isSteady says whether there are about as many faults at other times: steady growth is no reason
// why some requests take several times as long as others.
func (f *faults) isSteady() bool { return f.otherwise >= f.rate/2 }

func (f *faults) judgeCounted(c *check.Case, heap *evidence.Series) check.Verdict {
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("%s minor page faults/s", units.Num(f.rate))}
	v.Weigh(f.rate, fewFaults)
	v.Evidence = append(v.Evidence, c.Figure("process.minor_faults_per_s", "minor page faults of the process", f.rate, "1/s", f.origin))
	if !math.IsNaN(f.otherwise) {
		v.Evidence = append(v.Evidence, c.Figure("process.minor_faults_otherwise_per_s", "minor page faults before and after", f.otherwise, "1/s", f.origin))
	}
	if f.rate < fewFaults.Value {
		return v
	}
	if !math.IsNaN(f.system) {
		v.Evidence = append(v.Evidence, c.Figure("process.system_cpus", "CPUs used in the kernel", f.system, "CPUs", f.origin))
	}
	if !c.HasRequestStates() || math.IsNaN(f.run) {
		if f.rate < manyFaults.Value {
			v.Weigh(f.rate, manyFaults)
			return v
		}
		v.Rule = check.NotRecorded
		v.Summary += ", but what requests waited for was not recorded"
		v.Needs = needTrace(c)
		return v
	}
	l := c.Ledger
	v.Evidence = append(v.Evidence, c.Figure("process.fault_ms", "time each costs, by the CPU time in the kernel", f.costPerFault()/1e6, "ms", f.origin),
		c.Figure("process.faults_share", "share of its run time", f.cpuShare(f.costPerFault()), "1", f.origin))
	v.Weigh(f.rate, manyFaults)
	v.Weigh(f.cpuShare(f.costPerFault()), noticed)
	v.Summary += fmt.Sprintf(", about %s of its run time", units.Percent(f.cpuShare(f.costPerFault())))
	most := f.cpuShare(max(f.costPerFault(), faultCostHigh))
	v.Weigh(most, check.Material)
	if f.rate < manyFaults.Value || most < check.Material.Value {
		return v
	}
	own := c.Share(ledger.Own, ledger.Kernel)
	if !c.Traced() {
		own = c.Share(working...) // who waits for a CPU that requests hold waits for their faults
	}
	grew := 0
	if heap != nil {
		fresh := freshMemory(heap)
		for _, row := range l.Rows {
			if fresh.Within(c.Bundle.Requests.Begins(row), c.Bundle.Requests.End.At(row)) > 0 {
				grew++
			}
		}
		v.Evidence = append(v.Evidence, c.Figure("heap.grew_requests", "requests while the heap grew into new memory", float64(grew), "count", check.From(l.StatesFrom())))
	}
	switch {
	case !c.Slow() || own < check.Material.Value:
		v.Rule = c.Cleared(own)
		v.Weigh(own, check.Material)
		v.Summary += fmt.Sprintf(", but own work is %s of slow time", units.Percent(own))
		return v
	case l.Host.Starved() && !hardlyWaited(c):
		v.Rule = check.Explained
		v.Summary += ", on a host that did not run the process all the time"
		return v
	case heap == nil && f.isSteady() && !c.UserVisible(check.NoticeableCall):
		v.Rule = check.Brief
		v.Summary += ", as before and after, and slow requests are over within milliseconds"
		return v
	case heap != nil && grew < ledger.MinRequests:
		v.Rule = check.Untold
		v.Summary += ", but the heap did not grow: memory is returned to the system and requested again"
		v.Needs = []check.Need{{What: "a log of the memory that the runtime returns: start the process with", Command: "GODEBUG=scavtrace=1"}}
		return v
	case f.cpuShare(f.costPerFault()) < noticed.Value, !c.Traced() && f.cpuShare(f.costPerFault())*own < check.Material.Value:
		v.Rule = check.Happens
		v.Weigh(f.cpuShare(f.costPerFault())*own, check.Material)
		v.Needs = []check.Need{{What: "to measure the CPU time of a page fault here", Command: "perf stat -e page-faults,cycles:k -p PID"}}
		return v
	}
	v.Rule = check.Matters
	v.Title, v.Work = f.titleText(), f.cpuShare(f.costPerFault())
	stretched := onProcessors
	if !c.Traced() {
		stretched = working
	}
	saved := func(row int, part float64) (sum float64) {
		ch := l.Of(row)
		for _, m := range stretched {
			sum += part * float64(ch[m])
		}
		return sum
	}
	per := make([]int64, len(l.Slow))
	var low, high float64
	for n, row := range l.Slow {
		per[n] = int64(saved(row, f.cpuShare(f.costPerFault())))
		low += saved(row, f.cpuShare(faultCostLow))
		high += saved(row, f.cpuShare(max(f.costPerFault(), faultCostHigh)))
	}
	v.Saves = c.Save(per, int64(low), int64(high))
	v.Fix = append(v.Fix, f.chooseFix())
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return int64(saved(row, f.cpuShare(f.costPerFault()))) }))
	return v
}

var noticed = check.Threshold{Name: "share of CPU time in page faults", Value: .1, Unit: "1",
	Why: "less is within what requests differ by", Source: "arithmetic: without them the same work takes a tenth less CPU time"}

// freshMemory returns when the heap was larger than ever before in the
// recording.
func freshMemory(s *evidence.Series) (out metrics.Spans) {
	if len(s.V) == 0 {
		return nil
	}
	peak := s.V[0]
	for i := 1; i < len(s.T); i++ {
		if s.V[i] > peak {
			peak = s.V[i]
			out = out.Add(s.T[i-1], s.T[i])
		}
	}
	return out
}

// onProcessors are the mechanisms whose time faults stretch.
var onProcessors = []ledger.Mechanism{ledger.StopTheWorld, ledger.MarkAssist, ledger.CollectorCPU, ledger.RequestsCPU,
	ledger.BackgroundCPU, ledger.Kernel, ledger.Own}

// working are those of requests alone: where looks at threads say what requests do, a share of
// them is all that is known.
var working = []ledger.Mechanism{ledger.RequestsCPU, ledger.Kernel, ledger.Own}
