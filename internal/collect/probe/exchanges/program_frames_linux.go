package exchanges

import (
	"encoding/binary"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// Places on the stack while frames are followed, below those of other programs.
const (
	onStackSkip   = onStackEnd - 8 // bytes before the first frame of a connection, or one of the next two
	onStackCame   = onStackSkip - 8
	onStackVector = onStackCame - 8   // where the next struct iovec is, 0: there is none
	onStackTurns  = onStackVector - 8 // struct bpf_iter_num
	onStackPiece  = onStackTurns - 8

	skipNothing = -1 // the frames of this connection are followed already
	skipUnknown = 0  // it was open before
)

// mostTurns is in how many steps a transfer is followed: one for each piece of memory, two for each frame, and more for long headers.
const mostTurns = 1 << 10

// turning are the numbers of the kernel's functions that bound a loop (Linux 6.4), 0 unknown: frames are not followed then.
type turning struct{ begin, next, end uint32 }

func turningOf(t *tracepoint.KernelTypes) (x turning) {
	x.begin, _ = t.ID(tracepoint.Function("bpf_iter_num_new"))
	x.next, _ = t.ID(tracepoint.Function("bpf_iter_num_next"))
	x.end, _ = t.ID(tracepoint.Function("bpf_iter_num_destroy"))
	return x
}

func (x turning) isKnown() bool { return x.begin > 0 && x.next > 0 && x.end > 0 }

// callLoopFunction calls a kernel function on the loop iterator of this transfer.
func (p *program) callLoopFunction(function uint32, more ...asm.Instruction) {
	p.add(
		asm.Mov.Reg(asm.R1, asm.RFP),
		asm.Add.Imm(asm.R1, onStackTurns),
	)
	p.add(more...)
	p.add(asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoKfuncCall, Constant: int64(function)})
}

// branchIfHTTP2 jumps to "frames" if the connection of R6, on which an exchange begins, has the
// frames of HTTP/2: its first bytes say so, or the recorder has found out.
func (p *program) branchIfHTTP2() {
	if !p.l.turning.isKnown() {
		return
	}
	not, known, adopt := p.newLabel("not"), p.newLabel("known"), p.newLabel("adopt")
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atHeadLen, asm.Half),
		asm.JLT.Imm(asm.R1, 8, known),
		asm.LoadMem(asm.R1, asm.R6, atHead, asm.DWord),
		asm.LoadImm(asm.R2, int64(binary.NativeEndian.Uint64([]byte(preface))), asm.DWord),
		asm.JNE.Reg(asm.R1, asm.R2, known),
		asm.Mov.Imm(asm.R1, int32(len(preface))),
		asm.StoreMem(asm.RFP, onStackSkip, asm.R1, asm.DWord),
		asm.Ja.Label(adopt),
		asm.LoadMapValue(asm.R2, p.k.tuning.FD(), 0).WithSymbol(known),
		asm.LoadMem(asm.R2, asm.R2, tuneFrames, asm.Word),
		asm.JEq.Imm(asm.R2, 0, not),
		asm.LoadMapPtr(asm.R1, p.k.multiplexed.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackSocket),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, not),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.Half), // the memory of a socket is used again
		asm.LoadMem(asm.R2, asm.R6, atPort, asm.Half),
		asm.JNE.Reg(asm.R1, asm.R2, not),
		asm.Mov.Imm(asm.R1, skipUnknown),
		asm.StoreMem(asm.RFP, onStackSkip, asm.R1, asm.DWord),
	)
	p.placeLabel(adopt)
	p.storeConstant(atMode, modeFrames, asm.Word)
	p.storeConstant(atPhase, phaseIdle, asm.Word)
	p.add(asm.Ja.Label("frames"))
	p.placeLabel(not)
}

