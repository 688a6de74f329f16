package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// wholePause is a collection on one line from its stamps to its end, as nearly all
// of a legacy log are. Earlier lines change only its time, so workers
// read it, which is most of the work; the reader that takes lines in order places it.
type wholePause struct {
	e            event  // without its time and its process
	date, uptime int64  // of its first stamp, unknown without
	took         int64  // ns
	trigger      []byte // of the line's text
	seen         collectors
	timed        bool // it has its CPU times
}

// wholeReader reads such lines for one worker, without the stack of brackets. It leaves other
// lines to [legacy], which reads the same from the same line.
type wholeReader struct {
	day   dateCache
	cause []byte // of the latest line that had one, in its brackets: most lines repeat it
}

// parsePause reads a line that is a complete pause into p, and returns false for other lines.
func (r *wholeReader) parsePause(text []byte, p *wholePause) bool {
	p.e, p.date, p.uptime, p.took = newPause, unknown, unknown, unknown
	p.trigger, p.seen, p.timed = nil, 0, false
	i := 0
	for i < len(text) && isDigit(text[i]) {
		var none sizes
		is, v, end := r.parseFigure(text, i, &none)
		switch is {
		case wholeDate:
			p.date, p.uptime = v, unknown
		case wholeUptime:
			p.uptime = v
		default:
			return false
		}
		i = skipMarks(text, end)
	}
	full := hasPrefix(text[i:], "[Full GC")
	switch {
	case full:
		i += len("[Full GC")
	case hasPrefix(text[i:], "[GC"):
		i += len("[GC")
	default:
		return false
	}
	if hasPrefix(text[i:], " (") {
		if i = r.parseReason(text, i+1, p); i < 0 {
			return false
		}
	}
	if i = r.parseParts(text, i, p); i < 0 {
		return false
	}
	switch e := &p.e; {
	case full:
		e.pause, e.name = evidence.PauseFull, "Full GC"
	case e.pause != evidence.PauseFull:
		e.pause = evidence.PauseYoung
		if e.name == "" {
			e.name = "GC"
		}
	}
	return p.parseTimes(text, i)
}

// parseReason reads "(Allocation Failure)" at i and returns where it ends, −1 for other text.
// Words with another meaning begin with a small letter, except JDK 6's "System"; those of CMS mark
// other pauses.
func (r *wholeReader) parseReason(text []byte, i int, p *wholePause) int {
	s := text[i:]
	if len(r.cause) == 0 || !bytes.HasPrefix(s, r.cause) {
		n := inParentheses(s)
		if n < 0 || !isUpper(s[1]) || hasPrefix(s, "(CMS") || hasPrefix(s, "(System)") {
			return -1
		}
		r.cause = append(r.cause[:0], s[:n+1]...)
	}
	p.trigger = s[1 : len(r.cause)-1]
	return i + len(r.cause)
}

// parseParts reads generations, sizes and the duration from i on, and returns where the pause
// ends, −1 for other text.
func (r *wholeReader) parseParts(text []byte, i int, p *wholePause) int {
	heap := false  // was read
	stamp := false // was read, and no bracket has taken it
	for i < len(text) {
		switch c := text[i]; {
		case c == ' ' || c == ',' || c == ':':
			i++
		case isDigit(c):
			is, v, end := r.parseFigure(text, i, &p.e.heap)
			switch {
			case is == wholeChange && !heap:
				heap = true
			case is == wholeSeconds:
				p.took = v
			case is == wholeDate || is == wholeUptime:
				stamp = true
			default:
				return -1
			}
			i = end
		case c == '[':
			if i = r.parseGeneration(text, i+1, p); i < 0 {
				return -1
			}
			stamp = false
		case c == ']' && heap && !stamp && p.took != unknown:
			return i + 1
		default:
			return -1
		}
	}
	return -1
}

// parseGeneration reads "ParNew: 1770060K->25950K(1922432K), 0.0317141 secs]" and returns where it
// ends, −1 if it is none.
func (r *wholeReader) parseGeneration(text []byte, i int, p *wholePause) int {
	f := frameOf(text[i:])
	if f == nil {
		return -1
	}
	var change, none sizes
	took := int64(unknown)
	is, _, i := r.parseFigure(text, skipMarks(text, i+len(f.text)), &change)
	if is != wholeChange {
		return -1
	}
	if i = skipMarks(text, i); i < len(text) && isDigit(text[i]) {
		if is, took, i = r.parseFigure(text, i, &none); is != wholeSeconds {
			return -1
		}
	}
	if i == len(text) || text[i] != ']' {
		return -1
	}
	p.seen |= f.from
	switch e := &p.e; f.kind {
	case youngFrame:
		e.young, e.youngTime = change, took
		if e.name == "" {
			e.name = f.name
		}
	case oldFrame:
		e.old, e.name, e.pause = change, combinedName(e.name, f.name), evidence.PauseFull
	case metaFrame:
		e.meta, e.perm = change, f.name == perm
	default:
		return -1
	}
	return i + 1
}

