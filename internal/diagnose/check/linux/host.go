package linux

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Record writes the host's side of an incident for ten seconds, in the form that
// internal/format/procfs reads.
const Record = `for i in $(seq 40); do echo "-- $(date +%s%N) --"; tail -n +1 /proc/stat /proc/pressure/cpu /proc/PID/stat /proc/[0-9]*/stat; sleep .25; done >host.txt 2>/dev/null`

// hostEvidence asks for it.
var hostEvidence = check.Need{What: "CPU use of the host, to show how much was missing and what used it. On the host, with the service's PID, while it is slow", Command: Record}

// host is what /proc said of the machine and of the process over the case's window.
type host struct {
	*metrics.Host
	process metrics.Value // cores it used
	run     float64       // cores its runtime believes it had, NaN unknown
}

// chargedWindow returns the time the process was traced, else that of its requests, else that in
// which it was watched; run is how many cores its runtime measured, NaN if unknown.
func chargedWindow(c *check.Case) (w metrics.Window, run float64) {
	run = math.NaN()
	if f, ok := c.Fact(evidence.FactRunTime); ok && f.Until > f.From && c.Traced() {
		w, run = metrics.Window{From: f.From, Until: f.Until}, f.Number/float64(f.Until-f.From)
	} else if c.Ledger != nil {
		w = metrics.Window{From: c.Ledger.From, Until: c.Ledger.To}
	}
	if w.Until > w.From {
		return w, run
	}
	return metrics.WatchedTime(c.Bundle, c.Subject), run
}

// hostOf reads the host's figures over the window; nil if less than half of it was watched.
func hostOf(c *check.Case) *host {
	w, run := chargedWindow(c)
	return hostOver(c, w, run)
}

func hostOver(c *check.Case, w metrics.Window, run float64) *host {
	h := &host{Host: metrics.HostOf(c.Bundle, c.Subject, w), run: run}
	if !h.Busy.MostlyKnown() || !(h.CPUs > 0) { // of unknown many CPUs nothing is full
		return nil
	}
	h.process, h.Pressure = metrics.ProcessOf(c.Bundle, c.Subject, w).CPU.Mostly(), h.Pressure.Mostly()
	return h
}

// topNeighbour returns the neighbour that used most CPU time, an empty one if none was recorded.
func (h *host) topNeighbour() (most metrics.Neighbour) {
	for _, n := range h.Neighbours() {
		if n.Cores > most.Cores {
			most = n
		}
	}
	return most
}

// isCrowded says whether others use CPUs, and at least half of those that are busy.
func (h *host) isCrowded() bool {
	return h.Others.Number >= few.Value*h.CPUs && h.Others.Number >= h.Busy.Number/2
}

// isOtherProcess says whether the process in the host's recording is not the traced one.
func (h *host) isOtherProcess() bool { return metrics.IsAnotherProcess(h.process.Number, h.run) }

var anySteal = check.Threshold{Name: "CPUs given to other virtual machines from which it is reported", Value: .01, Unit: "CPUs",
	Why: "one tick a second", Source: "arithmetic: 10 ms"}

// listFigures returns the evidence of the host.
func (h *host) listFigures(c *check.Case) []check.Evidence {
	out := []check.Evidence{c.Figure("host.busy_cpus", fmt.Sprintf("CPUs of the host that were busy, of %.0f", h.CPUs), h.Busy.Number, "CPUs", h.Busy.Origin)}
	if h.Steal.Number >= anySteal.Value {
		out = append(out, c.Figure("host.stolen_cpus", "CPUs that the hypervisor gave to other virtual machines", h.Steal.Number, "CPUs", h.Busy.Origin))
	}
	if h.Pressure.Known() {
		out = append(out, c.Figure("host.cpu_pressure_share", "share of the time in which some task on the host waited for a CPU", h.Pressure.Number, "1", h.Busy.Origin))
	}
	if h.process.Known() {
		out = append(out, c.Figure("process.cpus", "CPUs the process used", h.process.Number, "CPUs", h.process.Origin))
	}
	if l := c.Ledger; l != nil && l.Host.Measured {
		out = append(out,
			c.Figure("process.believed_cpus", "CPUs used, as its runtime measured", h.run, "CPUs", check.From(l.StatesFrom())),
			c.Figure("host.withheld_share", "share of its run time in which the host did not run it, measured", l.Host.Denied, "1", h.process.Origin))
	}
	return out
}

// starvation is what is known about a host that does not run the process.
type starvation struct {
	host     *host   // nil: not recorded
	known    bool    // anything was
	starved  bool    // it does not
	share    float64 // of the process's time on processors
	measured bool    // by the process's CPU time, not just by what took long
	agree    bool    // measured and seen do not contradict each other
}

func starvationOf(c *check.Case) (s starvation) {
	s.host, s.agree = hostOf(c), true
	if !c.Traced() || !c.Ledger.Host.Known {
		return s
	}
	h := &c.Ledger.Host
	s.known, s.starved, s.share = true, h.Starved(), h.Share
	if h.Measured {
		s.measured, s.share = true, h.Denied
		s.agree = s.starved || !h.Suggested
	}
	return s
}

// What shows that the host does not run a process.
var (
	withheld = check.Threshold{Name: "share of its run time in which the host did not run the process", Value: ledger.Withheld, Unit: "1",
		Why: "readings of CPU time beside a trace miss some of it", Source: "judgement: weighs readings that do not meet the trace's ends against a host that is busy for a part of the trace; a quarter is as much as is material of slow time"}
	dilated = check.Threshold{Name: "how many times their median short system calls take on average", Value: ledger.Dilated, Unit: "times",
		Why: "on quiet hosts it is up to twice", Source: "judgement: twice what was measured on quiet hosts, so that calls which wake their peer do not count"}
	longRunning = check.Threshold{Name: "share of run time in stretches longer than the scheduler allows, where short system calls take long", Value: ledger.LongRunning, Unit: "1",
		Why: "otherwise only the calls are slow, perhaps because of their peer", Source: "golang/go#19497: sysmon preempts after 10 ms, so that a quiet host shows no such stretches"}
)

// weighRunning records the figures by which the host ran the process.
func (s starvation) weighRunning(c *check.Case, v *check.Verdict) {
	h := &c.Ledger.Host
	switch {
	case s.measured:
		v.Weigh(s.share, withheld)
	case h.Dilation > 0 && h.Dilation < dilated.Value:
		v.Weigh(h.Dilation, dilated)
	default:
		v.Weigh(h.LongRuns, longRunning)
	}
}

// savedTime returns the slow time that the host took, and its share of all slow time.
func (s starvation) savedTime(c *check.Case) (*check.Saves, float64) {
	h, ns := &c.Ledger.Host, float64(c.Ledger.Charges[ledger.HostCPU])
	if !h.Starved() {
		return nil, 0
	}
	low, high := ns*min(1, h.Low/h.Share)/1e6, ns*max(1, h.High/h.Share)/1e6
	return &check.Saves{Value: ns / 1e6, Low: stats.FiniteOrNil(low), High: stats.FiniteOrNil(min(high, float64(c.Ledger.Total)/1e6)), Basis: check.Basis("bound")}, c.Share(ledger.HostCPU)
}
