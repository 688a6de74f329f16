package linux

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/socketdiag"
)

// sockets describes the sockets of a process's network by inode, from sock_diag and the tables of /proc/PID/net. A socket whose own port
// has a listener was accepted there.
type sockets struct {
	dir   string // "/proc/4711"
	known map[string]string
	peers map[string]uint32 // inodes of the other ends of UNIX sockets without a path
	order []string          // names of the tables: the last useful one comes first
	next  time.Time         // when they may be read again
	room  []byte
}

func newSockets(p *process) *sockets {
	return &sockets{dir: p.dir, known: make(map[string]string), peers: make(map[string]uint32), order: []string{"tcp", "unix", "udp6", "udp"}, room: make([]byte, 64<<10)}
}

// Limits of reading tables of sockets. Tables may be long, and the kernel takes long even for short ones. They are read for an unknown
// socket, no more often than this, so that they take no more of one CPU than their share, and no further than this.
const (
	socketsEvery = time.Second
	socketsShare = .0005
	mostSockets  = 1 << 14 // of one table
)

// describeSocket returns "client", "peer 10.0.0.7:5432" and similar; "socket" if its kind is unknown.
func (s *sockets) describeSocket(inode string) string {
	if kind, ok := s.known[inode]; ok {
		return kind
	}
	if time.Now().Before(s.next) {
		return "socket"
	}
	if len(s.known) > 4*mostSockets {
		clear(s.known)
		clear(s.peers)
	}
	cost, found := threadTime(), "socket"
	for i, table := range s.order {
		s.readTable(table)
		if kind, ok := s.known[inode]; ok {
			found = kind
			copy(s.order[1:i+1], s.order[:i])
			s.order[0] = table
			break
		}
	}
	s.next = time.Now().Add(max(socketsEvery, time.Duration(float64(threadTime()-cost)/socketsShare)))
	return found
}

// readTable reads a table, of TCP those of both of its families.
func (s *sockets) readTable(table string) {
	if table != "tcp" {
		s.readProcTable(table)
		if table == "unix" {
			s.readUNIXPeers()
		}
	} else if s.readTCPDiag() != nil { // not allowed, or a kernel without sock_diag
		s.readProcTable("tcp6")
		s.readProcTable("tcp")
	}
}

// readProcTable reads a table of /proc/PID/net, as far as the room for it goes.
func (s *sockets) readProcTable(table string) {
	f, err := os.Open(s.dir + "/net/" + table)
	if err != nil {
		return
	}
	defer f.Close()
	listening := make(map[string]bool)
	each := s.addInternet
	switch table {
	case "unix":
		each = s.addUNIX
	case "udp", "udp6":
		each = s.addUDP
	}
	var fields [10][]byte
	held := 0
	for n := 0; n < mostSockets; {
		got, err := f.Read(s.room[held:])
		held += got
		at := 0
		for {
			end := bytes.IndexByte(s.room[at:held], '\n')
			if end < 0 {
				break
			}
			if k := splitTenFields(s.room[at:at+end], &fields); n > 0 && k >= 7 {
				each(fields[:k], listening)
			}
			at, n = at+end+1, n+1
		}
		held = copy(s.room, s.room[at:held])
		if err != nil && err != io.EOF || got == 0 || held == len(s.room) {
			return
		}
	}
}

// readTCPDiag asks sock_diag for the TCP sockets, without their tables.
func (s *sockets) readTCPDiag() error {
	d, err := socketdiag.Open(s.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		listening := make(map[uint16]bool)
		told := func(x socketdiag.Inet) {
			if x.Inode == 0 {
				return
			}
			kind := "client"
			switch {
			case !x.Peer.IsValid():
				listening[x.Port], kind = true, "listener"
			case !listening[x.Port]:
				kind = "peer " + x.Peer.String()
			}
			s.known[strconv.FormatUint(uint64(x.Inode), 10)] = kind
		}
		for _, states := range []uint32{socketdiag.Listens, socketdiag.Connected} {
			if err := d.TCP(family, states, mostSockets, s.room, told); err != nil {
				return err
			}
		}
	}
	return nil
}

// readUNIXPeers finds, for UNIX sockets connected to a listening one, where that one listens. Without sock_diag they stay "unix".
func (s *sockets) readUNIXPeers() {
	d, err := socketdiag.Open(s.dir)
	if err != nil {
		return
	}
	defer d.Close()
	paths := make(map[uint32]string)
	var ends []socketdiag.Unix
	if d.UNIX(mostSockets, s.room, func(x socketdiag.Unix) {
		if ends = append(ends, x); x.Path != "" {
			paths[x.Inode] = x.Path
		}
	}) != nil {
		return
	}
	for _, x := range ends {
		inode, at := strconv.FormatUint(uint64(x.Inode), 10), paths[x.Peer]
		switch {
		case x.Path == "" && at != "":
			s.known[inode] = "peer unix:" + withoutIDs(at)
		case x.Path != "" && at == "" && x.Peer != 0: // of the two, the one that was accepted has the path
			s.known[inode] = "client"
		case x.Peer != 0: // a pair without any
			s.peers[inode] = x.Peer
		}
	}
}

// splitTenFields splits off the first ten fields of a line, and returns how many there are.
func splitTenFields(line []byte, fields *[10][]byte) (n int) {
	for i := 0; i < len(line) && n < len(fields); n++ {
		for i < len(line) && line[i] == ' ' {
			i++
		}
		from := i
		for i < len(line) && line[i] != ' ' {
			i++
		}
		if fields[n] = line[from:i]; from == i {
			break
		}
	}
	return n
}

// addInternet reads a line of tcp or tcp6: number, local and remote address, state, …, inode. Listening sockets come first.
func (s *sockets) addInternet(f [][]byte, listening map[string]bool) {
	if len(f) < 10 || string(f[9]) == "0" { // the socket has no process any more
		return
	}
	_, port, _ := bytes.Cut(f[1], []byte(":"))
	switch {
	case string(f[3]) == "0A": // TCP_LISTEN
		listening[string(port)] = true
		s.known[string(f[9])] = "listener"
	case listening[string(port)]:
		s.known[string(f[9])] = "client"
	default:
		kind := "peer"
		if addr, err := discover.ParseAddr(string(f[2])); err == nil {
			kind += " " + addr.String()
		}
		s.known[string(f[9])] = kind
	}
}

func (s *sockets) addUDP(f [][]byte, _ map[string]bool) {
	if len(f) >= 10 {
		s.known[string(f[9])] = "udp"
	}
}

// addUNIX reads a line of unix: number, references, protocol, flags, type, state, inode, path.
func (s *sockets) addUNIX(f [][]byte, listening map[string]bool) {
	kind, path := "unix", ""
	if len(f) > 7 {
		path = string(f[7])
	}
	switch {
	case string(f[3]) == "00010000": // __SO_ACCEPTCON
		listening[path] = true
		kind = "listener"
	case listening[path] && path != "":
		kind = "client"
	}
	s.known[string(f[6])] = kind
}