// parseTimes reads "[Times: …]" at i, if it is there, and says whether the line ends then.
func (p *wholePause) parseTimes(text []byte, i int) bool {
	i = skipSpace(text, i)
	if hasPrefix(text[i:], "[Times:") {
		v, end, ok := processorTimes(text, i+len("[Times:"))
		if !ok || text[end-1] != ']' {
			return false
		}
		p.e.user, p.e.system, p.e.real, p.timed = v[0], v[1], v[2], true
		i = skipSpace(text, end)
	}
	return i == len(text)
}

// wholeFigure is text in such a line that begins with a digit.
type wholeFigure uint8

const (
	wholeNothing wholeFigure = iota
	wholeDate                // "2020-03-25T16:16:18.390+0800"
	wholeUptime              // "1294233.934:"
	wholeSeconds             // "0.0317141 secs"
	wholeChange              // "1770060K->25950K(1922432K)"
)

// parseFigure reads the figure at i, and returns where it ends: a time in ns, or sizes in whole
// units.
func (r *wholeReader) parseFigure(text []byte, i int, change *sizes) (is wholeFigure, ns int64, end int) {
	whole, n := shortNumber(text, i)
	if n == i || n == len(text) {
		return wholeNothing, 0, i
	}
	switch c := text[n]; {
	case c == '.' || c == ',':
		ns, end = decimalOf(whole, text, n)
		switch {
		case end == n:
		case hasPrefix(text[end:], " secs"):
			return wholeSeconds, ns, end + len(" secs")
		case end-i > 3 && end < len(text) && text[end] == ':':
			return wholeUptime, ns, end + 1
		}
	case c == '-' && n == i+4:
		if ns, n := r.day.parseDate(text[i:]); n > 0 {
			return wholeDate, ns, i + n
		}
	default:
		before := whole * unitBytes(c)
		if n++; unitBytes(c) == 0 || !hasPrefix(text[n:], "->") {
			break
		}
		after, n := wholeSize(text, n+len("->"))
		if n == len(text) || text[n] != '(' {
			break
		}
		capacity, n := wholeSize(text, n+1)
		if n == len(text) || text[n] != ')' {
			break
		}
		*change = sizes{before, after, capacity}
		return wholeChange, 0, n + 1
	}
	return wholeNothing, 0, i
}

// shortNumber reads at most nine digits at i, and returns where they end; i if there are more.
func shortNumber(text []byte, i int) (v int64, end int) {
	for end = i; end < len(text) && isDigit(text[end]); end++ {
		v = v*10 + int64(text[end]-'0')
	}
	if end > i+9 {
		return 0, i
	}
	return v, end
}

// wholeSize reads "25950K" at i in bytes, and returns where it ends; for other text it returns the
// end of the text.
func wholeSize(text []byte, i int) (v int64, end int) {
	v, n := shortNumber(text, i)
	if n == i || n == len(text) || unitBytes(text[n]) == 0 {
		return 0, len(text)
	}
	return v * unitBytes(text[n]), n + 1
}

// skipMarks returns the end of the text between figures.
func skipMarks(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == ',' || text[i] == ':') {
		i++
	}
	return i
}

// takePause takes a pause that a worker read, if no earlier line is still open.
func (l *legacy) takePause(s *looked, number int64) bool {
	if l.depth > 0 || l.date != unknown || l.uptime != unknown {
		return false
	}
	l.flushPause()
	p := s.pause
	l.whole, s.pause = p, l.whole // it may wait for details after the worker reads other lines
	l.e, l.date, l.uptime = &p.e, p.date, p.uptime
	e := l.e
	e.start = l.takeTime()
	e.of, e.end, e.line = l.o.clock.current+1, e.start+p.took, number
	if p.trigger != nil {
		if l.trigger != string(p.trigger) {
			l.trigger = l.o.internText(p.trigger)
		}
		e.trigger = l.trigger
	}
	l.inner, l.begunAt, l.begunN = unknown, number, 0
	l.seen |= p.seen
	l.held, l.pauseEnd, l.last = true, e.end, timedPause
	if p.timed {
		l.last = timedNothing
	}
	l.o.clock.advanceTo(e.end)
	return true
}
