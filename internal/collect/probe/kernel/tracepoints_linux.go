package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// span is the time from one tracepoint to another.
type span struct {
	name       string // name in the artifact
	begin, end string // tracepoints
	what       string // description in words
	host       bool   // any thread of the host; the key is the first field of both tracepoints. Else the process's threads
}

// spans are rare enough to be measured each time. Spans that the network or a program's calls cause (softirqs, page faults) are not:
// samples of running
// threads show them.
var spans = []span{
	{"compaction", "mm_compaction_begin", "mm_compaction_end", "direct compaction of memory, each time", false},
	{"reclaim", "mm_vmscan_direct_reclaim_begin", "mm_vmscan_direct_reclaim_end", "direct reclaim of memory, each time", false},
	{"memcg_reclaim", "mm_vmscan_memcg_reclaim_begin", "mm_vmscan_memcg_reclaim_end", "reclaim within the memory limit of a group, each time", false},
	{"block", "block_rq_issue", "block_rq_complete", "how long disks take for a request", true},
}

// Layout of the sums of each span.
const (
	sumCount = 0
	sumTime  = 8
	sumSize  = 16
)

const pendingSpans = 1 << 12

// Layout of a report about one long span of a thread.
const (
	spanStart  = 0
	spanTook   = 8
	spanThread = 16
	spanKind   = 20
	spanSize   = 24
)

// spanning holds the programs of all spans, and their sums.
type spanning struct {
	begun, sums *ebpf.Map
	programs    []*tracepoint.Program
	last        [][2]uint64
	on          []bool
	missing     []probe.Lack
}

// openSpans switches on the spans that this kernel has tracepoints for. Long spans of threads go into the ring of waits.
func openSpans(pid int, t *tracepoint.KernelTypes, ring *ebpf.Map) (s *spanning, err error) {
	s = &spanning{last: make([][2]uint64, len(spans)), on: make([]bool, len(spans))}
	if s.begun, err = ebpf.NewMap(&ebpf.MapSpec{Name: "unstall_begun", Type: ebpf.LRUHash, KeySize: 8, ValueSize: 8, MaxEntries: pendingSpans}); err != nil {
		return nil, err
	}
	if s.sums, err = ebpf.NewMap(&ebpf.MapSpec{Name: "unstall_sums", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(sumSize * len(spans)), MaxEntries: 1}); err != nil {
		s.close()
		return nil, err
	}
	for i, x := range spans {
		if err := errors.Join(t.RequireTracepoint(x.begin), t.RequireTracepoint(x.end)); err != nil {
			s.missing = append(s.missing, probe.Lack{What: x.what, Why: err.Error(), Do: "a newer kernel, or one configured with it"})
			continue
		}
		err := s.attachProgram(t, x.end, s.buildEndProgram(i, x, pid, ring)) // the end first, so that no begin stays without one
		if err == nil {
			err = s.attachProgram(t, x.begin, s.buildBeginProgram(i, x, pid))
		}
		if err != nil {
			s.missing = append(s.missing, probe.Lack{What: x.what, Why: "eBPF: " + tracepoint.FirstLine(err), Do: "a newer kernel"})
			continue
		}
		s.on[i] = true
	}
	return s, nil
}

func (s *spanning) attachProgram(t *tracepoint.KernelTypes, at string, p asm.Instructions) error {
	prog, err := tracepoint.Load("unstall_"+at, at, t, p)
	if err != nil {
		return err
	}
	s.programs = append(s.programs, prog)
	return prog.On()
}

// buildKey builds the instructions that put the key of a span on the stack: the thread and the kind, or the first field of both
// tracepoints. They end
// the program for threads of other processes.
func (x span) buildKey(kind, pid int) asm.Instructions {
	if x.host {
		return asm.Instructions{
			asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord),
			asm.StoreMem(asm.RFP, -8, asm.R6, asm.DWord),
		}
	}
	return asm.Instructions{
		asm.FnGetCurrentPidTgid.Call(),
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.RSh.Imm(asm.R0, 32),
		asm.JNE.Imm(asm.R0, int32(pid), "exit"),
		asm.LSh.Imm(asm.R6, 32),
		asm.RSh.Imm(asm.R6, 32), // the thread
		asm.Mov.Imm(asm.R1, int32(kind)),
		asm.LSh.Imm(asm.R1, 32),
		asm.Or.Reg(asm.R1, asm.R6),
		asm.StoreMem(asm.RFP, -8, asm.R1, asm.DWord),
	}
}

