package gotrace

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/gostack"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// stack is a call stack and what it says about its goroutine.
//
// Fields that are read of every stack come first, so that they share a cache line.
type stack struct {
	sid      evidence.StackID
	name     evidence.NameID // root, where the stack is not cut short
	waiting  evidence.NameID // which lock or pool
	needs    evidence.NameID // which dependency a network wait is for
	call     evidence.NameID // which system call, unless on a connection: \"fsync in main.(*journal).append\"
	handed   evidence.NameID // of a hand-over: reason and place; 0 until asked for
	server   *serverKind     // not nil: its goroutine serves requests
	stage    stage
	io       inOut
	wait     evidence.Kind
	client   bool              // it reads from or writes to the client
	getConn  bool              // waits for a connection of net/http's client: a dial, or one handed back
	join     bool              // waits for others to finish, not for something they hold
	answer   bool              // waits for a dependency's answer that another goroutine reads
	runtime  bool              // a goroutine of the runtime
	probe    bool              // makes a profile or trace for somebody who asked
	pprof    bool              // a function on it is called after net/http/pprof
	receives bool              // takes from a channel
	forces   bool              // asks for a GC cycle: runtime.GC, debug.FreeOSMemory
	flushes  bool              // hands a written part of an HTTP/2 response to the connection's goroutine
	callers  []evidence.Caller // the handler and its callers
	handling int32             // number of the callers plus one; 0 until asked for
	root     string
	place    string           // the innermost function outside the runtime and locks
	own      string           // the innermost function that is outside libraries that limit goroutines as well
	caller   evidence.StackID // the stack without its innermost frames in packages that read and write
	queue    evidence.NameID  // the queue of the goroutine with that root; 0 until asked for
	custom   *customServer    // the server whose function root is
	customs  int              // known servers when custom was looked up
}

// stackTable caches what stacks say. Indices are valid in one generation of a trace, IDs in all of it.
type stackTable struct {
	b      *evidence.Builder
	now    *wire.Generation
	known  []known  // by index in the generation now
	read   []*stack // by ID
	callOf []*call  // by the frame's index in the generation now; nil until asked for
	calls  map[uint64]*call
	frames []evidence.Frame
	funcs  []string
}

// known is what a stack of the generation says, once asked for.
type known struct {
	asked bool
	*stack
}

// call is a frame as it was last seen at its PC; the program stays the same from
// generation to generation.
type call struct {
	fn, file string
	line     uint64
	frame    evidence.Frame
}

// maxCalls bounds the calls that are remembered; real programs have a few
// thousand.
const maxCalls = 1 << 16

// setGeneration sets the generation that indices are of from now on.
func (t *stackTable) setGeneration(g *wire.Generation) {
	if g == nil || g == t.now {
		return
	}
	if t.now == nil || !g.Continues(t.now) {
		clear(t.known)
		t.known = t.known[:0]
		clear(t.callOf)
		t.callOf = t.callOf[:0]
	}
	t.now = g
	n := len(t.known)
	t.known = slices.Grow(t.known, g.Stacks()-n)[:g.Stacks()]
	t.callOf = slices.Grow(t.callOf, g.Frames()-len(t.callOf))[:g.Frames()]
}

// stackAt returns what the stack with index i says, nil for no stack.
func (t *stackTable) stackAt(i uint32) *stack {
	if i == 0 {
		return nil
	}
	k := &t.known[i]
	if !k.asked {
		k.asked, k.stack = true, t.interpretStack(i)
	}
	return k.stack
}

// stackByID returns what the stack of that ID says, nil for none.
func (t *stackTable) stackByID(id evidence.StackID) *stack {
	if int(id) >= len(t.read) {
		return nil
	}
	return t.read[id]
}

func (t *stackTable) interpretStack(i uint32) *stack {
	t.frames, t.funcs = t.frames[:0], t.funcs[:0]
	for _, f := range t.now.Stack(i) {
		c := t.callOf[f]
		if c == nil {
			c = t.internCall(t.now.Frame(f))
			t.callOf[f] = c
		}
		t.frames = append(t.frames, c.frame)
		t.funcs = append(t.funcs, c.fn)
	}
	if len(t.funcs) == 0 {
		return nil
	}
	id := t.b.Stack(t.frames)
	if int(id) < len(t.read) && t.read[id] != nil {
		return t.read[id]
	}
	k := &stack{sid: id}
	k.classify(t.b, t.funcs)
	if !k.runtime {
		k.callers = listCallers(t.funcs, t.frames)
	}
	if k.io == ioRead {
		k.caller = t.b.Stack(t.frames[gostack.CountPlumbing(t.funcs):])
	}
	for int(id) >= len(t.read) {
		t.read = append(t.read, nil)
	}
	t.read[id] = k
	return k
}