// branchIfFollowed jumps to "frames" if the frames of the connection of R6 are followed already.
func (p *program) branchIfFollowed() {
	if !p.l.turning.isKnown() {
		return
	}
	p.add(
		asm.Mov.Imm(asm.R1, skipNothing),
		asm.StoreMem(asm.RFP, onStackSkip, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R6, atMode, asm.Word),
		asm.JEq.Imm(asm.R1, modeFrames, "frames"),
	)
}

// followFrames follows the frames in a transfer, in or out, of the connection of R6: each has a
// header of 9 bytes with its length. It tells those of streams, and keeps of headers what names
// the request. Then it ends the program.
func (p *program) followFrames(direction int32, of *ebpf.Map) {
	if !p.l.turning.isKnown() {
		return
	}
	p.placeLabel("frames")
	p.add(
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, onStackCame, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, onStackVector, asm.R1, asm.DWord),
	)
	if direction == directionIn {
		p.add(
			asm.LoadMem(asm.R1, asm.R6, atArrived, asm.DWord),
			asm.StoreMem(asm.RFP, onStackCame, asm.R1, asm.DWord),
		)
		p.storeConstant(atArrived, 0, asm.DWord)
	}
	p.loadDirection(direction, of)
	p.add(asm.StoreMem(asm.R6, frameThread, asm.R9, asm.Word))
	p.storeTime(frameAt)
	p.add(
		asm.LoadMem(asm.R1, asm.R6, frameHave, asm.Byte),
		asm.JNE.Imm(asm.R1, 0, "begun"), // the first of its bytes were there before
		asm.LoadMem(asm.R1, asm.RFP, onStackCame, asm.DWord),
		asm.StoreMem(asm.R6, frameCame, asm.R1, asm.DWord),
	)
	p.placeLabel("begun")
	p.add(asm.Mov.Reg(asm.R7, asm.R8)) // bytes left of the transfer
	p.callLoopFunction(p.l.turning.begin, asm.Mov.Imm(asm.R2, 0), asm.Mov.Imm(asm.R3, mostTurns))
	p.locatePieces()
	p.followStep()
	p.loseFrames()
	p.placeLabel("leave")
	p.callLoopFunction(p.l.turning.end)
}

// loadDirection loads what is kept of a direction into R6, and makes it anew for another
// connection.
func (p *program) loadDirection(direction int32, of *ebpf.Map) {
	look := func() {
		p.add(
			asm.LoadMapPtr(asm.R1, of.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, onStackSocket),
			asm.FnMapLookupElem.Call(),
		)
	}
	p.add(
		asm.LoadMem(asm.R1, asm.RFP, onStackSkip, asm.DWord),
		asm.JNE.Imm(asm.R1, skipNothing, "blank"),
	)
	look()
	p.add(
		asm.JEq.Imm(asm.R0, 0, "blank"),
		asm.LoadMem(asm.R1, asm.R0, framePort, asm.Half),
		asm.LoadMem(asm.R2, asm.R6, atPort, asm.Half),
		asm.JEq.Reg(asm.R1, asm.R2, "same"),
		asm.LoadMapPtr(asm.R1, of.FD()).WithSymbol("blank"),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackSocket),
		asm.LoadMapValue(asm.R3, p.k.emptyFrames.FD(), 0),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	)
	look()
	p.add(
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.LoadMem(asm.R1, asm.RFP, onStackSocket, asm.DWord),
		asm.StoreMem(asm.R0, frameSocket, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R1, roleFrame),
		asm.StoreMem(asm.R0, frameKind, asm.R1, asm.Word),
		asm.Mov.Imm(asm.R1, direction),
		asm.StoreMem(asm.R0, frameDirection, asm.R1, asm.Half),
	)
	for _, field := range []struct {
		from, to int16
		size     asm.Size
	}{{atRole, frameRole, asm.Half}, {atFamily, frameFamily, asm.Half}, {atOwnPort, frameOwnPort, asm.Half}, {atPort, framePort, asm.Half},
		{atPeer, framePeer, asm.DWord}, {atPeer + 8, framePeer + 8, asm.DWord}} {
		p.add(
			asm.LoadMem(asm.R1, asm.R6, field.from, field.size),
			asm.StoreMem(asm.R0, field.to, asm.R1, field.size),
		)
	}
	p.add(
		asm.LoadMem(asm.R1, asm.RFP, onStackSkip, asm.DWord),
		asm.JSLE.Imm(asm.R1, skipUnknown, "same"),
		asm.StoreMem(asm.R0, frameLeft, asm.R1, asm.Word),
		asm.Mov.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, frameFollowed, asm.R1, asm.Word),
		asm.Mov.Reg(asm.R6, asm.R0).WithSymbol("same"),
	)
}

