package threads

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/codepath"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// NativeStacks reads looks at the threads of a process without a runtime, or with one that reports nothing of them: by what the kernel says that each
// waits for (internal/format/syscalls). Several looks at a thread together show its purpose (native_role.go).
var NativeStacks = Reader{Read: Native, Framework: func(string) bool { return true }, Holds: true, Rounds: true, Apart: true, Settle: settleNative}

// ScheduledStacks reads looks at threads on which a runtime runs lanes of its own, such as Go's goroutines: waits among these keep no
// thread. Calls that keep one do, such as fsync; nothing else that such a thread does counts as a request's.
var ScheduledStacks = Reader{Read: Native, Framework: func(string) bool { return true }, Holds: true, Rounds: true, Apart: true, Scheduled: true, Settle: settleScheduled}

// Adopt turns looks at threads' system calls ([evidence.SampleSyscall]) into looks at threads, for processes whose readers are
// [NativeStacks], and for those with [ScheduledStacks] whose requests are hardly followed. For other processes the system calls add what
// their own stacks lack.
func Adopt(b *evidence.Bundle, of Readers) {
	adoptFlight(b)
	from := b.Names.Lookup(evidence.SampleSyscall)
	if from == 0 {
		return
	}
	to := b.Names.ID(evidence.SampleThread)
	x := &b.Samples
	own := make(map[evidence.SubjectID]bool) // with looks of their own
	for i := range x.Len() {
		own[x.Subject[i]] = own[x.Subject[i]] || x.Type[i] == to
	}
	followed, clients := make(map[evidence.SubjectID]int), make(map[evidence.SubjectID]int)
	for i := range b.Requests.Len() {
		if s := b.Requests.Subject.At(i); b.Requests.Lane.At(i) != 0 {
			followed[s]++
		} else {
			clients[s]++
		}
	}
	for s := range b.Subjects {
		s := evidence.SubjectID(s)
		if few := float64(followed[s]) < fewFollowed*float64(clients[s]); of[b.Subjects[s].Runtime].Scheduled && !few {
			own[s] = true
		}
	}
	native := func(s evidence.SubjectID) bool { return of[b.Subjects[s].Runtime].Settle != nil && !own[s] }
	x.Type = slices.Clone(x.Type) // what was read stays as it was
	var looks []int
	for i := range x.Len() {
		if x.Type[i] == from && native(x.Subject[i]) {
			x.Type[i] = to
			looks = append(looks, i)
		}
	}
	addKernelDetail(b, looks)
	fillMissing(b, looks)
	for _, c := range b.Coverage {
		if c.Kind == evidence.CoverSyscalls && native(c.Subject) {
			c.Kind = evidence.CoverThreads
			b.Coverage = append(b.Coverage, c)
		}
	}
}

// fewFollowed times as many requests sent by clients make the followed ones too few to represent the rest.
const fewFollowed = .1

// Native reads the kernel's text for a thread, as internal/format/syscalls stores it.
func Native(of threadstack.Stack, _ string) threadstack.View {
	v := threadstack.View{State: evidence.Running, Wait: -1, User: -1, Outer: -1, Began: -1, Kernel: true}
	v.Pool = threadstack.TrimNumber(strings.Trim(of.Name, "[]"))
	call, on := nativeCall(&of)
	v.Owner, v.Owns, v.Library = findNativeOwner(of.Frames)
	if evidence.OnFutex(call) && call != evidence.CallFutexMutex {
		on.Name = conditionWord(on.Name)
	}
	if call == "" || call == evidence.CallRunning {
		v.Ready = of.Ready
		return v
	}
	v.Waits = evidence.Wait{Call: call, Class: classOf[call], File: on.Kind == evidence.File}
	if evidence.OnFutex(call) {
		v.Waits.Kind = evidence.FutexWait
	}
	if call == evidence.CallFutexMutex && waitsWithin(of.Frames, interpreterLockTakers) { // its words in memory are those of a mutex and of a condition variable
		v.State, v.Pattern, v.Waits.Of = evidence.LockWait, evidence.InterpreterLock, evidence.InterpreterLock
		if strings.HasPrefix(v.Owner, "PyEval_") {
			v.Owner = ""
		}
		return v
	}
	if call == evidence.CallFutexTimed && waitsInScript(of.Frames) {
		v.State, v.Pattern = evidence.SyncWait, scriptWait
		if sleepsInScript(of.Frames) {
			v.State, v.Waits.Kind = evidence.SleepWait, evidence.OtherWait
		}
		return v
	}
	w, known := nativeWaits[call]
	if !known {
		w = nativeWait{state: evidence.Syscall}
	}
	v.State, v.Pattern = w.state, call
	reason, class := nativeReason(call, on, of.Kernel)
	if class != "" {
		v.Waits.Class = class
	}
	if call == evidence.CallPageFault {
		if v.Pattern = reason; class != "" {
			v.Waits.Call = ""
		}
		return v
	}
	if on.Kind == evidence.NewSocket && strings.HasPrefix(of.Kernel, "unix_") {
		on = evidence.Object{Kind: evidence.UnixSocket} // it was not told yet what it is, but for where in the kernel the thread waits
	}
	if wait, is := onSocket[on.Kind]; is && w.on != "" {
		v.State, v.Waits.Of = wait.state, wait.words
		switch {
		case on.Kind == evidence.Peer:
			v.Waits.Of = on.Name
		case on.Kind == evidence.Pipe && isWriteCall(call):
			v.State, v.Waits.Kind = evidence.Syscall, evidence.RoomToWrite
			v.Waits.Of += " that " + readerName(on.Name) + tooSlowly
		case on.Kind == evidence.UnixSocket && on.Name != "":
			v.Waits.Of += " (" + on.Name + ")"
		}
		if (on.Kind == evidence.UnixSocket || strings.HasPrefix(on.Name, "unix:")) && isWriteCall(call) {
			v.Waits.Kind = evidence.RoomToWrite
			v.Waits.Of += " that " + readerName("") + tooSlowly
		}
		v.Pattern = strings.TrimSpace(call + w.on + " " + v.Waits.Of)
		if v.State == evidence.NetWait {
			v.Pattern = "sync I/O: " + v.Pattern
		}
		return v
	}
	if on.Kind != evidence.NoObject {
		v.Pattern += w.joinWord(on) + on.String()
	}
	if reason != "" {
		v.Pattern += " (" + reason + ")"
	}
	return v
}

