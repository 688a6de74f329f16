package evidence

// This file has the names of what the Linux kernel counts and is set to; names.go says what
// names are for.

// Series of a process, from /proc/PID
// (https://docs.kernel.org/filesystems/proc.html). Cores are seconds of CPU time per second.
const (
	SeriesProcessCPU                            = "process.cpu"                             // cores: user and kernel time per second
	SeriesProcessCPUSystem                      = "process.cpu.system"                      // cores in the kernel
	SeriesProcessRSS                            = "process.rss"                             // bytes resident
	SeriesProcessPrivate                        = "process.private"                         // bytes that only it has, resident or not (Windows: Private Bytes)
	SeriesProcessThreads                        = "process.threads"                         // how many threads
	SeriesProcessThreadsRun                     = "process.threads.run"                     // cores, of all threads by their schedstat
	SeriesProcessThreadsRunOf                   = "process.threads.run.of"                  // cores, of the threads of one name, which follows a colon (comm without the number at its end)
	SeriesProcessRunDelay                       = "process.runDelay"                        // threads that wait for a CPU, in the mean (schedstat, all threads)
	SeriesProcessMainThreadRunDelay             = "process.mainThread.runDelay"             // the same of the main thread alone
	SeriesProcessMainThreadVoluntarySwitches    = "process.mainThread.voluntarySwitches"    // 1/s, of the main thread
	SeriesProcessMainThreadNonvoluntarySwitches = "process.mainThread.nonvoluntarySwitches" // 1/s, of the main thread
	SeriesProcessMinorFaults                    = "process.minorFaults"                     // 1/s
	SeriesProcessMajorFaults                    = "process.majorFaults"                     // 1/s
	SeriesProcessIORead                         = "process.io.read"                         // bytes/s by read and its like, sockets too
	SeriesProcessIOWritten                      = "process.io.written"                      // bytes/s, likewise
	SeriesProcessIOReads                        = "process.io.reads"                        // calls/s
	SeriesProcessIOWrites                       = "process.io.writes"                       // calls/s
	SeriesProcessDiskRead                       = "process.disk.read"                       // bytes/s that came from disks
	SeriesProcessDiskWritten                    = "process.disk.written"                    // bytes/s that go to disks
	SeriesProcessDiskCancelled                  = "process.disk.cancelled"                  // bytes/s that were written and dropped again before they reached a disk
	SeriesProcessBlocked                        = "process.blocked"                         // threads that waited for a disk, in the mean (delay accounting; absent where that is off)
	SeriesProcessSwitches                       = "process.switches"                        // 1/s: times that its threads were given a CPU, all threads (schedstat)
	SeriesProcessSegments                       = "process.tcp.segments"                    // 1/s that its TCP sockets sent and received (sock_diag)
	SeriesProcessVoluntarySwitches              = "process.voluntarySwitches"               // 1/s, all threads: they waited for something
	SeriesProcessInvoluntarySwitches            = "process.involuntarySwitches"             // 1/s, all threads: others were given their CPU
	SeriesProcessRunDelayMost                   = "process.runDelay.most"                   // share of the time for which the thread that waited most waited for a CPU
	SeriesProcessSwap                           = "process.swap"                            // bytes swapped out
	SeriesProcessAnonymous                      = "process.rss.anonymous"                   // bytes resident that are of no file
	SeriesProcessHuge                           = "process.hugePages"                       // bytes of them in huge pages (smaps_rollup)
)

