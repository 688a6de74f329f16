package perfreport

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/kernelclass"
)

// Folded stacks are what flame graphs are drawn from: a line for each stack, outermost function first, with its samples behind:
//
//	java;start_thread;JavaMain;[perf-8812.map];sys_futex_[k];futex_wait_[k] 12
//
// Sources: stackcollapse-perf.pl (https://github.com/brendangregg/FlameGraph), bcc's profile -f, perf script report stackcollapse, async-profiler.
// Marks behind a function tell the kernel (_[k]), compiled code (_[j]) and inlined functions (_[i]); where there are none, functions of the kernel are known by their
// names.

// Bounds of folded stacks.
const (
	leastFolded = 3
	checked     = 200 // lines
	mostFrames  = 1024
	mostCount   = 1 << 40
)

// folded is a stack.
type folded struct {
	frames []string
	count  float64
}

// parseFolded reads the line of a stack.
func parseFolded(line []byte) (x folded, ok bool) {
	text := strings.TrimRight(string(line), " \t\r\n")
	at := strings.LastIndexByte(text, ' ')
	if at <= 0 || strings.IndexByte(text, '\t') >= 0 || len(text) > mostLine*16 {
		return x, false
	}
	n, err := strconv.ParseUint(text[at+1:], 10, 64)
	x.frames = strings.Split(strings.TrimRight(text[:at], " "), ";")
	x.count = float64(n)
	if err != nil || n == 0 || n > mostCount || len(x.frames) < 2 || len(x.frames) > mostFrames {
		return x, false
	}
	for _, f := range x.frames {
		if f == "" || f[0] == ' ' || strings.IndexByte(f, '"') >= 0 {
			return x, false // words between semicolons, or a request with one
		}
	}
	return x, true
}

// isFolded says whether nearly all lines are stacks.
func isFolded(head []byte) bool {
	n, others := 0, 0
	for l := range bytes.Lines(head) {
		switch _, ok := parseFolded(l); {
		case n+others == checked:
			return n >= leastFolded && others*10 <= n
		case ok:
			n++
		case len(bytes.TrimSpace(l)) > 0:
			others++
		}
		if others > n+leastFolded {
			return false
		}
	}
	return n >= leastFolded && (others*10 <= n || others == 1) // the last may be cut
}

// stacks sums up folded stacks.
type stacks struct {
	rows   map[string]*row
	order  []*row
	parts  map[string]float64 // of mechanisms
	lines  map[string]int64   // that show them first
	total  float64
	number int
}

// addStack adds a stack.
func (s *stacks) addStack(x folded, line int64) {
	if s.rows == nil {
		s.rows, s.parts, s.lines = make(map[string]*row), make(map[string]float64), make(map[string]int64)
	}
	s.number++
	s.total += x.count
	var set kernelclass.Set
	counted := make(map[*row]bool, len(x.frames))
	for i, f := range x.frames {
		name, kernel := withoutMark(f)
		of := kernelclass.Of(name)
		set |= of
		if i == 0 {
			continue // the command
		}
		r := s.rows[name]
		if r == nil {
			if len(s.order) == mostRows {
				continue
			}
			r = &row{function: clipText(name), line: line}
			s.rows[name], s.order = r, append(s.order, r)
		}
		r.kernel = r.kernel || kernel
		if !counted[r] {
			counted[r] = true
			r.all += x.count
		}
		if i == len(x.frames)-1 {
			r.self += x.count
		}
	}
	if m := set.Mechanism(); m != "" {
		if s.parts[m] += x.count; s.lines[m] == 0 {
			s.lines[m] = line
		}
	}
}

// sampleOf returns a stack as a sample. The kernel's functions keep their mark, by which a flame graph knows them.
func sampleOf(b *evidence.Builder, subject evidence.SubjectID, x folded, line int64) evidence.Sample {
	frames := make([]evidence.Frame, 0, len(x.frames))
	for i := len(x.frames) - 1; i >= 0; i-- {
		name, kernel := withoutMark(x.frames[i])
		if kernel {
			name = x.frames[i]
		}
		frames = append(frames, evidence.Frame{Func: b.Name(clipText(name))})
	}
	return evidence.Sample{Subject: subject, Stack: b.Stack(frames), Type: b.Name(evidence.SampleStacks), Unit: b.Name("count"), Value: int64(x.count), Origin: b.Origin(line)}
}

// withoutMark returns a function without the mark behind it, and whether that is the kernel's.
func withoutMark(f string) (name string, kernel bool) {
	for _, mark := range []string{"_[k]", "_[j]", "_[i]"} {
		if name, ok := strings.CutSuffix(f, mark); ok {
			return name, mark == "_[k]"
		}
	}
	return f, false
}

// emitStacks writes the shares of mechanisms, and returns the functions with theirs.
func (s *stacks) emitStacks(b *evidence.Builder, subject evidence.SubjectID) (rows []row) {
	for _, m := range told {
		if part := s.parts[m] / s.total; part > 0 {
			b.FactAt(subject, evidence.FactProfileMechanism+m, strconv.FormatFloat(part, 'g', 4, 64), min(1, part), s.lines[m])
		}
	}
	for _, r := range s.order {
		x := *r
		x.all, x.self = x.all/s.total, x.self/s.total
		rows = append(rows, x)
	}
	return rows
}
