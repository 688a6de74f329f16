package kernel

import (
	"errors"

	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// layout is where the kernel keeps the fields that the program reads.
type layout struct {
	pid, tgid, state       int16
	parent                 int16
	wide                   bool // state has 8 bytes
	call, argument, ip, sp int16
}

// callRegisters are the kernel's names for a thread's registers in a system call, and the calls whose first argument is a descriptor.
type callRegisters struct {
	call, argument, ip string
	callSize           asm.Size
	onFile             map[int64]bool
}

// readLayout reads the layout from the kernel's description of its types.
func readLayout(t *tracepoint.KernelTypes) (l layout, err error) {
	member := func(of string, names ...string) (at int16, size uint32) {
		at, size, e := t.Member(of, names...)
		err = errors.Join(err, e)
		return at, size
	}
	l.pid, _ = member("task_struct", "pid")
	l.tgid, _ = member("task_struct", "tgid")
	l.parent, _ = member("task_struct", "real_parent")
	state, size := member("task_struct", "__state", "state") // since 5.14, before
	l.state, l.wide = state, size == 8
	l.call, _ = member("pt_regs", registers.call)
	l.argument, _ = member("pt_regs", registers.argument)
	l.ip, _ = member("pt_regs", registers.ip)
	l.sp, _ = member("pt_regs", "sp")
	return l, err
}

// neededTypes returns the types and tracepoints that the programs need.
func neededTypes() []tracepoint.Type {
	all := []tracepoint.Type{tracepoint.Struct("task_struct"), tracepoint.Struct("pt_regs"), tracepoint.Struct("folio"), tracepoint.Struct("address_space"), tracepoint.Struct("inode"),
		tracepoint.Tracepoint(switching), tracepoint.Tracepoint(waking), tracepoint.Tracepoint(filling)}
	for _, x := range spans {
		all = append(all, tracepoint.Tracepoint(x.begin), tracepoint.Tracepoint(x.end))
	}
	return all
}

// switching is the tracepoint at each switch between threads, waking the one at which a waiting thread can run again. sched_waking
// comes before waking, and possibly before the thread has left its CPU.
const (
	switching = "sched_switch"
	waking    = "sched_wakeup"
)

// Layout of a report about a wait; the stack follows.
const (
	tellStart  = 0  // start of the last wait, by the kernel's monotonic clock
	tellTook   = 8  // ns of all waits
	tellCount  = 16 // number of waits, 0: a single wait
	tellThread = 20
	tellState  = 24
	tellUser   = 28 // number of the program's stack, negative: none
	tellCall   = 32
	tellArg    = 40
	tellLength = 48 // bytes of the stack, negative: none
	tellInode  = 56 // inode of the file whose pages it began to read before, 0: none
	tellReady  = 64 // ns of all waits in which it was runnable and waited for a CPU; 0 unknown
	tellLast   = 72 // ns of the last wait
	tellSpare  = 80 // ns of the last wait in which it was runnable
	tellStack  = 88
	tellSize   = tellStack + 8*depth
)

// Layout of a thread's slot. The fields that most switches use are in one cache line.
const (
	slotThread = 0
	slotState  = 4
	slotSince  = 8  // 0: the thread runs
	slotWoken  = 16 // 0: not woken since
	slotSum    = 24
	slotReady  = 32 // sum over the waits
	slotCount  = 40
	slotUser   = 44
	slotLast   = 48 // when a stack of the program was last taken
	slotInode  = 56 // inode of the file whose page it put into memory since it ran
	slotIP     = 64 // instruction pointer of the program at that time
	slotSP     = 72
)

// Layout of the tuning map.
const (
	tuneLong  = 0
	tuneShort = 8
	tuneLost  = 16
	tuneFrom  = 24 // threads that left before may have run in between
	tuneSize  = 32
)

// slotOf loads the slot of the thread in R1 into a register.
func (w *waiting) slotOf(to asm.Register) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R2, asm.R1),
		asm.And.Imm(asm.R2, slots-1),
		asm.LSh.Imm(asm.R2, slotShift),
		asm.LoadMapValue(to, w.slots.FD(), 0),
		asm.Add.Reg(to, asm.R2),
	}
}

