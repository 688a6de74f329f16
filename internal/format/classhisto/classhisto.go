// Package classhisto reads class histograms of HotSpot and OpenJ9: how many objects of each class
// are on the heap, and how many bytes they take. jmap -histo, jcmd GC.class_histogram and
// the histograms of GC logs (-XX:+PrintClassHistogram…, -Xlog:gc+classhisto*=trace) print
// the same, JDK 5 to 25, the newer ones with each class's module
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/memory/heapInspection.cpp):
//
//	 num     #instances         #bytes  class name (module)
//	-------------------------------------------------------
//	   1:         20111        1391024  [B (java.base@25.0.3)
//	   2:          3124         409136  java.lang.Class (java.base@25.0.3)
//	Total        112233        4455667
//
// OpenJ9's jmap -histo has other titles, and no sign after the rank
// (https://eclipse.dev/openj9/docs/tool_jmap/):
//
//	num   object count     total size    class name
//	-------------------------------------------------
//	  1           3354         107328    [C
//
// vjmap, which walks one generation by the debugger's agent, writes sizes with a unit
// (https://github.com/vipshop/vjtools/tree/master/vjmap):
//
//	#num  #count  #bytes  #class description
//	-----------------------------------------------------------------------------------
//	  1:   48242 1020.6m  byte[]
//	Total : 2240111    9.6g
//
// A histogram is largest first; each class becomes a sample of type inuse_space and one of
// type inuse_objects, named as in Java's source ("byte[]"). It counts all objects on the heap,
// including uncollected garbage unless the command collected first
// (jmap -histo:live; GC.class_histogram without -all).
package classhisto

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads class histograms.
var Format = format.Format{
	Name:    "classhisto",
	About:   "class histograms of a JVM: jmap -histo, jcmd GC.class_histogram, and those in GC logs",
	Moments: true,
	Match:   matchHead,
	Parse:   parseArtifact,
}

// Bounds of what is kept: classes below the largest 2,000 leak too slowly to
// matter.
const (
	maxClasses = 2000
	maxKept    = 100 // histograms, each with all its classes; beyond them the newest replaces the one before it
)

var heading, headingOpenJ9, headingUnits = []byte("#instances"), []byte("object count"), []byte("#count")

// matchHead demands the heading and a row of a class.
func matchHead(head []byte) format.Confidence {
	titled, openJ9 := false, false
	for l := range bytes.Lines(head) {
		l = bytes.TrimRight(l, "\r\n")
		if isHeading(l) {
			titled, openJ9 = true, isOfOpenJ9(l)
			continue
		}
		if _, ok := readRow(l, openJ9); ok && titled {
			return format.Sure
		}
	}
	return format.No
}

func isHeading(l []byte) bool {
	i := bytes.Index(l, heading)
	return i > 0 && bytes.Contains(l[i:], []byte("#bytes")) && bytes.Contains(l[i:], []byte("class name")) || isOfOpenJ9(l) || isOfUnits(l)
}

func isOfUnits(l []byte) bool {
	i := bytes.Index(l, headingUnits)
	return i > 0 && bytes.Contains(l[i:], []byte("#bytes")) && bytes.Contains(l[i:], []byte("#class description"))
}

func isOfOpenJ9(l []byte) bool {
	i := bytes.Index(l, headingOpenJ9)
	return i > 0 && bytes.Contains(l[i:], []byte("total size")) && bytes.Contains(l[i:], []byte("class name"))
}

// row is a line of a histogram.
type row struct {
	class            string
	instances, bytes int64
	rank             int64 // 0: the sum of all classes
}

// readRow reads "   1:         20111        1391024  [B (java.base@25.0.3)", with the
// decorations of a log before it, and the sum of all; below a heading of OpenJ9 the rank
// has no colon.
func readRow(l []byte, openJ9 bool) (r row, ok bool) {
	if i := bytes.LastIndex(l[:min(len(l), 200)], []byte("] ")); i >= 0 && len(l) > 0 && l[0] == '[' {
		l = l[i+2:]
		if i := bytes.IndexByte(l, ')'); i >= 0 && bytes.HasPrefix(l, []byte("GC(")) {
			l = l[i+1:]
		}
	}
	l = bytes.TrimLeft(l, " \t")
	first, rest, ok := bytes.Cut(l, []byte(" "))
	if !ok {
		return r, false
	}
	rank, numbered := bytes.CutSuffix(first, []byte(":"))
	numbered = numbered || openJ9 && first[0] >= '0' && first[0] <= '9'
	switch {
	case numbered:
		if r.rank, ok = parseCount(rank); !ok || r.rank == 0 {
			return r, false
		}
	case string(first) != "Total":
		return r, false
	}
	fields := bytes.Fields(bytes.TrimPrefix(rest[:min(len(rest), 4096)], []byte(": ")))
	if len(fields) < 2 || numbered && len(fields) < 3 {
		return r, false
	}
	var had [2]bool
	r.instances, had[0] = parseCount(fields[0])
	r.bytes, had[1] = parseSize(fields[1])
	if numbered {
		r.class = Readable(string(fields[2]))
	}
	return r, had[0] && had[1]
}

