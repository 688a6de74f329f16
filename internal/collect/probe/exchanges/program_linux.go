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

func asked() []tracepoint.Type {
	return []tracepoint.Type{tracepoint.Struct("sock"), tracepoint.Struct("sock_common"), tracepoint.Struct("pt_regs"),
		tracepoint.Struct("unix_sock"), tracepoint.Struct("unix_address"), tracepoint.Struct("pid"),
		tracepoint.Function("bpf_iter_num_new"), tracepoint.Function("bpf_iter_num_next"), tracepoint.Function("bpf_iter_num_destroy"),
		tracepoint.At(sending), tracepoint.At(receiving), tracepoint.At(arriving), tracepoint.At(ending)}
}

// offsets reads the layout; goroutines are asked for of a process of Go alone.
func offsets(t *tracepoint.Types, goroutines bool) (l layout, err error) {
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
	onStackEnd    = onStackOwn - endSize
)

// program assembles one; its labels are its own.
type program struct {
	asm.Instructions
	k *keeps
	l layout
	n int
}

func (p *program) add(more ...asm.Instruction) { p.Instructions = append(p.Instructions, more...) }

// label makes a label that no other is.
func (p *program) label(name string) string {
	p.n++
	return fmt.Sprintf("%s%d", name, p.n)
}

