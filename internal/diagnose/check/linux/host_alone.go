package linux

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Thresholds for a report of iostat or mpstat that shows by itself that all programs on the host wait.
var (
	diskFull = check.Threshold{Name: "share of the time in which a disk had requests", Value: .9, Unit: "1",
		Why: "of a disk that takes many at a time it says little by itself", Source: "iostat(1), %util: of devices that serve requests side by side it is no limit; M/M/1: ρ/(1−ρ) is 9 at 90 %"}
	waitsMuch = check.Threshold{Name: "share of the CPUs' time idle while a disk was waited for, beside a disk that always has requests", Value: .15, Unit: "1",
		Why: "of eight CPUs more than one has always a task that waits", Source: "arithmetic: 15 % of eight CPUs are 1.2"}
	mostlyFull = check.Threshold{Name: "share of the time in which a disk with a long queue had requests", Value: .8, Unit: "1",
		Why: "where much waits at a time, it is not that one program reads a little at a time", Source: "M/M/1: ρ/(1−ρ) is 4 at 80 %"}
	longQueue = check.Threshold{Name: "requests of a disk at a time, on average, that are a long queue", Value: 8, Unit: "count",
		Why: "twice what a disk that is busy for 80 % of the time has where requests come at random", Source: "M/M/1: ρ/(1−ρ) is 4 at 80 %"}
	waitsLong = check.Threshold{Name: "share of the CPUs' time idle while a disk with a long queue was waited for", Value: .3, Unit: "1",
		Why: "what runs waits for it as much as it runs, or nearly", Source: "judgement: weighs tasks that read ahead in the background against those that requests wait for; twice what shows a disk without a pause"}
	nearlyOne = check.Threshold{Name: "writes at a time, on average, from which a disk always has one", Value: .9, Unit: "count",
		Why: "a program writes the next one when the last one is done, as fsync makes it", Source: "arithmetic: one at a time, less the time between two"}
	slowDisk = check.Threshold{Name: "time that a disk takes for a request", Value: 5e-3, Unit: "s",
		Why: "what a disk with a seek takes alone, and fifty times as long as an SSD does", Source: "arithmetic: half a turn at 7200 a minute is 4.2 ms, before any seek"}
	slowMean = check.Threshold{Name: "mean time that requests of a disk took, by a listing of all", Value: 50e-3, Unit: "s",
		Why: "ten times what a disk with a seek takes alone: each waits for others", Source: "arithmetic: half a turn at 7200 a minute is 4.2 ms, before any seek"}
	listed = check.Threshold{Name: "requests of which a mean means something", Value: 20, Unit: "count",
		Why: "of fewer one load decides", Source: "binomial error: of 20 the half that is slower is known within 11 % (√(0.5·0.5/20))"}
	cpusFull = check.Threshold{Name: "share of the CPUs that are busy", Value: .8, Unit: "1",
		Why: "of what comes at random each waits four times as long as it runs", Source: "M/M/1: ρ/(1−ρ)"}
)

// askProcess is the evidence that would show whether a service waits.
var askProcess = check.Need{What: "a recording of the service on this host from the same time, to show whether its requests wait for it", Command: "unstall record PID"}

