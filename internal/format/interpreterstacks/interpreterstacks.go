// Package interpreterstacks reads in which functions of its language the threads of a process were, as unstall records them from the process's memory
// (internal/collect/probe/interpreter):
//
//	# interpreter stacks of pid 4711, python 3.11.2 in python3.11
//	from 1763689985000000000
//	f 1 31 /srv/shop/ledger/views.py	month_sums
//	f 2 204 /usr/lib/python3.11/queue.py	Queue.get
//	s 1 1 2
//	l 1763689985100000000 1763689985180000000 5 4712 r 1
//	torn 3
//	until 1763689986000000000
//
// The lines; times are ns:
//
//   - from, until: when it was looked at. Several until follow each other.
//   - f: a function: its number, the line that runs (0: unknown), its file, its name. s: a stack, innermost first. They come before lines that refer
//     to them.
//   - l: what several looks at a thread after each other saw alike: the first and the last of them, how many, the thread as the kernel numbers it,
//     what it did, the stack. r: it ran, or it kept others from running; w: it waited, or ran native code beside others; ?: not told.
//   - torn: how many stacks could not be read since the last until, because the threads went on meanwhile.
//
// Each l is a sample of type "interpreted" ([evidence.SampleInterpreted]). A function is named with the end of the path of its file, as
// "month_sums (ledger/views.py)"; of a library's, the path begins with the folder that shows this: "loads (lib/python3.11/json/__init__.py)".
//
// The package's opinion: looks say which functions, not for how long: that is for who knows when the thread ran and waited.
package interpreterstacks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/codepath"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/recording"
)

// Format reads the stacks of a language's functions.
var Format = format.Format{
	Name:  "interpreterstacks",
	About: "which functions of its language each thread of a process is in (Python 3.8 to 3.13), from its memory",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

const heading = "# interpreter stacks of pid "

func matchHead(head []byte) format.Confidence {
	return format.SureIf(bytes.HasPrefix(head, []byte(heading)))
}

// Bounds of what is kept: about 200 MB.
const (
	mostFrames  = 1 << 18
	mostStacks  = 1 << 18
	mostDepth   = 256
	mostRows    = 2 << 20
	longestName = 1 << 10
	mostTID     = 1 << 30
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, frames: make(map[int64]evidence.Frame), stacks: make(map[int64]evidence.StackID)}
	if err := p.Scan(ctx, a, p.parseLine); err != nil {
		return err
	}
	p.until = max(p.until, p.latest)
	if p.rows == 0 && (p.until <= p.from || p.from == 0) {
		return errors.New("interpreterstacks: it covers no time: record again while the process runs")
	}
	p.Warn(b)
	p.emitSummary()
	return nil
}

type parser struct {
	recording.Scanner
	b       *evidence.Builder
	subject evidence.SubjectID
	pid     int64
	title   string
	file    string // that has the interpreter

	frames  map[int64]evidence.Frame
	stacks  map[int64]evidence.StackID
	scratch []evidence.Frame
	typ     evidence.NameID
	unit    evidence.NameID
	classes map[byte]evidence.NameID

	from, until, latest          int64
	rows, looks, torn            int64
	running, dropped, unfamiliar int64
}

// parseLine reads one line, and says whether it was understood.
func (p *parser) parseLine(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if text[0] == '#' {
		return p.parseHeading(text)
	}
	if p.pid == 0 {
		return false
	}
	word, rest, _ := bytes.Cut(text, []byte(" "))
	switch string(word) {
	case "f":
		return p.parseFunction(rest)
	case "s":
		return p.parseStack(rest)
	case "l":
		return p.parseLook(rest)
	case "from", "until":
		return p.parseTime(string(word), rest)
	case "torn":
		n, ok := format.ParseDigits(rest)
		if ok && n <= mostRows {
			p.torn += n
		}
		return ok
	}
	return false
}

// parseHeading reads "4711, python 3.11.2 in python3.11".
func (p *parser) parseHeading(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte(heading))
	if !ok {
		return p.pid != 0 // a comment
	}
	digits, title, ok := bytes.Cut(rest, []byte(", "))
	pid, is := format.ParseDigits(digits)
	if p.pid != 0 || !ok || !is || pid == 0 || pid > mostTID {
		return false
	}
	p.pid, p.title = pid, recording.Clean(title, longestName)
	_, p.file, _ = strings.Cut(p.title, " in ")
	p.subject = p.b.Subject(evidence.Subject{PID: int(pid)})
	p.typ, p.unit = p.b.Name(evidence.SampleInterpreted), p.b.Name("nanoseconds")
	p.classes = map[byte]evidence.NameID{'r': p.b.Name(evidence.InterpreterHeld), 'w': p.b.Name(evidence.InterpreterLeft), '?': 0}
	return true
}

