package linux

import (
	"bufio"
	"bytes"
	"net/netip"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/socketdiag"
)

// entrance records where connections wait before a process sees them: the accept queues of the sockets that it and its workers listen
// with, and connections to
// those sockets with unread bytes.
type entrance struct {
	process *process
	diag    *socketdiag.Namespace // nil: the tables of /proc/PID/net are read, which have no limits
	own     map[uint32]bool       // whether the process holds each listening socket of the namespace, by inode
	sockets []socketdiag.Inet     // the listening sockets of the latest look
	local   []socketdiag.Unix     // the same for UNIX streams
	room    []byte
}

// mostPorts bounds the ports whose connections are searched, because for each the kernel goes through all connections.
const mostPorts = 8

func newEntrance(p *process) *entrance {
	e := &entrance{process: p, own: make(map[uint32]bool), room: make([]byte, 32<<10)}
	if d, err := socketdiag.Open(p.dir); err == nil {
		e.diag = d
	}
	return e
}

func (e *entrance) close() {
	if e.diag != nil {
		e.diag.Close()
	}
}

// writeQueues writes the length of each accept queue, and its limit.
func (e *entrance) writeQueues(a *archive) {
	e.sockets, e.local = e.sockets[:0], e.local[:0]
	if e.diag == nil || e.eachSocket(socketdiag.Listens, 0, e.addListening) != nil {
		return
	}
	_ = e.diag.UNIXQueues(socketdiag.Listens, mostTCP, e.room, func(x socketdiag.Unix) {
		if x.Stream && x.Name != "" {
			e.local = append(e.local, x)
		}
	})
	e.findOwned()
	var lines []string
	for _, x := range e.sockets {
		if e.own[x.Inode] {
			lines = append(lines, e.formatAddress(x)+" queue "+formatDecimal(x.Queue)+" backlog "+formatDecimal(x.Limit))
		}
	}
	for _, x := range e.local {
		if e.own[x.Inode] {
			lines = append(lines, socketdiag.Address(x.Name)+" queue "+formatDecimal(x.Queue)+" backlog "+formatDecimal(x.Limit))
		}
	}
	if len(lines) > 0 {
		a.appendSection(e.process.dir+"/fd/listen", lines)
	}
}

// writeListeners writes where other processes listen, by the sockets of the latest look.
func (e *entrance) writeListeners(a *archive, pid int) {
	dir := "/proc/" + strconv.Itoa(pid)
	held, _ := socketsOf(dir + "/fd")
	var lines []string
	for _, x := range e.sockets {
		if slices.Contains(held, x.Inode) {
			lines = append(lines, e.formatAddress(x)+" queue "+formatDecimal(x.Queue))
		}
	}
	for _, x := range e.local {
		if slices.Contains(held, x.Inode) {
			lines = append(lines, socketdiag.Address(x.Name)+" queue "+formatDecimal(x.Queue))
		}
	}
	if len(lines) > 0 {
		a.appendSection(dir+"/fd/listen", lines)
	}
}

func (e *entrance) addListening(x socketdiag.Inet) { e.sockets = append(e.sockets, x) }

// eachSocket yields the sockets of both families in some states, with one local port, 0 for all.
func (e *entrance) eachSocket(states uint32, port uint16, yield func(socketdiag.Inet)) error {
	e.diag.Port = port
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		if err := e.diag.TCP(family, states, mostTCP, e.room, yield); err != nil {
			return err
		}
	}
	return nil
}

// findOwned finds which listening sockets the process and its workers hold. It searches their files only if there is a new socket.
func (e *entrance) findOwned() {
	inodes := make([]uint32, 0, len(e.sockets)+len(e.local))
	for _, x := range e.sockets {
		inodes = append(inodes, x.Inode)
	}
	for _, x := range e.local {
		inodes = append(inodes, x.Inode)
	}
	if !slices.ContainsFunc(inodes, func(inode uint32) bool { _, known := e.own[inode]; return !known }) {
		return
	}
	clear(e.own)
	for _, inode := range inodes {
		e.own[inode] = false
	}
	hold := func(dir string) {
		inodes, _ := socketsOf(dir + "/fd") // listening sockets are among its first files
		for _, inode := range inodes {
			if _, listens := e.own[inode]; listens {
				e.own[inode] = true
			}
		}
	}
	hold(e.process.dir)
	_ = newWorkers(e.process).eachWorker(func(pid int) { hold("/proc/" + strconv.Itoa(pid)) })
}