// locatePieces puts the address of the first bytes of the transfer of R7 into R8 and how many lie
// there into R9: 0 if more pieces follow. Bytes that cannot be read count as the rest of a frame.
func (p *program) locatePieces() {
	if registers.call == "" {
		p.add(asm.Ja.Label("blind"))
	} else {
		p.add(
			asm.FnGetCurrentTaskBtf.Call(),
			asm.Mov.Reg(asm.R1, asm.R0),
			asm.FnTaskPtRegs.Call(),
			asm.LoadMem(asm.R1, asm.R0, p.l.call, registers.callSize),
			asm.LoadMem(asm.R3, asm.R0, p.l.buffer, asm.DWord),
		)
		for label, calls := range map[string][]int32{"inOne": registers.plain, "vector": registers.vector, "message": registers.message} {
			for _, c := range calls {
				p.add(asm.JEq.Imm(asm.R1, c, label))
			}
		}
	}
	p.placeLabel("blind")
	p.add(
		asm.LoadMem(asm.R4, asm.R6, frameLeft, asm.Word),
		asm.JLT.Reg(asm.R4, asm.R7, "lose"),
		asm.Sub.Reg(asm.R4, asm.R7),
		asm.StoreMem(asm.R6, frameLeft, asm.R4, asm.Word),
		asm.LoadMem(asm.R4, asm.R6, frameWanted, asm.Word),
		asm.JEq.Imm(asm.R4, 0, "leave"),
	)
	p.storeConstant(frameWanted, 0, asm.Word)
	p.tellFrame()
	p.add(asm.Ja.Label("leave"))
	if registers.call == "" {
		return
	}
	p.add(asm.Add.Imm(asm.R3, 16).WithSymbol("message")) // msg_iov of struct user_msghdr
	p.readVector("lose")
	p.add(
		asm.LoadMem(asm.R3, asm.RFP, onStackBuffer, asm.DWord),
		asm.StoreMem(asm.RFP, onStackVector, asm.R3, asm.DWord).WithSymbol("vector"),
		asm.Mov.Imm(asm.R8, 0),
		asm.Mov.Imm(asm.R9, 0),
		asm.Ja.Label("turn"),
		asm.Mov.Reg(asm.R8, asm.R3).WithSymbol("inOne"),
		asm.Mov.Reg(asm.R9, asm.R7),
		asm.Ja.Label("turn"),
	)
}

