package load

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/load/pace"
)

// loop reads many connections of HTTP/1.1 without TLS on a thread of its own. The kernel tells the thread which of them have data (epoll(7),
// edge-triggered). With a goroutine for each, woken by the runtime, there is another system call for each answer, and half as much CPU time again.
type loop struct {
	e     *engine
	epoll int
	wake  int // eventfd: ends it
	done  chan struct{}

	mu    sync.Mutex
	conns map[int32]*polled // by file descriptor

	got   []got   // answers that were read and not reported to the engine yet
	spare []got   // a second slice for reuse
	next  []given // requests that follow them
}

// got is an answer.
type got struct {
	c      *polled
	answer answer
	at     int64 // ns
	ending bool  // the server has closed the connection after it
}

const mostLoops = 2 // more loops share the engine's lock without more throughput

// newLoops starts the threads, none where the kernel refuses.
func newLoops(e *engine) (out []*loop) {
	for range min(mostLoops, runtime.NumCPU()) {
		l := &loop{e: e, done: make(chan struct{}), conns: make(map[int32]*polled)}
		var err error
		if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
			break
		}
		if l.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err == nil {
			if err = unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, l.wake, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(l.wake)}); err != nil {
				unix.Close(l.wake)
			}
		}
		if err != nil {
			unix.Close(l.epoll)
			break
		}
		pace.Spare(1)
		go l.pollConnections()
		out = append(out, l)
	}
	return out
}

// stop ends the thread once all its connections are closed.
func (l *loop) stop() {
	_, _ = unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-l.done
	pace.Spare(-1)
	unix.Close(l.epoll)
	unix.Close(l.wake)
}

func (l *loop) pollConnections() {
	runtime.LockOSThread()
	defer close(l.done)
	var events [128]unix.EpollEvent
	var ready [128]*polled
	for {
		n := l.waitEvents(events[:])
		l.mu.Lock()
		for i := range n {
			ready[i] = l.conns[events[i].Fd]
		}
		l.mu.Unlock()
		for i := range n {
			if c := ready[i]; c != nil {
				c.serveEvents(events[i].Events)
			} else if events[i].Fd == int32(l.wake) {
				return
			}
		}
		l.reportAnswers()
		l.sendNext()
	}
}

// reportAnswers tells the engine of all answers at once: two threads that take its lock for each
// answer would wait for each other.
func (l *loop) reportAnswers() {
	for len(l.got) > 0 {
		l.e.mu.Lock()
		for i := range l.got {
			g := &l.got[i]
			p, more, alive := l.e.endRequestLocked(g.c.at, g.answer, nil, g.at)
			if more {
				l.next = append(l.next, given{g.c.at, p.n})
			}
			if !alive {
				g.c = nil
			}
		}
		l.e.mu.Unlock()
		all := l.got
		l.got = l.spare[:0]
		for i := range all {
			if g := all[i]; g.c != nil && (g.ending || !g.c.drained || g.c.in.from != g.c.in.to) {
				g.c.readAnswer(g.ending)
			}
		}
		clear(all)
		l.spare = all
	}
}

// sendNext sends the next requests once all available answers have been read. A server woken by the first of them would otherwise
// answer it alone, and each such answer would wake this thread, which takes 7 % more CPU time.
func (l *loop) sendNext() {
	for i := range l.next {
		g := &l.next[i]
		g.at.sent.Store(l.e.nowNanos())
		g.at.line.sendRequest(g.at, g.n)
		*g = given{}
	}
	l.next = l.next[:0]
}

// waitEvents returns the number of events. The runtime does not know that the thread waits. Otherwise it would take the thread's
// processor away within 20 µs, look for such threads as often from then on, and have to find a processor when the thread wakes, which
// was a sixth of all CPU time. One more processor (pace.Spare) makes up for the kept one. The runtime's signal to stop a thread also
// ends the wait.
func (l *loop) waitEvents(events []unix.EpollEvent) int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), ^uintptr(0), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// polled is a connection that a loop reads.
type polled struct {
	e   *engine
	l   *loop
	in  *responses
	out []byte
	at  *place
	all base

	drained bool // of the loop: nothing is to be read

	mu     sync.Mutex // of writing and closing: the number of a file is used again
	fd     int
	rest   []byte // of a request, not written yet
	closed bool
	served bool // it is in the loop, which counts among the readers
}

