package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// A wait of longWait or more is reported singly. Shorter ones are added up for each thread. Each time the sum reaches a limit, the last of them is
// reported with its stack, and stands for all. Both limits grow if the process would report more than mostWaits waits a second.
const (
	shortSum  = 10 * time.Millisecond
	mostGrown = 64
	mostWaits = 500
	userEvery = 1 << 21 * time.Nanosecond // time between two stacks of the program for one thread; by chance also sooner
	spreads   = 0x2545f491                // odd: the last bits of a time multiplied by it are practically random
	userHolds = 20 * time.Millisecond     // time for which a stack is used for waits in the same call
	drainEach = 500 * time.Millisecond
)

var longWait = time.Millisecond // shorter in a test, where an fsync may be shorter

// Costs to a thread of the programs at a switch and at the wake-up before it, together, measured with indirect calls guarded against
// speculation; the share is that of one CPU they may take. If threads switch so often that they would take more, they are on for only a
// part of the time. The share is well below the intended 1 %, because the switching threads may have only a part of a CPU, and of that
// it is more.
const (
	costOfOther = 145 * time.Nanosecond
	costOfOurs  = 300 * time.Nanosecond
	switchShare = .004
	mostOff     = 10 * time.Second
)

// Sizes of what the kernel keeps.
const (
	slots     = 1 << 14 // threads; of two that share one, waits of the one that left last count
	slotShift = 7
	depth     = 64
	userKept  = 1 << 12
	ringBytes = 512 << 10
)

// waiting holds the programs at switches between threads, and their reports.
type waiting struct {
	of      *family
	maps    []*ebpf.Map
	slots   *ebpf.Map
	tuning  *ebpf.Map
	users   *ebpf.Map // stacks of the program by number
	ring    *ebpf.Map
	prog    *tracepoint.Program
	spans   *spanning
	reader  *ringbuf.Reader
	began   int64
	from    int64 // when it was last switched on, by the kernel's monotonic clock
	grown   uint64
	lost    uint64
	seen    map[int32][]uint64
	files   map[int]map[int]string // by process and descriptor
	told    map[int]string         // by descriptor: the file last written, of any process
	inodes  map[uint64]int         // numbers of mapped files
	wakes   *tracepoint.Program    // what notes when threads can run again, nil: nothing does
	unwoken error                  // why not
	fills   *tracepoint.Program    // what notes the files of pages
	without error                  // why files of page faults are not told
	offset  int64
	kernel  []uint64
}

// tryWaiting says why waits cannot be recorded, as far as that can be told without loading a
// program; nil: it can be tried.
func tryWaiting() error {
	if registers.call == "" {
		return fmt.Errorf("%w: unstall does not know the registers of %s", errors.ErrUnsupported, runtime.GOARCH)
	}
	return tracepoint.Try()
}

// openWaiting loads the program and switches it on.
func openWaiting(of *family) (w *waiting, err error) {
	if err := tryWaiting(); err != nil {
		return nil, err
	}
	t, err := tracepoint.ReadTypes(neededTypes())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tracepoint.ErrNoTypes, err)
	}
	defer t.Close()
	l, err := readLayout(t)
	if err != nil {
		return nil, err
	}
	w = &waiting{of: of, seen: make(map[int32][]uint64), files: make(map[int]map[int]string), told: make(map[int]string), inodes: make(map[uint64]int), grown: 1}
	begun := w
	defer func() {
		if err != nil {
			begun.close()
		}
	}()
	for _, m := range []struct {
		to   **ebpf.Map
		spec ebpf.MapSpec
	}{
		{&w.slots, ebpf.MapSpec{Name: "unstall_slots", Type: ebpf.Array, KeySize: 4, ValueSize: slots << slotShift, MaxEntries: 1}},
		{&w.tuning, ebpf.MapSpec{Name: "unstall_tuning", Type: ebpf.Array, KeySize: 4, ValueSize: tuneSize, MaxEntries: 1}},
		{&w.users, ebpf.MapSpec{Name: "unstall_stacks", Type: ebpf.StackTrace, KeySize: 4, ValueSize: 8 * depth, MaxEntries: userKept}},
		{&w.ring, ebpf.MapSpec{Name: "unstall_ring", Type: ebpf.RingBuf, MaxEntries: ringBytes}},
	} {
		if *m.to, err = ebpf.NewMap(&m.spec); err != nil {
			return nil, err
		}
		w.maps = append(w.maps, *m.to)
	}
	if err = w.tuneThresholds(); err != nil {
		return nil, err
	}
	if w.prog, err = tracepoint.Load("unstall_switch", switching, t, w.buildSwitchProgram(l)); err != nil {
		return nil, err
	}
	if w.reader, err = ringbuf.NewReader(w.ring); err != nil {
		return nil, err
	}
	w.unwoken = w.openWaking(t, l) // before the other is on: no wait is without
	w.began = time.Now().UnixNano()
	if err = w.prog.On(); err != nil {
		return nil, err
	}
	w.without = w.openFilling(t)
	w.spans, err = openSpans(of.lead, t, w.ring)
	return w, err
}