// sizeUnits are those behind sizes, in bytes.
var sizeUnits = map[byte]float64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30}

// parseSize reads "1391024" and "1020.6m" in bytes.
func parseSize(b []byte) (int64, bool) {
	unit := sizeUnits[b[len(b)-1]]
	if unit == 0 {
		return parseCount(b)
	}
	v, err := strconv.ParseFloat(string(b[:len(b)-1]), 64)
	if err != nil || !(v >= 0 && v < 1e9) {
		return 0, false
	}
	return int64(v * unit), true
}

func parseCount(b []byte) (int64, bool) {
	n, err := strconv.ParseUint(string(b), 10, 62)
	return int64(n), err == nil
}

// primitives are HotSpot's names for arrays of numbers.
var primitives = map[string]string{"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short", "Z": "boolean"}

// Readable returns a class as in Java's source: "[B" is byte[], "[[Ljava.lang.String;"
// java.lang.String[][]. It leaves out the part of a hidden class's name that differs from run to
// run.
func Readable(class string) string {
	element := strings.TrimLeft(class, "[")
	arrays := len(class) - len(element)
	if arrays > 0 {
		if p, ok := primitives[element]; ok {
			element = p
		} else {
			element = strings.TrimSuffix(strings.TrimPrefix(element, "L"), ";")
		}
	}
	if i := strings.Index(element, "$$Lambda"); i >= 0 {
		element = element[:i+len("$$Lambda")]
	} else if i := strings.IndexAny(element, "/+"); i > 0 && strings.HasPrefix(element[i+1:], "0x") {
		element = element[:i]
	}
	return strings.ToValidUTF8(element, "?") + strings.Repeat("[]", min(arrays, 255))
}

type histogram struct {
	at    int64
	line  int64
	rows  []row
	lines []int64
	total row
	names map[string]int // row of each class

	openJ9 bool
}

type parser struct {
	b          *evidence.Builder
	now        *histogram
	done       []*histogram
	small      int64 // classes that were not kept
	smallBytes int64 // of them
	more       int   // histograms that were not
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(l)
		return l.Number%4096 != 0 || ctx.Err() == nil
	})
	p.endHistogram()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && len(p.done) == 0:
		return err
	case len(p.done) == 0:
		return errors.New("class histogram: it holds no class: take it again with jcmd PID GC.class_histogram")
	case err != nil:
		b.Warnf(0, "the histogram is incomplete: %v", err)
		b.Cut()
	}
	p.emitHistograms()
	return nil
}

func (p *parser) parseLine(l format.Line) {
	if isHeading(l.Text) {
		p.endHistogram()
		p.now = &histogram{at: l.Stamp, line: l.Number, names: make(map[string]int), openJ9: isOfOpenJ9(l.Text)}
		return
	}
	if p.now == nil {
		return
	}
	r, ok := readRow(l.Text, p.now.openJ9)
	h := p.now
	switch {
	case !ok:
		return // the line below the heading, or one of another program
	case r.rank == 0:
		h.total = r
		p.endHistogram()
		return
	}
	if i, known := h.names[r.class]; known { // hidden classes whose names became equal
		h.rows[i].instances += r.instances
		h.rows[i].bytes += r.bytes
		return
	}
	if len(h.rows) == maxClasses {
		p.small++
		p.smallBytes += r.bytes
		return
	}
	h.names[r.class] = len(h.rows)
	h.rows = append(h.rows, r)
	h.lines = append(h.lines, l.Number)
}

func (p *parser) endHistogram() {
	h := p.now
	p.now = nil
	if h == nil || len(h.rows) == 0 {
		return
	}
	if len(p.done) == maxKept {
		p.done = p.done[:maxKept-1]
		p.more++
	}
	p.done = append(p.done, h)
}
