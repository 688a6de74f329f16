package discover

import (
	"cmp"
	"context"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/base/sorting"
)

// descriptorsLimit bounds how many descriptors of a process are read. Listening sockets are usually opened early and have low
// numbers.
const descriptorsLimit = 20_000

// listListeners returns the sockets a process listens on, TCP first, sorted by port; none if its descriptors may not be read.
func (h *host) listListeners(pid int) []Listener {
	net, err := os.Readlink(procPath(pid, "ns/net"))
	if err != nil {
		return nil
	}
	table, ok := h.sockets[net]
	if !ok {
		table = map[uint64]socket{}
		for _, s := range readSockets(procPath(pid, "net")) {
			table[s.inode] = s
		}
		h.sockets[net] = table
	}
	var found []Listener
	seen := map[uint64]bool{}
	_ = eachSocketInode(pid, func(inode uint64) bool {
		if s, ok := table[inode]; ok && !seen[inode] {
			seen[inode] = true
			found = append(found, s.Listener)
		}
		return len(seen) < len(table)
	})
	sorting.Short(found, func(a, b Listener) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Addr.Port(), b.Addr.Port()), a.Addr.Compare(b.Addr))
	})
	return slices.Compact(found) // SO_REUSEPORT gives duplicates
}

// readSockets reads the socket tables of a network namespace. It leaves out tables that are missing (IPv6 switched off) or not
// understood.
func readSockets(dir string) []socket {
	var sockets []socket
	for _, table := range []struct {
		name  string
		parse func(io.Reader) ([]socket, error)
	}{{"tcp", parseTCP}, {"tcp6", parseTCP}, {"unix", parseUnix}} {
		f, err := os.Open(dir + "/" + table.name)
		if err != nil {
			continue
		}
		s, _ := table.parse(f)
		sockets = append(sockets, s...)
		_ = f.Close()
	}
	return sockets
}

// eachSocketInode calls yield with the inode of each socket among a process's descriptors until yield returns false.
func eachSocketInode(pid int, yield func(inode uint64) bool) error {
	dir, err := os.Open(procPath(pid, "fd"))
	if err != nil {
		return err
	}
	defer dir.Close()
	buf := make([]byte, 64)
	for read := 0; read < descriptorsLimit; {
		names, err := dir.Readdirnames(512)
		read += len(names)
		for _, name := range names {
			n, err := unix.Readlinkat(int(dir.Fd()), name, buf)
			if err != nil {
				continue // the descriptor was closed
			}
			link, ok := strings.CutPrefix(string(buf[:n]), "socket:[")
			if !ok {
				continue
			}
			if inode, err := strconv.ParseUint(strings.TrimSuffix(link, "]"), 10, 64); err == nil && !yield(inode) {
				return nil
			}
		}
		if err != nil {
			return nil // io.EOF, or the process has ended
		}
	}
	return nil
}

// findListeningSocket finds the socket of this network namespace that listens on a port at one of the addresses.
func findListeningSocket(addrs []netip.Addr, port uint16) (socket, bool) {
	for _, s := range readSockets("/proc/self/net") {
		if !s.Addr.IsValid() || s.Addr.Port() != port {
			continue
		}
		for _, a := range addrs {
			if s.Addr.Addr().IsUnspecified() || s.Addr.Addr() == a.Unmap().WithZone("") {
				return s, true
			}
		}
	}
	return socket{}, false
}

// findHolder finds the process that holds a socket. If several hold it, as after a fork, it returns the first. It returns init only
// if no other process holds it, because init keeps the sockets of services that it starts on demand.
func findHolder(ctx context.Context, inode uint64) (int, bool) {
	ids, err := listPIDs()
	if err != nil {
		return 0, false
	}
	held := 0
	for _, id := range ids {
		if ctx.Err() != nil {
			break
		}
		found := false
		_ = eachSocketInode(id, func(n uint64) bool { // on an error the process belongs to another user
			found = n == inode
			return !found
		})
		if found {
			held = id
		}
		if held > 1 {
			break
		}
	}
	return held, held > 0
}
