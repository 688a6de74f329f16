package exchanges

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// Tracepoints.
const (
	sending   = "sock_send_length"
	receiving = "sock_recv_length"
	arriving  = "sk_data_ready"
	ending    = "tcp_destroy_sock"
)

// callRegisters are what the kernel calls the registers of a thread in a system call, and the numbers of the calls
// that take a buffer, vectors of buffers, or a message with such vectors as their second argument.
type callRegisters struct {
	call     string
	callSize asm.Size
	buffer   string // "": it lies at bufferAt
	bufferAt int16

	goroutine   string // in which Go keeps the running goroutine; "": it lies at goroutineAt
	goroutineAt int16

	plain, vector, message []int32
	many                   []int32 // likewise vectors of messages, and as their third how many

	sendTo            int32  // the one of them that takes an address as its fifth argument
	count, target     string // the third and the fifth argument; "": they lie at countAt and targetAt
	countAt, targetAt int16
}

// layout is where the kernel keeps what the programs read.
type layout struct {
	family, state, ownPort, peerPort, peer4, peer6, protocol int16
	call, buffer, count, target                              int16
	goroutine                                                int16 // below 0: not asked for

	// Of UNIX sockets, whose peer's process is a struct pid.
	kind, cookie, address, peer, peerProcess, number int16
	addressLength, addressName                       int16

	turning turning
}

func neededTypes() []tracepoint.Type {
	return []tracepoint.Type{tracepoint.Struct("sock"), tracepoint.Struct("sock_common"), tracepoint.Struct("pt_regs"),
		tracepoint.Struct("unix_sock"), tracepoint.Struct("unix_address"), tracepoint.Struct("pid"),
		tracepoint.Function("bpf_iter_num_new"), tracepoint.Function("bpf_iter_num_next"), tracepoint.Function("bpf_iter_num_destroy"),
		tracepoint.Tracepoint(sending), tracepoint.Tracepoint(receiving), tracepoint.Tracepoint(arriving), tracepoint.Tracepoint(ending)}
}

// readLayout reads the layout from the kernel's types. goroutines asks for the register of the
// goroutine too, which only processes of Go have.
func readLayout(t *tracepoint.KernelTypes, goroutines bool) (l layout, err error) {
	member := func(of, name string) int16 {
		at, _, e := t.Member(of, name)
		err = errors.Join(err, e)
		return at
	}
	l.family, l.state = member("sock_common", "skc_family"), member("sock_common", "skc_state")
	l.ownPort, l.peerPort = member("sock_common", "skc_num"), member("sock_common", "skc_dport")
	l.peer4, l.peer6 = member("sock_common", "skc_daddr"), member("sock_common", "skc_v6_daddr")
	l.protocol = member("sock", "sk_protocol")
	l.kind, l.cookie, l.peerProcess = member("sock", "sk_type"), member("sock_common", "skc_cookie"), member("sock", "sk_peer_pid")
	l.address, l.peer, l.number = member("unix_sock", "addr"), member("unix_sock", "peer"), member("pid", "numbers")
	l.addressLength, l.addressName = member("unix_address", "len"), member("unix_address", "name")
	l.turning = turningOf(t)
	argument := func(name string, at int16) int16 {
		if name == "" {
			return at
		}
		return member("pt_regs", name)
	}
	l.buffer, l.count, l.target = argument(registers.buffer, registers.bufferAt), argument(registers.count, registers.countAt), argument(registers.target, registers.targetAt)
	if registers.call != "" {
		l.call = member("pt_regs", registers.call)
	}
	switch {
	case !goroutines || registers.call == "":
		l.goroutine = -1
	case registers.goroutine != "":
		l.goroutine = member("pt_regs", registers.goroutine)
	default:
		l.goroutine = registers.goroutineAt
	}
	return l, err
}