// followStep follows one step of a transfer, and the next: R7 bytes are left of it, of which R9
// are at R8.
func (p *program) followStep() {
	p.placeLabel("turn")
	p.callLoopFunction(p.l.turning.next)
	p.add(
		asm.JEq.Imm(asm.R0, 0, "lose"), // too many
		asm.JEq.Imm(asm.R7, 0, "leave"),
		asm.JNE.Imm(asm.R9, 0, "piece"),

		asm.LoadMem(asm.R3, asm.RFP, onStackVector, asm.DWord), // the next piece
		asm.JEq.Imm(asm.R3, 0, "lose"),
		asm.Mov.Reg(asm.R1, asm.R3),
		asm.Add.Imm(asm.R1, 16),
		asm.StoreMem(asm.RFP, onStackVector, asm.R1, asm.DWord),
	)
	p.readVector("lose")
	p.add(
		asm.LoadMem(asm.R8, asm.RFP, onStackBuffer, asm.DWord),
		asm.LoadMem(asm.R9, asm.RFP, onStackLength, asm.DWord),
		asm.JLE.Reg(asm.R9, asm.R7, "turn"),
		asm.Mov.Reg(asm.R9, asm.R7),
		asm.Ja.Label("turn"),
	)

	p.placeLabel("piece")
	p.add(
		asm.LoadMem(asm.R4, asm.R6, frameLeft, asm.Word),
		asm.JEq.Imm(asm.R4, 0, "header"),
		asm.LoadMem(asm.R5, asm.R6, frameWanted, asm.Word),
		asm.JNE.Imm(asm.R5, 0, "block"),
		asm.Mov.Reg(asm.R2, asm.R4), // nothing of it is wanted
	)
	p.upToRegister(asm.R9)
	p.add(asm.Sub.Reg(asm.R4, asm.R2), asm.StoreMem(asm.R6, frameLeft, asm.R4, asm.Word))
	p.goOn()

	p.placeLabel("block")
	p.add(asm.Mov.Reg(asm.R2, asm.R5))
	p.upToRegister(asm.R9)
	p.upToSize(blockPiece)
	p.add(
		asm.Sub.Reg(asm.R5, asm.R2),
		asm.StoreMem(asm.R6, frameWanted, asm.R5, asm.Word),
		asm.Sub.Reg(asm.R4, asm.R2),
		asm.StoreMem(asm.R6, frameLeft, asm.R4, asm.Word),
		asm.LoadMem(asm.R3, asm.R6, frameKept, asm.Half),
		asm.JGE.Imm(asm.R3, mostBlock, "lose"),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Add.Reg(asm.R1, asm.R3),
		asm.Add.Imm(asm.R1, frameBlock),
		asm.Add.Reg(asm.R3, asm.R2),
		asm.StoreMem(asm.R6, frameKept, asm.R3, asm.Half),
	)
	p.copyPiece()
	p.add(
		asm.LoadMem(asm.R1, asm.R6, frameWanted, asm.Word),
		asm.JNE.Imm(asm.R1, 0, "turn"),
	)
	p.tellFrame()
	p.add(asm.Ja.Label("turn"))

	p.placeLabel("header")
	p.add(
		asm.LoadMem(asm.R4, asm.R6, frameHave, asm.Byte),
		asm.JGE.Imm(asm.R4, frameHeaderSize, "lose"),
		asm.Mov.Imm(asm.R2, frameHeaderSize),
		asm.Sub.Reg(asm.R2, asm.R4),
	)
	p.upToRegister(asm.R9)
	p.upToSize(frameHeaderSize)
	p.add(
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Add.Reg(asm.R1, asm.R4),
		asm.Add.Imm(asm.R1, frameHeader),
		asm.Add.Reg(asm.R4, asm.R2),
		asm.StoreMem(asm.R6, frameHave, asm.R4, asm.Byte),
	)
	p.copyPiece()
	p.add(
		asm.LoadMem(asm.R1, asm.R6, frameHave, asm.Byte),
		asm.JLT.Imm(asm.R1, frameHeaderSize, "turn"),
	)
	p.readFrameHeader()
}

