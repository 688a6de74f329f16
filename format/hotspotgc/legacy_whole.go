package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/evidence"
)

// wholePause is a collection that stands on one line from its stamps to its end, as nearly all
// of a legacy log do. What came before it changes nothing in it but its time, so the workers
// read it, which is most of the work; whoever takes the lines in order gives it its place.
type wholePause struct {
	e            event  // but for when it was, and whose
	date, uptime int64  // of its first stamp, unknown without
	took         int64  // ns
	trigger      []byte // of the line's text
	seen         collectors
	timed        bool // it has its processor times
}

// wholeReader reads such lines for one worker, without the brackets' stack: that is twice as
// fast. What it does not know it leaves to [legacy], which reads the same of the same line.
type wholeReader struct {
	day   dateCache
	cause []byte // of the latest line that had one, in its brackets: most are as the one before

	text         []byte
	at           int
	p            *wholePause
	date, uptime int64 // of the latest stamp
	heap         bool  // its sizes were read
	lies         bool  // a stamp was read that no bracket has taken
}

// read says whether a line is a whole pause, and reads it into p.
func (r *wholeReader) read(text []byte, p *wholePause) bool {
	if len(text) == 0 || !isDigit(text[0]) {
		return false
	}
	r.text, r.at, r.p, r.heap, r.date, r.uptime = text, 0, p, false, unknown, unknown
	full := false
	for r.at < len(text) && isDigit(text[r.at]) {
		if !r.stamp() {
			return false
		}
		r.skip()
	}
	p.e, p.date, p.uptime, p.took = newPause, r.date, r.uptime, unknown
	p.trigger, p.seen, p.timed = nil, 0, false
	switch {
	case r.has("[GC"):
		r.at += len("[GC")
	case r.has("[Full GC"):
		full = true
		r.at += len("[Full GC")
	default:
		return false
	}
	if r.has(" (") && !r.reason() {
		return false
	}
	return r.parts() && r.ended(full) && r.times()
}

// parts reads generations, sizes and the duration, up to the end of the pause.
func (r *wholeReader) parts() bool {
	for r.lies = false; r.at < len(r.text); {
		switch c := r.text[r.at]; {
		case c == ' ' || c == ',' || c == ':':
			r.at++
		case c == '[':
			if !r.generation() {
				return false
			}
			r.lies = false
		case c == ']':
			r.at++
			return !r.lies && r.heap && r.p.took != unknown
		case !isDigit(c):
			return false
		case r.change(&r.p.e.heap):
			if r.heap {
				return false
			}
			r.heap = true
		case r.seconds(&r.p.took):
		case r.stamp():
			r.lies = true
		default:
			return false
		}
	}
	return false
}

// ended names the pause by what it collected.
func (r *wholeReader) ended(full bool) bool {
	e := &r.p.e
	switch {
	case full:
		e.pause, e.name = evidence.PauseFull, "Full GC"
	case e.pause != evidence.PauseFull:
		e.pause = evidence.PauseYoung
		if e.name == "" {
			e.name = "GC"
		}
	}
	return true
}

// generation reads "[ParNew: 1770060K->25950K(1922432K), 0.0317141 secs]".
func (r *wholeReader) generation() bool {
	s := r.text[r.at+1:]
	for j := range frameNames {
		f := &frameNames[j]
		if !has(s, f.text) {
			continue
		}
		r.at += 1 + len(f.text)
		r.skip()
		var x sizes
		took := int64(unknown)
		if !r.change(&x) {
			return false
		}
		r.skip()
		if r.at == len(r.text) || r.text[r.at] != ']' && !r.seconds(&took) {
			return false
		}
		if !r.has("]") {
			return false
		}
		r.at++
		r.p.seen |= f.from
		switch e := &r.p.e; f.kind {
		case youngFrame:
			e.young, e.youngTime = x, took
			if e.name == "" {
				e.name = f.name
			}
		case oldFrame:
			e.old, e.name, e.pause = x, combined(e.name, f.name), evidence.PauseFull
		case metaFrame:
			e.meta = x
		default:
			return false
		}
		return true
	}
	return false
}

