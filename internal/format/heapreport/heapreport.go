// Package heapreport reads what Eclipse's Memory Analyzer says of a heap dump, as people post it instead of the dump: the sentences of its leak
// suspects, and its tables as text (a dominator tree, a histogram).
//
//	One instance of "com.acme.Cache" loaded by "…AppClassLoader @ 0x6c0a1f3b8" occupies 1,294,551,208 (78.44%) bytes.
//
//	Class Name                       | Shallow Heap | Retained Heap | Percentage
//	-----------------------------------------------------------------------------
//	com.acme.Cache @ 0x7831c40a8     |           40 |   642,118,576 |     61.30%
//
// Sizes are in bytes or with a unit, grouped as in any language; retained sizes may be bounds (">= 31,204,880"). What stands behind an object's address
// is its contents and is not kept. Source: github.com/eclipse-mat/mat, LeakHunterQuery's messages and TextOutputter; versions 1.0 to 1.16.
package heapreport

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such reports.
var Format = format.Format{
	Name:    "heapreport",
	About:   "what Eclipse's Memory Analyzer says of a heap dump, as text: leak suspects, dominator trees and histograms",
	Moments: true,
	Match:   matchHead,
	Parse:   parseArtifact,
}

const (
	mostLine   = 1 << 14
	mostRows   = 10_000
	mostShown  = 20
	mostName   = 300
	sizesEnd   = "%) bytes"
	mostParts  = 100
	mostWanted = 4096 // bytes of a sentence over several lines
)

// matchHead demands the heading of a table or a suspect's sentence with its size and share.
func matchHead(head []byte) format.Confidence {
	if bytes.Contains(head, []byte("Shallow Heap")) {
		for l := range bytes.Lines(head) {
			if _, ok := headingOf(string(l[:min(len(l), mostLine)])); ok {
				return format.Sure
			}
		}
	}
	if bytes.Contains(head, []byte("occup")) || bytes.Contains(head, []byte("keeps local variables")) {
		var r report
		for l := range bytes.Lines(head) {
			r.readLine(string(l[:min(len(l), mostLine)]), 1)
		}
		if len(r.suspects) > 0 {
			return format.Sure
		}
	}
	return format.No
}

// held is an object or a class with what it keeps alive; a negative figure is unknown.
type held struct {
	name               string
	objects            float64
	own, kept, percent float64
	bound              bool // it keeps at least so much
	in                 string
	depth              int
	line               int64
}

type report struct {
	pending  string // a sentence that goes on
	suspects []held
	columns  []string // of the table that is read; none outside
	rows     []held
	all      *held // the sum below a table
	omitted  int
}

// readLine reads a line: a row of the table that is open, its heading, or a part of a sentence.
func (r *report) readLine(text string, line int64) {
	if columns, ok := headingOf(text); ok {
		r.columns, r.pending = columns, ""
		return
	}
	if r.columns != nil {
		switch h, ok := rowOf(text, r.columns); {
		case ok && strings.HasPrefix(h.name, "Total: "):
			if h.depth == 0 {
				r.all = &h
			}
			return
		case ok && len(r.rows) < mostRows:
			h.line = line
			r.rows = append(r.rows, h)
			return
		case ok:
			r.omitted++
			return
		case strings.Contains(text, "|") || strings.Trim(text, "-+= \t\r\n|:") == "":
			return // a row without figures, or a rule
		}
		r.columns = nil
	}
	r.readSentence(text, line)
}

// marks are signs of emphasis and quotation.
var marks = strings.NewReplacer("*", "", `"`, "", "`", "", "“", "", "”", "", "&quot;", "", "\u00a0", " ")

