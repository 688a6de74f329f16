package evidence

// This file has the names of series, facts and kinds of coverage, which formats write and checks ask for. A format and a check mean the
// same figure by a name, whatever file the figure is from; no other file writes such a name (names_test.go).

// Names of series about a managed runtime, from any source: .NET's EventCounters have these names, and figures that other sources name
// differently are renamed to them. Rates are per second.
const (
	SeriesCPU              = "System.Runtime/cpu-usage"                                // percent of all processors
	SeriesWorkingSet       = "System.Runtime/working-set"                              // bytes
	SeriesPoolThreads      = "System.Runtime/threadpool-thread-count"                  // threads
	SeriesPoolQueue        = "System.Runtime/threadpool-queue-length"                  // work items
	SeriesPoolCompleted    = "System.Runtime/threadpool-completed-items-count"         // work items/s
	SeriesTimers           = "System.Runtime/active-timer-count"                       // timers
	SeriesContentions      = "System.Runtime/monitor-lock-contention-count"            // contentions/s
	SeriesGCTime           = "System.Runtime/time-in-gc"                               // percent since the last collection
	SeriesRequestsInFlight = "Microsoft.AspNetCore.Hosting/current-requests"           // requests
	SeriesRequestRate      = "Microsoft.AspNetCore.Hosting/requests-per-second"        // requests/s
	SeriesClientPoolUsed   = "pool/active"                                             // connections of a pool in use; pool's name after a colon: "pool/active:db"
	SeriesClientPoolMax    = "pool/max"                                                // the most it may have
	SeriesClientPoolWaits  = "pool/pending"                                            // requests waiting for one
	SeriesDependencyMean   = "dependency/mean"                                         // ns per call by the dependency's own monitor, mean of the reading's time
	SeriesDependencyP99    = "dependency/p99"                                          // ns, likewise
	SeriesDependencyCalls  = "dependency/calls"                                        // calls/s that it saw
	SeriesConnections      = "Microsoft-AspNetCore-Server-Kestrel/current-connections" // connections
	SeriesRequests         = "requests per second"                                     // requests/s that ended, as an access log or a counter of them tells
)

// The other counters of .NET that more than one source gives.
const (
	SeriesManagedHeap     = "System.Runtime/gc-heap-size"                                   // bytes, after the last collection and what was allocated since
	SeriesGen0Size        = "System.Runtime/gen-0-size"                                     // bytes, after a collection
	SeriesGen1Size        = "System.Runtime/gen-1-size"                                     // bytes, likewise
	SeriesGen2Size        = "System.Runtime/gen-2-size"                                     // bytes, likewise
	SeriesLOHSize         = "System.Runtime/loh-size"                                       // bytes, likewise: objects of 85,000 bytes and more
	SeriesPOHSize         = "System.Runtime/poh-size"                                       // bytes, likewise: objects that are pinned
	SeriesGen0Collections = "System.Runtime/gen-0-gc-count"                                 // collections/s, those of older generations included
	SeriesGen1Collections = "System.Runtime/gen-1-gc-count"                                 // collections/s, likewise
	SeriesGen2Collections = "System.Runtime/gen-2-gc-count"                                 // collections/s
	SeriesGCPaused        = "System.Runtime/dotnet.gc.pause.time"                           // s of pauses per second; the meter of .NET 9 on
	SeriesGen0Meter       = "System.Runtime/dotnet.gc.collections{gc.heap.generation=gen0}" // collections/s of that generation alone; the meter of .NET 9 on
	SeriesGen2Meter       = "System.Runtime/dotnet.gc.collections{gc.heap.generation=gen2}" // likewise
	SeriesInduced         = "System.Runtime/induced-gc-count"                               // collections/s that the program asked for
	SeriesAllocation      = "System.Runtime/alloc-rate"                                     // bytes/s
	SeriesExceptions      = "System.Runtime/exception-count"                                // exceptions/s
	SeriesAssemblies      = "System.Runtime/assembly-count"                                 // assemblies
	SeriesConnectionQueue = "Microsoft-AspNetCore-Server-Kestrel/connection-queue-length"   // connections that wait for a pool thread
	SeriesRequestQueue    = "Microsoft-AspNetCore-Server-Kestrel/request-queue-length"      // requests that wait for one
)

