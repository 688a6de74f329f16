package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Mechanism is what a request's time went into. The list is closed: reports and readers of the JSON form know every
// mechanism.
type Mechanism uint8

// The mechanisms, in order of precedence: where two explain the same time, the earlier one takes it.
const (
	GeneratorLag    Mechanism = iota // the load generator sent the request late
	Queued                           // before the process began with the request
	StopTheWorld                     // the runtime stopped every lane
	MarkAssist                       // the request did the collector's work, or waited until the collector let it go on
	AllocationStall                  // blocked until the collector had freed memory
	CollectorCPU                     // ready, while the collector held the processors
	RequestsCPU                      // ready, while other requests of the service held them
	BackgroundCPU                    // ready, while other work of the process held them
	Wakeup                           // ready, while a processor was free
	PoolThread                       // ready, while the runtime's pool had no thread for the request
	HostCPU                          // on a processor as the runtime saw it, but the host did not run it
	Lock
	TaskWait // kept a thread of the pool until a task completed
	Pool
	Dependency
	Delivery  // served, but its client had no answer yet
	Client    // the client's own pace: sending its body, reading the answer
	Awaiting  // held no thread: an await that cannot be followed
	Goroutine // a wait for another lane that cannot be followed
	Timer     // a delay that the request asked for
	Kernel    // in system calls
	Own       // running its own code
	Recorder  // the recorder held the process, and nothing else is known
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
	{"pool_thread", "waiting for a free thread"},
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

// TitleOf returns the mechanism in words for requests that run on lanes of a name: "goroutine", "thread"; "" is unknown.
func (m Mechanism) TitleOf(lanes string) string {
	if m == Goroutine && lanes != "" {
		return "waiting for another " + lanes
	}
	return m.Title()
}

// InKernel replaces the title of [Kernel] where no call of the program asked for the kernel's work.
const InKernel = "in the kernel"

// uncalled lists kernel work that no call of the program asks for: page faults, and reclaiming memory.
var uncalled = []string{evidence.KernelPageFault, evidence.KernelDiskFault, evidence.KernelNUMA, evidence.KernelReclaim, evidence.KernelCompaction}

// TitleAt is [Mechanism.TitleOf] for one cause: not all kernel work is a call of the program.
func (m Mechanism) TitleAt(lanes string, what evidence.Wait) string {
	if m == Kernel && slices.Contains(uncalled, cmp.Or(what.Call, what.Class)) {
		return InKernel
	}
	return m.TitleOf(lanes)
}

// Named reports whether what a request waited for has a name, which is the cause of the state: a lock, a pool, a
// dependency, a system call, the queue before the service.
func (m Mechanism) Named() bool {
	return m == Queued || m == Lock || m == TaskWait || m == Pool || m == Dependency || m == Kernel
}

// Charges is the time (ns) of one or more requests by mechanism.
type Charges [NumMechanisms]int64

// Sum returns the time that was charged.
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

// held maps the holder of the processors to the mechanism that waiting for them is charged to.
var held = [evidence.NumHolders]Mechanism{
	evidence.HeldByCollector:  CollectorCPU,
	evidence.HeldByIdleMark:   CollectorCPU,
	evidence.HeldByRequests:   RequestsCPU,
	evidence.HeldByBackground: BackgroundCPU,
	evidence.HeldByRuntime:    BackgroundCPU,
	evidence.HeldByStop:       StopTheWorld,
	evidence.HeldByNobody:     Wakeup,
	evidence.HeldByOthers:     HostCPU,
}

// states maps states to mechanisms, except Runnable, LockWait and PoolWait, which depend on their holder. A state that
// is not listed is unexplained.
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
			m = MarkAssist // the holder worked for the collector during the wait
		case evidence.Paused:
			m = StopTheWorld
		}
		c[m] = s.Dur
	default:
		c[states[s.Kind]] = s.Dur
	}
}