// Series of a host, from /proc/stat, /proc/vmstat, /proc/meminfo, /proc/buddyinfo, /proc/loadavg,
// /proc/softirqs, /proc/net/softnet_stat and /proc/pressure (https://docs.kernel.org/accounting/psi.html).
const (
	SeriesHostCPUBusy                  = "host.cpu.busy"                   // cores that were busy: user, nice, system, irq and softirq; steal is apart
	SeriesHostCPUUser                  = "host.cpu.user"                   // cores, nice included
	SeriesHostCPUSystem                = "host.cpu.system"                 // cores, interrupts not included
	SeriesHostCPUIowait                = "host.cpu.iowait"                 // cores idle while a disk was waited for
	SeriesHostCPUSoftirq               = "host.cpu.softirq"                // cores, irq included
	SeriesHostCPUSteal                 = "host.cpu.steal"                  // cores the hypervisor gave to others; kernels that do not count it have none
	SeriesHostContextSwitches          = "host.contextSwitches"            // 1/s
	SeriesHostForks                    = "host.forks"                      // 1/s
	SeriesHostProcsRunning             = "host.procs_running"              // tasks that run or wait for a CPU
	SeriesHostProcsBlocked             = "host.procs_blocked"              // tasks that wait for a disk
	SeriesHostLoad1                    = "host.load1"                      // load average over a minute
	SeriesHostPressureCPUSome          = "host.pressure.cpu.some"          // share of the time in which a task waited for a CPU
	SeriesHostPressureCPUFull          = "host.pressure.cpu.full"          // share of the time in which all waited
	SeriesHostPressureMemorySome       = "host.pressure.memory.some"       // share of the time in which a task waited for memory
	SeriesHostPressureMemoryFull       = "host.pressure.memory.full"       // share of the time in which all waited
	SeriesHostPressureIOSome           = "host.pressure.io.some"           // share of the time in which a task waited for a disk
	SeriesHostPressureIOFull           = "host.pressure.io.full"           // share of the time in which all waited
	SeriesHostMemoryAvailable          = "host.memory.available"           // bytes
	SeriesHostFaults                   = "host.faults"                     // 1/s, minor and major
	SeriesHostMajorFaults              = "host.majorFaults"                // 1/s
	SeriesHostSwapIn                   = "host.swapIn"                     // pages/s
	SeriesHostSwapOut                  = "host.swapOut"                    // pages/s
	SeriesHostOOMKills                 = "host.oomKills"                   // 1/s
	SeriesHostCompactStalls            = "host.compactStalls"              // 1/s: allocations that compacted memory themselves
	SeriesHostReclaimBackground        = "host.reclaim.background"         // pages/s reclaimed by kswapd
	SeriesHostReclaimDirect            = "host.reclaim.direct"             // pages/s reclaimed by allocating threads
	SeriesHostTHPFaults                = "host.thp.faults"                 // 1/s: faults that got a huge page
	SeriesHostTHPFallbacks             = "host.thp.fallbacks"              // 1/s: faults that asked for one in vain
	SeriesHostTHPCollapses             = "host.thp.collapses"              // 1/s, by khugepaged
	SeriesHostTHPSplits                = "host.thp.splits"                 // 1/s
	SeriesHostCPUBusiest               = "host.cpu.busiest"                // cores, 0…1: the CPU that was busy most, between two readings each time
	SeriesHostCPUSoftirqMost           = "host.cpu.softirq.most"           // cores, 0…1: the CPU that interrupts took most of
	SeriesHostInterrupts               = "host.interrupts"                 // 1/s
	SeriesHostPressureIRQFull          = "host.pressure.irq.full"          // share of the time that interrupts took from tasks
	SeriesHostMemoryFree               = "host.memory.free"                // bytes
	SeriesHostMemoryCache              = "host.memory.cache"               // bytes of files and buffers
	SeriesHostMemoryDirty              = "host.memory.dirty"               // bytes that are to be written to disks
	SeriesHostMemoryWriteback          = "host.memory.writeback"           // bytes that are being written
	SeriesHostMemoryHugePages          = "host.memory.hugePages"           // bytes of processes in transparent huge pages
	SeriesHostMemoryFreeHuge           = "host.memory.freeHuge"            // bytes free in blocks as large as a huge page (2 MiB)
	SeriesHostSwapUsed                 = "host.swap.used"                  // bytes
	SeriesHostDirtied                  = "host.dirtied"                    // pages/s of files that were written to in memory
	SeriesHostWritten                  = "host.written"                    // pages/s of them that were written to disks
	SeriesHostAllocStalls              = "host.allocStalls"                // 1/s: allocations that reclaimed memory themselves
	SeriesHostReclaimDirectScanned     = "host.reclaim.direct.scanned"     // pages/s
	SeriesHostReclaimBackgroundScanned = "host.reclaim.background.scanned" // pages/s
	SeriesHostRefaultsAnonymous        = "host.refaults.anonymous"         // pages/s read back soon after they were swapped out
	SeriesHostRefaultsFiles            = "host.refaults.files"             // pages/s read back soon after they were dropped
	SeriesHostCompactFailures          = "host.compact.failures"           // 1/s: of the stalls those that gave no large page
	SeriesHostCompactSuccesses         = "host.compact.successes"          // 1/s: those that gave one
	SeriesHostCompactScanned           = "host.compact.scanned"            // pages/s that compaction looked at
	SeriesHostCompactDaemon            = "host.compact.daemon"             // 1/s: times that kcompactd was woken
	SeriesHostTHPCollapseFailures      = "host.thp.collapseFailures"       // 1/s: times that khugepaged found no huge page
	SeriesHostTHPMappingSplits         = "host.thp.mappingSplits"          // 1/s: huge pages mapped as small ones from then on
	SeriesHostTHPDeferred              = "host.thp.deferred"               // 1/s: huge pages parts of which were given back, to be split when memory is short
	SeriesHostNUMAMisses               = "host.numa.misses"                // pages/s that came from another node than was asked for
	SeriesHostNUMAFaults               = "host.numa.hintFaults"            // 1/s: faults by which the kernel finds out who uses a page
	SeriesHostNUMAMigrated             = "host.numa.migrated"              // pages/s moved to another node
	SeriesHostBlockRead                = "host.block.read"                 // bytes/s from block devices, each time a request passes one
	SeriesHostBlockWritten             = "host.block.written"              // bytes/s, likewise
	SeriesHostSoftirqsNetRX            = "host.softirqs.netRX"             // 1/s: times that NET_RX ran
	SeriesHostSoftirqsNetTX            = "host.softirqs.netTX"             // NET_TX
	SeriesHostSoftirqsBlock            = "host.softirqs.block"             // BLOCK: requests that disks finished
	SeriesHostSoftirqsTimer            = "host.softirqs.timer"             // TIMER
	SeriesHostSoftirqsSched            = "host.softirqs.sched"             // SCHED: balancing of CPUs
	SeriesHostSoftirqsRCU              = "host.softirqs.rcu"               // RCU
	SeriesHostSoftirqsTasklet          = "host.softirqs.tasklet"           // TASKLET
	SeriesHostSoftnetPackets           = "host.softnet.packets"            // 1/s
	SeriesHostSoftnetDropped           = "host.softnet.dropped"            // 1/s: packets that found the backlog of a CPU full (net.core.netdev_max_backlog)
	SeriesHostSoftnetSqueezed          = "host.softnet.squeezed"           // 1/s: times that NET_RX stopped with packets left (net.core.netdev_budget)
)