// judgeHostDisk judges the host's disks: one is at its limit if it always has several requests, and each takes long.
func judgeHostDisk(c *check.Case) (v check.Verdict, ok bool) {
	waits := metrics.ShownOf(c.Bundle).Iowait
	for _, d := range metrics.EachDisk(c.Bundle, metrics.Whole) {
		slow, what := d.WriteTook, "write"
		if !slow.Known() || d.ReadTook.Number > slow.Number {
			slow, what = d.ReadTook, "read"
		}
		always := waits.Number >= waitsMuch.Value || d.InFlight.Number >= queued.Value && slow.Number >= slowDisk.Value || d.InFlight.Number >= nearlyOne.Value && d.WriteTook.Number >= slowDisk.Value && !(d.Reads.Number > d.Writes.Number)
		full := d.Busy.Number >= diskFull.Value && always
		crowded := d.Busy.Number >= mostlyFull.Value && d.InFlight.Number >= longQueue.Value && waits.Number >= waitsLong.Value
		if !full && !crowded || v.Weight >= d.InFlight.Number {
			continue
		}
		ok = true
		v = check.Verdict{Rule: check.Matters, Weight: d.InFlight.Number,
			Title:   fmt.Sprintf("The disk %s is saturated: it is busy %s of the time, and a %s takes %s.", d.Name, units.Percent(d.Busy.Number), what, units.Time(slow.Number*1e9)),
			Summary: fmt.Sprintf("%s requests at a time wait for %s", units.Num(d.InFlight.Number), d.Name)}
		if full {
			v.Weigh(d.Busy.Number, diskFull)
			v.WeighOne(waits.Number, waitsMuch)
		} else {
			v.Weigh(d.Busy.Number, mostlyFull)
			v.Weigh(d.InFlight.Number, longQueue)
			v.Weigh(waits.Number, waitsLong)
		}
		v.WeighOne(d.InFlight.Number, queued)
		v.WeighOne(d.InFlight.Number, nearlyOne)
		v.Weigh(slow.Number, slowDisk)
		v.Evidence = append(v.Evidence, c.Figure("disk.busy_share", "share of the time in which "+d.Name+" had requests", d.Busy.Number, "1", d.Busy.Origin),
			c.Figure("disk.in_flight", "requests of it at a time, on average", d.InFlight.Number, "count", d.InFlight.Origin))
		if d.WriteTook.Known() {
			v.Evidence = append(v.Evidence, c.Figure("disk.write_ms", "mean time per write, waiting in its queue included", d.WriteTook.Number*1e3, "ms", d.Writes.Origin),
				c.Figure("disk.writes_per_s", "writes", d.Writes.Number, "1/s", d.Writes.Origin))
		}
		if d.ReadTook.Known() {
			v.Evidence = append(v.Evidence, c.Figure("disk.read_ms", "mean time per read, waiting in its queue included", d.ReadTook.Number*1e3, "ms", d.Reads.Origin),
				c.Figure("disk.reads_per_s", "reads", d.Reads.Number, "1/s", d.Reads.Origin))
		}
		v.Fix = []check.Fix{{Text: "find which processes read and write it (pidstat -d 1, io.stat of each cgroup), do less of it or limit it (io.max), or give the service a dedicated or faster disk", Code: d.Name}}
		v.Needs = []check.Need{askProcess}
	}
	if ok {
		return v, true
	}
	if v, ok := judgeListed(c); ok {
		return v, true
	}
	if v, ok := judgeDiskWaits(c); ok {
		return v, true
	}
	return judgeHung(c, evidence.KernelSaidHungDisk, "for a disk")
}

// waitsMost is how much CPUs must wait for a disk to show one that is at its limit where no disk is told of.
var waitsMost = check.Threshold{Name: "share of the CPUs' time idle while a disk was waited for, without figures of disks", Value: .5, Unit: "1",
	Why: "of all CPUs half have a task that waits, and nothing else to run", Source: "judgement: weighs hosts of one CPU, on which a single copy in the background waits so, against those whose programs all wait"}

