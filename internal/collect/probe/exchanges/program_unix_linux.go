package exchanges

import (
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// A name of a UNIX socket lies behind its family.
const familySize = 2

// loadCookie puts the cookie of the UNIX socket in R7, which no other socket has, on the stack and
// into R4. It ends the program for sockets that are not streams.
func (p *program) loadCookie() {
	p.add(
		asm.LoadMem(asm.R1, asm.R7, p.l.kind, asm.Half),
		asm.JNE.Imm(asm.R1, unix.SOCK_STREAM, "exit"),
		asm.Mov.Reg(asm.R1, asm.R7),
		asm.FnGetSocketCookie.Call(),
		asm.StoreMem(asm.RFP, onStackSocket, asm.R0, asm.DWord),
		asm.Mov.Reg(asm.R4, asm.R0),
	)
}

// loadKernelWord puts the word at an offset from the address in a register on the stack and into
// R1, 0 if it cannot be read.
func (p *program) loadKernelWord(from asm.Register, at int16, size asm.Size) {
	read := p.newLabel("read")
	p.add(
		asm.Mov.Reg(asm.R3, from),
		asm.Add.Imm(asm.R3, int32(at)),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, onStackWord, asm.R1, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.RFP),
		asm.Add.Imm(asm.R1, onStackWord),
		asm.Mov.Imm(asm.R2, int32(size.Sizeof())),
		asm.FnProbeReadKernel.Call(),
		asm.LoadMem(asm.R1, asm.RFP, onStackWord, size),
		asm.JEq.Imm(asm.R0, 0, read),
		asm.Mov.Imm(asm.R1, 0),
	)
	p.placeLabel(read)
}

// storeSocketName stores on the stack the end of a UNIX connection, with the name at the address
// in R1 and without a process.
func (p *program) storeSocketName() {
	short, done := p.newLabel("short"), p.newLabel("done")
	p.add(asm.StoreMem(asm.RFP, onStackBuffer, asm.R1, asm.DWord), asm.Mov.Imm(asm.R2, 0))
	for at := int16(0); at < endSize; at += 8 {
		p.add(asm.StoreMem(asm.RFP, onStackEnd+at, asm.R2, asm.DWord))
	}
	p.loadKernelWord(asm.R1, p.l.addressLength, asm.Word)
	p.add(
		asm.JLE.Imm(asm.R1, familySize, done),
		asm.Sub.Imm(asm.R1, familySize),
		asm.JLE.Imm(asm.R1, mostName, short),
		asm.Mov.Imm(asm.R1, mostName),
	)
	p.placeLabel(short)
	p.add(
		asm.StoreMem(asm.RFP, onStackEnd+endLength, asm.R1, asm.Word),
		asm.Mov.Reg(asm.R2, asm.R1),
		asm.Mov.Reg(asm.R1, asm.RFP),
		asm.Add.Imm(asm.R1, onStackEnd+endName),
		asm.LoadMem(asm.R3, asm.RFP, onStackBuffer, asm.DWord),
		asm.Add.Imm(asm.R3, int32(p.l.addressName)+familySize),
		asm.FnProbeReadKernel.Call(),
	)
	p.placeLabel(done)
}

// checkOwnName puts into R0 whether the process listens at the name of the UNIX socket in R7, as
// nameOurs or nameOthers; 0 if it has no name. Names are known by their addresses until the
// recorder hears of others.
func (p *program) checkOwnName() {
	known, told, others := p.newLabel("known"), p.newLabel("told"), p.newLabel("others")
	look := func(m int, at int32) {
		p.add(
			asm.LoadMapPtr(asm.R1, m),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, at),
			asm.FnMapLookupElem.Call(),
		)
	}
	p.loadKernelWord(asm.R7, p.l.address, asm.DWord)
	p.add(
		asm.Mov.Imm(asm.R0, 0),
		asm.JEq.Imm(asm.R1, 0, told),
		asm.StoreMem(asm.RFP, onStackLength, asm.R1, asm.DWord),
	)
	look(p.k.addresses.FD(), onStackLength)
	p.add(
		asm.JNE.Imm(asm.R0, 0, known),
		asm.LoadMem(asm.R1, asm.RFP, onStackLength, asm.DWord),
	)
	p.storeSocketName()
	look(p.k.names.FD(), onStackEnd)
	p.add(
		asm.Mov.Imm(asm.R1, nameOthers),
		asm.JEq.Imm(asm.R0, 0, others),
		asm.Mov.Imm(asm.R1, nameOurs),
		asm.StoreMem(asm.RFP, onStackWord, asm.R1, asm.DWord).WithSymbol(others),
		asm.LoadMapPtr(asm.R1, p.k.addresses.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackLength),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, onStackWord),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
		asm.LoadMem(asm.R0, asm.RFP, onStackWord, asm.Word),
		asm.Ja.Label(told),
		asm.LoadMem(asm.R0, asm.R0, 0, asm.Word).WithSymbol(known),
	)
	p.add(asm.Mov.Reg(asm.R0, asm.R0).WithSymbol(told))
}

