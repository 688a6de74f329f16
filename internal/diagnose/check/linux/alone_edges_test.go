package linux

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

type (
	figures = checktest.Figures
	row     = checktest.Row
)

// What one report tells of a host is a finding from its thresholds on, each by itself: just below one of them it is none.
func TestHostAloneEdges(t *testing.T) {
	written := figures{"host.disk.busy:sda": .95, "host.disk.queue:sda": .95, "host.disk.reads:sda": 10, "host.disk.reading:sda": .01, "host.disk.writes:sda": 180, "host.disk.writing:sda": .94}
	read := figures{"host.disk.busy:sda": .95, "host.disk.queue:sda": 2.2, "host.disk.reads:sda": 400, "host.disk.reading:sda": 2.1, "host.disk.writes:sda": 10, "host.disk.writing:sda": .01}
	quick := figures{"host.cpu.busy": 2, "host.cpu.iowait": .64, "host.disk.busy:sda": .95, "host.disk.queue:sda": .5, "host.disk.reads:sda": 4000, "host.disk.reading:sda": .4}
	queue := figures{"host.cpu.busy": 1, "host.cpu.iowait": 1.24, "host.disk.busy:sda": .81, "host.disk.queue:sda": 8.1, "host.disk.reads:sda": 4000, "host.disk.reading:sda": 8}
	swaps := figures{"host.cpu.busy": 1, "host.cpu.iowait": 1.04, "host.swapIn": 260, "host.swapOut": 260}
	crowded := figures{"host.cpu.busy": 3.84, "host.procs_running": 12.4}
	stolen := figures{"host.cpu.busy": 2.5, "host.cpu.steal": 1.04}
	packets := figures{"host.cpu.busy": 3.3, "host.cpu.softirq": 1.04}
	waits := figures{"host.cpu.busy": .8, "host.cpu.iowait": 2.04, "host.procs_blocked": 1.2}
	none := check.Rule{} // it is not told
	for _, x := range []struct {
		cause  check.Check
		series figures
		facts  figures
		text   string
		row
	}{
		{DiskBusy, written, nil, "", row{About: "a write at a time", Rule: check.Matters, ID: "disk.write_ms", Figure: 5.22, Says: "a write takes 5.22 ms"}},
		{DiskBusy, written.With(figures{"host.disk.busy:sda": .89}), nil, "", row{About: "busy 89 % of the time", Rule: none}},
		{DiskBusy, written.With(figures{"host.disk.queue:sda": .88}), nil, "", row{About: "a write now and then", Rule: none}},
		{DiskBusy, written.With(figures{"host.disk.writing:sda": .88}), nil, "", row{About: "a write of 4.9 ms", Rule: none}},
		{DiskBusy, written.With(figures{"host.disk.reads:sda": 181}), nil, "", row{About: "more reads than writes", Rule: none}},
		{DiskBusy, read, nil, "", row{About: "two reads at a time", Rule: check.Matters, ID: "disk.in_flight", Figure: 2.2, Says: "a read takes 5.25 ms"}},
		{DiskBusy, read.With(figures{"host.disk.queue:sda": 1.9}), nil, "", row{About: "not quite two reads at a time", Rule: none}},
		{DiskBusy, read.With(figures{"host.disk.reading:sda": 1.9}), nil, "", row{About: "reads of 4.75 ms", Rule: none}},
		{DiskBusy, quick, nil, "", row{About: "CPUs wait for it 16 % of their time", Rule: check.Matters, ID: "disk.busy_share", Figure: .95}},
		{DiskBusy, quick.With(figures{"host.cpu.iowait": .56}), nil, "", row{About: "CPUs wait for it 14 % of their time", Rule: none}},
		{DiskBusy, queue, nil, "", row{About: "eight reads at a time, and CPUs wait for them", Rule: check.Matters, ID: "disk.in_flight", Figure: 8.1, Says: "busy 81 % of the time"}},
		{DiskBusy, queue.With(figures{"host.disk.busy:sda": .79}), nil, "", row{About: "busy 79 % of the time with a queue", Rule: none}},
		{DiskBusy, queue.With(figures{"host.disk.queue:sda": 7.9}), nil, "", row{About: "fewer at a time", Rule: none}},
		{DiskBusy, queue.With(figures{"host.cpu.iowait": 1.16}), nil, "", row{About: "CPUs wait for a queue for 29 % of their time", Rule: none}},
		{DiskBusy, quick.With(written), nil, "", row{About: "the reads are quick, and the writes are not", Rule: check.Matters, ID: "disk.read_ms", Figure: 1, Says: "a write takes"}},
		{DiskBusy, nil, figures{evidence.FactKernelSaid: 3}, evidence.KernelSaidHungDisk, row{About: "tasks hang", Rule: check.StandsAlone, ID: "host.hung_tasks", Figure: 3, Says: "3 tasks that hung and waited for a disk"}},
		{DiskBusy, nil, figures{evidence.FactKernelSaid: 3}, evidence.KernelSaidHungSync, row{About: "they hang in something else", Rule: none}},

		{DiskBusy, waits, nil, "", row{About: "CPUs wait for half of the time", Rule: check.Matters, ID: "host.iowait_share", Figure: .51, Says: "idle for that 51 % of the time"}},
		{DiskBusy, waits.With(figures{"host.cpu.iowait": 1.96}), nil, "", row{About: "CPUs wait for less", Rule: none}},
		{DiskBusy, waits.With(figures{"host.procs_blocked": .9}), nil, "", row{About: "CPUs wait, and hardly a task does", Rule: none}},
		{DiskBusy, waits.With(figures{"host.disk.busy:sda": .3, "host.disk.queue:sda": .4}), nil, "", row{About: "CPUs wait, and no disk of those told is busy", Rule: none}},
		{DiskBusy, waits.With(figures{"host.swapIn": 260, "host.swapOut": 260}), nil, "", row{About: "CPUs wait for swap", Rule: none}},

		{DiskBusy, nil, figures{evidence.FactDiskMean: 51e6, evidence.FactDiskRequests: 20}, "vda", row{About: "each of 20 takes 51 ms", Rule: check.Matters, ID: "disk.listed_ms", Figure: 51, Says: "a request takes 51 ms on average, of 20 requests"}},
		{DiskBusy, nil, figures{evidence.FactDiskMean: 49e6, evidence.FactDiskRequests: 20}, "vda", row{About: "each of 20 takes 49 ms", Rule: none}},
		{DiskBusy, nil, figures{evidence.FactDiskMean: 51e6, evidence.FactDiskRequests: 19}, "vda", row{About: "each of 19 takes 51 ms", Rule: none}},

		{DiskSync, nil, figures{evidence.FactKernelSaid: 1}, evidence.KernelSaidHungSync, row{About: "a task hangs", Rule: check.StandsAlone, ID: "host.hung_tasks", Figure: 1, Says: "1 task that hung"}},
		{DiskSync, nil, figures{evidence.FactSyncMedian: 10.1e6, evidence.FactSyncs: 20}, "", row{About: "half take 10.1 ms", Rule: check.Matters, ID: "disk.sync_median_ms", Figure: 10.1, Says: "half of its syncs take 10.1 ms and longer"}},
		{DiskSync, nil, figures{evidence.FactSyncMedian: 9.9e6, evidence.FactSyncs: 20}, "", row{About: "half take 9.9 ms", Rule: none}},
		{DiskSync, nil, figures{evidence.FactSyncMedian: 10.1e6, evidence.FactSyncs: 19}, "", row{About: "19 of them", Rule: none}},
		{DiskSync, nil, figures{evidence.FactSyncTail: 101e6, evidence.FactSyncMedian: 1e6, evidence.FactSyncs: 1000}, "", row{About: "one of a hundred takes 101 ms", Rule: check.Matters, ID: "disk.sync_tail_ms", Figure: 101, Says: "one sync of a hundred takes 101 ms and longer"}},
		{DiskSync, nil, figures{evidence.FactSyncTail: 99e6, evidence.FactSyncs: 1000}, "", row{About: "one of a hundred takes 99 ms", Rule: none}},
		{DiskSync, nil, figures{evidence.FactSyncTail: 101e6, evidence.FactSyncs: 999}, "", row{About: "a hundredth of 999", Rule: none}},
		{DiskSync, nil, figures{evidence.FactSyncsShare: .26, evidence.FactSyncMedian: 2e6, evidence.FactSyncs: 20}, "", row{About: "a quarter of a thread's time", Rule: check.StandsAlone, ID: "disk.sync_traced_share", Figure: .26, Says: "26 % of the time in which its calls were traced"}},
		{DiskSync, nil, figures{evidence.FactSyncsShare: .24, evidence.FactSyncMedian: 2e6, evidence.FactSyncs: 20}, "", row{About: "less than a quarter of it", Rule: none}},
		{DiskSync, nil, figures{evidence.FactSyncsShare: .26, evidence.FactSyncMedian: 2e6, evidence.FactSyncs: 19}, "", row{About: "a quarter of it in 19", Rule: none}},
		{DiskSync, nil, figures{evidence.FactSyncsSlow: 2, evidence.FactSyncMost: 3e9}, "", row{About: "two that were told", Rule: check.StandsAlone, ID: "disk.slow_syncs", Figure: 2, Says: "a sync took up to 3 s"}},
		{DiskSync, nil, figures{evidence.FactSyncsSlow: 2, evidence.FactSyncMost: 101e6}, "", row{About: "two, one of a tenth of a second", Rule: check.StandsAlone, ID: "disk.sync_longest_ms", Figure: 101}},
		{DiskSync, nil, figures{evidence.FactSyncsSlow: 2, evidence.FactSyncMost: 99e6}, "", row{About: "two that were shorter", Rule: none}},
		{DiskSync, nil, figures{evidence.FactSyncsSlow: 1, evidence.FactSyncMost: 9.9e9}, "", row{About: "one of not quite ten seconds", Rule: none}},
		{DiskSync, nil, figures{evidence.FactSyncsSlow: 1, evidence.FactSyncMost: 10.1e9}, "", row{About: "one of ten seconds", Rule: check.StandsAlone, ID: "disk.sync_longest_ms", Figure: 10_100}},

		{DiskSync, nil, figures{evidence.FactTasksWait + evidence.KernelFsync: 3, evidence.FactTasksAsleep: 6}, "jbd2_log_wait_commit", row{About: "three of six tasks", Rule: check.StandsAlone, ID: "host.tasks_wait", Figure: 3, Says: "Of 6 tasks whose sleep nothing interrupts 3 wait until data is on the disk"}},
		{DiskSync, nil, figures{evidence.FactTasksWait + evidence.KernelFsync: 2, evidence.FactTasksAsleep: 2}, "jbd2_log_wait_commit", row{About: "two tasks", Rule: none}},
		{DiskSync, nil, figures{evidence.FactTasksWait + evidence.KernelFsync: 3, evidence.FactTasksAsleep: 7}, "jbd2_log_wait_commit", row{About: "three of seven tasks", Rule: none}},
		{MemoryReclaim, nil, figures{evidence.FactKernelSaid: 1}, evidence.KernelSaidHungReclaim, row{About: "a task hangs that frees memory", Rule: check.StandsAlone, ID: "host.hung_tasks", Figure: 1, Says: "1 task that hung"}},
		{MemoryReclaim, nil, figures{evidence.FactKernelSaid: 3}, evidence.KernelSaidHungDisk, row{About: "they hang in something else", Rule: none}},
		{MemoryReclaim, nil, figures{evidence.FactTasksWait + evidence.KernelReclaim: 3, evidence.FactTasksAsleep: 4}, "shrink_node", row{About: "three of four tasks", Rule: check.StandsAlone, ID: "host.tasks_wait", Figure: 3, Says: "3 free memory before they get some, most in shrink_node"}},
		{MemoryReclaim, nil, figures{evidence.FactTasksWait + evidence.KernelReclaim: 2, evidence.FactTasksAsleep: 2}, "shrink_node", row{About: "two tasks", Rule: none}},

		{Swap, swaps, nil, "", row{About: "a MiB/s each way", Rule: check.Matters, ID: "host.iowait_share", Figure: .26, Says: "reads 260 pages/s back from swap and writes 260"}},
		{Swap, swaps.With(figures{"host.swapIn": 250}), nil, "", row{About: "less is read", Rule: none}},
		{Swap, swaps.With(figures{"host.swapOut": 250}), nil, "", row{About: "less is written", Rule: none}},
		{Swap, swaps.With(figures{"host.cpu.iowait": .96}), nil, "", row{About: "disks are waited for less", Rule: none}},

		{CPUSaturation, crowded, nil, "", row{About: "three tasks for a CPU", Rule: check.Matters, ID: "host.running_tasks", Figure: 12.4, Says: "12.4 tasks are ready to run for 4 CPUs, which are busy 96 % of the time"}},
		{CPUSaturation, crowded.With(figures{"host.cpu.busy": 3.76}), nil, "", row{About: "busy 94 %", Rule: none}},
		{CPUSaturation, crowded.With(figures{"host.procs_running": 11.9}), nil, "", row{About: "fewer than three for a CPU", Rule: none}},
		{CPUSaturation, figures{"host.cpu.busy": 3.84, "host.load1": 41}, nil, "", row{About: "a load of ten for a CPU", Rule: check.Matters, ID: "host.load", Figure: 41, Says: "its load is 41 for 4 CPUs, which are busy 96 % of the time"}},
		{CPUSaturation, figures{"host.cpu.busy": 3.84, "host.load1": 39}, nil, "", row{About: "a lower load", Rule: none}},
		{CPUSaturation, figures{"host.cpu.busy": 3.76, "host.load1": 400}, nil, "", row{About: "a load of tasks that wait in the kernel", Rule: none}},
		{CPUSaturation, crowded.With(figures{"host.procs_running": 4, "host.load1": 400}), nil, "", row{About: "what is ready is known", Rule: none}},
		{CPUSaturation, figures{"host.cpu.busy": 3.84}, nil, "", row{About: "how many are ready is not known", Rule: none}},
		{CPUSaturation, nil, figures{evidence.FactReadyDelay: 10.1e6, evidence.FactReadyDelays: 1010, evidence.FactReadyDelayMost: 90e6}, "mysqld", row{About: "waits of 10.1 ms", Rule: check.Matters, ID: "sched.delay_ms", Figure: 10.1, Says: "Threads of mysqld wait 10.1 ms for a CPU each time, and up to 90 ms"}},
		{CPUSaturation, nil, figures{evidence.FactReadyDelay: 9.9e6, evidence.FactReadyDelays: 1010}, "mysqld", row{About: "waits of 9.9 ms", Rule: none}},
		{CPUSaturation, nil, figures{evidence.FactReadyDelay: 10.1e6, evidence.FactReadyDelays: 990}, "mysqld", row{About: "990 waits", Rule: none}},

		{NoisyNeighbour, stolen, nil, "", row{About: "a quarter is stolen", Rule: check.Matters, ID: "host.stolen_share", Figure: .26, Says: "the hypervisor gave them 26 % of the time"}},
		{NoisyNeighbour, stolen.With(figures{"host.cpu.steal": .96}), nil, "", row{About: "less than a quarter", Rule: none}},
		{NoisyNeighbour, stolen.With(figures{"host.cpu.busy": 2.1}), nil, "", row{About: "79 % in use", Rule: none}},
		{NoisyNeighbour, stolen.With(figures{"host.cpu.busy": 2.2}), nil, "", row{About: "81 % in use", Rule: check.Matters}},

		{Softirq, packets, nil, "", row{About: "a quarter of CPUs that are full", Rule: check.Matters, ID: "host.softirq_cpus", Figure: 1.04, Says: "Interrupts (softirq) take 26 % of the host's CPU time"}},
		{Softirq, packets.With(figures{"host.cpu.softirq": .96}), nil, "", row{About: "less than a quarter", Rule: none}},
		{Softirq, packets.With(figures{"host.cpu.busy": 3.1}), nil, "", row{About: "a quarter, and CPUs are free", Rule: none}},
		{Softirq, packets.With(figures{"host.cpu.busy": 2.5, "host.cpu.softirq": 1.84}), nil, "", row{About: "nearly half, and CPUs are free", Rule: check.Matters, Says: "38 % of it is free"}},
		{Softirq, packets.With(figures{"host.cpu.busy": 2.5, "host.cpu.softirq": 1.76}), nil, "", row{About: "not nearly half, and CPUs are free", Rule: none}},
		{Softirq, packets.With(figures{"host.cpu.busy": 1, "host.cpu.softirq": .84, "host.cpu.softirq.most": .81}), nil, "", row{About: "one CPU is full of them", Rule: check.Matters, ID: "host.softirq_most_share", Figure: .81, Says: "they take 81 % of its time"}},
		{Softirq, packets.With(figures{"host.cpu.busy": 1, "host.cpu.softirq": .84, "host.cpu.softirq.most": .79}), nil, "", row{About: "one CPU is not quite full of them", Rule: none}},
		{Softirq, figures{"host.cpu.busy.share": .81, "host.cpu.softirq.share": .26}, nil, "", row{About: "a quarter of CPUs that are full, however many they are", Rule: check.Matters, ID: "host.softirq_share", Figure: .26, Says: "Interrupts (softirq) take 26 % of the host's CPU time"}},
		{Softirq, figures{"host.cpu.busy.share": .79, "host.cpu.softirq.share": .44}, nil, "", row{About: "not nearly half of CPUs that are free, however many they are", Rule: none}},
		{Softirq, figures{"host.cpu.busy.share": .81, "host.cpu.softirq.share": .24}, nil, "", row{About: "less than a quarter, however many they are", Rule: none}},
		{Softirq, nil, figures{evidence.FactKernelThread + "ksoftirqd": .81}, "ksoftirqd/3", row{About: "its thread uses a CPU", Rule: check.Matters, ID: "host.ksoftirqd_cpus", Figure: .81, Says: "ksoftirqd/3 uses all of it"}},
		{Softirq, nil, figures{evidence.FactKernelThread + "ksoftirqd": .79}, "ksoftirqd/3", row{About: "its thread uses most of one", Rule: none}},
		{Softirq, nil, figures{evidence.FactProfileMechanism + evidence.KernelSoftirq: .21}, "", row{About: "a fifth of a profile", Rule: check.Matters, ID: "profile.kernel_share", Figure: .21, Says: "handles interrupts (softirq) for 21 %"}},
		{Softirq, nil, figures{evidence.FactProfileMechanism + evidence.KernelSoftirq: .19}, "", row{About: "less of a profile", Rule: none}},

		{MemoryReclaim, nil, figures{evidence.FactKernelThread + "kswapd": .81}, "kswapd0", row{About: "kswapd uses a CPU", Rule: check.Matters, ID: "host.kswapd_cpus", Figure: .81, Says: "kswapd0, which frees memory, uses 81 % of a CPU"}},
		{MemoryReclaim, nil, figures{evidence.FactKernelThread + "kswapd": .79}, "kswapd0", row{About: "kswapd uses most of one", Rule: none}},
		{MemoryReclaim, nil, figures{evidence.FactMemoryStrain: .26}, "b.slice", row{About: "all tasks of a group wait", Rule: check.Matters, ID: "host.memory_full_share", Figure: .26, Says: "Memory is short for b.slice"}},
		{MemoryReclaim, nil, figures{evidence.FactMemoryStrain: .24}, "b.slice", row{About: "they wait for less", Rule: none}},
		{MemoryReclaim, nil, figures{evidence.FactProfileMechanism + evidence.KernelReclaim: .21}, "", row{About: "a fifth of a profile", Rule: check.Matters, ID: "profile.kernel_share", Figure: .21}},
		{MemoryReclaim, nil, figures{evidence.FactProfileMechanism + evidence.KernelCompaction: .21}, "", row{About: "a profile of something else", Rule: none}},
		{THPStall, nil, figures{evidence.FactProfileMechanism + evidence.KernelCompaction: .21}, "", row{About: "a fifth of a profile", Rule: check.Matters, Says: "defrag=defer+madvise"}},
		{THPStall, nil, figures{evidence.FactProfileMechanism + evidence.KernelCompaction: .19}, "", row{About: "less of a profile", Rule: none}},
		{Futex, nil, figures{evidence.FactProfileMechanism + evidence.KernelFutex: .21}, "", row{About: "a fifth of a profile", Rule: check.Matters, Says: "locks (futex) for 21 %"}},
		{Futex, nil, figures{evidence.FactProfileMechanism + evidence.KernelFutex: .19}, "", row{About: "less of a profile", Rule: none}},

		{ConntrackFull, nil, figures{evidence.FactConntrackCount: 995, evidence.FactConntrackMost: 1000}, "", row{About: "full", Rule: check.StandsAlone, ID: "host.conntrack_used_share", Figure: .995, Says: "nf_conntrack_max="}},
		{ConntrackFull, nil, figures{evidence.FactConntrackCount: 995, evidence.FactConntrackMostOld: 1000}, "", row{About: "full, by the limit's other name", Rule: check.StandsAlone, ID: "host.conntrack_used_share", Figure: .995}},
		{ConntrackFull, nil, figures{evidence.FactConntrackCount: 985, evidence.FactConntrackMost: 1000}, "", row{About: "nearly full", Rule: none}},
		{ConntrackFull, nil, figures{evidence.FactConntrackCount: 995}, "", row{About: "the limit is not known", Rule: none}},
		{ConntrackFull, nil, figures{evidence.FactKernelSaid: 2}, "conntrack", row{About: "the kernel said so", Rule: check.StandsAlone, ID: "host.conntrack_full_lines", Figure: 2, Says: "2 lines of the kernel's log"}},
	} {
		c := checktest.Told{Of: evidence.Subject{Kind: evidence.Host, CPUs: 4}, Series: x.series, Facts: x.facts, Text: x.text}.Case()
		v, ok := x.cause.JudgeHost(c)
		if x.Rule == none {
			if ok {
				t.Errorf("%s: %s: %s: %s", x.cause.ID, x.About, v.Answer, v.Title)
			}
			continue
		}
		if !ok {
			t.Errorf("%s: %s: it is not told", x.cause.ID, x.About)
			continue
		}
		x.Judged(t, &x.cause, c, &v)
		if x.ID != "" && v.Evidence[0].Source == "" {
			t.Errorf("%s: %s: from no file", x.cause.ID, x.About)
		}
	}
}

