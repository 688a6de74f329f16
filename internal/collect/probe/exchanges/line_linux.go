package exchanges

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/format"
)

// connections numbers the connections that clients made, from 1.
type connections struct {
	numbers map[connection]int64
	last    int64
}

// connection is a socket, whose memory is used again, and the port at the other end.
type connection struct {
	socket uint64
	peer   uint16
}

// mostNumbered connections are known by their numbers; one that goes on when more have come gets a new one.
const mostNumbered = 1 << 16

func (c *connections) number(b []byte) int64 {
	of := connection{binary.NativeEndian.Uint64(b[atSocket:]), binary.NativeEndian.Uint16(b[atPort:])}
	n, known := c.numbers[of]
	if !known {
		if len(c.numbers) >= mostNumbered || c.numbers == nil {
			c.numbers = make(map[connection]int64)
		}
		c.last++
		n = c.last
		c.numbers[of] = n
	}
	return n
}

// appendExchange writes what was told of one as a line of internal/format/exchanges.
func appendExchange(out, b []byte, offset int64, clients *connections) []byte {
	if len(b) < callSize {
		return out
	}
	half := func(at int) uint16 { return binary.NativeEndian.Uint16(b[at:]) }
	word := func(at int) int64 { return int64(binary.NativeEndian.Uint32(b[at:])) }
	long := func(at int) int64 { return int64(binary.NativeEndian.Uint64(b[at:])) }
	number := func(n int64) {
		out = append(out, ' ')
		out = strconv.AppendInt(out, n, 10)
	}
	came, begun, first, last := long(atCame), long(atBegun), long(atFirst), long(atLast)
	head := b[atHead : atHead+min(len(b)-atHead, callHead, int(half(atHeadLen)))]
	if word(atRole) == roleServer && len(b) >= stateSize {
		if came == 0 || came > begun {
			came = begun
		}
		head = b[atHead : atHead+min(headSize, int(half(atHeadLen)))]
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
	for _, at := range []int{atIn, atOut, atReads, atSends, atThread, atOther} {
		number(word(at))
	}
	number(int64(half(atOwnPort)))
	if word(atRole) == roleServer { // addresses of clients are not kept
		out = append(out, '/')
		out = strconv.AppendInt(out, clients.number(b), 10)
		out = append(out, " -"...)
	} else {
		out = append(out, ' ')
		out = peer(b).AppendTo(out)
	}
	out = append(out, ' ')
	if word(atRole) != roleServer || len(b) < stateSize {
		out = append(out, protocol(head)...)
		return append(out, '\n')
	}
	method, target, http := requestLine(head)
	if !http {
		out = append(out, protocol(head)...)
		return append(out, '\n')
	}
	out = append(out, "http "...)
	out = strconv.AppendInt(out, int64(status(b[atAnswer:atAnswer+answerSize])), 10)
	out = append(append(out, ' '), method...)
	out = format.AppendRoute(append(out, ' '), target)
	return append(out, '\n')
}

// peer is the address at the other end.
func peer(b []byte) netip.AddrPort {
	var at netip.Addr
	if binary.NativeEndian.Uint16(b[atFamily:]) == unix.AF_INET {
		at = netip.AddrFrom4([4]byte(b[atPeer:]))
	} else {
		at = netip.AddrFrom16([16]byte(b[atPeer:])).Unmap()
	}
	return netip.AddrPortFrom(at, binary.BigEndian.Uint16(b[atPort:]))
}

var methods = []string{"GET ", "POST ", "PUT ", "DELETE ", "HEAD ", "PATCH ", "OPTIONS "}

// requestLine takes the method and the target, as far as it is there, of a request of HTTP/1.
func requestLine(head []byte) (method, target []byte, ok bool) {
	for _, m := range methods {
		if rest, is := bytes.CutPrefix(head, []byte(m)); is {
			target = rest
			if i := bytes.IndexAny(rest, " \r\n"); i >= 0 {
				target = rest[:i]
			} else if i := bytes.LastIndexByte(rest, '/'); i > 0 && bytes.IndexByte(rest, '?') < 0 {
				target = append(bytes.Clone(rest[:i+1]), "…"...) // cut within a segment, which may be an identifier
			}
			return head[:len(m)-1], target, len(target) > 0
		}
	}
	return nil, nil, false
}

// status is that of an answer of HTTP/1, 0 unknown.
func status(answer []byte) int {
	if !bytes.HasPrefix(answer, []byte("HTTP/1.")) {
		return 0
	}
	n, err := strconv.Atoi(string(answer[9:12]))
	if err != nil {
		return 0
	}
	return n
}

// protocol says what the first bytes of a transfer look like.
func protocol(head []byte) string {
	switch _, _, http := requestLine(head); {
	case http:
		return "http"
	case len(head) >= 3 && (head[0] == 0x16 || head[0] == 0x17) && head[1] == 3:
		return "tls"
	case bytes.HasPrefix(head, []byte("PRI * HTTP/2")), frame(head):
		return "h2"
	case len(head) >= 2 && head[0] == '*' && '1' <= head[1] && head[1] <= '9':
		return "resp"
	case postgres(head):
		return "postgresql"
	case len(head) >= 5 && head[3] == 0 && head[0] > 0 && head[4] >= 1 && head[4] <= 0x1f && head[2] == 0: // length, number 0, command
		return "mysql"
	case len(head) >= 16 && binary.LittleEndian.Uint32(head[12:]) == 2013: // OP_MSG
		return "mongodb"
	}
	return "-"
}

// frame says whether that is the head of a frame of HTTP/2: a length of three bytes, one of ten types, flags, and a stream.
func frame(head []byte) bool {
	if len(head) < 9 || head[0] != 0 || head[3] > 9 || head[4]&^0x2d != 0 || head[5]&0x80 != 0 {
		return false
	}
	length := int(binary.BigEndian.Uint16(head[1:]))
	return length > 0 && length <= 1<<14 || length == 0 && head[3] == 4 // SETTINGS that are acknowledged
}

// postgres says whether that is a message of PostgreSQL's protocol: a letter, and a length with itself.
func postgres(head []byte) bool {
	if len(head) < 5 || !bytes.ContainsRune([]byte("QPBEDCSHfdcFpX"), rune(head[0])) {
		return false
	}
	n := binary.BigEndian.Uint32(head[1:])
	return n >= 4 && n < 1<<20
}
