// Package perfscript reads the text that perf script prints of samples and switches, of Linux
// perf 3.x to 6.x (tools/perf/builtin-script.c and its manual):
//
//	perf record -F 99 -g -p PID -- sleep 10          where its threads run
//	perf record -e sched:sched_switch -a -g -- sleep 10   what threads wait for, with -e sched:sched_wakeup also until when
//	perf script -F comm,pid,tid,cpu,time,event,trace,period,ip,sym,dso >stacks.txt
//
//	writer  4711/4712  [001] 14782.137805:    5025125 cpu-clock:
//		ffffffff815f2af7 __x64_sys_munmap+0x17 ([kernel.kallsyms])
//		            128c main+0x2f (/usr/bin/writer)
//
// Fields may be left out or added (-F): before the time are the command, the thread or the
// process and the thread, and the CPU; behind it the period, the event and its text; below, a line
// for each function, innermost first, with its address, name and file or some of them.
//
// A sample of a clock (cpu-clock, task-clock) stands for as many ns of CPU time as its period; one of
// another event (cycles) for the time between two samples of a busy CPU, which is computed
// from the samples. A switch away from a thread and the next one to it are a wait: the stack at the
// switch and the thread's state show its reason. From a recorded wake-up on, the thread
// waits for a CPU. The idle task and the
// kernel's own threads are left out, and of a whole host all processes except those with most rows.
//
// Where the text lacks something: without pid among the fields there are only threads' ids. They are one
// process then, the recorded one, or, if the whole host was recorded (-a), a process for
// each command. Times count from the boot of the host unless -k CLOCK_REALTIME was given: they
// cannot be joined with other files.
//
// The package's opinion: stacks matter for the mechanism that they show, which package kernelclass
// finds, as for stacks that unstall records.
package perfscript

import (
	"bytes"
	"context"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/kernelclass"
	"github.com/unstall/unstall/internal/format"
)

// Format reads the output of perf script.
var Format = format.Format{
	Name:  "perfscript",
	About: "perf script: stacks of running threads, and of switches between them (Linux perf 3 to 6)",
	Match: matchHead,
	Parse: parseArtifact,
}

// matchHead is sure of a sample with a function below it, and of a switch.
func matchHead(head []byte) format.Confidence {
	var above bool
	for i := 0; i < 100 && len(head) > 0; i++ {
		line, more, whole := bytes.Cut(head, []byte("\n"))
		if !whole {
			break // cut anywhere
		}
		line = line[:min(len(line), longest)]
		if above && len(line) > 1 && (line[0] == '\t' || line[0] == ' ') {
			if f, ok := frameOf(line); ok && (f.address || len(f.file) > 0) {
				return format.Sure
			}
		}
		e, ok := eventOf(line)
		above = ok && !isPySpy(line)
		if ok && e.timed && e.isSwitch() {
			return format.Sure
		}
		head = more
	}
	return format.No
}

// isPySpy says whether a line is of py-spy dump: `Thread 132 (idle): "MainThread"`.
func isPySpy(line []byte) bool {
	return bytes.HasPrefix(line, []byte("Thread ")) && bytes.Contains(line, []byte(`): "`))
}

