package evidence

// Kind is what a lane (a thread or goroutine), or the whole process, was doing. It is observed; the ledger decides what it means for a
// request.
type Kind uint8

// States of one lane.
const (
	KindUnknown   Kind = iota
	Running            // held a processor and ran the program's own code
	Runnable           // ready, waiting for a processor
	Syscall            // in a system call
	NetWait            // waiting for the network: a dependency's answer
	ClientWait         // waiting for the client: its request body, or its reading of the response
	LockWait           // waiting for a mutex
	PoolWait           // waiting for a limited resource that others return: connection pool, semaphore
	SyncWait           // waiting for another lane: channel, select, wait group, condition
	SleepWait          // a timer that it asked for
	GCAssist           // running, but marking on behalf of the collector to pay for an allocation
	GCAssistWait       // blocked in an assist until a worker leaves enough credit
	GCSweep            // running, but sweeping to pay for an allocation
	GCWait             // blocked by the collector in another way (such as waiting for a phase to end)
	AllocStall         // blocked until the collector has freed memory: ZGC's allocation stall, Shenandoah's pacing
	Paused             // stopped with the world
	TaskWait           // blocking its thread until a task completes: .Result, Wait(), a future's get()
	Awaiting           // holding no thread: a pending await
	ThreadWait         // ready, queued for a thread of the runtime's pool
	Idle               // a pool's thread without work
	Unobserved         // the lane's state is not in the evidence
	SentLate           // the load generator had not sent it yet, not through the service's fault
	BeforeService      // sent, and the service had not seen it yet: on the way, in a proxy or a queue of connections; Cause names the queue
	AfterService       // served, and its client had no answer yet

	// Kinds that concern a whole process.
	StopTheWorld // AllLanes; Cause is the reason
	GCCycle      // start of a cycle to its mark termination
	GCMark       // the concurrent mark phase
	GCConcurrent // a phase of the collector that ran beside the program; Cause names it
	Safepoint    // AllLanes, from the request to stop until all run again, including any pause within; Cause is the operation
	PoolAdjusted // a moment: the runtime changed the number of its pool's threads (PoolThreads); Cause is the reason
	RecorderHold // AllLanes: a recorder held the process, or parts of it; Cause is the reason

	Pinned // one lane: it waited and kept the OS thread that it ran on, which others wait for; Cause is the reason, if known

	InKernel // one lane: the kernel did work for it, or kept it waiting; Cause is one of Kernel…

	// Kinds of a server that does one thing at a time for all its clients (AllLanes).
	Command     // it ran a command; Cause is the command: "KEYS"
	ServerStall // it did something else, or several commands, and answered no client; Cause is its event: "fork"

	// Relations.
	Serves // Lane works for Request during the interval
	Call   // Request waited for an answer of Cause during the interval, by the caller's clock; calls may overlap

	numKinds
)

var kindNames = [numKinds]string{
	"unknown", "running", "runnable", "syscall", "network wait", "client wait", "lock wait", "pool wait", "sync wait", "sleep",
	"mark assist", "assist wait", "sweep", "gc wait", "allocation stall", "paused", "task wait", "awaiting", "thread wait", "idle", "unobserved", "sent late", "before the service", "on the way back",
	"stop-the-world", "gc cycle", "gc mark", "concurrent phase", "safepoint", "pool adjusted", "held by the recorder", "pinned", "in the kernel",
	"command", "server stall",
	"serves", "call",
}

func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "unknown"
}

// Waits reports whether a lane in that state waits for something outside of itself.
func (k Kind) Waits() bool {
	switch k {
	case NetWait, ClientWait, LockWait, PoolWait, SyncWait, SleepWait, TaskWait:
		return true
	}
	return false
}

// Queues reports whether a lane in that state waits until earlier ones have had their turn.
func (k Kind) Queues() bool { return k == LockWait || k == PoolWait }

// Holder is what held the processors while a lane waited for one.
type Holder uint8

// Holders. A goroutine is runnable because the processors are busy with something else, and that decides what its waiting is charged to.
const (
	HeldByCollector  Holder = iota // dedicated and fractional mark workers
	HeldByIdleMark                 // mark workers on otherwise idle processors, which give way within ~0.1 ms
	HeldByRequests                 // other requests of this service, and helpers that work for them
	HeldByBackground               // goroutines of the process that serve no request
	HeldByRuntime                  // the runtime's own goroutines: sweeper, scavenger, finalizers, tracer
	HeldByStop                     // the world was stopped
	HeldByNobody                   // a processor was idle: the time to wake a thread, or a host that does not run it
	HeldByOthers                   // other programs of the host
	NumHolders
)

var holderNames = [NumHolders]string{"collector", "idle mark", "requests", "background", "runtime", "stop-the-world", "nobody", "others"}

func (h Holder) String() string {
	if h < NumHolders {
		return holderNames[h]
	}
	return "unknown"
}

// Shares splits a duration (ns) by who held the processors; the sum is the
// duration.
type Shares [NumHolders]int64

// Sum returns the duration that was split.
func (s *Shares) Sum() (sum int64) {
	for _, v := range s {
		sum += v
	}
	return sum
}
