package interpreter

import (
	"encoding/binary"
	"errors"
)

// layout is where a release of CPython keeps what a look reads: offsets in its structures (Include/internal/pycore_*.h,
// Include/cpython/*.h, Python/ceval_gil.h). They do not change within a minor release, and are the same on 64-bit machines.
type layout struct {
	interpreters int // _PyRuntimeState: the first interpreter
	next         int // PyInterpreterState: the next one
	threads      int // … its first thread
	gil          int // … a pointer to its lock, 3.12 on; before, the lock is in _PyRuntimeState
	gilHolder    int // from the lock, or in _PyRuntimeState: the thread that holds it, or held it last
	gilLocked    int // … whether one holds it

	threadNext   int // PyThreadState
	threadInterp int
	pthread      int
	native       int // its number of the kernel, 3.11 on; 0: none
	current      int // its innermost frame, or what has it
	throughC     int // where current leads to a _PyCFrame: the frame's offset there plus 1; 0: it leads to the frame

	frameSize int // of what is read of a frame
	previous  int // the caller's frame
	code      int
	instr     int // the instruction
	owner     int // who owns the frame, 3.11 on; 0: not told

	codeSize            int // of what is read of a PyCodeObject
	file, name, lines   int
	firstLine, bytecode int // bytecode 0: instr is an index

	ascii, compact int // bytes before the characters of a string
	unit           int // bytes of what instr counts in: 1 or 2

	unlocked bool // there is no lock: threads run beside each other
}

// layouts are those before 3.13, which tells its offsets itself.
var layouts = map[int]layout{
	8: {interpreters: 32, threads: 8, gilHolder: 1160, gilLocked: 1168, threadNext: 8, threadInterp: 16, pthread: 176, current: 24,
		frameSize: 112, previous: 24, code: 32, instr: 104, codeSize: 128, file: 104, name: 112, lines: 120, firstLine: 40, ascii: 48, compact: 72, unit: 1},
	9: {interpreters: 32, threads: 8, gilHolder: 360, gilLocked: 368, threadNext: 8, threadInterp: 16, pthread: 176, current: 24,
		frameSize: 112, previous: 24, code: 32, instr: 104, codeSize: 128, file: 104, name: 112, lines: 120, firstLine: 40, ascii: 48, compact: 72, unit: 1},
	10: {interpreters: 32, threads: 8, gilHolder: 360, gilLocked: 368, threadNext: 8, threadInterp: 16, pthread: 176, current: 24,
		frameSize: 104, previous: 24, code: 32, instr: 96, codeSize: 128, file: 104, name: 112, lines: 120, firstLine: 40, ascii: 48, compact: 72, unit: 2},
	11: {interpreters: 40, threads: 16, gilHolder: 368, gilLocked: 376, threadNext: 8, threadInterp: 16, pthread: 152, native: 160, current: 56, throughC: 8 + 1,
		frameSize: 72, previous: 48, code: 32, instr: 56, owner: 69, codeSize: 144, file: 112, name: 128, lines: 136, firstLine: 72, bytecode: 184, ascii: 48, compact: 72, unit: 2},
	12: {interpreters: 40, threads: 72, gil: 384, gilHolder: 8, gilLocked: 16, threadNext: 8, threadInterp: 16, pthread: 136, native: 144, current: 56, throughC: 0 + 1,
		frameSize: 72, previous: 8, code: 0, instr: 56, owner: 70, codeSize: 144, file: 112, name: 128, lines: 136, firstLine: 68, bytecode: 192, ascii: 40, compact: 56, unit: 2},
}

// ownedByC is the owner of a frame that C code has between its caller and a function (FRAME_OWNED_BY_CSTACK), from 3.12 on.
const ownedByC = 3

// cookie begins _Py_DebugOffsets (Include/internal/pycore_runtime.h), with which _PyRuntimeState begins from 3.13 on.
const cookie = "xdebugpy"

// Places of the offsets in _Py_DebugOffsets of 3.13, in words.
const (
	debugFreeThreaded = 2
	debugInterpreters = 5
	debugNext         = 8
	debugThreads      = 9
	debugGIL          = 14
	debugGILState     = 15
	debugGILLocked    = 17
	debugGILHolder    = 18
	debugThreadNext   = 21
	debugThreadInterp = 22
	debugCurrent      = 23
	debugPthread      = 24
	debugNative       = 25
	debugPrevious     = 29
	debugExecutable   = 30
	debugInstr        = 31
	debugOwner        = 33
	debugFile         = 35
	debugQualname     = 37
	debugLines        = 38
	debugFirstLine    = 39
	debugBytecode     = 43
	debugASCIISize    = 70
	debugWords        = 73
)

// mostOffset bounds an offset that is told; beyondASCII are the fields of PyCompactUnicodeObject behind those of PyASCIIObject.
const (
	mostOffset  = 1 << 20
	beyondASCII = 16
)

var errOffsets = errors.New("its own table of offsets is not plausible")

// readDebugOffsets returns the layout that a runtime of 3.13 tells.
func readDebugOffsets(b []byte) (l layout, err error) {
	bad := false
	at := func(word int) int {
		v := binary.NativeEndian.Uint64(b[8*word:])
		if v > mostOffset {
			bad = true
			return 0
		}
		return int(v)
	}
	l = layout{interpreters: at(debugInterpreters), next: at(debugNext), threads: at(debugThreads), gil: at(debugGIL),
		gilLocked: at(debugGILLocked) - at(debugGILState), gilHolder: at(debugGILHolder) - at(debugGILState),
		threadNext: at(debugThreadNext), threadInterp: at(debugThreadInterp), current: at(debugCurrent), pthread: at(debugPthread), native: at(debugNative),
		previous: at(debugPrevious), code: at(debugExecutable), instr: at(debugInstr), owner: at(debugOwner),
		file: at(debugFile), name: at(debugQualname), lines: at(debugLines), firstLine: at(debugFirstLine), bytecode: at(debugBytecode),
		ascii: at(debugASCIISize), unit: 2, unlocked: binary.NativeEndian.Uint64(b[8*debugFreeThreaded:]) != 0}
	l.compact = l.ascii + beyondASCII
	l.frameSize = max(l.previous+8, l.code+8, l.instr+8, l.owner+1)
	l.codeSize = max(l.file, l.name, l.lines, l.firstLine) + 8
	if bad || l.frameSize > mostFrameSize || l.codeSize > mostCodeSize || l.gilHolder < 0 || l.gilLocked < 0 {
		return l, errOffsets
	}
	return l, nil
}