func (r *report) readSentence(text string, line int64) {
	text = marks.Replace(text)
	if text = strings.Join(strings.Fields(strings.TrimLeft(text, "> \t")), " "); text == "" {
		r.pending = ""
		return
	}
	r.pending = strings.TrimSpace(r.pending + " " + text)
	for range mostParts {
		end := strings.Index(r.pending, sizesEnd)
		if end < 0 {
			break
		}
		sentence := r.pending[:end]
		r.pending = strings.TrimLeft(r.pending[end+len(sizesEnd):], ". ")
		h, ok := suspectOf(sentence)
		h.line = line
		switch {
		case !ok:
		case h.in != "" && len(r.suspects) > 0:
			r.suspects[len(r.suspects)-1].in = h.in
		case h.in == "" && len(r.suspects) < mostShown:
			r.suspects = append(r.suspects, h)
		}
	}
	if _, rest, ok := strings.Cut(r.pending, accumulated); ok && len(r.suspects) > 0 { // older versions give no size
		if class, _, ok := strings.Cut(rest, " loaded by "); ok {
			r.suspects[len(r.suspects)-1].in = nameOf(class)
		}
	}
	if len(r.pending) > mostWanted {
		r.pending = ""
	}
}

const accumulated = "The memory is accumulated in one instance of "

// suspectOf reads a sentence up to its share: "One instance of X loaded by Y occupies 1,294,551,208 (78.44".
func suspectOf(sentence string) (h held, ok bool) {
	sentence, share, ok := format.CutLast(sentence, "(")
	if !ok {
		return h, false
	}
	h = held{objects: 1, own: -1}
	if h.percent, ok = percentOf(share); !ok {
		return h, false
	}
	for _, form := range []struct {
		before, verb string
		objects      float64
	}{
		{accumulated, " occupies ", -1},
		{"One instance of ", " occupies ", 1},
		{"The class ", " occupies ", 1},
		{"The classloader/component ", " occupies ", 1},
		{"The thread ", " keeps local variables with total size ", 1},
		{" instances of ", " occupy ", 0},
	} {
		at := strings.LastIndex(sentence, form.before)
		verb := strings.LastIndex(sentence, form.verb)
		if at < 0 || verb < at+len(form.before) {
			continue
		}
		name, _, _ := strings.Cut(sentence[at+len(form.before):verb], " loaded by ")
		h.name = nameOf(name)
		if h.kept, ok = bytesOf(sentence[verb+len(form.verb):]); !ok || h.name == "" {
			return h, false
		}
		switch form.objects {
		case -1:
			h.in = h.name
		case 0:
			f := strings.Fields(sentence[:at])
			if len(f) == 0 {
				return h, false
			}
			if h.objects, ok = countOf(f[len(f)-1]); !ok {
				return h, false
			}
		}
		return h, true
	}
	return h, false
}

// nameOf returns a class without the address of the object, which may be followed by what the object holds, and without a module's signs.
func nameOf(text string) string {
	text, _, _ = strings.Cut(text, " @ ")
	text = strings.Trim(text, " ,.\t")
	if len(text) > mostName {
		return ""
	}
	return strings.ToValidUTF8(text, "?")
}

// headingOf returns the columns of a table.
func headingOf(text string) (columns []string, ok bool) {
	if !strings.Contains(text, "Shallow Heap") || !strings.Contains(text, "|") {
		return nil, false
	}
	for c := range strings.SplitSeq(strings.Trim(text, "|> \t\r\n"), "|") {
		columns = append(columns, strings.ToLower(strings.TrimSpace(c)))
	}
	return columns, columns[0] == "class name" && len(columns) >= 2 && len(columns) <= 10
}

// rowOf reads a row. Its name may contain the bars of a tree, so that columns are counted from the end.
func rowOf(text string, columns []string) (h held, ok bool) {
	text = strings.TrimRight(text, " \t\r\n")
	if strings.HasPrefix(text, "|") && strings.HasSuffix(text, "|") && !strings.HasPrefix(text, "|-") { // a table of Markdown
		text = text[1:]
	}
	if strings.Count(text, "|") >= len(columns) {
		text = strings.TrimSuffix(text, "|")
	}
	cells := make([]string, len(columns)-1)
	for i := len(cells) - 1; i >= 0; i-- {
		if text, cells[i], ok = format.CutLast(text, "|"); !ok {
			return h, false
		}
	}
	name := strings.TrimLeft(text, " |-'+`└├│─\\")
	h = held{name: nameOf(name), depth: len([]rune(text)) - len([]rune(name)), objects: -1, own: -1, kept: -1, percent: -1}
	if h.name == "" {
		return h, false
	}
	figures := 0
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		var to *float64
		read := bytesOf
		switch columns[i+1] {
		case "objects":
			to, read = &h.objects, countOf
		case "shallow heap":
			to = &h.own
		case "retained heap":
			to = &h.kept
			h.bound = strings.HasPrefix(cell, ">")
		case "percentage", "%":
			to, read = &h.percent, percentOf
		default:
			continue
		}
		if v, ok := read(strings.TrimLeft(cell, ">=~ ")); ok {
			*to = v
			figures++
		}
	}
	return h, figures > 0
}

