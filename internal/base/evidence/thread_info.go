package evidence

import (
	"fmt"
	"strings"
)

// ThreadInfo holds what a source records of a thread beside the frames of its stack. The same frames with another ThreadInfo are another
// stack.
type ThreadInfo struct {
	Name string // the name of the thread, or of its pool: "http-nio-8080-exec"; "" unknown

	// From HotSpot, of its lock.
	Lock      LockUse
	Class     string // of the lock: "java.lang.Object"; "" unknown
	Unmounted bool   // a virtual thread that was started and has not run yet

	// From the kernel (/proc/PID/task/TID/syscall and wchan).
	Call   string // a system call: "fsync", "futex mutex"; or one of Call…; "" unknown
	On     Object // the object of the call
	Kernel string // the kernel function in which it waits; "" unknown
	SP     uint64 // its stack pointer in the program; 0 unknown
	Ready  bool   // it seems to run, but waits for a CPU
}

// What a thread outside of system calls does, and calls of which there are several kinds.
const (
	CallRunning    = "running"
	CallPageFault  = "page fault"
	CallFutex      = "futex"       // a wait to be woken
	CallFutexMutex = "futex mutex" // a wait for a mutex
	CallFutexTimed = "futex with a timeout"
)

// OnFutex reports whether a call waits at a futex, for any reason.
func OnFutex(call string) bool { return strings.HasPrefix(call, CallFutex) }

// LockUse is how a thread uses a lock; its texts are HotSpot's words.
type LockUse uint8

// Uses of locks.
const (
	NoLock   LockUse = iota
	ToLock           // it waits for a monitor
	ToRelock         // it was notified, and waits for the monitor again
	WaitsOn          // Object.wait
	ToPark           // LockSupport.park, on a synchronizer
)

var lockUses = [...]string{ToLock: "waiting to lock", ToRelock: "waiting to re-lock in wait()", WaitsOn: "waiting on", ToPark: "parking to wait for"}

func (u LockUse) String() string { return lockUses[u] }

// Object is the file, socket or word of memory that a system call works on.
type Object struct {
	Kind ObjectKind
	Name string // a path, the address of a peer, a variable, …; "" unknown
}

// ObjectKind is the kind of an object.
type ObjectKind uint8

// Kinds of objects.
const (
	NoObject ObjectKind = iota
	OtherObject
	File
	WordAddress // of a word of memory without a name, in hexadecimal
	Client      // a connection that was accepted
	Listener    // a listening socket
	Peer        // a connection that the process opened
	UnixSocket
	UDPSocket
	NewSocket // its connection is not known yet
	Pipe
	EventFD
	TimerFD
	Inotify
	SignalFD
)

// objectWords are the words with which recordings begin descriptors of some kinds.
var objectWords = [...]string{Client: "client", Listener: "listener", Peer: "peer", UnixSocket: "unix", UDPSocket: "udp", NewSocket: "socket", Pipe: "pipe",
	EventFD: "eventfd", TimerFD: "timerfd", Inotify: "inotify", SignalFD: "signalfd"}

// ObjectOf parses a recording's text for a descriptor or a word of memory: "/var/lib/journal", "peer 10.0.0.7:5432", "0x7f00",
// "stats_lock+0x10".
func ObjectOf(text string) Object {
	word, name, _ := strings.Cut(text, " ")
	for kind := Client; int(kind) < len(objectWords); kind++ {
		if word == objectWords[kind] {
			return Object{kind, name}
		}
	}
	switch {
	case text == "":
		return Object{}
	case text[0] == '/':
		return Object{File, text}
	case strings.HasPrefix(text, "0x"):
		return Object{WordAddress, text}
	}
	return Object{OtherObject, text}
}

// String returns the text that [ObjectOf] parses.
func (o Object) String() string {
	if o.Kind < Client {
		return o.Name
	}
	return strings.TrimSuffix(objectWords[o.Kind]+" "+o.Name, " ")
}

func (t ThreadInfo) clone() ThreadInfo {
	for _, s := range []*string{&t.Name, &t.Class, &t.Call, &t.On.Name, &t.Kernel} {
		*s = strings.Clone(*s)
	}
	return t
}

// SystemCall returns the system call of the thread; "" if it is in none.
func (t *ThreadInfo) SystemCall() string {
	if t.Call == CallRunning {
		return ""
	}
	return t.Call
}

// Says returns what the thread waits for or does, in the words of its source: "waiting to lock java.lang.Object", "fsync"; "" if the
// source does not tell.
func (t *ThreadInfo) Says() string {
	switch {
	case t.Unmounted:
		return "not mounted yet"
	case t.Lock != NoLock:
		return strings.TrimSuffix(t.Lock.String()+" "+t.Class, " ")
	}
	return t.Call
}

// String returns all of it: "fsync of /var/lib/journal, kernel folio_wait_bit_common, sp 0x7f12, [writer]".
func (t ThreadInfo) String() string {
	var parts []string
	add := func(is bool, format string, args ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(t.Says() != "", "%s", t.Says())
	add(t.On != Object{}, "of %s", t.On)
	add(t.Kernel != "", "kernel %s", t.Kernel)
	add(t.SP != 0, "sp %#x", t.SP)
	add(t.Ready, "ready")
	add(t.Name != "", "[%s]", t.Name)
	return strings.Join(parts, ", ")
}
