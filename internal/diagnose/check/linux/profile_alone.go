package linux

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// ofProfile is the part of a CPU profile from which on what the kernel does there is named by it alone.
var ofProfile = check.Threshold{Name: "share of the samples of a CPU profile, where nothing else is known", Value: worthTHP.Value, Unit: "1",
	Why: "as much of the CPU time of whatever was sampled does nothing else", Source: "judgement: as where the process was recorded (linux.thp-stall): without it the same work takes a fifth less CPU time"}

// judgeProfile judges by a kernel mechanism's share of a listing of perf report.
func judgeProfile(c *check.Case, mechanism, what string, fix check.Fix) (v check.Verdict, ok bool) {
	part, found := c.Fact(evidence.FactProfileMechanism + mechanism)
	if !found || part.Number < ofProfile.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: part.Number, Work: part.Number,
		Title:   fmt.Sprintf("The kernel %s for %s of the CPU time that was sampled.", what, units.Percent(part.Number)),
		Summary: fmt.Sprintf("%s of the samples", units.Percent(part.Number))}
	v.Weigh(part.Number, ofProfile)
	v.Evidence = append(v.Evidence, c.Figure("profile.kernel_share", "share of the samples in which the kernel "+what, part.Number, "1", part.Origin))
	v.Fix = []check.Fix{fix}
	v.Needs = []check.Need{askProcess}
	return v, true
}

// judgeHostReclaim judges a host by a profile, or by its daemon that frees memory.
func judgeHostReclaim(c *check.Case) (check.Verdict, bool) {
	if v, ok := judgeKswapd(c); ok {
		return v, true
	}
	if v, ok := judgeStrained(c); ok {
		return v, true
	}
	if v, ok := judgeScanned(c); ok {
		return v, true
	}
	if v, ok := judgeReread(c); ok {
		return v, true
	}
	if v, ok := judgeTasks(c, evidence.KernelReclaim, "free memory before they get some",
		check.Fix{Text: "find what fills the host's memory (memory.current of each cgroup), and limit it or give the host more; where a file system's inodes fill it, slabtop shows them"}); ok {
		return v, true
	}
	if v, ok := judgeHung(c, evidence.KernelSaidHungReclaim, "for memory that the kernel must free first"); ok {
		v.Fix = []check.Fix{{Text: "find what fills the host's memory (free -m, slabtop, memory.current of each cgroup), and limit it or give the host more; a file system that needs memory to write (ZFS, NFS, FUSE) needs some kept free (vm.min_free_kbytes)"}}
		return v, true
	}
	return judgeProfile(c, evidence.KernelReclaim, "frees memory before it can give some",
		check.Fix{Text: "raise the memory limit of the group that reclaims (memory.events counts max), or give the host more memory; files that are read once need not be cached"})
}

// judgeHostTHP judges a host by a profile.
func judgeHostTHP(c *check.Case) (check.Verdict, bool) {
	return judgeProfile(c, evidence.KernelCompaction, "moves pages to make huge ones",
		check.Fix{Text: "let the kernel make huge pages in the background", Setting: "/sys/kernel/mm/transparent_hugepage/defrag=defer+madvise"})
}

// judgeHostFutex judges a host by a profile.
func judgeHostFutex(c *check.Case) (check.Verdict, bool) {
	return judgeProfile(c, evidence.KernelFutex, "puts threads to sleep and wakes them at locks (futex)",
		check.Fix{Text: "find the lock: perf record -g, and what of the program stands above its calls of pthread_mutex_lock; hold it for less time, or use one lock per key or shard; fewer threads that queue for it"})
}

