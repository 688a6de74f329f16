package exchanges

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/format"
)

// numbers numbers things as they are met, from 1: connections that clients made and those of UNIX sockets, or goroutines.
type numbers[K comparable] struct {
	known map[K]int64
	last  int64
}

// connection is a socket, whose memory is used again, and the port at the other end.
type connection struct {
	socket uint64
	peer   uint16
}

// mostNumbered things are known by their numbers; one that goes on when more have come gets a new one.
const mostNumbered = 1 << 16

func (n *numbers[K]) numberOf(of K) int64 {
	number, known := n.known[of]
	if !known {
		if len(n.known) >= mostNumbered || n.known == nil {
			n.known = make(map[K]int64)
		}
		n.last++
		number = n.last
		n.known[of] = number
	}
	return number
}

// firstUNIX is where the numbers of UNIX connections begin that stand for the own ports of calls, which are smaller.
const firstUNIX = 1 << 16

// appendExchange writes what was told of one as a line of internal/format/exchanges; path is where one end of a UNIX connection listens, and
// site the number of the stack that sent a call, 0 unknown.
func appendExchange(out, b []byte, offset int64, clients *numbers[connection], routines *numbers[uint64], path string, site int) []byte {
	if len(b) < serverSize {
		return out
	}
	half := func(at int) uint16 { return binary.NativeEndian.Uint16(b[at:]) }
	word := func(at int) int64 { return int64(binary.NativeEndian.Uint32(b[at:])) }
	long := func(at int) int64 { return int64(binary.NativeEndian.Uint64(b[at:])) }
	number := func(n int64) {
		out = append(out, ' ')
		out = strconv.AppendInt(out, n, 10)
	}
	if word(atRole) == roleClient && word(atOut) == statementClosed && long(atFirst) == 0 && closesStatement(b) {
		return out // it has no answer
	}
	came, begun, first, last := long(atCame), long(atBegun), long(atFirst), long(atLast)
	server := word(atRole) == roleServer
	if !server && len(b) < stateSize || server && first == 0 && restOfFastCGI(b[atHead:atHead+min(headSize, int(half(atHeadLen)))]) {
		return out
	}
	if server {
		if came == 0 || came > begun {
			came = begun
		}
		out = append(out, 'q')
		number(came + offset)
		number(begun - came)
	} else {
		out = append(out, 'k')
		number(begun + offset)
		if came > 0 && first > 0 { // else the answer was there before it was looked for
			number(max(0, first-max(came, begun)))
		} else {
			number(0)
		}
	}
	if first > 0 {
		number(first - begun)
		number(max(0, last-first))
	} else {
		number(-1)
		number(max(0, last-begun)) // of one whose connection was closed
	}
	for _, at := range []int{atIn, atOut, atReads, atSends} {
		number(word(at))
	}
	worker := func(thread, goroutine int) {
		number(word(thread))
		if g := uint64(long(goroutine)); g != 0 {
			out = append(out, '/')
			out = strconv.AppendInt(out, routines.numberOf(g), 10)
		}
	}
	worker(atThread, atGoroutine)
	if site > 0 {
		out = append(out, '@')
		out = strconv.AppendInt(out, int64(site), 10)
	}
	worker(atOther, atOtherGoroutine)
	local, on := half(atFamily) == unix.AF_UNIX, int64(0)
	if local || server {
		on = clients.numberOf(connection{uint64(long(atSocket)), half(atPort)})
	}
	switch {
	case local && server:
		out = append(append(out, ' '), path...)
	case local:
		number(firstUNIX + on)
	default:
		number(int64(half(atOwnPort)))
	}
	if server { // of a client
		out = append(out, '/')
		out = strconv.AppendInt(out, on, 10)
	}
	out = append(out, ' ')
	if !server {
		if local {
			out = append(out, path...)
		} else {
			out = peerAddress(half(atFamily), b[atPeer:], b[atPort:]).AppendTo(out)
		}
		out = append(out, ' ')
		part := func(at, size, length int) []byte { return b[at : at+min(size, int(half(length)))] }
		out = appendCall(out, part(atHead, callHead, atHeadLen), part(atCallAnswer, answerSize, atAnswerLen), part(atTail, tailSize, atTailLen))
		return append(out, '\n')
	}
	out = append(out, "- "...) // addresses of clients are not kept
	head := b[atHead : atHead+min(headSize, int(half(atHeadLen)))]
	method, target, http := requestLine(head)
	if !http {
		out = append(out, recogniseProtocol(head)...)
		return append(out, '\n')
	}
	out = append(out, "http "...)
	out = strconv.AppendInt(out, int64(httpStatus(b[atAnswer:atAnswer+answerSize])), 10)
	out = append(append(out, ' '), method...)
	out = format.AppendRoute(append(out, ' '), target)
	return append(out, '\n')
}

// oneLine is a name of a thread as one line of text.
func oneLine(comm []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimSpace(bytes.ToValidUTF8(comm, []byte("?"))), []byte("\n"), []byte(" "))
}

// closesStatement says whether a call begins with MySQL's COM_STMT_CLOSE.
func closesStatement(b []byte) bool {
	return bytes.HasPrefix(b[atHead:], []byte{statementClosed - 4, 0, 0, 0, mysqlClose})
}

// peerAddress decodes the address and port of the other end.
func peerAddress(family uint16, address, port []byte) netip.AddrPort {
	var at netip.Addr
	if family == unix.AF_INET {
		at = netip.AddrFrom4([4]byte(address))
	} else {
		at = netip.AddrFrom16([16]byte(address)).Unmap()
	}
	return netip.AddrPortFrom(at, binary.BigEndian.Uint16(port))
}