// tooSlowly ends what is said of a write that waits for room in a pipe or a socket of this host.
const tooSlowly = " empties too slowly"

// classOf maps calls, and texts in place of a call, that are a mechanism of the kernel.
var classOf = map[string]string{evidence.KernelThreads: evidence.KernelThreads, forks: evidence.KernelFork, evidence.KernelReclaim: evidence.KernelReclaim,
	evidence.KernelCompaction: evidence.KernelCompaction}

func readerName(name string) string {
	if name == "" {
		return "its reader"
	}
	return name
}

// nativePath returns the program's own functions on a stack, innermost first.
func nativePath(frames []string) (path []string) {
	for _, f := range frames {
		if f == evidence.UnknownFunction {
			break
		}
		if name, in := nativeFunction(f); name != "" && in == "" && !nativeRuntime(name, in) && !strings.HasPrefix(name, codepath.Module+" ") {
			path = append(path, tidyName(name))
		}
	}
	return path
}

// conditionWord returns the word at which threads wait for a condition variable, which has two.
func conditionWord(on string) string {
	name, offset, behind := strings.Cut(on, "+0x")
	if address, ok := strings.CutPrefix(on, "0x"); ok {
		return fmt.Sprintf("%#x", hexOf(address)&^sameCondition)
	} else if behind {
		return fmt.Sprintf("%s+%#x", name, hexOf(offset)&^sameCondition)
	}
	return on
}

// sameCondition are the bits in which the two words differ at which threads wait in turn for one condition variable (glibc,
// nptl/pthread_cond_wait.c, __g_signals).
const sameCondition = 7

// nativeWait is the meaning of a call that a thread is in.
type nativeWait struct {
	state evidence.Kind
	on    string // the word that joins a socket: " from", " to"; "": the call has none
	at    bool   // the object of the call is an address
}

func (w nativeWait) joinWord(on evidence.Object) string {
	switch {
	case !w.at:
		return " of "
	case on.Kind == evidence.WordAddress:
		return " at "
	}
	return " " // it has a name
}