// Syncs that a program's own log or page tells of.
var (
	fewSlowSyncs = check.Threshold{Name: "syncs that took so long that a program told of it", Value: 2, Unit: "count",
		Why: "one may follow a load of data; if it says how long they took, one must have taken as long as it would of a hundred syncs of a slow disk", Source: "arithmetic: the least number that repeats itself"}
	longSync = check.Threshold{Name: "length of a single sync that a program told of", Value: 10e9, Unit: "ns",
		Why: "whatever waits for it waits longer than people do", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 10 s"}
	slowSync = check.Threshold{Name: "median of a sync", Value: 10e6, Unit: "ns",
		Why: "of a disk that suits, 99 of 100 take less", Source: "etcd, Hardware recommendations, Disks; FAQ: \"p99 duration should be less than 10ms\""}
	slowTail = check.Threshold{Name: "sync that one of a hundred exceeds", Value: 100e6, Unit: "ns",
		Why: "ten times what suits, and as long as a beat of etcd's", Source: "etcd, FAQ: \"p99 duration should be less than 10ms\"; Tuning: the default heartbeat is 100 ms"}
	tailSyncs = check.Threshold{Name: "syncs of which the slowest hundredth means something", Value: 1000, Unit: "count",
		Why: "ten of them are in it", Source: "binomial error: ten are known within a third (1/√10)"}
	manySyncs = check.Threshold{Name: "syncs of which a median means something", Value: 20, Unit: "count",
		Why: "of fewer one load decides", Source: "binomial error: of 20 the half that is slower is known within 11 % (√(0.5·0.5/20))"}
)

// tellsSyncs says whether a program reports its syncs.
func tellsSyncs(c *check.Case) bool {
	_, timed := c.Fact(evidence.FactSyncMedian)
	_, tail := c.Fact(evidence.FactSyncTail)
	_, slow := c.Fact(evidence.FactSyncsSlow)
	_, traced := c.Fact(evidence.FactSyncsShare)
	return timed || tail || slow || traced
}

// judgeSyncsTold judges by what a program's log or page reports of its syncs.
func judgeSyncsTold(c *check.Case) (v check.Verdict, ok bool) {
	s := c.Bundle.Subjects[c.Subject]
	slow, _ := c.Fact(evidence.FactSyncsSlow)
	most, _ := c.Fact(evidence.FactSyncMost)
	median, timed := c.Fact(evidence.FactSyncMedian)
	tail, _ := c.Fact(evidence.FactSyncTail)
	n, _ := c.Fact(evidence.FactSyncs)
	share, _ := c.Fact(evidence.FactSyncsShare)
	whose := s.Name
	if whose == "" {
		whose = "a program"
	}
	switch {
	case timed && median.Number >= slowSync.Value && n.Number >= manySyncs.Value:
		v = check.Verdict{Rule: check.Matters, Weight: min(1, median.Number/1e9),
			Title:   fmt.Sprintf("The disk is slow to keep what %s writes: half of its syncs take %s and longer.", whose, units.Time(median.Number)),
			Summary: fmt.Sprintf("a median of %s for a sync", units.Time(median.Number))}
		v.Counted(n.Number, manySyncs)
		v.Weigh(median.Number, slowSync)
		v.Evidence = append(v.Evidence, c.Figure("disk.sync_median_ms", "median of a sync", median.Number/1e6, "ms", median.Origin),
			c.Figure("disk.syncs", "syncs that were counted", n.Number, "count", n.Origin))
	case tail.Number >= slowTail.Value && n.Number >= tailSyncs.Value:
		v = check.Verdict{Rule: check.Matters, Weight: min(1, tail.Number/1e9),
			Title:   fmt.Sprintf("The disk is at times slow to keep what %s writes: one sync of a hundred takes %s and longer.", whose, units.Time(tail.Number)),
			Summary: fmt.Sprintf("%s for one sync of a hundred", units.Time(tail.Number))}
		v.Counted(n.Number, tailSyncs)
		v.Weigh(tail.Number, slowTail)
		v.Evidence = append(v.Evidence, c.Figure("disk.sync_tail_ms", "what one sync of a hundred takes at least", tail.Number/1e6, "ms", tail.Origin),
			c.Figure("disk.syncs", "syncs that were counted", n.Number, "count", n.Origin))
	case share.Number >= check.Material.Value && n.Number >= manySyncs.Value:
		v = check.Verdict{Rule: check.StandsAlone, Weight: share.Number,
			Title:   fmt.Sprintf("A thread waits until data is on the disk for %s of the time in which its calls were traced: %s in %s.", units.Percent(share.Number), units.Time(median.Number)+" (median)", units.Plural(int(n.Number), "sync")),
			Summary: fmt.Sprintf("%s of a traced thread's time is fsync", units.Percent(share.Number))}
		v.Evidence = append(v.Evidence, c.Figure("disk.sync_traced_share", "part of its time for which the traced thread waited for syncs", share.Number, "1", share.Origin),
			c.Figure("disk.sync_median_ms", "median of a sync", median.Number/1e6, "ms", median.Origin),
			c.Figure("disk.syncs", "syncs that were counted", n.Number, "count", n.Origin))
		v.Fix = []check.Fix{{Text: "sync once for many changes: collect them into one transaction (of SQLite: one BEGIN … COMMIT for many statements, journal_mode=WAL with synchronous=NORMAL)"}}
		v.Needs = []check.Need{askProcess}
		return v, true
	case slow.Number >= fewSlowSyncs.Value && (most.Number == 0 || most.Number >= slowTail.Value), most.Number >= longSync.Value:
		v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
			Title:   fmt.Sprintf("The disk is slow to keep what %s writes: a sync took up to %s.", whose, units.Time(most.Number)),
			Summary: fmt.Sprintf("%s, up to %s", units.Plural(int(slow.Number), "slow sync"), units.Time(most.Number))}
		v.Evidence = append(v.Evidence, c.Figure("disk.slow_syncs", "syncs that took so long that it told of them", slow.Number, "count", slow.Origin),
			c.Figure("disk.sync_longest_ms", "longest of them", most.Number/1e6, "ms", most.Origin))
		if slow.Value == evidence.DirtyPages {
			v.Title = fmt.Sprintf("The disk is slow to take what %s writes, or its thread does not run: a round of writing dirty pages, planned for each second, took up to %s.", whose, units.Time(most.Number))
			v.Summary = fmt.Sprintf("%s of writing dirty pages, up to %s", units.Plural(int(slow.Number), "slow round"), units.Time(most.Number))
			v.Evidence[0].Text = "rounds of writing dirty pages that took so long that it told of them"
		}
	default:
		return v, false
	}
	v.Fix = []check.Fix{{Text: "give its data a disk of its own that keeps writes quickly (an SSD, or a volume with more IOPS), and find out what else writes to this one (iostat -x 1, pidstat -d 1)"}}
	v.Needs = []check.Need{askProcess}
	return v, true
}

