package interpreter

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/sys/unix"
)

// python is CPython 3.8 to 3.13 (https://github.com/python/cpython). The runtime's state is in a variable, _PyRuntime, which lists interpreters,
// which list their threads, which have their innermost frame; a frame has its code and its caller's frame. A thread that holds the interpreter's
// lock (GIL) runs.
var python = language{name: "Python", open: openPython}

// Bounds of what is read of one process.
const (
	mostInterpreters = 16
	mostPyThreads    = 1 << 10
	mostPyFrames     = 256
	mostFrameSize    = 256
	mostCodeSize     = 512
	mostCodes        = 1 << 15 // code objects that are remembered
	mostText         = 1 << 10 // bytes of a name
	mostTable        = 64 << 10
	forgetEach       = 400     // looks after which code objects are read anew: their memory may hold others by then
	listEach         = 8       // looks after which the threads of the process may be listed anew
	mostGap          = 1 << 10 // bytes between two frames that are read in one piece
	mostPiece        = 64 << 10
	tries            = 2 // readings of a stack that went on meanwhile
)

// pythonStacks reads the stacks of a CPython process.
type pythonStacks struct {
	*process
	layout
	minor   int
	title   string
	runtime uint64 // the address of _PyRuntime
	looks   int

	codeType uint64 // the address of PyCode_Type, 0 not seen yet
	codes    map[uint64]*pyCode
	others   map[uint64]bool // addresses that are no code objects
	tids     *numbers
	chains   map[uint64][]uint64
	buffer   []byte
	again    []byte
	room     []byte
	remote   []unix.RemoteIovec
	pieces   []piece
	thread   []byte
	stack    []*Frame
}

// pyCode is a code object.
type pyCode struct {
	name, file string
	first      int
	lines      []byte
	bytecode   uint64         // where its instructions begin
	at         map[int]*Frame // by instruction
}

// errRelease is the error of a release whose offsets are not known.
var errRelease = errors.New("unstall reads the stacks of CPython 3.8 to 3.13")

// pythonFile recognises the files that a process of Python has mapped: its executable, libpython, or modules of its library.
var pythonFile = regexp.MustCompile(`python3?\.?(\d+)?`)

func openPython(p *process) (Stacks, error) {
	minor, is := 0, false
	for _, f := range p.files {
		for _, m := range pythonFile.FindAllStringSubmatch(f.path, -1) {
			if is = true; m[1] != "" {
				minor, _ = strconv.Atoi(m[1])
			}
		}
	}
	if !is {
		return nil, errOther
	}
	for i := range p.files {
		m := &p.files[i]
		if base := filepath.Base(m.path); i > 0 && !strings.HasPrefix(base, "libpython") {
			continue
		}
		runtime, version := p.findRuntime(m)
		if runtime == 0 {
			continue
		}
		s := &pythonStacks{process: p, runtime: runtime, minor: minor, codes: make(map[uint64]*pyCode), others: make(map[uint64]bool), tids: newNumbers(p.pid), chains: make(map[uint64][]uint64)}
		release := fmt.Sprintf("3.%d", minor)
		if v := uint32(p.word(version)); version != 0 && v>>24 == 3 {
			s.minor = int(v >> 16 & 0xff)
			release = fmt.Sprintf("3.%d.%d", s.minor, v>>8&0xff)
		}
		s.title = fmt.Sprintf("python %s in %s", release, filepath.Base(m.path))
		if err := s.findLayout(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.title, err)
		}
		return s, nil
	}
	return nil, errOther // a shell script with this name, or a program that embeds what is not CPython
}

// findRuntime returns the addresses of _PyRuntime and of Py_Version (3.11 on) in a file; 0 where it has none.
func (p *process) findRuntime(m *mapped) (runtime, version uint64) {
	f, moved, err := p.openFile(m)
	if err != nil || f.Class != elf.ELFCLASS64 {
		return 0, 0
	}
	defer f.Close()
	for _, read := range []func() ([]elf.Symbol, error){f.DynamicSymbols, f.Symbols} {
		all, _ := read()
		for i := range all {
			if all[i].Section == elf.SHN_UNDEF {
				continue
			}
			switch all[i].Name {
			case "_PyRuntime":
				runtime = moved + all[i].Value
			case "Py_Version":
				version = moved + all[i].Value
			}
		}
		if runtime != 0 {
			return runtime, version
		}
	}
	if s := f.Section(".PyRuntime"); s != nil {
		return moved + s.Addr, 0
	}
	return 0, 0
}