// Series of each disk of a host; a colon and the disk's name follow: "host.disk.busy:sda"
// (https://docs.kernel.org/admin-guide/iostats.html).
const (
	SeriesDiskReads        = "host.disk.reads"        // requests/s that were finished
	SeriesDiskWrites       = "host.disk.writes"       // requests/s
	SeriesDiskReadBytes    = "host.disk.readBytes"    // bytes/s
	SeriesDiskWrittenBytes = "host.disk.writtenBytes" // bytes/s
	SeriesDiskReading      = "host.disk.reading"      // reads that were under way, waiting included, in the mean: divided by those per second it is how long one took
	SeriesDiskWriting      = "host.disk.writing"      // writes, likewise
	SeriesDiskFlushes      = "host.disk.flushes"      // 1/s: caches of the disk written out, as fsync asks for; 5.5 on
	SeriesDiskFlushing     = "host.disk.flushing"     // flushes that were under way, in the mean
	SeriesDiskBusy         = "host.disk.busy"         // share of the time in which it had any request
	SeriesDiskInFlight     = "host.disk.queue"        // requests under way, in the mean
)

// Series of each network interface of a host; a colon and its name follow.
const (
	SeriesNetReceived        = "host.net.received"        // bytes/s
	SeriesNetSent            = "host.net.sent"            // bytes/s
	SeriesNetPacketsReceived = "host.net.packetsReceived" // 1/s
	SeriesNetPacketsSent     = "host.net.packetsSent"     // 1/s
	SeriesNetDropped         = "host.net.dropped"         // 1/s, in either direction
)

// Series of each address that a process listens at; a colon and the address follow:
// "listen.queue:0.0.0.0:8080". Sockets that share an address (SO_REUSEPORT) are summed up. What they count
// waits before the program has seen it (https://man7.org/linux/man-pages/man7/sock_diag.7.html).
const (
	SeriesListenQueue           = "listen.queue"      // connections that are established and wait for accept
	SeriesListenBacklog         = "listen.limit"      // how many of them the kernel keeps: the lower of what listen asked for and net.core.somaxconn
	SeriesListenFullest         = "listen.fullest"    // share of its backlog that is taken, of the fullest of the sockets at the address; above 1 it overflows
	SeriesUnacceptedConnections = "listen.unaccepted" // connections that no process has accepted, and that the peer may have closed since
	SeriesUnreadConnections     = "listen.unread"     // accepted connections with bytes that the program has not read; of ss and netstat, those not accepted, too
)

