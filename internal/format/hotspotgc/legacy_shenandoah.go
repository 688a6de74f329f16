package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Shenandoah was brought to JDK 8 with the names and units of later JDKs in brackets of
// its own time:
//
//	0.467: [Concurrent cleanup 21278K->4701K(37888K), 0.048 ms]
//	120839.710: [Pause Full 1589M->1002M(1690M), 4077.274 ms]
//
// The stamp is of the beginning, but for a bracket whose beginning has a line of its own,
// "[Pause Full, start]".

// openShenandoah opens the bracket of a pause or of a phase at i.
func (l *legacy) openShenandoah(text []byte, i int) int {
	l.seen |= seenShenandoah
	title, next := shenandoahTitle(text, i+1)
	name := l.o.text(title)
	if has(text[next:], ", start]") {
		l.ignore(startLine)
		l.started = name
		l.at()
		return next + len(", start]")
	}
	kind := phaseFrame
	if has(title, "Pause ") {
		kind = pauseFrame
	}
	if l.depth > 0 {
		l.abandon()
	}
	l.flush()
	l.gave = true
	l.opened = l.at()
	if kind == pauseFrame {
		*l.e = newPause
		l.e.start, l.e.of = l.opened, l.o.clock.current+1
	}
	l.begunAt, l.begunN = l.number, 0
	return l.push(kind, name, next)
}

// shenandoahTitle is the name of what begins at i, with what stands in parentheses behind
// it, and where it ends.
func shenandoahTitle(text []byte, i int) (title []byte, end int) {
	for end = i; end < len(text) && text[end] != ',' && text[end] != ']'; end++ {
		if text[end] == ' ' && end+1 < len(text) && isDigit(text[end+1]) {
			break
		}
	}
	return bytes.TrimRight(text[i:end], " "), end
}

// head is what a name says, looked up once for each.
func (l *legacy) head(name string) *head {
	h := l.heads[name]
	if h == nil {
		h = newHead(name)
		if len(l.heads) < maxHeads {
			l.heads[name] = h
		}
	}
	return h
}

// span is when a bracket was open: see above for which end is stamped.
func (l *legacy) span(f *frame) (start, end int64) {
	if l.started == f.name {
		l.started = ""
		return l.opened - f.duration, l.opened
	}
	return l.opened, l.opened + f.duration
}

func (l *legacy) shenandoahEnded(f *frame) {
	h := l.head(f.name)
	l.e.pause, l.e.name, l.e.trigger = h.pause, h.name, h.trigger
	l.e.start, l.e.end = l.span(f)
}

func (l *legacy) phaseEnded(f *frame) {
	if f.duration == unknown {
		l.strange = true
		return
	}
	l.flushPhase()
	l.conc = newEvent(evidence.GCConcurrent)
	l.conc.name, l.conc.line, l.conc.of = l.head(f.name).name, l.number, l.o.clock.current+1
	l.conc.heap = f.sizes
	l.conc.start, l.conc.end = l.span(f)
	l.concs = true
}

// statistics says whether a line is a row of what Shenandoah prints of its phases, or G1
// of its remembered sets.
func statistics(line []byte) bool {
	return bytes.HasSuffix(line, []byte(" us")) || bytes.Contains(line, []byte(" us, ")) || bytes.Contains(line, []byte(" us) (n =")) || bytes.Contains(line, []byte("%): ")) ||
		bytes.HasPrefix(line, []byte("All times are wall-clock")) || bytes.HasPrefix(line, []byte("all workers. Dividing"))
}
