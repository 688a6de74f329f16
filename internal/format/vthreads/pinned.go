package vthreads

import (
	"bytes"
	"context"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Pinned reads what a JVM (JDK 19 to 23) prints with -Djdk.tracePinnedThreads when a virtual thread waits without releasing its carrier: the thread, and its
// stack ("full") or the frames that hold it ("short"), between the lines of the program's own log:
//
//	Thread[#22,ForkJoinPool-1-worker-1,5,CarrierThreads]
//	    java.base/java.lang.VirtualThread$VThreadContinuation.onPinned(VirtualThread.java:183)
//	    shop.Cart.total(Cart.java:31) <== monitors:1
//	VirtualThread[#20]/runnable@ForkJoinPool-1-worker-2 reason:MONITOR          since 21.0.4 and 22
//	    shop.Cart.total(Cart.java:31) <== monitors:1
//
// Each stack is printed once, so that the number of prints tells of code, not of how often or how long threads wait there.
// https://github.com/openjdk/jdk/blob/jdk-22+36/src/java.base/share/classes/java/lang/PinnedThreadPrinter.java
var Pinned = format.Format{
	Name:  "pinnedthreads",
	About: "virtual threads that keep their carriers while they wait, as a JVM prints them: -Djdk.tracePinnedThreads (JDK 19 to 23)",
	Match: matchPinned,
	Parse: parsePinned,
}

// Bounds of what is kept.
const (
	mostCarriers = 10_000
	mostLine     = 1024
)

var (
	pinnedMark  = []byte(" <== monitors:")
	carrierMark = []byte("ForkJoinPool-")
	nativeMark  = []byte("(Native Method)")
)

// carrierOf reads the carrier of a printed thread: "ForkJoinPool-1-worker-1".
func carrierOf(line []byte) (string, bool) {
	line = bytes.TrimSpace(line[:min(len(line), mostLine)])
	at := bytes.Index(line, carrierMark)
	if at < 0 || !bytes.Contains(line[at:], []byte("-worker-")) {
		return "", false
	}
	switch {
	case bytes.HasPrefix(line, []byte("Thread[#")) && bytes.HasSuffix(line, []byte(",CarrierThreads]")):
		name, _, _ := bytes.Cut(line[at:], []byte(","))
		return string(name), true
	case bytes.HasPrefix(line, []byte("VirtualThread[#")) && bytes.Contains(line[at:], []byte(" reason:")):
		name, _, _ := bytes.Cut(line[at:], []byte(" "))
		return string(name), true
	}
	return "", false
}

// pinFrame reads a frame; holds says that it holds monitors, or is native code that a virtual thread is in.
func pinFrame(line []byte) (function string, holds, ok bool) {
	text := bytes.TrimSpace(line[:min(len(line), mostLine)])
	text, number, marked := bytes.Cut(text, pinnedMark)
	if marked && (len(number) == 0 || number[0] == '0') {
		marked = false
	}
	open := bytes.IndexByte(text, '(')
	if open <= 0 || text[len(text)-1] != ')' || bytes.IndexByte(text[:open], ' ') >= 0 || bytes.IndexByte(text[:open], '.') <= 0 {
		return "", false, false
	}
	name := string(text[:open])
	if _, after, module := strings.Cut(name, "/"); module {
		name = after
	}
	return name, marked || bytes.HasSuffix(text, nativeMark), true
}

func matchPinned(head []byte) format.Confidence {
	inside := false
	for l := range bytes.Lines(head) {
		l = bytes.TrimRight(l, "\r\n")
		if _, ok := carrierOf(l); ok {
			inside = true
		} else if inside {
			_, holds, ok := pinFrame(l)
			if holds {
				return format.Sure
			}
			inside = ok
		}
	}
	return format.No
}

// pin is one place that keeps carriers.
type pin struct {
	at   string
	n    int
	line int64
}

// pins are the carriers and the places that were printed.
type pins struct {
	carriers map[string]bool
	places   map[string]*pin
	order    []string
	prints   int
	carrier  string // of the stack that is being read, "" none
	from     int64  // its line
	dropped  int
}

func (p *pins) readLine(text []byte, number int64) {
	if carrier, ok := carrierOf(text); ok {
		p.carrier, p.from = carrier, number
		return
	}
	if p.carrier == "" {
		return
	}
	function, holds, ok := pinFrame(text)
	switch {
	case !ok:
		p.carrier = ""
	case holds: // the innermost that does
		p.prints++
		if len(p.carriers) < mostCarriers {
			p.carriers[p.carrier] = true
		}
		x := p.places[function]
		if x == nil {
			if len(p.places) == mostCarriers {
				p.dropped++
				p.carrier = ""
				return
			}
			x = &pin{at: function, line: p.from}
			p.places[function] = x
			p.order = append(p.order, function)
		}
		x.n++
		p.carrier = ""
	}
}

func parsePinned(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &pins{carriers: make(map[string]bool), places: make(map[string]*pin)}
	err := a.Lines(func(l format.Line) bool {
		p.readLine(l.Text, l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, p.prints > 0, "the text", "pinned threads: no stack that holds a monitor in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "undated", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
	most := p.places[p.order[0]]
	t := evidence.Table{Title: "where virtual threads keep their carriers", Columns: []string{"function", "stacks"}}
	for i, name := range p.order {
		x := p.places[name]
		if x.n > most.n {
			most = x
		}
		if i < mostRows {
			t.Rows = append(t.Rows, []string{strings.ToValidUTF8(name, "?"), format.Count(int64(x.n), "stack", "stacks")})
		}
	}
	b.Table(t)
	b.FactAt(subject, evidence.FactPinnedCarriers, strings.ToValidUTF8(most.at, "?"), float64(len(p.carriers)), most.line)
	b.FactAt(subject, evidence.FactPinnedStacks, "", float64(p.prints), most.line)
	if p.dropped > 0 {
		b.Warnf(0, "stacks of more than %d places, left out: %d", mostCarriers, p.dropped)
	}
	return nil
}

const mostRows = 20