// Series of a Go process: the names of runtime/metrics (https://pkg.go.dev/runtime/metrics)
// where a trace or runtime.MemStats says the same. "gc." and "memstats." are our own.
const (
	SeriesGoHeap         = "/memory/classes/heap/objects:bytes"  // bytes, at every change
	SeriesGoHeapSnapshot = "memstats.HeapAlloc"                  // bytes, when the process was asked
	SeriesGoGoal         = "/gc/heap/goal:bytes"                 // bytes at which the next cycle is to end
	SeriesGoAllocated    = "/gc/heap/allocs:bytes"               // bytes since the start
	SeriesGoObjects      = "/gc/heap/allocs:objects"             // objects since the start
	SeriesGoSys          = "/memory/classes/total:bytes"         // bytes taken from the kernel
	SeriesGoReleased     = "/memory/classes/heap/released:bytes" // bytes given back to it
	SeriesGoCycles       = "/gc/cycles/total:gc-cycles"          // cycles since the start
	SeriesGoForced       = "/gc/cycles/forced:gc-cycles"         // of them, by runtime.GC
	SeriesGoProcs        = "/sched/gomaxprocs:threads"           // GOMAXPROCS
	SeriesGoPauses       = "gc.pauses"                           // ns: at a cycle's end, the sum of its stop-the-world pauses
	SeriesGoCPUFraction  = "gc.cpuFraction"                      // the collector's share of available CPU time since the start, 0…1
)

// Facts of processes that separate the services of a host.
const (
	FactParent       = "process.parent" // PID of the parent; KernelThread for the kernel's own
	FactControlGroup = "process.cgroup" // path
	FactWorker       = "process.worker" // PID of a child of the same kind
	KernelThread     = "kernel thread"
)

// Facts of a process's container, from the container engine.
const (
	FactContainerEngine = "container.engine" // "docker", "podman", "containerd", "cri-o", "crun", "runc"
	FactContainerID     = "container.id"
	FactContainerName   = "container.name"   // for a pod, the name in its specification
	FactContainerImage  = "container.image"  // as it was requested
	FactContainerLabel  = "container.label/" // followed by the label's name; a pod's labels for its containers
	FactPod             = "pod.name"
	FactNamespace       = "pod.namespace"
	FactNode            = "pod.node"
)

