// Package kernelstacks reads where the threads of a Linux process were in the kernel and in
// their program: stacks of running threads, and of waits, as unstall records
// them (internal/collect/probe/kernel) by perf_event_open(2) and by eBPF programs on tracepoints:
//
//	# kernel stacks of pid 4711, running, one in 10101010 ns
//	from 1763689985000000000
//	name 4712 writer
//	f 1 k asm_exc_page_fault
//	f 2 u gateway	main.fill
//	f 3 a 7f12a3b45c60 code made at run time
//	s 1 1 2
//	r 1763689985100000000 4712 1
//	until 1763689986000000000
//	lost 3
//
//	# kernel stacks of pid 4711, waiting, from 1000000 ns on
//	w 1763689985100000000 2500000 4712 S 7 2 40000
//	o 4712 3 120 600000 9000
//	e 1763689985100000000 2500000 4712 compaction
//	sum compaction 12 30000000
//
//	# kernel stacks of the host, running, one in 10101010 ns
//	of 4711
//	r 1763689985100000000 4712 1
//
// The lines; times are ns:
//
//   - from, until: what lies between an until and the next from was not watched.
//   - name, f, s: a thread, a function, a stack (innermost first). They come before lines that refer to them; stack 0 is unknown.
//     A function is k of the kernel, u of the program, after the file it is in, or a: an address in code made at run time, and what
//     that is in, which its runtime may name elsewhere.
//   - r: a moment at which a thread ran.
//   - w: one wait: its beginning and length, the thread, the thread's state (S, D as in proc(5); R: it could have run), the
//     descriptor of its call (-1: none; fd says which file; from 2^24 on it is the mapped file of a page fault), and the stack.
//   - o: the number of other waits of a thread since the last until, and their total length. w and o may end with the part at the
//     end of waits in which the thread could have run and waited for a CPU.
//   - e: work of 1 ms or more that the kernel did for a thread, between two of its tracepoints. sum: the number of such pieces of
//     work since the last until, and their total length: compaction and reclaim of the process's threads, all requests of disks
//     (block).
//   - of: the process, of a whole host, that the lines after it are of.
//
// The functions of the kernel on a stack decide what ran or waited (package kernelclass): one
// suffices, and the most precise counts. The package's opinion: a stack shows the mechanism
// of the kernel; only code that knows the requests can say whether that was bad.
package kernelstacks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/gostack"
	"github.com/unstall/unstall/internal/base/kernelclass"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/recording"
)

// Format reads the stacks of a process's threads in the kernel.
var Format = format.Format{
	Name:  "kernelstacks",
	About: "where the threads of a Linux process run and wait in the kernel, with stacks (perf events, eBPF)",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

const (
	heading     = "# kernel stacks of pid "
	hostHeading = "# kernel stacks of the host, running, one in "
)

func matchHead(head []byte) format.Confidence {
	return format.SureIf(bytes.HasPrefix(head, []byte(heading)) || bytes.HasPrefix(head, []byte(hostHeading)))
}

// Limits of what is kept: about 300 MB.
const (
	mostFrames  = 1 << 19
	mostStacks  = 1 << 19
	mostDepth   = 256
	mostRows    = 2 << 20
	mostThreads = 1 << 17
	mostFiles   = 1 << 16
	longestName = 1 << 10
	mostNamed   = 1 << 10 // threads, as facts
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, frames: make(map[int64]frame), stacks: make(map[int64]stack), threads: make(map[int64]string), files: make(map[int64]evidence.NameID)}
	if err := p.Scan(ctx, a, p.parseLine); err != nil {
		return err
	}
	p.until = max(p.until, p.latest)
	if p.until <= p.from || p.from == 0 {
		return errors.New("kernelstacks: it covers no time: record again while the process runs")
	}
	p.Warn(b)
	p.emitSummary()
	return nil
}

// frame is a function, and the rules that name it.
type frame struct {
	evidence.Frame
	rules  kernelclass.Set
	kernel bool
}

