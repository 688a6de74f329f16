package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// cmsPhases maps the log's names of CMS's concurrent phases to ours.
var cmsPhases = [...]struct{ text, name string }{
	{"mark", "concurrent mark"},
	{"abortable-preclean", "concurrent abortable preclean"},
	{"preclean", "concurrent preclean"},
	{"sweep", "concurrent sweep"},
	{"reset", "concurrent reset"},
}

// cmsPhase reads "concurrent-mark-start]" or "concurrent-mark: 0.079/0.082 secs]" (the
// CPU time and the wall-clock time) from position i on.
func (l *legacy) cmsPhase(text []byte, i int) int {
	l.seen |= seenCMS
	i += len("concurrent-")
	for _, p := range cmsPhases {
		if !hasPrefix(text[i:], p.text) {
			continue
		}
		i += len(p.text)
		if hasPrefix(text[i:], "-start]") {
			l.setKind(startLine)
			l.takeTime()
			return i + len("-start]")
		}
		for i < len(text) && !isDigit(text[i]) && text[i] != ']' && text[i] != '[' {
			i++
		}
		_, n := parseDecimal(text[i:])
		if n == 0 || i+n == len(text) || text[i+n] != '/' {
			break
		}
		i += n + 1
		wall, n := parseDecimal(text[i:])
		if n == 0 {
			break
		}
		l.addPhase(p.name, wall, "")
		return skipBracket(text, i+n)
	}
	l.strange = true
	return skipBracket(text, i)
}

// addPhase adds a concurrent phase that ends now and took wall ns.
func (l *legacy) addPhase(name string, wall int64, failure string) {
	l.gave = true
	l.flushPhase()
	l.conc = newEvent(evidence.GCConcurrent)
	l.conc.name, l.conc.failure, l.conc.line = name, failure, l.number
	l.conc.end = l.takeTime()
	l.conc.start, l.conc.of = l.conc.end-wall, l.o.clock.current+1
	l.concs, l.last = true, timedPhase
}

// skipBracket returns the position behind the bracket that ends here, or before one that opens
// first.
func skipBracket(text []byte, i int) int {
	i = skipTo(text, i)
	if i < len(text) && text[i] == ']' {
		i++
	}
	return i
}

// g1Phases are G1's concurrent phases.
var g1Phases = [...]struct{ text, name string }{
	{"root-region-scan", "concurrent root region scan"},
	{"mark", "concurrent mark"},
	{"count", "concurrent count"},
	{"cleanup", "concurrent cleanup"},
	{"string-deduplication", "concurrent string deduplication"},
}

// g1Phase reads "concurrent-mark-start]", "concurrent-mark-end, 0.0027385 secs]",
// "concurrent-mark-abort]" and
// "concurrent-string-deduplication, 31.4K->7128.0B(24.5K), avg 67.3%, 0.0009256 secs]".
func (l *legacy) g1Phase(text []byte, i int) int {
	l.seen |= seenG1
	end := skipBracket(text, i)
	s := text[i+len("concurrent-") : end]
	for _, p := range g1Phases {
		if !hasPrefix(s, p.text) {
			continue
		}
		r := s[len(p.text):]
		switch {
		case hasPrefix(r, "-start"):
			l.setKind(startLine)
			t := l.takeTime()
			if p.text == "mark" {
				l.concStart = t
			}
		case hasPrefix(r, "-end"), hasPrefix(r, ","):
			if wall, ok := lastSeconds(r); ok {
				l.addPhase(p.name, wall, "")
			} else {
				l.setKind(detailLine)
				l.takeTime()
			}
			if p.text == "mark" {
				l.concStart = unknown
			}
		case hasPrefix(r, "-abort"):
			if l.concStart == unknown {
				l.takeTime()
				l.setKind(startLine)
				break
			}
			l.addPhase(p.name, 0, "aborted")
			l.conc.start, l.concStart = min(l.concStart, l.conc.end), unknown
		case hasPrefix(r, "-reset-for-overflow"):
			l.setKind(startLine)
			l.takeTime()
		default: // "[GC concurrent-string-deduplication]"
			l.setKind(startLine)
			l.takeTime()
		}
		return end
	}
	l.strange = true
	return end
}

// lastSeconds reads the last decimal of "…, 0.0009256 secs]", or of "…, 0.0000684]".
func lastSeconds(s []byte) (ns int64, ok bool) {
	i := bytes.LastIndexByte(s, ' ')
	if i < 0 {
		return 0, false
	}
	if i+1 < len(s) && s[i+1] == 's' { // "secs]"
		if i = bytes.LastIndexByte(s[:i], ' '); i < 0 {
			return 0, false
		}
	}
	ns, n := parseDecimal(s[i+1:])
	return ns, n > 0 && hasFraction(s[i+1:i+1+n])
}

// scanEden reads what G1 prints below a pause from position i on: "Eden: 14.0M(14.0M)->0.0B(12.0M)
// Survivors: 3072.0K->3072.0K Heap: 54.8M(77.0M)->54.8M(88.0M)]".
func (l *legacy) scanEden(text []byte, i int) int {
	end := skipBracket(text, i)
	s := text[i:end]
	eden, ok1 := parseChange(s, "Eden: ")
	survivors, ok2 := parseChange(s, "Survivors: ")
	heap, ok3 := parseChange(s, "Heap: ")
	if !ok1 || !ok2 || !ok3 {
		l.strange = true
		return end
	}
	l.gave = true
	if l.held || l.depth > 0 {
		l.e.heap = heap
		l.e.young = sizes{eden.before + survivors.before, eden.after + survivors.after, eden.capacity + survivors.after}
	}
	return end
}

// parseChange reads "14.0M(14.0M)->0.0B(12.0M)" or "3072.0K->3072.0K" behind a word.
func parseChange(s []byte, word string) (x sizes, ok bool) {
	i := bytes.Index(s, []byte(word))
	if i < 0 {
		return x, false
	}
	x.capacity = unknown
	i += len(word)
	var n int
	if x.before, n = parseSize(s[i:]); n == 0 {
		return x, false
	}
	i += n
	if i < len(s) && s[i] == '(' {
		_, n := parseSize(s[i+1:])
		i += n + 2
	}
	if i > len(s) || !hasPrefix(s[i:], "->") {
		return x, false
	}
	i += 2
	if x.after, n = parseSize(s[i:]); n == 0 {
		return x, false
	}
	i += n
	if i < len(s) && s[i] == '(' {
		if c, n := parseSize(s[i+1:]); n > 0 {
			x.capacity = c
		}
	}
	return x, true
}