// Names of facts that causes ask for.
const (
	FactGOGC             = "GOGC"               // percent; "off" is -1
	FactGOMEMLIMIT       = "GOMEMLIMIT"         // bytes; "off" is -1
	FactGODEBUG          = "GODEBUG"            // as set
	FactGOMAXPROCS       = "GOMAXPROCS"         // as set in the environment
	FactCommand          = "command"            // the command line, secrets taken out
	FactContainerLimit   = "container.memory"   // bytes
	FactContainerCPU     = "container.cpu"      // quota in CPUs
	FactHostMemory       = "host.memory"        // bytes
	FactLinesIgnored     = "lines.ignored"      // known lines of an artifact without use
	FactLinesUnexplained = "lines.unexplained"  // lines that were not understood
	FactVersionAtLeast   = "go.version.atLeast" // "go1.19": the evidence's own format shows it
	FactVersionBelow     = "go.version.below"   // "go1.19": the evidence lacks what that release prints

	// Counters since the start of a Go process by their names in runtime.MemStats
	// (https://pkg.go.dev/runtime#MemStats), one fact per reading, with its time in From.
	FactNumGC       = "NumGC"
	FactNumForcedGC = "NumForcedGC" // of them, by runtime.GC
	FactTotalAlloc  = "TotalAlloc"  // bytes

	// Facts of Go's profiles.
	FactProfileKind = "profile.kind" // "cpu", "mutex", "block", "goroutine dump", "on-cpu", "off-cpu": From and Until say when
	FactProfileRate = "profile.hz"   // samples/s of CPU time

	// Facts of execution traces that separate CPU time from wall time on a processor: on a host that does not run the
	// threads, short calls take long.
	FactShortCalls      = "trace.shortCalls"      // system calls on sockets that never block, how many
	FactShortCallMedian = "trace.shortCallMedian" // ns
	FactShortCallMean   = "trace.shortCallMean"   // ns
	FactLongRuns        = "trace.longRuns"        // ns run in stretches over twice the preemption quantum of 10 ms
	FactRunTime         = "trace.runTime"         // ns goroutines were on processors
	// Goroutines that began during a trace and still wait at its end, of the most frequent kind: Value is where they wait,
	// Number how many there are.
	FactGoroutinesLeft      = "trace.goroutinesLeft"
	FactGoroutinesLeftEarly = "trace.goroutinesLeftEarly" // those begun in its first half

	// StopAroundCollection is the cause of a stop that goes on beside the collection for which the program was stopped.
	StopAroundCollection = "what the JVM did around collections"

	// DirtyPages is what InnoDB writes once a second, of FactSyncsSlow.
	DirtyPages = "dirty pages"

	// TriggerUntold is the trigger of a collection from a source that never gives triggers.
	TriggerUntold = "not told"

	// Facts of a JVM. Flags are facts by their own names, sizes in bytes; these are asked for.
	FactOverheadLimit     = "gc.overheadLimit"    // times that the JVM said GC takes nearly all the time (GCTimeLimit) and frees nearly nothing (GCHeapFreeLimit); Value is the first such line
	FactStateless         = "threads.stateless"   // thread dumps that do not show which threads wait for a monitor
	FactLegacyLog         = "gc.legacyLog"        // collections in the form of logs before JDK 9
	FactJVMSystem         = "java.system"         // the operating system its JVM is built for, as the banner of its log has it: "linux", "bsd", "windows"
	FactSafepointLate     = "safepoint.late"      // times that -XX:+SafepointTimeout named a thread, which follows in the key: "safepoint.late: worker-7"
	FactLongAlone         = "gc.longAlone"        // lines of a source that reports only long collections
	FactCollector         = "collector"           // usual name: "G1", "ParNew+CMS", "Parallel", "Serial", "ZGC", "generational ZGC", "Shenandoah", "generational Shenandoah", "Epsilon"
	FactYoungCapacity     = "heap.young.capacity" // bytes of eden and both survivor spaces
	FactEdenCapacity      = "heap.eden.capacity"  // bytes
	FactOldCapacity       = "heap.old.capacity"   // bytes
	FactConcGCThreads     = "ConcGCThreads"       // threads that collect beside the program
	FactG1HeapRegionSize  = "G1HeapRegionSize"    // bytes
	FactInitialHeapSize   = "InitialHeapSize"     // bytes (-Xms)
	FactMaxHeapSize       = "MaxHeapSize"         // bytes (-Xmx)
	FactMaxMetaspaceSize  = "MaxMetaspaceSize"    // bytes
	FactMaxNewSize        = "MaxNewSize"          // bytes
	FactMinHeapSize       = "MinHeapSize"         // bytes
	FactNewSize           = "NewSize"             // bytes
	FactParallelGCThreads = "ParallelGCThreads"   // threads that collect while the program is stopped
	FactSurvivorRatio     = "SurvivorRatio"       // eden ÷ one survivor space
	FactUseTHP            = "UseTransparentHugePages"

	// Facts of a .NET process: what the runtime says, and the settings of its environment,
	// which are hexadecimal and called DOTNET_ or COMPlus_ before (https://learn.microsoft.com/dotnet/core/runtime-config/threading).
	FactPoolMinimum       = "dotnet.threadpool.minimum" // worker threads created without delay
	FactPoolMaximum       = "dotnet.threadpool.maximum" // worker threads
	FactForcedPoolMinimum = "ThreadPool_ForceMinWorkerThreads"
	FactForcedPoolMaximum = "ThreadPool_ForceMaxWorkerThreads"

	// Threads that wait for each other in a circle, by the runtime or its locks: Value has their names, Number is how many.
	FactDeadlock = "deadlock"
	// The lock that each of them waits for, and its holder, by the dump's own locks: Value in words, Number 1 if the runtime
	// found the same, 0 if it did not report a circle.
	FactDeadlockChain = "deadlock.chain"

	// The id of a request that lasts as long as a client listens (a WebSocket, a stream of events), or of one that lasts long,
	// followed by a space and its route. Number is the length in ns from which requests may count as such, 0 where the library says that the
	// request waits for messages. Requests and their awaits are in different files.
	FactStream      = "request.stream"
	FactLongRequest = "request.long"

	// Where calls of a dependency begin: Value is its name and, behind a [Link], the program's method with most of the calls;
	// Number is their number.
	FactCalledFrom = "called.from"

	// FactCalledRoute is the route of a dependency with most of the time of its calls: the dependency's name, Link, the
	// route. Number is the part of the time.
	FactCalledRoute = "called.route"

	FactExpectedRate = "expected.rate" // requests/s that were agreed on (--expect-rate)
	FactBaselineRate = "baseline.rate" // requests/s while the service was healthy
	FactBaselineP50  = "baseline.p50"  // ns that requests took then
	FactBaselineP99  = "baseline.p99"  // ns, likewise

	// The share of an access log's requests that the same caller had sent with the same query within some seconds before;
	// Value is the number of seconds.
	FactRepeated = "requests.repeated"

	// Facts from a dependency's own monitor over all calls of a time, ns and plain numbers.
	FactDependencyMean  = "dependency.mean"
	FactDependencyMax   = "dependency.max" // the slowest call, or the highest mean of one reading: Value says which
	FactDependencyCalls = "dependency.calls"

	// Facts of a service with a pool of worker processes, each of which serves one request at a time (PHP-FPM). Value is the
	// pool's name, or begins with it and a [Link].
	FactWorkersMost     = "workers.most"               // how many it may have
	FactWorkersSetting  = "workers.setting"            // likewise; behind the link what sets it, and where
	FactWorkersReached  = "workers.reached"            // times it was found to have as many
	FactWorkersNoneIdle = "workers.none-idle"          // times that none of a pool's workers was idle; Value is the pool
	FactWorkersLogSpan  = "workers.log-span"           // ns from the first to the last line of the log that tells of them; 0 where it is one moment
	FactQuotaPeriods    = "cgroup.cpu.periods.total"   // periods of a CPU quota since its group was created, where its counters were read once
	FactQuotaThrottled  = "cgroup.cpu.throttled.total" // of these, in which it was stopped
	FactQuotaStopped    = "cgroup.cpu.throttled.time"  // ns for which it was stopped in these together
	FactPoolTimedOut    = "pool.timed_out"             // requests that waited for a place of a pool in vain, of any kind of pool
	FactPoolTimeout     = "pool.timeout"               // ns that one of these waited, at most
	FactListens         = "workers.listens"            // behind the link where its clients connect: "unix:/run/php.sock", "127.0.0.1:9000"; of what keeps no workers, too

	// Cost of a route's requests as the service counts it: Value is the route.
	FactRequestCPU    = "request.cpu"    // ns of CPU time, in the mean
	FactRequestMemory = "request.memory" // bytes, at most

	FactSpansSampled = "spans.sampled" // the share of requests that tracing kept, 0…1; NaN: less than all, by an unknown amount

	FactGoModule = "go.module" // the main module of a Go program: "example.com/gateway v1.4.0"

	FactCPUSamples = "trace.cpuSamples" // profile samples (100 Hz of processor time) in the trace
)

