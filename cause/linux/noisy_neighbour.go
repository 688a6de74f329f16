package linux

import (
	"fmt"

	"github.com/unstall/unstall/cause"
)

// NoisyNeighbour is one other process or container that takes the processors.
var NoisyNeighbour = cause.Cause{
	ID:    "linux.noisy-neighbour",
	Title: "another process takes the processors",
	Step:  cause.StepProcessors,
	Doc: `The host is short of processors (linux.cpu-saturation) and it is others who use them, not
this service. Who it is decides what to do: move it, weigh it down, or give this service
processors of its own.

A trace or a log of the service can show that its threads were not run; it cannot show
who ran instead. That needs the host: CPU time by process over the same seconds.

Told from its look-alikes: a process whose own threads fill the host waits for itself;
then the others use less than what it is missing. A quota stops a process while
processors are free.`,
	Needs:   "CPU time of the other processes on the host: " + Record,
	Applies: func(c *cause.Case) bool { return true },
	Judge:   judgeNeighbour,
}

// few is the part of the host's processors below which others cannot be what is
// in the way.
const few = .1

func judgeNeighbour(c *cause.Case) cause.Verdict {
	s := starvationOf(c)
	h := s.host
	v := cause.Verdict{State: cause.RuledOut}
	if s.known && !s.measured {
		v.Evidence = append(v.Evidence, dilation(c)...)
	}
	if h == nil || !h.process.Known() || h.strange() {
		switch {
		case h != nil && h.strange():
			v.Summary = fmt.Sprintf("the process in the host's recording used %.2f CPUs and cannot be the one that was traced", h.process.Number)
		case s.known && !s.starved:
			v.Summary = fmt.Sprintf("the host ran the threads (dilation %.1f)", c.Ledger.Host.Dilation)
			return v
		case s.known:
			v.Summary = "somebody had the processors; who was not watched"
		default:
			v.Summary = "who else used the processors was not watched"
		}
		v.State = cause.Inconclusive
		v.Needs = []cause.Need{hostEvidence}
		return v
	}
	others := h.Others.Number
	top := h.top()
	v.Summary = fmt.Sprintf("others use %.2f of %.0f CPUs", others, h.CPUs)
	v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("CPUs that others used, of %.0f", h.CPUs), others, "CPUs", h.Busy.Origin))
	if top.Cores > 0 {
		v.Evidence = append(v.Evidence, c.Figure("of them "+top.String(), top.Cores, "CPUs", h.Busy.Origin))
	}
	v.Evidence = append(v.Evidence, h.figures(c)...)
	quota := throttleOf(c)
	switch {
	case others < few*h.CPUs:
		return v
	case s.known && !s.starved:
		v.Summary += ", and the host ran the threads"
		if !s.agree {
			v.State = cause.Inconclusive
			v.Summary = fmt.Sprintf("the trace looks starved, but the process had all its CPU time; others use %.2f of %.0f CPUs", others, h.CPUs)
		}
		return v
	case !s.known:
		d, ok := delayOf(c)
		if ok && d.clears(c, &v) {
			return v
		}
		v.State = cause.Inconclusive
		v.Summary += d.blames(ok, ": whether these requests waited for them was not watched")
		v.Needs = traced(c)
		return v
	case h.idle():
		v.Summary += fmt.Sprintf(": it never had more than %.1f busy", h.Peak)
		return v
	case quota.explains(s, h.run):
		v.Summary += fmt.Sprintf(": a quota stopped it in %.0f of %.0f periods", quota.Stopped.Number, quota.Periods.Number)
		return v
	case others < h.Busy.Number/2 && !(others >= s.share*h.run):
		v.Summary += ", less than what is missing: the process itself fills the host"
		return v
	}
	saves, share := s.saves(c)
	if share < cause.Material || !c.Slow() {
		v.State = cause.Inconclusive
		v.Summary += fmt.Sprintf(", but %.1f %% of slow time", 100*share)
		return v
	}
	v.State = cause.Supported
	v.Saves = saves
	v.Summary = fmt.Sprintf("others use %.2f of %.0f CPUs, %.0f %% of slow time", others, h.CPUs, 100*share)
	fix := "weigh it down (cpu.weight, nice), or give this service processors of its own: cpuset, reserved cores"
	switch {
	case h.Steal.Number >= others/2:
		v.Title = fmt.Sprintf("Other virtual machines take the processors: the hypervisor gave them %.2f of %.0f CPUs.", h.Steal.Number, h.CPUs)
		fix = "move the virtual machine, or rent one whose processors are its own"
	case top.Largest >= others/2:
		v.Title = fmt.Sprintf("%s takes the processors: %.2f of %.0f CPUs.", top.Name, top.Largest, h.CPUs)
		fix = fmt.Sprintf("move %s, %s", top.Name, fix)
	case top.Cores > 0:
		// Without the largest, the others are still there.
		part := top.Largest / others
		v.Saves = &cause.Saves{Value: saves.Value * part, Low: cause.Number(0), High: saves.High, Basis: cause.Basis("bound")}
		v.Title = fmt.Sprintf("Many take the processors, no one more than %.2f of %.0f CPUs: most of it %s.", top.Largest, h.CPUs, top)
		fix = fmt.Sprintf("move %s, %s", top.Name, fix)
	default:
		v.Title = fmt.Sprintf("Others take the processors: %.2f of %.0f CPUs.", others, h.CPUs)
		fix = "find out who they are; " + fix
		v.Needs = []cause.Need{{What: "who they are", Command: Record}}
	}
	v.Fix = append(v.Fix, cause.Fix{Text: fix})
	return v
}
