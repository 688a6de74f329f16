package interpreter

import (
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
	"github.com/unstall/unstall/internal/collect/probe/perfring"
)

// jsSampleEvery is the CPU time between two samples of a thread. It is not a whole number of milliseconds, so that it does not keep step with timers.
const jsSampleEvery = 10_101_010 * time.Nanosecond

// Sizes: of the part of the stack that is copied with a sample, and of the buffer. The copy is the most that fits into one event with room to
// spare; JavaScript that calls itself deeply has more, of which the outer frames are cut.
const (
	copied  = 16 << 10
	jsPages = 256 // 60 samples, for a host that lets the recorder wait
	fewest  = 16
)

// registersAsked are the registers of a sample, in the order of the kernel's numbers (enum perf_event_x86_regs), and their numbers in DWARF.
var registersAsked = []struct{ kernel, dwarf int }{
	{0, 0}, {1, 3}, {2, 2}, {3, 1}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, symbol.Kept},
	{16, 8}, {17, 9}, {18, 10}, {19, 11}, {20, 12}, {21, 13}, {22, 14}, {23, 15},
}

func samplingAttributes(own bool) *unix.PerfEventAttr {
	a := &unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: uint64(jsSampleEvery),
		Sample_type: unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER,
		Bits:        unix.PerfBitExcludeIdle | unix.PerfBitExcludeHv | unix.PerfBitUseClockID, Clockid: unix.CLOCK_MONOTONIC,
		Wakeup: 1, Sample_stack_user: copied}
	for _, r := range registersAsked {
		a.Sample_regs_user |= 1 << r.kernel
	}
	a.Size = uint32(unix.PERF_ATTR_SIZE_VER5)
	if own {
		a.Bits |= unix.PerfBitExcludeKernel
	}
	return a
}

// trySampling says whether a thread can be sampled, and without the time it is in the kernel if the user may not more.
func trySampling(tid int) (own bool, err error) {
	for _, own := range []bool{false, true} {
		var fd int
		if fd, err = unix.PerfEventOpen(samplingAttributes(own), tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC); err == nil {
			return own, unix.Close(fd)
		}
		if !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
			break
		}
	}
	return false, err
}

func openSampling(tid int, own bool) (*perfring.Ring, error) {
	fd, err := unix.PerfEventOpen(samplingAttributes(own), tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	for pages := jsPages; pages >= fewest; pages /= 4 { // a user may lock few (kernel.perf_event_mlock_kb)
		var r *perfring.Ring
		if r, err = perfring.Open(fd, pages); err == nil {
			return r, nil
		}
	}
	_ = unix.Close(fd)
	return nil, err
}

// sample is one moment of a running thread.
type sample struct {
	pid, tid  int
	at        uint64 // by the kernel's monotonic clock
	pc        uint64
	registers symbol.Registers
	stack
}

// readSample reads an event. Its layout: PID and TID, time, the kind of registers and they, the size of the stack, the stack, and how much of it is
// filled. It returns false if there are no registers, as with a thread that ends.
func readSample(b []byte) (s sample, ok bool) {
	head := 24 + 8*len(registersAsked) + 8
	if len(b) < head {
		return s, false
	}
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	s.pid, s.tid, s.at = int(binary.NativeEndian.Uint32(b)), int(binary.NativeEndian.Uint32(b[4:])), word(8)
	if word(16) != unix.PERF_SAMPLE_REGS_ABI_64 {
		return s, false
	}
	for i, r := range registersAsked {
		if v := word(24 + 8*i); r.dwarf == symbol.Kept {
			s.pc = v
		} else {
			s.registers.Set(r.dwarf, v)
		}
	}
	size := word(head - 8)
	if size == 0 || uint64(len(b)-head) < size+8 {
		return s, false
	}
	filled := word(head + int(size))
	s.sp, s.copy = s.registers.Get(symbol.StackPointer), b[head:head+int(min(size, filled))]
	return s, true
}