// FactFailedStatus is the status of HTTP that most failed requests of an artifact were answered with; Number is of how many.
const FactFailedStatus = "requests.failedStatus"

// FactRequestsAwait is the number of recorded awaits that belong to requests rather than to background work.
const FactRequestsAwait = "requests.await"

// FactAnswerWrites is a route whose answers are small and sent in several writes; Number is how many, the median.
const FactAnswerWrites = "answer.writes"

// FactThreadName is the name of a thread of a process; Number is the thread.
const FactThreadName = "thread.name"

// SampleWork is the type of samples of what goroutines ran on processors, from an execution trace with a concurrent CPU profile: with
// their time and lane, in ns.
const SampleWork = "work"

// SampleSyscall is the type of samples of what one thread did in the kernel at a moment: the system call that it waited in and the call's
// object (/proc/PID/task/TID/syscall), or that it ran.
const SampleSyscall = "syscall"

// SampleInterpreted is the type of samples of the functions of its language that one thread is in, where the kernel sees only those of an interpreter:
// what looks after each other saw alike. The value is the time (ns) from the first of them, which is the sample's, to the last. The class is one of
// Interpreter…, or none where it is not told what the thread did.
const SampleInterpreted = "interpreted"

// Classes of those samples.
const (
	InterpreterHeld = "runs in the interpreter" // or keeps others from running there
	InterpreterLeft = "outside the interpreter" // it waits, or runs native code beside others
)

// FactInterpreterFile is the name of the file that has an interpreter's own functions.
const FactInterpreterFile = "interpreter.file"

// SampleThread is the type of samples of the stack of one thread at one moment.
const SampleThread = "thread"

// SampleThreadCPU is the type of samples of the CPU time (ns) that one thread had used since it began, up to a moment.
const SampleThreadCPU = "thread CPU"

// SampleFlight is the type of samples of what one thread did at a moment, derived from the waits and samples in a flight recording;
// threads without a record at that moment have no sample.
const SampleFlight = "flight"

// Types of samples that a runtime's own sampler and events give, summed by stack and class.
const (
	SampleStacks    = "stacks"      // what a flame graph is drawn of: counts of whole stacks, of which neither clock nor process is known
	SampleRunning   = "running"     // where threads of the program ran, in ns that each sample stands for
	SampleThrown    = "thrown"      // exceptions, by their class
	SampleOldObject = "old objects" // some of those that are still alive at the end, by class, where they were allocated
)

// SampleSlowRequest is the type of samples of where a request was in the program once it had exceeded a configured bound; values are
// counts.
const SampleSlowRequest = "slow request"

// Types of samples of where a process's threads are in the kernel and the program, with the stack
// of both, innermost first; the file of a frame of the kernel is KernelFile. Values are ns, the
// class is one of Kernel….
const (
	SampleOnCPU  = "on-cpu"  // CPU time, by a clock of the kernel
	SampleOffCPU = "off-cpu" // time of waiting, for a CPU included where a thread lost it to others
)

// KernelFile is what stands for the file of a function of the kernel.
const KernelFile = "[kernel]"

