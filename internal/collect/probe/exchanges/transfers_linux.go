package exchanges

import (
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// buildSentProgram builds the program that runs when a process has sent something.
func (k *keeps) buildSentProgram(l layout) asm.Instructions {
	p := &program{k: k, l: l}
	p.ofProcess(1)
	p.identifyConnection("datagram")
	p.findState()
	p.branchIfFollowed()
	p.add(
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.LoadMem(asm.R1, asm.R6, atRole, asm.Word),
		asm.JEq.Imm(asm.R1, roleClient, "call"),
		asm.JEq.Imm(asm.R2, phaseIdle, "exit"), // no request is open
		asm.JEq.Imm(asm.R2, phaseAnswered, "more"),
	)
	p.storeConstant(atPhase, phaseAnswered, asm.Word)
	p.storeTime(atFirst)
	p.add(asm.StoreMem(asm.R6, atOther, asm.R9, asm.Word))
	p.storeGoroutine(atOtherGoroutine)
	p.copyTransferStart(atAnswer, answerSize, atAnswerLen, 0)
	p.placeLabel("more")
	p.storeTime(atLast)
	p.addToField(atOut)
	p.incrementField(atSends)
	p.add(asm.Ja.Label("exit"))

	p.add(asm.JEq.Imm(asm.R2, phaseAsked, "longer").WithSymbol("call"), asm.JNE.Imm(asm.R2, phaseAnswered, "fresh"))
	p.tellExchange(stateSize)
	p.placeLabel("fresh")
	p.beginExchange(atOut, atIn)
	p.storeConstant(atArrived, 0, asm.DWord)
	p.storeConstant(atCame, 0, asm.DWord)
	p.storeTime(atBegun)
	p.storeStack()
	p.copyTransferStart(atHead, callHead, atHeadLen, 0)
	p.branchIfHTTP2()
	p.incrementField(atSends)
	p.add(asm.Ja.Label("exit"))

	// A MySQL server does not answer the packet that closes a prepared statement, so a call begins with the bytes after it.
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atOut, asm.Word).WithSymbol("longer"),
		asm.JNE.Imm(asm.R1, statementClosed, "statement"),
		asm.LoadMem(asm.R1, asm.R6, atHead, asm.Word),
		asm.JNE.Imm(asm.R1, statementClosed-4, "statement"),
		asm.LoadMem(asm.R1, asm.R6, atHead+4, asm.Byte),
		asm.JEq.Imm(asm.R1, mysqlClose, "fresh"),
	)
	p.placeLabel("statement")
	p.addToField(atOut)
	p.incrementField(atSends)
	p.add(asm.Ja.Label("exit"))

	p.tellQuery()
	p.followFrames(directionOut, k.framesOut)
	return p.finishProgram()
}

// statementClosed are the bytes of the packet of COM_STMT_CLOSE: a length of five without the head of four, in the order of a little-endian
// host, and number 0.
const statementClosed = 9

// peek is MSG_PEEK: what is read stays.
const peek = unix.MSG_PEEK

