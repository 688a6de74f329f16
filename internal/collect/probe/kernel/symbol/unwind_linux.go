package symbol

import (
	"encoding/binary"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of one stack.
const (
	deepest    = 64        // frames
	firstRead  = 1 << 10   // bytes of memory that are read at once
	laterRead  = 256       // further out
	mostReads  = 24        // of them
	widestGap  = 1 << 20   // bytes of one frame
	leastStack = uint64(8) // an address is not as low
)

// Unwinds says whether stacks of threads that wait can be read here.
const Unwinds = runtime.GOARCH == "amd64"

// Waiting are the addresses of a thread's callers in the program, innermost first, of which it is
// known where it waits and where its stack ends then (proc_pid_syscall(5)): the first is pc itself,
// the others lie behind calls. Frame pointers are not needed; what has no rules for its frames, as code
// made at run time and Go's, ends the stack. It needs the right to trace the process, changes nothing
// in it, and does not stop it: who calls this makes sure that the thread still waits there. What is
// returned is valid until the next call.
func (p *Process) Waiting(pc, sp uint64) (callers []uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	callers = append(p.callers[:0], pc)
	if Unwinds {
		p.stack.startAt(p.pid, sp)
		var regs [registersKept]uint64
		var known [registersKept]bool
		regs[regStack], known[regStack] = sp, true
		for len(callers) < deepest {
			next, ok := p.unwindFrame(callers[len(callers)-1], len(callers) > 1, &regs, &known)
			if !ok {
				break
			}
			callers = append(callers, next)
		}
	}
	p.callers = callers[:0]
	return callers
}

// unwindFrame goes from a frame to its caller's. regs are the registers of the frame, and then of
// the caller; known says which of them are known.
func (p *Process) unwindFrame(pc uint64, caller bool, regs *[registersKept]uint64, known *[registersKept]bool) (next uint64, ok bool) {
	if caller {
		pc-- // the call itself: behind it may be another function
	}
	r := p.rowAt(pc)
	if r == nil {
		return 0, false
	}
	sp := regs[regStack]
	if !known[r.base] && r.base == regBase {
		regs[regBase], known[regBase] = p.framePointer(r, r.start, sp)
	}
	if !known[r.base] {
		return 0, false
	}
	cfa := regs[r.base] + uint64(r.offset)
	if cfa <= sp || cfa-sp > widestGap {
		return 0, false
	}
	before, had := *regs, *known
	for reg := range registersKept {
		switch {
		case r.is[reg]:
			regs[reg], known[reg] = p.stack.wordAt(cfa + uint64(r.saved[reg]))
		case r.lost[reg]:
			known[reg] = false
		default:
			regs[reg], known[reg] = before[reg], had[reg]
		}
	}
	regs[regStack], known[regStack] = cfa, true
	return regs[regReturn], known[regReturn] && regs[regReturn] >= leastStack && p.mappingAt(regs[regReturn]-1) != nil
}

// rowAt is how the frame of the code at an address is left, nil if that is not known. Threads wait at few
// places: each is looked for once.
func (p *Process) rowAt(pc uint64) *row {
	if r, known := p.rows[pc]; known {
		return r
	}
	m := p.mappingAt(pc)
	if m == nil {
		return nil // it may be mapped later
	}
	if len(p.rows) > 1<<14 {
		clear(p.rows)
	}
	p.rows[pc] = nil
	if m.path == "" || m.path[0] == '[' || strings.HasPrefix(m.path, "/memfd:") {
		return nil
	}
	addr, in := p.fileOf(m).linkedAddress(pc - m.start + m.offset)
	if !in {
		return nil
	}
	r, ok := p.framesOf(m).rowAt(addr)
	if !ok || r.base >= registersKept || !r.is[regReturn] {
		return nil
	}
	r.start += pc - addr // as it is mapped
	p.rows[pc] = &r
	return &r
}

// framePointer is that of a function which keeps one, where its value is not known: the system calls of
// the C library leave it in its register, which the kernel does not tell. It is above what the function
// saved and made room for when it began (sub $N,%rsp), and a return address behind a call stands above
// it; else it is where the first return address stands that is behind a call of this very function.
func (p *Process) framePointer(r *row, start, sp uint64) (uint64, bool) {
	room, known := p.rooms[start]
	if !known {
		var code [prologue]byte
		room = roomOf(code[:p.readCode(start, code[:])])
		p.rooms[start] = room
	}
	least := sp + r.deepestSaved() - uint64(r.offset)
	if room >= 0 {
		base := least + uint64(room)
		if back, ok := p.stack.wordAt(base + 8); ok && p.callBefore(back).is {
			return base, true
		}
	}
	for base := least; base+16 <= sp+firstRead; base += 8 {
		back, ok := p.stack.wordAt(base + 8)
		if c := p.callBefore(back); ok && c.is && c.target == start {
			return base, true
		}
	}
	return 0, false
}

// prologue is how many bytes of a function are looked through for the room it makes.
const prologue = 64

// roomOf is how much a function takes off the stack pointer when it begins, in bytes; -1 unknown.
func roomOf(code []byte) int64 {
	for i := 0; i+7 <= len(code); i++ {
		switch c := code[i:]; {
		case c[0] == 0x48 && c[1] == 0x83 && c[2] == 0xec: // sub $imm8,%rsp
			return int64(int8(c[3]))
		case c[0] == 0x48 && c[1] == 0x81 && c[2] == 0xec:
			return int64(int32(binary.LittleEndian.Uint32(c[3:])))
		case c[0] == 0xe8: // a call: it has begun long ago
			return 0
		}
	}
	return -1
}

// called is what stands before an address.
type called struct {
	is     bool   // it is a call
	target uint64 // 0: not told there
}

// callBefore says whether an address lies behind a call, and of what.
func (p *Process) callBefore(at uint64) (c called) {
	if at < leastStack || at > 1<<47 {
		return c
	}
	c, known := p.calls[at]
	if known {
		return c
	}
	var b [7]byte
	if p.mappingAt(at-1) != nil && p.readCode(at-7, b[:]) == len(b) {
		indirect := func(i int) bool { return b[i] == 0xff && b[i+1]>>3&7 == 2 }
		if b[2] == 0xe8 {
			c = called{true, at + uint64(int64(int32(binary.LittleEndian.Uint32(b[3:]))))}
		} else {
			c.is = indirect(0) || indirect(1) || indirect(3) || indirect(4) || indirect(5)
		}
	}
	if len(p.calls) > 1<<14 {
		clear(p.calls)
	}
	p.calls[at] = c
	return c
}

// readCode reads the bytes at an address of the process, and returns how many it read.
func (p *Process) readCode(at uint64, to []byte) int {
	local := []unix.Iovec{{Base: &to[0]}}
	local[0].SetLen(len(to))
	n, err := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(to)}}, 0)
	if err != nil {
		return 0
	}
	return n
}

// memory is a process's stack, read as far as it is asked for.
type memory struct {
	pid   int
	reads int
	from  uint64
	room  [firstRead]byte
	n     int
}

func (m *memory) startAt(pid int, sp uint64) {
	m.pid, m.reads = pid, 0
	m.read(sp, firstRead)
}

func (m *memory) read(at uint64, size int) {
	m.reads++
	m.from, m.n = at, 0
	for size >= 8 {
		local := []unix.Iovec{{Base: &m.room[0]}}
		local[0].SetLen(size)
		n, err := unix.ProcessVMReadv(m.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: size}}, 0)
		if err == nil && n > 0 {
			m.n = n
			return
		}
		size /= 4 // the stack's end, or a page that is not there, is nearer
	}
}

// wordAt returns the 8 bytes at an address, and reads more of the stack for it if it may.
func (m *memory) wordAt(at uint64) (uint64, bool) {
	if at < m.from || at+8 > m.from+uint64(m.n) {
		if m.reads >= mostReads || at%8 != 0 {
			return 0, false
		}
		m.read(at&^7, laterRead)
		if at < m.from || at+8 > m.from+uint64(m.n) {
			return 0, false
		}
	}
	return binary.NativeEndian.Uint64(m.room[at-m.from:]), true
}
