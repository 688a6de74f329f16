package interpreter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/interpreter/v8"
	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
	"github.com/unstall/unstall/internal/collect/probe/perfring"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// javascript is the JavaScript of Node.js, whose binaries have V8's constants for debuggers in them (package v8).
//
// V8 has the frame of a running function in registers and on the stack only. So the kernel's clock of CPU time samples these of each thread that
// runs JavaScript. A thread that waits in a system call can be looked at.
var javascript = language{name: "JavaScript", open: openJavaScript}

// javaScript reads the stacks of one Node.js process.
type javaScript struct {
	*process
	file   string // that has the engine
	own    bool   // the time in the kernel is not sampled
	denied error  // running threads cannot be sampled
	walker
	compiled map[uint64]*Frame // by address
	scripted map[v8.Function]*Frame
	frames   map[Frame]*Frame
	threads  map[int]*jsThread
	stack    []*Frame
	copy     []byte // of the stack of a thread that waits
	spared   bool   // samples are not read, because those before took too long
	lost     atomic.Int64
}

// jsThread is a thread that may run JavaScript.
type jsThread struct {
	ring   *perfring.Ring
	call   *os.File // its system call
	idle   string   // the call in which it last waited without JavaScript on its stack
	text   []byte
	others int // samples without JavaScript before the first with it
	known  bool
	ended  bool
}

// Bounds of what is read of one process.
const (
	mostJSThreads = 32
	mostOthers    = 50      // samples without JavaScript after which a thread is left alone
	mostNamed     = 1 << 15 // functions
)

// How often threads that wait are looked at, on average, the part of a CPU that reading samples may take, and the CPU time that the first names may
// take beyond it.
const (
	waitEach   = 20 * time.Millisecond
	idleAgain  = 20 // of so many looks at the same call without JavaScript, one looks again
	sampleCost = .01
	firstCost  = time.Second
)

// errMachine is the error of a machine whose stacks are not read.
var errMachine = errors.New("unstall reads the stacks of Node.js on amd64")

func openJavaScript(p *process) (Stacks, error) {
	for i := range p.files {
		m := &p.files[i]
		if i > 0 && !strings.HasPrefix(filepath.Base(m.path), "libnode") {
			continue
		}
		f, err := os.Open(p.pathOf(m))
		if err != nil {
			continue
		}
		l, err := v8.ReadLayout(f)
		_ = f.Close()
		switch {
		case errors.Is(err, v8.ErrNone):
			continue
		case err != nil && i > 0:
			return nil, err
		case err != nil: // not a file of the expected kind
			if !strings.HasPrefix(filepath.Base(m.path), "node") {
				continue
			}
			return nil, err
		case !symbol.Unwinds:
			return nil, errMachine
		}
		s := &javaScript{process: p, file: filepath.Base(m.path), compiled: make(map[uint64]*Frame), scripted: make(map[v8.Function]*Frame), frames: make(map[Frame]*Frame), threads: make(map[int]*jsThread)}
		var b [1]byte
		if !p.read(m.begin, b[:]) {
			return nil, errMemory
		}
		s.walker = walker{process: symbol.SharedProcess(p.pid), layout: l, names: v8.NewNames(l, memory(p.pid))}
		s.own, s.denied = trySampling(p.pid)
		return s, nil
	}
	return nil, errOther
}

// Title returns the language, and the file that has the engine.
func (s *javaScript) Title() string { return "javascript of V8 in " + s.file }

// Look returns how many frames and samples were lost since the last look. Threads come from Sample.
func (s *javaScript) Look(func(Thread)) (torn int, err error) {
	return int(s.lost.Swap(0)), nil
}

// SwitchesOn says what the kernel does while threads are sampled.
func (s *javaScript) SwitchesOn() string {
	if s.denied != nil {
		return ""
	}
	return fmt.Sprintf("stacks of running JavaScript threads (%.0f a second of CPU time)", 1/jsSampleEvery.Seconds())
}

// Lacks says why running threads cannot be sampled, nil: they can.
func (s *javaScript) Lacks() error {
	if s.denied == nil {
		return nil
	}
	return fmt.Errorf("perf_event_open: %w", s.denied)
}