// findLayout finds the offsets, and checks that they lead to the process's threads.
func (s *pythonStacks) findLayout() (err error) {
	layout, known := layouts[s.minor]
	switch {
	case s.minor == 13: // it tells its own
		b := make([]byte, 8*debugWords)
		if !s.read(s.runtime, b) {
			return errMemory
		}
		if string(b[:len(cookie)]) != cookie {
			return errOffsets
		}
		if s.layout, err = readDebugOffsets(b); err != nil {
			return err
		}
	case known:
		s.layout = layout
	default:
		return errRelease
	}
	var b [1]byte
	if !s.read(s.runtime, b[:]) {
		return errMemory
	}
	s.thread = make([]byte, max(s.threadNext, s.threadInterp, s.pthread, s.native, s.current)+8)
	n := 0
	if err := s.eachThread(func(uint64, uint64) { n++ }); err != nil && n == 0 {
		return err
	}
	if n == 0 {
		return errOffsets
	}
	return nil
}

// Title returns the release, and the file that has the interpreter.
func (s *pythonStacks) Title() string { return s.title }

// eachThread calls each with the address of each thread and of the one that holds its interpreter's lock, while s.thread holds the former.
func (s *pythonStacks) eachThread(each func(thread, holder uint64)) error {
	seen := 0
	interpreter := s.word(s.runtime + uint64(s.interpreters))
	if interpreter == 0 {
		return errEnded
	}
	for n := 0; interpreter != 0 && n < mostInterpreters; n++ {
		holder := s.holderOf(interpreter)
		for thread := s.word(interpreter + uint64(s.threads)); thread != 0 && seen < mostPyThreads; seen++ {
			if !s.read(thread, s.thread) || s.wordIn(s.thread, s.threadInterp) != interpreter {
				break // it has ended meanwhile, and its memory is something else
			}
			next := s.wordIn(s.thread, s.threadNext)
			each(thread, holder)
			thread = next
		}
		interpreter = s.word(interpreter + uint64(s.next))
	}
	if seen == 0 {
		return errOffsets
	}
	return nil
}

// holderOf returns the thread that holds an interpreter's lock, 0 none.
func (s *pythonStacks) holderOf(interpreter uint64) uint64 {
	lock := s.runtime
	if s.gil != 0 {
		lock = s.word(interpreter + uint64(s.gil))
	}
	if lock == 0 || s.unlocked {
		return 0
	}
	holder := s.word(lock + uint64(s.gilHolder))
	if uint32(s.word(lock+uint64(s.gilLocked))) != 1 {
		return 0
	}
	return holder
}

func (s *pythonStacks) wordIn(b []byte, at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }

// Look reads the stacks of all threads. One that held the interpreter's lock just before ran.
func (s *pythonStacks) Look(each func(Thread)) (torn int, err error) {
	if s.looks++; s.looks%forgetEach == 0 || len(s.codes)+len(s.others) > mostCodes {
		clear(s.codes)
		clear(s.others)
		clear(s.chains)
	}
	s.tids.mayList = s.looks%listEach == 1
	err = s.eachThread(func(thread, holder uint64) {
		t := Thread{State: Outside, ID: s.numberOf()}
		switch {
		case s.unlocked:
			t.State = Unknown
		case thread == holder:
			t.State = Running
		}
		ok := false
		current := s.wordIn(s.thread, s.current)
		for try := 1; try <= tries; try++ {
			if t.Frames, ok = s.readStack(thread, current, try); ok {
				break
			}
			current = s.word(thread + uint64(s.current))
		}
		if !ok {
			torn++
		} else if len(t.Frames) > 0 {
			each(t)
		}
	})
	return torn, err
}

// numberOf returns the kernel's number of the thread in s.thread; 0 unknown. CPython keeps it from 3.11 on, where a fork may have left that of the
// parent; else the C library does, in its record of the thread.
func (s *pythonStacks) numberOf() int {
	if s.native > 0 {
		if tid := s.tids.find(int(uint32(s.wordIn(s.thread, s.native)))); tid != 0 {
			return tid
		}
	}
	record := s.wordIn(s.thread, s.pthread)
	for _, at := range tidPlaces {
		if tid := s.tids.find(int(uint32(s.word(record + at)))); tid != 0 {
			return tid
		}
	}
	return 0
}

// tidPlaces are where C libraries have a thread's number in struct pthread: glibc on amd64 (2.4 on: nptl/descr.h), musl (1.1 on: src/internal/pthread_impl.h),
// glibc on arm64.
var tidPlaces = []uint64{0x2d0, 0x30, 0xd0}