// What the kernel did for a thread, or kept it waiting for: classes of those samples, and causes of
// intervals of kind InKernel.
const (
	KernelCompaction  = "memory compaction"           // direct: moved pages about until there was a large one
	KernelReclaim     = "direct reclaim"              // took memory from others, or from itself, until there was some
	KernelSwapIn      = "swap in"                     // read back memory that was swapped out
	KernelSoftirq     = "softirq"                     // interrupted, or on its way out of a call, for the network's and others' work
	KernelInterrupt   = "interrupt"                   // interrupted by a device
	KernelFsync       = "fsync"                       // fsync, fdatasync, sync, msync, and writes that are to be on the disk
	KernelThrottled   = "write throttling"            // wrote more than the disks take
	KernelDiskFault   = "page fault from disk"        // touched memory whose content is in a file
	KernelPageFault   = "page fault"                  // touched memory it had not got yet
	KernelNUMA        = "NUMA balancing"              // touched memory it has, of which the kernel wants to know from which node
	KernelFutex       = "futex"                       // a lock or condition of the program
	KernelMapping     = "memory mapping"              // mmap, munmap, madvise and similar
	KernelThreads     = "starting and ending threads" // made them, or gave back what they had
	KernelFork        = "fork"                        // made a process or thread
	KernelDisk        = "block I/O"                   // a disk, in another way
	KernelSend        = "socket send"
	KernelReceive     = "socket receive"
	KernelAccept      = "socket accept"
	KernelPipe        = "pipe"
	KernelPoll        = "poll" // poll, select, epoll
	KernelSleep       = "sleep"
	KernelFileLock    = "file lock"
	KernelChild       = "child process" // waited for one to end
	KernelFiles       = "file"          // a call on a file that no other of these explains
	KernelOther       = "system call"   // another
	KernelPreempted   = "waiting for a CPU"
	KernelUnexplained = "kernel" // in the kernel, for no reason that is known here
)

// Types of samples of what requests await while they hold no thread, in ns of waiting, each with the
// stack of the method that awaits and, as its class, what: a place that lets only so many on,
// a timer, a socket, the client that takes the answer, others.
const (
	SampleAwaitPool   = "await.pool"
	SampleAwaitTimer  = "await.timer"
	SampleAwaitSocket = "await.socket"
	SampleAwaitClient = "await.client"
	SampleAwaitOther  = "await.other"
)

// MomentsSeries is what a recorder calls the series of artifacts that hold moments, beside one
// that goes on all the time.
const MomentsSeries = "threads"

// Types of samples of memory. Each has the stack that allocated, the class is the type of object
// ("System.Byte[]"); values are bytes, those of Objects counts. .NET tells of one small allocation in
// 100 KiB and of every large one over 100 KiB: bytes are extrapolated, counts of large ones exact but
// for the smallest.
const (
	SampleAllocated      = "alloc_space"         // all, large ones among them
	SampleLargeAllocated = "large_alloc_space"   // on the large object heap
	SampleLargeObjects   = "large_alloc_objects" // of them, how many
	SampleGen2Deaths     = "gen2_dead_space"     // died in generation 2 or the large object heap: lived too long to be cheap
	SampleLive           = "inuse_space"         // on the heap when it was walked; without stacks
	SampleLiveObjects    = "inuse_objects"       // of them, how many
)

// AwaitKinds are the states of who awaits, by those types.
var AwaitKinds = map[string]Kind{
	SampleAwaitPool:   PoolWait,
	SampleAwaitTimer:  SleepWait,
	SampleAwaitSocket: NetWait,
	SampleAwaitClient: ClientWait,
	SampleAwaitOther:  SyncWait,
}

// ConnectionsFor begins the name of a client's pool of connections; that of the calls it is for
// follows.
const ConnectionsFor = "connections for "

// Classes of CPU samples that are a collector's: what the work was for. All of them begin
// with ClassGC, marking beside the program with ClassGCMark.
const (
	ClassGC       = "gc "
	ClassGCMark   = "gc background mark"
	ClassGCAssist = "gc assist" // marking that goroutines of the program had to do
)

// Names of what can be covered.
const (
	CoverRequests    = "requests"
	CoverStates      = "goroutine states"
	CoverGC          = "gc cycles"
	CoverCPUProfile  = "cpu profile"
	CoverGoroutines  = "goroutines"
	CoverLocks       = "lock profile"
	CoverHeap        = "heap profile"
	CoverHostCPU     = "host cpu"
	CoverFaults      = "page faults"
	CoverThrottling  = "cpu throttling"
	CoverThreads     = "thread stacks"
	CoverSyscalls    = "system calls"       // which of them threads waited in, looked at now and then
	CoverInterpreter = "interpreter stacks" // the functions of their language that threads are in, looked at now and then
	CoverFlight      = "flight looks"       // waits and samples of a flight recording, as looks at threads
	CoverRunning     = "running samples"    // of threads that ran, by the runtime's own sampler
	CoverPinned      = "pinned threads"     // virtual threads that kept their carrier while they waited
	CoverOnCPU       = "running stacks"     // of all threads, by the kernel's clock of CPU time
	CoverOffCPU      = "waiting stacks"     // of all threads
	CoverAwaits      = "awaits"             // of each request, while it held no thread
	CoverThreadPool  = "thread pool"        // its size and queue over time
	CoverWaits       = "lock waits"         // contended locks of each thread
	CoverSafepoints  = "safepoints"         // every stop of the world, not the collector's alone
	CoverStalls      = "allocation stalls"
	CoverSpans       = "spans"       // calls to dependencies within requests
	CoverExchanges   = "exchanges"   // requests and calls on its TCP connections, as the kernel sees them
	CoverPool        = "pool gauges" // a connection pool's use over time
	CoverClasses     = "class histogram"
	CoverAllocation  = "allocations"        // who allocates: types and stacks, sampled
	CoverLargeWaits  = "large object waits" // threads that wait to allocate large objects while generation 2 is collected in the background
	CoverDeaths      = "object survival"    // which objects survive collections
)