// Places on the stack of a program.
const (
	onStackPID    = -8
	onStackSocket = -16
	onStackLength = -24 // behind the address, as in struct iovec
	onStackBuffer = -32
	onStackWord   = -40
	onStackOwn    = -48
	onStackRun    = -56 // what the tracepoint gave the program
	onStackEnd    = onStackRun - endSize
)

// program assembles one; its labels are its own.
type program struct {
	asm.Instructions
	k *keeps
	l layout
	n int
}

func (p *program) add(more ...asm.Instruction) { p.Instructions = append(p.Instructions, more...) }

// newLabel returns a label that is unique in the program.
func (p *program) newLabel(name string) string {
	p.n++
	return fmt.Sprintf("%s%d", name, p.n)
}

// finishProgram adds the return of 0 at the label "exit", and returns the instructions.
func (p *program) finishProgram() asm.Instructions {
	p.add(asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"), asm.Return())
	return p.Instructions
}

// placeLabel gives the next instruction a label.
func (p *program) placeLabel(label string) { p.add(asm.Mov.Imm(asm.R0, 0).WithSymbol(label)) }

// ofProcess ends the program where the thread is of none that is recorded, or less was transferred; the thread is in R9 then, the
// socket, the first argument, in R7, and the length, the second, in R8.
func (p *program) ofProcess(least int32) {
	p.add(
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.StoreMem(asm.RFP, onStackRun, asm.R1, asm.DWord),
		asm.LoadMem(asm.R7, asm.R6, 0, asm.DWord),
		asm.LoadMem(asm.R8, asm.R6, 8, asm.DWord),
		asm.LSh.Imm(asm.R8, 32), // an int
		asm.ArSh.Imm(asm.R8, 32),
		asm.JSLT.Imm(asm.R8, least, "exit"),
		asm.FnGetCurrentPidTgid.Call(),
		asm.Mov.Reg(asm.R9, asm.R0),
		asm.LSh.Imm(asm.R9, 32),
		asm.RSh.Imm(asm.R9, 32),
		asm.RSh.Imm(asm.R0, 32),
		asm.StoreMem(asm.RFP, onStackPID, asm.R0, asm.Word),
		asm.LoadMapPtr(asm.R1, p.k.processes.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackPID),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
	)
}

// identifyConnection stores on the stack what names the connection of the socket in R7 in the
// maps. It jumps to the label datagram for a socket of UDP, and ends the program for one that is
// neither TCP nor a UNIX stream, and for a connection that is left out.
func (p *program) identifyConnection(datagram string) {
	known, local, named := p.newLabel("known"), p.newLabel("local"), p.newLabel("named")
	p.add(
		asm.LoadMem(asm.R1, asm.R7, p.l.family, asm.Half),
		asm.JEq.Imm(asm.R1, unix.AF_INET, known),
		asm.JEq.Imm(asm.R1, unix.AF_UNIX, local),
		asm.JNE.Imm(asm.R1, unix.AF_INET6, "exit"),
		asm.LoadMem(asm.R1, asm.R7, p.l.protocol, asm.Half).WithSymbol(known),
		asm.JEq.Imm(asm.R1, unix.IPPROTO_UDP, datagram),
		asm.JNE.Imm(asm.R1, unix.IPPROTO_TCP, "exit"),
		asm.StoreMem(asm.RFP, onStackSocket, asm.R7, asm.DWord),
		asm.LoadMem(asm.R4, asm.R7, p.l.ownPort, asm.Half), // one of the two is of this connection alone
		asm.LoadMem(asm.R3, asm.R7, p.l.peerPort, asm.Half),
		asm.Add.Reg(asm.R4, asm.R3),
		asm.Ja.Label(named),
	)
	p.placeLabel(local)
	p.loadCookie()
	p.add(
		asm.LoadMapValue(asm.R2, p.k.tuning.FD(), 0).WithSymbol(named),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R2, asm.R1, asm.DWord, tuneEvents),
		asm.LoadMem(asm.R2, asm.R2, tuneMask, asm.Word),
		asm.Mul.Imm(asm.R4, 0x2545f491), // odd: spreads them
		asm.RSh.Imm(asm.R4, 12),
		asm.And.Reg(asm.R4, asm.R2),
		asm.JNE.Imm(asm.R4, 0, "exit"),
	)
}

