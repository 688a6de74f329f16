// Package threadstack reads one stack of a managed thread, of the JVM and of .NET: what the thread is there for, whether it
// works, idles or waits, for what, and in which function of the program. What several stacks tell together, and what the
// kernel adds, is read by package threads.
//
// Its tables name methods of the JDK (6 to 25), of .NET (Core 3.1 to 10) and of their common servers and libraries.
package threadstack

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Stack is what a reader is given: functions as the runtime prints them, innermost first, and what is said of the thread.
type Stack struct {
	Frames []string
	evidence.ThreadInfo
}

// Of is a stack of a bundle.
func Of(b *evidence.Bundle, id evidence.StackID) Stack {
	frames := b.Stacks.Frames(id)
	s := Stack{make([]string, len(frames)), b.Stacks.Info(id)}
	for i, f := range frames {
		s.Frames[i] = b.Names.Text(f.Func)
	}
	return s
}

// Role is what a thread is there for.
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

// View is what one stack says of its thread. Frames are counted from the innermost,
// which is 0; -1 is none: a wait for a monitor, or in the kernel, leaves none.
type View struct {
	Role    Role
	State   evidence.Kind // Running, Idle, or what it waits for
	Pattern string        // how it waits, in the words of the field: ".Result", "lock", "sync I/O: NetworkStream.Read"; "" where it does not
	Wait    int           // the call that waits, as its caller wrote it
	User    int           // the first frame of the user's own code below the wait; of what runs, the innermost of them
	Outer   int           // the outermost frame of the user's own code that leads to User: what the framework called; User itself where it called that
	Began   int           // where the thread took up work: its pool's, or its role's, own method
	Library bool          // User is a library's: no code of the user's own is on the stack
	Owner   string        // User without namespaces: "Shop!CartController.Get()"; "" none
	Request bool          // it works on a server's request
	Waits   evidence.Wait // what is known of what it waits for, beside Pattern and Limit
	Limit   string        // what it waits for in words, where looks at all threads show that only so many get on at a time: "limit of 4 at Gate.enter (Object.wait)"
	Accepts bool          // the user's own code accepts connections here
	Reads   bool          // the user's own code waits here for bytes from a socket, by nothing but the runtime's own methods
	Loop    bool          // it is an event loop's: it polls sockets, and works itself on what is ready
	Kernel  bool          // the kernel said what it does: no function of the program is known
	Ready   bool          // it seems to run, but the kernel's own recording shows that it waited for a processor then
	Virtual bool          // a thread of the runtime's, not of the system
	Carrier bool          // of the system, on which the runtime runs such threads, or by which it wakes them
	Pool    string        // what its thread is called, without its number, where a runtime's threads have names: "http-nio-8080-exec"
	Size    string        // of a pool's thread: where one says how many threads it has; "" not known

	before waiting // what it waits for, where it is taken for idle only because no server is on its stack
}

// waiting is how a thread waits.
type waiting struct {
	State   evidence.Kind
	Pattern string
	Wait    int
}

// Waiting says whether the thread stands still, though it has work.
func (v View) Waiting() bool {
	return v.State != evidence.Running && v.State != evidence.Idle && v.State != evidence.KindUnknown
}

// Reason is what a thread that waits waits for, and where in the user's code: ".Result
// in Shop!CartController.Get()", of a lock only where; "" of one that does not wait.
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

// Cause interns the reason, with what is known of the wait.
func (v *View) Cause(names *evidence.Names) evidence.NameID {
	return names.TellWait(v.Reason(), v.Waits)
}

// doing are the states in words, of threads.
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

// Doing is the state in words, with the pattern: "waiting for a task (.Result)".
func (v View) Doing() string {
	words := doing[v.State]
	if v.State == evidence.PoolWait && strings.HasPrefix(v.Pattern, "Semaphore") {
		words = "waiting for a semaphore"
	}
	if v.Pattern == "" || v.State == evidence.LockWait && v.Pattern == "lock" || v.State == evidence.AllocStall {
		return words
	}
	return words + " (" + strings.TrimPrefix(v.Pattern, "sync I/O: ") + ")"
}

// notMounted is the view of a virtual thread that was started and never ran: it has no frame, and nothing but a
// carrier is what it waits for. Whether it works on a request is known later.
var notMounted = View{State: evidence.ThreadWait, Virtual: true, Wait: -1, User: -1, Outer: -1, Began: -1}

// Hidden says whether a thread is in native code that its stack does not name.
func (v *View) Hidden() bool {
	return (v.State == evidence.KindUnknown || v.Pattern == HiddenSleep) && v.Wait < 0
}

// DoingAt is what a thread does, and where.
func (v *View) DoingAt() string {
	if v.Owner == "" {
		return v.Doing()
	}
	return v.Doing() + " in " + Bare(v.Owner)
}

// Serve says that a thread works on a request, if it has work: what looked like waiting for
// some may be its request's wait for something.
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