// Sample calls each with threads that run or wait in JavaScript until the context ends.
func (s *javaScript) Sample(ctx context.Context, each func(at int64, t Thread)) {
	runtime.LockOSThread() // its own CPU time is the cost of samples
	defer runtime.UnlockOSThread()
	defer func() {
		for _, t := range s.threads {
			t.close()
		}
		clear(s.threads)
	}()
	s.openThreads()
	began := time.Now()
	look, refreshed, spent := began, began, threadTime()
	for ctx.Err() == nil {
		s.awaitSamples(time.Until(look))
		offset := tracepoint.MonotonicOffset()
		for tid, t := range s.threads {
			s.readSamples(tid, t, offset, each)
		}
		now := time.Now()
		if !now.Before(look) {
			for tid, t := range s.threads {
				s.lookAtWaiting(tid, t, each)
			}
			look = now.Add(waitEach/2 + rand.N(waitEach))
		}
		s.spared = threadTime()-spent > firstCost+time.Duration(sampleCost*float64(now.Sub(began)))
		if now.Sub(refreshed) >= refreshEach {
			refreshed = now
			s.openThreads()
			s.names.Forget()
			if len(s.compiled)+len(s.scripted) > mostNamed {
				clear(s.compiled)
				clear(s.scripted)
				clear(s.frames)
			}
		}
	}
}

// openThreads begins with threads that are new, and lets go of those that have ended.
func (s *javaScript) openThreads() {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", s.pid))
	all := make(map[int]bool, len(files))
	for _, f := range files {
		tid, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		all[tid] = true
		if s.threads[tid] != nil || len(s.threads) >= mostJSThreads || tid != s.pid && isHelper(s.pid, tid) {
			continue
		}
		t := &jsThread{known: tid == s.pid, text: make([]byte, 256)}
		if s.denied == nil {
			t.ring, _ = openSampling(tid, s.own)
		}
		t.call, _ = os.Open(fmt.Sprintf("/proc/%d/task/%d/syscall", s.pid, tid))
		s.threads[tid] = t
	}
	for tid, t := range s.threads {
		if !all[tid] {
			t.close()
			delete(s.threads, tid)
		}
	}
}

// isHelper says whether a thread has a name that Node.js gives to those that run no JavaScript.
func isHelper(pid, tid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
	name := strings.TrimSpace(string(b))
	return strings.HasPrefix(name, "libuv-worker") || strings.HasPrefix(name, "V8Worker") || strings.HasPrefix(name, "DelayedTask") || strings.HasPrefix(name, "SignalInspector")
}

func (t *jsThread) close() {
	if t.ring != nil {
		t.ring.Close()
		t.ring = nil
	}
	if t.call != nil {
		_ = t.call.Close()
		t.call = nil
	}
}

// awaitSamples waits until a thread was sampled.
func (s *javaScript) awaitSamples(most time.Duration) {
	var fds []unix.PollFd
	for _, t := range s.threads {
		if t.ring != nil && !t.ended {
			fds = append(fds, unix.PollFd{Fd: int32(t.ring.FD), Events: unix.POLLIN})
		}
	}
	_, _ = unix.Poll(fds, max(0, int(most.Milliseconds()))+1)
	for _, f := range fds {
		if f.Revents&(unix.POLLHUP|unix.POLLERR) == 0 {
			continue
		}
		for _, t := range s.threads {
			if t.ring != nil && int32(t.ring.FD) == f.Fd {
				t.ended = true
			}
		}
	}
}

// readSamples reads what the kernel has sampled of a thread.
func (s *javaScript) readSamples(tid int, t *jsThread, offset int64, each func(at int64, t Thread)) {
	if t.ring == nil {
		return
	}
	t.ring.EachEvent(func(typ uint32, b []byte) {
		if typ == unix.PERF_RECORD_LOST && len(b) >= 16 {
			s.lost.Add(int64(min(binary.NativeEndian.Uint64(b[8:]), 1<<20)))
		}
		if typ != unix.PERF_RECORD_SAMPLE || s.spared {
			return
		}
		x, ok := readSample(b)
		if !ok {
			return
		}
		frames, scripts := s.name(s.walkStack(x.pc, x.registers, x.stack))
		if t.known = t.known || scripts; t.known {
			each(int64(x.at)+offset, Thread{ID: tid, State: Running, Frames: frames})
		} else {
			t.others++
		}
	})
	if !t.known && t.others >= mostOthers { // it compiles or collects
		t.close()
	}
}

// lookAtWaiting looks at a thread that waits in a system call, with its stack pointer and place there (proc_pid_syscall(5)).
func (s *javaScript) lookAtWaiting(tid int, t *jsThread, each func(at int64, t Thread)) {
	if t.call == nil || !t.known {
		return
	}
	call := t.readCall()
	if call == "" || call == t.idle && rand.N(idleAgain) > 0 { // its frames may not have been found the last time
		return
	}
	f := strings.Fields(call)
	sp, err := strconv.ParseUint(f[len(f)-2], 0, 64)
	pc, err2 := strconv.ParseUint(f[len(f)-1], 0, 64)
	if err != nil || err2 != nil {
		return
	}
	if s.copy == nil {
		s.copy = make([]byte, copied)
	}
	n := readSome(s.pid, sp, s.copy)
	at := time.Now().UnixNano()
	if t.readCall() != call {
		return // it went on meanwhile
	}
	var r symbol.Registers
	r.Set(symbol.StackPointer, sp)
	frames, scripts := s.name(s.walkStack(pc, r, stack{sp, s.copy[:n]}))
	if scripts {
		each(at, Thread{ID: tid, State: Outside, Frames: frames})
	} else {
		t.idle = call
	}
}