// busyKernelThread is how much of a CPU a thread of the kernel must use to be named by a list of processes alone.
var busyKernelThread = check.Threshold{Name: "CPU that a thread of the kernel uses, by a list of processes, or that interrupts take of one CPU", Value: .8, Unit: "CPUs",
	Why: "it hardly ever has nothing to do", Source: "M/M/1: ρ/(1−ρ) is 4 at 80 %"}

// kernelThread returns a kernel thread whose name begins so; ok says whether it uses nearly a
// whole CPU.
func kernelThread(c *check.Case, name string) (f evidence.Fact, ok bool) {
	f, found := c.Fact(evidence.FactKernelThread + name)
	return f, found && f.Number >= busyKernelThread.Value
}

// judgeKswapd judges a host by its daemon that frees memory.
func judgeKswapd(c *check.Case) (v check.Verdict, ok bool) {
	f, busy := kernelThread(c, "kswapd")
	if !busy {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: f.Number,
		Title:   fmt.Sprintf("The host is short of memory: %s, which frees memory, uses %s of a CPU.", f.Value, units.Percent(min(1, f.Number))),
		Summary: fmt.Sprintf("%s uses %s of a CPU", f.Value, units.Percent(min(1, f.Number)))}
	v.Weigh(f.Number, busyKernelThread)
	v.Evidence = append(v.Evidence, c.Figure("host.kswapd_cpus", "CPU that "+f.Value+" uses", f.Number, "CPUs", f.Origin))
	v.Fix = []check.Fix{{Text: "give the host more memory, or use less of it: smaller heaps and caches, fewer programs, none without a limit"}}
	v.Needs = []check.Need{{What: "what memory is used for, and how long tasks wait for it: free -m; cat /proc/pressure/memory; vmstat 1 30"}}
	return v, true
}

// judgeStrained judges by a single look at pressure files: all tasks of a group wait for memory.
func judgeStrained(c *check.Case) (v check.Verdict, ok bool) {
	f, told := c.Fact(evidence.FactMemoryStrain)
	if !told || f.Number < check.Material.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: f.Number,
		Title:   fmt.Sprintf("Memory is short for %s: all of its tasks waited for it for %s of the last ten seconds.", f.Value, units.Percent(f.Number)),
		Summary: fmt.Sprintf("all tasks of %s waited for memory for %s of ten seconds", f.Value, units.Percent(f.Number))}
	v.Weigh(f.Number, check.Material)
	v.Evidence = append(v.Evidence, c.Figure("host.memory_full_share", "share of ten seconds in which all tasks of "+f.Value+" waited for memory", f.Number, "1", f.Origin))
	v.Fix = []check.Fix{{Text: "raise its memory limit, or let what runs in it use less (heaps, caches); memory.current, memory.max and memory.events of the group show whether it is at its limit, vmstat 1 whether the host swaps"}}
	v.Needs = []check.Need{{What: "whether it is the limit or the host: memory.current, memory.max, memory.events and memory.stat of the group, twice"}}
	return v, true
}