// buildReceivedProgram builds the program that runs when a process has read something.
func (k *keeps) buildReceivedProgram(l layout) asm.Instructions {
	p := &program{k: k, l: l}
	p.add(
		asm.LoadMem(asm.R2, asm.R1, 16, asm.DWord),
		asm.And.Imm(asm.R2, peek),
		asm.JNE.Imm(asm.R2, 0, "exit"),
	)
	p.ofProcess(0)
	p.identifyConnection("datagram")
	p.add(asm.JEq.Imm(asm.R8, 0, "end"))
	p.findState()
	p.branchIfFollowed()
	p.add(
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.LoadMem(asm.R1, asm.R6, atRole, asm.Word),
		asm.JEq.Imm(asm.R1, roleClient, "call"),
		asm.JEq.Imm(asm.R2, phaseAsked, "longer"),
		asm.JNE.Imm(asm.R2, phaseAnswered, "fresh"),
	)
	p.tellExchange(serverSize)
	p.placeLabel("fresh")
	p.beginExchange(atIn, atOut)
	p.storeTime(atBegun)
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atArrived, asm.DWord),
		asm.JNE.Imm(asm.R1, 0, "came"),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.StoreMem(asm.R6, atCame, asm.R1, asm.DWord).WithSymbol("came"),
	)
	p.storeConstant(atArrived, 0, asm.DWord)
	p.incrementField(atReads)
	p.copyTransferStart(atHead, headSize, atHeadLen, 0)
	p.branchIfHTTP2()
	p.add(asm.Ja.Label("exit"))

	p.placeLabel("longer")
	p.add( // Go's HTTP server reads the first byte alone, by another goroutine
		asm.LoadMem(asm.R1, asm.R6, atIn, asm.Word),
		asm.JNE.Imm(asm.R1, 1, "whole"),
	)
	p.storeGoroutine(atGoroutine)
	p.copyTransferStart(atHead+1, headSize-1, atHeadLen, 1)
	p.placeLabel("whole")
	p.addToField(atIn)
	p.incrementField(atReads)
	p.add(asm.Ja.Label("exit"))

	p.add(asm.JEq.Imm(asm.R2, phaseIdle, "exit").WithSymbol("call"), asm.JEq.Imm(asm.R2, phaseAnswered, "more"))
	p.storeConstant(atPhase, phaseAnswered, asm.Word)
	p.storeTime(atFirst)
	p.add(
		asm.StoreMem(asm.R6, atOther, asm.R9, asm.Word),
		asm.LoadMem(asm.R1, asm.R6, atArrived, asm.DWord),
		asm.StoreMem(asm.R6, atCame, asm.R1, asm.DWord),
	)
	p.storeGoroutine(atOtherGoroutine)
	p.copyAnswer(true)
	p.add(asm.Ja.Label("read"))
	p.placeLabel("more")
	p.copyAnswer(false)
	p.placeLabel("read")
	p.storeTime(atLast)
	p.addToField(atIn)
	p.incrementField(atReads)
	p.add(asm.Ja.Label("exit"))

	p.placeLabel("end")
	p.tellUnanswered()
	p.add(asm.Ja.Label("exit"))

	p.tellAnswer()
	p.followFrames(directionIn, k.framesIn)
	return p.finishProgram()
}

// copyAnswer keeps how the answer of a call ends, and begins.
func (p *program) copyAnswer(begins bool) {
	p.storeConstant(atTailLen, 0, asm.Half)
	if registers.call == "" {
		return
	}
	done := p.newLabel("copied")
	p.findBuffer(done)
	if begins {
		p.copyStart(atCallAnswer, answerSize, atAnswerLen, 0)
	}
	p.copyEnd(atTail, tailSize, atTailLen)
	p.placeLabel(done)
}

// Whether bytes can be read of a connection in these states (include/net/tcp_states.h).
const (
	established = 1
	closeWait   = 8
)

// buildArrivedProgram builds the program that runs when bytes have arrived, mostly while something
// else runs.
func (k *keeps) buildArrivedProgram(l layout) asm.Instructions {
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
	p.branchUnlessListening("client")
	p.placeLabel("server")
	p.identifyConnection("exit")
	p.findState()
	p.add(
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.JEq.Imm(asm.R2, phaseAsked, "exit"),
		asm.Ja.Label("note"),
	)
	p.placeLabel("client")
	p.add(asm.StoreMem(asm.RFP, onStackSocket, asm.R7, asm.DWord))
	p.placeLabel("known")
	p.lookUp()
	p.add(
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.JEq.Imm(asm.R6, 0, "exit"),
		asm.LoadMem(asm.R2, asm.R6, atMode, asm.Word),
		asm.JEq.Imm(asm.R2, modeFrames, "note"),
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.JNE.Imm(asm.R2, phaseAsked, "exit"),
	)
	p.placeLabel("note")
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atArrived, asm.DWord),
		asm.JNE.Imm(asm.R1, 0, "exit"),
	)
	p.storeTime(atArrived)
	p.add(asm.Ja.Label("exit"))

	p.noteArrival()

	p.placeLabel("unix")
	p.arrivedUNIX("server", "known")
	return p.finishProgram()
}

// buildEndedProgram builds the program that runs when a connection is given up.
func (k *keeps) buildEndedProgram(l layout) asm.Instructions {
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
	p.tellClosed()
	p.add(
		asm.LoadMem(asm.R2, asm.R6, atPhase, asm.Word),
		asm.JEq.Imm(asm.R2, phaseIdle, "forget"),
		asm.JNE.Imm(asm.R2, phaseAsked, "answered"),
	)
	p.storeTime(atLast) // until then it was waited for
	p.placeLabel("answered")
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atRole, asm.Word),
		asm.JEq.Imm(asm.R1, roleClient, "call"),
	)
	p.tellExchange(serverSize)
	p.add(asm.Ja.Label("forget"))
	p.placeLabel("call")
	p.tellExchange(stateSize)
	p.placeLabel("forget")
	p.add(
		asm.LoadMapPtr(asm.R1, k.states.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackSocket),
		asm.FnMapDeleteElem.Call(),
	)
	return p.finishProgram()
}