// judgeDiskWaits judges a host by CPUs that wait for a disk most of the time, as vmstat and top tell it, which name no disk. Pages that are read back from
// swap wait for one, too: those are judged as such.
func judgeDiskWaits(c *check.Case) (v check.Verdict, ok bool) {
	h := metrics.ShownOf(c.Bundle)
	if _, swaps := judgeHostSwap(c); swaps || len(h.Disks) > 0 || !(h.Iowait.Number >= waitsMost.Value) || h.Blocked.Known() && !(h.Blocked.Number >= 1) {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: h.Iowait.Number,
		Title:   fmt.Sprintf("The host waits for a disk: its CPUs were idle for that %s of the time.", units.Percent(h.Iowait.Number)),
		Summary: fmt.Sprintf("CPUs wait for a disk %s of the time", units.Percent(h.Iowait.Number))}
	v.Weigh(h.Iowait.Number, waitsMost)
	v.Evidence = append(v.Evidence, c.Figure("host.iowait_share", "share of the CPUs' time idle while a disk was waited for", h.Iowait.Number, "1", h.Iowait.Origin))
	if h.Blocked.Known() {
		v.Evidence = append(v.Evidence, c.Figure("host.blocked_tasks", "tasks that waited for a disk", h.Blocked.Number, "count", h.Blocked.Origin))
	}
	if h.SwapIn.Number > 0 || h.SwapOut.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("host.swap_in_pages_per_s", "pages of the host read from swap", h.SwapIn.Number, "1/s", h.SwapIn.Origin),
			c.Figure("host.swap_out_pages_per_s", "pages of the host written to swap", h.SwapOut.Number, "1/s", h.SwapOut.Origin))
	}
	v.Fix = []check.Fix{{Text: "find the disk and which processes read and write it (iostat -x 1, pidstat -d 1), and do less of it, or use a faster disk; where memory is short, more of it spares reads"}}
	v.Needs = []check.Need{askProcess}
	return v, true
}

// judgeListed judges a disk by a listing of all its requests, as biosnoop and biotop print it: whatever they are, each takes long.
func judgeListed(c *check.Case) (v check.Verdict, ok bool) {
	mean, told := c.Fact(evidence.FactDiskMean)
	n, _ := c.Fact(evidence.FactDiskRequests)
	if !told || c.Ledger != nil || n.Number < listed.Value || mean.Number < slowMean.Value*1e9 {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: min(1, mean.Number/1e9),
		Title:   fmt.Sprintf("The disk %s is slow or has a long queue: a request takes %s on average, of %s.", mean.Value, units.Time(mean.Number), units.Plural(int(n.Number), "request")),
		Summary: fmt.Sprintf("%s for a request of %s", units.Time(mean.Number), mean.Value)}
	v.Weigh(mean.Number/1e9, slowMean)
	v.Counted(n.Number, listed)
	v.Evidence = append(v.Evidence, c.Figure("disk.listed_ms", "mean time of a request, by a listing of all", mean.Number/1e6, "ms", mean.Origin),
		c.Figure("disk.listed_requests", "requests of that listing", n.Number, "count", n.Origin))
	v.Fix = []check.Fix{{Text: "find which processes read and write it (pidstat -d 1, io.stat of each cgroup), do less of it or limit it (io.max), or give the service a dedicated or faster disk", Code: mean.Value}}
	v.Needs = []check.Need{askProcess}
	return v, true
}

var mostlySoftirq = check.Threshold{Name: "share of the host's CPUs busy with interrupts, whatever else they do", Value: .45, Unit: "1",
	Why: "nearly half of them are lost to programs", Source: "judgement: weighs interrupts that leave a CPU for programs against those that take it: what is left is hardly more than what they take"}

