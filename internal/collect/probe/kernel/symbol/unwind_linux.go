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

// Unwinds says whether stacks of waiting threads can be read on this architecture.
const Unwinds = runtime.GOARCH == "amd64"

// Waiting returns the addresses of a waiting thread's callers in the program, innermost first. It needs the place where the thread waits and the
// end of its stack there (proc_pid_syscall(5)). The first address is pc itself, the others are those after calls. Frame pointers are not needed.
// The stack ends at code without rules for its frames, such as Go's and code made at run time. Waiting needs the right to trace the process,
// changes nothing in it, and does not stop it. The caller makes sure that the thread still waits there. The result is valid until the next call.
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

// unwindFrame goes from a frame to its caller's. regs are the registers of the frame, and then of the caller. known says which are known.
func (p *Process) unwindFrame(pc uint64, caller bool, regs *[registersKept]uint64, known *[registersKept]bool) (next uint64, ok bool) {
	if caller {
		pc-- // the call itself, because the address after it may belong to another function
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
	if r.deref {
		at, ok := p.stack.wordAt(cfa)
		if !ok {
			return 0, false
		}
		cfa = at + uint64(r.plus)
	}
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

// rowAt returns how to leave the frame of the code at an address, nil if unknown. Threads wait at few places, so each is looked up once.
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

// framePointer returns the frame pointer of a function that keeps one, if its value is unknown: the C library's system calls leave it in its
// register, which the kernel does not give. It lies above the registers that the function saved and the room it made at its start
// (sub $N,%rsp), and above it stands a return address after a call. Otherwise it is at the first return address after a call of this same
// function.
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

// prologue is how many bytes of a function are searched for the room it makes.
const prologue = 64

// roomOf returns how much a function subtracts from the stack pointer at its start, in bytes; -1 unknown.
func roomOf(code []byte) int64 {
	for i := 0; i+7 <= len(code); i++ {
		switch c := code[i:]; {
		case c[0] == 0x48 && c[1] == 0x83 && c[2] == 0xec: // sub $imm8,%rsp
			return int64(int8(c[3]))
		case c[0] == 0x48 && c[1] == 0x81 && c[2] == 0xec:
			return int64(int32(binary.LittleEndian.Uint32(c[3:])))
		case c[0] == 0xe8: // a call: the start is over
			return 0
		}
	}
	return -1
}

// called describes the instruction before an address.
type called struct {
	is     bool   // it is a call
	target uint64 // 0: not told there
}

// callBefore says whether an address follows a call, and of which function.
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
	have  []byte // what was read, or a copy
}

func (m *memory) startAt(pid int, sp uint64) {
	m.pid, m.reads = pid, 0
	m.read(sp, firstRead)
}

// use takes a copy of the stack, beyond which nothing is read.
func (m *memory) use(sp uint64, stack []byte) { m.from, m.have, m.reads = sp, stack, mostReads }

func (m *memory) read(at uint64, size int) {
	m.reads++
	m.from, m.have = at, nil
	for size >= 8 {
		local := []unix.Iovec{{Base: &m.room[0]}}
		local[0].SetLen(size)
		n, err := unix.ProcessVMReadv(m.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: size}}, 0)
		if err == nil && n > 0 {
			m.have = m.room[:n]
			return
		}
		size /= 4 // the stack's end, or a missing page, is nearer
	}
}

// wordAt returns the 8 bytes at an address, and reads more of the stack for it if it may.
func (m *memory) wordAt(at uint64) (uint64, bool) {
	if at < m.from || at+8 > m.from+uint64(len(m.have)) {
		if m.reads >= mostReads || at%8 != 0 {
			return 0, false
		}
		m.read(at&^7, laterRead)
		if at < m.from || at+8 > m.from+uint64(len(m.have)) {
			return 0, false
		}
	}
	return binary.NativeEndian.Uint64(m.have[at-m.from:]), true
}
