package threadstack

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// JVM reads a stack of HotSpot, JDK 6 and later: frames innermost first as internal/format/threaddump returns them, "shop.Cart.get", with
// HotSpot's facts about the thread's lock, and the pool's name. Entry is the class or package of the program, "" unknown.
//
// To the JVM a thread in a native socket call is running. Here it waits for the network, because a stack cannot distinguish a read that
// blocks from one that has just been called. The user's own code is what is in no package of the JDK, of a framework or of a library in a
// list; stacks do not mark it.
func JVM(of Stack, entry string) View {
	if of.Unmounted {
		return notMounted
	}
	s := jvmStack{frames: make([]jvmFrame, len(of.Frames)), view: View{State: evidence.Running, Pool: of.Name, Wait: -1, User: -1, Outer: -1, Began: -1}}
	for i, f := range of.Frames {
		s.frames[i] = readJVM(f, entry)
	}
	s.start = slices.IndexFunc(s.frames, func(f jvmFrame) bool { return !f.none })
	if s.start < 0 || s.view.Pool == "Attach Listener" { // a thread of the virtual machine; this one takes the dump
		s.view.State, s.view.Role = evidence.Idle, Runtime
		if of.Lock == evidence.ToLock && len(of.Frames) == 0 { // a list of monitors, without stacks
			s.view.State, s.view.Role, s.view.Pattern = evidence.LockWait, Other, "synchronized"
		}
		return s.view
	}
	s.findRole()
	if of.Lock == evidence.ToLock {
		s.view.State, s.view.Pattern = evidence.LockWait, "synchronized"
	} else {
		s.findPrimitive()
		s.refineWait()
	}
	s.findOwner()
	s.markNamedServer()
	s.findSockets()
	s.markIdle()
	s.findPoolSize()
	return s.view
}

// jvmFrame is a frame in the form that the tables match.
type jvmFrame struct {
	name string // java.util.concurrent.ThreadPoolExecutor$Worker.run
	own  ownership
	told bool // a table names its owner
	none bool // not a method
}

type jvmStack struct {
	frames []jvmFrame
	start  int // the innermost method
	view   View
}

func readJVM(frame, entry string) jvmFrame {
	if isPseudo(frame) {
		return jvmFrame{name: frame, own: framework, none: true}
	}
	f := jvmFrame{name: frame, told: hasPrefix(frame, jvmFramework) || hasPrefix(frame, jvmLibraries)}
	switch {
	case entry != "" && inPackageOf(frame, entry):
	case hasPrefix(frame, jvmFramework):
		f.own = framework
	case hasPrefix(frame, jvmLibraries), strings.Contains(frame, "$$EnhancerBy"), strings.Contains(frame, "$$FastClassBy"), strings.Contains(frame, "$$SpringCGLIB$$"),
		strings.Contains(frame, "$Proxy"), strings.Contains(frame, "ByteBuddy$"):
		f.own = library
	}
	return f
}

// inPackageOf reports whether a function is in the package of a program's class "shop.Main"; a class without a package matches nothing.
func inPackageOf(frame, entry string) bool {
	i := strings.LastIndexByte(entry, '.')
	return i > 0 && strings.HasPrefix(frame, entry[:i+1])
}

// JVMProgram returns the package of the program that a JVM's main thread runs, with ".*" for a class. It returns "" if this is not its
// stack, or if a framework runs the program. A server that others use as a library is not a library in its own process.
func JVMProgram(of Stack) string {
	n := len(of.Frames) - 1
	if n < 0 || of.Name != "main" {
		return ""
	}
	class, is := strings.CutSuffix(of.Frames[n], ".main")
	if !is || hasPrefix(of.Frames[n], jvmFramework) {
		return ""
	}
	const organisation = 3 // org.apache.zookeeper
	parts := strings.Split(class, ".")
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts[:min(len(parts)-1, organisation)], ".") + ".*"
}

// belowVirtual is how many frames are below the first one of a virtual thread: Thread.print shows three of the continuation in which it is
// mounted, a flight recording one more.
const belowVirtual = 5

