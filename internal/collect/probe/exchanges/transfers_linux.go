package exchanges

import (
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// sent is what runs when a process sent something.
func (k *keeps) sent(l layout) asm.Instructions {
	p := &program{k: k, l: l}
	p.ofProcess(1)
	p.connection("datagram")
	p.find()
	p.whether()
	p.add(
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.LoadMem(asm.R1, asm.R6, atRole, asm.Word),
		asm.JEq.Imm(asm.R1, roleClient, "call"),
		asm.JEq.Imm(asm.R2, phaseIdle, "exit"), // no request is open
		asm.JEq.Imm(asm.R2, phaseAnswered, "more"),
	)
	p.set(atPhase, phaseAnswered, asm.Word)
	p.stamp(atFirst)
	p.add(asm.StoreMem(asm.R6, atOther, asm.R9, asm.Word))
	p.goroutine(atOtherGoroutine)
	p.start(atAnswer, answerSize, atAnswerLen, 0)
	p.here("more")
	p.stamp(atLast)
	p.plus(atOut)
	p.one(atSends)
	p.add(asm.Ja.Label("exit"))

	p.add(asm.JEq.Imm(asm.R2, phaseAsked, "longer").WithSymbol("call"), asm.JNE.Imm(asm.R2, phaseAnswered, "fresh"))
	p.tell(stateSize)
	p.here("fresh")
	p.begin(atOut, atIn)
	p.set(atArrived, 0, asm.DWord)
	p.set(atCame, 0, asm.DWord)
	p.stamp(atBegun)
	p.start(atHead, callHead, atHeadLen, 0)
	p.multiplexed()
	p.one(atSends)
	p.add(asm.Ja.Label("exit"))

	// What MySQL's clients write to give a prepared statement back is not answered: a call begins with what follows it.
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atOut, asm.Word).WithSymbol("longer"),
		asm.JNE.Imm(asm.R1, statementClosed, "statement"),
		asm.LoadMem(asm.R1, asm.R6, atHead, asm.Word),
		asm.JNE.Imm(asm.R1, statementClosed-4, "statement"),
		asm.LoadMem(asm.R1, asm.R6, atHead+4, asm.Byte),
		asm.JEq.Imm(asm.R1, mysqlClose, "fresh"),
	)
	p.here("statement")
	p.plus(atOut)
	p.one(atSends)
	p.add(asm.Ja.Label("exit"))

	p.query()
	p.frames(directionOut, k.framesOut)
	return p.end()
}

// statementClosed are the bytes of the packet of COM_STMT_CLOSE: a length of five without the head of four, in the order of a little-endian
// host, and number 0.
const statementClosed = 9

// peek is MSG_PEEK: what is read stays.
const peek = unix.MSG_PEEK

// received is what runs when a process has read something.
func (k *keeps) received(l layout) asm.Instructions {
	p := &program{k: k, l: l}
	p.add(
		asm.LoadMem(asm.R2, asm.R1, 16, asm.DWord),
		asm.And.Imm(asm.R2, peek),
		asm.JNE.Imm(asm.R2, 0, "exit"),
	)
	p.ofProcess(0)
	p.connection("datagram")
	p.add(asm.JEq.Imm(asm.R8, 0, "end"))
	p.find()
	p.whether()
	p.add(
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.LoadMem(asm.R1, asm.R6, atRole, asm.Word),
		asm.JEq.Imm(asm.R1, roleClient, "call"),
		asm.JEq.Imm(asm.R2, phaseAsked, "longer"),
		asm.JNE.Imm(asm.R2, phaseAnswered, "fresh"),
	)
	p.tell(serverSize)
	p.here("fresh")
	p.begin(atIn, atOut)
	p.stamp(atBegun)
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atArrived, asm.DWord),
		asm.JNE.Imm(asm.R1, 0, "came"),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.StoreMem(asm.R6, atCame, asm.R1, asm.DWord).WithSymbol("came"),
	)
	p.set(atArrived, 0, asm.DWord)
	p.one(atReads)
	p.start(atHead, headSize, atHeadLen, 0)
	p.multiplexed()
	p.add(asm.Ja.Label("exit"))

	p.here("longer")
	p.add( // Go's HTTP server reads the first byte alone, by another goroutine
		asm.LoadMem(asm.R1, asm.R6, atIn, asm.Word),
		asm.JNE.Imm(asm.R1, 1, "whole"),
	)
	p.goroutine(atGoroutine)
	p.start(atHead+1, headSize-1, atHeadLen, 1)
	p.here("whole")
	p.plus(atIn)
	p.one(atReads)
	p.add(asm.Ja.Label("exit"))

	p.add(asm.JEq.Imm(asm.R2, phaseIdle, "exit").WithSymbol("call"), asm.JEq.Imm(asm.R2, phaseAnswered, "more"))
	p.set(atPhase, phaseAnswered, asm.Word)
	p.stamp(atFirst)
	p.add(
		asm.StoreMem(asm.R6, atOther, asm.R9, asm.Word),
		asm.LoadMem(asm.R1, asm.R6, atArrived, asm.DWord),
		asm.StoreMem(asm.R6, atCame, asm.R1, asm.DWord),
	)
	p.goroutine(atOtherGoroutine)
	p.answer(true)
	p.add(asm.Ja.Label("read"))
	p.here("more")
	p.answer(false)
	p.here("read")
	p.stamp(atLast)
	p.plus(atIn)
	p.one(atReads)
	p.add(asm.Ja.Label("exit"))

	p.here("end")
	p.refused()
	p.add(asm.Ja.Label("exit"))

	p.answered()
	p.frames(directionIn, k.framesIn)
	return p.end()
}