// lookUp puts the state of the connection of R7 into R0, 0 unknown.
func (p *program) lookUp() {
	p.add(
		asm.LoadMapPtr(asm.R1, p.k.states.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackSocket),
		asm.FnMapLookupElem.Call(),
	)
}

// findState loads the state of the connection of R7 into R6, and makes one if there is none. The
// role of the process follows from its own port, or the name of its socket: it listens at it, or
// not. Where neither end has a name it ends the program.
func (p *program) findState() {
	found, v6, addressed, client, same := p.newLabel("found"), p.newLabel("six"), p.newLabel("addressed"), p.newLabel("client"), p.newLabel("same")
	p.lookUp()
	p.add(
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.JEq.Imm(asm.R6, 0, "make"),
		asm.LoadMem(asm.R1, asm.R6, atPort, asm.Half), // the memory of a socket is used again
		asm.LoadMem(asm.R2, asm.R7, p.l.peerPort, asm.Half),
		asm.JNE.Reg(asm.R1, asm.R2, "make"),
		asm.LoadMem(asm.R1, asm.R6, atOwnPort, asm.Half),
		asm.LoadMem(asm.R2, asm.R7, p.l.ownPort, asm.Half),
		asm.JEq.Reg(asm.R1, asm.R2, found),
		asm.LoadMapPtr(asm.R1, p.k.states.FD()).WithSymbol("make"),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackSocket),
		asm.LoadMapValue(asm.R3, p.k.empty.FD(), 0),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	)
	p.lookUp()
	p.add(
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.JEq.Imm(asm.R6, 0, "exit"),
		asm.LoadMem(asm.R1, asm.RFP, onStackSocket, asm.DWord),
		asm.StoreMem(asm.R6, atSocket, asm.R1, asm.DWord),
		asm.LoadMem(asm.R2, asm.R7, p.l.family, asm.Half),
		asm.StoreMem(asm.R6, atFamily, asm.R2, asm.Half),
		asm.JEq.Imm(asm.R2, unix.AF_UNIX, "local"),
		asm.LoadMem(asm.R1, asm.R7, p.l.peerPort, asm.Half),
		asm.StoreMem(asm.R6, atPort, asm.R1, asm.Half),
		asm.JEq.Imm(asm.R2, unix.AF_INET6, v6),
		asm.LoadMem(asm.R1, asm.R7, p.l.peer4, asm.Word),
		asm.StoreMem(asm.R6, atPeer, asm.R1, asm.Word),
		asm.Ja.Label(addressed),
		asm.LoadMem(asm.R1, asm.R7, p.l.peer6, asm.DWord).WithSymbol(v6),
		asm.StoreMem(asm.R6, atPeer, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R7, p.l.peer6+8, asm.DWord),
		asm.StoreMem(asm.R6, atPeer+8, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R7, p.l.ownPort, asm.Half).WithSymbol(addressed),
		asm.StoreMem(asm.R6, atOwnPort, asm.R1, asm.Half),
		asm.Mov.Imm(asm.R3, roleClient),
	)
	p.branchUnlessListening(client)
	p.add(
		asm.Mov.Imm(asm.R3, roleServer),
		asm.StoreMem(asm.R6, atRole, asm.R3, asm.Word).WithSymbol(client),
		asm.Ja.Label(same),
	)
	p.placeLabel("local")
	p.findEnds(same)
	p.placeLabel(found)
	p.placeLabel(same)
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atRole, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "exit"),
	)
}

// branchUnlessListening jumps to a label unless the process listens at the port in R1.
func (p *program) branchUnlessListening(not string) {
	p.add(
		asm.And.Imm(asm.R1, ports-1),
		asm.LoadMapValue(asm.R2, p.k.ports.FD(), 0),
		asm.Add.Reg(asm.R2, asm.R1),
		asm.LoadMem(asm.R2, asm.R2, 0, asm.Byte),
		asm.JEq.Imm(asm.R2, 0, not),
	)
}

