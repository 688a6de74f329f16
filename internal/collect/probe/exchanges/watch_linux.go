package exchanges

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/goroutine"
	"github.com/unstall/unstall/internal/collect/probe/socketdiag"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// Intervals of reading what the programs report, and of finding the processes and ports to watch.
const (
	drainEach   = 100 * time.Millisecond
	refreshEach = time.Second
)

// mostTransfers is the number of transfers a second above which every other connection is left out, again and again if need be. A transfer
// costs the process some 600 ns (BenchmarkTransfers on a quiet host: 12.0 µs of CPU time for an exchange of two without the programs,
// 13.3 µs with them, medians), so these cost 1 % of a CPU.
const mostTransfers = 16_000

var errOld = errors.New("this kernel has no tracepoints for transfers of sockets")

// watching has the programs and the state of what they report.
type watching struct {
	pid      int
	keeps    *keeps
	programs []*tracepoint.Program
	reader   *ringbuf.Reader
	diag     *socketdiag.Namespace
	room     []byte
	buf      []byte

	sites     *sites // nil unless it is a Go program
	looks     *looks // likewise
	offset    int64  // of the clock of the kernel's programs to the epoch, ns
	clients   numbers[connection]
	routines  numbers[uint64] // goroutines, by their addresses
	multi     multiplexed
	lookups   *lookups
	framed    bool            // a connection that was open before has frames
	named     map[uint32]bool // threads whose names are written, or that had ended
	began     int64
	processes map[int]bool
	listening map[uint16]bool
	inodes    map[uint32]listener // of sockets that listen in the namespace
	names     map[string]bool     // of UNIX sockets that the process listens with
	ends      map[uint64]end      // of UNIX connections, by cookie
	ended     map[end]bool        // whose processes are written
	events    uint64
	lost      uint64
	mask      uint32
}

// listener is where a socket listens: a port, or the name of a UNIX socket.
type listener struct {
	port uint16
	name string
}

// startWatching loads the programs for a process and its children and switches them on.
func startWatching(pid int) (w *watching, err error) {
	if err := tracepoint.Try(); err != nil {
		return nil, err
	}
	t, err := tracepoint.ReadTypes(neededTypes())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tracepoint.ErrNoTypes, err)
	}
	defer t.Close()
	if err := errors.Join(t.RequireTracepoint(sending), t.RequireTracepoint(receiving), t.RequireTracepoint(arriving), t.RequireTracepoint(ending)); err != nil {
		return nil, errOld
	}
	release, inGo := goroutine.IsGo(pid)
	l, err := readLayout(t, inGo)
	if err != nil {
		return nil, err
	}
	w = &watching{pid: pid, room: make([]byte, 32<<10), processes: make(map[int]bool), listening: make(map[uint16]bool), named: make(map[uint32]bool), ended: make(map[end]bool), lookups: newLookups()}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.keeps, err = newKeeps(); err != nil {
		return w, err
	}
	if inGo {
		w.sites, w.looks = newSites(pid, w.keeps.stacks), newLooks(pid, release)
	}
	if w.diag, err = socketdiag.Open(fmt.Sprintf("/proc/%d", pid)); err != nil {
		return w, err
	}
	if w.reader, err = ringbuf.NewReader(w.keeps.ring); err != nil {
		return w, err
	}
	if err = w.refreshWatched(); err != nil {
		return w, err
	}
	w.began, w.offset = time.Now().UnixNano(), tracepoint.MonotonicOffset()
	// What is sent must be seen before what is read, else a request that is being answered would wait for the next one. Arrivals come last: one
	// whose reading is missed would be taken for that of the connection's next request.
	for _, at := range []string{ending, sending, receiving, arriving} {
		code := w.keeps.buildSentProgram
		switch at {
		case receiving:
			code = w.keeps.buildReceivedProgram
		case arriving:
			code = w.keeps.buildArrivedProgram
		case ending:
			code = w.keeps.buildEndedProgram
		}
		p, err := tracepoint.Load("unstall_"+at[:7], at, t, code(l))
		if err != nil {
			return w, err
		}
		w.programs = append(w.programs, p)
		if err := p.On(); err != nil {
			return w, err
		}
	}
	return w, nil
}

func (w *watching) close() {
	for _, p := range w.programs {
		p.Close()
	}
	if w.reader != nil {
		_ = w.reader.Close()
	}
	if w.diag != nil {
		w.diag.Close()
	}
	if w.keeps != nil {
		w.keeps.close()
	}
}

