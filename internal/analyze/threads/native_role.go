package threads

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// The place where a thread waits for work shows its purpose, where only its system calls are known: it is the wait with the least of its
// own stack in use. A worker that waits for its next task at a condition variable is further out than in the middle of a task, at a limit.
// Compilers inline small functions, so depths that differ by less than a frame's size are equal; then a wait that can only be for work
// comes first.
const sameDepth = 512 // bytes

// How a thread can wait for work, the most certain first.
const (
	noWork   = iota // it is no such wait
	byPoll          // epoll, poll, select, accept
	byClient        // a connection's next request
	bySignal        // a condition variable, a semaphore, a pipe
	bySleep         // a delay
)

// workBy returns how a look's thread would wait for work there.
func workBy(v *threadstack.View, call string, on evidence.Object) int {
	switch call {
	case "epoll_wait", "poll", "ppoll", "select", "pselect", "accept", "io_uring_enter":
		if v.State != evidence.NetWait { // a poll for the answer to its own call is no wait for work
			return byPoll
		}
	}
	switch {
	case v.State == evidence.ClientWait && isReadCall(call), v.State == evidence.Idle:
		return byClient
	case v.State == evidence.SyncWait && !isWriteCall(call), v.State == evidence.NetWait && isReadCall(call) && (on == evidence.Object{Kind: evidence.UDPSocket} || on.Kind == evidence.UnixSocket):
		return bySignal
	case v.State == evidence.SleepWait:
		return bySleep
	}
	return noWork
}

// pollers are functions of runtimes in which a thread waits for work at a condition variable while another one polls for it, in turns.
var pollers = []string{"tokio::runtime::scheduler::multi_thread::park::"}

// parksInPoller says whether a thread waits in one of the pollers.
func parksInPoller(frames []string) bool {
	return slices.ContainsFunc(frames, func(f string) bool {
		return slices.ContainsFunc(pollers, func(p string) bool { return strings.Contains(f, p) })
	})
}

// engines are functions of JavaScript engines in which threads of a pool do what the engine wants in the background, such as to compile and to collect
// garbage: V8's in Node.js (src/node_platform.cc) and elsewhere (libplatform/default-worker-threads-task-runner.cc). They serve no request.
var engines = []string{"node::PlatformWorkerThread", "v8::platform::DefaultWorkerThreadsTaskRunner::WorkerThread::"}

// isOfEngine says whether a thread was ever seen in one of these functions.
func (n *native) isOfEngine() bool {
	return slices.ContainsFunc(n.path, func(path []string) bool {
		return slices.ContainsFunc(path, func(f string) bool {
			return slices.ContainsFunc(engines, func(e string) bool { return strings.HasPrefix(f, e) })
		})
	})
}

func isWriteCall(call string) bool {
	switch call {
	case "write", "writev", "pwrite", "pwritev", "sendto", "sendmsg", "sendmmsg", "sendfile", "splice":
		return true
	}
	return false
}

func isReadCall(call string) bool {
	switch call {
	case "read", "readv", "recvfrom", "recvmsg", "recvmmsg":
		return true
	}
	return false
}

// native is a thread over all looks at it.
type native struct {
	looks []*Sample
	by    []int      // of each look
	deep  []uint64   // of each look: where its stack ended, 0 unknown
	path  [][]string // of each look: the program's functions, innermost first
	outer []bool     // of each look: it may be a wait for work
	idles int        // how it waits for work; noWork: it was never seen to
	polls bool       // it was seen to poll or to wait for clients
	busy  int        // looks in which it had work
}

// settleNative finds the threads that wait for work, those that serve requests, and their pools.
func settleNative(t *Threads, s evidence.SubjectID) {
	lanes := make(map[evidence.LaneID]*native)
	var order []*native
	for i := range t.looks[s] {
		l := &t.looks[s][i]
		n := lanes[l.Lane]
		if n == nil {
			n = &native{}
			lanes[l.Lane] = n
			order = append(order, n)
		}
		stack := threadstack.Of(t.b, l.Stack)
		call, on := nativeCall(&stack)
		by := workBy(&l.View, call, on)
		if by == bySignal && parksInPoller(stack.Frames) {
			by = byPoll
		}
		n.looks, n.by, n.deep, n.path = append(n.looks, l), append(n.by, by), append(n.deep, stack.SP), append(n.path, nativePath(stack.Frames))
	}
	for _, n := range order {
		n.findIdleWait()
	}
	findAlike(order)
	var classes [bySleep + 1]int
	for _, n := range order {
		n.markIdle()
	}
	t.leaderFollower(s, order)
	for _, n := range order {
		classes[n.idles]++
	}
	workers := 0
	for _, n := range order {
		if n.idles == bySignal && n.busy > 0 && !n.isOfEngine() {
			workers++
		}
	}
	pool := workers >= leastPool
	accepts := slices.ContainsFunc(order, func(n *native) bool { return n.polls })
	for _, n := range order {
		if n.isOfEngine() {
			continue
		}
		serves := n.polls && n.idles <= byClient || pool && n.idles == bySignal || n.idles == noWork && accepts && classes[byClient] > 0
		for _, l := range n.looks {
			v := &l.View
			switch {
			case !serves:
			case n.idles == byPoll && pool:
				v.Role = threadstack.IO // it hands out what the workers do
			default:
				v.Role, v.Request = threadstack.Worker, v.State != evidence.Idle
				v.Loop = n.idles == byPoll
			}
		}
	}
	t.besideCalls(s)
	t.markLoops(s)
}

