package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Mechanism is what a request's time went into. The list is closed: reports
// and readers of the JSON form know all of them.
type Mechanism uint8

// The mechanisms, in order of precedence: an earlier one takes the time that
// both would explain.
const (
	GeneratorLag    Mechanism = iota // the load generator sent it late
	Queued                           // before the process began with it
	StopTheWorld                     // the runtime stopped every lane
	MarkAssist                       // the request did the collector's work, or waited until it was let go on
	AllocationStall                  // blocked until the collector had freed memory
	CollectorCPU                     // ready, while the collector held the processors
	RequestsCPU                      // ready, while other requests of the service held them
	BackgroundCPU                    // ready, while other work of the process held them
	Wakeup                           // ready, while a processor was free
	PoolThread                       // ready, while the runtime's pool had no thread for it
	HostCPU                          // on a processor as far as the runtime knew, but not run by the host
	Lock
	TaskWait // kept a thread of the pool until a task completed
	Pool
	Dependency
	Delivery  // served, and its client had no answer yet
	Client    // the client's own pace: its body, its reading
	Awaiting  // held no thread: an await of what cannot be followed
	Goroutine // waits for another lane that cannot be followed
	Timer     // a delay it asked for
	Kernel    // in system calls
	Own       // running its own code
	Recorder  // what recorded the process held it meanwhile, and nothing else is known
	Unobserved
	Unexplained
	NumMechanisms
)

var mechanisms = [NumMechanisms]struct{ id, title string }{
	{"generator_lag", "sent late by the load generator"},
	{"queue", "queued before the service began work"},
	{"stop_the_world", "paused by GC (stop-the-world)"},
	{"mark_assist", "mark assist"},
	{"allocation_stall", "waiting for GC to free memory"},
	{"collector_cpu", "runnable, CPU busy with GC"},
	{"requests_cpu", "runnable, CPU busy with other requests"},
	{"background_cpu", "runnable, CPU busy with background work"},
	{"wakeup", "runnable, a CPU was free (wake-up delay)"},
	{"pool_thread", "waiting for a pool thread"},
	{"host_cpu", "runnable, the host gave no CPU"},
	{"lock", "waiting for a lock"},
	{"task_wait", "blocked on a task"},
	{"pool", "waiting for a pool"},
	{"dependency", "waiting for a dependency"},
	{"delivery", "on the way back to the client"},
	{"client", "waiting for the client"},
	{"awaiting", "awaiting (no thread held)"},
	{"goroutine", "waiting for another goroutine"},
	{"timer", "waiting for a timer (delay or timeout)"},
	{"kernel", "system calls"},
	{"own", "own work"},
	{"recorder", "held by the recorder"},
	{"unobserved", "unobserved"},
	{"unexplained", "unexplained"},
}

// String returns the mechanism's id, as in JSON.
func (m Mechanism) String() string { return mechanisms[m].id }

// Title returns the mechanism in words.
func (m Mechanism) Title() string { return mechanisms[m].title }

// TitleOf returns the mechanism in words, of requests that run on lanes of that
// name: "goroutine", "thread"; "" is not known.
func (m Mechanism) TitleOf(lanes string) string {
	if m == Goroutine && lanes != "" {
		return "waiting for another " + lanes
	}
	return m.Title()
}

// InKernel is what [Kernel] is called where no call of the program asked for it.
const InKernel = "in the kernel"

// uncalled are what the kernel does for which no call of the program asks: page faults, and making room in memory.
var uncalled = []string{evidence.KernelPageFault, evidence.KernelDiskFault, evidence.KernelNUMA, evidence.KernelReclaim, evidence.KernelCompaction}

// TitleAt is [Mechanism.TitleOf] of one thing that it was spent on: not all that the kernel does is a call of the
// program, and an event loop is no pool's thread.
func (m Mechanism) TitleAt(lanes string, what evidence.Wait) string {
	if m == Kernel && slices.Contains(uncalled, cmp.Or(what.Call, what.Class)) {
		return InKernel
	}
	if m == PoolThread && what.Kind == evidence.EventLoop {
		return "waiting for a thread"
	}
	return m.TitleOf(lanes)
}

// Named says whether what a request waited for has a name: a lock, a pool, a
// dependency, a system call, the queue before the service. It is the cause of the state.
func (m Mechanism) Named() bool {
	return m == Queued || m == Lock || m == TaskWait || m == Pool || m == Dependency || m == Kernel
}

// Charges is the time (ns) of one or more requests by mechanism.
type Charges [NumMechanisms]int64

// Sum is the time that was charged.
func (c *Charges) Sum() (sum int64) {
	for _, v := range c {
		sum += v
	}
	return sum
}

// Add adds another's charges.
func (c *Charges) Add(o *Charges) {
	for m, v := range o {
		c[m] += v
	}
}

// held maps who held the processors to what waiting for them is charged to.
var held = [evidence.NumHolders]Mechanism{
	evidence.HeldByCollector:  CollectorCPU,
	evidence.HeldByIdleMark:   CollectorCPU,
	evidence.HeldByRequests:   RequestsCPU,
	evidence.HeldByBackground: BackgroundCPU,
	evidence.HeldByRuntime:    BackgroundCPU,
	evidence.HeldByStop:       StopTheWorld,
	evidence.HeldByNobody:     Wakeup,
}

// states maps every state but Runnable, LockWait and PoolWait, which depend on
// their holder. What is not listed is unexplained.
var states = func() (m [256]Mechanism) {
	for k := range m {
		m[k] = Unexplained
	}
	m[evidence.Running] = Own
	m[evidence.Syscall] = Kernel
	m[evidence.NetWait] = Dependency
	m[evidence.ClientWait] = Client
	m[evidence.BeforeService] = Queued
	m[evidence.AfterService] = Delivery
	m[evidence.TaskWait] = TaskWait
	m[evidence.Awaiting] = Awaiting
	m[evidence.ThreadWait] = PoolThread
	m[evidence.SyncWait] = Goroutine
	m[evidence.SleepWait] = Timer
	m[evidence.GCAssist] = MarkAssist
	m[evidence.GCAssistWait] = MarkAssist
	m[evidence.GCSweep] = MarkAssist
	m[evidence.GCWait] = MarkAssist
	m[evidence.AllocStall] = AllocationStall
	m[evidence.Paused] = StopTheWorld
	m[evidence.Unobserved] = Unobserved
	m[evidence.SentLate] = GeneratorLag
	return m
}()

// chargeSegment replaces c by the charges of one state.
func chargeSegment(s *evidence.Segment, c *Charges) {
	*c = Charges{}
	switch s.Kind {
	case evidence.Runnable:
		if s.Held.Sum() != s.Dur {
			c[Unexplained] = s.Dur
			return
		}
		for h, v := range s.Held {
			c[held[h]] += v
		}
	case evidence.LockWait, evidence.PoolWait:
		m := Lock
		if s.Kind == evidence.PoolWait {
			m = Pool
		}
		switch s.HolderKind {
		case evidence.GCAssist, evidence.GCAssistWait, evidence.GCSweep, evidence.GCWait:
			m = MarkAssist // the holder worked for the collector meanwhile
		case evidence.Paused:
			m = StopTheWorld
		}
		c[m] = s.Dur
	default:
		c[states[s.Kind]] = s.Dur
	}
}
