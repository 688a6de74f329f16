package accesslog

import (
	"bytes"
	"unicode/utf8"
)

// shape says which columns of a text line hold the parts of an access line. -1 is none.
type shape struct {
	time    int // column
	span    int // further columns of the time: 2026-10-10 13:55:36
	request int // quoted "GET / HTTP/1.1"
	method  int // or unquoted: GET /
	status  int
}

// anchorColumn returns the last column that is counted from a line's start. A user agent with stray
// quotes shifts the columns behind it, so later ones are counted from the line's end.
func (s shape) anchorColumn() int { return max(s.time+s.span, s.request, s.method+1, s.status) }

// findShape finds the shape of a line; it returns false if the line is no access line.
func findShape(line []byte, toks []token) (shape, bool) {
	s := shape{-1, 0, -1, -1, -1}
	for i := 0; i < len(toks) && s.time < 0; i++ {
		if span, ok := timeAt(line, toks, i); ok {
			s.time, s.span = i, span
		}
	}
	for i, t := range toks {
		b := t.textIn(line)
		if t.kind == quoted {
			if _, _, ok := parseRequest(b); ok {
				s.request = i
				break
			}
		} else if methods[string(b)] && i+1 < len(toks) && isTarget(toks[i+1].textIn(line)) {
			s.method = i
			break
		}
	}
	from := max(s.request+1, s.method+2)
	if s.request < 0 && s.method < 0 {
		i := s.time + s.span + 1
		if s.time < 0 || i+1 >= len(toks) || toks[s.time].kind != bracketed || toks[i].kind != quoted || !isStatus(toks[i+1].textIn(line)) {
			return s, false
		}
		s.request, from = i, i+1 // a TLS hello, or "-"
	}
	for i := from; i < len(toks) && s.status < 0; i++ {
		if isStatus(toks[i].textIn(line)) && toks[i].kind != bracketed {
			s.status = i
		}
	}
	if s.time < 0 {
		// Its only time is a log collector's stamp: then the line must be beyond doubt.
		return s, s.request >= 0 && s.status == s.request+1
	}
	for i := s.time + s.span + 1; i < from && s.status < 0 && i < len(toks); i++ {
		if isStatus(toks[i].textIn(line)) {
			s.status = i
		}
	}
	return s, s.status >= 0
}

// methods are the words that are read as methods outside of a quoted request.
var methods = map[string]bool{"GET": true, "POST": true, "PUT": true, "DELETE": true, "HEAD": true, "OPTIONS": true, "PATCH": true, "CONNECT": true, "TRACE": true, "PROPFIND": true, "REPORT": true}

func isStatus(b []byte) bool {
	n := statusOf(b)
	return len(b) == 3 && (n == 0 || n >= 100 && n < 600)
}

// timeAt says whether a time starts at column i, and how many further columns it has.
func timeAt(line []byte, toks []token, i int) (span int, ok bool) {
	t := toks[i]
	b := t.textIn(line)
	switch {
	case t.kind == bracketed || len(b) >= 19 && (b[4] == '-' || b[4] == '/' || b[2] == '/'):
		_, ok = parseMoment(b)
		return 0, ok
	case len(b) == 14 && b[10] == '.': // $msec
		_, ok = parseMoment(b)
		return 0, ok
	case len(b) == 10 && (b[4] == '-' || b[4] == '/') && isDigit(b[0]):
		for span = 1; span <= 2 && i+span < len(toks); span++ {
			if next := toks[i+span].textIn(line); len(next) >= 8 && next[2] == ':' {
				_, ok = parseMoment(line[t.from:toks[i+span].to])
				return span, ok
			}
		}
	}
	return 0, false
}

// field is a column that holds a figure.
type field struct {
	column  int // -1: none
	label   []byte
	measure measure
	slashed bool // %T/%D: the figure is behind the slash
}

// textual reads lines of columns: common log format and formats derived from it.
type textual struct {
	shape
	columns            int // the usual number in a line
	clock              int // the column of the finest time; -1: the collector's stamps
	clockSpan          int
	duration, upstream field
	connect            field
	peer, key          int
	flags, host        int // the columns of Envoy's response flags and of the authority, 0 none
	toks               []token
	usual              bool // the line being read has the usual columns and shape
	moments            moments
}

func (t *textual) forkReader() reader {
	c := *t
	c.toks, c.moments = nil, moments{}
	return &c
}