// ringQuietly wakes no reader, because the recorder polls.
const ringQuietly = unix.BPF_RB_NO_WAKEUP

// tellExchange tells the exchange of R6, which is one of a server, or a call. size says how many
// bytes of its state that takes.
func (p *program) tellExchange(size int32) {
	told := p.newLabel("told")
	p.add(
		asm.LoadMapPtr(asm.R1, p.k.ring.FD()),
		asm.Mov.Reg(asm.R2, asm.R6),
		asm.Mov.Imm(asm.R3, size),
		asm.Mov.Imm(asm.R4, ringQuietly),
		asm.FnRingbufOutput.Call(),
		asm.JEq.Imm(asm.R0, 0, told),
		asm.LoadMapValue(asm.R2, p.k.tuning.FD(), 0),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R2, asm.R1, asm.DWord, tuneLost),
	)
	p.placeLabel(told)
}

// addToField adds R8 to a figure of R6.
func (p *program) addToField(at int16) {
	p.add(
		asm.LoadMem(asm.R1, asm.R6, at, asm.Word),
		asm.Add.Reg(asm.R1, asm.R8),
		asm.StoreMem(asm.R6, at, asm.R1, asm.Word),
	)
}

func (p *program) incrementField(at int16) {
	p.add(
		asm.LoadMem(asm.R1, asm.R6, at, asm.Word),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R6, at, asm.R1, asm.Word),
	)
}

// storeTime stores the current time in fields of R6.
func (p *program) storeTime(at ...int16) {
	p.add(asm.FnKtimeGetNs.Call())
	for _, a := range at {
		p.add(asm.StoreMem(asm.R6, a, asm.R0, asm.DWord))
	}
}

func (p *program) storeConstant(at int16, v int64, size asm.Size) {
	p.add(asm.Mov.Imm(asm.R1, int32(v)), asm.StoreMem(asm.R6, at, asm.R1, size))
}

// beginExchange begins an exchange whose first transfer has as many bytes as R8 says. bytes is the
// field that counts them, in or out, none the one of the other direction.
func (p *program) beginExchange(bytes, none int16) {
	p.storeConstant(atPhase, phaseAsked, asm.Word)
	p.storeConstant(atFirst, 0, asm.DWord)
	p.storeConstant(atLast, 0, asm.DWord)
	p.storeConstant(none, 0, asm.Word)
	p.storeConstant(atReads, 0, asm.Word)
	p.storeConstant(atSends, 0, asm.Word)
	p.storeConstant(atOther, 0, asm.Word)
	p.storeConstant(atHeadLen, 0, asm.Half)
	p.storeConstant(atAnswerLen, 0, asm.Word) // and atTailLen
	p.add(
		asm.StoreMem(asm.R6, bytes, asm.R8, asm.Word),
		asm.StoreMem(asm.R6, atThread, asm.R9, asm.Word),
	)
	p.storeConstant(atOtherGoroutine, 0, asm.DWord)
	p.storeGoroutine(atGoroutine)
}

// findBuffer puts on the stack where the system call has transferred bytes from or to, and how many there are in one piece; where
// that is not known it goes on at a label.
func (p *program) findBuffer(none string) {
	plain, found, vector, message := p.newLabel("plain"), p.newLabel("found"), p.newLabel("vector"), p.newLabel("message")
	p.add(
		asm.FnGetCurrentTaskBtf.Call(),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.FnTaskPtRegs.Call(),
		asm.LoadMem(asm.R1, asm.R0, p.l.call, registers.callSize),
		asm.LoadMem(asm.R3, asm.R0, p.l.buffer, asm.DWord),
	)
	for label, calls := range map[string][]int32{plain: registers.plain, vector: registers.vector, message: registers.message} {
		for _, c := range calls {
			p.add(asm.JEq.Imm(asm.R1, c, label))
		}
	}
	p.add(
		asm.Ja.Label(none),
		asm.Add.Imm(asm.R3, 16).WithSymbol(message), // msg_iov of struct user_msghdr
	)
	p.readVector(none)
	p.add(asm.LoadMem(asm.R3, asm.RFP, onStackBuffer, asm.DWord))
	p.placeLabel(vector) // of struct iovec
	p.readVector(none)
	p.add(
		asm.Ja.Label(found),
		asm.StoreMem(asm.RFP, onStackBuffer, asm.R3, asm.DWord).WithSymbol(plain),
		asm.StoreMem(asm.RFP, onStackLength, asm.R8, asm.DWord),
	)
	p.placeLabel(found)
}