// judgeHostSoftirq judges the host's CPUs: interrupts take much of them, and few are free.
func judgeHostSoftirq(c *check.Case) (v check.Verdict, ok bool) {
	h := metrics.HostOf(c.Bundle, c.Subject, metrics.Whole)
	s := metrics.StrainOf(c.Bundle, c.Subject, metrics.Whole)
	if v, ok := judgeKsoftirqd(c); ok {
		return v, true
	}
	if v, ok := judgeProfile(c, evidence.KernelSoftirq, "handles interrupts (softirq)", check.Fix{Text: "handle fewer packets: larger ones (batches), fewer rules for each (iptables, conntrack); spread what remains over CPUs (ethtool -L, rps_cpus)"}); ok {
		return v, true
	}
	if !(h.CPUs > 0) || !s.Softirq.Known() || s.Softirq.Number < check.Material.Value*h.CPUs || h.Taken() < cpusFull.Value*h.CPUs && s.Softirq.Number < mostlySoftirq.Value*h.CPUs {
		return judgeSoftirqShown(c)
	}
	part := s.Softirq.Number / h.CPUs
	v = check.Verdict{Rule: check.Matters, Weight: s.Softirq.Number, Work: part,
		Title:   fmt.Sprintf("Interrupts (softirq) take %s of the host's CPU time; %s of it is free.", units.Percent(part), units.Percent(max(0, 1-h.Taken()/h.CPUs))),
		Summary: fmt.Sprintf("softirq uses %s of %.0f CPUs", units.Num(s.Softirq.Number), h.CPUs)}
	v.Weigh(part, check.Material)
	v.WeighOne(h.Taken()/h.CPUs, cpusFull)
	v.WeighOne(part, mostlySoftirq)
	v.Evidence = append([]check.Evidence{c.Figure("host.softirq_cpus", "CPUs of the host busy with interrupts", s.Softirq.Number, "CPUs", s.Softirq.Origin)}, (&host{Host: h, process: metrics.Unknown}).listFigures(c)...)
	v.Fix = []check.Fix{{Text: "handle fewer packets: larger ones (batches, pipelines), fewer rules for each (iptables, conntrack), none between processes of one host (a UNIX socket)"},
		{Text: "spread what remains over CPUs: more queues of the network card (ethtool -L), RPS where there is one (rps_cpus)"}}
	v.Needs = []check.Need{askProcess}
	return v, true
}

// judgeSoftirqShown judges a host of which it is not known how many CPUs it has by their shares, and else by the CPU that interrupts take most of: where
// the packets of a network card all go to one, the others do not help.
func judgeSoftirqShown(c *check.Case) (v check.Verdict, ok bool) {
	h := metrics.ShownOf(c.Bundle)
	most := h.SoftirqMost
	switch part := h.Softirq.Number; {
	case !(h.CPUs > 0) && (part >= mostlySoftirq.Value || part >= check.Material.Value && h.Busy.Number >= cpusFull.Value):
		v = check.Verdict{Rule: check.Matters, Weight: part,
			Title:   fmt.Sprintf("Interrupts (softirq) take %s of the host's CPU time.", units.Percent(part)),
			Summary: fmt.Sprintf("softirq uses %s of the CPUs", units.Percent(part))}
		v.Weigh(part, check.Material)
		v.WeighOne(h.Busy.Number, cpusFull)
		v.WeighOne(part, mostlySoftirq)
		v.Evidence = append(v.Evidence, c.Figure("host.softirq_share", "share of the CPUs' time that interrupts take", part, "1", h.Softirq.Origin))
		v.Fix = []check.Fix{{Text: "handle fewer packets: larger ones (batches, pipelines), fewer rules for each (iptables, conntrack)"},
			{Text: "spread what remains over CPUs: more queues of the network card (ethtool -L), RPS where there is one (rps_cpus)"}}
		v.Needs = []check.Need{{What: "each CPU's share, and which interrupts they are: mpstat -P ALL 1 10; cat /proc/softirqs twice, ten seconds apart"}}
		return v, true
	case !(most.Number >= busyKernelThread.Value):
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: most.Number,
		Title:   fmt.Sprintf("One CPU does almost nothing but handle interrupts (softirq): they take %s of its time.", units.Percent(min(1, most.Number))),
		Summary: fmt.Sprintf("interrupts take %s of one CPU", units.Percent(min(1, most.Number)))}
	v.Weigh(most.Number, busyKernelThread)
	v.Evidence = append(v.Evidence, c.Figure("host.softirq_most_share", "share of the time of the CPU that interrupts take most of", most.Number, "1", most.Origin))
	v.Fix = []check.Fix{{Text: "spread the packets over CPUs: more queues of the network card (ethtool -L), RPS where there is one (rps_cpus); fewer rules for each packet (iptables, conntrack)"}}
	v.Needs = []check.Need{{What: "which interrupts they are: cat /proc/softirqs and /proc/interrupts twice, ten seconds apart"}}
	return v, true
}

