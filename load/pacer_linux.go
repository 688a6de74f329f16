package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// pacer sleeps in the kernel on a thread of its own: the runtime's timers end up
// to a millisecond late in an otherwise idle program, the kernel's 50 µs after
// what they are set to unless told otherwise (prctl(2), PR_SET_TIMERSLACK).
type pacer struct{}

func newPacer() pacer {
	runtime.LockOSThread()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // on failure: the 50 µs stay
	return pacer{}
}

func (pacer) sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&t, nil) // a signal ends it early: the caller looks at the clock
}

func (pacer) close() {
	unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0)
	runtime.UnlockOSThread()
}
