package linux

import (
	"context"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// alarm wakes a goroutine dozens of times a second. Timers of the Go runtime wake two more of its threads each time, which took more
// CPU time than the looks. A timer of the kernel (timerfd_create(2)) that is waited for like a socket wakes one. For the same reason
// the timer and the examined files are read by raw system calls: they do not block, and the runtime's monitor does not see them.
type alarm struct {
	f    *os.File // nil: the kernel has no such timer
	conn syscall.RawConn
}

func newAlarm() *alarm {
	fd, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return &alarm{}
	}
	f := os.NewFile(fd, "timerfd")
	conn, err := f.SyscallConn()
	if err != nil {
		_ = f.Close()
		return &alarm{}
	}
	return &alarm{f, conn}
}

const clockMonotonic = 1

func (a *alarm) close() {
	if a.f != nil {
		_ = a.f.Close()
	}
}

// wait waits for a time, or until the context has ended; then it returns false.
func (a *alarm) wait(ctx context.Context, d time.Duration) bool {
	if a.f == nil || a.setTimer(max(d, 1)) != nil {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d):
			return true
		}
	}
	err := a.conn.Read(func(fd uintptr) bool {
		var times uint64
		_, err := rawRead(int(fd), (*[8]byte)(unsafe.Pointer(&times))[:])
		return err != syscall.EAGAIN
	})
	return err == nil && ctx.Err() == nil
}

func (a *alarm) setTimer(d time.Duration) (err error) {
	when := [2]syscall.Timespec{1: syscall.NsecToTimespec(int64(d))} // without repetition
	e := a.conn.Control(func(fd uintptr) {
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&when)), 0, 0, 0); errno != 0 {
			err = errno
		}
	})
	if e != nil {
		return e
	}
	return err
}

// rawRead is read(2) for a descriptor that does not block.
func rawRead(fd int, room []byte) (int, error) {
	return rawCall(syscall.SYS_READ, fd, room)
}

// rawPread is pread(2) from the beginning of a file that does not block, such as one of /proc.
func rawPread(fd int, room []byte) (int, error) {
	return rawCall(syscall.SYS_PREAD64, fd, room)
}

func rawCall(call uintptr, fd int, room []byte) (int, error) {
	if len(room) == 0 {
		return 0, io.ErrShortBuffer
	}
	for {
		n, _, errno := syscall.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(&room[0])), uintptr(len(room)), 0, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
