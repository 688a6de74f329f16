package goroutine

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// Started is a goroutine that another has started.
type Started struct {
	Address uint64 // of its struct g, which the runtime uses again
	ID      uint64 // the number that Go gave it, and gives no other
	Origin  uint64 // the address of the goroutine that was asked about: it started this one, or one that did
}

// Offsets in the struct g from the state on (runtime/runtime2.go).
const (
	idAfterState     = 8
	reasonAfterState = 32
)

// Bounds of one search.
const (
	mostSearched = 1 << 13 // goroutines, ended ones included: of more, none is found
	mostLevels   = 4       // of goroutines that start goroutines
	readAtOnce   = 512     // of the 1,024 parts that one call may read (IOV_MAX)
)

// statusDead is the state of a goroutine that has ended.
const statusDead = 6

// waitsForNetwork is the reason of a wait for the network (runtime/runtime2.go: waitReasonIOWait).
const waitsForNetwork = 2

// Starts finds which goroutines of a process others have started. It is not safe for concurrent use.
type Starts struct {
	*table
	list   []byte // addresses
	spans  []byte // of each goroutine from its state on to the one that started it
	size   int    // of a span
	remote []unix.RemoteIovec
	origin map[uint64]uint64 // by number: the address asked about
	found  []Started
}

// OpenStarts returns what finds them; nil where the release does not keep who started a goroutine (before go1.21), or where the executable does not
// tell where the list of goroutines is.
func OpenStarts(pid int, release string) *Starts {
	l := layoutOf(release)
	if l.parent == 0 || !registersKnown {
		return nil
	}
	t, err := openTable(pid, release)
	if err != nil {
		return nil
	}
	return &Starts{table: t, size: l.parent + 8 - l.state, origin: make(map[uint64]uint64)}
}

// Of returns the goroutines that were started by any of some, given by address, or by those that these have started. Those that wait for the network are not
// asked about: they wait for no other goroutine. The slice is valid until the next call.
func (s *Starts) Of(goroutines []uint64) []Started {
	s.found = s.found[:0]
	n, first, err := s.readList()
	if err != nil || n == 0 || n > mostSearched {
		return nil
	}
	s.list, s.spans = slices.Grow(s.list[:0], 8*int(n))[:8*n], slices.Grow(s.spans[:0], s.size*int(n))[:s.size*int(n)]
	if !s.readMemory(first, s.list) || !s.readSpans(int(n)) {
		return nil
	}
	clear(s.origin)
	asked := make(map[uint64]bool, len(goroutines))
	for _, g := range goroutines {
		asked[g] = true
	}
	for i := range int(n) {
		if g := s.addressAt(i); asked[g] && s.spanAt(i)[reasonAfterState] != waitsForNetwork {
			s.origin[s.idAt(i)] = g
		}
	}
	for range mostLevels {
		before := len(s.found)
		for i := range int(n) {
			status := binary.NativeEndian.Uint32(s.spanAt(i)) &^ scanned
			origin, of := s.origin[binary.NativeEndian.Uint64(s.spanAt(i)[s.size-8:])]
			if _, known := s.origin[s.idAt(i)]; of && !known && status != 0 && status != statusDead {
				s.origin[s.idAt(i)] = origin
				s.found = append(s.found, Started{Address: s.addressAt(i), ID: s.idAt(i), Origin: origin})
			}
		}
		if len(s.found) == before {
			break
		}
	}
	return s.found
}

func (s *Starts) addressAt(i int) uint64 { return binary.NativeEndian.Uint64(s.list[8*i:]) }
func (s *Starts) spanAt(i int) []byte    { return s.spans[s.size*i : s.size*(i+1)] }
func (s *Starts) idAt(i int) uint64      { return binary.NativeEndian.Uint64(s.spanAt(i)[idAfterState:]) }

// readSpans reads the spans of the first n goroutines of the list.
func (s *Starts) readSpans(n int) bool {
	for from := 0; from < n; from += readAtOnce {
		until := min(n, from+readAtOnce)
		s.remote = s.remote[:0]
		for i := from; i < until; i++ {
			s.remote = append(s.remote, unix.RemoteIovec{Base: uintptr(s.addressAt(i)) + uintptr(s.l.state), Len: s.size})
		}
		to := s.spans[s.size*from : s.size*until]
		local := []unix.Iovec{{Base: &to[0]}}
		local[0].SetLen(len(to))
		if got, err := unix.ProcessVMReadv(s.pid, local, s.remote, 0); err != nil || got != len(to) {
			return false
		}
	}
	return true
}
