package gotrace

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
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
		k.caller = t.b.Stack(t.frames[countPlumbing(t.funcs):])
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
		if !strings.HasPrefix(f, "runtime.") && !strings.HasPrefix(f, "sync.") && !strings.HasPrefix(f, "internal/") && !strings.HasPrefix(f, "time.") {
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
	k.needs = b.Name(findDependency(funcs))
	if site := findWriter(funcs); k.io == ioWrite && k.needs != 0 && site != "" {
		k.needs = b.Wait(evidence.UnreadPeer, site)
	}
	call, in := systemCall(funcs)
	k.call = b.TellWait(call+in, evidence.Wait{Call: call})
	for i, f := range funcs {
		w, ok := waitFunc(f)
		if !ok {
			continue
		}
		switch w.what {
		case waitsJoin:
			k.join = true
		case waitsConn:
			k.getConn = true
		case waitsAnswer:
			k.answer, k.needs = true, b.Name(w.name)
		case waitsGC:
			k.wait, k.waiting = evidence.GCWait, b.Name(w.name)
		default:
			k.wait = evidence.LockWait
			if w.what == waitsPool {
				k.wait = evidence.PoolWait
			}
			k.waiting = b.Name(w.name + calledFrom(funcs[i+1:]))
		}
		break
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

type waitsFor uint8

const (
	waitsLock waitsFor = iota
	waitsPool
	waitsJoin
	waitsConn
	waitsGC
	waitsAnswer
)

// waitFuncs are the functions that block for something known: the innermost
// that is listed decides. Match is by prefix; entries ending in $ match whole.
var waitFuncs = []struct {
	prefix string
	what   waitsFor
	name   string
}{
	{"runtime.gcStart", waitsGC, "start of a cycle"},
	{"runtime.gcMarkDone", waitsGC, "end of a cycle"},
	{"sync.(*WaitGroup).Wait$", waitsJoin, ""},
	{"golang.org/x/sync/errgroup.(*Group).Wait$", waitsJoin, ""},
	{"golang.org/x/sync/singleflight.", waitsJoin, ""},
	{"sync.(*Once).", waitsJoin, ""},
	{"database/sql.(*DB).conn$", waitsPool, "database/sql pool"},
	{"golang.org/x/sync/semaphore.(*Weighted).Acquire", waitsPool, "semaphore"},
	{"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).waitTurn", waitsPool, "go-redis pool"},
	{"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).Get", waitsPool, "go-redis pool"},
	{"github.com/go-redis/redis/v8/internal/pool.(*ConnPool).waitTurn", waitsPool, "go-redis pool"},
	{"github.com/gomodule/redigo/redis.(*Pool).", waitsPool, "redigo pool"},
	{"github.com/jackc/puddle/", waitsPool, "pgx pool"},
	{"github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire", waitsPool, "pgx pool"},
	{"go.mongodb.org/mongo-driver/x/mongo/driver/topology.(*pool).checkOut", waitsPool, "mongo pool"},
	{"net/http.(*persistConn).roundTrip$", waitsAnswer, "net/http client"},
	{"net/http.(*http2clientStream).", waitsAnswer, "net/http client"},
	{"net/http.(*http2ClientConn).", waitsAnswer, "net/http client"},
	{"google.golang.org/grpc/internal/transport.(*recvBufferReader).", waitsAnswer, "google.golang.org/grpc"},
	{"net/http.(*Transport).getConn", waitsConn, ""},
	{"net/http.(*Transport).queueForDial", waitsConn, ""},
	{"sync.(*Mutex).", waitsLock, "mutex"},
	{"sync.(*RWMutex).", waitsLock, "rwmutex"},
	{"internal/sync.(*Mutex).", waitsLock, "mutex"},
	{"internal/sync.(*HashTrieMap", waitsLock, "sync.Map"},
	{"sync.(*Map).", waitsLock, "sync.Map"},
	{"internal/poll.(*fdMutex).rwlock", waitsLock, "file descriptor"},
}

func waitFunc(f string) (w struct {
	prefix string
	what   waitsFor
	name   string
}, ok bool) {
	for _, c := range waitFuncs {
		if whole, ok := strings.CutSuffix(c.prefix, "$"); ok && f == whole || !ok && strings.HasPrefix(f, c.prefix) {
			return c, true
		}
	}
	return w, false
}

// calledFrom names the first caller outside the packages that implement locks
// and pools: " in main.(*cache).get".
func calledFrom(funcs []string) string {
	for _, f := range funcs {
		if _, ok := waitFunc(f); ok || strings.HasPrefix(f, "sync.") || strings.HasPrefix(f, "internal/") || strings.HasPrefix(f, "database/sql.") {
			continue
		}
		return " in " + f
	}
	return ""
}

// plumbing are the packages between a network wait and the function that wants the answer.
var plumbing = []string{"runtime.", "internal/", "syscall.", "net.", "bufio.", "io.", "crypto/", "os.", "net/textproto.", "time.", "sync.", "context.", "encoding/", "fmt."}

// findDependency names what a network wait is for: the library that waits, or the function of the
// program itself.
func findDependency(funcs []string) string {
	for _, f := range funcs[countPlumbing(funcs):] {
		if isPlumbing(f) {
			continue
		}
		if strings.HasPrefix(f, "net/http.") {
			return "net/http client"
		}
		if pkg := packageOf(f); strings.Contains(pkg, ".") {
			return pkg // a library: its own functions say less than its name
		}
		return f
	}
	return ""
}

// findWriter names the function that writes to the network: of a library, too, as what it writes
// to and why the peer does not read is the program's own affair.
func findWriter(funcs []string) string {
	for _, f := range funcs[countPlumbing(funcs):] {
		if !isPlumbing(f) {
			return f
		}
	}
	return ""
}

func isPlumbing(f string) bool {
	for _, p := range plumbing {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}

// systemCall names a call into the kernel, or into C, and the function that made it. It returns "" for calls on connections, which do
// not block: they take only CPU time.
func systemCall(funcs []string) (name, in string) {
	for i, f := range funcs {
		switch {
		case strings.HasPrefix(f, "net.(*"):
			return "", ""
		case f == "runtime.cgocall" && i+1 < len(funcs):
			return "call of C", " in " + funcs[i+1]
		case name != "" || isTrap(f):
		case strings.HasPrefix(f, "syscall."), strings.HasPrefix(f, "golang.org/x/sys/unix."), strings.HasPrefix(f, "internal/syscall/"):
			name = strings.ToLower(f[strings.LastIndexByte(f, '.')+1:])
		case !isPlumbing(f):
			return "", "" // no system call
		}
		if name != "" && !isStandard(f) && !strings.HasPrefix(f, "golang.org/x/sys/") {
			return name, " in " + f
		}
	}
	return name, ""
}

// isTrap says whether a function makes any system call, by its number, so that its name says nothing.
func isTrap(f string) bool {
	return strings.HasPrefix(f, "runtime.") || strings.HasPrefix(f, "internal/runtime/") || strings.HasPrefix(f, "golang.org/x/sys/unix.Syscall") ||
		strings.Contains(f, "yscall.Syscall") || strings.Contains(f, "yscall.RawSyscall") || strings.Contains(f, "yscall.syscall") || strings.Contains(f, "yscall.rawSyscall")
}

// countPlumbing counts how many of the innermost frames are plumbing.
func countPlumbing(funcs []string) int {
	for i, f := range funcs {
		if !isPlumbing(f) {
			return i
		}
	}
	return len(funcs)
}

// packageOf returns the import path of a function's package.
func packageOf(f string) string {
	slash := strings.LastIndexByte(f, '/') + 1
	if dot := strings.IndexByte(f[slash:], '.'); dot >= 0 {
		return f[:slash+dot]
	}
	return f
}
