package goroutine

import (
	"debug/buildinfo"
	"encoding/binary"
	"fmt"
	"go/version"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
)

// State is the state of a goroutine in the scheduler.
type State byte

// States, by the letters that recordings have for them.
const (
	Unknown State = 0
	Running State = 'r'
	Ready   State = 'q' // it waits for a processor
	Waiting State = 'w' // it is parked
	Calling State = 's' // it is in a system call
)

// Offsets in the struct g that all versions share (runtime/runtime2.go).
const (
	atStackLow  = 0
	atStackHigh = 8
	atSP        = 56 // of sched, a gobuf
	atPC        = 64
	atSelf      = 72
)

// layout are the offsets that depend on the version: gobuf had a field ret before 1.25, g has syscallbp since 1.23, parentGoid since 1.21 and
// the field secret since 1.26.
type layout struct {
	bp, state int
	syscallBP int // 0: what the state of a system call keeps is not enough to follow its stack
	size      int
	parent    int // 0: the runtime does not keep which goroutine started one
}

func layoutOf(release string) layout {
	switch {
	case version.Compare(release, "go1.26") >= 0:
		return layout{bp: 96, syscallBP: 120, state: 144, size: 160, parent: 280}
	case version.Compare(release, "go1.25") >= 0:
		return layout{bp: 96, syscallBP: 120, state: 144, size: 160, parent: 272}
	case version.Compare(release, "go1.23") >= 0:
		return layout{bp: 104, syscallBP: 128, state: 152, size: 168, parent: 280}
	case version.Compare(release, "go1.21") >= 0:
		return layout{bp: 104, state: 144, size: 160, parent: 272}
	}
	return layout{bp: 104, state: 144, size: 160}
}

// firstRelease is the first that keeps frame pointers and the running goroutine's address as is assumed here.
const firstRelease = "go1.17"

// IsGo says whether the executable of a process is a Go program whose goroutines can be read, and which release built it.
func IsGo(pid int) (release string, ok bool) {
	info, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return "", false
	}
	release, _, _ = strings.Cut(info.GoVersion, " ")
	return release, version.Compare(release, firstRelease) >= 0
}

// FunctionsOf names the functions of a stack down to the one that its goroutine was started with, or to the first without a name. Addresses are
// innermost first; all but the first are those after a call, which may be the last instruction of their function.
func FunctionsOf(symbols *symbol.Process, frames []uint64) (functions []string) {
	for i, address := range frames {
		if i > 0 {
			address--
		}
		function, _ := symbols.Name(address)
		if function == "" || strings.HasPrefix(function, "runtime.goexit") {
			break
		}
		functions = append(functions, function)
	}
	return functions
}

// Bounds of what is read of one goroutine.
const (
	mostStack  = 16 << 10 // bytes from the innermost frame on
	mostFrames = 64
)

// Reader reads goroutines of one process. It is not safe for concurrent use.
type Reader struct {
	pid    int
	l      layout
	header [168]byte
	again  [168]byte
	stack  [mostStack]byte
	pcs    []uint64
}

// NewReader is for a process that a release of Go built.
func NewReader(pid int, release string) *Reader { return &Reader{pid: pid, l: layoutOf(release)} }

// Look returns what the goroutine at an address does, and where: addresses in its functions, innermost first, of which all but the first
// are those after a call. A goroutine that runs has none, and one whose stack cannot be followed only those up to there. The slice is valid until
// the next look.
func (r *Reader) Look(g uint64) (State, []uint64) {
	for range 2 {
		state, stable := r.lookOnce(g)
		if stable {
			return state, r.pcs
		}
	}
	return Unknown, nil
}

// lookOnce reads a goroutine once; it is not stable if it went on meanwhile.
func (r *Reader) lookOnce(g uint64) (state State, stable bool) {
	r.pcs = r.pcs[:0]
	header := r.header[:r.l.size]
	if !r.readMemory(g, header) {
		return Unknown, true
	}
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(header[at:]) }
	state = stateOf(binary.NativeEndian.Uint32(header[r.l.state:]))
	low, high, sp := word(atStackLow), word(atStackHigh), word(atSP)
	if state == Unknown || low >= high || word(atSelf) != g {
		return Unknown, true
	}
	if state == Running || sp < low || sp >= high {
		return state, true
	}
	n := min(high-sp, mostStack)
	if !r.readMemory(sp, r.stack[:n]) {
		return state, true
	}
	r.pcs = append(r.pcs, word(atPC))
	bp := word(r.l.bp)
	if state == Calling {
		bp = 0
		if r.l.syscallBP > 0 {
			bp = word(r.l.syscallBP)
		}
	}
	for len(r.pcs) < mostFrames && bp >= sp && bp+16 <= sp+n && bp%8 == 0 {
		frame := r.stack[bp-sp:]
		pc, caller := binary.NativeEndian.Uint64(frame[8:]), binary.NativeEndian.Uint64(frame)
		if pc == 0 {
			break
		}
		r.pcs = append(r.pcs, pc)
		if caller <= bp {
			break
		}
		bp = caller
	}
	again := r.again[:r.l.size]
	return state, r.readMemory(g, again) && string(again) == string(header)
}

// readMemory fills a buffer from an address of the process.
func (r *Reader) readMemory(at uint64, to []byte) bool {
	local := []unix.Iovec{{Base: &to[0]}}
	local[0].SetLen(len(to))
	n, err := unix.ProcessVMReadv(r.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(to)}}, 0)
	return err == nil && n == len(to)
}

// States of a goroutine in the struct g (runtime/runtime2.go), and the mark of one whose stack is scanned.
const (
	statusRunnable  = 1
	statusRunning   = 2
	statusSyscall   = 3
	statusWaiting   = 4
	statusCopying   = 8
	statusPreempted = 9
	scanned         = 0x1000
)

func stateOf(status uint32) State {
	switch status &^ scanned {
	case statusRunnable, statusPreempted:
		return Ready
	case statusRunning, statusCopying:
		return Running
	case statusSyscall:
		return Calling
	case statusWaiting:
		return Waiting
	}
	return Unknown
}