// waiting counts what waits at a listening socket.
type waiting struct {
	unread, unaccepted int
}

// writeUnread writes how many connections to each address have unread bytes, and how many are not accepted yet.
func (e *entrance) writeUnread(a *archive) {
	if e.diag == nil {
		e.writeFromTables(a)
		return
	}
	at := make(map[netip.AddrPort]*waiting)
	var ports []uint16
	for _, x := range e.sockets {
		address := netip.AddrPortFrom(x.At, x.Port)
		if !e.own[x.Inode] {
			if _, ours := at[address]; !ours {
				at[address] = nil // another process's address: its connections do not count for a wider address
			}
			continue
		}
		at[address] = &waiting{}
		if !slices.Contains(ports, x.Port) && len(ports) < mostPorts {
			ports = append(ports, x.Port)
		}
	}
	for _, port := range ports {
		if e.eachSocket(socketdiag.IsOpen, port, func(x socketdiag.Inet) { countConnection(at, x) }) != nil {
			return
		}
	}
	lines := e.unreadLines(at, ports)
	for address, w := range e.unreadUNIX() {
		lines = append(lines, w.formatLine(address))
	}
	e.writeUnreadLines(a, lines)
}

// unreadUNIX counts what waits at the UNIX sockets that the process listens with. Accepted connections have the socket's name; for
// others only queues are known.
func (e *entrance) unreadUNIX() map[string]*waiting {
	at := make(map[string]*waiting)
	for _, x := range e.local {
		if e.own[x.Inode] {
			at[x.Name] = &waiting{unaccepted: int(x.Queue)}
		}
	}
	if len(at) == 0 {
		return nil
	}
	err := e.diag.UNIXQueues(1<<socketdiag.Established, mostTCP, e.room, func(x socketdiag.Unix) {
		if w := at[x.Name]; w != nil && x.Queue > 0 {
			w.unread++
		}
	})
	if err != nil {
		return nil
	}
	out := make(map[string]*waiting, len(at))
	for name, w := range at {
		out[socketdiag.Address(name)] = w
	}
	return out
}

// countConnection counts a connection for the socket of its own address, else for the one of all addresses.
func countConnection(at map[netip.AddrPort]*waiting, x socketdiag.Inet) {
	w, known := at[netip.AddrPortFrom(x.At, x.Port)]
	if !known {
		all := netip.IPv4Unspecified()
		if x.At.Is6() {
			all = netip.IPv6Unspecified()
		}
		w = at[netip.AddrPortFrom(all, x.Port)]
	}
	switch {
	case w == nil:
	case x.Inode == 0:
		w.unaccepted++
	case x.Queue > 1 || x.Queue == 1 && x.State == socketdiag.Established: // the end of a peer's data counts as a byte
		w.unread++
	}
}

func (e *entrance) unreadLines(at map[netip.AddrPort]*waiting, ports []uint16) (lines []string) {
	for address, w := range at {
		if w != nil && slices.Contains(ports, address.Port()) {
			lines = append(lines, w.formatLine(address.String()))
		}
	}
	return lines
}

func (w *waiting) formatLine(address string) string {
	return address + " unread " + strconv.Itoa(w.unread) + " unaccepted " + strconv.Itoa(w.unaccepted)
}

func (e *entrance) writeUnreadLines(a *archive, lines []string) {
	if len(lines) > 0 {
		slices.Sort(lines)
		a.appendSection(e.process.dir+"/fd/unread", lines)
	}
}