// answer keeps how the answer of a call ends, and begins.
func (p *program) answer(begins bool) {
	p.set(atTailLen, 0, asm.Half)
	if registers.call == "" {
		return
	}
	done := p.label("copied")
	p.findBuffer(done)
	if begins {
		p.copyStart(atCallAnswer, answerSize, atAnswerLen, 0)
	}
	p.copyEnd(atTail, tailSize, atTailLen)
	p.here(done)
}

// Whether bytes can be read of a connection in these states (include/net/tcp_states.h).
const (
	established = 1
	closeWait   = 8
)

// arrived is what runs when bytes have arrived, mostly while something else runs.
func (k *keeps) arrived(l layout) asm.Instructions {
	p := &program{k: k, l: l}
	p.add(
		asm.LoadMem(asm.R7, asm.R1, 0, asm.DWord),
		asm.LoadMem(asm.R1, asm.R7, l.family, asm.Half),
		asm.JEq.Imm(asm.R1, unix.AF_UNIX, "unix"),
		asm.LoadMem(asm.R1, asm.R7, l.protocol, asm.Half),
		asm.JEq.Imm(asm.R1, unix.IPPROTO_UDP, "datagram"),
		asm.LoadMem(asm.R1, asm.R7, l.state, asm.Byte),
		asm.JEq.Imm(asm.R1, established, "open"),
		asm.JNE.Imm(asm.R1, closeWait, "exit"),
		asm.LoadMem(asm.R1, asm.R7, l.ownPort, asm.Half).WithSymbol("open"),
	)
	p.listens("client")
	p.here("server")
	p.connection("exit")
	p.find()
	p.add(
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.JEq.Imm(asm.R2, phaseAsked, "exit"),
		asm.Ja.Label("note"),
	)
	p.here("client")
	p.add(asm.StoreMem(asm.RFP, onStackSocket, asm.R7, asm.DWord))
	p.here("known")
	p.lookUp()
	p.add(
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.JEq.Imm(asm.R6, 0, "exit"),
		asm.LoadMem(asm.R2, asm.R6, atMode, asm.Word),
		asm.JEq.Imm(asm.R2, modeFrames, "note"),
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.JNE.Imm(asm.R2, phaseAsked, "exit"),
	)
	p.here("note")
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atArrived, asm.DWord),
		asm.JNE.Imm(asm.R1, 0, "exit"),
	)
	p.stamp(atArrived)
	p.add(asm.Ja.Label("exit"))

	p.reached()

	p.here("unix")
	p.arrivedUNIX("server", "known")
	return p.end()
}

// ended is what runs when a connection is given up.
func (k *keeps) ended(l layout) asm.Instructions {
	p := &program{k: k, l: l}
	p.add(
		asm.LoadMem(asm.R7, asm.R1, 0, asm.DWord),
		asm.StoreMem(asm.RFP, onStackSocket, asm.R7, asm.DWord),
	)
	p.lookUp()
	p.add(
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.JEq.Imm(asm.R6, 0, "exit"),
	)
	p.closed()
	p.add(
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.JEq.Imm(asm.R2, phaseIdle, "forget"),
		asm.JNE.Imm(asm.R2, phaseAsked, "answered"),
	)
	p.stamp(atLast) // until then it was waited for
	p.here("answered")
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atRole, asm.Word),
		asm.JEq.Imm(asm.R1, roleClient, "call"),
	)
	p.tell(serverSize)
	p.add(asm.Ja.Label("forget"))
	p.here("call")
	p.tell(stateSize)
	p.here("forget")
	p.add(
		asm.LoadMapPtr(asm.R1, k.states.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackSocket),
		asm.FnMapDeleteElem.Call(),
	)
	return p.end()
}