// Pages that allocating threads scan by themselves, by sar -B or /proc/vmstat.
var (
	manyScanned = check.Threshold{Name: "pages that allocating threads scan to free some", Value: 32_000, Unit: "1/s",
		Why: "a thousand times a second a thread frees memory before it gets some", Source: "SWAP_CLUSTER_MAX in include/linux/swap.h: each time 32 pages"}
	scannedBySelf = check.Threshold{Name: "share of the scanned pages that allocating threads scan", Value: .5, Unit: "1",
		Why: "else the kernel's own thread keeps up with most of it", Source: "arithmetic: half"}
)

// judgeScanned judges a host by the pages that allocating threads scan because none is free for them: the host is short of memory, or a group is at its
// limit, for which the kernel's own thread (kswapd) does nothing.
func judgeScanned(c *check.Case) (v check.Verdict, ok bool) {
	h := metrics.ShownOf(c.Bundle)
	direct, background := h.DirectScanned, h.BackgroundScanned
	if !direct.Known() || direct.Number < manyScanned.Value || background.Known() && direct.Number < scannedBySelf.Value*(direct.Number+background.Number) {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: check.Material.Value,
		Title:   fmt.Sprintf("Threads probably wait for memory: they scan %s pages/s themselves to free some before they get it.", units.Num(direct.Number)),
		Summary: fmt.Sprintf("allocating threads scan %s pages/s", units.Num(direct.Number))}
	v.Evidence = append(v.Evidence, c.Figure("host.direct_scanned_pages_per_s", "pages that allocating threads scanned to free some", direct.Number, "1/s", direct.Origin))
	if background.Known() {
		v.Evidence = append(v.Evidence, c.Figure("host.background_scanned_pages_per_s", "pages that the kernel's own thread (kswapd) scanned", background.Number, "1/s", background.Origin))
		if background.Number < 1 {
			v.Title += " kswapd scans none, so that a group is at its limit rather than the host short of memory."
		}
	}
	v.Fix = []check.Fix{{Text: "raise the memory limit of the group that reclaims (memory.events counts max, memory.failcnt of version 1 likewise), or keep files that are read once out of the page cache; if the host is short, give it more memory"}}
	v.Needs = []check.Need{{What: "how long threads wait for it: memory.pressure of the group, or /proc/pressure/memory"}}
	return v, true
}

// manyTimesRead is how often a container at its memory limit reads as much as it may hold.
var manyTimesRead = check.Threshold{Name: "what a container reads from disks near its memory limit, in times of that limit", Value: 10, Unit: "times",
	Why: "it has read the same again, not for the first time", Source: "judgement: weighs a program that reads more data than it has memory for against one whose own pages are dropped and read again"}

// judgeReread judges by lists of containers (docker stats): one at its memory limit reads many times what it may hold, as its pages are dropped and read again.
func judgeReread(c *check.Case) (v check.Verdict, ok bool) {
	f, told := c.Fact(evidence.FactRereadAtLimit)
	if !told || f.Number < manyTimesRead.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: check.Material.Value,
		Title:   fmt.Sprintf("Probably the container %s is short of memory: at its limit it read %s times as much from disks as it may hold.", f.Value, units.Num(f.Number)),
		Summary: fmt.Sprintf("%s read %s times its memory limit", f.Value, units.Num(f.Number))}
	v.Evidence = append(v.Evidence, c.Figure("host.reread_times", "what "+f.Value+" read from disks near its memory limit, in times of that limit", f.Number, "count", f.Origin))
	v.Fix = []check.Fix{{Text: "raise the memory limit of the container: pages of its program and its files are dropped for others and read again"}}
	v.Needs = []check.Need{{What: "how long its threads wait for it: memory.pressure, memory.events (max) and memory.stat (workingset_refault_file) of its group, twice"}}
	return v, true
}

// What tasks of a host wait for at one look.
var (
	fewTasks = check.Threshold{Name: "tasks that wait for the same in the kernel, at one look", Value: 3, Unit: "count",
		Why: "one or two may be a moment's", Source: "Poisson: where 0.3 wait on average, 3 or more at one look come by chance in 0.4 %"}
	mostTasks = check.Threshold{Name: "part of the tasks whose sleep nothing interrupts", Value: .5, Unit: "1",
		Why: "what most wait for holds the others up, too", Source: "arithmetic: a majority"}
)