// openWaking switches on what notes when threads can run again.
func (w *waiting) openWaking(t *tracepoint.KernelTypes, l layout) error {
	wakes, err := tracepoint.Load("unstall_wake", waking, t, w.buildWokenProgram(l))
	if err != nil {
		return err
	}
	if err := wakes.On(); err != nil {
		wakes.Close()
		return err
	}
	w.wakes = wakes
	return nil
}

// openFilling switches on what notes of which file a page is that a thread reads.
func (w *waiting) openFilling(t *tracepoint.KernelTypes) error {
	l, err := fileOffsets(t)
	if err != nil {
		return err
	}
	if w.fills, err = tracepoint.Load("unstall_fill", filling, t, w.buildFilledProgram(l)); err != nil {
		return err
	}
	return w.fills.On()
}

func (w *waiting) close() {
	w.prog.Close()
	w.wakes.Close()
	w.fills.Close()
	if w.spans != nil {
		w.spans.close()
	}
	if w.reader != nil {
		_ = w.reader.Close()
	}
	for _, m := range w.maps {
		if m != nil {
			_ = m.Close()
		}
	}
}

// tuneThresholds tells the program from which length on a wait is told, and reads how many were
// lost.
func (w *waiting) tuneThresholds() error {
	var v [tuneSize]byte
	_ = w.tuning.Lookup(uint32(0), &v)
	w.lost = binary.NativeEndian.Uint64(v[tuneLost:])
	binary.NativeEndian.PutUint64(v[tuneLong:], w.grown*uint64(longWait))
	binary.NativeEndian.PutUint64(v[tuneShort:], w.grown*uint64(shortSum))
	binary.NativeEndian.PutUint64(v[tuneFrom:], uint64(w.from))
	return w.tuning.Put(uint32(0), v[:])
}

// run writes waits until the context ends.
func (w *waiting) run(ctx context.Context, s *stacks) error {
	s.buf = fmt.Appendf(s.buf, "# kernel stacks of pid %d, waiting, from %d ns on\nfrom %d\n", w.of.lead, longWait.Nanoseconds(), w.began)
	for round := 1; ; round++ {
		before, at := contextSwitches(), time.Now()
		ended := !probe.Wait(ctx, drainEach) || !probe.Alive(w.of.lead)
		took := time.Since(at).Seconds()
		all := contextSwitches() - before
		told, err := w.drainRing(s)
		if err != nil {
			return err
		}
		if off := offFor(float64(all)/took, float64(told)/took); off > 0 && !ended {
			w.switchOff()
			if ended = !probe.Wait(ctx, off); !ended {
				if err := w.switchOnAgain(s); err != nil {
					return err
				}
			}
		}
		if err := s.flush(); err != nil || ended {
			return err
		}
		if round%10 == 0 {
			w.of.refreshWorkers()
			s.forgetNames()
			clear(w.files)
			clear(w.told)
			// Of two stacks that share a place in its map the kernel keeps the first: now
			// and then it is the other's turn.
			for id := range w.seen {
				_ = w.users.Delete(uint32(id))
			}
			clear(w.seen)
		}
	}
}

// offFor is how long the program is to be off after each time that it was on for drainEach, by how many
// switches there are a second, and how many waits of the process end.
func offFor(all, ours float64) time.Duration {
	cost := all*costOfOther.Seconds() + ours*(costOfOurs-costOfOther).Seconds()
	if cost <= switchShare {
		return 0
	}
	return min(mostOff, time.Duration(float64(drainEach)*(cost/switchShare-1)))
}

// contextSwitches returns how often the host has switched from one thread to another
// (proc_stat(5)).
func contextSwitches() (n uint64) {
	b, _ := os.ReadFile("/proc/stat")
	_, rest, _ := strings.Cut(string(b), "\nctxt ")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ = strconv.ParseUint(line, 10, 64)
	return n
}

// switchOff switches the programs at switches and wake-ups off; they can be switched on again.
func (w *waiting) switchOff() {
	w.prog.Off()
	if w.wakes != nil {
		w.wakes.Off()
	}
}

// switchOnAgain switches the programs on once more. What they knew of threads is out of date: a
// thread that was away then may have run meanwhile.
func (w *waiting) switchOnAgain(s *stacks) error {
	now := time.Now().UnixNano()
	w.from = now - tracepoint.MonotonicOffset()
	if err := w.tuneThresholds(); err != nil {
		return err
	}
	s.buf = fmt.Appendf(s.buf, "from %d\n", now)
	if w.wakes != nil {
		if err := w.wakes.On(); err != nil {
			return err
		}
	}
	return w.prog.On()
}

