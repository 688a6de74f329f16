// Package threadstack reads one stack of a managed thread, of the JVM and of .NET: the thread's purpose, whether it works, idles or waits, for
// what, and in which function of the program. Package threads adds what several stacks tell together, and what the kernel tells.
//
// Its tables name methods of the JDK (6 to 25), of .NET (Core 3.1 to 10) and of their common servers and libraries.
package threadstack

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Stack is a reader's input: functions as the runtime prints them, innermost first, and facts about the thread.
type Stack struct {
	Frames []string
	evidence.ThreadInfo
}

// Of returns a stack of a bundle.
func Of(b *evidence.Bundle, id evidence.StackID) Stack {
	frames := b.Stacks.Frames(id)
	s := Stack{make([]string, len(frames)), b.Stacks.Info(id)}
	for i, f := range frames {
		s.Frames[i] = b.Names.Text(f.Func)
	}
	return s
}

// Role is the purpose of a thread.
type Role string

// Roles of threads.
const (
	Other     Role = ""          // the program's own
	Main      Role = "main"      // it runs the program's entry point
	Worker    Role = "pool"      // of the runtime's pool, or one of the program's
	IO        Role = "io"        // it polls sockets or files and hands out what is ready
	Gate      Role = "gate"      // it decides how many threads the pool has
	Timer     Role = "timer"     // it waits for the next timer
	Finalizer Role = "finalizer" // it finalizes objects
	Runtime   Role = "runtime"   // anything else that the runtime and its libraries run
)

// View is what one stack tells of its thread. Frames are numbered from the innermost, 0; -1 is none: a wait for a monitor, or in the kernel,
// has no frame.
type View struct {
	Role    Role
	State   evidence.Kind // Running, Idle, or what it waits for
	Pattern string        // how it waits, in the field's terms: ".Result", "lock", "sync I/O: NetworkStream.Read"; "" if it does not
	Wait    int           // the call that waits, as in its caller's source
	User    int           // the first frame of the user's own code below the wait; for a running thread, the innermost of the user's frames
	Outer   int           // the outermost frame of the user's own code that leads to User: what the framework called; User itself where it called that
	Callers [2]int        // frames of the user's own code beyond User that led to it, nearest first, each of another function; 0 none
	Began   int           // where the thread took up work: its pool's, or its role's, own method
	Library bool          // User is a library's: no code of the user's own is on the stack
	Owner   string        // User without namespaces: "Shop!CartController.Get()"; "" none
	Owns    int           // of a native thread, whose User is -1, the frame that Owner is
	Request bool          // it works on a server's request
	Waits   evidence.Wait // what is known of what it waits for, beside Pattern and Limit
	Limit   string        // the limit it waits at, in words, if looks at all threads show one: "limit of 4 at Gate.enter (Object.wait)"
	Accepts bool          // the user's own code accepts connections here
	Reads   bool          // the user's own code waits here for bytes from a socket, through only the runtime's own methods
	Loop    bool          // an event loop: it polls sockets, and itself works on what is ready
	Kernel  bool          // known only from the kernel, without a function of the program
	Ready   bool          // it seems to run, but the kernel's own recording shows that it waited for a processor then
	Virtual bool          // a thread of the runtime, not of the operating system
	Carrier bool          // an OS thread on which the runtime runs virtual threads, or by which it wakes them
	Pool    string        // the thread's name without its number, where a runtime's threads have names: "http-nio-8080-exec"
	Size    string        // for a pool's thread: the setting of the pool's size; "" unknown

	before waiting // what it waits for, if it counts as idle only because no server is on its stack
}

// waiting is how a thread waits.
type waiting struct {
	State   evidence.Kind
	Pattern string
	Wait    int
}

// Waiting reports whether the thread is blocked with work on its hands.
func (v View) Waiting() bool {
	return v.State != evidence.Running && v.State != evidence.Idle && v.State != evidence.KindUnknown
}

// Reason returns what a waiting thread waits for, and where in the user's code: ".Result in Shop!CartController.Get()", for a lock only
// where; "" if it does not wait.
func (v View) Reason() string {
	switch {
	case !v.Waiting():
		return ""
	case v.Limit != "":
		return v.Limit
	case v.Owner == "":
		return v.Pattern
	case v.State == evidence.LockWait && !v.Kernel:
		return v.Owner
	}
	return v.Pattern + " in " + v.Owner
}

