package exchanges

// Layout of a datagram in the ring: one that may be a query to a name server, or its answer.
const (
	datagramSocket  = 0
	datagramRole    = 8 // at the place of a connection's role
	datagramWhat    = 12
	datagramTotal   = 14 // its length, bytes
	datagramAt      = 16
	datagramCame    = 24 // when the first unread datagram arrived on its socket, 0 unknown
	datagramThread  = 32
	datagramProcess = 36
	datagramFamily  = 40 // of the address it was sent to, which answers lack
	datagramOwnPort = 42
	datagramPort    = 44 // in network order
	datagramKept    = 46 // bytes of it in the ring
	datagramPeer    = 48
	datagramRoutine = 64 // of Go: the goroutine, 0 unknown
	datagramText    = 72
	datagramSize    = datagramText + mostQuestion
)

// Kinds of datagrams.
const (
	whatAnswer = 0
	whatQuery  = 1
	whatMany   = 1 << 8 // one of several sent by one call; all of them are reported with each
)

// Limits of DNS messages (RFC 1035, section 4.1): a name has up to 255 bytes, and a question about the root has 5.
const (
	dnsHeader     = 12
	leastQuestion = dnsHeader + 5
	mostQuestion  = 272 // bytes of the header and the longest question
	mostQuery     = 512 // bytes of the longest query that clients send
	mostAnswer    = 4096

	flagAnswer   = 0x8000
	flagTrimmed  = 0x0200               // TC: the answer is truncated
	flagRecurse  = 0x0100               // RD, which clients of name servers set
	flagsOfQuery = flagRecurse | 0x0030 // AD and CD (RFC 6840)
	opcode       = 0x7800
	mostSections = 2 // that follow a question: EDNS (RFC 6891), and a signature

	domain = 53 // the port of name servers
)

// Layout of the state of a socket that queries were sent from.
const (
	socketArrived = 0
	socketOwnPort = 8
	socketSize    = 16

	mostSockets = 1 << 12
)
