package linux

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// CPUSaturation is a host that has more to run than processors.
var CPUSaturation = check.Check{
	ID:    "linux.cpu-saturation",
	Title: "the host has too few free CPUs for the process's threads",
	Step:  check.StepProcessors,
	Doc: `The process's threads are runnable but the host runs something else: other processes,
other containers, other virtual machines. Inside the process everything takes longer:
system calls that never block, stop-the-world pauses, marking, the program's own work.
The runtime believes that a goroutine runs while its thread does not.

The signs are operations of a few microseconds that sometimes take milliseconds, and
goroutines that "run" far longer than the runtime's preemption allows. A trace alone
only bounds the loss. The process's CPU time (/proc/PID/stat) compared with the time its
runtime believes it ran gives the exact loss: on a quiet host they agree. Pressure stall
information (/proc/pressure/cpu) and the other processes' CPU time show which process it
was (linux.noisy-neighbour).

How to tell it from similar problems: GC figures (gctrace's "cpu" too) are CPU time as
the runtime counts it; on such a host they grow with everything else and prove nothing
(golang/go#19497). A quota (linux.cpu-throttled) looks the same from inside: cpu.stat of
the cgroup distinguishes them.

What helps: fewer other processes on the host, reserved CPUs (cpuset, Guaranteed pods),
CPU weights; a GOMAXPROCS that fits the quota.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time, waited for CPUs on a host that is %v busy; without a trace, other processes use half of the host and threads waited longer than they ran; of a host alone, CPUs that are 95 %% busy with three tasks ready for each (or a load average of ten for each), or threads that wait %v for one each time (of all tasks, a tenth of the time), %v times",
		check.SomeSlow, check.SlowShare, check.Material, full, longReady, manyReadies),
	Thresholds: []check.Threshold{anySteal, calm, dilated, few, full, longReady, longRunning, manyLoad, manyReadies, manyReady, mostSlow, mostWait, noneFree, noticeable, rarely, slice, spare, starving, withheld,
		check.Material, check.MinRequests, check.SlowShare, check.SomeSlow, check.Starved, check.HardlyWaiting, check.Noticeable},

	Needs:     "an execution trace of Go 1.22 or later; for exact figures /proc of the host: " + Record,
	Applies:   func(c *check.Case) bool { return true },
	Judge:     judgeSaturation,
	JudgeHost: judgeHostCPU,
}

func judgeSaturation(c *check.Case) check.Verdict {
	s := starvationOf(c)
	v := check.Verdict{Rule: check.TooLittle}
	if c.Traced() && c.Ledger.Host.Known {
		l := c.Ledger
		v.Summary = fmt.Sprintf("short system calls take on average %s × their median", units.Num(l.Host.Dilation))
		v.Evidence = append(v.Evidence, dilationEvidence(c)...)
		v.Evidence = append(v.Evidence,
			c.Figure("host.long_runs_share", "share of run time in stretches longer than the scheduler allows", l.Host.LongRuns, "1", check.From(l.StatesFrom())))
		if l.Host.Starved() {
			v.Evidence = append(v.Evidence,
				c.Figure("host.withheld_least_share", "share of run time in which the host did not run it, at least", l.Host.Low, "1", check.From(l.StatesFrom())),
				c.Figure("host.withheld_most_share", "share of run time in which the host did not run it, at most", l.Host.High, "1", check.From(l.StatesFrom())))
		}
	}
	if s.host != nil {
		v.Evidence = append(v.Evidence, s.host.listFigures(c)...)
	}
	switch {
	case !s.known:
		return saturationUntraced(c, s, v)
	case s.measured:
		v.Summary = fmt.Sprintf("for %s of its run time the host did not run the process", units.Percent(s.share))
		if s.share == 0 {
			v.Summary = "the host always ran the process"
		}
	}
	if !s.agree {
		v.Rule = check.Contradictory
		v.Summary = "the trace looks as if the host did not run the process, but the process had CPU time for all of its run time"
		if s.host != nil {
			v.Summary += fmt.Sprintf(": %s of %s CPUs", units.Num(s.host.process.Number), units.Num(s.host.run))
		}
		v.Needs = []check.Need{{What: "a trace and a recording of the host from the same period and process: check the PID in the host's recording"}}
		return v
	}
	if !s.starved {
		s.weighRunning(c, &v)
		if d, ok := delayOf(c); ok && !d.isImmaterial() && s.host != nil && !d.ruleOutIfHardlyWaited(c, &v) { // in other seconds than those of the trace
			v.Rule = check.CostUnknown
			v.Summary += d.boundPhrase(true, "")
			if d.isCause(c, hostOfAll(c, s.host)) {
				d.supportSaturation(c, &v)
			}
		}
		return v
	}
	saves, share := s.savedTime(c)
	v.Weigh(share, check.Material)
	_, run := chargedWindow(c)
	switch t := throttleOf(c); {
	case t.explainsStarvation(s, run):
		v.Rule = check.Explained
		v.Summary += fmt.Sprintf(": a CPU quota throttled it in %.0f of %.0f periods", t.Stopped.Number, t.Periods.Number)
		return v
	case share < check.Material.Value || !c.Slow():
		v.Rule = check.Happens
		v.Summary = fmt.Sprintf("the host was busy at times, but that is %s of slow time", units.Percent(share))
	case s.host != nil && s.host.hasSpareCPUs():
		v.Rule = check.Untold
		v.Summary = fmt.Sprintf("the process did not run though the host never had more than %s of %.0f CPUs busy: it may be a CPU quota", units.Num(s.host.Peak), s.host.CPUs)
		v.Needs = []check.Need{quotaEvidence}
		return v
	default:
		v.Rule = check.Matters
		v.Title = fmt.Sprintf("The host did not run the process for about %s of its run time.", units.Percent(s.share))
		v.Summary = fmt.Sprintf("%s of slow time", units.Percent(share))
		v.Saves = saves
		v.Fix = append(v.Fix, freeCPUs)
	}
	if !s.measured {
		v.Needs = []check.Need{hostEvidence}
	}
	return v
}

// A host is idle enough if tasks wait for a processor in less than calm of the time; from full on, all processors are in use.
var (
	calm = check.Threshold{Name: "share of the time in which some task waited for a CPU (below it, none waited long)", Value: .1, Unit: "1",
		Why: "a busy host has so much", Source: "PASTA (R. Wolff, Operations Research 30, 1982): nine in ten of those that wake up find a CPU: the p90"}
	full = check.Threshold{Name: "share of the host's CPUs in use (from it on, all count as full)", Value: .9, Unit: "1",
		Why: "a queue at 90 % is nine times as long as what is served", Source: "M/M/1: ρ/(1−ρ)"}
)

// saturationUntraced judges by the host alone: that can clear the host, but not show that it kept
// these requests waiting.
func saturationUntraced(c *check.Case, s starvation, v check.Verdict) check.Verdict {
	v.Rule = check.NotRecorded
	h := s.host
	if h == nil {
		v.Summary = "whether the host ran the process's threads was not recorded"
		v.Needs = []check.Need{hostEvidence}
		if share, origin, ok := c.LongRuns(); ok && share >= check.Starved.Value {
			v.Summary = fmt.Sprintf("the host did not run the process all the time: %s of its run time is in stretches longer than the scheduler allows; what that cost requests was not recorded", units.Percent(share))
			v.Evidence = append(v.Evidence, c.Figure("host.long_runs_share", "share of run time in stretches longer than the scheduler allows", share, "1", origin))
		}
		return v
	}
	used := h.Taken()
	if h.Steal.Number < anySteal.Value { // as among the figures
		used = h.Busy.Number
	}
	v.Summary = fmt.Sprintf("the host uses %s of %.0f CPUs", units.Num(used), h.CPUs)
	v.Weigh(h.Pressure.Number, calm)
	v.Weigh(h.Taken()/max(h.CPUs, 1), full)
	d, waited := delayOf(c)
	switch {
	case h.Pressure.Number < calm.Value && h.Peak < full.Value*h.CPUs:
		v.Rule = check.TooLittle
		v.Summary += fmt.Sprintf(", and tasks waited for a CPU for at most %s of the time", units.Percent(h.Pressure.Number))
	case waited && d.ruleOutIfHardlyWaited(c, &v):
	case waited && d.isCause(c, h):
		d.supportSaturation(c, &v)
	case waited && d.isCauseWithoutRequests(c, h):
		d.supportWithoutRequests(c, &v)
	case h.Taken() >= full.Value*h.CPUs:
		v.Summary += d.boundPhrase(waited, "; whether these requests waited for a CPU was not recorded")
		v.Needs = needTrace(c)
	case slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.ID == "linux.cpu-throttled" }): // tasks that a quota stops wait for a CPU, too
		v.Rule = check.Explained
		v.Summary += ", and a CPU quota throttles the process"
	default:
		if waited && d.slow && d.about < check.Material.Value {
			v.Rule = check.Happens
			v.Weigh(d.about, check.Material)
		}
		v.Summary += h.queuePhrase() + d.boundPhrase(waited, "; whether these requests did was not recorded")
		v.Needs = needTrace(c)
	}
	return v
}

// queuePhrase says why a host that uses few of its CPUs on average is not cleared: what waited for one, or was busy, at times.
func (h *host) queuePhrase() string {
	switch {
	case h.Pressure.Number >= calm.Value:
		return fmt.Sprintf(" on average, but some task waited for one for %s of the time", units.Percent(h.Pressure.Number))
	case h.Peak >= full.Value*h.CPUs:
		return fmt.Sprintf(" on average, but up to %s at times", units.Num(h.Peak))
	}
	return " on average; whether tasks waited for one was not recorded"
}

// supportSaturation supports that requests wait for processors, by the time threads waited.
func (d delay) supportSaturation(c *check.Case, v *check.Verdict) {
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Runnable threads waited for a CPU for %s of the time.", units.Percent(d.denied))
	v.Summary = fmt.Sprintf("%s of slow time", units.Percent(d.about))
	v.Evidence = append(v.Evidence, d.listFigures(c)...)
	v.Saves = d.savedTime(c)
	v.Fix = append(v.Fix, freeCPUs)
}

// isCauseWithoutRequests says, without requests, whether threads wait for CPUs that others use,
// longer than they run and long enough to report.
func (d delay) isCauseWithoutRequests(c *check.Case, h *host) bool {
	if c.Ledger != nil && len(c.Ledger.Rows) > 0 {
		return false
	}
	return d.threads >= check.Material.Value && h.process.Known() && d.threads/(d.threads+h.process.Number) >= starving.Value && h.isCrowded() && h.Taken() >= full.Value*h.CPUs
}

// supportWithoutRequests supports that threads wait for processors, where no requests show the
// cost.
func (d delay) supportWithoutRequests(c *check.Case, v *check.Verdict) {
	v.Rule, v.Weight = check.Matters, d.threads
	v.Title = fmt.Sprintf("The host has too few free CPUs: on average %s runnable threads of the process waited for one.", units.Num(d.threads))
	v.Evidence = append(v.Evidence, c.Figure("process.runnable_threads", "threads of the process waiting for a CPU, on average", d.threads, "count", d.origin))
	v.Fix = append(v.Fix, freeCPUs)
}

// freeCPUs is what helps on a host that is short of processors.
var freeCPUs = check.Fix{Text: "find which process uses the CPUs (top, or cpu.pressure per cgroup) and give this service its own: cpuset, reserved cores, or fewer processes on this host; tuning the runtime does not help here"}

// needTrace asks for a trace that shows which requests waited for a CPU. Nil for runtimes of
// threads, which do not record how long a thread was ready.
func needTrace(c *check.Case) []check.Need {
	if c.OnThreads() {
		return nil
	}
	return []check.Need{c.Trace("the same time", ", to show which requests waited for a CPU")}
}

var spare = check.Threshold{Name: "share of the host's CPUs in use below which some were always free", Value: .6, Unit: "1",
	Why: "a queue shorter than a reading needs more", Source: "M/M/1: ρ/(1−ρ) is 3/2 at 60 %"}

// hasSpareCPUs says whether the host always had CPUs free.
func (h *host) hasSpareCPUs() bool { return h.Peak < spare.Value*h.CPUs }

// dilationEvidence returns how much longer than their median calls take that never block; nil
// where the trace does not time them.
func dilationEvidence(c *check.Case) []check.Evidence {
	d := c.Ledger.Host.Dilation
	if d == 0 {
		return nil
	}
	return []check.Evidence{c.Figure("syscall.mean_by_median", "system calls that never block: mean ÷ median duration", d, "1", check.From(c.Ledger.StatesFrom()))}
}