// findEnds finds out which end of the UNIX connection of R7 the process has, for its state in R6,
// and keeps the name of the listening one and the process at the other end: the listening end has
// given its name to what it accepts, and the connecting end mostly has none. Where neither has a
// name, as of a pair, the role stays unknown.
func (p *program) findEnds(unknown string) {
	server, client, none, keep, unnamed := p.newLabel("server"), p.newLabel("client"), p.newLabel("none"), p.newLabel("keep"), p.newLabel("unnamed")
	p.checkOwnName()
	p.add(
		asm.StoreMem(asm.RFP, onStackOwn, asm.R0, asm.DWord),
		asm.JEq.Imm(asm.R0, nameOurs, server),
	)
	p.loadKernelWord(asm.R7, p.l.peer, asm.DWord)
	p.add(asm.JEq.Imm(asm.R1, 0, none))
	p.loadKernelWord(asm.R1, p.l.address, asm.DWord)
	p.add(
		asm.JNE.Imm(asm.R1, 0, client),
		asm.LoadMem(asm.R0, asm.RFP, onStackOwn, asm.DWord).WithSymbol(none),
		asm.JEq.Imm(asm.R0, 0, unknown),
		asm.LoadMem(asm.R1, asm.RFP, onStackLength, asm.DWord).WithSymbol(server), // its name
		asm.Mov.Imm(asm.R2, roleServer),
		asm.Ja.Label(keep),
		asm.Mov.Imm(asm.R2, roleClient).WithSymbol(client),
		asm.StoreMem(asm.R6, atRole, asm.R2, asm.Word).WithSymbol(keep),
	)
	p.storeSocketName()
	p.loadKernelWord(asm.R7, p.l.peerProcess, asm.DWord)
	p.add(asm.JEq.Imm(asm.R1, 0, unnamed))
	p.loadKernelWord(asm.R1, p.l.number, asm.Word)
	p.add(asm.StoreMem(asm.RFP, onStackEnd+endProcess, asm.R1, asm.Word))
	p.placeLabel(unnamed)
	p.add(
		asm.LoadMapPtr(asm.R1, p.k.ends.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackSocket),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, onStackEnd),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	)
}

// arrivedUNIX jumps to a label after bytes have arrived on the UNIX socket in R7: to server if the process has accepted the connection or
// will, to client if the process may call with it; the socket's cookie is then on the stack.
func (p *program) arrivedUNIX(server, client string) {
	p.add(
		asm.LoadMem(asm.R1, asm.R7, p.l.state, asm.Byte),
		asm.JNE.Imm(asm.R1, established, "exit"),
		asm.LoadMem(asm.R1, asm.R7, p.l.kind, asm.Half),
		asm.JNE.Imm(asm.R1, unix.SOCK_STREAM, "exit"),
	)
	p.checkOwnName()
	p.add(
		asm.JEq.Imm(asm.R0, nameOurs, server),
		asm.LoadMem(asm.R1, asm.R7, p.l.cookie, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, "exit"),
		asm.StoreMem(asm.RFP, onStackSocket, asm.R1, asm.DWord),
		asm.Ja.Label(client),
	)
}

// tellUnanswered reports the unanswered call on the UNIX socket in R7 after the process has read the connection's end.
func (p *program) tellUnanswered() {
	p.add(
		asm.LoadMem(asm.R1, asm.R7, p.l.family, asm.Half),
		asm.JNE.Imm(asm.R1, unix.AF_UNIX, "exit"),
	)
	p.lookUp()
	p.add(
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.JEq.Imm(asm.R6, 0, "exit"),
		asm.LoadMem(asm.R1, asm.R6, atRole, asm.Word),
		asm.JNE.Imm(asm.R1, roleClient, "exit"),
		asm.LoadMem(asm.R1, asm.R6, atPhase, asm.Word),
		asm.JNE.Imm(asm.R1, phaseAsked, "exit"),
	)
	p.storeTime(atLast)
	p.tellExchange(stateSize)
	p.storeConstant(atPhase, phaseIdle, asm.Word)
}