// drainRing writes what was told since the last time, returns how many waits that are, and adapts
// the thresholds to their number.
func (w *waiting) drainRing(s *stacks) (waits uint64, err error) {
	w.offset = tracepoint.MonotonicOffset()
	var told uint64
	var rec ringbuf.Record
	for w.reader.SetDeadline(time.Unix(1, 0)); ; told++ {
		err := w.reader.ReadInto(&rec)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return waits, err
		}
		if len(rec.RawSample) == spanSize {
			w.spans.writeSpan(s, rec.RawSample, w.offset)
		} else {
			waits += w.writeWait(s, rec.RawSample)
		}
	}
	lost := w.lost
	most := uint64(mostWaits * drainEach / time.Second)
	switch {
	case told > most && w.grown < mostGrown:
		w.grown *= 2
	case told < most/4 && w.grown > 1:
		w.grown /= 2
	}
	if err := w.tuneThresholds(); err != nil {
		return waits, err
	}
	if w.lost > lost {
		s.buf = fmt.Appendf(s.buf, "lost %d\n", w.lost-lost)
	}
	w.spans.writeSums(s)
	s.buf = fmt.Appendf(s.buf, "until %d\n", time.Now().UnixNano())
	return waits, nil
}

// writeWait writes one wait that the program told, or many together, and returns how many.
func (w *waiting) writeWait(s *stacks, b []byte) uint64 {
	if len(b) < tellSize {
		return 0
	}
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	half := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	w.kernel = w.kernel[:0]
	for i := range min(max(0, int64(word(tellLength))), 8*depth) / 8 {
		w.kernel = append(w.kernel, word(tellStack+8*int(i)))
	}
	tid := int(half(tellThread))
	pid := w.of.processOf(tid)
	if pid == 0 {
		return 1 // of a child that is no worker
	}
	s.writeThreadName(pid, tid)
	id := s.stackNumber(w.kernel, pid, w.userStack(int32(half(tellUser))))
	count, state := half(tellCount), stateLetter(half(tellState))
	if count > 1 { // the last one is reported singly, because only its file is known
		s.buf = fmt.Appendf(s.buf, "o %d %d %d %d", tid, id, count-1, word(tellTook)-word(tellLast))
		if w.wakes != nil {
			s.buf = fmt.Appendf(s.buf, " %d", word(tellReady)-word(tellSpare))
		}
		s.buf = append(s.buf, '\n')
	}
	fd := w.descriptorOf(s, pid, int64(word(tellCall)), word(tellArg))
	if fd < 0 {
		fd = w.mappedFileNumber(s, pid, int64(word(tellCall)), word(tellInode))
	}
	s.buf = fmt.Appendf(s.buf, "w %d %d %d %c %d %d", int64(word(tellStart))+w.offset, word(tellLast), tid, state, fd, id)
	if w.wakes != nil && state != 'R' {
		s.buf = fmt.Appendf(s.buf, " %d", word(tellSpare))
	}
	s.buf = append(s.buf, '\n')
	return uint64(max(1, count))
}

// stateLetter is a state as proc(5) has it: TASK_RUNNING, TASK_INTERRUPTIBLE, others.
func stateLetter(state uint32) byte {
	switch {
	case state == 0:
		return 'R'
	case state&2 != 0: // TASK_UNINTERRUPTIBLE; with TASK_NOLOAD it is idle
		return 'D'
	}
	return 'S'
}

// userStack returns a stack of the program by its number.
func (w *waiting) userStack(id int32) []uint64 {
	if id < 0 {
		return nil
	}
	if all, ok := w.seen[id]; ok {
		return all
	}
	var v [8 * depth]byte
	var all []uint64
	if w.users.Lookup(uint32(id), &v) == nil {
		for i := 0; i < len(v); i += 8 {
			a := binary.NativeEndian.Uint64(v[i:])
			if a == 0 {
				break
			}
			all = append(all, a)
		}
	}
	w.seen[id] = all
	return all
}

// descriptorOf returns the file descriptor of a process's system call that has one, else -1. It first writes
// which file that is, if the number was last written for another one.
func (w *waiting) descriptorOf(s *stacks, pid int, call int64, argument uint64) int {
	if !registers.onFile[call] || argument > 1<<20 {
		return -1
	}
	fd := int(argument)
	path, read := w.files[pid][fd]
	if !read {
		path, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
		if kind, _, is := strings.Cut(path, ":"); is && !strings.HasPrefix(path, "/") {
			path = kind // socket:[4711]
		}
		path = string(redact.Value([]byte(probe.OneLine(path))))
		if w.files[pid] == nil {
			w.files[pid] = make(map[int]string)
		}
		w.files[pid][fd] = path
	}
	if path != "" && path != w.told[fd] {
		w.told[fd] = path
		s.buf = fmt.Appendf(s.buf, "fd %d %s\n", fd, path)
	}
	return fd
}

// lackWaiting says what of waits is not seen, and what would help.
func lackWaiting(err error, pid int) probe.Lack {
	l := probe.Lack{What: "stacks of waiting threads"}
	switch l.Why, l.Do = tracepoint.Explain(err, pid, " --kernel"); {
	case errors.Is(err, errors.ErrUnsupported) && registers.call == "":
		l.Why, l.Do = err.Error(), "an amd64 or arm64 machine"
	case errors.Is(err, unix.EINVAL), errors.Is(err, ebpf.ErrNotSupported):
		l.Do = "Linux 5.15 or later" // bpf_task_pt_regs
	}
	return l
}