// end returns 0.
func (p *program) end() asm.Instructions {
	p.add(asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"), asm.Return())
	return p.Instructions
}

// here gives the next instruction a label.
func (p *program) here(label string) { p.add(asm.Mov.Imm(asm.R0, 0).WithSymbol(label)) }

// ofProcess ends the program where the thread is of none that is recorded, or less was transferred; the thread is in R9 then, the
// socket, the first argument, in R7, and the length, the second, in R8.
func (p *program) ofProcess(least int32) {
	p.add(
		asm.Mov.Reg(asm.R6, asm.R1),
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

// connection goes on at a label where the socket in R7 is one of UDP. It ends the program where it is neither one of TCP nor a stream of
// UNIX, or its connection is left out; else what names the connection in the maps is on the stack.
func (p *program) connection(datagram string) {
	known, local, named := p.label("known"), p.label("local"), p.label("named")
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
	p.here(local)
	p.cookie()
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

// find puts the state of the connection of R7 into R6, and makes one where there is none. The role of the process is
// told by its own port, or the name of its socket: it listens at it, or not. Where neither end has a name it ends the program.
func (p *program) find() {
	found, v6, addressed, client, same := p.label("found"), p.label("six"), p.label("addressed"), p.label("client"), p.label("same")
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
	p.listens(client)
	p.add(
		asm.Mov.Imm(asm.R3, roleServer),
		asm.StoreMem(asm.R6, atRole, asm.R3, asm.Word).WithSymbol(client),
		asm.Ja.Label(same),
	)
	p.here("local")
	p.ends(same)
	p.here(found)
	p.here(same)
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atRole, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "exit"),
	)
}

// listens goes on where the process listens at the port in R1, and elsewhere to a label.
func (p *program) listens(not string) {
	p.add(
		asm.And.Imm(asm.R1, ports-1),
		asm.LoadMapValue(asm.R2, p.k.ports.FD(), 0),
		asm.Add.Reg(asm.R2, asm.R1),
		asm.LoadMem(asm.R2, asm.R2, 0, asm.Byte),
		asm.JEq.Imm(asm.R2, 0, not),
	)
}

// ringQuietly wakes nobody: the recorder looks in turns.
const ringQuietly = unix.BPF_RB_NO_WAKEUP

// tell tells the exchange of R6, which is one of a server, or a call.
func (p *program) tell(size int32) {
	told := p.label("told")
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
	p.here(told)
}

// plus adds R8 to a figure of R6.
func (p *program) plus(at int16) {
	p.add(
		asm.LoadMem(asm.R1, asm.R6, at, asm.Word),
		asm.Add.Reg(asm.R1, asm.R8),
		asm.StoreMem(asm.R6, at, asm.R1, asm.Word),
	)
}

func (p *program) one(at int16) {
	p.add(
		asm.LoadMem(asm.R1, asm.R6, at, asm.Word),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R6, at, asm.R1, asm.Word),
	)
}

// stamp stores what time it is.
func (p *program) stamp(at ...int16) {
	p.add(asm.FnKtimeGetNs.Call())
	for _, a := range at {
		p.add(asm.StoreMem(asm.R6, a, asm.R0, asm.DWord))
	}
}

func (p *program) set(at int16, v int64, size asm.Size) {
	p.add(asm.Mov.Imm(asm.R1, int32(v)), asm.StoreMem(asm.R6, at, asm.R1, size))
}

// begin begins an exchange: the first transfer is of as many bytes as R8 says, in or out.
func (p *program) begin(bytes, none int16) {
	p.set(atPhase, phaseAsked, asm.Word)
	p.set(atFirst, 0, asm.DWord)
	p.set(atLast, 0, asm.DWord)
	p.set(none, 0, asm.Word)
	p.set(atReads, 0, asm.Word)
	p.set(atSends, 0, asm.Word)
	p.set(atOther, 0, asm.Word)
	p.set(atHeadLen, 0, asm.Half)
	p.set(atAnswerLen, 0, asm.Word) // and atTailLen
	p.add(
		asm.StoreMem(asm.R6, bytes, asm.R8, asm.Word),
		asm.StoreMem(asm.R6, atThread, asm.R9, asm.Word),
	)
	p.set(atOtherGoroutine, 0, asm.DWord)
	p.goroutine(atGoroutine)
}

// findBuffer puts on the stack where the system call has transferred bytes from or to, and how many there are in one piece; where
// that is not known it goes on at a label.
func (p *program) findBuffer(none string) {
	plain, found, vector, message := p.label("plain"), p.label("found"), p.label("vector"), p.label("message")
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
	p.follow(none)
	p.add(asm.LoadMem(asm.R3, asm.RFP, onStackBuffer, asm.DWord))
	p.here(vector) // of struct iovec
	p.follow(none)
	p.add(
		asm.Ja.Label(found),
		asm.StoreMem(asm.RFP, onStackBuffer, asm.R3, asm.DWord).WithSymbol(plain),
		asm.StoreMem(asm.RFP, onStackLength, asm.R8, asm.DWord),
	)
	p.here(found)
}

// follow copies the two words to the stack that stand where R3 points.
func (p *program) follow(none string) {
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
	fits := p.label("fits")
	p.add(
		asm.Mov.Reg(asm.R2, asm.R8),
		asm.JLE.Imm(asm.R2, size, fits),
		asm.Mov.Imm(asm.R2, size),
	)
	p.here(fits)
}

// copyStart copies the first bytes that were found to a place of R6, and how many they are to another, with those before them.
func (p *program) copyStart(to int16, size int32, length int16, before int32) {
	fits, whole := p.label("fits"), p.label("whole")
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
	p.copy(to)
}

// copyEnd copies the last bytes that were found likewise, if all are in one piece.
func (p *program) copyEnd(to int16, size int32, length int16) {
	none := p.label("parted")
	p.upTo(size)
	p.add(
		asm.LoadMem(asm.R3, asm.RFP, onStackLength, asm.DWord),
		asm.JLT.Reg(asm.R3, asm.R8, none),
		asm.StoreMem(asm.R6, length, asm.R2, asm.Half),
		asm.LoadMem(asm.R3, asm.RFP, onStackBuffer, asm.DWord),
		asm.Add.Reg(asm.R3, asm.R8),
		asm.Sub.Reg(asm.R3, asm.R2),
	)
	p.copy(to)
	p.here(none)
}

// copy copies R2 bytes of the process from R3 to a place of R6.
func (p *program) copy(to int16) {
	p.add(
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Add.Imm(asm.R1, int32(to)),
		asm.FnProbeReadUser.Call(),
	)
}

// start copies the first bytes of a transfer.
func (p *program) start(to int16, size int32, length int16, before int32) {
	if registers.call == "" {
		return
	}
	done := p.label("copied")
	p.findBuffer(done)
	p.copyStart(to, size, length, before)
	p.here(done)
}