func (p *parser) parseFunction(rest []byte) bool {
	digits, rest, _ := bytes.Cut(rest, []byte(" "))
	id, ok := format.ParseDigits(digits)
	digits, rest, _ = bytes.Cut(rest, []byte(" "))
	line, ok2 := format.ParseDigits(digits)
	file, name, ok3 := bytes.Cut(rest, []byte("\t"))
	if !ok || !ok2 || !ok3 || line > 1<<30 {
		return false
	}
	if len(p.frames) >= mostFrames {
		p.dropped++
		return true
	}
	path := recording.Clean(file, longestName)
	function := recording.Clean(name, longestName)
	if function == "" {
		function = "a function without a name"
	}
	if path != "" {
		function += " (" + codepath.Short(path) + ")"
	}
	p.frames[id] = evidence.Frame{Func: p.b.Name(function), File: p.b.Name(path), Line: int32(line)}
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
	for len(rest) > 0 && len(p.scratch) < mostDepth {
		digits, rest, _ = bytes.Cut(rest, []byte(" "))
		n, ok := format.ParseDigits(digits)
		if !ok {
			return false
		}
		f, told := p.frames[n]
		if !told {
			p.unfamiliar++
			continue
		}
		p.scratch = append(p.scratch, f)
	}
	p.stacks[id] = p.b.Stack(p.scratch)
	return true
}

// parseLook reads "FROM UNTIL LOOKS TID STATE STACK".
func (p *parser) parseLook(rest []byte) bool {
	f := bytes.Fields(rest)
	if len(f) != 6 || len(f[4]) != 1 {
		return false
	}
	var n [5]int64
	for i, k := range []int{0, 1, 2, 3, 5} {
		var ok bool
		if n[i], ok = format.ParseDigits(f[k]); !ok {
			return false
		}
	}
	from, until, looks, tid := n[0], n[1], n[2], n[3]
	class, known := p.classes[f[4][0]]
	if !known || !recording.IsDate(from) || !recording.IsDate(until) || until < from || from < p.from || p.from == 0 || looks == 0 || looks > mostRows || tid == 0 || tid > mostTID {
		return false
	}
	stack, told := p.stacks[n[4]]
	if !told {
		p.unfamiliar++
		return true
	}
	if p.rows++; p.rows > mostRows {
		p.dropped++
		return true
	}
	p.latest = max(p.latest, until)
	if p.looks += looks; f[4][0] == 'r' {
		p.running += looks
	}
	p.b.Sample(evidence.Sample{Subject: p.subject, Time: from, Lane: evidence.LaneID(tid), Stack: stack, Type: p.typ, Unit: p.unit, Class: class,
		Value: until - from, Origin: p.b.Origin(p.Number)})
	return true
}

func (p *parser) parseTime(word string, rest []byte) bool {
	at, ok := format.ParseDigits(rest)
	if !ok || !recording.IsDate(at) || at < max(p.from, p.until) {
		return false
	}
	if word == "until" {
		p.until = at
		return p.from != 0
	}
	if p.from == 0 {
		p.from = at
	}
	return true
}

func (p *parser) emitSummary() {
	b := p.b
	b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactInterpreterFile, Value: p.file, Number: 1, Origin: b.Origin(1)})
	b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverInterpreter, From: p.from, Until: p.until, Lost: p.torn, Origin: b.Origin(1)})
	b.Table(evidence.Table{Title: "looks at threads in functions of the language", Columns: []string{"language", "looks", "of running threads", "not readable"},
		Rows: [][]string{{p.title, strconv.FormatInt(p.looks, 10), strconv.FormatInt(p.running, 10), strconv.FormatInt(p.torn, 10)}}})
	if p.unfamiliar > 0 {
		b.Warnf(0, "functions and stacks that were referred to and not told: %d", p.unfamiliar)
	}
	if p.dropped > 0 {
		b.Warnf(0, "%s left out", fmt.Sprintf("more functions, stacks and looks than can be kept: the last %d are", p.dropped))
	}
}