// judgeTasks judges a host by a look at what its tasks wait for in the kernel.
func judgeTasks(c *check.Case, mechanism, what string, fix check.Fix) (v check.Verdict, ok bool) {
	n, told := c.Fact(evidence.FactTasksWait + mechanism)
	all, _ := c.Fact(evidence.FactTasksAsleep)
	if !told || c.Ledger != nil || n.Number < fewTasks.Value || n.Number < mostTasks.Value*all.Number {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("Of %s whose sleep nothing interrupts %.0f %s, most in %s.", units.Plural(int(all.Number), "task"), n.Number, what, n.Value),
		Summary: fmt.Sprintf("%.0f of %s %s, at one look", n.Number, units.Plural(int(all.Number), "task"), what)}
	v.Evidence = append(v.Evidence, c.Figure("host.tasks_wait", "tasks that "+what+", at one look", n.Number, "count", n.Origin),
		c.Figure(evidence.FactTasksAsleep, "tasks whose sleep nothing interrupts, without threads of the kernel that work in the background", all.Number, "count", all.Origin))
	v.Fix = []check.Fix{fix}
	v.Needs = []check.Need{{What: "whether it stays so: the same list again, ten seconds later", Command: "ps -eo pid,comm,state,wchan:32"}, askProcess}
	return v, true
}

// judgeKsoftirqd judges a host by the thread in which a CPU handles interrupts that it has too many of.
func judgeKsoftirqd(c *check.Case) (v check.Verdict, ok bool) {
	f, busy := kernelThread(c, "ksoftirqd")
	if !busy || metrics.ShownOf(c.Bundle).SoftirqMost.Number >= f.Number { // the CPU's own time in interrupts has the thread's in it
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: f.Number,
		Title:   fmt.Sprintf("One CPU does nothing but handle interrupts (softirq): %s uses all of it.", f.Value),
		Summary: fmt.Sprintf("%s uses %s of a CPU", f.Value, units.Percent(min(1, f.Number)))}
	v.Weigh(f.Number, busyKernelThread)
	v.Evidence = append(v.Evidence, c.Figure("host.ksoftirqd_cpus", "CPU that "+f.Value+" uses", f.Number, "CPUs", f.Origin))
	v.Fix = []check.Fix{{Text: "spread the packets over CPUs: more queues of the network card (ethtool -L), RPS where there is one (rps_cpus); fewer rules for each packet (iptables, conntrack)"}}
	v.Needs = []check.Need{{What: "which interrupts they are: cat /proc/softirqs twice, ten seconds apart; mpstat -P ALL 1"}}
	return v, true
}

// hungTasks returns how many tasks hung for a reason, by the kernel's log.
func hungTasks(c *check.Case, said string) (f evidence.Fact, ok bool) {
	for _, x := range c.Bundle.Facts {
		if x.Subject == c.Subject && x.Key == evidence.FactKernelSaid && x.Value == said && x.Number > f.Number {
			f, ok = x, true
		}
	}
	return f, ok
}

// judgeHung judges a host by tasks that the kernel found to hang, with the stacks that it printed of them.
func judgeHung(c *check.Case, said, what string) (v check.Verdict, ok bool) {
	f, hangs := hungTasks(c, said)
	if !hangs {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("Tasks hang in the kernel for minutes and wait %s.", what),
		Summary: fmt.Sprintf("%s that hung and waited %s", units.Plural(int(f.Number), "task"), what)}
	v.Evidence = append(v.Evidence, c.Figure("host.hung_tasks", "times that the kernel told of a task that hung so", f.Number, "count", f.Origin))
	v.Fix = []check.Fix{{Text: "find out why the disk gives no answer: errors of it in the kernel's log, the limits of a cloud volume, a file server that is away; and what else writes to it (iostat -x 1)"}}
	v.Needs = []check.Need{askProcess}
	return v, true
}

// judgeHostSync judges a host or a program by reports of slow syncs, or of tasks that hang in one.
func judgeHostSync(c *check.Case) (check.Verdict, bool) {
	if v, ok := judgeSyncsTold(c); ok {
		return v, true
	}
	if v, ok := judgeHung(c, evidence.KernelSaidHungSync, "until data is on the disk"); ok {
		return v, true
	}
	return judgeTasks(c, evidence.KernelFsync, "wait until data is on the disk",
		check.Fix{Text: "find what fills the disk below them (iostat -x 1, pidstat -d 1), and whether it fails (dmesg, smartctl -a)"})
}