// Path returns the user's function and its callers in the user's own code, of a stack's frames: "Shop!Db.Query() ← Artists.Load ← Rooms.Get";
// "" if there is none.
func (v *View) Path(frames []string) string {
	path := v.Owner
	for _, i := range v.Callers {
		if i > 0 && i < len(frames) && path != "" {
			path += evidence.Link + Bare(Short(frames[i]))
		}
	}
	return path
}

// findCallers finds the callers of the user's frame among n frames. Of tells the function of a frame of the user's own code, and "" of any other.
func (v *View) findCallers(n int, of func(i int) string) {
	last, found := of(v.User), 0
	for i := v.User + 1; i < n && found < len(v.Callers); i++ {
		if function := of(i); function != "" && function != last {
			v.Callers[found], last = i, function
			found++
		}
	}
}

// Cause interns the reason with what is known of the wait.
func (v *View) Cause(names *evidence.Names) evidence.NameID {
	return names.TellWait(v.Reason(), v.Waits)
}

// doing are the states of threads in words.
var doing = map[evidence.Kind]string{
	evidence.KindUnknown: "in native code",
	evidence.Running:     "running",
	evidence.Idle:        "idle",
	evidence.TaskWait:    "waiting for a task",
	evidence.LockWait:    "waiting for a lock",
	evidence.SyncWait:    "waiting for another thread",
	evidence.PoolWait:    "waiting for a pool",
	evidence.ThreadWait:  "waiting for a carrier",
	evidence.SleepWait:   "sleeping",
	evidence.NetWait:     "waiting for the network",
	evidence.ClientWait:  "waiting for the client",
	evidence.Syscall:     "in the kernel",
	evidence.AllocStall:  "waiting for GC to free memory",
}

// UnknownEnd names a socket whose other end is not known yet, as what a thread waits for.
const UnknownEnd = "a socket"

// multiplexers are system calls that wait for whatever comes first of many descriptors: who brings it is not known.
var multiplexers = []string{"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect", "io_uring_enter"}

// Doing returns the state in words, with the pattern: "waiting for a task (.Result)".
func (v View) Doing() string {
	words := doing[v.State]
	switch {
	case v.State == evidence.PoolWait && strings.HasPrefix(v.Pattern, "Semaphore"):
		words = "waiting for a semaphore"
	case v.State == evidence.ClientWait && v.Waits.Of == UnknownEnd:
		words = doing[evidence.NetWait] // a client, or what the program has just connected to
	case v.State == evidence.SyncWait && slices.Contains(multiplexers, v.Pattern):
		words = "waiting for events"
	}
	if v.Pattern == "" || v.State == evidence.LockWait && v.Pattern == "lock" || v.State == evidence.AllocStall {
		return words
	}
	return words + " (" + strings.TrimPrefix(v.Pattern, "sync I/O: ") + ")"
}

// WithoutFutex calls a mutex one in what a thread does, however the kernel waits for it, as the ledger does.
func WithoutFutex(doing string) string { return strings.Replace(doing, "futex mutex", "mutex", 1) }

// notMounted is the view of a virtual thread that was started and never ran: it has no frame, and waits only for a carrier. Whether it works
// on a request becomes known later.
var notMounted = View{State: evidence.ThreadWait, Virtual: true, Wait: -1, User: -1, Outer: -1, Began: -1}

// Hidden reports whether a thread is in native code that its stack does not name.
func (v *View) Hidden() bool {
	return (v.State == evidence.KindUnknown || v.Pattern == HiddenSleep) && v.Wait < 0
}

// DoingAt returns what a thread does, and where.
func (v *View) DoingAt() string {
	if v.Owner == "" {
		return v.Doing()
	}
	return v.Doing() + " in " + Bare(v.Owner)
}

// Serve marks a thread as working on a request, if it has work: a wait that looked like one for work may be the request's wait.
func (v *View) Serve(one bool) {
	if v.before.State != evidence.KindUnknown {
		v.State, v.Pattern, v.Wait = v.before.State, v.before.Pattern, v.before.Wait
	}
	if v.State != evidence.Idle {
		if v.Request = true; !one {
			v.Role = Worker
		}
	}
}

// LongestComm is how many bytes of a thread's name the kernel keeps (TASK_COMM_LEN of linux/sched.h, less the zero).
const LongestComm = 15

// IsCutName reports whether a thread's name for the kernel is all it could keep of a longer name.
func IsCutName(comm, name string) bool {
	return len(comm) == LongestComm && strings.HasPrefix(name, comm)
}

// TrimNumber returns a thread's name without its number within a pool.
func TrimNumber(name string) string { return strings.TrimRight(name, "0123456789-_#/: ") }
