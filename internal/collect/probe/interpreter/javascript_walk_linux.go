package interpreter

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/interpreter/v8"
	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
)

// jsFrame is one frame of a stack: of JavaScript, or of compiled code.
type jsFrame struct {
	script bool
	v8.Function
	at uint64 // of compiled code: an address in it
}

// mostJSFrames bounds a stack. The outermost frames are left out first.
const mostJSFrames = 200

// walker finds the frames of stacks of one process.
//
// Compiled C++ code keeps no frame pointers, so its frames are left by the rules of its file (.eh_frame). V8's own code keeps them and has no such
// rules. So each frame shows by its address in which of the two ways it is left.
type walker struct {
	process *symbol.Process
	layout  *v8.Layout
	names   *v8.Names
	frames  []jsFrame

	lost int64 // frames of JavaScript without a name
	cut  int64 // stacks whose outer frames were not found
}

// stack is a copy of a thread's stack, from its end on.
type stack struct {
	sp   uint64
	copy []byte
}

func (s stack) wordAt(at uint64) (uint64, bool) {
	if at < s.sp || at-s.sp > uint64(len(s.copy)) || uint64(len(s.copy))-(at-s.sp) < 8 {
		return 0, false
	}
	return binary.NativeEndian.Uint64(s.copy[at-s.sp:]), true
}

// walkStack returns the frames of a stack, innermost first. They are valid until the next call.
func (w *walker) walkStack(pc uint64, r symbol.Registers, s stack) []jsFrame {
	w.frames = w.frames[:0]
	for caller := false; len(w.frames) < mostJSFrames; caller = true {
		at := pc
		if caller {
			at-- // the call
		}
		fp := r.Get(symbol.FramePointer)
		if w.process.HasRules(at) {
			w.frames = append(w.frames, jsFrame{at: at})
			before := r
			next, ok := w.process.Leave(pc, caller, &r, s.sp, s.copy)
			if ok {
				pc = next
				continue
			}
			if fp, ok = w.searchFrame(before.Get(symbol.StackPointer), s); !ok {
				w.cut++ // or it is the outermost
				break
			}
		} else {
			if _, ok := s.wordAt(fp); !ok || fp < r.Get(symbol.StackPointer) || fp%8 != 0 {
				if fp, ok = w.searchFrame(r.Get(symbol.StackPointer), s); !ok {
					w.cut++
					break
				}
			}
			w.frames = append(w.frames, jsFrame{at: at})
		}
		w.addScript(fp, s)
		back, ok := s.wordAt(fp + 8)
		outer, _ := s.wordAt(fp)
		if !ok || !w.process.Maps(back-1) {
			w.cut++
			break
		}
		pc = back
		r.ForgetAllBut(symbol.FramePointer, symbol.StackPointer)
		r.Set(symbol.FramePointer, outer)
		r.Set(symbol.StackPointer, fp+16)
	}
	return w.frames
}

// addScript adds the function of a frame with a frame pointer if it is one of JavaScript.
func (w *walker) addScript(fp uint64, s stack) {
	context, ok := s.wordAt(fp + uint64(w.layout.Marker))
	if !ok || v8.IsMarker(context) {
		return
	}
	function, _ := s.wordAt(fp + uint64(w.layout.Function))
	f, ok := w.names.Function(function)
	if !ok {
		w.lost++
		return
	}
	w.frames = append(w.frames, jsFrame{script: true, Function: f})
}

// searchFrame finds the frame pointer of the first frame of JavaScript, or of the call that leaves JavaScript, from an address on. It
// is for stacks whose compiled code has no rules that are understood.
func (w *walker) searchFrame(from uint64, s stack) (fp uint64, ok bool) {
	for fp = (max(from, s.sp) + 7) &^ 7; ; fp += 8 {
		outer, ok := s.wordAt(fp)
		if !ok {
			return 0, false
		}
		if outer <= fp || outer%8 != 0 {
			continue
		}
		if _, in := s.wordAt(outer); !in {
			continue
		}
		context, in := s.wordAt(fp + uint64(w.layout.Marker))
		back, in2 := s.wordAt(fp + 8)
		if !in || !in2 || !w.process.FollowsCall(back) || w.process.HasRules(back-1) {
			continue
		}
		if v8.IsMarker(context) {
			if w.layout.IsExit(context) {
				return fp, true
			}
			continue
		}
		function, _ := s.wordAt(fp + uint64(w.layout.Function))
		if _, is := w.names.Function(function); is {
			return fp, true
		}
	}
}

// memory is a process's memory.
type memory int

func (pid memory) Read(at uint64, to []byte) bool {
	if len(to) == 0 {
		return true
	}
	local := []unix.Iovec{{Base: &to[0]}}
	local[0].SetLen(len(to))
	n, err := unix.ProcessVMReadv(int(pid), local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(to)}}, 0)
	return err == nil && n == len(to)
}
