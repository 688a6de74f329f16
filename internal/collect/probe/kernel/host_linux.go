package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/perfring"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// hostSamples is the largest number of samples a second over all CPUs of a host. Each costs some microseconds.
const hostSamples = 400

// Host returns the access for kernel stacks of all running threads of this host. It leaves out the program's part of the stacks, because that
// costs most, and `unstall PID` has it.
func Host() probe.Access {
	a := probe.Access{Probe: name, Where: "the kernel, of all processes"}
	fd, err := unix.PerfEventOpen(hostAttributes(1), -1, firstCPU(), -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		a.Lacks = append(a.Lacks, lackHost(err))
		a.Record = func(context.Context, probe.Plan, probe.Sink) error { return nil }
		return a
	}
	_ = unix.Close(fd)
	a.SwitchesOn = []string{"stacks of running threads in the kernel"}
	a.Record = recordHost
	return a
}

func lackHost(err error) probe.Lack {
	l := probe.Lack{What: "what the kernel does for each service (stacks of running threads): estimated from counters instead", Why: fmt.Sprintf("perf_event_open: %v", err), Do: "sudo unstall host"}
	switch {
	case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOENT):
		l.Why, l.Do = "this kernel has no perf events", "a kernel with CONFIG_PERF_EVENTS"
	case os.Geteuid() == 0:
		l.Do = "run unstall on the host, or give its container the capability PERFMON"
	default:
		if b, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); err == nil {
			l.Why = "only root may: kernel.perf_event_paranoid is " + strings.TrimSpace(string(b))
		}
	}
	return l
}

// hostAttributes returns the attributes for sampling at a period.
func hostAttributes(sparse int) *unix.PerfEventAttr {
	a := perfAttributes(ofCPUs)
	a.Sample = uint64(sampleEvery) * uint64(sparse)
	a.Bits |= unix.PerfBitExcludeCallchainUser
	return a
}

// recordHost samples until the context or the plan ends.
func recordHost(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
	if plan.Passive {
		return nil
	}
	if plan.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.For)
		defer cancel()
	}
	cpus := onlineCPUs()
	sparse := 1 + len(cpus)*int(time.Second/sampleEvery)/hostSamples
	r := &running{began: time.Now().UnixNano()}
	defer r.close()
	for _, cpu := range cpus {
		fd, err := unix.PerfEventOpen(hostAttributes(sparse), -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			sink.Lack(lackHost(err))
			return nil
		}
		one, err := perfring.Open(fd, 16)
		if err != nil {
			_ = unix.Close(fd)
			sink.Lack(lackHost(err))
			return nil
		}
		r.rings = append(r.rings, one)
	}
	k := newNames(func(err error) {
		sink.Lack(probe.Lack{What: "names of the kernel's functions", Why: err.Error(), Do: "sudo unstall host"})
	})
	defer k.close()
	out, err := sink.Create(capture.Meta{Name: "oncpu.txt", Probe: name, Origin: "perf_event_open", About: evidence.Subject{Kind: evidence.Host}})
	if err != nil {
		return err
	}
	s := newStacks(nil, out, k)
	s.buf = fmt.Appendf(s.buf, "# kernel stacks of the host, running, one in %d ns\nfrom %d\n", sampleEvery.Nanoseconds()*int64(sparse), r.began)
	h := &hostThreads{running: r}
	r.out = s
	ticks := time.NewTicker(readEvery)
	defer ticks.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
		ended := ctx.Err() != nil // checked before reading, so that all earlier data is read
		h.readRings()
		if err = s.flush(); ended {
			break
		}
	}
	return errors.Join(err, out.Close())
}

// hostThreads samples all running threads.
type hostThreads struct {
	*running
	of int // the last written number
}

// readRings writes what the kernel has told since the last time.
func (h *hostThreads) readRings() {
	h.offset = tracepoint.MonotonicOffset()
	lost := h.lost
	for _, x := range h.rings {
		x.EachEvent(func(typ uint32, b []byte) {
			switch {
			case typ == unix.PERF_RECORD_SAMPLE && len(b) >= 24:
				h.writeSample(b)
			case typ == unix.PERF_RECORD_LOST && len(b) >= 16:
				h.lost += binary.NativeEndian.Uint64(b[8:])
			}
		})
	}
	if h.lost > lost {
		h.out.buf = fmt.Appendf(h.out.buf, "lost %d\n", h.lost-lost)
	}
	h.out.buf = fmt.Appendf(h.out.buf, "until %d\n", time.Now().UnixNano())
}

// writeSample writes a sample as [running.writeSample] does. A stack without kernel functions has the number 0.
func (h *hostThreads) writeSample(b []byte) {
	pid, tid, at, n := int(int32(binary.NativeEndian.Uint32(b))), int(int32(binary.NativeEndian.Uint32(b[4:]))), binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])
	if pid <= 0 || tid <= 0 || n > uint64(len(b)-24)/8 { // the idle thread, or one of another PID namespace
		return
	}
	h.kernel = h.kernel[:0]
	for i := range n {
		a := binary.NativeEndian.Uint64(b[24+8*i:])
		if a == contextUser {
			break
		}
		if a < firstMark {
			h.kernel = append(h.kernel, a)
		}
	}
	id := 0
	if len(h.kernel) > 0 {
		id = h.out.stackNumber(h.kernel, 0, nil)
	}
	if pid != h.of {
		h.of = pid
		h.out.buf = fmt.Appendf(h.out.buf, "of %d\n", pid)
	}
	h.out.buf = fmt.Appendf(h.out.buf, "r %d %d %d\n", int64(at)+h.offset, tid, id)
}