// nativeWaits are the calls that are waits rather than work in the kernel; all others are work.
var nativeWaits = map[string]nativeWait{
	evidence.CallFutexMutex: {state: evidence.LockWait, at: true},
	evidence.CallFutex:      {state: evidence.SyncWait, at: true},
	evidence.CallFutexTimed: {state: evidence.SyncWait, at: true},
	"futex_wait":            {state: evidence.SyncWait, at: true},
	"futex_waitv":           {state: evidence.SyncWait},
	"semop":                 {state: evidence.SyncWait},
	"semtimedop":            {state: evidence.SyncWait},
	"msgrcv":                {state: evidence.SyncWait},
	"wait4":                 {state: evidence.SyncWait},
	"waitid":                {state: evidence.SyncWait},
	"vfork":                 {state: evidence.SyncWait},
	"nanosleep":             {state: evidence.SleepWait},
	"clock_nanosleep":       {state: evidence.SleepWait},
	"epoll_wait":            {state: evidence.SyncWait},
	"poll":                  {state: evidence.SyncWait, on: " for"},
	"ppoll":                 {state: evidence.SyncWait, on: " for"},
	"select":                {state: evidence.SyncWait},
	"pselect":               {state: evidence.SyncWait},
	"io_getevents":          {state: evidence.Syscall},
	"io_uring_enter":        {state: evidence.SyncWait},
	"rt_sigtimedwait":       {state: evidence.SyncWait},
	"rt_sigsuspend":         {state: evidence.SyncWait},
	"pause":                 {state: evidence.SyncWait},
	"restart_syscall":       {state: evidence.SyncWait}, // a call that a signal interrupted: a sleep, poll or futex with a timeout
	"accept":                {state: evidence.Idle, on: " from"},
	"connect":               {state: evidence.NetWait, on: " to"},
	"read":                  {state: evidence.Syscall, on: " from"},
	"readv":                 {state: evidence.Syscall, on: " from"},
	"recvfrom":              {state: evidence.Syscall, on: " from"},
	"recvmsg":               {state: evidence.Syscall, on: " from"},
	"recvmmsg":              {state: evidence.Syscall, on: " from"},
	"write":                 {state: evidence.Syscall, on: " to"},
	"writev":                {state: evidence.Syscall, on: " to"},
	"sendto":                {state: evidence.Syscall, on: " to"},
	"sendmsg":               {state: evidence.Syscall, on: " to"},
	"sendmmsg":              {state: evidence.Syscall, on: " to"},
	"sendfile":              {state: evidence.Syscall, on: " to"},
}

// socketWait is the state of a thread that waits on one kind of descriptor, with its words.
type socketWait struct {
	state evidence.Kind
	words string
}

var onSocket = map[evidence.ObjectKind]socketWait{
	evidence.Client:     {evidence.ClientWait, "the client"},
	evidence.Listener:   {evidence.Idle, "the listening socket"},
	evidence.Peer:       {evidence.NetWait, ""},
	evidence.UnixSocket: {evidence.NetWait, "a UNIX socket"},
	evidence.UDPSocket:  {evidence.NetWait, "a UDP socket"},
	evidence.NewSocket:  {evidence.ClientWait, threadstack.UnknownEnd}, // a kept connection becomes known soon
	evidence.Pipe:       {evidence.SyncWait, "a pipe"},
	evidence.EventFD:    {evidence.SyncWait, "an eventfd"},
	evidence.TimerFD:    {evidence.SleepWait, "a timer"},
	evidence.Inotify:    {evidence.SyncWait, "inotify"},
	evidence.SignalFD:   {evidence.SyncWait, "signalfd"},
}

// nativeCall returns the call of a thread and its object. A futex in a function that takes a lock is that of a lock, whatever its word
// holds; one within a fork is part of the fork, because forks of one process take turns. The costs of starting a thread count as starting
// it: memory for its stack, locks of the C library and of the memory map.
func nativeCall(of *threadstack.Stack) (call string, on evidence.Object) {
	call, on = of.Call, of.On
	switch {
	case waitsWithin(of.Frames, starting), call == evidence.CallFutexMutex && waitsWithin(of.Frames, joining):
		return evidence.KernelThreads, evidence.Object{}
	case !evidence.OnFutex(call):
	case waitsWithin(of.Frames, forking):
		return forks, evidence.Object{} // only the C library knows what else a fork locks
	case waitsWithin(of.Frames, lockTakers):
		call = evidence.CallFutexMutex
	}
	return call, on
}

// nativeOwner returns the program's own function in which a thread waits, as [findNativeOwner] does.
func nativeOwner(frames []string) (owner string, library bool) {
	owner, _, library = findNativeOwner(frames)
	return owner, library
}

// findNativeOwner returns the program's own function in which a thread waits, "" unknown, and its frame: the innermost one outside of system libraries and
// languages' runtimes, or if there is none, the innermost one in a library; of a library that is run from its source, which has many small functions, the
// one by which others called it.
func findNativeOwner(frames []string) (owner string, at int, library bool) {
	module, started, source := "", 0, ""
	for i, f := range frames {
		name, in := nativeFunction(f)
		if name == evidence.UnknownFunction || codepath.IsLoop(name, in) {
			break // the caller is unknown, or only started the loop: from here on this is not the stack of what runs
		}
		switch of := codepath.Package(in); {
		case name == "" || codepath.IsPlumbing(in) || of == "" && nativeRuntime(name, in):
		case strings.HasPrefix(name, codepath.Module+" "): // it started what runs
			if module == "" {
				module, started = name, i
			}
		case in == "":
			return tidyName(name), i, false
		case of != "" && (owner == "" || of == source):
			owner, at, source = f, i, of
		case owner == "":
			owner, at = tidyName(name), i
		default:
			source = "" // it was called by another library
		}
	}
	if owner == "" {
		return module, started, false
	}
	return owner, at, true
}

func hexOf(s string) (n uint64) {
	for _, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint64(c-'a'+10)
		default:
			return 0
		}
	}
	return n
}
