package accesslog

import (
	"bytes"
	"time"
)

// decimal is a number as written: 0.003 is 3 with 3 places.
type decimal struct {
	mantissa int64
	places   int // may be negative after an exponent
}

// parseDecimal reads a number at the start of b and returns its length in
// bytes, 0 if there is none. It drops digits beyond 18.
func parseDecimal(b []byte) (d decimal, n int) {
	i, negative := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	digits, point := 0, false
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if !isDigit(c) {
			break
		}
		digits++
		if d.mantissa < 9e17 {
			d.mantissa = d.mantissa*10 + int64(c-'0')
			if point {
				d.places++
			}
		} else if !point {
			d.places--
		}
	}
	if digits == 0 {
		return decimal{}, 0
	}
	if i+1 < len(b) && (b[i] == 'e' || b[i] == 'E') {
		j, down := i+1, false
		if b[j] == '-' || b[j] == '+' {
			down = b[j] == '-'
			j++
		}
		exponent, from := 0, j
		for ; j < len(b) && isDigit(b[j]) && j-from < 4; j++ {
			exponent = exponent*10 + int(b[j]-'0')
		}
		if j > from {
			if down {
				exponent = -exponent
			}
			d.places -= exponent
			i = j
		}
	}
	if negative {
		d.mantissa = -d.mantissa
	}
	return d, i
}

var powers = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// toNanoseconds returns the number in ns, given its unit in ns; false where it does not fit.
func (d decimal) toNanoseconds(unit int64) (int64, bool) {
	if d.mantissa == 0 {
		return 0, true
	}
	if d.places > 30 || d.places < -18 {
		return 0, d.places > 0
	}
	m := d.mantissa
	places := d.places
	if 0 <= places && places <= 9 && m >= 0 && m < 1<<32 && unit%powers[places] == 0 && unit <= 1e9 { // nearly all numbers
		return m * (unit / powers[places]), true
	}
	if places < 0 {
		p := powers[-places]
		if m > 1<<62/p || m < -(1<<62)/p {
			return 0, false
		}
		m, places = m*p, 0
	}
	for places > 0 && unit%10 == 0 {
		unit /= 10
		places--
	}
	if m > 1<<62/unit || m < -(1<<62)/unit {
		return 0, false
	}
	m *= unit
	for ; places > 18; places-- {
		m /= 10
	}
	if places > 0 {
		m = (m + powers[places]/2) / powers[places]
	}
	return m, true
}

// toFloat returns the number as a float, for statistics.
func (d decimal) toFloat() float64 {
	v := float64(d.mantissa)
	for p := d.places; p > 0; p-- {
		v /= 10
	}
	for p := d.places; p < 0; p++ {
		v *= 10
	}
	return v
}

// unitNames are the units that may follow a number.
var unitNames = map[string]int64{
	"ns": 1, "nanoseconds": 1,
	"us": 1e3, "µs": 1e3, "μs": 1e3, "usec": 1e3, "microseconds": 1e3,
	"ms": 1e6, "msec": 1e6, "millis": 1e6, "milliseconds": 1e6,
	"s": 1e9, "sec": 1e9, "secs": 1e9, "seconds": 1e9,
	"m": int64(time.Minute), "h": int64(time.Hour),
}

// parseWithUnit reads "12.3ms", "12.3 ms", and Go's "1m2.3s".
func parseWithUnit(b []byte) (int64, bool) {
	var total int64
	parts := 0
	for len(b) > 0 {
		d, n := parseDecimal(b)
		if n == 0 {
			return 0, false
		}
		b = b[n:]
		if len(b) > 0 && b[0] == ' ' {
			b = b[1:]
		}
		i := 0
		for i < len(b) && !isDigit(b[i]) && b[i] != '.' {
			i++
		}
		ns, ok := int64(0), false
		if unit := unitNames[string(b[:i])]; unit != 0 {
			ns, ok = d.toNanoseconds(unit)
		}
		if !ok {
			return 0, false
		}
		total += ns
		b = b[i:]
		if parts++; parts > 6 {
			return 0, false
		}
	}
	return total, parts > 0 && total >= 0 && total < longest
}

// longest is the longest plausible duration: 100 days.
const longest = 100 * 24 * int64(time.Hour)

// measure is how a field is read as a duration.
type measure struct {
	unit   int64 // ns; 0: the value carries its unit
	places int   // decimals of every value, 0 any number: reveals a value that a cut file shortened
}

// parseDuration returns a duration in ns. nginx writes one value for each upstream it tried,
// "0.001, 0.020 : 0.003", and "-" for those without an answer: their sum is the time spent.
func (m measure) parseDuration(b []byte) (int64, bool) {
	if m.unit == 0 {
		return parseWithUnit(b)
	}
	d, n := parseDecimal(b)
	if n > 0 && n == len(b) {
		ns, ok := d.toNanoseconds(m.unit)
		return ns, ok && ns >= 0 && ns < longest && (m.places == 0 || m.places == d.places)
	}
	if bytes.IndexByte(b, ',') < 0 && !bytes.Contains(b, []byte(" : ")) {
		return 0, false
	}
	var total int64
	found := false
	for len(b) > 0 {
		i := bytes.IndexAny(b, ",: ")
		part := b
		if b = nil; i >= 0 {
			part, b = part[:i], part[i+1:]
		}
		if len(part) == 0 || string(part) == "-" {
			continue
		}
		d, n := parseDecimal(part)
		ns, ok := d.toNanoseconds(m.unit)
		if n != len(part) || !ok || ns < 0 || ns >= longest {
			return 0, false
		}
		total += ns
		found = true
	}
	return total, found && total < longest
}