// readStack reads the frames of a thread from its innermost on. It reads them twice: a frame that both readings have with the same caller has not
// been left meanwhile, and with it none of its callers. Of the others only the innermost is believed, which is one reading by itself. At the last try the
// functions that were not left meanwhile are the stack: the thread was in them.
func (s *pythonStacks) readStack(thread, current uint64, try int) (frames []*Frame, ok bool) {
	if s.stack = s.stack[:0]; current == 0 {
		return nil, true
	}
	if s.throughC > 0 {
		if current = s.word(current + uint64(s.throughC-1)); current == 0 {
			return nil, true
		}
	}
	chain, ok := s.readChain(current, s.chains[thread])
	if !ok {
		return nil, false
	}
	s.chains[thread] = chain
	need := len(chain) * s.frameSize
	if cap(s.again) < need {
		s.again = make([]byte, 2*need)
	}
	again := s.again[:need]
	if !s.readFrames(chain, again) {
		return nil, false
	}
	first := 0
	for i := 1; i < len(chain); i++ {
		was, is := s.buffer[i*s.frameSize:], again[i*s.frameSize:]
		if s.wordIn(was, s.code) != s.wordIn(is, s.code) || s.wordIn(was, s.previous) != s.wordIn(is, s.previous) {
			first = i + 1
		}
	}
	if first > 0 && (try < tries || first == len(chain)) {
		return nil, false
	}
	for i := first; i < len(chain); i++ {
		f, is := s.frameOf(s.buffer[i*s.frameSize : (i+1)*s.frameSize])
		if !is {
			return nil, false
		}
		if f != nil {
			s.stack = append(s.stack, f)
		}
	}
	return s.stack, true
}

// readChain reads the frames from the innermost on into s.buffer, and returns their addresses. A guess, the addresses of the look before, saves
// system calls as far as it is right.
func (s *pythonStacks) readChain(current uint64, guess []uint64) (chain []uint64, ok bool) {
	s.buffer = s.buffer[:0]
	from := -1
	for i, a := range guess {
		if a == current {
			from = i
			break
		}
	}
	if from >= 0 {
		guess = guess[from:]
		s.growBuffer(len(guess) * s.frameSize)
		if s.readFrames(guess, s.buffer) {
			n := 1
			for n < len(guess) && s.wordIn(s.buffer[(n-1)*s.frameSize:], s.previous) == guess[n] {
				n++
			}
			chain = append(chain, guess[:n]...)
			s.buffer = s.buffer[:n*s.frameSize]
			current = s.wordIn(s.buffer[(n-1)*s.frameSize:], s.previous)
		} else {
			s.buffer = s.buffer[:0]
		}
	}
	for current != 0 && len(chain) < mostPyFrames {
		at := len(s.buffer)
		s.growBuffer(at + s.frameSize)
		if !s.read(current, s.buffer[at:]) {
			return nil, false
		}
		chain = append(chain, current)
		current = s.wordIn(s.buffer[at:], s.previous)
	}
	return chain, true
}

func (s *pythonStacks) growBuffer(size int) {
	if cap(s.buffer) < size {
		s.buffer = append(make([]byte, 0, 2*size), s.buffer...)
	}
	s.buffer = s.buffer[:size]
}

// readFrames reads frames at addresses, at once. From 3.11 on most frames of a thread lie side by side in memory, and reading one piece is much
// cheaper than reading many.
func (s *pythonStacks) readFrames(at []uint64, to []byte) bool {
	s.remote, s.pieces = s.remote[:0], s.pieces[:0]
	for i, a := range at {
		if n := len(s.pieces); n > 0 {
			p := &s.pieces[n-1]
			low, high := min(p.low, a), max(p.high, a+uint64(s.frameSize))
			if high-low <= p.high-p.low+mostGap && high-low <= mostPiece {
				p.low, p.high, p.until = low, high, i+1
				continue
			}
		}
		s.pieces = append(s.pieces, piece{low: a, high: a + uint64(s.frameSize), from: i, until: i + 1})
	}
	size := 0
	for _, p := range s.pieces {
		s.remote = append(s.remote, unix.RemoteIovec{Base: uintptr(p.low), Len: int(p.high - p.low)})
		size += int(p.high - p.low)
	}
	if size == 0 {
		return true
	}
	s.room = slices.Grow(s.room[:0], size)[:size]
	local := []unix.Iovec{{Base: &s.room[0]}}
	local[0].SetLen(size)
	if n, err := unix.ProcessVMReadv(s.pid, local, s.remote, 0); err != nil || n != size {
		return false
	}
	begin := s.room
	for _, p := range s.pieces {
		for i := p.from; i < p.until; i++ {
			copy(to[i*s.frameSize:(i+1)*s.frameSize], begin[at[i]-p.low:])
		}
		begin = begin[p.high-p.low:]
	}
	return true
}

