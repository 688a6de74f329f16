package linux

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/unstall/unstall/internal/collect/probe/socketdiag"
)

// segments counts what the TCP sockets of processes sent and received, because the kernel has no such count for a process. Sockets come
// and go, so it adds up their growth. A socket first seen after the first look is new, so all of its segments count.
type segments struct {
	root   string
	spaces map[string]*netSpace // network namespaces, by the text of their links
	known  map[int]*held        // by PID
	room   []byte
}

// netSpace is the sockets of a network namespace.
type netSpace struct {
	diag  *socketdiag.Namespace // nil: this user may not enter it
	table map[uint32]int64
	read  bool // in this round
}

// held are the sockets of a process.
type held struct {
	sum  int64
	last map[uint32]int64 // by inode
}

// Bounds; beyond them nothing is counted.
const (
	mostListed = 4096 // files of a process
	mostTCP    = 1 << 16
	mostSpaces = 16
)

func newSegments(root string) *segments {
	return &segments{root: root, spaces: make(map[string]*netSpace), known: make(map[int]*held), room: make([]byte, 32<<10)}
}

// startRound makes tables be read anew.
func (s *segments) startRound() {
	for _, n := range s.spaces {
		n.read = false
	}
}

func (s *segments) close() {
	for _, n := range s.spaces {
		if n.diag != nil {
			n.diag.Close()
		}
	}
	clear(s.spaces)
}

// countSegments returns how many segments the sockets of a process sent and received since it was
// first asked for, false if that is unknown.
func (s *segments) countSegments(pid int) (int64, bool) {
	dir := fmt.Sprintf("%s/%d", s.root, pid)
	n := s.namespaceOf(dir)
	if n == nil {
		return 0, false
	}
	inodes, ok := socketsOf(dir + "/fd")
	if !ok || len(inodes) > 0 && !s.readSockets(n) {
		return 0, false
	}
	h := s.known[pid]
	begun := h != nil
	if !begun {
		h = &held{}
		s.known[pid] = h
	}
	now := make(map[uint32]int64, len(inodes))
	for _, inode := range inodes {
		count, ok := n.table[inode]
		if !ok {
			continue
		}
		now[inode] = count
		if was, ok := h.last[inode]; ok || begun {
			h.sum += max(0, count-was)
		}
	}
	h.last = now
	return h.sum, true
}

// namespaceOf returns the namespace of a process, nil if this user may not see its sockets.
func (s *segments) namespaceOf(dir string) *netSpace {
	link, err := os.Readlink(dir + "/ns/net")
	if err != nil {
		return nil
	}
	n := s.spaces[link]
	if n == nil && len(s.spaces) < mostSpaces {
		n = &netSpace{}
		if n.diag, err = socketdiag.Open(dir); err != nil {
			n.diag = nil
		} else {
			n.diag.Counts = true
		}
		s.spaces[link] = n
	}
	if n == nil || n.diag == nil {
		return nil
	}
	return n
}

// readSockets reads the sockets of a namespace, once in a round.
func (s *segments) readSockets(n *netSpace) bool {
	if n.read {
		return n.table != nil
	}
	n.read, n.table = true, make(map[uint32]int64)
	for _, family := range []byte{syscall.AF_INET, syscall.AF_INET6} {
		if err := n.diag.TCP(family, socketdiag.Connected, mostTCP, s.room, func(x socketdiag.Inet) {
			if x.Segments >= 0 && x.Inode != 0 {
				n.table[x.Inode] = x.Segments
			}
		}); err != nil {
			n.table = nil
			return false
		}
	}
	return true
}

// socketsOf returns the inodes of the sockets among a process's files; false if this user may not see them, or there are more than are
// listed.
func socketsOf(dir string) (all []uint32, ok bool) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	defer d.Close()
	names, err := d.Readdirnames(mostListed + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false
	}
	for _, n := range names {
		to, err := os.Readlink(dir + "/" + n)
		if err != nil {
			continue
		}
		if digits, is := strings.CutPrefix(to, "socket:["); is {
			if inode, err := strconv.ParseUint(strings.TrimSuffix(digits, "]"), 10, 32); err == nil {
				all = append(all, uint32(inode))
			}
		}
	}
	return all, len(names) <= mostListed
}
