package threadstack

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Dotnet reads a stack of .NET Core 3.1 and later, or of .NET Framework: frames
// innermost first as dotnet-stack and PerfView print them, "Module!Namespace.Type.Method(…)".
// Entry is the name of the program's entry assembly, "" unknown.
//
// The user's own code is what is in no framework module (System.*, Microsoft.*, …) and in no well-known library of a list; the entry
// assembly, and assemblies with the same first part of their name, always are. Stacks have no symbols, by which a debugger recognises "Just
// My Code". If there is only a library's frame, it is returned and marked. On .NET 10 the method that blocks can be missing from its own
// stack (it ended in the blocking call, which took its place): then the only trace of it is in the names of async methods further down.
func Dotnet(of Stack, entry string) View {
	frames := of.Frames
	s := dotnetStack{frames: make([]dotnetFrame, len(frames)), view: View{State: evidence.Running, Wait: -1, User: -1, Outer: -1, Began: -1}}
	own := owners{entry: entry}
	for i, f := range frames {
		s.frames[i] = readDotnet(f, &own)
	}
	s.start = slices.IndexFunc(s.frames, func(f dotnetFrame) bool { return !f.none })
	if s.start < 0 {
		s.view.State = evidence.Idle // it runs nothing managed
		return s.view
	}
	s.native = s.start > 0 && slices.ContainsFunc(s.frames[:s.start], func(f dotnetFrame) bool { return f.native })
	s.findRole()
	s.findWait()
	s.findOwner()
	s.findOuter()
	if s.view.User >= 0 {
		s.view.Owner = s.ownerText(frames[s.view.User])
	}
	s.findSockets()
	s.markIdle()
	return s.view
}

// dotnetFrame is a frame in the form that the tables match.
type dotnetFrame struct {
	name   string // Namespace.Type+Nested.Method, without type arguments and parameters
	own    ownership
	none   bool // not a method: where a thread was, an unknown address
	native bool // … in native code
	async  string
}

type dotnetStack struct {
	frames []dotnetFrame
	start  int  // the innermost managed frame
	native bool // the thread was in native code: it called the system, or waited
	view   View
}

func readDotnet(frame string, own *owners) dotnetFrame {
	if isPseudo(frame) {
		return dotnetFrame{none: true, native: frame == nativeFrames || frame == "UNMANAGED_CODE_TIME"}
	}
	module, rest := splitModule(frame)
	bare, _ := splitParams(rest)
	f := dotnetFrame{name: dropGenerics(bare)}
	f.own = own.ownershipOf(module, f.name)
	if f.own == framework {
		f.async = stateMachine(rest)
	}
	return f
}

// findRole finds the thread's purpose from the frames that it began with, and whether it works on a request.
func (s *dotnetStack) findRole() {
	begun := false
	for i := len(s.frames) - 1; i >= s.start; i-- {
		f := &s.frames[i]
		if !begun {
			if s.view.Role = roleOf(f); s.view.Role != Other {
				s.view.Began = i
			}
			begun = s.view.Role != Other || f.own != framework && !f.none
		}
		if !s.view.Request && f.own == framework {
			s.view.Request = hasPrefix(f.name, requestFrames) && !hasPrefix(f.name, serverFrames)
		}
	}
}

func roleOf(f *dotnetFrame) Role {
	for _, r := range dotnetRoles {
		if strings.HasPrefix(f.name, r.prefix) && (f.own == framework || f.own == library) {
			return r.role
		}
	}
	if f.own == users && (strings.HasSuffix(f.name, ".Main") || strings.HasSuffix(f.name, ".<Main>$") || strings.HasSuffix(f.name, ".<Main>")) {
		return Main
	}
	return Other
}

// maxBetween is how many frames may be between two that show what a thread waits for: SqlClient has a dozen between a command and its
// socket.
const maxBetween = 12

// findWait finds what the thread waits for: from the innermost frame outwards, each blocking call describes it better, up to the user's
// first frame.
func (s *dotnetStack) findWait() {
	v := &s.view
	native := s.native || hasPrefix(s.frames[s.start].name, nativeCalls)
	last, rank := s.start, 0
	for i := s.start; i < len(s.frames) && i-last <= maxBetween; i++ {
		f := &s.frames[i]
		if f.own == users {
			break
		}
		w := waitOf(f)
		if w == nil {
			if v.Wait < 0 && !native && !hasPrefix(f.name, waitPlumbing) {
				break // it runs
			}
			continue
		}
		switch {
		case w.rank < rank, w.native && !native && v.Wait < 0:
			continue
		case w.rank == rankIO && v.State == evidence.TaskWait:
			continue // a library that blocks on tasks of its own
		case w.state == evidence.KindUnknown && rank < rankIO:
			continue
		case w.state != evidence.KindUnknown:
			v.State = w.state
		}
		last, rank, v.Wait, v.Pattern = i, w.rank, i, w.pattern
		if w.rank == rankIO {
			v.Pattern = "sync I/O: " + typeAndMethod(f.name)
		}
	}
	if v.Wait < 0 && native {
		v.State, v.Pattern = s.nativeCallState()
		if s.frames[s.start].own == users && slices.ContainsFunc(s.frames, func(f dotnetFrame) bool { return hasPrefix(f.name, beforeSix) }) {
			v.State, v.Pattern = evidence.SleepWait, HiddenSleep
		}
	}
}

