package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Shenandoah in JDK 8 uses the names and units of later JDKs, in brackets of
// its own:
//
//	0.467: [Concurrent cleanup 21278K->4701K(37888K), 0.048 ms]
//	120839.710: [Pause Full 1589M->1002M(1690M), 4077.274 ms]
//
// The stamp is of the beginning, except for a bracket whose beginning has a line of its own,
// "[Pause Full, start]".

// openShenandoah opens the bracket of a pause or of a phase at i.
func (l *legacy) openShenandoah(text []byte, i int) int {
	l.seen |= seenShenandoah
	title, next := shenandoahTitle(text, i+1)
	name := l.o.internText(title)
	if hasPrefix(text[next:], ", start]") {
		l.setKind(startLine)
		l.started = name
		l.takeTime()
		return next + len(", start]")
	}
	kind := phaseFrame
	if hasPrefix(title, "Pause ") {
		kind = pauseFrame
	}
	if l.depth > 0 {
		l.abandonPause()
	}
	l.flushPause()
	l.gave = true
	l.opened = l.takeTime()
	if kind == pauseFrame {
		*l.e = newPause
		l.e.start, l.e.of = l.opened, l.o.clock.current+1
	}
	l.begunAt, l.begunN = l.number, 0
	return l.push(kind, name, next)
}

// shenandoahTitle returns the name of what begins at i, with the parentheses behind
// it, and its end.
func shenandoahTitle(text []byte, i int) (title []byte, end int) {
	for end = i; end < len(text) && text[end] != ',' && text[end] != ']'; end++ {
		if text[end] == ' ' && end+1 < len(text) && isDigit(text[end+1]) {
			break
		}
	}
	return bytes.TrimRight(text[i:end], " "), end
}

// headOf returns the meaning of a name, parsed once for each name.
func (l *legacy) headOf(name string) *head {
	h := l.heads[name]
	if h == nil {
		h = newHead(name)
		if len(l.heads) < maxHeads {
			l.heads[name] = h
		}
	}
	return h
}

// bracketSpan returns when a bracket was open. The stamp is of its end if its beginning had a line
// of its own, else of its beginning.
func (l *legacy) bracketSpan(f *frame) (start, end int64) {
	if l.started == f.name {
		l.started = ""
		return l.opened - f.duration, l.opened
	}
	return l.opened, l.opened + f.duration
}

func (l *legacy) shenandoahEnded(f *frame) {
	h := l.headOf(f.name)
	l.e.pause, l.e.name, l.e.trigger = h.pause, h.name, h.trigger
	l.e.start, l.e.end = l.bracketSpan(f)
}

func (l *legacy) phaseEnded(f *frame) {
	if f.duration == unknown {
		l.strange = true
		return
	}
	l.flushPhase()
	l.conc = newEvent(evidence.GCConcurrent)
	l.conc.name, l.conc.line, l.conc.of = l.headOf(f.name).name, l.number, l.o.clock.current+1
	l.conc.heap = f.sizes
	l.conc.start, l.conc.end = l.bracketSpan(f)
	l.concs = true
}

// isStatistics says whether a line is a row of Shenandoah's figures of its phases, or of G1's
// remembered sets.
func isStatistics(line []byte) bool {
	return bytes.HasSuffix(line, []byte(" us")) || bytes.Contains(line, []byte(" us, ")) || bytes.Contains(line, []byte(" us) (n =")) || bytes.Contains(line, []byte("%): ")) ||
		bytes.HasPrefix(line, []byte("All times are wall-clock")) || bytes.HasPrefix(line, []byte("all workers. Dividing"))
}