// readFrameHeader reads the header of a frame, and goes on with the next step.
func (p *program) readFrameHeader() {
	p.storeConstant(frameHave, 0, asm.Byte)
	p.storeConstant(frameKept, 0, asm.Half)
	p.add(
		asm.LoadMem(asm.R4, asm.R6, frameHeader, asm.Byte),
		asm.LSh.Imm(asm.R4, 8),
		asm.LoadMem(asm.R1, asm.R6, frameHeader+1, asm.Byte),
		asm.Or.Reg(asm.R4, asm.R1),
		asm.LSh.Imm(asm.R4, 8),
		asm.LoadMem(asm.R1, asm.R6, frameHeader+2, asm.Byte),
		asm.Or.Reg(asm.R4, asm.R1), // the length
		asm.LoadMem(asm.R5, asm.R6, frameHeader+3, asm.Byte),
		asm.LoadMem(asm.R1, asm.R6, frameHeader+4, asm.Byte), // flags
		asm.LoadMem(asm.R2, asm.R6, frameHeader+5, asm.Word),
		asm.HostTo(asm.BE, asm.R2, asm.Word),
		asm.JGT.Imm(asm.R2, 0x7fffffff, "lose"),
		asm.JGT.Imm(asm.R5, mostFrameType, "lose"),
		asm.LoadMem(asm.R3, asm.R6, frameFollowed, asm.Word),
		asm.JNE.Imm(asm.R3, 0, "sure"),
		asm.JGT.Imm(asm.R4, usualFrame, "lose"),
		asm.JGT.Imm(asm.R5, frameContinuation, "lose"),
		asm.StoreMem(asm.R6, frameLeft, asm.R4, asm.Word).WithSymbol("sure"),
		asm.JEq.Imm(asm.R5, frameData, "messages"),
		asm.JEq.Imm(asm.R5, frameHeaders, "messages"),
		asm.JEq.Imm(asm.R5, frameReset, "reset"),
		asm.JEq.Imm(asm.R5, framePush, "ofStream"),
		asm.JEq.Imm(asm.R5, frameWindow, "window"),
		asm.JEq.Imm(asm.R5, framePing, "ping"),
		asm.JEq.Imm(asm.R5, frameSettings, "ofAll"),
		asm.JEq.Imm(asm.R5, frameGoAway, "ofAll"),
		asm.Ja.Label("passed"),

		asm.JNE.Imm(asm.R4, 8, "lose").WithSymbol("ping"),
		asm.JNE.Imm(asm.R2, 0, "lose").WithSymbol("ofAll"),
		asm.Ja.Label("passed"),

		asm.JNE.Imm(asm.R4, 4, "lose").WithSymbol("window"),
	)
	p.placeLabel("passed")
	p.storeConstant(frameFollowed, 1, asm.Word)
	p.add(asm.Ja.Label("turn"))

	p.add(
		asm.JSet.Imm(asm.R1, 0xff&^flagsOfMessages, "lose").WithSymbol("messages"),
		asm.JEq.Imm(asm.R5, frameHeaders, "ofStream"),
		asm.JSet.Imm(asm.R1, flagEndHeaders|flagPriority, "lose"),
		asm.Ja.Label("ofStream"),
		asm.JNE.Imm(asm.R4, 4, "lose").WithSymbol("reset"),
		asm.JEq.Imm(asm.R2, 0, "lose").WithSymbol("ofStream"),
	)
	p.storeConstant(frameFollowed, 1, asm.Word)
	p.add(
		asm.JNE.Imm(asm.R5, frameHeaders, "tell"),
		asm.JEq.Imm(asm.R4, 0, "tell"),
		asm.JLE.Imm(asm.R4, mostBlock, "small"),
		asm.Mov.Imm(asm.R4, mostBlock),
		asm.StoreMem(asm.R6, frameWanted, asm.R4, asm.Word).WithSymbol("small"),
		asm.Ja.Label("turn"),
	)
	p.placeLabel("tell")
	p.tellFrame()
	p.add(asm.Ja.Label("turn"))
}

// loseFrames tells that frames cannot be followed until a transfer begins with one.
func (p *program) loseFrames() {
	p.placeLabel("lose")
	p.storeConstant(frameLeft, 0, asm.Word)
	p.storeConstant(frameHave, 0, asm.Byte)
	p.storeConstant(frameWanted, 0, asm.Word)
	p.storeConstant(frameKept, 0, asm.Half)
	p.add(
		asm.LoadMem(asm.R1, asm.R6, frameFollowed, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "leave"),
	)
	p.storeConstant(frameFollowed, 0, asm.Word)
	p.storeConstant(frameWhat, whatLost, asm.Half)
	p.tellFrame()
	p.storeConstant(frameWhat, whatFrame, asm.Half)
}