// newPolled takes a connection away from the runtime, if it is one that a loop can read.
func (e *engine) newPolled(raw net.Conn) (line, bool) {
	file, ok := raw.(syscall.Conn)
	if len(e.loops) == 0 || !ok {
		return nil, false
	}
	control, err := file.SyscallConn()
	if err != nil {
		return nil, false
	}
	fd := -1
	err = control.Control(func(of uintptr) { fd, _ = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || fd < 0 {
		return nil, false
	}
	_ = raw.Close() // the connection lives on under the other number
	c := &polled{e: e, fd: fd}
	c.in = newResponses(c)
	c.at = &place{line: c}
	c.all.places = []*place{c.at}
	return c, true
}

func (c *polled) lineBase() *base { return &c.all }

func (c *polled) hasBegun(*place) bool { return c.in.from != c.in.to || c.in.phase != atHead }

// readAnswers hands the connection to a loop, which reads its answers.
func (c *polled) readAnswers() {
	n := c.e.turn.Add(1)
	l := c.e.loops[int(n)%len(c.e.loops)]
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		c.e.readers.Done()
		return
	}
	c.l, c.served = l, true
	fd := c.fd
	l.mu.Lock()
	l.conns[int32(fd)] = c
	l.mu.Unlock()
	err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(fd)})
	c.mu.Unlock()
	if err != nil {
		c.e.breakLine(c, err)
	}
}

// sendRequest writes a request; the loop writes later what does not fit into the socket's buffer.
func (c *polled) sendRequest(_ *place, n uint64) {
	i := int(n % uint64(len(c.e.messages)))
	b := c.e.fixed[i]
	c.mu.Lock()
	defer c.mu.Unlock()
	if b == nil {
		c.out = c.e.messages[i].appendTo(c.out[:0], n)
		b = c.out
	}
	c.rest = b
	c.writeRest()
}

// writeRest writes the rest of a request; mu is held. An error is left to the loop, which reads
// what the server said before it closed.
func (c *polled) writeRest() {
	for len(c.rest) > 0 && !c.closed {
		n, _, errno := syscall.RawSyscall(unix.SYS_WRITE, uintptr(c.fd), uintptr(unsafe.Pointer(&c.rest[0])), uintptr(len(c.rest)))
		switch errno {
		case 0:
			c.rest = c.rest[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			return
		default:
			c.rest = nil
			return
		}
	}
}

// serveEvents reads what has come, and writes what there is room for.
func (c *polled) serveEvents(events uint32) {
	if events&unix.EPOLLOUT != 0 {
		c.mu.Lock()
		c.writeRest()
		c.mu.Unlock()
	}
	if events&^unix.EPOLLOUT == 0 {
		return
	}
	c.drained = false
	c.readAnswer(events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0)
}

// readAnswer reads an answer, if all of it is there.
func (c *polled) readAnswer(ending bool) {
	head := c.e.plan.Method == http.MethodHead
	for {
		a, err := c.in.next(head)
		if err == errWait {
			if !ending {
				return
			}
			c.drained, ending = false, false // its end is behind what was read
			continue
		}
		if err != nil {
			c.e.breakLine(c, err)
			return
		}
		c.l.got = append(c.l.got, got{c, a, c.e.nowNanos(), ending})
		return
	}
}

// Read is for the loop.
func (c *polled) Read(b []byte) (int, error) {
	for !c.drained {
		n, _, errno := syscall.RawSyscall(unix.SYS_READ, uintptr(c.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		switch {
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			c.drained = true
		case errno != 0:
			return 0, errno
		case n == 0:
			return 0, io.EOF
		default:
			c.drained = int(n) < len(b)
			return int(n), nil
		}
	}
	return 0, errWait
}

func (c *polled) giveUp(at *place) bool {
	at.late = true
	c.hangUp()
	return false
}

// hangUp lets the loop see the end: it may be reading.
func (c *polled) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR)
	}
}

// Close is for the loop, and for a connection that it never had.
func (c *polled) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if !c.served {
		return unix.Close(c.fd)
	}
	c.l.mu.Lock()
	delete(c.l.conns, int32(c.fd))
	c.l.mu.Unlock()
	err := unix.Close(c.fd)
	c.e.readers.Done()
	return err
}
