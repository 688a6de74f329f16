package linux

import (
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/ledger"
)

// CPUSaturation is a host that has more to run than processors.
var CPUSaturation = cause.Cause{
	ID:    "linux.cpu-saturation",
	Title: "the host does not run the process's threads",
	Doc: `The process's threads are ready but the host runs something else: other processes, other
containers, other virtual machines. From inside the process everything takes longer:
system calls that never block, stop-the-world pauses, marking, the program's own work.
The runtime believes that a goroutine runs while its thread does not.

It shows where things that always take the same few microseconds take milliseconds now
and then, and where goroutines "run" for far longer than the runtime's preemption
allows. From a trace alone the size can only be bounded; /proc of the host, or pressure
stall information (/proc/pressure/cpu), gives it exactly, and says who it was.

Told from its look-alikes: the collector's figures (gctrace's "cpu" too) are time on a
processor as the runtime counts it; on such a host they grow with everything else and
prove nothing (golang/go#19497). A quota (linux.cpu-throttled) looks the same from
inside: cpu.stat of the cgroup tells them apart.

What helps: fewer neighbours, reserved processors (cpuset, Guaranteed pods), weights; a
GOMAXPROCS that fits the quota.`,
	Needs:   "an execution trace of Go 1.22 or later, or /proc of the host",
	Applies: func(c *cause.Case) bool { return true },
	Judge:   judgeSaturation,
}

const hostEvidence = "the host's own figures say how much, and who it was: record /proc/stat, /proc/pressure/cpu and /proc/PID/schedstat while it happens"

func judgeSaturation(c *cause.Case) cause.Verdict {
	if !c.Traced() || !c.Ledger.Host.Known {
		return cause.Verdict{State: cause.Inconclusive, Summary: "whether the host ran the threads was not watched", Needs: []string{hostEvidence}}
	}
	l := c.Ledger
	h := l.Host
	v := cause.Verdict{State: cause.RuledOut, Summary: fmt.Sprintf("short system calls take %.1f × their median in the mean", h.Dilation)}
	v.Evidence = append(v.Evidence,
		c.Figure("calls that never block: mean ÷ median duration", h.Dilation, "1", cause.From(l.Source)),
		c.Figure("run time in stretches longer than the runtime allows", h.LongRuns, "1", cause.From(l.Source)))
	if !h.Starved() {
		return v
	}
	share := c.Share(ledger.HostCPU)
	v.Evidence = append(v.Evidence, c.Figure("time on processors that the host did not run, at least", h.Low, "1", cause.From(l.Source)),
		c.Figure("at most", h.High, "1", cause.From(l.Source)))
	if share < cause.Material || !c.Slow() {
		v.State = cause.Inconclusive
		v.Summary = fmt.Sprintf("signs of a busy host, but %.1f %% of slow time", 100*share)
		v.Needs = []string{hostEvidence}
		return v
	}
	v.State = cause.Supported
	v.Title = fmt.Sprintf("The host does not run the process: about %.0f %% of its time on processors was not CPU time.", 100*h.Share)
	v.Summary = fmt.Sprintf("%.0f %% of slow time", 100*share)
	low, high := float64(l.Charges[ledger.HostCPU])*h.Low/h.Share, float64(l.Charges[ledger.HostCPU])*min(1, h.High/h.Share)
	v.Saves = &cause.Saves{Value: float64(l.Charges[ledger.HostCPU]) / 1e6, Low: cause.Number(low / 1e6), High: cause.Number(high / 1e6)}
	v.Needs = []string{hostEvidence}
	v.Fix = append(v.Fix, cause.Fix{Text: "find who has the processors (top, or /proc/pressure/cpu per cgroup) and give this service its own: cpuset, reserved cores, or fewer neighbours; do not tune the runtime on such a host"})
	return v
}