// unlessOurs jumps to a label if a thread (a register that points to it) is not of the process, nor of a child of it if children may be its
// workers. It uses R1.
func (w *waiting) unlessOurs(task asm.Register, l layout, label string) asm.Instructions {
	of := int32(w.of.lead)
	p := asm.Instructions{asm.LoadMem(asm.R1, task, l.tgid, asm.Word)}
	if !w.of.master {
		return append(p, asm.JNE.Imm(asm.R1, of, label))
	}
	skip := asm.JEq.Imm(asm.R1, of, "")
	skip.Offset = 3 // instructions: its parent need not be asked for
	return append(p, skip,
		asm.LoadMem(asm.R1, task, l.parent, asm.DWord),
		asm.LoadMem(asm.R1, asm.R1, l.tgid, asm.Word),
		asm.JNE.Imm(asm.R1, of, label))
}

// buildWokenProgram builds the program that runs when a thread becomes runnable. It notes the time.
func (w *waiting) buildWokenProgram(l layout) asm.Instructions {
	p := asm.Instructions{
		asm.LoadMem(asm.R7, asm.R1, 0, asm.DWord),
	}
	p = append(p, w.unlessOurs(asm.R7, l, "exit")...)
	p = append(p, asm.LoadMem(asm.R1, asm.R7, l.pid, asm.Word))
	p = append(p, w.slotOf(asm.R6)...)
	return append(p,
		asm.LoadMem(asm.R2, asm.R6, slotThread, asm.Word),
		asm.JNE.Reg(asm.R1, asm.R2, "exit"),
		asm.LoadMem(asm.R2, asm.R6, slotSince, asm.DWord),
		asm.JEq.Imm(asm.R2, 0, "exit"), // it has not left yet
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.R6, slotWoken, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"),
		asm.Return(),
	)
}

