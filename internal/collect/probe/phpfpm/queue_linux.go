package phpfpm

import (
	"encoding/binary"
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Of struct unix_diag_req, unix_diag_msg and their attributes (include/uapi/linux/unix_diag.h).
const (
	diagRequest = 24
	diagMessage = 16
	diagListens = 1 << 10 // TCP_LISTEN, as a bit
	showName    = 1 << 0  // UDIAG_SHOW_NAME
	showQueue   = 1 << 4  // UDIAG_SHOW_RQLEN
	diagName    = 0       // UNIX_DIAG_NAME
	diagQueue   = 4       // UNIX_DIAG_RQLEN: of one that listens, connections that wait, and how many may
)

var errNoDiag = errors.New("the kernel does not report UNIX sockets")

// listBacklogs returns how many connections wait at the listening UNIX sockets of this network
// namespace, by their paths.
func listBacklogs() (map[string]int, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	request := make([]byte, unix.NLMSG_HDRLEN+diagRequest)
	order := binary.NativeEndian
	order.PutUint32(request, uint32(len(request)))
	order.PutUint16(request[4:], unix.SOCK_DIAG_BY_FAMILY)
	order.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := request[unix.NLMSG_HDRLEN:]
	body[0] = unix.AF_UNIX
	order.PutUint32(body[4:], diagListens)
	order.PutUint32(body[12:], showName|showQueue)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	all := make(map[string]int)
	room := make([]byte, 32<<10)
	for {
		got, _, err := unix.Recvfrom(fd, room, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		messages, err := syscall.ParseNetlinkMessage(room[:got])
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return all, nil
			case unix.NLMSG_ERROR:
				return nil, errNoDiag
			}
			if path, n, ok := parseBacklog(m.Data); ok {
				all[path] = n
			}
		}
	}
}

// parseBacklog decodes a struct unix_diag_msg.
func parseBacklog(m []byte) (path string, waiting int, ok bool) {
	if len(m) < diagMessage {
		return "", 0, false
	}
	order := binary.NativeEndian
	for a := m[diagMessage:]; len(a) >= 4; {
		n, kind := int(order.Uint16(a)), order.Uint16(a[2:])
		if n < 4 || n > len(a) {
			break
		}
		switch value := a[4:n]; {
		case kind == diagName:
			path = strings.TrimRight(string(value), "\x00")
		case kind == diagQueue && len(value) >= 8:
			waiting, ok = int(order.Uint32(value)), true
		}
		a = a[min((n+3)&^3, len(a)):]
	}
	return path, waiting, ok && path != ""
}