// readCall returns the line about a thread's system call; "" if it runs.
func (t *jsThread) readCall() string {
	n, _ := t.call.ReadAt(t.text, 0)
	line := string(t.text[:n])
	if n == 0 || strings.Count(line, " ") < 2 {
		return ""
	}
	return line
}

// name returns the frames of a stack as they are written, and whether one is of JavaScript. What V8 has between them is left out, and compiled
// code that calls itself counts once.
func (s *javaScript) name(all []jsFrame) (out []*Frame, scripts bool) {
	s.stack = s.stack[:0]
	for i, f := range all {
		var x *Frame
		if f.script {
			scripts = true
			if f.Own && len(s.stack) > 0 && i > 0 && !all[i-1].script && s.stack[len(s.stack)-1] == s.compiledFrame(all[i-1].at) {
				s.stack = s.stack[:len(s.stack)-1] // V8's code of this function
			}
			x = s.scriptFrame(f.Function, all, i)
		} else if x = s.compiledFrame(f.at); x == nil {
			continue
		}
		if n := len(s.stack); f.script || n == 0 || s.stack[n-1] != x {
			s.stack = append(s.stack, x)
		}
	}
	s.lost.Add(s.walker.lost)
	s.walker.lost = 0
	return s.stack, scripts
}

// glue is what V8's own code between frames is called, which says nothing about the program.
var glue = []string{"InterpreterEntryTrampoline", "InterpreterPushArgs", "InterpreterOnStackReplacement", "BaselineOutOfLinePrologue", "CEntry_", "JSEntry", "Call_Receiver", "CallFunction_", "Construct", "JSBuiltinsConstructStub", "JSConstructStub"}

const builtin = "Builtins_"

// compiledFrame names compiled code; nil: it is glue, or made at run time.
func (s *javaScript) compiledFrame(at uint64) *Frame {
	if f, known := s.compiled[at]; known {
		return f
	}
	var f *Frame
	name, in := s.walker.process.Name(at)
	short, own := strings.CutPrefix(name, builtin)
	switch {
	case name == "", own && strings.HasSuffix(short, "Handler"): // of a bytecode
	case own && hasAnyPrefix(short, glue):
	default:
		f = s.one(Frame{Function: name, File: in})
	}
	s.compiled[at] = f
	return f
}

func hasAnyPrefix(s string, all []string) bool {
	for _, p := range all {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// scriptFrame names a function of JavaScript. Of V8's own it says what object it is a function of, which its code's name tells.
func (s *javaScript) scriptFrame(f v8.Function, all []jsFrame, i int) *Frame {
	if f.Own && i > 0 && !all[i-1].script {
		code, _ := s.walker.process.Name(all[i-1].at)
		f.Name = ownName(strings.TrimPrefix(code, builtin), f.Name)
	}
	if x := s.scripted[f]; x != nil {
		return x
	}
	x := Frame{Function: f.Name, File: f.Script, Line: f.Line}
	if x.Function == "" {
		x.Function = "(anonymous)"
	}
	if strings.HasPrefix(x.File, "file://") {
		if u, err := url.Parse(x.File); err == nil {
			x.File = u.Path
		}
	}
	switch {
	case f.Own:
		x.File = s.file
	case x.File == "":
		x.File = "<eval>"
	}
	s.scripted[f] = s.one(x)
	return s.scripted[f]
}

// one returns the same pointer for equal frames.
func (s *javaScript) one(f Frame) *Frame {
	x := s.frames[f]
	if x == nil {
		x = &f
		s.frames[f] = x
	}
	return x
}

// ownName returns "RegExp.prototype.test" for V8's code RegExpPrototypeTest with the function test.
func ownName(code, name string) string {
	n := len(code) - len(name)
	if name == "" || n <= 0 || !strings.EqualFold(code[n:], name) {
		return name
	}
	of := code[:n]
	if proto, is := strings.CutSuffix(of, "Prototype"); is && proto != "" {
		of = proto + ".prototype"
	}
	return of + "." + name
}

// readSome reads as much as there is at an address, and returns how much.
func readSome(pid int, at uint64, to []byte) int {
	local := []unix.Iovec{{Base: &to[0]}}
	local[0].SetLen(len(to))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(to)}}, 0)
	if err != nil {
		return 0
	}
	return n
}

// threadTime returns the CPU time of the calling thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