// Advice against a quota names the setting of the runtime that it is for.
func TestQuotaAdviceOfRuntime(t *testing.T) {
	for runtime, want := range map[string]string{"go": "GOMAXPROCS=2", "jvm": "-XX:ActiveProcessorCount=2", "": "this is of Go", "dotnet": "", "redis": "", "php-fpm": ""} {
		c := checktest.Told{Of: evidence.Subject{Runtime: runtime, CPUs: 4}, Series: figures{"cgroup.cpu.periods": 10, "cgroup.cpu.throttledPeriods": 6}, Facts: figures{evidence.FactContainerCPU: 2}}.Case()
		v := CPUThrottled.Judge(c)
		r := row{About: "a quota of two CPUs for " + runtime, Rule: check.Matters, Says: want}
		r.Judged(t, &CPUThrottled, c, &v)
		if said := checktest.Said(&v); want == "" && (len(v.Fix) != 1 || strings.Contains(said, "GOMAXPROCS")) {
			t.Errorf("%s: %s", runtime, said)
		}
	}
}

// What was recorded of a process without requests and stacks is judged by counters of its group and host.
func TestCountersAloneEdges(t *testing.T) {
	short := figures{"cgroup.pressure.memory.some": .26, "cgroup.memory.max": 5, "cgroup.refaults.files": 20}
	back := figures{"host.swapIn": 12, "host.swapOut": 5, "process.majorFaults": 12, "cgroup.pressure.memory.some": .26}
	quota := figures{"cgroup.cpu.periods": 10, "cgroup.cpu.throttledPeriods": 5.2, "cgroup.cpu.throttled": .3, "process.cpu": .9}
	none := check.Rule{} // it is not asked
	created := figures{evidence.FactQuotaPeriods: 100, evidence.FactQuotaThrottled: 51}
	for _, x := range []struct {
		cause  check.Check
		series figures
		facts  figures
		row
	}{
		{MemoryReclaim, short, nil, row{About: "a quarter of the time at its limit", Rule: check.Matters, ID: "host.memory_pressure_share", Figure: .26, Says: "The memory limit makes threads free memory"}},
		{MemoryReclaim, short, figures{evidence.FactContainerLimit: 512 << 20}, row{About: "the limit is known", Rule: check.Matters, Says: "The memory limit of 512 MiB makes threads"}},
		{MemoryReclaim, short.With(figures{"cgroup.refaults.files": 110}), nil, row{About: "files are read again", Rule: check.Matters, ID: "group.refaults_per_s", Figure: 110, Says: "leaves no room for the files it reads"}},
		{MemoryReclaim, short.With(figures{"cgroup.refaults.files": 90}), nil, row{About: "few files are read again", Rule: check.Matters, Says: "makes threads free memory"}},
		{MemoryReclaim, short.With(figures{"cgroup.pressure.memory.some": .24}), nil, row{About: "less than a quarter", Rule: check.NotRecorded, ID: "host.memory_pressure_share", Figure: .24, Says: "--kernel"}},
		{MemoryReclaim, short.With(figures{"cgroup.memory.max": 0}), nil, row{About: "its limit is not met", Rule: check.NotRecorded}},
		{MemoryReclaim, short.With(figures{"cgroup.memory.max": 0, "cgroup.memory.high": 3}), nil, row{About: "memory.high is met", Rule: check.Matters, ID: "group.memory_high_per_s", Figure: 3, Says: "raise memory.high"}},
		{MemoryReclaim, short.With(figures{"cgroup.pressure.memory.some": .009}), nil, row{About: "hardly any pressure", Rule: none}},
		{MemoryReclaim, figures{"host.pressure.memory.some": .009}, nil, row{About: "hardly any of the host", Rule: none}},
		{MemoryReclaim, figures{"host.pressure.memory.some": .5}, nil, row{About: "pressure of the host alone", Rule: check.NotRecorded}},
		{MemoryReclaim, short.With(figures{"host.swapIn": 12, "host.swapOut": 12, "cgroup.refaults.files": 5}), nil, row{About: "it swaps", Rule: check.Explained, Says: "see linux.swap"}},
		{MemoryReclaim, short.With(figures{"host.swapIn": 12, "host.swapOut": 9}), nil, row{About: "it swaps in", Rule: check.NotRecorded}},
		{MemoryReclaim, short.With(figures{"host.swapIn": 9, "host.swapOut": 12}), nil, row{About: "it swaps out", Rule: check.Matters}},

		{Swap, back, nil, row{About: "a quarter of the time", Rule: check.Matters, ID: "host.swap_in_pages_per_s", Figure: 12, Says: "26 % of the time"}},
		{Swap, back.With(figures{"cgroup.pressure.memory.some": .24}), nil, row{About: "less of the time", Rule: check.NotRecorded, ID: "process.major_faults_per_s", Figure: 12}},
		{Swap, back.With(figures{"host.swapIn": 9}), nil, row{About: "few pages", Rule: check.TooLittle, ID: "host.swap_in_pages_per_s", Figure: 9, Says: "9 pages/s were read from swap"}},
		{Swap, back.With(figures{"process.majorFaults": 9}), nil, row{About: "pages of others", Rule: check.TooLittle, ID: "process.major_faults_per_s", Figure: 9, Says: "the process had 9 major page faults/s"}},
		{Swap, figures{"host.swapIn": 260, "host.swapOut": 260, "host.cpu.busy": 1, "host.cpu.iowait": 1.04}, nil, row{About: "whose pages is not known, and the host does little else", Rule: check.Matters, ID: "host.iowait_share", Figure: .26}},
		{Swap, figures{"host.swapIn": 260, "host.swapOut": 260, "host.cpu.busy": 1, "host.cpu.iowait": .9}, nil, row{About: "whose pages is not known", Rule: check.NotRecorded}},

		{DiskBusy, figures{"cgroup.pressure.io.some": .009, "host.pressure.io.some": .5}, nil, row{About: "others wait for disks", Rule: none}},
		{DiskBusy, figures{"cgroup.pressure.io.some": .011}, nil, row{About: "its tasks wait for disks", Rule: check.NotRecorded, Says: "--kernel"}},
		{DiskBusy, figures{"host.pressure.io.some": .011}, nil, row{About: "tasks of the host wait for disks", Rule: check.NotRecorded}},

		{CPUThrottled, quota, nil, row{About: "more than half of the periods", Rule: check.Matters, ID: "quota.stopped_periods_share", Figure: .52, Says: "throttles the process in 52 of 100 periods"}},
		{CPUThrottled, quota, figures{evidence.FactContainerCPU: 1}, row{About: "a quota of a CPU", Rule: check.Matters, ID: "quota.cpus", Figure: 1, Says: "GOMAXPROCS=2"}},
		{CPUThrottled, quota.With(figures{"cgroup.cpu.throttledPeriods": 4.8}), nil, row{About: "not quite half of them", Rule: check.CostUnknown, ID: "quota.stopped_periods_share", Figure: .48, Says: "throttled in 48 % of the periods"}},
		{CPUThrottled, quota.With(figures{"cgroup.cpu.throttledPeriods": .09}), nil, row{About: "fewer than one in a hundred", Rule: check.TooLittle, Says: "throttled in 1 of 100 periods"}},
		{CPUThrottled, quota.With(figures{"cgroup.cpu.throttledPeriods": .11}), nil, row{About: "more than one in a hundred", Rule: check.CostUnknown}},
		{CPUThrottled, quota.With(figures{"cgroup.cpu.periods": 0, "cgroup.cpu.throttledPeriods": 0}), nil, row{About: "no periods", Rule: check.TooLittle, Says: "its cgroup has no quota"}},
		{CPUThrottled, figures{"process.cpu": 1}, created, row{About: "most periods since its group began", Rule: check.Matters, ID: "quota.stopped_periods_share", Figure: .51, Says: "throttled in 51 % of the periods since its cgroup was created"}},
		{CPUThrottled, figures{"process.cpu": 1}, created.With(figures{evidence.FactQuotaThrottled: 49}), row{About: "not most of them", Rule: check.OneLook, ID: "quota.stopped_periods_share", Figure: .49, Says: "a second reading of cpu.stat"}},
		{CPUThrottled, figures{"process.cpu": 1}, created.With(figures{evidence.FactQuotaPeriods: 99}), row{About: "99 periods", Rule: check.OneLook}},
		{CPUThrottled, nil, figures{evidence.FactQuotaThrottled: 40, evidence.FactQuotaStopped: 2e9}, row{About: "of how many is not told", Rule: check.OneLook, ID: "quota.stopped_s", Figure: 2, Says: "for 50 ms in each"}},
		{CPUThrottled, nil, figures{evidence.FactQuotaThrottled: 40}, row{About: "nor for how long", Rule: check.OneLook, ID: "quota.stopped_periods", Figure: 40}},
		{CPUThrottled, figures{"process.cpu": 1}, nil, row{About: "no quota was read", Rule: check.NotRecorded}},

		{Softirq, figures{"process.cpu": 1, "host.cpu.busy": 2, "host.cpu.softirq": .42}, nil, row{About: "a tenth of the host", Rule: check.CostUnknown, ID: "host.softirq_cpus", Figure: .42, Says: "--kernel"}},
		{Softirq, figures{"process.cpu": 1, "host.cpu.busy": 2, "host.cpu.softirq": .38}, nil, row{About: "less than a tenth of it", Rule: none}},

		{PageFaults, figures{"process.minorFaults": 490, "process.cpu": 1}, nil, row{About: "few faults", Rule: check.TooLittle, ID: "process.minor_faults_per_s", Figure: 490}},
		{PageFaults, figures{"process.minorFaults": 5100, "process.cpu": 1, "process.cpu.system": .5}, nil, row{About: "many faults", Rule: check.NotRecorded, ID: "process.system_cpus", Figure: .5, Says: "what requests waited for was not recorded"}},
		{PageFaults, figures{"process.cpu": 1}, nil, row{About: "faults were not counted", Rule: check.NotRecorded}},

		{CPUSaturation, figures{"process.cpu": .2, "process.runDelay": .3, "host.cpu.busy": 3.7, "host.pressure.cpu.some": .9}, nil, row{About: "its threads wait longer than they run", Rule: check.Matters, ID: "process.runnable_threads", Figure: .3, Says: "0.3 runnable threads of the process waited"}},
		{CPUSaturation, figures{"process.cpu": .35, "process.runDelay": .3, "host.cpu.busy": 3.7, "host.pressure.cpu.some": .9}, nil, row{About: "its threads run longer", Rule: check.NotRecorded, Says: "0.3 threads of the process waited for a CPU"}},
		{CPUSaturation, figures{"process.cpu": .2, "process.runDelay": .24, "host.cpu.busy": 3.7, "host.pressure.cpu.some": .9}, nil, row{About: "a quarter of a thread does not wait", Rule: check.NotRecorded}},
		{CPUSaturation, figures{"process.cpu": .2, "process.runDelay": .09, "host.cpu.busy": 3.7, "host.pressure.cpu.some": .9}, nil, row{About: "hardly any waits", Rule: check.TooLittle, ID: "process.runnable_threads", Figure: .09}},
		{CPUSaturation, figures{"process.cpu": .2, "process.runDelay": .3, "host.cpu.busy": 3.5, "host.pressure.cpu.some": .9}, nil, row{About: "the host is not full", Rule: check.NotRecorded, Says: "the host uses 3.5 of 4 CPUs"}},
		{CPUSaturation, figures{"process.cpu": .2, "host.cpu.busy": 3.5, "host.pressure.cpu.some": .09}, nil, row{About: "a calm host", Rule: check.TooLittle, Says: "at most 9 % of the time"}},
		{CPUSaturation, figures{"process.cpu": .2, "host.cpu.busy": 3.7, "host.pressure.cpu.some": .09}, nil, row{About: "a full host without pressure", Rule: check.NotRecorded}},
		{CPUSaturation, figures{"process.cpu": .2}, nil, row{About: "the host was not recorded", Rule: check.NotRecorded, Says: "/proc/pressure/cpu"}},

		{NoisyNeighbour, figures{"process.cpu": .2, "process.runDelay": .3, "host.cpu.busy": 3.7}, nil, row{About: "its threads wait longer than they run", Rule: check.Matters, ID: "host.others_cpus", Figure: 3.5, Says: "while 0.3 of its threads wait for one"}},
		{NoisyNeighbour, figures{"process.cpu": .2, "process.runDelay": .3, "host.cpu.busy": 3.7, "host.cpu.steal": .02}, nil, row{About: "a little is stolen", Rule: check.Matters, ID: "host.stolen_cpus", Figure: .02}},
		{NoisyNeighbour, figures{"process.cpu": 3.4, "process.runDelay": 3, "host.cpu.busy": 3.7}, nil, row{About: "others use less than a tenth", Rule: check.TooLittle, ID: "host.others_cpus", Figure: .3}},
		{NoisyNeighbour, figures{"process.cpu": .2, "process.runDelay": .09, "host.cpu.busy": 3.7}, nil, row{About: "hardly any waits", Rule: check.TooLittle}},
		{NoisyNeighbour, figures{"process.cpu": .2, "host.cpu.busy": 3.7}, nil, row{About: "whether any waits is not known", Rule: check.CostUnknown}},
		{NoisyNeighbour, figures{"process.cpu": .2}, nil, row{About: "the host was not recorded", Rule: check.NotRecorded}},

		{ConntrackFull, figures{"process.cpu": .2}, figures{evidence.FactConntrackCount: 985, evidence.FactConntrackMost: 1000}, row{About: "nearly full", Rule: check.TooLittle, Says: "of the table of connections is in use"}},
		{ConntrackFull, figures{"process.cpu": .2}, figures{evidence.FactConntrackCount: 995, evidence.FactConntrackMost: 1000}, row{About: "full", Rule: check.StandsAlone}},
	} {
		c := checktest.Told{Of: evidence.Subject{Name: "shop", CPUs: 4}, Series: x.series, Facts: x.facts}.Case()
		asked := x.cause.Applies(c)
		if asked != (x.Rule != none) {
			t.Errorf("%s: %s: it is asked: %v", x.cause.ID, x.About, asked)
		}
		if asked {
			v := x.cause.Judge(c)
			x.Judged(t, &x.cause, c, &v)
		}
	}
}