var (
	mostlyStolen = check.Threshold{Name: "share of the CPUs given to other virtual machines", Value: .25, Unit: "1",
		Why: "whatever runs takes a third longer at least", Source: "arithmetic: 1/(1 − 0.25) is 1.33"}
	wantedStolen = check.Threshold{Name: "share stolen of the time in which the CPUs had work", Value: .5, Unit: "1",
		Why: "whatever runs takes twice as long at least, though the CPUs are idle in between", Source: "arithmetic: 1/(1 − 0.5) is 2"}
	manyPages = check.Threshold{Name: "pages read from swap, and written", Value: 256, Unit: "1/s",
		Why: "1 MiB a second", Source: "arithmetic: 4 KiB each"}
)

// judgeHostSteal judges by what the hypervisor gave to others.
func judgeHostSteal(c *check.Case) (v check.Verdict, ok bool) {
	h := metrics.ShownOf(c.Bundle)
	steal, busy := h.Steal, h.Busy
	if !steal.Known() || steal.Number < mostlyStolen.Value || busy.Known() && busy.Number+steal.Number < cpusFull.Value && steal.Number < wantedStolen.Value*(busy.Number+steal.Number) {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: steal.Number,
		Title:   fmt.Sprintf("Other virtual machines use the host's CPUs: the hypervisor gave them %s of the time.", units.Percent(steal.Number)),
		Summary: fmt.Sprintf("%s of the CPUs were stolen", units.Percent(steal.Number))}
	v.Weigh(steal.Number, mostlyStolen)
	v.Weigh(busy.Number+steal.Number, cpusFull)
	v.Evidence = append(v.Evidence, c.Figure("host.stolen_share", "share of the CPUs' time that the hypervisor gave to other virtual machines", steal.Number, "1", steal.Origin))
	v.Fix = []check.Fix{{Text: "move the virtual machine, or rent one with dedicated CPUs; of a burstable one the credits are used up"}}
	v.Needs = []check.Need{askProcess}
	return v, true
}

// judgeHostSwap judges by pages that are read back from swap while tasks wait for disks.
func judgeHostSwap(c *check.Case) (v check.Verdict, ok bool) {
	h := metrics.ShownOf(c.Bundle)
	in, out, waits := h.SwapIn, h.SwapOut, h.Iowait
	if !(in.Number >= manyPages.Value) || !(out.Number >= manyPages.Value) || !(waits.Number >= check.Material.Value) {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: waits.Number,
		Title:   fmt.Sprintf("Memory is short: the host reads %s pages/s back from swap and writes %s, and waits for disks %s of the time.", units.Num(in.Number), units.Num(out.Number), units.Percent(waits.Number)),
		Summary: fmt.Sprintf("%s pages/s read from swap", units.Num(in.Number))}
	v.Weigh(min(in.Number, out.Number), manyPages)
	v.Weigh(waits.Number, check.Material)
	v.Evidence = append(v.Evidence, c.Figure("host.swap_in_pages_per_s", "pages of the host read from swap", in.Number, "1/s", in.Origin),
		c.Figure("host.swap_out_pages_per_s", "pages of the host written to swap", out.Number, "1/s", out.Origin),
		c.Figure("host.iowait_share", "share of the CPUs' time idle while a disk was waited for", waits.Number, "1", waits.Origin))
	v.Fix = []check.Fix{{Text: "give the host more memory, or use less of it: smaller heaps and caches, fewer programs"}}
	v.Needs = []check.Need{askProcess}
	return v, true
}

