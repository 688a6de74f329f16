package calibrate

import (
	"errors"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Each thread of these loads is bound to one kernel thread and waits in calls that the Go runtime does not see
// (RawSyscall). Otherwise the runtime's own threads would wake each other in between and be half of what is
// measured. So GOMAXPROCS has a CPU for each of them, and GC is off.

func silenceRuntime(threads int) {
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(threads + 2)
}

// runOnThreads runs a function on each of a number of locked threads at once, with the thread's
// index.
func runOnThreads(threads int, do func(i int)) {
	silenceRuntime(threads)
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread()
			do(i)
		})
	}
	all.Wait()
}

var sink atomic.Uint64

// squareRoots returns a load that computes square roots on a number of threads; 0 means four for
// each CPU.
func squareRoots(threads int) func(string, func() bool) error {
	return func(_ string, over func() bool) error {
		n := threads
		if n == 0 {
			n = 4 * runtime.NumCPU()
		}
		runOnThreads(n, func(i int) {
			x := float64(i + 2)
			for !over() {
				for range 100_000 {
					x = math.Sqrt(x) + 1
				}
			}
			sink.Add(math.Float64bits(x))
		})
		return nil
	}
}

// createUnlinkedFile creates a file and removes its name, so that it is gone when it is closed.
func createUnlinkedFile(dir, load string) (int, error) {
	name := loadFilePath(dir, load)
	fd, err := syscall.Open(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o600)
	if err == nil {
		_ = os.Remove(name)
	}
	return fd, err
}

func fsyncs(dir string, over func() bool) error {
	silenceRuntime(1)
	fd, err := createUnlinkedFile(dir, "fsync")
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	page := make([]byte, 4096)
	for i := 0; !over(); i++ {
		if i%256 == 0 {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_LSEEK, uintptr(fd), 0, 0); errno != 0 {
				return errno
			}
		}
		if !transferRaw(syscall.SYS_WRITE, fd, page) {
			return errors.New("the file cannot be written")
		}
		if _, _, errno := syscall.RawSyscall(syscall.SYS_FSYNC, uintptr(fd), 0, 0); errno != 0 && errno != syscall.EINTR {
			return errno
		}
	}
	return nil
}

func writes(dir string, over func() bool) error {
	silenceRuntime(1)
	chunk := make([]byte, 64<<10)
	for !over() {
		fd, err := createUnlinkedFile(dir, "write")
		if err != nil {
			return err
		}
		for n := 0; n < memory && !over(); n += len(chunk) {
			if !transferRaw(syscall.SYS_WRITE, fd, chunk) {
				_ = syscall.Close(fd)
				return errors.New("the file cannot be written: the disk may be full")
			}
		}
		_ = syscall.Close(fd)
	}
	return nil
}

// touches takes memory by mmap, as malloc does for large sizes, and writes to each page. It asks for small
// pages, whatever the host's setting is.
func touches(_ string, over func() bool) error {
	silenceRuntime(1)
	for !over() {
		b, err := unix.Mmap(-1, 0, memory, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return err
		}
		_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) // some kernels lack it
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		if err := unix.Munmap(b); err != nil {
			return err
		}
	}
	return nil
}

// pingPong passes bytes between two threads until over returns true.
func pingPong(size int, read, write [2]int, over func() bool, end func()) {
	runOnThreads(2, func(i int) {
		b := make([]byte, size)
		if i == 0 && !transferRaw(syscall.SYS_WRITE, write[0], b) {
			return
		}
		for !over() {
			if !transferRaw(syscall.SYS_READ, read[i], b) || !transferRaw(syscall.SYS_WRITE, write[i], b) {
				break
			}
		}
		end() // the other thread may be waiting
	})
}

// transferRaw reads or writes all of b by a raw system call, which the Go runtime does not see. It returns false
// on an error or at the end.
func transferRaw(call uintptr, fd int, b []byte) bool {
	for len(b) > 0 {
		n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		switch {
		case errno == syscall.EINTR:
		case errno != 0 || n == 0:
			return false
		default:
			b = b[n:]
		}
	}
	return true
}

func pipes(_ string, over func() bool) error {
	var a, b [2]int
	if err := errors.Join(syscall.Pipe2(a[:], syscall.O_CLOEXEC), syscall.Pipe2(b[:], syscall.O_CLOEXEC)); err != nil {
		return err
	}
	var once sync.Once
	pingPong(1, [2]int{b[0], a[0]}, [2]int{a[1], b[1]}, over, func() {
		once.Do(func() { // the reader sees the end
			_ = syscall.Close(a[1])
			_ = syscall.Close(b[1])
		})
	})
	return nil
}

func packets(_ string, over func() bool) error {
	l, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(l)
	if err := errors.Join(syscall.Bind(l, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(l, 1)); err != nil {
		return err
	}
	at, err := syscall.Getsockname(l)
	if err != nil {
		return err
	}
	c, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(c)
	if err := syscall.Connect(c, at); err != nil {
		return err
	}
	s, _, err := syscall.Accept4(l, syscall.SOCK_CLOEXEC)
	if err != nil {
		return err
	}
	defer syscall.Close(s)
	for _, fd := range []int{c, s} {
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	}
	pingPong(64, [2]int{c, s}, [2]int{c, s}, over, func() {
		_ = syscall.Shutdown(c, syscall.SHUT_RDWR)
		_ = syscall.Shutdown(s, syscall.SHUT_RDWR)
	})
	return nil
}

const (
	futexWait = 128 // FUTEX_WAIT | FUTEX_PRIVATE_FLAG
	futexWake = 129
)

// futexes passes a turn between two threads. The thread without the turn waits in futex(2).
func futexes(_ string, over func() bool) error {
	var turn atomic.Uint32
	at := uintptr(unsafe.Pointer(&turn))
	patience := syscall.NsecToTimespec(100e6) // ends the wait if the other thread has ended
	runOnThreads(2, func(i int) {
		own, other := uint32(i), uint32(1-i)
		for !over() {
			if turn.Load() != own {
				_, _, _ = syscall.RawSyscall6(syscall.SYS_FUTEX, at, futexWait, uintptr(other), uintptr(unsafe.Pointer(&patience)), 0, 0)
				continue
			}
			turn.Store(other)
			_, _, _ = syscall.RawSyscall6(syscall.SYS_FUTEX, at, futexWake, 1, 0, 0, 0)
		}
	})
	runtime.KeepAlive(&turn)
	return nil
}

// Magic numbers of file systems in memory, statfs(2).
const (
	tmpfs = 0x01021994
	ramfs = 0x858458f6
)

func inMemory(dir string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(dir, &s) == nil && (uint32(s.Type) == tmpfs || uint32(s.Type) == ramfs)
}