type stack struct {
	id        evidence.StackID
	mechanism evidence.NameID // 0: the program's own
}

type parser struct {
	recording.Scanner
	b       *evidence.Builder
	pid     int64 // −1: of the whole host
	waiting bool
	period  int64

	frames  map[int64]frame
	stacks  map[int64]stack
	threads map[int64]string
	files   map[int64]evidence.NameID // by descriptor
	scratch []evidence.Frame

	about     evidence.SubjectID           // of the artifact
	subject   evidence.SubjectID           // of the line
	processes map[int64]evidence.SubjectID // of a host, by PID
	typ       evidence.NameID
	unit      evidence.NameID

	from, until, lost      int64
	latest                 int64 // latest moment read
	rows, dropped, unknown int64
	pending                []sum // waits that were summed up together, until their time is known
	totals                 totals
	rounds                 rounds
	gaps                   []gap
}

// gap is a time that was not recorded.
type gap struct{ from, until int64 }

// sum is the waits of one thread with one stack.
type sum struct {
	tid, count, ns, ready int64
	stack                 stack
	line                  int64
}

// parseLine reads one line, and says whether it was understood.
func (p *parser) parseLine(text []byte) bool {
	word, rest, _ := bytes.Cut(text, []byte(" "))
	if len(text) == 0 {
		return true
	}
	if text[0] == '#' {
		return p.parseHeading(text)
	}
	if p.pid == 0 {
		return false
	}
	switch string(word) {
	case "f":
		return p.parseFunction(rest)
	case "s":
		return p.parseStack(rest)
	case "r":
		return p.parseRunning(rest)
	case "w":
		return p.parseWait(rest)
	case "o":
		return p.parseOthers(rest)
	case "e":
		return p.parseSpan(rest)
	case "sum":
		return p.parseSum(rest)
	case "name":
		return p.parseName(rest)
	case "of":
		return p.parseProcess(rest)
	case "fd":
		return p.parseDescriptor(rest)
	case "from", "until":
		return p.parseTime(string(word), rest)
	case "lost":
		n, ok := format.ParseDigits(rest)
		p.lost += n
		return ok && p.lost >= 0
	}
	return false
}

func (p *parser) parseHeading(text []byte) bool {
	if rest, ok := bytes.CutPrefix(text, []byte(hostHeading)); ok {
		return p.pid == 0 && p.hostHeading(rest)
	}
	rest, ok := bytes.CutPrefix(text, []byte(heading))
	if !ok {
		return p.pid != 0 // a comment
	}
	f := bytes.Fields(rest)
	if p.pid != 0 || len(f) < 2 {
		return false
	}
	pid, is := format.ParseDigits(bytes.TrimSuffix(f[0], []byte(",")))
	if !is || pid == 0 || pid > 1<<30 {
		return false
	}
	typ := evidence.SampleOnCPU
	switch {
	case string(f[1]) == "running," && len(f) == 6:
		if p.period, is = format.ParseDigits(f[4]); !is || p.period == 0 || p.period > 10e9 {
			return false
		}
	case string(f[1]) == "waiting,":
		p.waiting, typ = true, evidence.SampleOffCPU
	default:
		return false
	}
	p.pid = pid
	p.subject = p.b.Subject(evidence.Subject{PID: int(pid)})
	p.about = p.subject
	p.typ, p.unit = p.b.Name(typ), p.b.Name("nanoseconds")
	return true
}

// hostHeading reads "10101010 ns".
func (p *parser) hostHeading(rest []byte) (ok bool) {
	digits, unit, _ := bytes.Cut(rest, []byte(" "))
	if p.period, ok = format.ParseDigits(digits); !ok || string(unit) != "ns" || p.period == 0 || p.period > 10e9 {
		return false
	}
	p.pid = -1
	p.about = p.b.Subject(evidence.Subject{Kind: evidence.Host})
	p.subject, p.processes = p.about, make(map[int64]evidence.SubjectID)
	p.typ, p.unit = p.b.Name(evidence.SampleOnCPU), p.b.Name("nanoseconds")
	return true
}

