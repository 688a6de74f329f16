package hotspotgc

import "bytes"

// uptime reads "12.891:", a stamp that must have a fraction and a colon.
func uptime(s []byte) (ns int64, n int, ok bool) {
	ns, n = decimal(s)
	if n < 4 || n >= len(s) || s[n] != ':' || !fraction(s[:n]) {
		return 0, 0, false
	}
	return ns, n + 1, true
}

func fraction(s []byte) bool {
	for _, c := range s {
		if c == '.' || c == ',' {
			return true
		}
	}
	return false
}

// figure reads what begins with a digit: a stamp, sizes, a duration.
func (l *legacy) figure(text []byte, i int) int {
	s := text[i:]
	if len(s) > len(dateShape) && s[4] == '-' {
		if ns, n := date(s); n > 0 {
			l.date, l.uptime = ns, unknown
			return i + n
		}
	}
	ns, n := decimal(s)
	if n == 0 { // too large for a time
		for n < len(s) && isDigit(s[n]) {
			n++
		}
	}
	rest := s[n:]
	switch {
	case len(rest) == 0:
	case rest[0] == ':' && n > 3 && fraction(s[:n]):
		l.uptime = ns
		return i + n + 1
	case has(rest, " sec"):
		n += len(" sec")
		if n < len(s) && s[n] == 's' {
			n++
		}
		l.took(ns)
		return i + n
	case has(rest, "ms") || has(rest, " ms"): // JDK 6 in places
		l.took(ns / 1e3)
		return i + n + len(rest) - len(trimmed(rest)) + 2
	case unit(rest[0]) > 0:
		return i + l.sizes(s)
	case l.depth == 0 && fraction(s[:n]) && (rest[0] == '.' || rest[0] == 'T' || rest[0] == 'A'):
		// Two threads' stamps in one: "492098.818492098.818: : Total time …".
		for n < len(s) && (isDigit(s[n]) || s[n] == '.' || s[n] == ':') {
			n++
		}
		return i + n
	}
	if l.depth == 0 {
		if rotated := []byte("GC log "); bytes.Contains(s, rotated) { // its date has another form
			l.ignore(bannerLine)
		} else {
			l.strange = true
		}
		return nextCollection(text, i+n)
	}
	return i + n
}

func trimmed(s []byte) []byte {
	for len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	return s
}

// took notes a duration in the innermost bracket.
func (l *legacy) took(ns int64) {
	if l.depth == 0 {
		l.strange = true
		return
	}
	l.gave = true
	l.stack[l.depth-1].duration = ns
}

// sizes reads "325407K->83000K(776768K)" or "229432K(458752K)" and returns its length.
func (l *legacy) sizes(s []byte) int {
	v, n := size(s)
	if l.depth == 0 {
		l.strange = true
		return n
	}
	l.gave = true
	f := &l.stack[l.depth-1]
	x := sizes{v, v, unknown}
	if has(s[n:], "->") {
		after, m := size(s[n+2:])
		if m == 0 {
			return n + 2
		}
		x.after, n = after, n+2+m
		f.last = unknown
	} else {
		f.last = v
	}
	if n < len(s) && s[n] == '(' {
		if c, m := size(s[n+1:]); m > 0 && n+1+m < len(s) && s[n+1+m] == ')' {
			x.capacity, n = c, n+m+2
		}
	}
	f.sizes = x
	return n
}

// unit is how many bytes a size's letter stands for, 0 if it is none.
func unit(c byte) int64 {
	switch c {
	case 'B':
		return 1
	case 'K':
		return 1 << 10
	case 'M':
		return 1 << 20
	case 'G':
		return 1 << 30
	}
	return 0
}

// size reads "1024K", "9223.5K" or "0.0B" in bytes, and returns its length; 0, 0 if s
// does not begin with one.
func size(s []byte) (v int64, n int) {
	whole := int64(0)
	for n < len(s) && isDigit(s[n]) && whole < 1<<40 {
		whole = whole*10 + int64(s[n]-'0')
		n++
	}
	tenths, scale := int64(0), int64(1)
	if n > 0 && n+1 < len(s) && (s[n] == '.' || s[n] == ',') && isDigit(s[n+1]) {
		for n++; n < len(s) && isDigit(s[n]) && scale < 1e6; n++ {
			tenths, scale = tenths*10+int64(s[n]-'0'), scale*10
		}
	}
	if n == 0 || n == len(s) {
		return 0, 0
	}
	u := unit(s[n])
	if u == 0 || whole > (1<<62)/u {
		return 0, 0
	}
	return whole*u + (tenths*u+scale/2)/scale, n + 1
}

// times reads " user=0.12 sys=0.00, real=0.04 secs]" of what ended last.
func (l *legacy) times(text []byte, i int) int {
	l.gave = true
	var v [3]int64
	for k := range v {
		for i < len(text) && text[i] != '=' && text[i] != ']' && text[i] != '[' {
			i++
		}
		if i == len(text) || text[i] != '=' {
			l.strange = true
			return i
		}
		ns, n := decimal(text[i+1:])
		v[k], i = ns, i+1+n
	}
	for i < len(text) && text[i] != ']' && text[i] != '[' {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	e := &l.e
	switch l.last {
	case timedNothing:
		return i
	case timedPhase:
		e = &l.conc
	}
	e.user, e.system, e.real = v[0], v[1], v[2]
	l.last = timedNothing
	return i
}