// What a pool of threads told at the moment in which a client of it gave up waiting (StackExchange.Redis), and what tools of Redis measured.
const (
	FactGCCPUFraction    = "GCCPUFraction"                // share of the available CPU time that Go's GC had since the start, 0…1
	FactPoolBusy         = "dotnet.threadpool.busy"       // worker threads that had work
	FactPoolIOBusy       = "dotnet.threadpool.io.busy"    // threads for completed I/O that had work
	FactPoolIOMinimum    = "dotnet.threadpool.io.minimum" // of these, created without delay
	FactRedisTimeouts    = "redis.client.timeouts"        // answers that did not come in time, as the client tells; Value is one of the commands
	FactRedisPing        = "redis.ping.longest"           // ns a PING took at most, by redis-cli
	FactIntrinsicLatency = "host.intrinsicLatency"        // ns the host kept a program that only counts from running at most
)

// SeriesGoGoroutines is how many goroutines there are, by the name of runtime/metrics.
const SeriesGoGoroutines = "/sched/goroutines:goroutines"

// What a database's own log tells of it, as a dependency.
const (
	FactStatementsSlow  = "database.statements.slow"  // statements that took longer than its log's bound
	FactStatementMost   = "database.statement.most"   // ns of the slowest; Value is it without its literals
	FactLockWaitMost    = "database.lockwait.most"    // ns a statement waited for a lock, at most
	FactLockWaits       = "database.lockwaits"        // waits for locks it tells of
	FactTableLockWaits  = "database.lockwaits.table"  // of these at one look, statements that wait for the lock of a whole table
	FactCheckpointMost  = "database.checkpoint.most"  // ns the longest checkpoint took
	FactCheckpointSync  = "database.checkpoint.sync"  // ns the longest sync of one file took in a checkpoint
	FactCheckpointSyncs = "database.checkpoint.syncs" // checkpoints in which the sync of a file took 2 s or more
)

// What a debugger, the kernel and Kubernetes tell of a program or a host at one moment, and what was counted since a JVM began.
const (
	FactNestedWait      = "jvm.wait.nested"         // threads of a dump that wait to be notified, without end, while they hold other monitors; of the first its name, what it waits in, and what it holds
	FactCacheCrowd      = "cache.crowd"             // most that missed a value and made it before the first had kept it, by a program's log; Value is the key
	FactCacheCrowds     = "cache.crowds"            // times that several did
	FactCacheMade       = "cache.made"              // ns it took to make it at most
	FactProfileLocks    = "profile.locks"           // part of the samples of a CPU profile in which a runtime enters monitors that others have
	FactPinnedCarriers  = "jvm.pinned.carriers"     // carriers of virtual threads that a JVM said are kept by one that waits; Value is the function that keeps most of them
	FactPinnedStacks    = "jvm.pinned.stacks"       // different stacks of those that kept them
	FactFullCollections = "jvm.full.count"          // full collections since the JVM began
	FactFullMean        = "jvm.full.mean"           // ns of one of these, in the mean
	FactYoungCollected  = "jvm.young.count"         // young collections since the JVM began
	FactPermanentFull   = "jvm.permanent.full"      // part of the permanent generation (before JDK 8) in use, where it is full and the old generation is not
	FactPauseMost       = "jvm.pause.longest"       // ns, by a program's own metrics: of the last minutes
	FactGen2Most        = "dotnet.gen2.longest"     // ns a gen 2 collection stopped the program at most, by PerfView's rollup
	FactGen2Count       = "dotnet.gen2.count"       // of these, without those the program asked for
	FactMonitorWaits    = "jvm.monitor.waits"       // waits for locks that a flight recording's text tells of; Value is the class of the lock with most
	FactMonitorWaitMost = "jvm.monitor.longest"     // ns of the longest of these; Value is the lock's class and, behind a [Link], the code that waits
	FactMonitorWaiting  = "dotnet.monitor.waiting"  // threads that wait for the monitor most of them wait for; Value is the type of its object
	FactMonitorsWaiting = "dotnet.monitors.waiting" // threads that wait for monitors of several holders, at one moment; the text is how many holders
	FactKernelSaid      = "kernel.said"             // times the kernel logged something; Value is what, see package kernellog
	FactRestarts        = "container.restarts"      // of a container of a pod
	FactLastExit        = "container.lastExit"      // Value is why its container ended the last time, as Kubernetes calls it; Number its code
)