// buildSwitchProgram builds the program that runs at each switch between threads. It makes only two comparisons if neither thread is of
// the process.
func (w *waiting) buildSwitchProgram(l layout) asm.Instructions {
	const fetch = asm.Word
	slotOf := func(task asm.Register) asm.Instructions { // R3, the thread in R1
		return append(asm.Instructions{asm.LoadMem(asm.R1, task, l.pid, fetch)}, w.slotOf(asm.R3)...)
	}
	stateSize := asm.Word
	if l.wide {
		stateSize = asm.DWord
	}
	var p asm.Instructions
	add := func(more ...asm.Instruction) { p = append(p, more...) }
	add(
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R7, asm.R6, 8, asm.DWord),  // the leaving thread
		asm.LoadMem(asm.R8, asm.R6, 16, asm.DWord), // the coming thread
	)
	add(w.unlessOurs(asm.R7, l, "other")...)
	add(asm.Ja.Label("ours"))
	other := w.unlessOurs(asm.R8, l, "exit")
	other[0] = other[0].WithSymbol("other")
	add(other...)
	add(
		asm.FnKtimeGetNs.Call().WithSymbol("ours"),
		asm.Mov.Reg(asm.R9, asm.R0),
	)
	add(w.unlessOurs(asm.R7, l, "comes")...)
	add(slotOf(asm.R7)...)
	add(
		asm.StoreMem(asm.R3, slotThread, asm.R1, asm.Word),
		asm.StoreMem(asm.R3, slotSince, asm.R9, asm.DWord),
		asm.Mov.Imm(asm.R5, 0),
		asm.StoreMem(asm.R3, slotWoken, asm.R5, asm.DWord),
		asm.LoadMem(asm.R4, asm.R6, 0, asm.DWord), // it was preempted
		asm.And.Imm(asm.R4, 0xff),
		asm.JNE.Imm(asm.R4, 0, "left"),
		asm.LoadMem(asm.R5, asm.R7, l.state, stateSize),
		asm.StoreMem(asm.R3, slotState, asm.R5, asm.Word).WithSymbol("left"),
		asm.JEq.Imm(asm.R5, 0, "comes"),
		asm.LoadMem(asm.R4, asm.R3, slotLast, asm.DWord),
		asm.Mov.Reg(asm.R5, asm.R9),
		asm.Sub.Reg(asm.R5, asm.R4),
		asm.JGE.Imm(asm.R5, int32(userEvery), "ask"),
		asm.Mov.Reg(asm.R4, asm.R9), // by chance, because otherwise waits after a short one would never be taken
		asm.Mul.Imm(asm.R4, spreads),
		asm.And.Imm(asm.R4, 4*int32(userEvery)-1),
		asm.JLT.Reg(asm.R5, asm.R4, "comes"),
		asm.StoreMem(asm.R3, slotLast, asm.R9, asm.DWord).WithSymbol("ask"),
		asm.StoreMem(asm.RFP, -8, asm.R3, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R7),
		asm.FnTaskPtRegs.Call(),
		asm.LoadMem(asm.R3, asm.RFP, -8, asm.DWord),
		asm.LoadMem(asm.R1, asm.R0, l.ip, asm.DWord),
		asm.StoreMem(asm.R3, slotIP, asm.R1, asm.DWord),
		asm.LoadMem(asm.R2, asm.R0, l.sp, asm.DWord),
		asm.StoreMem(asm.R3, slotSP, asm.R2, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.LoadMapPtr(asm.R2, w.users.FD()),
		asm.Mov.Imm(asm.R3, unix.BPF_F_USER_STACK),
		asm.FnGetStackid.Call(),
		asm.LoadMem(asm.R3, asm.RFP, -8, asm.DWord),
		asm.StoreMem(asm.R3, slotUser, asm.R0, asm.Word),
	)
	comes := w.unlessOurs(asm.R8, l, "exit")
	comes[0] = comes[0].WithSymbol("comes")
	add(comes...)
	add(slotOf(asm.R8)...)
	add(
		asm.LoadMem(asm.R2, asm.R3, slotThread, asm.Word),
		asm.JNE.Reg(asm.R1, asm.R2, "exit"), // another thread took its slot
		asm.LoadMem(asm.R4, asm.R3, slotSince, asm.DWord),
		asm.JEq.Imm(asm.R4, 0, "exit"),
		asm.Mov.Imm(asm.R5, 0),
		asm.StoreMem(asm.R3, slotSince, asm.R5, asm.DWord),
		asm.LoadMem(asm.R2, asm.R3, slotInode, asm.DWord),
		asm.StoreMem(asm.RFP, -32, asm.R2, asm.DWord),
		asm.StoreMem(asm.R3, slotInode, asm.R5, asm.DWord),
		asm.LoadMapValue(asm.R7, w.tuning.FD(), 0),
		asm.LoadMem(asm.R5, asm.R7, tuneFrom, asm.DWord),
		asm.JLT.Reg(asm.R4, asm.R5, "exit"),
		asm.LoadMem(asm.R2, asm.R3, slotWoken, asm.DWord),
		asm.JNE.Imm(asm.R2, 0, "woken"),
		asm.Mov.Imm(asm.R1, 0),
		asm.LoadMem(asm.R2, asm.R3, slotState, asm.Word),
		asm.JNE.Imm(asm.R2, 0, "asleep"), // the wake-up is unknown
		asm.Mov.Reg(asm.R2, asm.R4),      // then it counts as runnable all the time
		asm.Mov.Reg(asm.R1, asm.R9).WithSymbol("woken"),
		asm.Sub.Reg(asm.R1, asm.R2),
		asm.StoreMem(asm.RFP, -40, asm.R1, asm.DWord).WithSymbol("asleep"), // how much of the wait it was runnable
		asm.StoreMem(asm.RFP, -56, asm.R1, asm.DWord),
		asm.Sub.Reg(asm.R9, asm.R4), // length of the wait
		asm.StoreMem(asm.RFP, -48, asm.R9, asm.DWord),
		asm.StoreMem(asm.RFP, -8, asm.R3, asm.DWord),
		asm.StoreMem(asm.RFP, -16, asm.R4, asm.DWord),
		asm.LoadMem(asm.R5, asm.R7, tuneLong, asm.DWord),
		asm.JGE.Reg(asm.R9, asm.R5, "long"),
		asm.LoadMem(asm.R4, asm.R3, slotCount, asm.Word),
		asm.Add.Imm(asm.R4, 1),
		asm.StoreMem(asm.R3, slotCount, asm.R4, asm.Word),
		asm.LoadMem(asm.R5, asm.R3, slotSum, asm.DWord),
		asm.Add.Reg(asm.R9, asm.R5),
		asm.StoreMem(asm.R3, slotSum, asm.R9, asm.DWord),
		asm.LoadMem(asm.R5, asm.R3, slotReady, asm.DWord),
		asm.Add.Reg(asm.R1, asm.R5),
		asm.StoreMem(asm.R3, slotReady, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, -40, asm.R1, asm.DWord),
		asm.LoadMem(asm.R5, asm.R7, tuneShort, asm.DWord),
		asm.JLT.Reg(asm.R9, asm.R5, "exit"),
		asm.Ja.Label("tell"),
		asm.Mov.Imm(asm.R4, 0).WithSymbol("long"),
		asm.StoreMem(asm.RFP, -24, asm.R4, asm.DWord).WithSymbol("tell"),

		asm.LoadMapPtr(asm.R1, w.ring.FD()),
		asm.Mov.Imm(asm.R2, tellSize),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(),
		asm.JNE.Imm(asm.R0, 0, "room"),
		// A sum is reported another time; a long wait is lost.
		asm.LoadMem(asm.R4, asm.RFP, -24, asm.DWord),
		asm.JNE.Imm(asm.R4, 0, "exit"),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R7, asm.R1, asm.DWord, tuneLost),
		asm.Ja.Label("exit"),

		asm.Mov.Reg(asm.R6, asm.R0).WithSymbol("room"), // the switched threads are not needed any more
		asm.StoreMem(asm.R6, tellTook, asm.R9, asm.DWord),
		asm.LoadMem(asm.R1, asm.RFP, -16, asm.DWord),
		asm.StoreMem(asm.R6, tellStart, asm.R1, asm.DWord),
		asm.LoadMem(asm.R4, asm.RFP, -24, asm.DWord),
		asm.StoreMem(asm.R6, tellCount, asm.R4, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, -32, asm.DWord),
		asm.StoreMem(asm.R6, tellInode, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.RFP, -40, asm.DWord),
		asm.StoreMem(asm.R6, tellReady, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.RFP, -48, asm.DWord),
		asm.StoreMem(asm.R6, tellLast, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.RFP, -56, asm.DWord),
		asm.StoreMem(asm.R6, tellSpare, asm.R1, asm.DWord),
		asm.LoadMem(asm.R3, asm.RFP, -8, asm.DWord),
		asm.JEq.Imm(asm.R4, 0, "alone"),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.R3, slotSum, asm.R1, asm.DWord),
		asm.StoreMem(asm.R3, slotReady, asm.R1, asm.DWord),
		asm.StoreImm(asm.R3, slotCount, 0, asm.Word),
		asm.LoadMem(asm.R1, asm.R3, slotThread, asm.Word).WithSymbol("alone"),
		asm.StoreMem(asm.R6, tellThread, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, asm.R3, slotState, asm.Word),
		asm.StoreMem(asm.R6, tellState, asm.R1, asm.Word),
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.FnTaskPtRegs.Call(),
		// The program's stack was taken in this same call, or at this depth of it.
		asm.LoadMem(asm.R3, asm.RFP, -8, asm.DWord),
		asm.Mov.Imm(asm.R4, -1),
		asm.LoadMem(asm.R1, asm.R0, l.ip, asm.DWord),
		asm.LoadMem(asm.R2, asm.R3, slotIP, asm.DWord),
		asm.JNE.Reg(asm.R1, asm.R2, "elsewhere"),
		asm.LoadMem(asm.R1, asm.R0, l.sp, asm.DWord),
		asm.LoadMem(asm.R2, asm.R3, slotSP, asm.DWord),
		asm.JNE.Reg(asm.R1, asm.R2, "elsewhere"),
		asm.LoadMem(asm.R1, asm.RFP, -16, asm.DWord), // the time it left
		asm.LoadMem(asm.R2, asm.R3, slotLast, asm.DWord),
		asm.Sub.Reg(asm.R1, asm.R2),
		asm.JGT.Imm(asm.R1, int32(userHolds), "elsewhere"),
		asm.LoadMem(asm.R4, asm.R3, slotUser, asm.Word),
		asm.StoreMem(asm.R6, tellUser, asm.R4, asm.Word).WithSymbol("elsewhere"),
		asm.LoadMem(asm.R1, asm.R0, l.call, registers.callSize),
		asm.StoreMem(asm.R6, tellCall, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R0, l.argument, asm.DWord),
		asm.StoreMem(asm.R6, tellArg, asm.R1, asm.DWord),
		// The coming thread has not run yet, so its stack is still that of its wait.
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.Mov.Reg(asm.R2, asm.R6),
		asm.Add.Imm(asm.R2, tellStack),
		asm.Mov.Imm(asm.R3, 8*depth),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnGetTaskStack.Call(),
		asm.StoreMem(asm.R6, tellLength, asm.R0, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, unix.BPF_RB_NO_WAKEUP),
		asm.FnRingbufSubmit.Call(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"),
		asm.Return(),
	)
	return p
}