func (t *textual) parseLine(line []byte, e *entry) verdict {
	if len(line) < 20 || line[0] == '#' {
		return other
	}
	t.toks = splitColumns(line, t.toks[:0])
	s := t.shape
	if t.usual = len(t.toks) == t.columns && t.hasUsualShape(line); !t.usual {
		found, ok := findShape(line, t.toks)
		if !ok {
			return t.decideUnshaped(line, found.time >= 0)
		}
		if len(t.toks) < t.columns || found.time != s.time || found.span != s.span || found.status-found.anchorColumn() != s.status-s.anchorColumn() {
			return garbled
		}
		s = found
	}
	*e = entry{duration: -1, upstream: -1, queue: -1}
	if t.clock >= 0 {
		clock := t.findColumn(t.clock, s)
		if clock < 0 || clock+t.clockSpan >= len(t.toks) {
			return garbled
		}
		m, ok := t.moments.parseCached(line[t.toks[clock].from:t.toks[clock+t.clockSpan].to])
		if !ok {
			return garbled
		}
		e.time = m.ns
	}
	if s.request >= 0 {
		e.method, e.target, _ = parseRequest(t.toks[s.request].textIn(line))
	} else {
		e.method, e.target = t.toks[s.method].textIn(line), t.toks[s.method+1].textIn(line)
	}
	e.status = statusOf(t.toks[s.status].textIn(line))
	e.duration = t.parseFigure(line, &t.duration, s)
	if t.key >= 0 {
		if c := t.findColumn(t.key, s); c >= 0 {
			_, e.key = splitLabel(t.toks[c].textIn(line))
		}
	}
	if t.flags > 0 {
		if c := t.findColumn(t.flags, s); c >= 0 && hasFlag(t.toks[c].textIn(line), "UO") {
			e.overdue, e.limit = true, "circuit breaker"
			if c := t.findColumn(t.host, s); t.host > 0 && c >= 0 {
				_, e.peer = splitLabel(t.toks[c].textIn(line))
			}
			return understood
		}
	}
	if t.upstream.column >= 0 {
		e.connect = max(0, t.parseFigure(line, &t.connect, s))
		e.upstream = t.parseFigure(line, &t.upstream, s)
		if t.peer >= 0 {
			if c := t.findColumn(t.peer, s); c >= 0 {
				_, e.peer = splitLabel(t.toks[c].textIn(line))
			}
		}
	}
	if t.flags > 0 && e.upstream < 0 && e.duration > 0 { // Envoy gave up: it has no time of the upstream, which took all of it
		if c := t.findColumn(t.flags, s); c >= 0 && hasFlag(t.toks[c].textIn(line), "UT") {
			e.upstream, e.unanswered = e.duration, true
		}
	}
	return understood
}

// hasFlag says whether Envoy's response flags, "UO" or "UF,URX", have one.
func hasFlag(flags []byte, flag string) bool {
	for f := range bytes.SplitSeq(flags, []byte(",")) {
		if string(f) == flag {
			return true
		}
	}
	return false
}

// hasUsualShape says whether a line with the usual number of columns has the usual shape.
func (t *textual) hasUsualShape(line []byte) bool {
	if b := t.toks[t.status].textIn(line); statusOf(b) < 0 && string(b) != "-" {
		return false
	}
	if t.request >= 0 {
		return t.toks[t.request].kind == quoted
	}
	return isMethod(t.toks[t.method].textIn(line))
}

// findColumn returns the index that a column of the layout has in this line, -1 if it has none.
func (t *textual) findColumn(column int, s shape) int {
	if t.usual || column <= t.anchorColumn() {
		return column
	}
	if c := len(t.toks) - (t.columns - column); c > s.anchorColumn() {
		return c
	}
	return -1
}

func (t *textual) parseFigure(line []byte, f *field, s shape) int64 {
	if f.column < 0 {
		return -1
	}
	c := t.findColumn(f.column, s)
	if c < 0 {
		return -1
	}
	b := t.toks[c].textIn(line)
	if f.label != nil {
		label, value := splitLabel(b)
		if !bytes.Equal(label, f.label) {
			return -1
		}
		b = value
	}
	if f.slashed {
		b = b[bytes.IndexByte(b, '/')+1:]
	}
	ns, ok := f.measure.parseDuration(b)
	if !ok {
		return -1
	}
	return ns
}

// decideUnshaped decides whether a line without the shape of an access line is damaged or of
// another kind.
func (t *textual) decideUnshaped(line []byte, timed bool) verdict {
	if timed && bytes.IndexByte(line, '"') >= 0 {
		return garbled
	}
	for _, c := range line[:min(len(line), 256)] {
		if c < ' ' && c != '\t' && c != 0x1b {
			return garbled
		}
	}
	if n := min(len(line), 256); !utf8.Valid(line[:n]) && !utf8.Valid(line[:max(0, n-3)]) {
		return garbled
	}
	return other
}
