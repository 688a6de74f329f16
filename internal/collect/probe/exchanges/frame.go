package exchanges

// Of a frame of HTTP/2 that is told, and of what is kept of one direction of a connection (RFC 9113, section 4.1).
const (
	frameSocket    = 0
	frameKind      = 8  // where a connection has its role
	frameWhat      = 12 // that it is one, or that frames cannot be followed, or that the connection was closed
	frameDirection = 14
	frameAt        = 16 // when it was transferred
	frameCame      = 24 // when the first of what was read with it had arrived, 0 unknown
	frameThread    = 32
	frameNumber    = 36 // of those told of this direction
	frameHeader    = 40
	frameHave      = 49 // bytes of the header that were transferred
	frameKept      = 50 // bytes of a block of headers that are kept
	frameRole      = 52
	frameFamily    = 54
	frameOwnPort   = 56
	framePort      = 58
	frameLeft      = 60 // bytes until the next frame
	framePeer      = 64
	frameWanted    = 80 // bytes of the block of headers that are still to be kept
	frameFollowed  = 84 // 0: where the next frame begins is not known
	frameBlock     = 88

	frameHeaderSize = 9
	mostBlock       = 1 << 10
	blockPiece      = 1 << 8 // is kept at a time
	frameSize       = frameBlock + mostBlock + blockPiece
)

// What is told, and of which direction.
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

	usualFrame = 1 << 14 // the most bytes of a frame, unless an end has asked for more
)

// preface is how a client begins.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
