package exchanges

import (
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// Places on the stack while datagrams are looked at, where others keep the end of a UNIX connection.
const (
	onStackHeader  = onStackEnd      // of a message of DNS; 16 bytes
	onStackTarget  = onStackEnd + 16 // struct sockaddr_in6, 28 bytes
	onStackTo      = onStackEnd + 48 // where the process has the address that it sends to, 0 nowhere
	onStackMany    = onStackEnd + 56
	onStackMessage = onStackEnd + 64 // struct user_msghdr up to msg_iov, 24 bytes
)

// Of struct mmsghdr (include/linux/socket.h), on machines of 64 bits.
const mmsghdrSize = 64

// atOnce are as many messages of one call as are looked at: the C library sends queries for A and AAAA by one.
const atOnce = 2

// findDatagram puts on the stack where a message of the system call lies, how many bytes are in one piece, and where the process has the
// address it goes to. Only calls for several messages have more than the first.
func (p *program) findDatagram(n int, none string) {
	plain, to, vector, message, many, found := p.newLabel("plain"), p.newLabel("to"), p.newLabel("vector"), p.newLabel("message"), p.newLabel("many"), p.newLabel("found")
	p.add(
		asm.FnGetCurrentTaskBtf.Call(),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.FnTaskPtRegs.Call(),
		asm.LoadMem(asm.R1, asm.R0, p.l.call, registers.callSize),
		asm.LoadMem(asm.R3, asm.R0, p.l.buffer, asm.DWord),
		asm.LoadMem(asm.R4, asm.R0, p.l.target, asm.DWord),
		asm.LoadMem(asm.R5, asm.R0, p.l.count, asm.DWord),
		asm.Mov.Imm(asm.R2, 0),
		asm.StoreMem(asm.RFP, onStackTo, asm.R2, asm.DWord),
		asm.StoreMem(asm.RFP, onStackMany, asm.R2, asm.DWord),
	)
	goes := func(label string, calls ...int32) {
		for _, c := range calls {
			p.add(asm.JEq.Imm(asm.R1, c, label))
		}
	}
	if n == 0 {
		goes(to, registers.sendTo)
		goes(plain, registers.plain...)
		goes(vector, registers.vector...)
		goes(message, registers.message...)
	}
	goes(many, registers.many...)
	p.add(asm.Ja.Label(none))
	if n == 0 {
		p.add(
			asm.StoreMem(asm.RFP, onStackTo, asm.R4, asm.DWord).WithSymbol(to),
			asm.StoreMem(asm.RFP, onStackBuffer, asm.R3, asm.DWord).WithSymbol(plain),
			asm.StoreMem(asm.RFP, onStackLength, asm.R8, asm.DWord),
			asm.Ja.Label(found),
		)
	}
	p.placeLabel(many)
	p.add(
		asm.LSh.Imm(asm.R5, 32), // an unsigned int
		asm.RSh.Imm(asm.R5, 32),
		asm.JLE.Imm(asm.R5, int32(n), none),
		asm.Mov.Imm(asm.R2, whatMany),
		asm.StoreMem(asm.RFP, onStackMany, asm.R2, asm.DWord),
		asm.Add.Imm(asm.R3, int32(n*mmsghdrSize)),
		asm.Mov.Reg(asm.R1, asm.RFP).WithSymbol(message),
		asm.Add.Imm(asm.R1, onStackMessage),
		asm.Mov.Imm(asm.R2, 24),
		asm.FnProbeReadUser.Call(),
		asm.JNE.Imm(asm.R0, 0, none),
		asm.LoadMem(asm.R1, asm.RFP, onStackMessage, asm.DWord),
		asm.StoreMem(asm.RFP, onStackTo, asm.R1, asm.DWord),
		asm.LoadMem(asm.R3, asm.RFP, onStackMessage+16, asm.DWord),
	)
	p.placeLabel(vector)
	p.readVector(none)
	p.placeLabel(found)
}

// loadHeaderFlags loads the flags of the message's header into R1, and ends the program if the
// message has more than one question.
func (p *program) loadHeaderFlags() {
	p.add(
		asm.Mov.Reg(asm.R1, asm.RFP),
		asm.Add.Imm(asm.R1, onStackHeader),
		asm.Mov.Imm(asm.R2, dnsHeader),
		asm.LoadMem(asm.R3, asm.RFP, onStackBuffer, asm.DWord),
		asm.FnProbeReadUser.Call(),
		asm.JNE.Imm(asm.R0, 0, "exit"),
		asm.LoadMem(asm.R1, asm.RFP, onStackHeader+4, asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.JGT.Imm(asm.R1, 1, "exit"),
		asm.LoadMem(asm.R1, asm.RFP, onStackHeader+2, asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
	)
}

// tellQuery tells what the process sent by UDP if it has the header of a query to a name server.
// Other datagrams are recognised by their length or their first 12 bytes, which takes 70 ns;
// telling one takes 200 (BenchmarkDatagrams, the halves of what a datagram read and one sent take
// more than where datagrams are not looked at).
func (p *program) tellQuery() {
	p.placeLabel("datagram")
	if registers.call == "" {
		p.add(asm.Ja.Label("exit"))
		return
	}
	p.add(
		asm.JLT.Imm(asm.R8, leastQuestion, "exit"),
		asm.JGT.Imm(asm.R8, mostQuery, "exit"),
	)
	for n := range atOnce {
		p.findDatagram(n, "exit")
		p.add(
			asm.LoadMem(asm.R1, asm.RFP, onStackLength, asm.DWord),
			asm.JLT.Imm(asm.R1, leastQuestion, "exit"),
		)
		p.loadHeaderFlags()
		p.add(
			asm.And.Imm(asm.R1, 0xffff&^flagsOfQuery),
			asm.JNE.Imm(asm.R1, 0, "exit"),
			asm.LoadMem(asm.R1, asm.RFP, onStackHeader+4, asm.Half),
			asm.JEq.Imm(asm.R1, 0, "exit"),
			asm.LoadMem(asm.R1, asm.RFP, onStackHeader+6, asm.Half), // answers
			asm.JNE.Imm(asm.R1, 0, "exit"),
			asm.LoadMem(asm.R1, asm.RFP, onStackHeader+8, asm.Half), // authorities
			asm.JNE.Imm(asm.R1, 0, "exit"),
			asm.LoadMem(asm.R1, asm.RFP, onStackHeader+10, asm.Half),
			asm.HostTo(asm.BE, asm.R1, asm.Half),
			asm.JGT.Imm(asm.R1, mostSections, "exit"),
		)
		p.storeTarget()
		p.trackSocket()
		p.tellDatagram(whatQuery)
	}
	p.add(asm.Ja.Label("exit"))
}

// storeTarget stores on the stack where the datagram goes, as a struct sockaddr_in6 or
// sockaddr_in: the address of the call, or the one to which the socket is connected. It ends the
// program if that is not a name server's port and recursion is not asked for, as in queries of
// mDNS.
func (p *program) storeTarget() {
	connected, six, known, asks := p.newLabel("connected"), p.newLabel("six"), p.newLabel("known"), p.newLabel("asks")
	p.add(asm.Mov.Imm(asm.R1, 0))
	for at := int16(0); at < 32; at += 8 {
		p.add(asm.StoreMem(asm.RFP, onStackTarget+at, asm.R1, asm.DWord))
	}
	p.add(
		asm.LoadMem(asm.R3, asm.RFP, onStackTo, asm.DWord),
		asm.JEq.Imm(asm.R3, 0, connected),
		asm.Mov.Reg(asm.R1, asm.RFP),
		asm.Add.Imm(asm.R1, onStackTarget),
		asm.Mov.Imm(asm.R2, unix.SizeofSockaddrInet6),
		asm.FnProbeReadUser.Call(),
		asm.JNE.Imm(asm.R0, 0, "exit"),
		asm.Ja.Label(known),

		asm.LoadMem(asm.R1, asm.R7, p.l.peerPort, asm.Half).WithSymbol(connected),
		asm.StoreMem(asm.RFP, onStackTarget+2, asm.R1, asm.Half),
		asm.LoadMem(asm.R1, asm.R7, p.l.family, asm.Half),
		asm.StoreMem(asm.RFP, onStackTarget, asm.R1, asm.Half),
		asm.JEq.Imm(asm.R1, unix.AF_INET6, six),
		asm.LoadMem(asm.R1, asm.R7, p.l.peer4, asm.Word),
		asm.StoreMem(asm.RFP, onStackTarget+4, asm.R1, asm.Word),
		asm.Ja.Label(known),
		asm.LoadMem(asm.R1, asm.R7, p.l.peer6, asm.DWord).WithSymbol(six),
		asm.StoreMem(asm.RFP, onStackTarget+8, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R7, p.l.peer6+8, asm.DWord),
		asm.StoreMem(asm.RFP, onStackTarget+16, asm.R1, asm.DWord),

		asm.LoadMem(asm.R1, asm.RFP, onStackTarget+2, asm.Half).WithSymbol(known),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.JEq.Imm(asm.R1, 0, "exit"),
		asm.JEq.Imm(asm.R1, domain, asks),
		asm.LoadMem(asm.R1, asm.RFP, onStackHeader+2, asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.And.Imm(asm.R1, flagRecurse),
		asm.JEq.Imm(asm.R1, 0, "exit"),
	)
	p.placeLabel(asks)
}

// lookUpSocket puts what is kept of the socket in R7 into R0, 0 nothing.
func (p *program) lookUpSocket() {
	p.add(
		asm.StoreMem(asm.RFP, onStackSocket, asm.R7, asm.DWord),
		asm.LoadMapPtr(asm.R1, p.k.sockets.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackSocket),
		asm.FnMapLookupElem.Call(),
	)
}

// trackSocket has the arrival of answers noted for the socket in R7.
func (p *program) trackSocket() {
	fresh, known := p.newLabel("fresh"), p.newLabel("known")
	p.lookUpSocket()
	p.add(
		asm.LoadMem(asm.R2, asm.R7, p.l.ownPort, asm.Half),
		asm.JEq.Imm(asm.R0, 0, fresh),
		asm.LoadMem(asm.R1, asm.R0, socketOwnPort, asm.DWord), // the memory of a socket is used again
		asm.JEq.Reg(asm.R1, asm.R2, known),
		asm.Mov.Imm(asm.R1, 0).WithSymbol(fresh),
		asm.StoreMem(asm.RFP, onStackMessage+socketArrived, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, onStackMessage+socketOwnPort, asm.R2, asm.DWord),
		asm.LoadMapPtr(asm.R1, p.k.sockets.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, onStackSocket),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, onStackMessage),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	)
	p.placeLabel(known)
}

// tellAnswer tells what the process read by UDP if it has the header of a name server's answer,
// also on sockets of which no query is known: another thread may read it before the query is told.
func (p *program) tellAnswer() {
	p.placeLabel("datagram")
	if registers.call == "" {
		p.add(asm.Ja.Label("exit"))
		return
	}
	p.add(
		asm.JLT.Imm(asm.R8, dnsHeader, "exit"),
		asm.JGT.Imm(asm.R8, mostAnswer, "exit"),
	)
	for n := range atOnce {
		fits, none := p.newLabel("fits"), p.newLabel("none")
		p.findDatagram(n, "exit")
		p.add(
			asm.LoadMem(asm.R1, asm.RFP, onStackLength, asm.DWord), // the room there is
			asm.JLE.Reg(asm.R1, asm.R8, fits),
			asm.StoreMem(asm.RFP, onStackLength, asm.R8, asm.DWord),
		)
		p.placeLabel(fits)
		p.loadHeaderFlags()
		p.add(
			asm.And.Imm(asm.R1, flagAnswer|opcode),
			asm.JNE.Imm(asm.R1, flagAnswer, "exit"),
		)
		p.lookUpSocket()
		p.add(
			asm.Mov.Imm(asm.R1, 0),
			asm.JEq.Imm(asm.R0, 0, none),
			asm.LoadMem(asm.R1, asm.R0, socketArrived, asm.DWord),
			asm.Mov.Imm(asm.R2, 0),
			asm.StoreMem(asm.R0, socketArrived, asm.R2, asm.DWord),
			asm.StoreMem(asm.RFP, onStackWord, asm.R1, asm.DWord).WithSymbol(none),
		)
		p.tellDatagram(whatAnswer)
	}
	p.add(asm.Ja.Label("exit"))
}

// noteArrival notes that bytes have arrived on the UDP socket in R7, if queries were sent from it.
func (p *program) noteArrival() {
	p.placeLabel("datagram")
	p.lookUpSocket()
	p.add(
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.LoadMem(asm.R1, asm.R6, socketArrived, asm.DWord),
		asm.JNE.Imm(asm.R1, 0, "exit"),
	)
	p.storeTime(socketArrived)
	p.add(asm.Ja.Label("exit"))
}

// tellDatagram tells the datagram that was found, from its header to the end of its question.
func (p *program) tellDatagram(what int32) {
	lost, told, six, peer, short := p.newLabel("lost"), p.newLabel("told"), p.newLabel("six"), p.newLabel("peer"), p.newLabel("short")
	p.add(
		asm.LoadMapPtr(asm.R1, p.k.ring.FD()),
		asm.Mov.Imm(asm.R2, datagramSize),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(),
		asm.JEq.Imm(asm.R0, 0, lost),
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.StoreMem(asm.R6, datagramSocket, asm.R7, asm.DWord),
		asm.Mov.Imm(asm.R1, roleDatagram),
		asm.StoreMem(asm.R6, datagramRole, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, onStackMany, asm.DWord),
		asm.Or.Imm(asm.R1, what),
		asm.StoreMem(asm.R6, datagramWhat, asm.R1, asm.Half),
		asm.StoreMem(asm.R6, datagramTotal, asm.R8, asm.Half),
		asm.StoreMem(asm.R6, datagramThread, asm.R9, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, onStackPID, asm.Word),
		asm.StoreMem(asm.R6, datagramProcess, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, asm.R7, p.l.ownPort, asm.Half),
		asm.StoreMem(asm.R6, datagramOwnPort, asm.R1, asm.Half),
		asm.Mov.Imm(asm.R1, 0),
	)
	for _, at := range []int16{datagramCame, datagramPeer, datagramPeer + 8, datagramRoutine} {
		p.add(asm.StoreMem(asm.R6, at, asm.R1, asm.DWord))
	}
	p.add(
		asm.StoreMem(asm.R6, datagramFamily, asm.R1, asm.Half),
		asm.StoreMem(asm.R6, datagramPort, asm.R1, asm.Half),
	)
	if what == whatQuery {
		p.add(
			asm.LoadMem(asm.R1, asm.RFP, onStackTarget+2, asm.Half),
			asm.StoreMem(asm.R6, datagramPort, asm.R1, asm.Half),
			asm.LoadMem(asm.R1, asm.RFP, onStackTarget, asm.Half),
			asm.StoreMem(asm.R6, datagramFamily, asm.R1, asm.Half),
			asm.JEq.Imm(asm.R1, unix.AF_INET6, six),
			asm.LoadMem(asm.R1, asm.RFP, onStackTarget+4, asm.Word),
			asm.StoreMem(asm.R6, datagramPeer, asm.R1, asm.Word),
			asm.Ja.Label(peer),
			asm.LoadMem(asm.R1, asm.RFP, onStackTarget+8, asm.DWord).WithSymbol(six),
			asm.StoreMem(asm.R6, datagramPeer, asm.R1, asm.DWord),
			asm.LoadMem(asm.R1, asm.RFP, onStackTarget+16, asm.DWord),
			asm.StoreMem(asm.R6, datagramPeer+8, asm.R1, asm.DWord),
		)
		p.placeLabel(peer)
	} else {
		p.add(
			asm.LoadMem(asm.R1, asm.RFP, onStackWord, asm.DWord),
			asm.StoreMem(asm.R6, datagramCame, asm.R1, asm.DWord),
		)
	}
	p.storeGoroutine(datagramRoutine)
	p.storeTime(datagramAt)
	p.add(
		asm.LoadMem(asm.R2, asm.RFP, onStackLength, asm.DWord),
		asm.JLE.Imm(asm.R2, mostQuestion, short),
		asm.Mov.Imm(asm.R2, mostQuestion),
		asm.StoreMem(asm.R6, datagramKept, asm.R2, asm.Half).WithSymbol(short),
		asm.LoadMem(asm.R3, asm.RFP, onStackBuffer, asm.DWord),
	)
	p.copyFromProcess(datagramText)
	p.add(
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, ringQuietly),
		asm.FnRingbufSubmit.Call(),
		asm.Ja.Label(told),
	)
	p.placeLabel(lost)
	p.add(
		asm.LoadMapValue(asm.R2, p.k.tuning.FD(), 0),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R2, asm.R1, asm.DWord, tuneLost),
	)
	p.placeLabel(told)
}
