package linux

import (
	"fmt"

	"github.com/unstall/unstall/cause"
)

// NoisyNeighbour is one other process or container that takes the processors.
var NoisyNeighbour = cause.Cause{
	ID:    "linux.noisy-neighbour",
	Title: "another process takes the processors",
	Doc: `The host is short of processors (linux.cpu-saturation) and it is others who use them, not
this service. Who it is decides what to do: move it, weigh it down, or give this service
processors of its own.

A trace or a log of the service can show that its threads were not run; it cannot show
who ran instead. That needs the host: CPU time by process or by cgroup over the same
seconds.`,
	Needs:   "CPU time of the other processes on the host",
	Applies: func(c *cause.Case) bool { return true },
	Judge: func(c *cause.Case) cause.Verdict {
		if c.Traced() && c.Ledger.Host.Known && !c.Ledger.Host.Starved() {
			return cause.Verdict{State: cause.RuledOut, Summary: fmt.Sprintf("the host ran the threads (dilation %.1f)", c.Ledger.Host.Dilation),
				Evidence: []cause.Evidence{c.Figure("calls that never block: mean ÷ median duration", c.Ledger.Host.Dilation, "1", cause.From(c.Ledger.Source))}}
		}
		v := cause.Verdict{State: cause.Inconclusive, Summary: "who else used the processors was not watched", Needs: []string{hostEvidence}}
		if c.Traced() && c.Ledger.Host.Starved() {
			v.Summary = "somebody had the processors; who was not watched"
		}
		return v
	},
}