// parseProcess reads the process that the following lines belong to.
func (p *parser) parseProcess(rest []byte) bool {
	pid, ok := format.ParseDigits(rest)
	if !ok || p.pid != -1 || pid == 0 || pid > 1<<30 {
		return false
	}
	s, known := p.processes[pid]
	if !known {
		if len(p.processes) >= mostThreads {
			p.dropped++
			p.subject = p.about
			return true
		}
		s = p.b.Subject(evidence.Subject{PID: int(pid)})
		p.processes[pid] = s
	}
	p.subject = s
	return true
}

func (p *parser) parseFunction(rest []byte) bool {
	digits, rest, _ := bytes.Cut(rest, []byte(" "))
	id, ok := format.ParseDigits(digits)
	if !ok || len(rest) < 2 || rest[1] != ' ' {
		return false
	}
	if len(p.frames) >= mostFrames {
		p.dropped++
		return true
	}
	text := rest[2:]
	var f frame
	switch rest[0] {
	case 'k':
		if len(text) == 0 {
			text = []byte("a function of the kernel")
		}
		name := recording.Clean(text, longestName)
		f = frame{evidence.Frame{Func: p.b.Name(name), File: p.b.Name(evidence.KernelFile)}, kernelclass.Of(name), true}
	case 'a':
		hex, file, _ := bytes.Cut(text, []byte(" "))
		at, err := strconv.ParseUint(string(hex), 16, 64)
		if err != nil {
			return false
		}
		f.Frame = evidence.Frame{Func: p.b.Name(evidence.Address(at)), File: p.b.Name(recording.Clean(file, longestName))}
	case 'u':
		file, name, is := bytes.Cut(text, []byte("\t"))
		if !is {
			return false
		}
		if len(name) == 0 {
			if name = file; len(name) == 0 {
				name = []byte(evidence.UnknownFunction)
			}
		}
		function := gostack.Printed(recording.Clean(name, longestName))
		if bytes.HasPrefix(name, []byte("0x")) { // an address in a file without names
			function = recording.Clean(file, longestName) + "+" + function
		}
		f.Frame = evidence.Frame{Func: p.b.Name(function), File: p.b.Name(recording.Clean(file, longestName))}
		f.rules = kernelclass.OfProgram(function)
	default:
		return false
	}
	p.frames[id] = f
	return true
}

func (p *parser) parseStack(rest []byte) bool {
	digits, rest, _ := bytes.Cut(rest, []byte(" "))
	id, ok := format.ParseDigits(digits)
	if !ok || id == 0 {
		return false
	}
	if len(p.stacks) >= mostStacks {
		p.dropped++
		return true
	}
	p.scratch = p.scratch[:0]
	var set kernelclass.Set
	kernel := false
	for len(rest) > 0 && len(p.scratch) < mostDepth {
		digits, rest, _ = bytes.Cut(rest, []byte(" "))
		n, ok := format.ParseDigits(digits)
		f, told := p.frames[n]
		if !ok {
			return false
		}
		if !told {
			p.unknown++
			continue
		}
		p.scratch = append(p.scratch, f.Frame)
		set |= f.rules
		kernel = kernel || f.kernel
	}
	s := stack{id: p.b.Stack(p.scratch)}
	switch name := set.Mechanism(); {
	case name != "":
		s.mechanism = p.b.Name(name)
	case kernel:
		s.mechanism = p.b.Name(evidence.KernelUnexplained)
	}
	p.stacks[id] = s
	return true
}

// stackOf returns a stack by its number; 0 is an unknown one.
func (p *parser) stackOf(id int64) stack {
	s, ok := p.stacks[id]
	if !ok && id != 0 {
		p.unknown++
	}
	return s
}

func (p *parser) parseRunning(rest []byte) bool {
	var n [3]int64
	if !recording.Numbers(rest, n[:]) || p.waiting || !p.isWithin(n[0]) {
		return false
	}
	if p.countRow() {
		return true
	}
	s := p.stackOf(n[2])
	p.totals.add(s.mechanism, n[1], 1, p.period)
	p.b.Sample(evidence.Sample{Subject: p.subject, Time: n[0], Lane: evidence.LaneID(n[1]), Stack: s.id, Type: p.typ, Unit: p.unit, Class: s.mechanism, Value: p.period, Origin: p.b.Origin(p.Number)})
	return true
}

