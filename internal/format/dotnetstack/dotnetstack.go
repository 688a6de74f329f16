// Package dotnetstack reads the text that `dotnet-stack report` prints: the managed
// stack of each thread of a .NET process
// (https://github.com/dotnet/diagnostics/blob/main/src/Tools/dotnet-stack/ReportCommand.cs).
//
//	# Sufficiently large applications can cause this reportCommand to take non-trivial amounts of time
//	Found 2 stacks for thread 0x25968        builds for debugging only
//	Thread (0x25968):
//	  [Native Frames]                        before 1.0: UNMANAGED_CODE_TIME
//	  System.Private.CoreLib.il!System.Threading.ManualResetEventSlim.Wait(int32,value class System.Threading.CancellationToken)
//	  …
//	  DiagnosticScenarios!testwebapi.Controllers.DiagScenarioController.TaskWait()
//
// A blank line ends a thread. A thread in managed code has CPU_TIME as its innermost
// line. Thread ids are the operating system's. All versions since 1.0 print this.
//
// The text has neither a time nor a process: it shows one moment. A file to which the tool
// wrote several times has several reports, each of a moment of its own;
// the last one is read. Package threads interprets what threads do.
package dotnetstack

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/format"
)

// Format reads the output of dotnet-stack report.
var Format = format.Format{
	Name:  "dotnetstack",
	About: "stacks of .NET threads: dotnet-stack report",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	maxThreads = 100_000
	maxFrames  = 1000 // of a thread; a deeper stack is a runaway recursion
	maxFrame   = 2048 // bytes of a frame's text
)

// matchHead demands the line of a thread and a frame below it.
func matchHead(head []byte) format.Confidence {
	inside := false
	for l := range bytes.Lines(head) {
		l = bytes.TrimRight(l, "\r\n")
		switch _, is := threadLine(l); {
		case is:
			inside = true
		case inside && len(l) > 0:
			if _, ok := frameLine(l); ok {
				return format.Sure
			}
			inside = false
		}
	}
	return format.No
}

// threadLine reads "Thread (0x25968):".
func threadLine(l []byte) (id int64, ok bool) {
	rest, ok := bytes.CutPrefix(l, []byte("Thread (0x"))
	if !ok {
		return 0, false
	}
	digits, ok := bytes.CutSuffix(rest, []byte("):"))
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(string(digits), 16, 63)
	return int64(n), err == nil
}

// frameLine reads a line below a thread's.
func frameLine(l []byte) (frame string, ok bool) {
	rest, ok := bytes.CutPrefix(l, []byte("  "))
	if !ok {
		return "", false
	}
	s := strings.TrimSpace(string(rest[:min(len(rest), maxFrame)]))
	switch s {
	case "[Native Frames]", "UNMANAGED_CODE_TIME":
		return "[Native Frames]", true
	case "CPU_TIME", "?!?":
		return s, true
	}
	module, call, ok := strings.Cut(s, "!")
	if !ok || call == "" || strings.ContainsRune(module, '(') {
		return "", false
	}
	for _, suffix := range []string{".il", ".dll", ".exe"} { // the suffix of an ahead-of-time compiled image
		module = strings.TrimSuffix(module, suffix)
	}
	return module + "!" + call, true
}

// thread is a thread of a report.
type thread struct {
	id    int64
	line  int64
	stamp int64
	stack evidence.StackID
}

type parser struct {
	b       *evidence.Builder
	threads []thread
	seen    map[int64]bool
	reports int
	more    int64 // threads beyond maxThreads
	deep    int64 // threads with more than maxFrames
	strange int64
	first   int64 // line of them

	open    bool
	skipped bool // within a thread that is not kept
	frames  []evidence.Frame
	over    bool
	main    string // assembly of the program's entry point
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, seen: make(map[int64]bool), reports: 1}
	var lines int64
	var long bool
	err := a.Lines(func(l format.Line) bool {
		lines, long = l.Number, l.Long
		p.parseLine(l)
		return l.Number%4096 != 0 || ctx.Err() == nil
	})
	p.endThread()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && len(p.threads) == 0:
		return err
	case len(p.threads) == 0:
		return errors.New("dotnet-stack: it holds no thread: take it again with dotnet-stack report -p PID")
	case err != nil:
		b.Warnf(lines, "the report is incomplete: %v", err)
		b.Cut()
	case long:
		b.Cut()
	}
	p.emitThreads()
	return nil
}

func (p *parser) parseLine(l format.Line) {
	text := bytes.TrimRight(l.Text, " \t")
	id, ok := threadLine(text)
	switch {
	case ok:
		p.endThread()
		p.beginThread(id, l)
	case len(text) == 0:
		p.endThread()
	case !p.open:
		if !p.skipped && text[0] != '#' && !bytes.HasPrefix(text, []byte("Found ")) {
			p.countUnparsed(l.Number)
		}
	default:
		frame, ok := frameLine(l.Text)
		switch {
		case !ok:
			p.countUnparsed(l.Number)
		case frame == "CPU_TIME": // it ran managed code, as does a stack that begins with a method
		case len(p.frames) == maxFrames:
			p.over = true
		default:
			p.frames = append(p.frames, evidence.Frame{Func: p.b.Name(frame)})
			if m := threadstack.Parse(frame); m.Name == "Main" || m.Name == "<Main>" {
				p.main = m.Module
			}
		}
	}
}

func (p *parser) countUnparsed(line int64) {
	if p.strange++; p.first == 0 {
		p.first = line
	}
}

func (p *parser) beginThread(id int64, l format.Line) {
	if p.seen[id] { // the next report
		p.reports++
		p.threads, p.more, p.main = p.threads[:0], 0, ""
		clear(p.seen)
	}
	if len(p.threads) == maxThreads {
		p.more++
		p.skipped = true
		return
	}
	p.seen[id] = true
	p.open = true
	p.threads = append(p.threads, thread{id: id, line: l.Number, stamp: l.Stamp})
}

func (p *parser) endThread() {
	if p.open {
		p.threads[len(p.threads)-1].stack = p.b.Stack(p.frames)
	}
	if p.over {
		p.deep++
	}
	p.open, p.skipped, p.over, p.frames = false, false, false, p.frames[:0]
}

// emitThreads writes the threads of the report that was kept.
func (p *parser) emitThreads() {
	b := p.b
	at := p.threads[0].stamp
	clock := b.Clock()
	if at == 0 && b.Recorded() {
		at = b.Modified()
	}
	if at == 0 {
		*clock = evidence.Clock{Name: "undated", Error: evidence.Unanchored}
	}
	subject := b.Subject(evidence.Subject{Runtime: "dotnet", Name: p.main})
	typ, count := b.Name(evidence.SampleThread), b.Name("count")
	for _, t := range p.threads {
		b.Sample(evidence.Sample{Subject: subject, Time: at, Lane: evidence.LaneID(t.id), Stack: t.stack, Type: typ, Unit: count, Value: 1, Origin: b.Origin(t.line)})
	}
	b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverThreads, From: at, Until: at, Origin: b.Origin(p.threads[0].line)})
	if p.reports > 1 {
		b.Warnf(p.threads[0].line, "there are %d reports in one file: only the last is used; give each its own file", p.reports)
	}
	if p.more > 0 {
		b.Warnf(0, "the report has more than %d threads: the rest was left out", maxThreads)
	}
	if p.deep > 0 {
		b.Warnf(0, "stacks deeper than %d frames: %d; their outermost frames were left out", maxFrames, p.deep)
	}
	if p.strange > 0 {
		b.Warnf(p.first, "lines that do not belong to a report: %d", p.strange)
	}
}