func (s *spanning) buildBeginProgram(kind int, x span, pid int) asm.Instructions {
	return append(x.buildKey(kind, pid),
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.RFP, -16, asm.R0, asm.DWord),
		asm.LoadMapPtr(asm.R1, s.begun.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -8),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, -16),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"),
		asm.Return(),
	)
}

func (s *spanning) buildEndProgram(kind int, x span, pid int, ring *ebpf.Map) asm.Instructions {
	p := append(x.buildKey(kind, pid),
		asm.LoadMapPtr(asm.R1, s.begun.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -8),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.LoadMem(asm.R7, asm.R0, 0, asm.DWord), // its start
		asm.LoadMapPtr(asm.R1, s.begun.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -8),
		asm.FnMapDeleteElem.Call(),
		asm.FnKtimeGetNs.Call(),
		asm.Sub.Reg(asm.R0, asm.R7),
		asm.Mov.Reg(asm.R8, asm.R0), // its length
		asm.LoadMapValue(asm.R1, s.sums.FD(), uint32(sumSize*kind)),
		asm.Mov.Imm(asm.R2, 1),
		asm.AddAtomic.Mem(asm.R1, asm.R2, asm.DWord, sumCount),
		asm.AddAtomic.Mem(asm.R1, asm.R8, asm.DWord, sumTime),
		asm.JLT.Imm(asm.R8, int32(longWait), "exit"),
	)
	if !x.host {
		p = append(p,
			asm.LoadMapPtr(asm.R1, ring.FD()),
			asm.Mov.Imm(asm.R2, spanSize),
			asm.Mov.Imm(asm.R3, 0),
			asm.FnRingbufReserve.Call(),
			asm.JEq.Imm(asm.R0, 0, "exit"),
			asm.StoreMem(asm.R0, spanStart, asm.R7, asm.DWord),
			asm.StoreMem(asm.R0, spanTook, asm.R8, asm.DWord),
			asm.StoreMem(asm.R0, spanThread, asm.R6, asm.Word),
			asm.StoreImm(asm.R0, spanKind, int64(kind), asm.Word),
			asm.Mov.Reg(asm.R1, asm.R0),
			asm.Mov.Imm(asm.R2, unix.BPF_RB_NO_WAKEUP),
			asm.FnRingbufSubmit.Call(),
		)
	}
	return append(p, asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"), asm.Return())
}

func (s *spanning) close() {
	for _, p := range s.programs {
		p.Close()
	}
	for _, m := range []*ebpf.Map{s.begun, s.sums} {
		if m != nil {
			_ = m.Close()
		}
	}
}

// writeSums writes the sums since the last time: how many spans ended, and how long they took.
func (s *spanning) writeSums(out *stacks) {
	v := make([]byte, sumSize*len(spans))
	if s.sums.Lookup(uint32(0), &v) != nil {
		return
	}
	for i, x := range spans {
		if !s.on[i] {
			continue
		}
		of := v[sumSize*i:]
		count, ns := binary.NativeEndian.Uint64(of[sumCount:]), binary.NativeEndian.Uint64(of[sumTime:])
		out.buf = fmt.Appendf(out.buf, "sum %s %d %d\n", x.name, count-s.last[i][0], ns-s.last[i][1])
		s.last[i] = [2]uint64{count, ns}
	}
}

// writeSpan writes one long span of a thread.
func (s *spanning) writeSpan(out *stacks, b []byte, offset int64) {
	kind := binary.NativeEndian.Uint32(b[spanKind:])
	if int(kind) >= len(spans) {
		return
	}
	tid := int(binary.NativeEndian.Uint32(b[spanThread:]))
	out.writeThreadName(out.of.lead, tid)
	out.buf = fmt.Appendf(out.buf, "e %d %d %d %s\n", int64(binary.NativeEndian.Uint64(b[spanStart:]))+offset, binary.NativeEndian.Uint64(b[spanTook:]), tid, spans[kind].name)
}