// parseWait reads a single wait: it becomes an interval, and a sample at its end. The part that
// waited for a CPU becomes another of each.
func (p *parser) parseWait(rest []byte) bool {
	f := bytes.Fields(rest)
	if len(f) < 6 || len(f) > 7 || len(f[3]) != 1 || !p.waiting {
		return false
	}
	var ready int64
	if len(f) == 7 {
		var ok bool
		if ready, ok = format.ParseDigits(f[6]); !ok {
			return false
		}
	}
	at, ok := format.ParseDigits(f[0])
	took, ok2 := format.ParseDigits(f[1])
	tid, ok3 := format.ParseDigits(f[2])
	id, ok4 := format.ParseDigits(f[5])
	fd, err := strconv.ParseInt(string(f[4]), 10, 32)
	if !ok || !ok2 || !ok3 || !ok4 || err != nil || tid == 0 || !recording.IsDate(at) || took > 1e17 || ready > took || !p.isWithin(at+took) {
		return false
	}
	if p.countRow() {
		return true
	}
	if f[3][0] == 'R' {
		ready = took
	}
	s, woken := p.stackOf(id), at+took-ready
	v := evidence.Interval{Subject: p.subject, Lane: evidence.LaneID(tid), Kind: evidence.InKernel, Stack: s.id, Origin: p.b.Origin(p.Number)}
	if woken > at || took == 0 {
		if s.mechanism == 0 {
			s.mechanism = p.b.Name(evidence.KernelUnexplained)
		}
		v := v
		v.Start, v.End, v.Cause = at, woken, s.mechanism
		if name := p.files[fd]; name != 0 && fd >= 0 {
			v.Extra = []evidence.Extra{{Key: evidence.Operation, Value: float64(name)}}
		}
		p.b.Interval(v)
		p.addSample(tid, woken, 1, woken-at, s, p.Number)
	}
	if ready > 0 {
		s.mechanism = p.b.Name(evidence.KernelPreempted)
		v.Start, v.End, v.Cause = woken, at+took, s.mechanism
		p.b.Interval(v)
		p.addSample(tid, at+took, 1, ready, s, p.Number)
	}
	return true
}

func (p *parser) addSample(tid, at, count, ns int64, s stack, line int64) {
	p.totals.add(s.mechanism, tid, count, ns)
	p.b.Sample(evidence.Sample{Subject: p.subject, Time: at, Lane: evidence.LaneID(tid), Stack: s.id, Type: p.typ, Unit: p.unit, Class: s.mechanism, Value: ns, Origin: p.b.Origin(line)})
}

// parseOthers reads summed up waits; they lie before the next "until".
func (p *parser) parseOthers(rest []byte) bool {
	var n [5]int64
	if !recording.Numbers(rest, n[:]) && !recording.Numbers(rest, n[:4]) || n[0] == 0 || n[3] > 1e17 || n[4] > n[3] || !p.waiting || p.from == 0 {
		return false
	}
	if p.countRow() {
		return true
	}
	s := p.stackOf(n[1])
	if s.mechanism == 0 {
		s.mechanism = p.b.Name(evidence.KernelUnexplained)
	}
	p.pending = append(p.pending, sum{tid: n[0], count: n[2], ns: n[3], ready: n[4], stack: s, line: p.Number})
	return true
}

// isWithin says whether something may have ended at a time, which must be after the recording began.
func (p *parser) isWithin(at int64) bool {
	if p.from == 0 || at <= p.from || !recording.IsDate(at) {
		return false
	}
	p.latest = max(p.latest, at)
	return true
}

func (p *parser) countRow() bool {
	if p.rows++; p.rows > mostRows {
		p.dropped++
		return true
	}
	return false
}

