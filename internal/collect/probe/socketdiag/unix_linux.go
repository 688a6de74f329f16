package socketdiag

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// Unix is a UNIX socket that is connected, as the kernel's sock_diag tells it: the table in
// /proc/PID/net says who has a path, and nobody's other end.
type Unix struct {
	Inode, Peer uint32 // of its other end, 0 not told
	Path        string // that it is bound to, as all are that were accepted where somebody listens; "" none
}

// Of struct unix_diag_req, unix_diag_msg and their attributes (include/uapi/linux/unix_diag.h).
const (
	unixRequest = 24
	unixMessage = 16
	unixName    = 0 // UNIX_DIAG_NAME
	unixPeer    = 2 // UNIX_DIAG_PEER

	unixShow = 1<<0 | 1<<2 // UDIAG_SHOW_NAME, UDIAG_SHOW_PEER
)

// connected yields the UNIX sockets of the namespace that are connected, or take datagrams, at most so many.
func (d *Namespace) UNIX(most int, room []byte, yield func(Unix)) error {
	request := make([]byte, unix.NLMSG_HDRLEN+unixRequest)
	order := binary.NativeEndian
	order.PutUint32(request, uint32(len(request)))
	order.PutUint16(request[4:], unix.SOCK_DIAG_BY_FAMILY)
	order.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := request[unix.NLMSG_HDRLEN:]
	body[0] = unix.AF_UNIX
	order.PutUint32(body[4:], 1<<1|1<<7) // TCP_ESTABLISHED, and TCP_CLOSE: whoever takes datagrams is not connected itself
	order.PutUint32(body[12:], unixShow)
	n := 0
	return d.dump(request, room, func(m []byte) {
		if s, ok := parseUnixSocket(m); ok {
			if n++; n <= most {
				yield(s)
			}
		}
	})
}

// parseUnixSocket reads a struct unix_diag_msg.
func parseUnixSocket(m []byte) (s Unix, ok bool) {
	if len(m) < unixMessage {
		return s, false
	}
	order := binary.NativeEndian
	s.Inode = order.Uint32(m[4:])
	for a := m[unixMessage:]; len(a) >= 4; {
		n, kind := int(order.Uint16(a)), order.Uint16(a[2:])
		if n < 4 || n > len(a) {
			break
		}
		switch value := a[4:n]; {
		case kind == unixName && len(value) > 0 && value[0] != 0: // else it has a name that is no path
			s.Path = strings.TrimRight(string(value), "\x00")
		case kind == unixPeer && len(value) >= 4:
			s.Peer = order.Uint32(value)
		}
		a = a[min((n+3)&^3, len(a)):]
	}
	return s, s.Inode != 0
}