// What FactKernelSaid says of tasks that hang, by their stacks.
const (
	KernelSaidHungSync    = "hung-task-sync"    // they wait until data is on the disk
	KernelSaidHungReclaim = "hung-task-reclaim" // they free memory, or wait for it
	KernelSaidHungDisk    = "hung-task-disk"    // they wait for a disk otherwise
)

// Phases of a request, as its client tells them.
const (
	PhaseLookup    = "looking up the name"
	PhaseConnect   = "connecting"
	PhaseHandshake = "the TLS handshake"
	PhaseAnswer    = "waiting for the answer"
	PhaseTransfer  = "transferring the answer"
)

// What a function of a [FactWallProfile] does.
const (
	WallNetwork = "waits for the network"
	WallSleep   = "sleeps"
	WallRun     = "runs"
	WallOther   = "waits for something else"
)

// What servers write into their own logs, package serverlog: of the server, or of what it calls.
const (
	FactPlacesUsedUp           = "places.usedUp"                    // lines that say that all places of a kind were in use; Value is what there was too little of, behind the link what sets it
	FactPlaces                 = "places.limit"                     // how many there are
	FactCallsUnanswered        = "calls.unanswered.all"             // calls that got no answer within the time they may take
	FactCallsUnansweredDense   = "calls.unanswered.dense"           // of these, within one minute, at most
	FactCallsUnansweredMost    = "calls.unanswered.most"            // ns that one of these took, at most
	FactQueuedLong             = "queued.long"                      // requests of a short log of a proxy that waited a second or more for a place at an upstream, which is Value
	FactQueuedLongMost         = "queued.long.most"                 // ns that one of these waited, at most
	FactPhaseMost              = "request.phase.longest"            // ns of the longest phase of a request, by its client; Value is the phase (PhaseLookup, …)
	FactPhaseOf                = "request.phase.of"                 // ns of the whole of that request
	FactLookupsUnanswered      = "lookups.unanswered"               // times that a program waited in vain for the answer of a name server, until it asked again
	FactLookupUnansweredMost   = "lookups.unanswered.longest"       // ns of the longest
	FactTasksAwaitFiles        = "tasks.awaitFileServer"            // tasks that wait in the kernel for the answer of a file server (NFS), or of a program that serves files (FUSE), at one look; Value is the call
	FactTasksWait              = "tasks.wait: "                     // and a mechanism of the kernel (KernelReclaim, …): tasks that wait for it at one look and cannot be interrupted; Value is the function most wait in
	FactTasksAsleep            = "tasks.uninterruptible"            // all tasks that wait so at that look, without threads of the kernel that work in the background
	FactDiskMean               = "disk.request.mean"                // ns that a request of a disk took, in the mean, by a listing of all; Value is the disk
	FactDiskRequests           = "disk.requests"                    // requests of that listing
	FactOpsStuck               = "operations.stuck"                 // operations that a storage has not done for so long that it tells of them
	FactOpsStuckMost           = "operations.stuck.longest"         // ns for which the oldest of them has waited, at least
	FactOwnLong                = "requests.ownWork"                 // requests of a second and more whose server tells that most of their time was its own work; Value is what it did
	FactOwnLongMost            = "requests.ownWork.longest"         // ns of the longest of them
	FactOwnLongPart            = "requests.ownWork.part"            // part of the time of all of them
	FactConnectingMost         = "connecting.longest"               // ns for which a pool with free places has been making a connection, at most; Value is the kind of pool
	FactSlowAwait              = "slowLog.awaitNetwork"             // requests that a server found to take too long in a call that waits for the network, at the place where most were; Value is where
	FactSlowLocked             = "slowLog.awaitLock"                // requests that it found to take too long while they waited for a lock or their session, at the place where most were; Value is where
	FactSlowSeen               = "slowLog.seen"                     // requests that it found to take too long, with the place where they were
	FactSlowMost               = "slowLog.longest"                  // ns of the longest of those that waited at that place, as far as it is told; Value is where
	FactWorkersBlocked         = "workers.blocked"                  // times that a worker was ended which did nothing else for longer than it may
	FactWorkersBlockedTogether = "workers.blocked.together"         // different workers of which that is told within two seconds, at most
	FactSyncsSlow              = "sync.slow"                        // times that data took so long to be on the disk that a program told of it; Value is what data
	FactSyncMost               = "sync.longest"                     // ns it took at most
	FactSyncMedian             = "sync.median"                      // ns of a sync, in the median
	FactSyncTail               = "sync.tail"                        // ns that one sync of a hundred takes at least
	FactSyncs                  = "sync.count"                       // syncs that were counted
	FactSyncsShare             = "sync.share"                       // part of the time of the watched thread with most of them that it waited for syncs; Value is how many
	FactProfileMechanism       = "profile.kernel: "                 // and a mechanism of the kernel (KernelReclaim, …): its part of a CPU profile of which shares alone are known, 0…1
	FactMemoryStrain           = "memory.full10"                    // share of ten seconds in which all tasks of a group waited for memory, at a single look; Value is the group with most
	FactRereadAtLimit          = "memory.reread"                    // what a container read from disks while it was near its memory limit, in times of that limit; Value is the container
	FactKernelThread           = "kernel.thread: "                  // and how the name of a thread of the kernel begins ("kswapd"): CPUs that the busiest of them uses; Value is its name
	FactGoDeadlock             = "goroutines.deadlock"              // goroutines of a Go program that its runtime ended because all of them waited; Value is the state of most and, behind a [Link], where they are
	FactWallProfile            = "profile.wall"                     // part of the time of a profile, waits included, in the function with most; Value is what it does and, behind a [Link], its name
	FactWallProfileTime        = "profile.wall.time"                // ns that this profile is of
	FactThreadsHot             = "threads.hot"                      // threads that used a whole CPU each, and were in one function in every sample; Value is it
	FactThreadsLocked          = "threads.locked"                   // threads that wait for a mutex, at one look; Value is the code that does for most of them
	FactThreadsSeen            = "threads.seen"                     // threads of that look
	FactReadyDelay             = "sched.delay"                      // ns that threads of a program waited for a CPU each time, on average, of the program with the longest; Value is it
	FactReadyDelayMost         = "sched.delay.longest"              // ns of the longest of these waits
	FactReadyDelays            = "sched.delays"                     // waits that are counted
	FactReadyDelayTenth        = "sched.delay.tenth"                // ns that the longest tenth of the waits of all tasks took at least
	FactGoSchedLooks           = "go.sched.looks"                   // lines of Go's scheduler (schedtrace)
	FactGoReady                = "go.sched.ready"                   // goroutines that were ready and waited for a P, on average
	FactGoBusy                 = "go.sched.busy"                    // share of the Ps that were not idle, on average
	FactStatementsInTurn       = "statements.inTurn"                // statements of one shape that a program logged one after the other, at most; Value is it without its literals, "" if all of a session are meant
	FactStatementsInTurnTime   = "statements.inTurn.time"           // ns of all of them; Value likewise
	FactHeartbeatsLate         = "dotnet.heartbeat.late"            // times that a server told of work that no thread of the pool ran in time; Value is what, as "Kestrel heartbeat"
	FactHeartbeatMost          = "dotnet.heartbeat.longest"         // ns of one of these, at most
	FactLoopBlocked            = "threads.loopStands"               // threads that are to run an event loop and wait in a call that blocks, at one look; Value is where
	FactWritesRefused          = "redis.refused"                    // commands that Redis refused for lack of memory, by the answers that a program logged
	FactLoopHeld               = "loop.held"                        // times that work held an event loop for so long that the program told of it; Value is the code that did for longest
	FactLoopHeldMost           = "loop.held.longest"                // ns of the longest of these; Value likewise
	FactLoopHeldShare          = "loop.held.share"                  // share of the time between the first and the last
	FactLoopCollections        = "loop.collections"                 // collections on the thread of an event loop that were logged
	FactLoopCollectionMost     = "loop.collections.longest"         // ns of the longest of these
	FactLoopCollected          = "loop.collected"                   // share of the time in which such collections stopped the loop
	FactLoopCollectedOver      = "loop.collected.over"              // ns of that time
	FactThreadsBusy            = "threads.busy"                     // threads that do not wait for work, at one look
	FactThreadsAwait           = "threads.awaitNetwork"             // of these, those that wait for an answer of the network at the place where most do; Value is where
	FactConntrackCount         = "net.netfilter.nf_conntrack_count" // connections in the kernel's table, as sysctl names it
	FactConntrackMost          = "net.netfilter.nf_conntrack_max"   // places in that table
	FactConntrackMostOld       = "net.nf_conntrack_max"             // the same by its other name
	FactLockTimeouts           = "database.lockTimeouts"            // statements that gave up waiting for a lock
	FactDeadlocks              = "database.deadlocks"               // transactions that a database ended, as they waited for each other
)
