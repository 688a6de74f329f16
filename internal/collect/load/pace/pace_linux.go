package pace

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Pacer sleeps in the kernel on a thread of its own. The thread wakes 50 µs late unless its timer slack is changed (prctl(2), PR_SET_TIMERSLACK).
type Pacer struct{ event int } // eventfd, < 0 none

// spare lets the pacer continue when it wakes while the runtime's other threads hold all of its processors and themselves wait for one
// of the host's.
var spare = sync.OnceFunc(func() { Spare(2) })

var processors sync.Mutex

// Spare gives the runtime a number of processors more, or takes them back, for threads that keep theirs while they wait in the kernel.
func Spare(n int) {
	processors.Lock()
	defer processors.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}

// New returns a pacer that can be poked. Its thread is that of the caller of Take.
func New() *Pacer {
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		event = -1
	}
	return &Pacer{event}
}

// Take makes the calling goroutine's thread the pacer's, for the rest of the goroutine's life. Settings that the kernel refuses stay unchanged.
func (p *Pacer) Take() {
	spare()
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	// A short slice lets a thread that sleeps most of the time run soon after it
	// wakes, at the cost of being preempted more often (sched_setattr(2); honoured
	// for ordinary threads since Linux 6.12, docs.kernel.org/scheduler/sched-eevdf).
	attr := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Runtime: uint64(100 * time.Microsecond)}
	_ = unix.SchedSetAttr(0, attr, 0)
	// Only root may do this, which a load generator in a container often is.
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -10)
}

// Sleep waits until its time, a poke or a signal. The caller looks at the clock.
func (p *Pacer) Sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(max(d, 0)))
	if p.event < 0 {
		_ = unix.Nanosleep(&t, nil)
		return
	}
	fds := [1]unix.PollFd{{Fd: int32(p.event), Events: unix.POLLIN}}
	if n, _ := unix.Ppoll(fds[:], &t, nil); n > 0 {
		var count [8]byte
		_, _ = unix.Read(p.event, count[:])
	}
}

// Poke ends a Sleep that goes on, or the next one. It is safe for several goroutines.
func (p *Pacer) Poke() {
	if p.event >= 0 {
		_, _ = unix.Write(p.event, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// Close returns the kernel's resources; no method may be called after it.
func (p *Pacer) Close() {
	if p.event >= 0 {
		_ = unix.Close(p.event)
		p.event = -1
	}
}
