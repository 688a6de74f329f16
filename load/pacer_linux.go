package load

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pacer sleeps in the kernel on a thread of its own: the runtime's timers end up
// to a millisecond late in an otherwise idle program, the kernel's 50 µs after
// what they are set to unless told otherwise (prctl(2), PR_SET_TIMERSLACK).
type pacer struct{}

// spare lets the pacer go on when it wakes while the runtime's other threads
// hold all of its processors and are themselves waiting for one of the host's.
var spare = sync.OnceFunc(func() { runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2) })

// newPacer makes the calling goroutine's thread the pacer's, for the rest of the
// goroutine's life. What the kernel refuses stays as it is.
func newPacer() pacer {
	spare()
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	// A short slice lets a thread that sleeps most of the time run soon after it
	// wakes, at the cost of being preempted more often (sched_setattr(2); honoured
	// for ordinary threads since Linux 6.12, docs.kernel.org/scheduler/sched-eevdf).
	attr := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Runtime: uint64(100 * time.Microsecond)}
	_ = unix.SchedSetAttr(0, attr, 0)
	// Allowed to root only, who often is the one in a container.
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -10)
	return pacer{}
}

func (pacer) sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // a signal ends it early: the caller looks at the clock
}