// writeFromTables reads queues and connections from the tables of TCP sockets, if sock_diag does not give them.
func (e *entrance) writeFromTables(a *archive) {
	e.sockets = e.sockets[:0]
	at := make(map[netip.AddrPort]*waiting)
	var connected []socketdiag.Inet
	for _, table := range []string{"tcp", "tcp6"} {
		f, err := os.Open(e.process.dir + "/net/" + table)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			switch x, ok := tableSocket(s.Bytes()); {
			case ok && 1<<x.State == socketdiag.Listens:
				e.sockets = append(e.sockets, x)
			case ok && 1<<x.State&socketdiag.IsOpen != 0 && len(connected) < mostSockets:
				connected = append(connected, x)
			}
		}
		_ = f.Close()
	}
	e.findOwned()
	var lines []string
	var ports []uint16
	for _, x := range e.sockets {
		if e.own[x.Inode] {
			lines = append(lines, e.formatAddress(x)+" queue "+formatDecimal(x.Queue))
			at[netip.AddrPortFrom(x.At, x.Port)] = &waiting{}
			ports = append(ports, x.Port)
		}
	}
	if len(lines) == 0 {
		return
	}
	for _, x := range connected {
		countConnection(at, x)
	}
	a.appendSection(e.process.dir+"/fd/listen", lines)
	e.writeUnreadLines(a, e.unreadLines(at, ports))
}

// tableSocket reads a line of /proc/PID/net/tcp or tcp6.
func tableSocket(line []byte) (x socketdiag.Inet, ok bool) {
	var f [10][]byte
	if splitTenFields(line, &f) < len(f) {
		return x, false
	}
	at, err := discover.ParseAddr(string(f[1]))
	state, err2 := strconv.ParseUint(string(f[3]), 16, 8)
	_, received, _ := bytes.Cut(f[4], []byte(":"))
	queue, err3 := strconv.ParseUint(string(received), 16, 32)
	inode, err4 := strconv.ParseUint(string(f[9]), 10, 32)
	if err != nil || err2 != nil || err3 != nil || err4 != nil || state > 31 {
		return x, false
	}
	addr := at.Addr()
	if addr.Is4() && bytes.IndexByte(f[1], ':') == 32 { // of IPv6, mapped
		addr = netip.AddrFrom16(addr.As16())
	}
	return socketdiag.Inet{At: addr, Port: at.Port(), State: uint8(state), Queue: uint32(queue), Inode: uint32(inode), Segments: -1}, true
}

func (e *entrance) formatAddress(x socketdiag.Inet) string {
	return netip.AddrPortFrom(x.At, x.Port).String()
}

func formatDecimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// drops are the counters of /proc/net/netstat that show full queues.
var drops = []string{"SyncookiesSent", "ListenOverflows", "ListenDrops", "TCPReqQFullDoCookies", "TCPReqQFullDrop", "TCPAbortOnOverflow"}

// keepDrops keeps only the counters of drops of /proc/net/netstat, in the file's form and buffer. All other counters change with each packet.
func keepDrops(text []byte) []byte {
	names := text[:bytes.IndexByte(text, '\n')+1]
	values := text[len(names):]
	values = values[:bytes.IndexByte(values, '\n')+1]
	if !bytes.HasPrefix(names, []byte("TcpExt: ")) || bytes.Count(names, []byte(" ")) != bytes.Count(values, []byte(" ")) {
		return text[:0]
	}
	var kept [64]bool // by column
	out := keepWords(text[:0], names, func(i int, name []byte) bool {
		if i < len(kept) {
			for _, d := range drops {
				kept[i] = kept[i] || string(name) == d
			}
			kept[i] = kept[i] || i == 0
		}
		return i < len(kept) && kept[i]
	})
	return keepWords(out, values, func(i int, _ []byte) bool { return i < len(kept) && kept[i] })
}

// keepWords appends a line with only its wanted words.
func keepWords(out, line []byte, wanted func(int, []byte) bool) []byte {
	line = line[:len(line)-1]
	for i := 0; ; i++ {
		word, rest, more := bytes.Cut(line, []byte(" "))
		if wanted(i, word) {
			if i > 0 {
				out = append(out, ' ')
			}
			out = append(out, word...)
		}
		if line = rest; !more {
			return append(out, '\n')
		}
	}
}