// settleScheduled counts calls that keep a thread as a request's.
func settleScheduled(t *Threads, s evidence.SubjectID) {
	for i := range t.looks[s] {
		v := &t.looks[s][i].View
		stack := threadstack.Of(t.b, t.looks[s][i].Stack)
		call, on := nativeCall(&stack)
		switch {
		case workBy(v, call, on) != noWork, v.State == evidence.LockWait:
			v.State, v.Pattern, v.Wait = evidence.Idle, "", -1
		case v.State != evidence.Running:
			v.Request = true
		}
	}
}

// A look shows a thread in a call only while it is blocked; while the kernel works for it, it runs. If a process uses hardly any time
// outside the kernel, and its threads are nearly always seen in the same call for as long, the running time is that call's.
const (
	mostlySystem = .7 // of its CPU time
	oneCall      = .7 // of the looks at threads in calls
	asLong       = .5 // times the looks at threads that run
)

// besideCalls marks threads that run in the kernel as being in the call that they are seen in.
func (t *Threads) besideCalls(s evidence.SubjectID) {
	if !(t.systemShare(s) >= mostlySystem) {
		return
	}
	seen := make(map[evidence.StackID]int) // one of each reason stands for it
	first := make(map[string]*Sample)
	running, calls := 0, 0
	for i := range t.looks[s] {
		switch l := &t.looks[s][i]; {
		case !l.View.Request:
		case l.View.Ready:
		case l.View.State == evidence.Running:
			running++
		case l.View.State == evidence.Syscall:
			calls++
			if first[l.View.Reason()] == nil {
				first[l.View.Reason()] = l
			}
			seen[first[l.View.Reason()].Stack]++
		}
	}
	var most *Sample
	for _, l := range first {
		if most == nil || seen[l.Stack] > seen[most.Stack] {
			most = l
		}
	}
	if most == nil || float64(seen[most.Stack]) < oneCall*float64(calls) || float64(seen[most.Stack]) < asLong*float64(running) {
		return
	}
	pattern, waits, owner, stack := most.View.Pattern, most.View.Waits, most.View.Owner, most.Stack
	for i := range t.looks[s] {
		l := &t.looks[s][i]
		if v := &l.View; v.Request && v.State == evidence.Running && !v.Ready {
			v.State, v.Pattern, v.Waits, v.Owner, v.Wait = evidence.Syscall, pattern, waits, owner, -1
			l.Stack = stack
		}
	}
}

// leastPool is the number of threads waiting for work at a condition variable that makes a pool: a single one may work beside requests,
// such as a log writer.
const leastPool = 2

// calledBy reports whether one function in which a thread waits to be woken called the other: a thread that waits for work in the outer one
// waits for something else in the inner one, however near that is on the stack, but further inside: a look whose innermost functions are missing is no
// wait of the outer one by itself. Where it waits by itself, stacks end (at).
func calledBy(path []string, deep uint64, at map[string]uint64) bool {
	return len(path) > 1 && slices.ContainsFunc(path[1:], func(f string) bool { return f != path[0] && at[f] > deep })
}

// findAlike finds threads that serve clients and were seen only while they waited for something else: in functions, called the same way, in
// which others wait with a client's request. In a server with many threads and few looks these are most threads.
func findAlike(order []*native) {
	with := make(map[string]bool)
	for _, n := range order {
		if n.idles != byClient {
			continue
		}
		for i, by := range n.by {
			if by >= bySignal {
				with[strings.Join(n.path[i], evidence.Link)] = true
			}
		}
	}
	delete(with, "")
	for _, n := range order {
		if n.idles < bySignal || len(with) == 0 {
			continue
		}
		serves := true
		for i := range n.by {
			serves = serves && (!n.outer[i] || with[strings.Join(n.path[i], evidence.Link)])
		}
		if serves {
			n.idles, n.polls = byClient, true
		}
	}
}

// findIdleWait finds where a thread waits for work.
func (n *native) findIdleWait() {
	var top uint64
	at := make(map[string]uint64) // functions that wait by themselves to be woken, and where stacks end there
	for i, by := range n.by {
		if by != noWork && n.deep[i] > top {
			top = n.deep[i]
		}
		if by == bySignal && len(n.path[i]) > 0 {
			at[n.path[i][0]] = max(at[n.path[i][0]], n.deep[i])
		}
	}
	n.outer = make([]bool, len(n.by))
	for i, by := range n.by {
		n.outer[i] = by != noWork && n.deep[i]+sameDepth > top && !(by >= bySignal && calledBy(n.path[i], n.deep[i], at))
		if n.outer[i] && (n.idles == noWork || by < n.idles) {
			n.idles = by
		}
	}
}

// markIdle marks a thread as idle where it waits for work.
func (n *native) markIdle() {
	for i, l := range n.looks {
		v, by := &l.View, n.by[i]
		if by == byClient || n.outer[i] && (by == n.idles || by == byPoll) {
			v.State, v.Pattern, v.Wait = evidence.Idle, "", -1
		}
		n.polls = n.polls || by == byPoll || by == byClient
		if v.State != evidence.Idle {
			n.busy++
		}
	}
}
