package hotspotgc

import "bytes"

// parseUptime reads "12.891:", a stamp that must have a fraction and a colon.
func parseUptime(s []byte) (ns int64, n int, ok bool) {
	ns, n = parseDecimal(s)
	if n < 4 || n >= len(s) || s[n] != ':' || !hasFraction(s[:n]) {
		return 0, 0, false
	}
	return ns, n + 1, true
}

func hasFraction(s []byte) bool {
	for _, c := range s {
		if c == '.' || c == ',' {
			return true
		}
	}
	return false
}

// scanFigure reads text that begins with a digit: a stamp, sizes, a duration. It returns the position
// behind it.
func (l *legacy) scanFigure(text []byte, i int) int {
	s := text[i:]
	whole, n := int64(0), 0
	for n < len(s) && isDigit(s[n]) && whole < maxSize {
		whole = whole*10 + int64(s[n]-'0')
		n++
	}
	if n == len(s) {
		return l.skipNumber(text, i, n)
	}
	switch c := s[n]; {
	case unitBytes(c) > 0:
		return i + l.scanSizes(s, whole*unitBytes(c), n+1)
	case c == '-' && n == 4:
		if ns, m := l.day.parseDate(s); m > 0 {
			l.date, l.uptime = ns, unknown
			return i + m
		}
		return l.skipNumber(text, i, n)
	}
	if isDigit(s[n]) || whole >= maxWhole { // more digits than fit
		return l.skipNumber(text, i, 1)
	}
	digits := n
	ns, n := decimalOf(whole, s, n)
	if n == len(s) {
		return l.skipNumber(text, i, n+1)
	}
	rest, fraction := s[n:], n > digits
	switch {
	case rest[0] == ':' && n > 3 && fraction:
		l.uptime = ns
		return i + n + 1
	case hasPrefix(rest, " sec"):
		n += len(" sec")
		if n < len(s) && s[n] == 's' {
			n++
		}
		l.setDuration(ns)
		return i + n
	case hasPrefix(rest, "ms"):
		l.setDuration(ns / 1e3)
		return i + n + len("ms")
	case hasPrefix(rest, " ms"):
		l.setDuration(ns / 1e3)
		return i + n + len(" ms")
	case unitBytes(rest[0]) > 0: // 9223.5K
		if v, m := parseSize(s); m > 0 {
			return i + l.scanSizes(s, v, m)
		}
	case l.depth == 0 && fraction && (rest[0] == '.' || rest[0] == 'T' || rest[0] == 'A'):
		// Two threads' stamps in one: "492098.818492098.818: : Total time …".
		for n < len(s) && (isDigit(s[n]) || s[n] == '.' || s[n] == ':') {
			n++
		}
		return i + n
	}
	return l.skipNumber(text, i, n)
}

// skipNumber skips a number of n bytes without a meaning here.
func (l *legacy) skipNumber(text []byte, i, n int) int {
	if l.depth > 0 {
		return i + n
	}
	if rotated := []byte("GC log "); bytes.Contains(text[i:], rotated) { // its date has another form
		l.setKind(bannerLine)
	} else {
		l.strange = true
	}
	return nextCollection(text, min(i+n, len(text)))
}

// maxSize bounds what is read as a size, in its unit: 64 GiB in bytes fit 40 bits.
const maxSize = 1 << 32

// dateCache remembers the day and second of the last date, as the next date mostly
// has the same.
type dateCache struct {
	text [len("2020-03-25T16:16:18.000+0800")]byte
	ns   int64 // of the text with .000
}

// parseDate reads a date as [parseStamp] does.
func (c *dateCache) parseDate(s []byte) (ns int64, n int) {
	const second = len("2020-03-25T16:16:18.")
	if len(s) >= len(c.text) && string(s[:second]) == string(c.text[:second]) && string(s[second+3:len(c.text)]) == string(c.text[second+3:]) {
		if ms, ok := parseDigits(s[second : second+3]); ok {
			return c.ns + ms*1e6, len(c.text)
		}
	}
	ns, n = parseStamp(s)
	if n == len(c.text) {
		copy(c.text[:], s)
		ms, _ := parseDigits(s[second : second+3])
		c.ns = ns - ms*1e6
	}
	return ns, n
}

// setDuration sets the duration of the innermost bracket.
func (l *legacy) setDuration(ns int64) {
	if l.depth == 0 {
		l.strange = true
		return
	}
	l.gave = true
	l.stack[l.depth-1].duration = ns
}

// scanSizes reads what follows the first size v, of n bytes, in "325407K->83000K(776768K)" or
// "229432K(458752K)", and returns the length of all.
func (l *legacy) scanSizes(s []byte, v int64, n int) int {
	if l.depth == 0 {
		l.strange = true
		return n
	}
	l.gave = true
	f := &l.stack[l.depth-1]
	x := sizes{v, v, unknown}
	f.used = true
	if n+1 < len(s) && s[n] == '-' && s[n+1] == '>' {
		after, m := parseSize(s[n+2:])
		if m == 0 {
			return n + 2
		}
		x.after, n = after, n+2+m
		f.used = false
	}
	if n < len(s) && s[n] == '(' {
		if c, m := parseSize(s[n+1:]); m > 0 && n+1+m < len(s) && s[n+1+m] == ')' {
			x.capacity, n = c, n+m+2
		}
	}
	f.sizes = x
	return n
}

// unitBytes returns the bytes of a size's unit letter, 0 for other letters.
func unitBytes(c byte) int64 {
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

// parseSize reads "1024K", "9223.5K" or "0.0B" in bytes, and returns its length; 0, 0 if s does
// not begin with one.
func parseSize(s []byte) (v int64, n int) {
	whole := int64(0)
	for n < len(s) && isDigit(s[n]) && whole < maxSize {
		whole = whole*10 + int64(s[n]-'0')
		n++
	}
	if n == 0 || n == len(s) {
		return 0, 0
	}
	if u := unitBytes(s[n]); u > 0 {
		return whole * u, n + 1
	}
	if s[n] != '.' && s[n] != ',' || n+1 == len(s) || !isDigit(s[n+1]) {
		return 0, 0
	}
	tenths, scale := int64(0), int64(1)
	for n++; n < len(s) && isDigit(s[n]); n++ {
		if scale < 1e6 {
			tenths, scale = tenths*10+int64(s[n]-'0'), scale*10
		}
	}
	if n == len(s) || unitBytes(s[n]) == 0 {
		return 0, 0
	}
	u := unitBytes(s[n])
	return whole*u + (tenths*u+scale/2)/scale, n + 1
}

// scanTimes reads " user=0.12 sys=0.00, real=0.04 secs]" of the event that ended last.
func (l *legacy) scanTimes(text []byte, i int) int {
	l.gave = true
	v, i, ok := processorTimes(text, i)
	if !ok {
		l.strange = true
		return i
	}
	e := l.e
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

// processorTimes reads them from position i on: user, kernel, and wall-clock time.
func processorTimes(text []byte, i int) (ns [3]int64, end int, ok bool) {
	for k := range ns {
		for i < len(text) && text[i] != '=' && text[i] != ']' && text[i] != '[' {
			i++
		}
		if i == len(text) || text[i] != '=' {
			return ns, i, false
		}
		v, n := parseDecimal(text[i+1:])
		ns[k], i = v, i+1+n
	}
	for i < len(text) && text[i] != ']' && text[i] != '[' {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	return ns, i, true
}
