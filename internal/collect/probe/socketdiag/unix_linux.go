package socketdiag

import (
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/base/redact"
)

// Unix is a UNIX socket from the kernel's sock_diag. Unlike the table in /proc/PID/net, sock_diag also gives the other end.
type Unix struct {
	Inode, Peer uint32 // Peer is the inode of its other end, 0 unknown
	Path        string // path it is bound to, also of accepted sockets; "" none, or a name that is not a path
	Name        string // name as the kernel keeps it: a path and its end, or a zero byte and an abstract name; "" none

	Cookie uint64 // a number that no other socket of the host has
	Stream bool
	State  uint8 // a bit of the states above is 1 << state

	// Queue and its limit: for a listening socket, of its accept queue; for others, bytes received and not read, and sent and not
	// read. 0: not requested.
	Queue, Limit uint32
}

// unixStream is SOCK_STREAM.
const unixStream = 1

// Of struct unix_diag_req, unix_diag_msg and their attributes (include/uapi/linux/unix_diag.h).
const (
	unixRequest = 24
	unixMessage = 16
	unixName    = 0 // UNIX_DIAG_NAME
	unixPeer    = 2 // UNIX_DIAG_PEER
	unixQueue   = 4 // UNIX_DIAG_RQLEN

	unixShow = 1<<0 | 1<<2 // UDIAG_SHOW_NAME, UDIAG_SHOW_PEER
	unixWait = 1<<0 | 1<<4 // UDIAG_SHOW_NAME, UDIAG_SHOW_RQLEN
)

// UNIX yields at most most UNIX sockets of the namespace that are connected or take datagrams, with their other ends.
func (d *Namespace) UNIX(most int, room []byte, yield func(Unix)) error {
	return d.dumpUNIX(1<<Established|1<<closed, unixShow, most, room, func(s Unix) { // a socket that takes datagrams is not connected itself
		if s.Inode != 0 {
			yield(s)
		}
	})
}

// closed is TCP_CLOSE.
const closed = 7

// UNIXQueues yields at most most UNIX sockets in some states with the lengths of their queues.
func (d *Namespace) UNIXQueues(states uint32, most int, room []byte, yield func(Unix)) error {
	return d.dumpUNIX(states, unixWait, most, room, yield)
}

func (d *Namespace) dumpUNIX(states, show uint32, most int, room []byte, yield func(Unix)) error {
	request := make([]byte, unix.NLMSG_HDRLEN+unixRequest)
	order := binary.NativeEndian
	order.PutUint32(request, uint32(len(request)))
	order.PutUint16(request[4:], unix.SOCK_DIAG_BY_FAMILY)
	order.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := request[unix.NLMSG_HDRLEN:]
	body[0] = unix.AF_UNIX
	order.PutUint32(body[4:], states)
	order.PutUint32(body[12:], show)
	n := 0
	return d.dumpMessages(request, room, func(m []byte) {
		if s, ok := parseUnixSocket(m); ok {
			if n++; n <= most {
				yield(s)
			}
		}
	})
}

// Address writes the name of a UNIX socket as one word, without what looks like an identifier: "unix:/run/app.sock", "unix:@name"
// of a name that is no path, "unix:-" of none.
func Address(name string) string {
	if len(name) > 1 && name[0] == 0 {
		name = "@" + name[1:]
	}
	if name = strings.TrimRight(name, "\x00"); name == "" {
		name = "-"
	}
	segments := strings.Split(name, "/")
	for i, s := range segments {
		if redact.Segment([]byte(s)) {
			segments[i] = redact.ID
		}
	}
	out := []byte("unix:")
	for _, c := range []byte(strings.Join(segments, "/")) {
		if c <= ' ' || c >= 0x7f || c == '%' {
			out = fmt.Appendf(out, "%%%02X", c)
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// parseUnixSocket reads a struct unix_diag_msg.
func parseUnixSocket(m []byte) (s Unix, ok bool) {
	if len(m) < unixMessage {
		return s, false
	}
	order := binary.NativeEndian
	s.Stream, s.State = m[1] == unixStream, m[2]
	s.Inode, s.Cookie = order.Uint32(m[4:]), uint64(order.Uint32(m[8:]))|uint64(order.Uint32(m[12:]))<<32
	for a := m[unixMessage:]; len(a) >= 4; {
		n, kind := int(order.Uint16(a)), order.Uint16(a[2:])
		if n < 4 || n > len(a) {
			break
		}
		switch value := a[4:n]; {
		case kind == unixName && len(value) > 0:
			if s.Name = string(value); value[0] != 0 {
				s.Path = strings.TrimRight(s.Name, "\x00")
			}
		case kind == unixQueue && len(value) >= 8:
			s.Queue, s.Limit = order.Uint32(value), order.Uint32(value[4:])
		case kind == unixPeer && len(value) >= 4:
			s.Peer = order.Uint32(value)
		}
		a = a[min((n+3)&^3, len(a)):]
	}
	return s, true
}
