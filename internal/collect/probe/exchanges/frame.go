package exchanges

// Layout of an HTTP/2 frame in the ring, and of the state of one direction of a connection (RFC 9113, section 4.1).
const (
	frameSocket    = 0
	frameKind      = 8  // at the place of a connection's role
	frameWhat      = 12 // whether this is a frame, or frames cannot be followed, or the connection was closed
	frameDirection = 14
	frameAt        = 16 // when it was transferred
	frameCame      = 24 // when the first bytes read with it had arrived, 0 unknown
	frameThread    = 32
	frameNumber    = 36 // its number among the reported ones of this direction
	frameHeader    = 40
	frameHave      = 49 // transferred bytes of the header
	frameKept      = 50 // kept bytes of a header block
	frameRole      = 52
	frameFamily    = 54
	frameOwnPort   = 56
	framePort      = 58
	frameLeft      = 60 // bytes until the next frame
	framePeer      = 64
	frameWanted    = 80 // bytes of the header block that are still to be kept
	frameFollowed  = 84 // 0: the beginning of the next frame is unknown
	frameBlock     = 88

	frameHeaderSize = 9
	mostBlock       = 1 << 10
	blockPiece      = 1 << 8 // bytes kept at a time
	frameSize       = frameBlock + mostBlock + blockPiece
)

// Kinds of reports, and directions.
const (
	whatFrame  = 0
	whatLost   = 1
	whatClosed = 2

	directionIn  = 1
	directionOut = 2
)

// Types of frames, and flags.
const (
	frameData         = 0
	frameHeaders      = 1
	framePriority     = 2
	frameReset        = 3
	frameSettings     = 4
	framePush         = 5
	framePing         = 6
	frameGoAway       = 7
	frameWindow       = 8
	frameContinuation = 9
	mostFrameType     = 16 // PRIORITY_UPDATE

	flagEndStream   = 0x1
	flagEndHeaders  = 0x4
	flagPadded      = 0x8
	flagPriority    = 0x20
	flagsOfMessages = flagEndStream | flagEndHeaders | flagPadded | flagPriority

	usualFrame = 1 << 14 // the largest frame in bytes, unless an end has allowed more
)

// preface is the beginning of a client's connection.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
