package linux

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// NoisyNeighbour is one other process or container that takes the processors.
var NoisyNeighbour = check.Check{
	ID:    "linux.noisy-neighbour",
	Title: "another process uses the host's CPUs",
	Step:  check.StepProcessors,
	Doc: `The host is short of CPUs (linux.cpu-saturation) and other processes use them, not this
service. Find which one it is, then move it, lower its priority, or give this service
dedicated CPUs.

Where others fill the host, the programs that requests wait for lack CPUs as well: a
database that is ready and is not run answers late, and data lies unread. A recording tells
how long the threads of such programs were ready.

A trace or a log of the service can show that its threads did not run, but not what ran
instead. That needs a recording of the host: CPU time by process at the same time.

How to tell it from similar problems: a process whose own threads use all CPUs waits for
itself; then other processes use less than it is missing. A quota stops a process while
CPUs are free.`,
	Least: fmt.Sprintf("other processes that use 10 %% of the host's CPUs, and %v of slow time in which the host did not run the process, or in which its runnable threads waited longer than they ran, with slow requests of %v or most requests slow; of a host alone, %v of the CPUs given to other virtual machines while %v are in use",
		check.Material, noticeable, mostlyStolen, cpusFull),
	Thresholds: []check.Threshold{dilated, longRunning, withheld, anySteal, calm, cpusFull, few, full, mostSlow, mostWait, mostlyStolen, wantedStolen, noticeable, rarely, slice, spare, starving,
		check.CrowdedBy, check.CrowdedHost, check.FullCPUs, check.Material, check.MinRequests, check.Noticeable, check.SlowShare, check.SomeSlow, check.HardlyWaiting},

	Needs:     "CPU time of the other processes on the host: " + Record,
	Applies:   func(c *check.Case) bool { return true },
	Judge:     judgeNeighbour,
	JudgeHost: judgeHostSteal,
}

var few = check.Threshold{Name: "share of the host's CPUs that others use, below which they are not in the way", Value: .1, Unit: "1",
	Why: "nine tenths are left", Source: "arithmetic: without them the rest would have a ninth more"}

func judgeNeighbour(c *check.Case) check.Verdict {
	s := starvationOf(c)
	if !s.starved {
		s.host = hostOfAll(c, s.host)
	}
	h := s.host
	v := check.Verdict{Rule: check.TooLittle}
	if s.known && !s.measured {
		v.Evidence = append(v.Evidence, dilationEvidence(c)...)
	}
	if h == nil || !h.process.Known() || h.isOtherProcess() {
		switch {
		case h != nil && h.isOtherProcess():
			v.Summary = fmt.Sprintf("the process in the host's recording used %s CPUs, so it cannot be the one that was traced: check the PID", units.Num(h.process.Number))
		case s.known && !s.starved:
			v.Summary = fmt.Sprintf("the host ran the threads (short system calls take %s × their median)", units.Num(c.Ledger.Host.Dilation))
			s.weighRunning(c, &v)
			return v
		case s.known:
			v.Summary = "another process used the CPUs; which one was not recorded"
		default:
			v.Summary = "what else used the CPUs was not recorded"
		}
		v.Rule = check.NotRecorded
		v.Needs = []check.Need{hostEvidence}
		return v
	}
	others := h.Others.Number
	top := h.topNeighbour()
	v.Summary = fmt.Sprintf("other processes use %s of %.0f CPUs", units.Num(others), h.CPUs)
	v.Weigh(others/max(h.CPUs, 1), few)
	v.Evidence = append(v.Evidence, c.Figure("host.others_cpus", fmt.Sprintf("CPUs used by other processes, of %.0f", h.CPUs), others, "CPUs", h.Busy.Origin))
	if top.Cores > 0 && top.Cores <= others { // the kernel counts the host's busy time in ticks and that of processes exactly: a part above the whole says nothing
		v.Evidence = append(v.Evidence, c.Figure("host.other_cpus", "of these, by "+top.String(), top.Cores, "CPUs", h.Busy.Origin))
	}
	v.Evidence = append(v.Evidence, h.listFigures(c)...)
	quota := throttleOf(c)
	switch {
	case others < few.Value*h.CPUs:
		return v
	case !s.starved:
		d, ok := delayOf(c)
		switch {
		case waitsInCrowd(c) >= check.Material.Value:
			blameCrowd(c, h, &v, 0)
		case !s.agree:
			v.Rule = check.Contradictory
			v.Summary = fmt.Sprintf("the trace looks as if the host did not run the process, but the process had all its CPU time; other processes use %s of %.0f CPUs", units.Num(others), h.CPUs)
		case s.known && (!ok || d.isImmaterial()):
			v.Summary += ", but the host ran the threads"
			s.weighRunning(c, &v)
		case ok && d.ruleOutIfHardlyWaited(c, &v):
		case ok && d.isCause(c, h):
			v.Evidence = append(v.Evidence, d.listFigures(c)...)
			blameNeighbours(h, &v, d.savedTime(c), d.about)
		case ok && d.isCauseWithoutRequests(c, h):
			v.Evidence = append(v.Evidence, c.Figure("process.runnable_threads", "threads of the process waiting for a CPU, on average", d.threads, "count", d.origin))
			unasked := check.Saves{}
			blameNeighbours(h, &v, &unasked, 0)
			v.Saves, v.Weight = nil, d.threads
			v.Summary = fmt.Sprintf("other processes use %s of %.0f CPUs, while %s of its threads wait for one", units.Num(others), h.CPUs, units.Num(d.threads))
		default:
			v.Rule = check.CostUnknown
			v.Summary += d.boundPhrase(ok, "; whether these requests waited for a CPU was not recorded")
			if !s.known {
				v.Needs = needTrace(c)
			}
		}
		return v
	case h.hasSpareCPUs():
		v.Weigh(h.Peak/max(h.CPUs, 1), spare)
		v.Summary += fmt.Sprintf(", but the host never had more than %s busy", units.Num(h.Peak))
		return v
	case quota.explainsStarvation(s, h.run):
		v.Rule = check.Explained
		v.Summary += fmt.Sprintf(", but a CPU quota throttled it in %.0f of %.0f periods", quota.Stopped.Number, quota.Periods.Number)
		return v
	case others < h.Busy.Number/2 && !(others >= s.share*h.run):
		v.Rule = check.Explained
		v.Summary += ", less than the process lacks: it uses up the host's CPUs itself"
		return v
	}
	saves, share := s.savedTime(c)
	if around := waitsInCrowd(c); share < check.Material.Value && share+around >= check.Material.Value {
		blameCrowd(c, h, &v, share)
		return v
	}
	v.Weigh(share, check.Material)
	if share < check.Material.Value || !c.Slow() {
		v.Rule = check.Happens
		v.Summary += fmt.Sprintf(", but that is %s of slow time", units.Percent(share))
		return v
	}
	blameNeighbours(h, &v, saves, share)
	return v
}