// Series of the network namespace of a process, of the host's own where no process is named
// (TcpExt of /proc/net/netstat, https://docs.kernel.org/networking/snmp_counter.html).
const (
	SeriesListenOverflows = "tcp.listenOverflows" // 1/s: connections and SYNs that met a full accept queue
	SeriesListenDrops     = "tcp.listenDrops"     // 1/s: SYNs and connections that were dropped for any reason, overflows included
	SeriesSyncookiesSent  = "tcp.syncookiesSent"  // 1/s: SYNs that met a full SYN queue and were answered with a cookie
	SeriesSYNQueueDrops   = "tcp.synQueueDrops"   // 1/s: SYNs that met a full SYN queue and were dropped (TCPReqQFullDrop)
	SeriesSYNQueueCookies = "tcp.synQueueCookies" // 1/s: full SYN queues for which cookies were sent (TCPReqQFullDoCookies)
	SeriesAbortOnOverflow = "tcp.abortOnOverflow" // 1/s: resets sent for a full accept queue (net.ipv4.tcp_abort_on_overflow)
)

// Series that eBPF programs give: what they are about is measured each time, not sampled. Those of
// disks are /proc/diskstats' as well, of whole disks: partitions and what is made of disks are
// not counted again.
const (
	SeriesProcessCompaction   = "process.kernel.compaction"   // s of direct compaction per second, all threads together
	SeriesProcessReclaim      = "process.kernel.reclaim"      // s of direct reclaim per second
	SeriesProcessLimitReclaim = "process.kernel.limitReclaim" // s of reclaim within the memory limit of its group, per second
	SeriesHostDiskRequests    = "host.disk.requests"          // 1/s that disks finished
	SeriesHostDiskInFlight    = "host.disk.inFlight"          // requests that disks worked on at a time: divided by those per second it is how long one took
)

// Series of a process's control group (https://docs.kernel.org/admin-guide/cgroup-v2.html);
// version 1 gives what it has under the same names.
const (
	SeriesCgroupCPU                 = "cgroup.cpu"                  // cores
	SeriesCgroupCPUPeriods          = "cgroup.cpu.periods"          // periods/s of the quota in which the group ran
	SeriesCgroupCPUThrottledPeriods = "cgroup.cpu.throttledPeriods" // periods/s in which it was stopped
	SeriesCgroupCPUThrottled        = "cgroup.cpu.throttled"        // s of stops per second, all CPUs together
	SeriesCgroupMemory              = "cgroup.memory"               // bytes
	SeriesCgroupMemoryAnonymous     = "cgroup.memory.anonymous"     // bytes
	SeriesCgroupMemoryFiles         = "cgroup.memory.files"         // bytes of page cache
	SeriesCgroupMemoryHigh          = "cgroup.memory.high"          // 1/s: memory.high was met
	SeriesCgroupMemoryMax           = "cgroup.memory.max"           // 1/s: the limit was met
	SeriesCgroupMemoryOOM           = "cgroup.memory.oom"           // 1/s
	SeriesCgroupMemoryOOMKills      = "cgroup.memory.oomKills"      // 1/s
	SeriesCgroupMajorFaults         = "cgroup.majorFaults"          // 1/s
	SeriesCgroupRefaultsAnonymous   = "cgroup.refaults.anonymous"   // pages/s read back soon after they were swapped out
	SeriesCgroupRefaultsFiles       = "cgroup.refaults.files"       // pages/s read back soon after they were dropped
	SeriesCgroupReclaimDirect       = "cgroup.reclaim.direct"       // pages/s reclaimed by allocating threads
	SeriesCgroupReclaimScanned      = "cgroup.reclaim.scanned"      // pages/s scanned by allocating threads
	SeriesCgroupPressureCPUSome     = "cgroup.pressure.cpu.some"    // share of the time in which a task of the group waited for a CPU
	SeriesCgroupPressureCPUFull     = "cgroup.pressure.cpu.full"    // share of the time in which all of the group waited
	SeriesCgroupPressureMemorySome  = "cgroup.pressure.memory.some" // share of the time in which a task of the group waited for memory
	SeriesCgroupPressureMemoryFull  = "cgroup.pressure.memory.full" // share of the time in which all of the group waited
	SeriesCgroupPressureIOSome      = "cgroup.pressure.io.some"     // share of the time in which a task of the group waited for a disk
	SeriesCgroupPressureIOFull      = "cgroup.pressure.io.full"     // share of the time in which all of the group waited
	SeriesCgroupPressureIRQFull     = "cgroup.pressure.irq.full"    // share of the time that interrupts took from tasks of the group
	SeriesCgroupCPUUser             = "cgroup.cpu.user"             // cores
	SeriesCgroupCPUSystem           = "cgroup.cpu.system"           // cores
	SeriesCgroupTasks               = "cgroup.tasks"                // threads
	SeriesCgroupIORead              = "cgroup.io.read"              // bytes/s from disks
	SeriesCgroupIOWritten           = "cgroup.io.written"           // bytes/s to disks
	SeriesCgroupIOReads             = "cgroup.io.reads"             // requests/s
	SeriesCgroupIOWrites            = "cgroup.io.writes"            // requests/s
	SeriesCgroupMemoryDirty         = "cgroup.memory.dirty"         // bytes that are to be written to disks
	SeriesCgroupMemoryWriteback     = "cgroup.memory.writeback"     // bytes that are being written
	SeriesCgroupMemoryHugePages     = "cgroup.memory.hugePages"     // bytes in transparent huge pages
	SeriesCgroupSwap                = "cgroup.memory.swap"          // bytes swapped out
	SeriesCgroupFaults              = "cgroup.faults"               // 1/s, minor and major
	SeriesCgroupTHPFaults           = "cgroup.thp.faults"           // 1/s: faults that got a huge page
	SeriesCgroupTHPCollapses        = "cgroup.thp.collapses"        // 1/s
)

