package discover

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
)

// socket is a listening socket in the tables of /proc/net.
type socket struct {
	Listener
	inode uint64
	uid   int // user of its creator; -1 unknown: the table of UNIX sockets does not have it
}

const (
	tcpListen    = "0A"       // TCP_LISTEN, include/net/tcp_states.h
	acceptsFlag  = 0x00010000 // __SO_ACCEPTCON, include/uapi/linux/net.h
	othersLimit  = 32         // entries after the listening ones that are read, because the kernel starts anew for each page of them
	socketsLimit = 1 << 16
)

// parseTCP reads the listening sockets of /proc/net/tcp or tcp6:
//
//	sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
//	 0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1059 1 …
//
// Addresses are words in the byte order of the machine. The kernel lists listening sockets before all connections (tcp_get_idx in
// net/ipv4/tcp_ipv4.c). There may be a hundred thousand connections, and they are not read.
func parseTCP(r io.Reader) ([]socket, error) {
	lines := bufio.NewScanner(r)
	var sockets []socket
	others := 0
	for first := true; lines.Scan() && others < othersLimit && len(sockets) < socketsLimit; first = false {
		fields := strings.Fields(lines.Text())
		if first || len(fields) == 0 {
			continue
		}
		if len(fields) < 10 {
			return sockets, fmt.Errorf("tcp: %.60q: %d fields, want 10 or more", lines.Text(), len(fields))
		}
		if fields[3] != tcpListen {
			others++
			continue
		}
		addr, err := ParseAddr(fields[1])
		if err != nil {
			return sockets, fmt.Errorf("tcp: %w", err)
		}
		uid, err := strconv.Atoi(fields[7])
		if err != nil {
			return sockets, fmt.Errorf("tcp: %w", err)
		}
		inode, err := strconv.ParseUint(fields[9], 10, 64)
		if err != nil {
			return sockets, fmt.Errorf("tcp: %w", err)
		}
		sockets = append(sockets, socket{Listener: Listener{Addr: addr}, inode: inode, uid: uid})
	}
	return sockets, lines.Err()
}

// ParseAddr reads an address in the form of /proc/net/tcp: "0100007F:1F90", or 32 digits for IPv6.
func ParseAddr(s string) (netip.AddrPort, error) {
	words, portText, _ := strings.Cut(s, ":")
	raw, err := hex.DecodeString(words)
	if err != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, fmt.Errorf("%.60q is not an address", s)
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	port, err := strconv.ParseUint(portText, 16, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%.60q is not an address", s)
	}
	addr, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), nil
}

// parseUnix reads the listening sockets of /proc/net/unix. It leaves out those without a name, because a client cannot connect to
// them:
//
//	Num       RefCount Protocol Flags    Type St Inode Path
//	000000008b7a8b99: 00000002 00000000 00010000 0001 01 613629 /run/app.sock
func parseUnix(r io.Reader) ([]socket, error) {
	lines := bufio.NewScanner(r)
	var sockets []socket
	for first := true; lines.Scan() && len(sockets) < socketsLimit; first = false {
		if first {
			continue
		}
		fields := strings.Fields(lines.Text())
		if len(fields) < 7 {
			continue // the rest of a name with a line break
		}
		flags, err := strconv.ParseUint(fields[3], 16, 64)
		if err != nil || flags&acceptsFlag == 0 || len(fields) == 7 {
			continue
		}
		inode, err := strconv.ParseUint(fields[6], 10, 64)
		if err != nil {
			continue
		}
		_, path, _ := strings.Cut(lines.Text(), " "+fields[6]+" ") // a path may contain blanks
		sockets = append(sockets, socket{Listener: Listener{Path: path}, inode: inode, uid: -1})
	}
	return sockets, lines.Err()
}
