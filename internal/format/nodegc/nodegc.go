// Package nodegc reads the collections of V8 as node --trace-gc prints them, also at the end of a process that ran out of memory ("Last few
// GCs"):
//
//	[5129:0x37c4790]     3107 ms: Mark-sweep 1.8 (3.2) -> 1.8 (3.2) MB, 52.9 / 0.1 ms  (average mu = 0.239, current mu = 0.263) external memory pressure GC in old space requested
//	[9:0x55d0]       49 ms: Scavenge 3.6 (4.0) -> 3.5 (5.0) MB, 0.7 / 0.0 ms  (average mu = 1.000, current mu = 1.000) allocation failure;
//	[9:0x55d0]      812 ms: Mark-Compact (reduce) 40.2 (57.8) -> 39.9 (58.0) MB, pooled: 0 MB, 33.40 / 0.00 ms  …
//
// GCTracer::PrintNVP and Print in https://chromium.googlesource.com/v8/v8/+/main/src/heap/gc-tracer.cc, Node 0.12 to 24. The time is that since the start, at
// the end of the collection; the first duration is that of the pause, of which the one behind the slash is in callbacks.
//
// V8 collects on the thread that runs the program: while it does, the event loop stands. Concurrent marking is not in these durations.
package nodegc

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such lines.
var Format = format.Format{
	Name:  "nodegc",
	About: "collections of V8: node --trace-gc, and the last ones of a process that ran out of memory",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, []byte(" ms: ")) {
			return format.No
		}
		for l := range bytes.Lines(head) {
			if _, ok := parseCollection(string(l[:min(len(l), mostLine)])); ok {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine  = 2048
	mostKinds = 50
	mostIDs   = 100
)

// collection is a line.
type collection struct {
	isolate             string
	at, took            float64 // ms, at its end since the start
	kind                string
	before, after, size float64 // MB
}

// kinds are the collections of V8, by their first word.
var kinds = map[string]bool{"Scavenge": true, "Mark-sweep": true, "Mark-Compact": true, "Mark-compact": true, "Mark-Sweep": true, "Minor": true}

// parseCollection reads a line.
func parseCollection(line string) (c collection, ok bool) {
	open := strings.IndexByte(line, '[')
	if open < 0 || open > 80 {
		return c, false
	}
	id, rest, ok := strings.Cut(line[open+1:], "]")
	if !ok || id == "" || len(id) > 40 || id[0] < '0' || id[0] > '9' {
		return c, false
	}
	ms, rest, ok := strings.Cut(rest, " ms: ")
	at, err := strconv.ParseFloat(strings.TrimSpace(ms), 64)
	if !ok || err != nil || !(at >= 0 && at < 1e12) {
		return c, false
	}
	word, _, _ := strings.Cut(rest, " ")
	before, after, ok := strings.Cut(rest, " -> ")
	if !kinds[word] || !ok {
		return c, false
	}
	c = collection{isolate: id, at: at, kind: word}
	f := strings.Fields(before)
	if len(f) < 3 || len(f) > 8 {
		return c, false
	}
	// "Mark-Compact (reduce) 40.2 (57.8)": the heap is in front of the last parenthesis
	c.before, err = strconv.ParseFloat(f[len(f)-2], 64)
	then := strings.Fields(after)
	if err != nil || len(then) < 3 || !(c.before >= 0 && c.before < 1e9) {
		return c, false
	}
	c.after, err = strconv.ParseFloat(then[0], 64)
	size, err2 := strconv.ParseFloat(strings.Trim(then[1], "()"), 64)
	if err != nil || err2 != nil || !(c.after >= 0 && c.after < 1e9) || !(size >= 0 && size < 1e9) {
		return c, false
	}
	c.size = size
	for i, x := range then { // "… MB, 52.9 / 0.1 ms"
		if x == "/" && i > 0 {
			c.took, err = strconv.ParseFloat(then[i-1], 64)
			return c, err == nil && c.took >= 0 && c.took < 1e9
		}
	}
	return c, false
}

// figures is all collections of a kind.
type figures struct {
	kind           string
	n              int
	total, longest float64 // ms
	after          float64 // MB, of the last
}

// span is the time of an isolate.
type span struct{ from, until, stopped float64 }

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	by := make(map[string]*figures)
	var all []*figures
	spans := make(map[string]*span)
	var order []*span
	var line, n int64
	longest := 0.
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		c, ok := parseCollection(string(l.Text[:min(len(l.Text), mostLine)]))
		if !ok {
			return true
		}
		if n++; n == 1 {
			line = l.Number
		}
		x := by[c.kind]
		if x == nil {
			x = &figures{kind: c.kind}
			by[c.kind] = x
			all = append(all, x)
		}
		x.n++
		x.total += c.took
		x.longest, x.after = max(x.longest, c.took), c.after
		longest = max(longest, c.took)
		s := spans[c.isolate]
		if s == nil {
			if len(order) == mostIDs {
				return true
			}
			s = &span{from: c.at - c.took, until: c.at}
			spans[c.isolate] = s
			order = append(order, s)
		}
		switch {
		case n == 1 || c.at >= s.until:
			s.until = max(s.until, c.at)
			s.stopped += c.took
		case c.at <= s.from: // a console may show its newest line first
			s.from = c.at - c.took
			s.stopped += c.took
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, n > 0, "the log", "nodegc: no collection of V8 in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "since process start", Error: evidence.Unanchored, Resolution: 1e6}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "node"})
	slices.SortStableFunc(all, func(x, y *figures) int { return cmp.Or(cmp.Compare(y.total, x.total), cmp.Compare(x.kind, y.kind)) })
	t := evidence.Table{Title: "collections of V8", Columns: []string{"", "times", "total s", "longest ms", "heap after the last MB"}}
	for _, x := range all {
		t.Rows = append(t.Rows, []string{x.kind, strconv.Itoa(x.n), formatFigure(x.total / 1e3), formatFigure(x.longest), formatFigure(x.after)})
	}
	b.Table(t)
	most := order[0]
	for _, s := range order[1:] { // of the isolate that was watched longest
		if s.until-s.from > most.until-most.from {
			most = s
		}
	}
	fact := func(key string, v float64) {
		b.FactAt(subject, key, formatFigure(v), v, line)
	}
	fact(evidence.FactLoopCollections, float64(n))
	fact(evidence.FactLoopCollectionMost, longest*1e6)
	if over := most.until - most.from; over > 0 {
		fact(evidence.FactLoopCollected, min(1, most.stopped/over))
		fact(evidence.FactLoopCollectedOver, over*1e6)
	}
	return nil
}

func formatFigure(v float64) string { return fmt.Sprintf("%.4g", v) }