// run writes exchanges until the context or the process ends.
func (w *watching) run(ctx context.Context, out io.Writer) error {
	w.buf = fmt.Appendf(w.buf, "# exchanges of pid %d\nfrom %d\n", w.pid, w.began)
	w.writeThreadName(uint32(w.pid)) // threads that have no name of their own are called so
	for next := time.Now().Add(refreshEach); ; {
		ended := !w.waitAndLook(ctx) || !probe.Alive(w.pid)
		if err := w.drainRing(); err != nil {
			return err
		}
		if now := time.Now(); now.After(next) {
			if err := w.refreshWatched(); err != nil {
				return err
			}
			if err := w.sweepUNIX(tracepoint.MonotonicOffset()); err != nil {
				return err
			}
			w.giveUpLookups(false, tracepoint.MonotonicOffset())
			w.tuneSampling(now.Sub(next) + refreshEach)
			next = now.Add(refreshEach)
		}
		if ended {
			if err := w.writeUnfinished(); err != nil {
				return err
			}
		}
		w.countFrames()
		w.buf = fmt.Appendf(w.buf, "until %d\n", time.Now().UnixNano())
		if _, err := out.Write(w.buf); err != nil || ended {
			return err
		}
		w.buf = w.buf[:0]
	}
}

// refreshWatched tells the programs what to watch: the process and its descendants, and the ports
// and names they listen at.
func (w *watching) refreshWatched() error {
	processes := map[int]bool{w.pid: true}
	addDescendants(w.pid, processes)
	for pid := range processes {
		if !w.processes[pid] {
			if err := w.keeps.processes.Put(uint32(pid), uint32(1)); err != nil && len(w.processes) == 0 {
				return err
			}
		}
	}
	for pid := range w.processes {
		if !processes[pid] {
			_ = w.keeps.processes.Delete(uint32(pid))
		}
	}
	grown := len(processes) != len(w.processes)
	w.processes = processes

	inodes := make(map[uint32]listener)
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		err := w.diag.TCP(family, socketdiag.Listens, mostConnections, w.room, func(x socketdiag.Inet) {
			if x.Inode != 0 {
				inodes[x.Inode] = listener{port: x.Port}
			}
		})
		if err != nil {
			return err
		}
	}
	if err := w.listenUNIX(inodes); err != nil {
		return err
	}
	same := !grown && len(inodes) == len(w.inodes)
	for i := range inodes {
		if _, known := w.inodes[i]; !known {
			same = false
		}
	}
	if same {
		return nil
	}
	w.inodes = inodes
	listening, names := make(map[uint16]bool), make(map[string]bool)
	for pid := range processes {
		for _, inode := range socketsOf(pid) {
			switch at, ok := inodes[inode]; {
			case ok && at.name != "":
				names[at.name] = true
			case ok:
				listening[at.port] = true
			}
		}
	}
	if len(listening)+len(names) == 0 && len(w.listening)+len(w.names) > 0 {
		return nil // it closes its listening sockets and still answers on open connections
	}
	w.putNames(names)
	table := make([]byte, ports)
	for port := range listening {
		table[port] = 1
	}
	w.listening = listening
	return w.keeps.ports.Put(uint32(0), table)
}

// addDescendants adds the children of a process, and theirs.
func addDescendants(pid int, to map[int]bool) {
	for _, child := range probe.Children(pid) {
		if !to[child] && len(to) < mostProcesses {
			to[child] = true
			addDescendants(child, to)
		}
	}
}

// socketsOf are the inodes of the sockets among a process's files.
func socketsOf(pid int) (all []uint32) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		to, err := os.Readlink(dir + f.Name())
		if digits, is := strings.CutPrefix(to, "socket:["); err == nil && is {
			if inode, err := strconv.ParseUint(strings.TrimSuffix(digits, "]"), 10, 32); err == nil {
				all = append(all, uint32(inode))
			}
		}
	}
	return all
}