// What decides is one of the figures that are kept, whatever of a host, a quota and a process was recorded, and however slow requests are.
func TestEveryDecisionHolds(t *testing.T) {
	n := 0
	for _, dilation := range []float64{0, 20} {
		for _, slow := range []int64{8, 30} {
			for _, busy := range []float64{0, 2.3, 4} {
				for _, delay := range []float64{0, .001, 2} {
					for _, quota := range []float64{0, 4, 19} { // throttled periods of 20
						for _, faults := range []float64{0, 150_000} {
							in := incident{slow: slow, dilation: dilation, run: 2, busy: busy, peak: busy, pressure: .9, process: .8, delay: delay, faults: faults, grows: n%2 == 0}
							if busy > 1.2 {
								in.others = []float64{busy - .9}
							}
							if quota > 0 {
								in.quota, in.throttled, in.stopped = 1, quota, quota/20
							}
							if faults > 0 && n%3 > 0 {
								in.system = []float64{.05, .29, .5}[n%3]
							}
							in.late, in.untold = n%11 == 0, n%7 == 0
							n++
							c := in.subject(t)
							for _, k := range []check.Check{CPUSaturation, NoisyNeighbour, CPUThrottled, PageFaults, Softirq, DiskBusy, DiskSync, MemoryReclaim, Swap, THPStall, Futex} {
								if k.Applies(c) {
									v := k.Judge(c)
									checktest.Holds(t, fmt.Sprintf("%+v", in), &k, c, &v)
								}
							}
						}
					}
				}
			}
		}
	}
}