func (p *parser) parseName(rest []byte) bool {
	digits, name, ok := bytes.Cut(rest, []byte(" "))
	tid, is := format.ParseDigits(digits)
	if !is || tid == 0 || !ok {
		return false
	}
	if _, known := p.threads[tid]; known || len(p.threads) < mostThreads {
		p.threads[tid] = recording.Clean(name, longestName)
	}
	return true
}

func (p *parser) parseDescriptor(rest []byte) bool {
	digits, path, ok := bytes.Cut(rest, []byte(" "))
	fd, is := format.ParseDigits(digits)
	if !is || !ok {
		return false
	}
	if _, known := p.files[fd]; known || len(p.files) < mostFiles {
		p.files[fd] = p.b.Name(recording.Clean(path, longestName))
	}
	return true
}

func (p *parser) parseTime(word string, rest []byte) bool {
	at, ok := format.ParseDigits(rest)
	if !ok || !recording.IsDate(at) {
		return false
	}
	if word == "from" {
		switch {
		case at <= p.until || p.from != 0 && p.until == 0:
			return false
		case p.from == 0:
			p.from = at
		case at-p.until > int64(time.Millisecond):
			p.gaps = append(p.gaps, gap{p.until, at})
		}
		return true
	}
	if p.from == 0 || at <= p.from {
		return false
	}
	if before := max(p.from, p.until); at > before {
		p.rounds.endRound(before, at)
	}
	p.until = max(p.until, at)
	p.flushPending(at)
	return true
}

// flushPending adds the samples of summed up waits, whose time is now known.
func (p *parser) flushPending(at int64) {
	for _, s := range p.pending {
		p.addSample(s.tid, at, s.count, s.ns-s.ready, s.stack, s.line)
		if s.ready > 0 {
			s.stack.mechanism = p.b.Name(evidence.KernelPreempted)
			p.addSample(s.tid, at, s.count, s.ready, s.stack, s.line)
		}
	}
	p.pending = p.pending[:0]
}

func (p *parser) emitSummary() {
	b := p.b
	p.flushPending(p.until)
	c := evidence.Coverage{Subject: p.about, Kind: evidence.CoverOnCPU, From: p.from, Until: p.until, Lost: p.lost, Sampled: p.period, Origin: b.Origin(1)}
	if p.waiting {
		c.Kind, c.Sampled = evidence.CoverOffCPU, 0
	}
	for _, g := range p.gaps { // recording was off in between
		part := c
		part.Until, part.Lost = g.from, 0
		b.Cover(part)
		c.From = g.until
	}
	if c.Until > c.From {
		b.Cover(c)
	}
	b.Fact(evidence.Fact{Subject: p.about, Key: evidence.FactProfileKind, Value: b.Text(p.typ), Number: math.NaN(), From: p.from, Until: p.until, Origin: b.Origin(1)})
	if !p.waiting {
		rate := 1e9 / float64(p.period)
		b.Fact(evidence.Fact{Subject: p.about, Key: evidence.FactProfileRate, Value: fmt.Sprintf("%.4g", rate), Number: rate, From: p.from, Until: p.until, Origin: b.Origin(1)})
	}
	if p.pid > 0 {
		for i, tid := range slices.Sorted(maps.Keys(p.threads)) {
			if name := p.threads[tid]; name != "" && i < mostNamed {
				b.FactAt(p.about, evidence.FactThreadName, name, float64(tid), 1)
			}
		}
	}
	p.rounds.emitSeries(p)
	for _, t := range p.totals.buildTables(p) {
		b.Table(t)
	}
	if p.unknown > 0 {
		b.Warnf(0, "functions and stacks that were referred to and not told: %d", p.unknown)
	}
	if p.lost > 0 {
		b.Warnf(0, "what the recorder could not keep up with: %d stacks", p.lost)
	}
	if p.dropped > 0 {
		b.Warnf(0, "there are more than %d functions, %d stacks or %d lines of them: %d were left out", mostFrames, mostStacks, mostRows, p.dropped)
	}
}