// All programs wait for a CPU if nearly all CPUs are busy and several tasks for each are ready to run.
var (
	noneFree = check.Threshold{Name: "share of the host's CPUs that are busy when none is free", Value: .95, Unit: "1",
		Why: "readings miss some ticks", Source: "M/M/1: ρ/(1−ρ) is 19 at 95 %"}
	manyReady = check.Threshold{Name: "tasks ready to run for each CPU", Value: 3, Unit: "times",
		Why: "each waits for two others", Source: "arithmetic: each gets a third of a CPU"}
)

// How long threads must wait for a CPU each time, by perf sched alone.
var (
	longReady = check.Threshold{Name: "mean wait of a program's threads for a CPU, by perf sched", Value: check.NoticeableCall.Value, Unit: "ns",
		Why: "each time that they go on they wait for several others", Source: "sched(7), base_slice_ns: others run for 3 ms at a time"}
	manyReadies = check.Threshold{Name: "such waits", Value: 1000, Unit: "count",
		Why: "a program that seldom runs waits at the moments at which others run", Source: "arithmetic: of 1000 a mean is known within 3 % of their spread"}
)

// judgeReadyTenth judges the host's CPUs by the longest tenth of the waits of all tasks, as runqlat counts them. Its many short waits hide the long ones in a mean.
func judgeReadyTenth(c *check.Case) (v check.Verdict, ok bool) {
	tenth, told := c.Fact(evidence.FactReadyDelayTenth)
	n, _ := c.Fact(evidence.FactReadyDelays)
	most, _ := c.Fact(evidence.FactReadyDelayMost)
	if !told || tenth.Number < longReady.Value || n.Number < manyReadies.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: 1,
		Title:   fmt.Sprintf("Tasks that are ready to run often wait for a CPU: a tenth of them at least %s, and up to %s.", units.Time(tenth.Number), units.Time(most.Number)),
		Summary: fmt.Sprintf("a tenth of all waits for a CPU took %s or longer", units.Time(tenth.Number))}
	v.Weigh(tenth.Number, longReady)
	v.Counted(n.Number, manyReadies)
	v.Evidence = append(v.Evidence, c.Figure("sched.delay_tenth_ms", "wait for a CPU that a tenth of all waits reach", tenth.Number/1e6, "ms", tenth.Origin),
		c.Figure("sched.delay_longest_ms", "longest of them", most.Number/1e6, "ms", most.Origin),
		c.Figure("sched.delays_counted", "waits that were counted", n.Number, "count", n.Origin))
	v.Fix = []check.Fix{{Text: "find which processes use the CPUs (pidstat 1, top), run fewer of them there, or use more CPUs"}}
	v.Needs = []check.Need{{What: "whether a quota stops the tasks instead, which counts as a wait, too: cpu.stat of their groups (nr_throttled), and mpstat 1 for free CPUs"}}
	return v, true
}

// judgeReadyDelay judges the host's CPUs by how long threads waited for one.
func judgeReadyDelay(c *check.Case) (v check.Verdict, ok bool) {
	if v, ok := judgeReadyTenth(c); ok {
		return v, true
	}
	mean, told := c.Fact(evidence.FactReadyDelay)
	n, _ := c.Fact(evidence.FactReadyDelays)
	most, _ := c.Fact(evidence.FactReadyDelayMost)
	if !told || mean.Number < longReady.Value || n.Number < manyReadies.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: 1,
		Title:   fmt.Sprintf("Threads of %s wait %s for a CPU each time, and up to %s: others use all CPUs.", mean.Value, units.Time(mean.Number), units.Time(most.Number)),
		Summary: fmt.Sprintf("a mean wait of %s for a CPU", units.Time(mean.Number))}
	v.Weigh(mean.Number, longReady)
	v.Counted(n.Number, manyReadies)
	v.Evidence = append(v.Evidence, c.Figure("sched.delay_ms", "mean wait of "+mean.Value+" for a CPU", mean.Number/1e6, "ms", mean.Origin),
		c.Figure("sched.delay_longest_ms", "longest of them", most.Number/1e6, "ms", most.Origin),
		c.Figure("sched.delays_counted", "waits that were counted", n.Number, "count", n.Origin))
	v.Fix = []check.Fix{{Text: "find which processes use the CPUs (pidstat 1, top), run fewer of them there, or use more CPUs"}}
	v.Needs = []check.Need{askProcess}
	return v, true
}