// findRole finds the thread's purpose from the frames that it began with, and whether it works on a request.
func (s *jvmStack) findRole() {
	v := &s.view
	v.Virtual = slices.ContainsFunc(s.frames[max(0, len(s.frames)-belowVirtual):], func(f jvmFrame) bool { return f.name == "java.lang.VirtualThread.run" })
	v.Carrier = strings.HasPrefix(v.Pool, "VirtualThread-un") // -unparker, -unblocker
	for i := len(s.frames) - 1; i >= s.start; i-- {
		f := &s.frames[i]
		if f.none {
			continue
		}
		v.Carrier = v.Carrier || f.name == "java.lang.VirtualThread.runContinuation"
		if v.Began < 0 {
			v.Began = i
		}
		if v.Role == Other {
			for _, r := range jvmRoles {
				if strings.HasPrefix(f.name, r.prefix) {
					v.Role, v.Began = r.role, i
					v.Loop = hasPrefix(f.name, jvmLoops)
					break
				}
			}
			if v.Role == Other && f.own == users && strings.HasSuffix(f.name, ".main") && v.Pool == "main" {
				v.Role = Main
			}
		}
		v.Request = v.Request || f.told && hasPrefix(f.name, jvmRequests)
	}
	if v.Pool == "main" && v.Began >= 0 && methodOf(s.frames[v.Began].name) == "main" { // a server's main thread waits there for the server's end
		v.Request = false
	}
}

// findPrimitive finds the primitive that blocks the thread, which the innermost frames show.
func (s *jvmStack) findPrimitive() {
	v := &s.view
	for i := s.start; i < len(s.frames); i++ {
		f := &s.frames[i]
		for n := range jvmPrimitives {
			if w := &jvmPrimitives[n]; strings.HasPrefix(f.name, w.prefix) {
				v.State, v.Pattern, v.Wait = w.state, w.pattern, i
				s.markPolling()
				return
			}
		}
		if !hasPrefix(f.name, jvmPlumbing) {
			return
		}
	}
}

// markPolling separates threads that wait for connections, or for any of many, from those that wait for one. A pool's thread that does so is
// not free for tasks: Jetty accepts and selects on threads of the pool that serves.
func (s *jvmStack) markPolling() {
	v := &s.view
	if v.State == evidence.NetWait {
		for i := v.Wait; i < len(s.frames) && s.frames[i].own != users; i++ {
			if hasPrefix(s.frames[i].name, jvmAccepting) {
				v.State = evidence.Idle
			}
		}
	}
	switch {
	case v.State == evidence.Idle && (v.Role == Other || v.Role == Worker && hasPrefix(s.frames[v.Wait].name, jvmPolling)):
		v.Role = IO
	case v.Pattern == "":
		v.Pattern = "sync I/O: " + typeAndMethod(s.frames[v.Wait].name)
	}
}

// refineWait finds what the thread waits for: from the innermost frame outwards, each blocking call describes it better, up to the user's
// first frame. A parked thread may wait for anything; a read of a socket is a network wait whatever called it.
func (s *jvmStack) refineWait() {
	v := &s.view
	if v.Wait < 0 {
		return
	}
	stands := v.State == evidence.SyncWait
	if !stands && v.State != evidence.NetWait {
		return
	}
	var last *jvmWait
	handled := false // by code between the wait and the server that called it: the server waits for that code, not for the client
	for i := v.Wait + 1; i < len(s.frames) && s.frames[i].own != users; i++ {
		name := s.frames[i].name
		w := jvmWaitOf(name)
		handled = handled || w == nil && s.frames[i].told && !hasPrefix(name, jvmServerCode)
		switch {
		case w != nil && w.state == evidence.ClientWait && handled:
			return
		case w == nil, last != nil && w.rank < last.rank:
			continue
		case !stands && w.state != evidence.NetWait && w.state != evidence.ClientWait:
			continue
		case last != nil && last.rank == rankIO && w != last:
			return // the caller of the waiting library
		case v.State == evidence.LockWait || v.State == evidence.SleepWait:
			return
		}
		last, v.State, v.Wait, v.Pattern = w, w.state, i, w.pattern
		switch {
		case v.Pattern != "":
		case w.state == evidence.NetWait || w.state == evidence.ClientWait:
			v.Pattern = "sync I/O: " + typeAndMethod(name)
		default:
			v.Pattern = typeAndMethod(name)
		}
	}
}

func jvmWaitOf(name string) *jvmWait {
	for i := range jvmWaits {
		w := &jvmWaits[i]
		if strings.HasPrefix(name, w.prefix) && (w.method == nil || hasPrefix(methodOf(name), w.method)) {
			return w
		}
	}
	return nil
}

func methodOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// findOwner finds the user's frame: the nearest of their own, else of a library's.
func (s *jvmStack) findOwner() {
	v := &s.view
	from := max(s.start, v.Wait+1)
	if v.Wait >= 0 && s.frames[v.Wait].own == library {
		from = v.Wait
	}
	find := func(own ownership) int {
		for i := from; i < len(s.frames); i++ {
			if f := &s.frames[i]; f.own == own && !f.none && !strings.Contains(f.name, "$$Lambda.") {
				return i
			}
		}
		return -1
	}
	if v.User = find(users); v.User < 0 {
		v.User = find(library)
		v.Library = v.User >= 0
	}
	if v.User < 0 {
		return
	}
	v.Owner = Short(s.frames[v.User].name)
	v.Outer = v.User
	for i := v.User + 1; i < len(s.frames) && s.frames[i].own == users; i++ {
		v.Outer = i
	}
	if v.Library {
		return
	}
	v.findCallers(len(s.frames), func(i int) string {
		if f := &s.frames[i]; f.own != users || f.none || strings.Contains(f.name, "$$Lambda") {
			return ""
		}
		return Bare(Short(s.frames[i].name))
	})
}

// markNamedServer marks threads as a server's by their names where no known server is on their stacks: a program's own server names its
// threads as others do. What such a thread reads or writes itself, without a client library, belongs to its own client.
func (s *jvmStack) markNamedServer() {
	v := &s.view
	if v.Request || v.Role != Other && v.Role != Worker || v.User < 0 || v.Library || !hasPrefix(v.Pool, jvmServing) {
		return
	}
	v.Role, v.Request = Worker, true
	if v.State == evidence.NetWait && hasPrefix(s.frames[v.Wait].name, []string{"java.", "sun.nio."}) {
		v.State, v.Request = evidence.Idle, false
	}
}

// findSockets finds the user's own code that accepts connections, or reads from them.
func (s *jvmStack) findSockets() {
	v := &s.view
	if v.Wait < 0 || v.User < 0 || v.Library {
		return
	}
	plain := true
	for i := v.Wait; i < v.User; i++ {
		plain = plain && (s.frames[i].none || hasPrefix(s.frames[i].name, []string{"java.", "sun.", "jdk.internal."}))
	}
	switch {
	case !plain:
	case v.State == evidence.Idle:
		v.Accepts = slices.ContainsFunc(s.frames[v.Wait:v.User], func(f jvmFrame) bool { return hasPrefix(f.name, jvmAccepting) || hasPrefix(f.name, jvmSelecting) })
	case v.State == evidence.NetWait:
		v.Reads = strings.Contains(strings.ToLower(methodOf(s.frames[v.Wait].name)), "read") && !strings.HasPrefix(s.frames[v.Wait].name, "jdk.internal.net.http.")
	}
}

// jvmSelecting is on the stack of threads that wait for any of many connections.
var jvmSelecting = []string{"sun.nio.ch.SelectorImpl.", "java.nio.channels.Selector."}

// jvmServing are the names that servers give to threads that serve requests: http-nio-8080-exec-1, https-jsse-nio-8443-exec-1,
// ajp-bio-8009-exec-1, http-listener-1(2), grpc-default-executor-1.
var jvmServing = []string{"http-", "https-", "ajp-", "grpc-default-executor"}

// markIdle separates threads with nothing to do from those that wait with work on their hands.
func (s *jvmStack) markIdle() {
	v := &s.view
	others := v.User < 0 || v.Library
	switch {
	case v.State == evidence.Running:
		return
	case v.State == evidence.Idle, v.Role == Worker && !s.hasTask():
	case v.State == evidence.ClientWait && !v.Request: // a connection kept open
	case others && (v.Role == Runtime || v.Role == IO || v.Role == Timer || v.Role == Finalizer) && v.State != evidence.PoolWait:
	case v.State == evidence.SyncWait && !v.Request && v.Wait >= 0 && hasPrefix(methodOf(s.frames[v.Wait].name), fetches): // from a queue that other threads fill
		v.before = waiting{v.State, v.Pattern, v.Wait}
	default:
		return
	}
	v.State, v.Pattern, v.Wait = evidence.Idle, "", -1
}

// hasTask reports whether a pool's thread has a task: its stack has no frame that fetches the next task, and a frame that is not the pool's.
func (s *jvmStack) hasTask() bool {
	own := true
	for i := s.start; i < s.view.Began; i++ {
		f := &s.frames[i]
		if f.own != users && hasPrefix(f.name, jvmFetching) {
			return false
		}
		own = own && (f.none || hasPrefix(f.name, jvmPools))
	}
	return !own
}

// jvmPools are the packages with the frames of a pool's thread without a task.
var jvmPools = []string{"java.util.concurrent.", "jdk.internal.misc.", "sun.misc.", "java.lang."}
