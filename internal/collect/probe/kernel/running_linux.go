package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/perfring"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// sampleEvery is the CPU time between two samples. It is not a whole number of milliseconds, so that it does not keep step with timers.
const sampleEvery = 10_101_010 * time.Nanosecond

// readEvery is the time between two readings of the rings.
const readEvery = time.Second

// sampling is a way to sample running threads.
type sampling int

const (
	ofCPUs       sampling = iota // on each CPU: all threads of the process, including later ones
	ofThreads                    // each thread and those it starts, with the kernel's part
	ofThreadsOwn                 // the same without the kernel's part
	notAtAll
)

// running samples the running threads of a process.
type running struct {
	of     *family
	how    sampling
	rings  []*perfring.Ring
	more   []int // descriptors that write into another one's ring
	missed int   // threads without a descriptor
	lost   uint64
	began  int64 // ns since the epoch
	out    *stacks
	kernel []uint64
	user   []uint64
	offset int64 // from the kernel's monotonic clock to ns since the epoch
}

// perfAttributes returns the attributes for samples by the kernel's clock of CPU time. Every machine has that clock; virtual machines
// often lack hardware counters.
func perfAttributes(how sampling) *unix.PerfEventAttr {
	a := &unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: uint64(sampleEvery),
		Sample_type: unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_CALLCHAIN,
		Bits:        unix.PerfBitExcludeIdle | unix.PerfBitExcludeHv | unix.PerfBitUseClockID, Clockid: unix.CLOCK_MONOTONIC}
	a.Size = uint32(unix.PERF_ATTR_SIZE_VER5)
	if how != ofCPUs {
		a.Bits |= unix.PerfBitInherit
	}
	if how == ofThreadsOwn {
		a.Bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeCallchainKernel
	}
	return a
}

// tryRunning says how a process can be sampled, and why not in a better way.
func tryRunning(pid int) (how sampling, why error) {
	for how = ofCPUs; how < notAtAll; how++ {
		of, cpu := pid, -1
		if how == ofCPUs {
			of, cpu = -1, firstCPU()
		}
		fd, err := unix.PerfEventOpen(perfAttributes(how), of, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err == nil {
			_ = unix.Close(fd)
			return how, why
		}
		if why = err; !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
			return notAtAll, err
		}
	}
	return notAtAll, why
}

func openRunning(of *family, how sampling) (*running, error) {
	r := &running{of: of, how: how, began: time.Now().UnixNano()}
	cpus := onlineCPUs()
	pages := 64
	for pages > 8 && pages*len(cpus) > 2048 { // 8 MiB in all
		pages /= 2
	}
	threads := []int{-1}
	if how != ofCPUs {
		threads = threadsOf(of.lead)
	}
	for _, cpu := range cpus {
		var first *perfring.Ring
		for _, tid := range threads {
			if len(r.more) >= mostDescriptors() {
				r.missed++
				continue
			}
			fd, err := unix.PerfEventOpen(perfAttributes(how), tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
			switch {
			case errors.Is(err, unix.ESRCH):
				continue // the thread has ended
			case err != nil:
				r.close()
				return nil, err
			case first == nil:
				if first, err = perfring.Open(fd, pages); err != nil {
					_ = unix.Close(fd)
					r.close()
					return nil, err
				}
				r.rings = append(r.rings, first)
				continue
			}
			if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, first.FD); err != nil {
				_ = unix.Close(fd)
				r.close()
				return nil, err
			}
			r.more = append(r.more, fd)
		}
	}
	if len(r.rings) == 0 {
		return nil, fmt.Errorf("pid %d: it has ended", of.lead)
	}
	return r, nil
}

// mostDescriptors leaves room for other open files.
func mostDescriptors() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 256
	}
	return int(min(l.Cur/2, 4096))
}

func (r *running) close() {
	for _, fd := range r.more {
		_ = unix.Close(fd)
	}
	for _, x := range r.rings {
		x.Close()
	}
}

// run writes samples until the context ends.
func (r *running) run(ctx context.Context, s *stacks) error {
	r.out = s
	s.buf = fmt.Appendf(s.buf, "# kernel stacks of pid %d, running, one in %d ns\nfrom %d\n", r.of.lead, sampleEvery.Nanoseconds(), r.began)
	ticks := time.NewTicker(readEvery)
	defer ticks.Stop()
	for round := 1; ; round++ {
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
		ended := ctx.Err() != nil // checked before reading, so that all earlier data is read
		r.readRings()
		if err := s.flush(); err != nil {
			return err
		}
		if ended || !probe.Alive(r.of.lead) {
			return nil
		}
		if round%5 == 0 {
			r.of.refreshWorkers()
			s.forgetNames()
		}
	}
}