func (t *stackTable) internCall(f *wire.Frame) *call {
	fn, file := t.now.Text(f.Func), t.now.Text(f.File)
	c := t.calls[f.PC]
	if c != nil && c.line == f.Line && c.fn == fn && c.file == file {
		return c
	}
	if t.calls == nil || len(t.calls) >= maxCalls {
		t.calls = make(map[uint64]*call)
	}
	frame := evidence.Frame{Func: t.b.Name(fn), File: t.b.Name(file), Line: int32(min(f.Line, 1<<31-1))}
	c = &call{t.b.Text(frame.Func), t.b.Text(frame.File), f.Line, frame} // texts not of the generation, which would be kept for them
	t.calls[f.PC] = c
	return c
}

// maxFrames is how many frames of a stack the runtime writes (traceStackSize in
// runtime/trace.go).
const maxFrames = 128

// classify reads a stack; funcs are innermost first.
func (k *stack) classify(b *evidence.Builder, funcs []string) {
	k.root = funcs[len(funcs)-1]
	for _, f := range funcs {
		if gostack.IsOutside(f) {
			if k.place == "" {
				k.place = f
			}
			if !isLimiter(f) {
				k.own = f
				break
			}
		}
	}
	if len(funcs) < maxFrames {
		k.name = b.Name(k.root)
	}
	k.runtime = isRuntime(k.root)
	k.probe = !k.runtime && isProbing(funcs)
	k.pprof = !k.runtime && hasPprofName(funcs)
	k.server, k.stage, k.client = matchServer(funcs)
	k.io = inOutOf(funcs)
	k.receives = strings.HasPrefix(funcs[0], "runtime.chanrecv")
	k.forces = slices.Contains(funcs, "runtime.GC")
	k.flushes = k.server != nil && flushesHTTP2(funcs)
	k.needs = b.Name(gostack.Dependency(funcs))
	if site := gostack.Writer(funcs); k.io == ioWrite && k.needs != 0 && site != "" {
		k.needs = b.Wait(evidence.UnreadPeer, site)
	}
	call, in := gostack.SystemCall(funcs)
	k.call = b.TellWait(call+in, evidence.Wait{Call: call})
	switch w := gostack.WaitOf(funcs); w.For {
	case gostack.Join:
		k.join = true
	case gostack.Connection:
		k.getConn = true
	case gostack.Answer:
		k.answer, k.needs = true, b.Name(w.Name)
	case gostack.Collector:
		k.wait, k.waiting = evidence.GCWait, b.Name(w.Name)
	case gostack.Lock:
		k.wait, k.waiting = evidence.LockWait, b.Name(w.Name)
	case gostack.Pool:
		k.wait, k.waiting = evidence.PoolWait, b.Name(w.Name)
	}
}

func isRuntime(root string) bool {
	return root != "runtime.main" && (strings.HasPrefix(root, "runtime.") || strings.HasPrefix(root, "runtime/trace.") || strings.HasPrefix(root, "runtime/pprof."))
}

func (k *stack) stackID() evidence.StackID {
	if k == nil {
		return 0
	}
	return k.sid
}

func (k *stack) syscallName() evidence.NameID {
	if k == nil {
		return 0
	}
	return k.call
}

func (k *stack) dependencyName() evidence.NameID {
	if k == nil {
		return 0
	}
	return k.needs
}

// handOver names the thing that a goroutine waits for another to hand over:
// "chan send in main.(*limiter).acquire".
func (k *stack) handOver(w *world, reason string) evidence.NameID {
	if k == nil || k.place == "" {
		return w.b.Name(reason)
	}
	if k.handed == 0 {
		k.handed = w.b.Name(reason + " in " + k.place)
	}
	return k.handed
}

func (k *stack) isJoin() bool { return k != nil && k.join }