// tuneSampling leaves connections out if there are too many transfers, and stacks of calls if there are too many calls.
func (w *watching) tuneSampling(passed time.Duration) {
	var v [tuneSize]byte
	if w.keeps.tuning.Lookup(uint32(0), &v) != nil {
		return
	}
	events, lost := binary.NativeEndian.Uint64(v[tuneEvents:]), binary.NativeEndian.Uint64(v[tuneLost:])
	if lost > w.lost {
		w.buf = fmt.Appendf(w.buf, "lost %d\n", lost-w.lost)
	}
	rate := float64(events-w.events) / passed.Seconds() // of those left out, too
	w.events, w.lost = events, lost
	sparser := w.mask < 1<<10-1 && rate > mostTransfers*float64(w.mask+1)
	if sparser {
		w.mask = maskFor(rate / mostTransfers)
		w.buf = fmt.Appendf(w.buf, "of %d\n", w.mask+1)
	}
	stacks := maskFor(rate / float64(w.mask+1) / 2 / mostSites) // a call is two transfers
	if !sparser && stacks == binary.NativeEndian.Uint32(v[tuneStacks:]) {
		return
	}
	binary.NativeEndian.PutUint32(v[tuneMask:], w.mask)
	binary.NativeEndian.PutUint32(v[tuneStacks:], stacks)
	_ = w.keeps.tuning.Put(uint32(0), v[:])
}

// maskFor returns the bits of which none may be set for one of so many to count, or fewer.
func maskFor(part float64) uint32 {
	if part <= 1 {
		return 0
	}
	return 1<<bits.Len64(uint64(part)) - 1
}

// drainRing writes what the programs told since the last time.
func (w *watching) drainRing() error {
	offset := tracepoint.MonotonicOffset()
	w.offset = offset
	var rec ringbuf.Record
	for w.reader.SetDeadline(time.Unix(1, 0)); ; {
		err := w.reader.ReadInto(&rec)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		w.writeRecord(rec.RawSample, offset)
	}
}

// writeRecord writes what one record of the ring tells: a frame, a datagram, or an exchange and
// before it the names of threads that are new.
func (w *watching) writeRecord(b []byte, offset int64) {
	if len(b) >= frameBlock && binary.NativeEndian.Uint32(b[atRole:]) == roleFrame {
		w.readFrame(b, offset)
		return
	}
	if len(b) >= datagramText && binary.NativeEndian.Uint32(b[atRole:]) == roleDatagram {
		w.readDatagram(b, offset)
		return
	}
	var e end
	if len(b) >= serverSize {
		for _, at := range []int{atThread, atOther} {
			w.writeThreadName(binary.NativeEndian.Uint32(b[at:]))
		}
		if binary.NativeEndian.Uint16(b[atFamily:]) == unix.AF_UNIX {
			e = w.endsOf(binary.NativeEndian.Uint64(b[atSocket:]))
			w.nameEnd(e)
		}
	}
	w.followSuspect(b)
	site := 0
	if len(b) >= stateSize && binary.NativeEndian.Uint32(b[atRole:]) == roleClient {
		w.buf, site = w.sites.appendSite(w.buf, binary.NativeEndian.Uint32(b[atThread:]), int32(binary.NativeEndian.Uint32(b[atStack:])))
	}
	w.buf = appendExchange(w.buf, b, offset, &w.clients, &w.routines, e.path, site)
}

// mostNamed threads have a name.
const mostNamed = 1 << 12

// writeThreadName writes the name of a thread, and its process where that is another than the one that is recorded, once.
func (w *watching) writeThreadName(thread uint32) {
	if thread == 0 || w.named[thread] || len(w.named) >= mostNamed {
		return
	}
	w.named[thread] = true
	if comm := commOf(int(thread)); len(comm) > 0 {
		w.buf = fmt.Appendf(w.buf, "t %d %s\n", thread, comm)
	}
	if process := probe.ProcessOf(int(thread)); process != 0 && process != w.pid {
		w.buf = fmt.Appendf(w.buf, "pid %d %d\n", thread, process)
	}
}

// writeUnfinished writes the exchanges that are under way, and those that were answered last on
// their connections.
func (w *watching) writeUnfinished() error {
	for _, p := range w.programs {
		p.Off()
	}
	if err := w.drainRing(); err != nil {
		return err
	}
	offset := tracepoint.MonotonicOffset()
	if err := w.sweepUNIX(offset); err != nil {
		return err
	}
	w.buf = append(w.buf, "open\n"...)
	var key uint64
	var v [stateSize]byte
	for all := w.keeps.states.Iterate(); all.Next(&key, &v); {
		if binary.NativeEndian.Uint32(v[atPhase:]) != phaseIdle {
			w.writeRecord(exchangeOf(v[:]), offset)
		}
	}
	w.openFrames(offset)
	w.giveUpLookups(true, offset)
	return nil
}