func percentOf(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.Replace(strings.Trim(text, "% "), ",", ".", 1), 64)
	return v, err == nil && v >= 0 && v <= 100
}

var groups = strings.NewReplacer(",", "", ".", "", " ", "", "'", "", "’", "", "\u00a0", "", "\u202f", "")

// countOf reads a whole number, whose digits may be grouped by any sign.
func countOf(text string) (float64, bool) {
	n, err := strconv.ParseUint(groups.Replace(text), 10, 60)
	return float64(n), err == nil
}

// bytesOf reads a size: a whole number of bytes, or one with a unit, in which the Memory Analyzer counts by 1024.
func bytesOf(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	for _, unit := range []struct {
		name  string
		bytes float64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}} {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		number = strings.TrimSpace(number)
		if i := strings.LastIndexAny(number, ".,"); i >= 0 && len(number)-i <= 3 { // its decimals
			whole, ok := countOf(number[:i])
			part, err := strconv.ParseFloat("."+number[i+1:], 64)
			return (whole + part) * unit.bytes, ok && err == nil
		}
		n, ok := countOf(number)
		return n * unit.bytes, ok
	}
	return countOf(text)
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var r report
	err := a.Lines(func(l format.Line) bool {
		r.readLine(string(l.Text[:min(len(l.Text), mostLine)]), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, len(r.suspects)+len(r.rows) > 0, "the report", "heap report: no object of it has a size: copy a table of the Memory Analyzer with its heading"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one heap dump", Error: evidence.Unanchored}
	if r.omitted > 0 {
		b.Warnf(0, "it has more than %d rows: %d left out", mostRows, r.omitted)
	}
	b.Subject(evidence.Subject{Runtime: "jvm"})
	if len(r.suspects) > 0 {
		b.Table(tableOf("leak suspects of the heap dump", r.suspects, nil))
	}
	if len(r.rows) > 0 {
		b.Table(tableOf("what the heap dump holds", r.rows, r.all))
	}
	for _, h := range append(r.suspects, r.rows...) {
		if h.percent >= largeShare {
			b.Warnf(h.line, "%s keeps %s of the heap dump alive", h.name, percentText(h.percent))
			break
		}
	}
	return nil
}

// largeShare is the part of the heap, per cent, from which what keeps it is reported, as in dumps that are read themselves.
const largeShare = 25

func tableOf(title string, rows []held, all *held) evidence.Table {
	t := evidence.Table{Title: title, Columns: []string{"object or class", "objects", "own bytes", "kept alive bytes", "of all", "accumulated in"}}
	add := func(h held) {
		kept := numberText(h.kept)
		if h.bound && kept != "" {
			kept = "≥ " + kept
		}
		t.Rows = append(t.Rows, []string{h.name, numberText(h.objects), numberText(h.own), kept, percentText(h.percent), h.in})
	}
	for _, h := range rows[:min(len(rows), mostShown)] {
		add(h)
	}
	if all != nil {
		x := *all
		x.name = "all"
		add(x)
	}
	return withoutEmpty(t)
}

// withoutEmpty leaves out the columns that no row has.
func withoutEmpty(t evidence.Table) evidence.Table {
	used := make([]bool, len(t.Columns))
	for _, r := range t.Rows {
		for i, c := range r {
			used[i] = used[i] || c != ""
		}
	}
	pick := func(row []string) (kept []string) {
		for i, c := range row {
			if used[i] {
				kept = append(kept, c)
			}
		}
		return kept
	}
	t.Columns = pick(t.Columns)
	for i, r := range t.Rows {
		t.Rows[i] = pick(r)
	}
	return t
}

func numberText(v float64) string {
	if v < 0 {
		return ""
	}
	return fmt.Sprintf("%.0f", v)
}

func percentText(v float64) string {
	if v < 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + " %"
}
