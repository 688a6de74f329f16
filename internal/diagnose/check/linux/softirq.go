package linux

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Softirq is CPU time that goes into the kernel's deferred interrupt work.
var Softirq = check.Check{
	ID:    "linux.softirq",
	Title: "the CPUs are busy with interrupts (softirq), mostly for packets",
	Step:  check.StepProcessors,
	Doc: `The kernel finishes the work of a device interrupt (mostly the network stack's work for received
packets) as soon as possible, on the interrupted CPU: the thread that ran there waits, and its CPU
time is charged. On the loopback device the sender itself carries its packets to the receiver. If
there is too much work, ksoftirqd does the rest, as one more thread that needs the CPU. The cost is
per packet, not per byte: small packets cost as much as large ones.

It shows as softirq in the host's CPU time, as stacks with handle_softirqs (net_rx_action below it
for the network) in threads that only send or compute, and in /proc/net/softnet_stat as packets
dropped (second column) and times that the budget was used up (third). If a network card has one
queue, one CPU may be saturated while others are idle.

How to tell it from similar problems: system time without softirq is the program's own calls. Other
processes on the CPUs are linux.noisy-neighbour; steal comes from the hypervisor.

What helps: fewer, larger packets: batches (sendmmsg, recvmmsg, UDP_SEGMENT and UDP_GRO, combined
writes, no TCP_NODELAY for streams of small writes), responses in one piece. More CPUs for it: more
queues (ethtool -L), interrupts spread over CPUs (/proc/irq/N/smp_affinity), RPS and RFS (rps_cpus,
rps_flow_cnt) where there is one queue, and the service kept off the CPU that handles them. A
larger budget (net.core.netdev_budget, netdev_budget_usecs) if it is used up while CPUs are free.
Between processes of one host, a UNIX socket or shared memory: no packets at all.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time: the share of their own work that stacks show in softirq, or waits for CPUs busy with it; without requests, %v of the process's CPU time, and 0.25 CPUs, while its threads wait for a CPU or saturate one; of a host alone, %v of the time of all its CPUs, of which 80 %% are busy, or %v of one CPU in it or in ksoftirqd, or %v of the samples of a profile",
		check.SomeSlow, check.SlowShare, check.Material, check.Material, check.Material, busyKernelThread, ofProfile),
	Thresholds: []check.Threshold{inKernelCPU, inKernelShare, check.TwoKinds, anySteal, busyKernelThread, cpusFull, few, leastWork, mostlySoftirq, ofProfile, oneFull, check.Arguable, check.Material, check.MinRequests,
		check.MostlyUnseen, check.Noticeable, check.SlowShare, check.SomeSlow},

	Needs:     "stacks of its running threads: unstall record PID --kernel; softirq in /proc/stat",
	Applies:   func(c *check.Case) bool { return softirq.hasEvidence(c) || softirqOf(c) >= few.Value },
	Judge:     judgeSoftirq,
	JudgeHost: judgeHostSoftirq,
}

var softirq = mechanism{what: "softirq", classes: []string{evidence.KernelSoftirq}}

// softirqOf returns the part of the host's CPUs that interrupts take, 0 if unknown.
func softirqOf(c *check.Case) float64 {
	h := hostOver(c, requestWindow(c), 0)
	s := strainOf(c)
	if h == nil || !s.Softirq.Known() || !(h.CPUs > 0) {
		return 0
	}
	return s.Softirq.Number / h.CPUs
}

// isSoftirqKnown reports whether [softirqOf] is known.
func isSoftirqKnown(c *check.Case) bool {
	h := hostOver(c, requestWindow(c), 0)
	return h != nil && h.CPUs > 0 && strainOf(c).Softirq.Known()
}

func judgeSoftirq(c *check.Case) check.Verdict {
	k, s, l := kernelOf(c), strainOf(c), c.Ledger
	v := check.Verdict{Rule: check.TooLittle}
	if s.Softirq.Known() {
		v.Evidence = append(v.Evidence, c.Figure("host.softirq_cpus", "CPUs of the host busy with interrupts", s.Softirq.Number, "CPUs", s.Softirq.Origin))
		v.Summary = fmt.Sprintf("interrupts use %s CPUs of the host", units.Num(s.Softirq.Number))
	}
	part, used := metrics.Unknown, metrics.Unknown
	if k != nil {
		part, used = k.CPUShare(softirq.classes...), k.CPU(softirq.classes...)
	}
	if part.Known() {
		v.Evidence = append(v.Evidence, c.Figure("process.softirq_cpu_share", "share of the process's CPU time in softirq", part.Number, "1", part.Origin))
		v.Summary = fmt.Sprintf("softirq is %s of its CPU time", units.Percent(part.Number))
	}
	if part.Known() && (l == nil || len(l.Rows) < ledger.MinRequests) {
		v.Weigh(part.Number, inKernelShare)
		v.Weigh(used.Number, inKernelCPU)
	}
	switch {
	case !part.Known() && !isSoftirqKnown(c):
		v.Rule, v.Needs = check.NotRecorded, []check.Need{kernelEvidence}
		v.Summary = "how long the CPUs handled interrupts was not recorded"
		return v
	case !part.Known() && softirqOf(c) < few.Value:
		v.Weigh(softirqOf(c), few)
		return v
	case !part.Known():
		v.Rule, v.Needs = check.CostUnknown, []check.Need{kernelEvidence}
		v.Summary += "; what that costs this process was not recorded"
		return v
	case l != nil && len(l.Rows) >= ledger.MinRequests:
		return softirqOfRequests(c, v, part.Number)
	case part.Number < inKernelShare.Value || used.Number < inKernelCPU.Value:
		return v
	case !wantsCPU(c):
		v.Summary += ", but a CPU is always free for it: on the loopback device every sender processes its packets itself"
		return v
	}
	v.Rule, v.Weight, v.Work = check.Matters, used.Number, part.Number
	v.Title = fmt.Sprintf("%s of the process's CPU time is softirq: %s.", units.Percent(part.Number), irqWork(k))
	v.Evidence = append(v.Evidence, softirq.stackEvidence(c, k)...)
	v.Fix = fewerPackets(k)
	return v
}

// Where no requests tell what the kernel's work costs them, its CPU time does.
var (
	inKernelShare = check.Threshold{Name: "share of the process's CPU time in such work of the kernel, where no requests tell its cost", Value: check.Material.Value, Unit: "1",
		Why: "without it the process would do a third more", Source: "arithmetic: 1/(1−0.25)"}
	inKernelCPU = check.Threshold{Name: "CPUs that such work takes, where no requests tell its cost", Value: check.Material.Value, Unit: "CPUs",
		Why: "less of one CPU is not missed", Source: "judgement: weighs a process that hardly runs against one whose threads wait for each other; a quarter of a second in each second"}
)

var oneFull = check.Threshold{Name: "share of one CPU from which a process of one busy thread can do no more", Value: .8, Unit: "1",
	Why: "a queue at 80 % is four times as long as what is served", Source: "M/M/1: ρ/(1−ρ)"}

// wantsCPU says whether a process lacks CPU time: its threads wait for a CPU, or use up one. It is
// true where neither is known.
func wantsCPU(c *check.Case) bool {
	p := metrics.ProcessOf(c.Bundle, c.Subject, requestWindow(c))
	return !p.CPU.Known() || !p.RunDelay.Known() || p.RunDelay.Number >= leastWork.Value || p.CPU.Number >= oneFull.Value
}

// softirqHeld returns the part of ready threads' waiting in which interrupts had the CPU: their
// share of all that keeps the host's CPUs busy.
func softirqHeld(c *check.Case) float64 {
	h, s := hostOver(c, requestWindow(c), 0), strainOf(c)
	if h == nil || !s.Softirq.Known() || !(h.Busy.Number > 0) {
		return 0
	}
	return min(1, s.Softirq.Number/h.Busy.Number)
}

func softirqOfRequests(c *check.Case, v check.Verdict, part float64) check.Verdict {
	l := c.Ledger
	if !c.Slow() {
		v.Rule = check.NotSlow
		v.Summary += ", and almost no requests were slow"
		return v
	}
	if !c.HasRequestStates() {
		v.Weigh(part, inKernelShare)
		if part >= check.Arguable.Value {
			v.Rule, v.Needs = check.CostUnknown, []check.Need{c.Trace("a few seconds under load", "")}
		}
		return v
	}
	held, ran := softirqHeld(c), ranAtWork(c)
	lost := func(row int) int64 {
		ch := l.Of(row)
		return int64(part*(ran*float64(ch[ledger.Own]+ch[ledger.Kernel])+float64(ch[ledger.RequestsCPU])) + held*float64(ch[ledger.HostCPU]+ch[ledger.BackgroundCPU]))
	}
	per, sum := make([]int64, len(l.Slow)), int64(0)
	for n, row := range l.Slow {
		per[n] = lost(row)
		sum += per[n]
	}
	share := float64(sum) / float64(max(1, l.Total))
	v.Summary += fmt.Sprintf(", %s of slow time", units.Percent(share))
	v.Weigh(share, check.Material)
	switch {
	case share < check.Arguable.Value:
		return v
	case share < check.Material.Value || !c.UserVisible(check.Noticeable):
		v.Rule, v.Needs = check.Happens, []check.Need{c.Trace("a longer recording under load", "")}
		return v
	}
	k := kernelOf(c)
	v.Rule, v.Work = check.Matters, part
	v.Title = fmt.Sprintf("The CPUs are busy with softirq, %s: %s of slow time.", irqWork(k), units.Percent(share))
	v.Saves = c.Save(per, -1, -1)
	v.Explains = func(p *ledger.Place) bool { return p.Mechanism == ledger.Kernel && 2*part >= 1 } // most of a call is softirq
	v.Prediction = append(v.Prediction, c.PredictP99(lost))
	v.Evidence = append(v.Evidence, softirq.stackEvidence(c, k)...)
	v.Fix = fewerPackets(k)
	return v
}

// ranAtWork returns the part of the slow requests' work and system calls that can have been CPU time: a call may wait, for a lock of a file or
// for a disk, and all requests together run for no longer than the process does.
func ranAtWork(c *check.Case) float64 {
	l := c.Ledger
	used := metrics.ProcessOf(c.Bundle, c.Subject, metrics.Window{From: l.From, Until: l.To}).CPU
	work := l.Charges[ledger.Own] + l.Charges[ledger.Kernel]
	if !used.MostlyKnown() || work == 0 {
		return 1
	}
	return min(1, used.Number*float64(l.To-l.From)/float64(work))
}

// irqKinds are what softirqs do, by the functions that do it.
var irqKinds = []struct{ function, does string }{
	{"net_rx_action", "receiving packets"}, {"net_tx_action", "sending packets"}, {"run_timer_softirq", "timers"}, {"blk_done_softirq", "disk requests"},
	{"blk_complete_reqs", "disk requests"}, {"tasklet_action", "a driver's work"}, {"rcu_core", "freeing unused kernel memory"}, {"hrtimer_run_softirq", "timers"},
}

// irqWork returns what most of the time in softirqs is spent on.
func irqWork(k *kernel) string {
	sums := make([]float64, len(irqKinds))
	most := 0
	for _, s := range k.Stacks(softirq.classes...) {
		functions, _ := k.Frames(s.Stack)
		for i, x := range irqKinds {
			if slices.ContainsFunc(functions, func(f string) bool { return strings.HasPrefix(f, x.function) }) {
				sums[i] += s.Seconds
				break
			}
		}
	}
	for i := range sums {
		if sums[i] > sums[most] {
			most = i
		}
	}
	if sums[most] == 0 {
		return "deferred interrupt work"
	}
	return irqKinds[most].does
}

func fewerPackets(k *kernel) []check.Fix {
	if !strings.Contains(irqWork(k), "packets") {
		return []check.Fix{{Text: "find which interrupts these are (/proc/softirqs, /proc/interrupts) and keep them off the CPUs of this service (/proc/irq/N/smp_affinity)"}}
	}
	return []check.Fix{
		{Text: "send fewer, larger packets: combine small writes into one, receive and send several datagrams with one call (recvmmsg, sendmmsg), let the kernel split and join them (UDP_SEGMENT, UDP_GRO); between processes of one host use a UNIX socket"},
		{Text: "spread the packets of a network card over CPUs: more queues (ethtool -L), interrupts on several CPUs (/proc/irq/N/smp_affinity), or RPS and RFS where there is one queue (rps_cpus of /sys/class/net/*/queues, net.core.rps_sock_flow_entries)"},
	}
}
