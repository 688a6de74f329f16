package threads

import (
	"math"
	"slices"

	"github.com/unstall/unstall/evidence"
)

// What a thread of which only system calls are known is there for is told by where it waits for
// work: that is the wait in which least of its own stack is in use. A worker that waits for its
// next task at a condition variable stands further out than when it waits for a place in a
// limit in the middle of one. Compilers put small functions into their callers, so that depths
// which differ by less than a frame's room do not tell; then what can only be a wait for
// work goes first.
const sameDepth = 512 // bytes

// How a thread can wait for work, the surest first.
const (
	noWork   = iota // it is no such wait
	byPoll          // epoll, poll, select, accept
	byClient        // a connection's next request
	bySignal        // a condition variable, a semaphore, a pipe
	bySleep         // a delay
)

// workBy says how a look's thread would wait for work there.
func workBy(v *View, call, on string) int {
	switch call {
	case "epoll_wait", "poll", "ppoll", "select", "pselect", "accept", "io_uring_enter":
		return byPoll
	}
	switch {
	case v.State == evidence.ClientWait && reads(call), v.State == evidence.Idle:
		return byClient
	case v.State == evidence.SyncWait, v.State == evidence.NetWait && reads(call) && (on == "udp" || on == "unix"):
		return bySignal
	case v.State == evidence.SleepWait:
		return bySleep
	}
	return noWork
}

func reads(call string) bool {
	switch call {
	case "read", "readv", "recvfrom", "recvmsg", "recvmmsg":
		return true
	}
	return false
}

// native is a thread as all looks at it show it.
type native struct {
	looks []*Look
	by    []int    // of each look
	deep  []uint64 // of each look: where its stack ended, 0 unknown
	idles int      // how it waits for work; noWork: it was never seen to
	polls bool     // it was seen to poll or to wait for clients
	busy  int      // looks in which it had work
}

// settleNative finds who waits for work, who serves requests, and in which pools.
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
		call, on, sp := nativeCall(t.frames(l.Stack))
		n.looks, n.by, n.deep = append(n.looks, l), append(n.by, workBy(&l.View, call, on)), append(n.deep, sp)
	}
	var classes [bySleep + 1]int
	for _, n := range order {
		n.settle()
		classes[n.idles]++
	}
	workers := 0
	for _, n := range order {
		if n.idles == bySignal && n.busy > 0 {
			workers++
		}
	}
	pool := workers >= leastPool
	accepts := slices.ContainsFunc(order, func(n *native) bool { return n.polls })
	for _, n := range order {
		serves := n.polls && n.idles <= byClient || pool && n.idles == bySignal || n.idles == noWork && accepts && classes[byClient] > 0
		for _, l := range n.looks {
			v := &l.View
			switch {
			case !serves:
			case n.idles == byPoll && pool:
				v.Role = IO // it hands out what the workers do
			default:
				v.Role, v.Request = Worker, v.State != evidence.Idle
				v.Loop = n.idles == byPoll
			}
		}
	}
	t.besideCalls(s)
	t.looped(s)
}

// settleScheduled takes what keeps a thread in a call for a request's.
func settleScheduled(t *Threads, s evidence.SubjectID) {
	for i := range t.looks[s] {
		v := &t.looks[s][i].View
		call, on, _ := nativeCall(t.frames(t.looks[s][i].Stack))
		switch {
		case workBy(v, call, on) != noWork, v.State == evidence.LockWait:
			v.State, v.Pattern, v.Wait = evidence.Idle, "", -1
		case v.State != evidence.Running:
			v.Request = true
		}
	}
}

// A thread that is in a call is only seen to be while it stands still: as long as the kernel
// works for it, it runs. Of a process that uses hardly any time outside the kernel that is the
// call in which its threads are seen, where that is the same nearly always, and for as long.
const (
	mostlySystem = .7 // of its CPU time
	oneCall      = .7 // of the looks at threads in calls
	asLong       = .5 // times the looks at threads that run
)

// besideCalls takes threads that run in the kernel for being in the call that they are seen in.
func (t *Threads) besideCalls(s evidence.SubjectID) {
	if !(t.systemShare(s) >= mostlySystem) {
		return
	}
	seen := make(map[evidence.StackID]int) // one of each pattern stands for it
	first := make(map[string]*Look)
	running, calls := 0, 0
	for i := range t.looks[s] {
		switch l := &t.looks[s][i]; {
		case !l.View.Request:
		case l.View.State == evidence.Running:
			running++
		case l.View.State == evidence.Syscall:
			calls++
			if first[l.View.Pattern] == nil {
				first[l.View.Pattern] = l
			}
			seen[first[l.View.Pattern].Stack]++
		}
	}
	var most *Look
	for _, l := range first {
		if most == nil || seen[l.Stack] > seen[most.Stack] {
			most = l
		}
	}
	if most == nil || float64(seen[most.Stack]) < oneCall*float64(calls) || float64(seen[most.Stack]) < asLong*float64(running) {
		return
	}
	pattern := most.View.Pattern
	for i := range t.looks[s] {
		if v := &t.looks[s][i].View; v.Request && v.State == evidence.Running {
			v.State, v.Pattern, v.Wait = evidence.Syscall, pattern, 0
		}
	}
}

// systemShare is the part of a process's CPU time that is the kernel's; NaN unknown.
func (t *Threads) systemShare(s evidence.SubjectID) float64 {
	sum := func(name string) float64 {
		x := t.b.SeriesOf(s, name)
		if x == nil {
			return math.NaN()
		}
		total := 0.
		for i := 1; i < len(x.T); i++ {
			total += x.V[i-1] * float64(x.T[i]-x.T[i-1])
		}
		return total
	}
	return sum(evidence.SeriesProcessCPUSystem) / sum(evidence.SeriesProcessCPU)
}

// leastPool is how many threads that wait for work at a condition variable make a pool: one alone
// may do what it does beside requests, such as writing a log.
const leastPool = 2

// settle finds where a thread waits for work, and takes it for idle there.
func (n *native) settle() {
	var top uint64
	for i, by := range n.by {
		if by != noWork && n.deep[i] > top {
			top = n.deep[i]
		}
	}
	outer := func(i int) bool { return n.by[i] != noWork && n.deep[i]+sameDepth > top }
	for i, by := range n.by {
		if outer(i) && (n.idles == noWork || by < n.idles) {
			n.idles = by
		}
	}
	for i, l := range n.looks {
		v, by := &l.View, n.by[i]
		if by == byClient || outer(i) && (by == n.idles || by == byPoll) {
			v.State, v.Pattern, v.Wait = evidence.Idle, "", -1
		}
		n.polls = n.polls || by == byPoll || by == byClient
		if v.State != evidence.Idle {
			n.busy++
		}
	}
}