// Facts of a host and its kernel; sysctls are facts by their own names ("vm.swappiness"). One that
// changed while it was watched is there for each value: From and Until say when.
const (
	FactKernel          = "kernel.release"               // "6.1.0-18-amd64"
	FactNUMANodes       = "host.numa.nodes"              // how many
	FactSwap            = "host.swap"                    // bytes
	FactTHP             = "thp.enabled"                  // "always", "madvise", "never": transparent huge pages; of one size, "inherit" too: "thp.enabled:64kB"
	FactTHPDefrag       = "thp.defrag"                   // "always", "defer", "defer+madvise", "madvise", "never": who compacts memory for one
	FactTHPShared       = "thp.shmem"                    // for shared memory
	FactHugePage        = "hugePage.size"                // bytes of a huge page
	FactTHPDaemonDefrag = "thp.khugepaged.defrag"        // 1: khugepaged compacts memory
	FactTHPDaemonEmpty  = "thp.khugepaged.max_ptes_none" // how many small pages of a huge one may be untouched before
	FactTHPProcess      = "thp.process"                  // 1: the process may have them; 0: it, or who started it, ruled them out (prctl PR_SET_THP_DISABLE)
	FactSwappiness      = "vm.swappiness"
	FactDirtyRatio      = "vm.dirty_ratio" // percent
	FactDirtyBytes      = "vm.dirty_bytes" // 0: dirty_ratio holds
	FactMinFree         = "vm.min_free_kbytes"
	FactCompaction      = "vm.compaction_proactiveness" // 0: none but when asked for
	FactContainerHigh   = "container.memory.high"       // bytes from which on the group is slowed down
	FactContainerSwap   = "container.swap"              // bytes that it may swap out
)

// Names of what can be covered of a host and its processes.
const (
	CoverHostMemory = "host memory" // /proc/vmstat
	CoverDisks      = "disks"       // /proc/diskstats
	CoverSoftirqs   = "softirqs"    // /proc/softirqs

	CoverListenQueues = "listen queues"      // of a process, each address it listens at
	CoverUnread       = "unread connections" // of a process, likewise
	CoverTCPDrops     = "tcp drops"          // TcpExt of /proc/net/netstat
)

// ShareOf is the name under which CPU time of a host is told where it is not known how many CPUs
// there are: "host.cpu.busy" in cores is "host.cpu.busy.share" of all of them, 0…1.
func ShareOf(name string) string { return name + ".share" }

// What unstall measures of huge pages itself: what faults cost on this host where memory is free,
// and how much of its huge pages a process uses.
const (
	FactSmallPage  = "page.size"      // bytes of any but a huge page
	FactHugeFault  = "fault.hugePage" // ns that a fault for a huge page takes: Value are the least and the most that was measured
	FactSmallFault = "fault.page"     // ns that a fault for one small page takes, likewise

	SeriesProcessHugeLooked  = "process.hugePages.looked"  // huge pages that were looked into at a time
	SeriesProcessHugeTouched = "process.hugePages.touched" // small pages that hold anything, of each that was looked into, in the mean

	CoverHugePages = "huge pages" // were looked for
)