// piece is memory that has some frames of a stack.
type piece struct {
	low, high   uint64
	from, until int // which
}

// frameOf returns the function and line of a frame; nil for a frame of C code between two functions. It returns false if it is none.
func (s *pythonStacks) frameOf(b []byte) (f *Frame, ok bool) {
	if s.owner > 0 && s.minor > 11 && b[s.owner] == ownedByC {
		return nil, true
	}
	code := s.codeAt(s.wordIn(b, s.code))
	if code == nil {
		return nil, false
	}
	instruction := int(int32(uint32(s.wordIn(b, s.instr)))) * s.unit
	if s.bytecode > 0 {
		instruction = int(int64(s.wordIn(b, s.instr) - code.bytecode))
	}
	if f = code.at[instruction]; f == nil {
		if len(code.at) > mostTable {
			clear(code.at)
		}
		f = &Frame{Function: code.name, File: code.file, Line: lineOf(s.minor, code.lines, code.first, instruction)}
		code.at[instruction] = f
	}
	return f, true
}

// codeAt returns a code object; nil: there is none at this address.
func (s *pythonStacks) codeAt(at uint64) *pyCode {
	if c := s.codes[at]; c != nil {
		return c
	}
	b := make([]byte, s.codeSize)
	if at == 0 || at%8 != 0 || !s.read(at, b) || !s.isCode(s.wordIn(b, 8)) {
		return nil
	}
	c := &pyCode{first: int(int32(binary.NativeEndian.Uint32(b[s.firstLine:]))), at: make(map[int]*Frame)}
	if s.bytecode > 0 {
		c.bytecode = at + uint64(s.bytecode)
	}
	ok, ok2 := false, false
	c.name, ok = s.readText(s.wordIn(b, s.name))
	c.file, ok2 = s.readText(s.wordIn(b, s.file))
	if !ok || !ok2 {
		return nil
	}
	c.lines = s.bytes(s.wordIn(b, s.lines))
	s.codes[at] = c
	return c
}

// typeNameAt is where a PyTypeObject has its name.
const typeNameAt = 24

// isCode says whether an address is that of the type of code objects.
func (s *pythonStacks) isCode(typ uint64) bool {
	if typ == 0 || s.others[typ] {
		return false
	}
	if s.codeType != 0 {
		return typ == s.codeType
	}
	var name [5]byte
	if s.read(s.word(typ+typeNameAt), name[:]) && string(name[:]) == "code\x00" {
		s.codeType = typ
		return true
	}
	s.others[typ] = true
	return false
}

// Fields of a string (Include/cpython/unicodeobject.h: PyASCIIObject): its length, and bits of its state.
const (
	textLength = 16
	textState  = 32
	kindShift  = 2
	kindMask   = 7
	isCompact  = 1 << 5
	isASCII    = 1 << 6
)

// readText reads a string.
func (s *pythonStacks) readText(at uint64) (string, bool) {
	var head [textState + 4]byte
	if at == 0 || !s.read(at, head[:]) {
		return "", false
	}
	n, state := s.wordIn(head[:], textLength), binary.NativeEndian.Uint32(head[textState:])
	kind := uint64(state >> kindShift & kindMask)
	if state&isCompact == 0 || n > mostTable || kind != 1 && kind != 2 && kind != 4 {
		return "", false
	}
	if n == 0 {
		return "", true
	}
	n = min(n, mostText)
	data := at + uint64(s.compact)
	if state&isASCII != 0 {
		data = at + uint64(s.ascii)
	}
	b := make([]byte, n*kind)
	if !s.read(data, b) {
		return "", false
	}
	switch {
	case state&isASCII != 0:
		return string(b), true
	case kind == 1:
		runes := make([]rune, n)
		for i, c := range b {
			runes[i] = rune(c)
		}
		return string(runes), true
	case kind == 2:
		units := make([]uint16, n)
		for i := range units {
			units[i] = binary.NativeEndian.Uint16(b[2*i:])
		}
		return string(utf16.Decode(units)), true
	}
	runes := make([]rune, n)
	for i := range runes {
		runes[i] = rune(binary.NativeEndian.Uint32(b[4*i:]))
	}
	return string(runes), true
}

// Fields of an object of bytes (Include/cpython/bytesobject.h).
const (
	bytesLength = 16
	bytesBegin  = 32
)

// bytes reads an object of bytes; nil if it cannot be read or is too long.
func (s *pythonStacks) bytes(at uint64) []byte {
	n := s.word(at + bytesLength)
	if at == 0 || n == 0 || n > mostTable {
		return nil
	}
	b := make([]byte, n)
	if !s.read(at+bytesBegin, b) {
		return nil
	}
	return b
}