// Limits of what is kept: about 110 MB, so that 1 GB of text is read within 200 MiB.
const (
	longest     = 4096
	mostDepth   = 256
	mostRows    = 1 << 20
	mostThreads = 1 << 17
	mostSubject = 8          // of a host, those with most rows
	longWait    = int64(1e6) // ns: longer waits are rows of their own
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := newParser(b)
	err := a.Lines(func(l format.Line) bool {
		p.number = l.Number
		p.readLine(l.Text[:min(len(l.Text), longest)])
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	case err != nil:
		b.Warnf(p.number, "the recording is incomplete after this line: %v", err)
		b.Cut()
	}
	p.endEvent()
	if len(p.rows) == 0 && p.idle == 0 && p.switched == 0 {
		return errors.New("perfscript: it holds no sample of a running thread: record with perf record -g -F 99 -p PID")
	}
	p.finish()
	return nil
}

// row is a sample, or a wait that has ended.
type row struct {
	at, ns int64 // of a sample ns 0: its event is no clock
	line   int64
	tid    int32
	who    who
	stack  evidence.StackID
	class  evidence.NameID
	waited bool
}

// who identifies a process: by its id, else by the command.
type who struct {
	pid  int32 // the kernel has at most 2²² of them
	comm evidence.NameID
}

// left is a thread that was switched away from.
type left struct {
	at    int64
	woken int64 // 0: no wake-up was recorded
	who   who
	state byte
	stack evidence.StackID
	class evidence.NameID
	line  int64
}

type parser struct {
	b      *evidence.Builder
	now    event // the one that the following functions belong to
	open   bool
	frames []evidence.Frame
	set    kernelclass.Set
	kernel bool
	itself bool // it is a kernel thread

	rows    []row
	left    map[int64]left
	cpus    map[int64]int64 // ns of the latest sample of a CPU, by its number
	gaps    []int64
	lowest  int64 // lowest thread id of the recording
	named   evidence.NameID
	only    int64 // the process that perf was told to record (--header)
	pids    bool  // processes are told
	hostly  bool  // the whole host was recorded, as it has the idle task or a kernel thread
	clocked bool  // times count since the epoch

	number                   int64
	from, until              int64
	samples, switched        int64
	idle, others, odd, first int64
	dropped, unasked         int64
	processes                int
}

func newParser(b *evidence.Builder) *parser {
	return &parser{b: b, left: make(map[int64]left), cpus: make(map[int64]int64)}
}

func (p *parser) readLine(text []byte) {
	switch {
	case len(text) == 0:
		p.endEvent()
	case text[0] == '#':
		p.endEvent()
		p.readComment(text)
	case p.open && text[0] == '\t' && p.addFunction(text):
	default:
		e, ok := eventOf(text)
		if !ok && p.open && text[0] == ' ' && p.addFunction(text) {
			return
		}
		if !ok {
			p.endEvent()
			if p.odd++; p.first == 0 {
				p.first = p.number
			}
			return
		}
		p.endEvent()
		p.now, p.open = e, true
		p.now.line = p.number
	}
}

// readComment reads the recorded process from the output of perf script --header.
func (p *parser) readComment(text []byte) {
	rest, ok := bytes.CutPrefix(text, []byte("# cmdline : "))
	if !ok {
		return
	}
	f := bytes.Fields(rest)
	for i := range f {
		if string(f[i]) == "-p" && i+1 < len(f) {
			if n, ok := format.ParseDigits(f[i+1]); ok {
				p.only = n
			}
		}
	}
}

// addFunction adds a line below an event to its stack.
func (p *parser) addFunction(text []byte) bool {
	f, ok := frameOf(text)
	if !ok {
		return false
	}
	if len(p.frames) >= mostDepth {
		return true
	}
	x := evidence.Frame{Func: p.b.NameBytes(f.name)}
	if f.isKernel() {
		x.File = p.b.Name(evidence.KernelFile)
		p.set |= kernelclass.Of(string(f.name))
		p.kernel = true
		p.itself = p.itself || string(f.name) == "kthread"
	} else if len(f.file) > 0 {
		x.File = p.b.NameBytes(f.file)
	}
	p.frames = append(p.frames, x)
	return true
}

// endEvent ends an event and its stack.
func (p *parser) endEvent() {
	if !p.open {
		return
	}
	e := p.now
	stack := p.b.Stack(p.frames)
	var class evidence.NameID
	if name := p.set.Mechanism(); name != "" {
		class = p.b.Name(name)
	} else if p.kernel {
		class = p.b.Name(evidence.KernelUnexplained)
	}
	bare, itself := len(p.frames) == 0, p.itself
	p.open, p.frames, p.set, p.kernel, p.itself = false, p.frames[:0], 0, false, false
	if e.timed {
		if p.from == 0 || e.at < p.from {
			p.from = e.at
		}
		p.until = max(p.until, e.at)
	}
	p.hostly = p.hostly || itself
	if e.tid > 0 && !itself && (p.lowest == 0 || e.tid < p.lowest) {
		p.lowest, p.named = e.tid, p.b.NameBytes(e.comm)
	}
	p.pids = p.pids || e.pid != 0
	switch {
	case e.isSwitch():
		p.pairSwitch(e, stack, class, itself)
	case e.isWakeup():
		p.noteWakeup(e)
	case itself:
		p.others++
	case e.isCPUSample():
		p.noteSample(e, stack, class, bare)
	default:
		p.others++
	}
}

// noteSample adds a sample of a thread that ran.
func (p *parser) noteSample(e event, stack evidence.StackID, class evidence.NameID, bare bool) {
	p.samples++
	if e.cpu >= 0 && e.timed {
		if last, ok := p.cpus[e.cpu]; ok && e.at > last && len(p.gaps) < 1<<16 {
			p.gaps = append(p.gaps, e.at-last)
		}
		if len(p.cpus) < mostThreads {
			p.cpus[e.cpu] = e.at
		}
	} else if last, ok := p.cpus[-e.tid-1]; e.timed {
		if ok && e.at > last && len(p.gaps) < 1<<16 {
			p.gaps = append(p.gaps, e.at-last)
		}
		if ok || len(p.cpus) < mostThreads {
			p.cpus[-e.tid-1] = e.at
		}
	}
	switch e.tid {
	case 0:
		p.idle++
		p.hostly = true
		return
	case gone:
		p.others++
		return
	}
	if bare {
		p.unasked++
	}
	r := row{at: e.at, tid: int32(e.tid), who: p.processKey(e), stack: stack, class: class, line: e.line}
	if e.isClock() {
		r.ns = e.period
	}
	p.addRow(r)
}

func (p *parser) addRow(r row) {
	if len(p.rows) >= mostRows {
		p.dropped++
		return
	}
	p.rows = append(p.rows, r)
}

func (p *parser) processKey(e event) who { return who{int32(e.pid), p.b.NameBytes(e.comm)} }

// pairSwitch pairs a switch away from a thread with the next one to it.
func (p *parser) pairSwitch(e event, stack evidence.StackID, class evidence.NameID, itself bool) {
	prev, state, next, ok := e.parseSwitch()
	if !ok || !e.timed {
		p.others++
		return
	}
	p.switched++
	p.hostly = p.hostly || prev == 0
	if l, ok := p.left[next]; ok && next != 0 {
		delete(p.left, next)
		if e.at > l.at {
			r := row{at: e.at, ns: e.at - l.at, tid: int32(next), who: l.who, stack: l.stack, class: l.class, waited: true, line: l.line}
			switch {
			case l.state == 'R':
				r.class = p.b.Name(evidence.KernelPreempted)
			case r.class == 0:
				r.class = p.b.Name(evidence.KernelUnexplained)
			}
			if l.state != 'R' && l.woken > l.at && l.woken < e.at {
				r.at, r.ns = l.woken, l.woken-l.at
				p.addRow(r)
				r.at, r.ns, r.class = e.at, e.at-l.woken, p.b.Name(evidence.KernelPreempted)
			}
			p.addRow(r)
		}
	}
	switch {
	case prev == 0 || itself || state == 'X' || state == 'Z':
	case len(p.left) >= mostThreads:
		p.dropped++
	default:
		p.left[prev] = left{at: e.at, who: p.processKey(e), state: state, stack: stack, class: class, line: e.line}
	}
}

// noteWakeup records when a waiting thread became runnable.
func (p *parser) noteWakeup(e event) {
	tid, ok := e.parseWakeup()
	if !ok || !e.timed {
		p.others++
		return
	}
	if l, away := p.left[tid]; away && l.woken == 0 {
		l.woken = e.at
		p.left[tid] = l
	}
}