// readVector reads the two words of the struct iovec at the address in R3 into the stack, and
// jumps to none if it cannot.
func (p *program) readVector(none string) {
	p.add(
		asm.Mov.Reg(asm.R1, asm.RFP),
		asm.Add.Imm(asm.R1, onStackBuffer),
		asm.Mov.Imm(asm.R2, 16),
		asm.FnProbeReadUser.Call(),
		asm.JNE.Imm(asm.R0, 0, none),
	)
}

// upTo puts the smaller of R8 and a size into R2.
func (p *program) upTo(size int32) {
	fits := p.newLabel("fits")
	p.add(
		asm.Mov.Reg(asm.R2, asm.R8),
		asm.JLE.Imm(asm.R2, size, fits),
		asm.Mov.Imm(asm.R2, size),
	)
	p.placeLabel(fits)
}

// copyStart copies the first bytes that were found to a place of R6, and how many they are to another, with those before them.
func (p *program) copyStart(to int16, size int32, length int16, before int32) {
	fits, whole := p.newLabel("fits"), p.newLabel("whole")
	p.upTo(size)
	p.add(
		asm.LoadMem(asm.R3, asm.RFP, onStackLength, asm.DWord),
		asm.JLE.Imm(asm.R3, size, fits),
		asm.Mov.Imm(asm.R3, size),
		asm.JLE.Reg(asm.R2, asm.R3, whole).WithSymbol(fits),
		asm.Mov.Reg(asm.R2, asm.R3),
		asm.Mov.Reg(asm.R1, asm.R2).WithSymbol(whole),
		asm.Add.Imm(asm.R1, before),
		asm.StoreMem(asm.R6, length, asm.R1, asm.Half),
		asm.LoadMem(asm.R3, asm.RFP, onStackBuffer, asm.DWord),
	)
	p.copyFromProcess(to)
}

// copyEnd copies the last bytes that were found likewise, if all are in one piece.
func (p *program) copyEnd(to int16, size int32, length int16) {
	none := p.newLabel("parted")
	p.upTo(size)
	p.add(
		asm.LoadMem(asm.R3, asm.RFP, onStackLength, asm.DWord),
		asm.JLT.Reg(asm.R3, asm.R8, none),
		asm.StoreMem(asm.R6, length, asm.R2, asm.Half),
		asm.LoadMem(asm.R3, asm.RFP, onStackBuffer, asm.DWord),
		asm.Add.Reg(asm.R3, asm.R8),
		asm.Sub.Reg(asm.R3, asm.R2),
	)
	p.copyFromProcess(to)
	p.placeLabel(none)
}

// copyFromProcess copies R2 bytes of the process from R3 to a place of R6.
func (p *program) copyFromProcess(to int16) {
	p.add(
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Add.Imm(asm.R1, int32(to)),
		asm.FnProbeReadUser.Call(),
	)
}

// copyTransferStart copies the first bytes of a transfer, where the machine's registers are known.
func (p *program) copyTransferStart(to int16, size int32, length int16, before int32) {
	if registers.call == "" {
		return
	}
	done := p.newLabel("copied")
	p.findBuffer(done)
	p.copyStart(to, size, length, before)
	p.placeLabel(done)
}