// waitsInCrowd returns the part of slow time in which requests waited for threads and programs of
// this host that lacked a CPU; 0 where slow requests are few or short.
func waitsInCrowd(c *check.Case) float64 {
	x := c.Crowding()
	if x == nil || !c.Slow() || !c.UserVisible(check.Noticeable) {
		return 0
	}
	return x.Share(c)
}

// blameCrowd supports that others used the CPUs that programs lacked which requests waited for;
// own is the part of slow time in which the process itself did not run.
func blameCrowd(c *check.Case, h *host, v *check.Verdict, own float64) {
	x, total := c.Crowding(), float64(c.Ledger.Total)
	share := own + x.Share(c)
	v.Weigh(share, check.Material)
	blameNeighbours(h, v, c.Bound(share*total, own*total, min(1, share)*total), share)
	for _, e := range []struct {
		id, words string
		ns        int64
	}{
		{"slow.threads_in_crowd_ms", "slow time in which requests waited for threads of the process that waited for a CPU", x.Unread},
		{"slow.called_in_crowd_ms", "slow time in which programs of this host that requests waited for waited for a CPU", x.Answerers},
		{"slow.delivery_ms", "slow time in which answers were on their way to clients", x.Late},
	} {
		if e.ns > 0 {
			v.Evidence = append(v.Evidence, c.Figure(e.id, e.words, float64(e.ns)/1e6, "ms", h.Busy.Origin))
		}
	}
}

// blameNeighbours supports that others used the processors, and names them.
func blameNeighbours(h *host, v *check.Verdict, saves *check.Saves, share float64) {
	others, top := h.Others.Number, h.topNeighbour()
	v.Rule = check.Matters
	v.Saves = saves
	v.Summary = fmt.Sprintf("other processes use %s of %.0f CPUs, %s of slow time", units.Num(others), h.CPUs, units.Percent(share))
	fix := "lower its priority (cpu.weight, nice), or give this service dedicated CPUs: cpuset, reserved cores"
	switch {
	case h.Steal.Number >= others/2:
		v.Title = fmt.Sprintf("Other virtual machines use the host's CPUs: the hypervisor gave them %s of %.0f CPUs.", units.Num(h.Steal.Number), h.CPUs)
		fix = "move the virtual machine, or rent one with dedicated CPUs"
	case top.Largest >= others/2:
		v.Title = fmt.Sprintf("%s uses the CPUs that this service needs: %s of %.0f CPUs.", top.Name, units.Num(top.Largest), h.CPUs)
		fix = fmt.Sprintf("move %s, %s", top.Name, fix)
	case top.Cores > 0:
		// Without the largest, the others are still there. Where it alone uses more than the
		// service does, it and they are why the host is short of processors, and come before that.
		value := saves.Value * top.Largest / others
		if top.Largest > h.process.Number && others >= h.Busy.Number/2 {
			value = saves.Value
		}
		v.Saves = &check.Saves{Value: value, Low: stats.FiniteOrNil(0), High: saves.High, Basis: check.Basis("bound")}
		v.Title = fmt.Sprintf("Many processes use the CPUs that this service needs, none of them more than %s of %.0f CPUs; most is used by %s.", units.Num(top.Largest), h.CPUs, top)
		fix = fmt.Sprintf("move %s, %s", top.Name, fix)
	default:
		v.Title = fmt.Sprintf("Other processes use the CPUs that this service needs: %s of %.0f CPUs.", units.Num(others), h.CPUs)
		fix = "find out which processes these are; " + fix
		v.Needs = []check.Need{{What: "CPU time by process, to show which they are", Command: Record}}
	}
	v.Fix = append(v.Fix, check.Fix{Text: fix})
}