// reason reads " (Allocation Failure)". Words of other meaning in brackets begin with a small
// letter, but for JDK 6's "System"; those of CMS tell of other pauses.
func (r *wholeReader) reason() bool {
	s := r.text[r.at+1:]
	if len(r.cause) == 0 || !bytes.HasPrefix(s, r.cause) {
		n := inParentheses(s)
		if n < 0 || !isUpper(s[1]) || has(s, "(CMS") || has(s, "(System)") {
			return false
		}
		r.cause = append(r.cause[:0], s[:n+1]...)
	}
	r.p.trigger = s[1 : len(r.cause)-1]
	r.at += 1 + len(r.cause)
	return true
}

// times reads "[Times: …]", if there is one, and the end of the line.
func (r *wholeReader) times() bool {
	r.at = skipSpace(r.text, r.at)
	if r.has("[Times:") {
		v, end, ok := processorTimes(r.text, r.at+len("[Times:"))
		if !ok || r.text[end-1] != ']' {
			return false
		}
		r.p.e.user, r.p.e.system, r.p.e.real, r.p.timed = v[0], v[1], v[2], true
		r.at = skipSpace(r.text, end)
	}
	return r.at == len(r.text)
}

// stamp reads a date or an uptime.
func (r *wholeReader) stamp() bool {
	s := r.text[r.at:]
	if len(s) > 4 && s[4] == '-' {
		ns, n := r.day.read(s)
		r.date, r.uptime = ns, unknown
		r.at += n
		return n > 0
	}
	whole, n := shortNumber(s)
	ns, end := decimalOf(whole, s, n)
	if n == 0 || end == n || end <= 3 || end == len(s) || s[end] != ':' {
		return false
	}
	r.uptime = ns
	r.at += end + 1
	return true
}

// change reads "1770060K->25950K(1922432K)", of whole units.
func (r *wholeReader) change(to *sizes) bool {
	s := r.text[r.at:]
	before, n := wholeSize(s)
	if n == 0 || !has(s[n:], "->") {
		return false
	}
	n += len("->")
	after, m := wholeSize(s[n:])
	n += m
	if m == 0 || n == len(s) || s[n] != '(' {
		return false
	}
	n++
	capacity, m := wholeSize(s[n:])
	n += m
	if m == 0 || n == len(s) || s[n] != ')' {
		return false
	}
	*to = sizes{before, after, capacity}
	r.at += n + 1
	return true
}

// seconds reads "0.0317141 secs".
func (r *wholeReader) seconds(to *int64) bool {
	s := r.text[r.at:]
	whole, n := shortNumber(s)
	if n == 0 {
		return false
	}
	ns, n := decimalOf(whole, s, n)
	if !has(s[n:], " secs") {
		return false
	}
	*to = ns
	r.at += n + len(" secs")
	return true
}

func (r *wholeReader) has(s string) bool { return has(r.text[r.at:], s) }

func (r *wholeReader) skip() {
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == ',' || r.text[r.at] == ':') {
		r.at++
	}
}

// shortNumber reads the digits that s begins with, nine at most: more are not of a whole pause.
func shortNumber(s []byte) (v int64, n int) {
	for n < len(s) && n < 9 && isDigit(s[n]) {
		v = v*10 + int64(s[n]-'0')
		n++
	}
	if n == 9 && n < len(s) && isDigit(s[n]) {
		return 0, 0
	}
	return v, n
}

// wholeSize reads "25950K" in bytes; its length is 0 if it is none.
func wholeSize(s []byte) (bytes int64, n int) {
	v, n := shortNumber(s)
	if n == 0 || n == len(s) {
		return 0, 0
	}
	u := unit(s[n])
	if u == 0 {
		return 0, 0
	}
	return v * u, n + 1
}

// pause takes a pause that a worker read, if nothing of the lines before is open.
func (l *legacy) pause(s *looked, number int64) bool {
	if l.depth > 0 || l.date != unknown || l.uptime != unknown {
		return false
	}
	l.flush()
	p := s.pause
	l.whole, s.pause = p, l.whole // it may wait for details after the worker reads others
	l.e, l.date, l.uptime = &p.e, p.date, p.uptime
	e := l.e
	e.start = l.at()
	e.of, e.end, e.line = l.o.clock.current+1, e.start+p.took, number
	if p.trigger != nil {
		if l.trigger != string(p.trigger) {
			l.trigger = l.o.text(p.trigger)
		}
		e.trigger = l.trigger
	}
	l.inner, l.begunAt, l.begunN = unknown, number, 0
	l.seen |= p.seen
	l.held, l.pauseEnd, l.last = true, e.end, timedPause
	if p.timed {
		l.last = timedNothing
	}
	l.o.clock.pass(e.end)
	return true
}