// nativeCallState returns what a thread does in native code where no managed frame shows a wait. The name of its import identifies a call of
// the runtime's own libraries: their native part makes system calls, all others compute. Sockets are called without waiting, unless a frame
// shows otherwise.
func (s *dotnetStack) nativeCallState() (evidence.Kind, string) {
	for i := s.start; i < len(s.frames) && s.frames[i].own == framework; i++ {
		name, ok := strings.CutPrefix(s.frames[i].name, "Interop+")
		if !ok {
			if hasPrefix(s.frames[i].name, nativeCalls) {
				continue // its stub
			}
			break
		}
		call, system := strings.CutPrefix(name, "Sys.")
		switch {
		case !system, hasPrefix(call, atOnce):
			return evidence.Running, ""
		case hasPrefix(call, innerWaits):
			return evidence.KindUnknown, ""
		}
		return evidence.Syscall, strings.ToLower(strings.TrimPrefix(call, "<"))
	}
	return evidence.KindUnknown, ""
}

// atOnce are system calls of the runtime that do not wait; innerWaits are the parts of its own waits.
var (
	atOnce     = []string{"Send", "Receive", "TryGetIPPacketInformation", "Get", "Set", "SocketShutdown", "Shutdown", "Close", "SysLog", "Malloc", "Free", "LowLevelMonitor_Signal", "LowLevelMonitor_Acquire", "LowLevelMonitor_Release"}
	innerWaits = []string{"LowLevel", "WaitForSocketEvents", "Poll", "Connect", "Accept"}
)

func waitOf(f *dotnetFrame) *dotnetWait {
	for i := range dotnetWaits {
		w := &dotnetWaits[i]
		if strings.HasPrefix(f.name, w.prefix) && !hasPrefix(f.name[len(w.prefix):], w.not) {
			return w
		}
	}
	return nil
}

// findOwner finds the user's frame: the nearest of their own, else that of an async method named in the type arguments of the runtime's
// frames, else the nearest library's.
func (s *dotnetStack) findOwner() {
	from := max(s.start, s.view.Wait+1)
	if s.view.Wait >= 0 && s.frames[s.view.Wait].own == library {
		from = s.view.Wait
	}
	pick := func(fits func(*dotnetFrame) bool) bool {
		for i := from; i < len(s.frames); i++ {
			if fits(&s.frames[i]) {
				s.view.User = i
				return true
			}
		}
		return false
	}
	switch {
	case pick(func(f *dotnetFrame) bool { return f.own == users && !f.none }):
		s.liftToMethod()
	case pick(func(f *dotnetFrame) bool { return f.async != "" }):
	case pick(func(f *dotnetFrame) bool { return f.own == library }):
		s.view.Library = true
	}
}

// liftToMethod counts the work of a lambda or a local function as work of the method that contains it, if that method called it, for example
// through a query.
func (s *dotnetStack) liftToMethod() {
	v := &s.view
	if v.Wait >= 0 {
		return
	}
	within := Parse(s.frames[v.User].name)
	name, _, nested := strings.Cut(within.Name, ".")
	if !nested || name == "" {
		return
	}
	for i := v.User + 1; i < len(s.frames); i++ {
		if f := &s.frames[i]; f.own == users && !f.none {
			if by := Parse(f.name); by.Type == within.Type && by.Name == name {
				v.User = i
				return
			}
		}
	}
}

// findOuter follows the user's own code from the blocking frame outwards, through the runtime's frames between an async method and its body.
func (s *dotnetStack) findOuter() {
	v := &s.view
	if v.Outer = v.User; v.User < 0 || s.frames[v.User].own != users {
		return
	}
	v.findCallers(len(s.frames), func(i int) string {
		if f := &s.frames[i]; f.own != users || f.none {
			return ""
		}
		return Bare(Short(s.frames[i].name))
	})
	for i := v.User + 1; i < len(s.frames); i++ {
		switch f := &s.frames[i]; {
		case f.own == users && !f.none:
			v.Outer = i
		case !hasPrefix(f.name, asyncPlumbing):
			return
		}
	}
}

func (s *dotnetStack) ownerText(frame string) string {
	if async := s.frames[s.view.User].async; async != "" {
		return Short(async + ".MoveNext()")
	}
	return Short(frame)
}

// markIdle separates threads with nothing to do from those that wait with work on their hands.
func (s *dotnetStack) markIdle() {
	v := &s.view
	switch {
	case v.Role == Finalizer && v.User >= 0: // it runs a finalizer of the program
		return
	case v.Role == Worker && !slices.ContainsFunc(s.frames, func(f dotnetFrame) bool { return hasPrefix(f.name, dispatchFrames) }):
		v.State = evidence.Idle
	case (v.Role == Runtime || v.Role == IO || v.Role == Gate || v.Role == Timer || v.Role == Finalizer) && (v.State != evidence.Running || v.Began == s.start):
		v.State = evidence.Idle // in its own loop it waits for work
	default:
		return
	}
	v.Pattern, v.Wait = "", -1
}

func hasPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// typeAndMethod returns "NetworkStream.Read" for "System.Net.Sockets.NetworkStream.Read".
func typeAndMethod(name string) string {
	typ, method := splitLast(name)
	return withoutNamespace(typ) + "." + strings.TrimPrefix(method, ".")
}

// stateMachine finds the state machine of the user's async method in a frame's type arguments:
// AsyncStateMachineBox`1[…,Shop.Cart+<Get>d__3].MoveNext(…).
func stateMachine(frame string) string {
	for rest := frame; ; {
		i := strings.Index(rest, "+<")
		if i < 0 {
			return ""
		}
		begin := strings.LastIndexAny(rest[:i], "[], ") + 1
		end := strings.IndexAny(rest[i:], "[],(")
		if end < 0 {
			return ""
		}
		name := rest[begin : i+end]
		rest = rest[i+end:]
		// Behind the closing bracket comes the frame's own method.
		if n := lastNested(name); begin > 0 && n >= 0 && generatedBy(name[n+1:]) == 'd' && !hasPrefix(name, frameworkNames) && !hasPrefix(name, libraryNames) {
			return name
		}
	}
}