// readRings writes what the kernel has told since the last time.
func (r *running) readRings() {
	r.offset = tracepoint.MonotonicOffset() // set anew, because the wall clock is adjusted
	lost := r.lost
	for _, x := range r.rings {
		x.EachEvent(func(typ uint32, b []byte) {
			switch {
			case typ == unix.PERF_RECORD_SAMPLE:
				r.writeSample(b)
			case typ == unix.PERF_RECORD_LOST && len(b) >= 16:
				r.lost += binary.NativeEndian.Uint64(b[8:])
			}
		})
	}
	if r.lost > lost {
		r.out.buf = fmt.Appendf(r.out.buf, "lost %d\n", r.lost-lost)
	}
	r.out.buf = fmt.Appendf(r.out.buf, "until %d\n", time.Now().UnixNano())
}

// writeSample writes a sample. Its layout is PID and TID (4 bytes each), time, the number of addresses, and the addresses: those of the
// kernel and those of the program, each after a mark.
func (r *running) writeSample(b []byte) {
	if len(b) < 24 || !r.of.hasProcess(int(binary.NativeEndian.Uint32(b))) {
		return
	}
	pid := int(binary.NativeEndian.Uint32(b))
	tid, at, n := int(binary.NativeEndian.Uint32(b[4:])), binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])
	if n > uint64(len(b)-24)/8 {
		return
	}
	r.kernel, r.user = r.kernel[:0], r.user[:0]
	to := &r.user
	for i := range n {
		switch a := binary.NativeEndian.Uint64(b[24+8*i:]); {
		case a == contextKernel:
			to = &r.kernel
		case a == contextUser:
			to = &r.user
		case a < firstMark:
			*to = append(*to, a)
		}
	}
	r.out.writeThreadName(pid, tid)
	id := r.out.stackNumber(r.kernel, pid, r.user)
	r.out.buf = fmt.Appendf(r.out.buf, "r %d %d %d\n", int64(at)+r.offset, tid, id)
}

// Marks among addresses (enum perf_callchain_context of linux/perf_event.h).
const (
	contextKernel = ^uint64(128 - 1)
	contextUser   = ^uint64(512 - 1)
	firstMark     = ^uint64(4095 - 1)
)

func threadsOf(pid int) (all []int) {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, f := range files {
		if n, err := strconv.Atoi(f.Name()); err == nil {
			all = append(all, n)
		}
	}
	return all
}

func firstCPU() int { return onlineCPUs()[0] }

// onlineCPUs returns the numbers of the online CPUs: "0-3,6".
func onlineCPUs() []int {
	b, _ := os.ReadFile("/sys/devices/system/cpu/online")
	var all []int
	for part := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		from, to, is := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		z := a
		if is {
			if z, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		for ; a <= z; a++ {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return []int{0}
	}
	return all
}

// lackRunning says what is missing about running threads, and what would help.
func lackRunning(how sampling, why error, pid int) (probe.Lack, bool) {
	root := fmt.Sprintf("sudo unstall %d --kernel, or: sudo setcap cap_perfmon,cap_bpf+ep unstall", pid)
	if os.Geteuid() == 0 {
		root = "run unstall on the host, or give its container the capabilities PERFMON and BPF"
	}
	level := "by this kernel"
	if b, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); err == nil {
		level = "kernel.perf_event_paranoid is " + strings.TrimSpace(string(b))
	}
	switch how {
	case ofThreadsOwn:
		return probe.Lack{What: "the kernel's part of stacks of running threads (the program's own is recorded)", Why: level, Do: root}, true
	case notAtAll:
		l := probe.Lack{What: "stacks of running threads", Why: fmt.Sprintf("perf_event_open: %v, %s", why, level), Do: root}
		if errors.Is(why, unix.ENOSYS) || errors.Is(why, unix.ENOENT) {
			l.Why, l.Do = "this kernel has no perf events", "a kernel with CONFIG_PERF_EVENTS"
		}
		return l, true
	}
	return probe.Lack{}, false
}