// judgeHostCPU judges the host's CPUs: all are busy, and several times as many tasks are ready to run.
func judgeHostCPU(c *check.Case) (v check.Verdict, ok bool) {
	if v, ok := judgeReadyDelay(c); ok {
		return v, true
	}
	h := metrics.ShownOf(c.Bundle)
	cpus := float64(c.Bundle.Subjects[c.Subject].CPUs)
	busy, ready := h.Busy, h.Running
	if !ready.Known() && cpus > 0 && h.Load.Number >= manyLoad.Value*cpus && busy.Known() && busy.Number >= noneFree.Value {
		return judgeLoad(c, &h, cpus), true
	}
	if cpus == 0 || !busy.Known() || !ready.Known() || busy.Number < noneFree.Value || ready.Number < manyReady.Value*cpus {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: ready.Number / cpus,
		Title:   fmt.Sprintf("The host has too few CPUs for what runs on it: %s tasks are ready to run for %.0f CPUs, which are busy %s of the time.", units.Num(ready.Number), cpus, units.Percent(busy.Number)),
		Summary: fmt.Sprintf("%s tasks ready for %.0f CPUs", units.Num(ready.Number), cpus)}
	v.Weigh(busy.Number, noneFree)
	v.Weigh(ready.Number/cpus, manyReady)
	v.Evidence = append(v.Evidence, c.Figure("host.running_tasks", "tasks that ran or waited for a CPU", ready.Number, "count", ready.Origin),
		c.Figure("host.busy_share", "share of the CPUs' time in which they were busy", busy.Number, "1", busy.Origin))
	v.Fix = []check.Fix{{Text: "find which processes use the CPUs (pidstat 1, top), run fewer of them there, or use more CPUs"}}
	v.Needs = []check.Need{askProcess}
	return v, true
}

// manyLoad is more than manyReady: a load average counts tasks that wait in the kernel, too.
var manyLoad = check.Threshold{Name: "load average for each CPU, while all CPUs are busy", Value: 10, Unit: "times",
	Why: "of tasks that wait in the kernel, for a disk or a network file system, there are seldom as many while no CPU is free", Source: "three times what counts of tasks that are known to be ready, as up to two thirds may wait for something else"}

// judgeLoad judges the CPUs of a host of which the load average is known and not how many tasks are ready.
func judgeLoad(c *check.Case, h *metrics.Shown, cpus float64) check.Verdict {
	load := h.Load.Number
	v := check.Verdict{Rule: check.Matters, Weight: load / cpus,
		Title:   fmt.Sprintf("The host has too few CPUs for what runs on it: its load is %s for %.0f CPUs, which are busy %s of the time.", units.Num(load), cpus, units.Percent(h.Busy.Number)),
		Summary: fmt.Sprintf("a load of %s for %.0f CPUs", units.Num(load), cpus)}
	v.Weigh(h.Busy.Number, noneFree)
	v.Weigh(load/cpus, manyLoad)
	v.Evidence = append(v.Evidence, c.Figure("host.load", "load average: tasks that run, are ready or wait in the kernel", load, "count", h.Load.Origin),
		c.Figure("host.busy_share", "share of the CPUs' time in which they were busy", h.Busy.Number, "1", h.Busy.Origin))
	v.Fix = []check.Fix{{Text: "find which processes use the CPUs (pidstat 1, top), run fewer of them there, or use more CPUs"}}
	v.Needs = []check.Need{askProcess}
	return v
}