// upToRegister leaves in R2 the smaller of it and another register.
func (p *program) upToRegister(r asm.Register) {
	fits := p.newLabel("fits")
	p.add(asm.JLE.Reg(asm.R2, r, fits), asm.Mov.Reg(asm.R2, r))
	p.placeLabel(fits)
}

// upToSize leaves in R2 the smaller of it and a size.
func (p *program) upToSize(size int32) {
	fits := p.newLabel("fits")
	p.add(asm.JLE.Imm(asm.R2, size, fits), asm.Mov.Imm(asm.R2, size))
	p.placeLabel(fits)
}

// copyPiece copies R2 bytes from R8 to R1, and advances R8 past them.
func (p *program) copyPiece() {
	p.add(
		asm.StoreMem(asm.RFP, onStackPiece, asm.R2, asm.DWord),
		asm.Mov.Reg(asm.R3, asm.R8),
		asm.FnProbeReadUser.Call(),
		asm.LoadMem(asm.R2, asm.RFP, onStackPiece, asm.DWord),
		asm.Add.Reg(asm.R8, asm.R2),
		asm.Sub.Reg(asm.R9, asm.R2),
		asm.Sub.Reg(asm.R7, asm.R2),
	)
}

// goOn leaves R2 bytes behind, and takes the next turn.
func (p *program) goOn() {
	p.add(
		asm.Add.Reg(asm.R8, asm.R2),
		asm.Sub.Reg(asm.R9, asm.R2),
		asm.Sub.Reg(asm.R7, asm.R2),
		asm.Ja.Label("turn"),
	)
}

// tellFrame tells the frame of R6 with what is kept of it, which takes about as long as a transfer and counts as one.
func (p *program) tellFrame() {
	fits, told := p.newLabel("fits"), p.newLabel("told")
	p.incrementField(frameNumber)
	p.add(
		asm.LoadMapValue(asm.R2, p.k.tuning.FD(), 0),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R2, asm.R1, asm.DWord, tuneEvents),
		asm.LoadMem(asm.R3, asm.R6, frameKept, asm.Half),
		asm.JLE.Imm(asm.R3, mostBlock, fits),
		asm.Mov.Imm(asm.R3, mostBlock),
		asm.Add.Imm(asm.R3, frameBlock).WithSymbol(fits),
		asm.LoadMapPtr(asm.R1, p.k.ring.FD()),
		asm.Mov.Reg(asm.R2, asm.R6),
		asm.Mov.Imm(asm.R4, ringQuietly),
		asm.FnRingbufOutput.Call(),
		asm.JEq.Imm(asm.R0, 0, told),
		asm.LoadMapValue(asm.R2, p.k.tuning.FD(), 0),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R2, asm.R1, asm.DWord, tuneLost),
	)
	p.placeLabel(told)
}

// tellClosed tells that the connection of the state in R6 is closed, if it has frames, and forgets
// what is kept of both directions.
func (p *program) tellClosed() {
	not := p.newLabel("not")
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atMode, asm.Word),
		asm.JNE.Imm(asm.R1, modeFrames, not),
	)
	for _, of := range []*ebpf.Map{p.k.framesIn, p.k.framesOut} {
		none := p.newLabel("none")
		p.add(
			asm.LoadMapPtr(asm.R1, of.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, onStackSocket),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, none),
			asm.Mov.Reg(asm.R6, asm.R0),
		)
		p.storeConstant(frameWhat, whatClosed, asm.Half)
		p.storeConstant(frameKept, 0, asm.Half)
		p.storeTime(frameAt)
		p.tellFrame()
		p.add(
			asm.LoadMapPtr(asm.R1, of.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, onStackSocket),
			asm.FnMapDeleteElem.Call(),
		)
		p.placeLabel(none)
	}
	p.add(asm.Ja.Label("forget"))
	p.placeLabel(not)
}
