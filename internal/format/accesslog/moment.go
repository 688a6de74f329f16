package accesslog

import (
	"time"

	"github.com/unstall/unstall/internal/format"
)

// moment is a time as logged.
type moment struct {
	ns         int64
	resolution int64 // ns, by the digits written
	zoned      bool
}

const (
	earliest = 788918400 * int64(time.Second)  // 1995
	latest   = 4102444800 * int64(time.Second) // 2100
)

// parseMoment reads times in the forms of logs:
//
//	10/Oct/2026:13:55:36 -0700   06/Feb/2026:12:14:14.655
//	2026-10-10T13:55:36.123Z     2026-10-10 13:55:36,123   2026/10/10 - 13:55:36
//	1791640536.123               seconds, milliseconds, microseconds or nanoseconds since the epoch
func parseMoment(b []byte) (moment, bool) {
	if len(b) < 10 {
		return moment{}, false
	}
	var m moment
	var ok bool
	switch {
	case b[2] == '/' && b[6] == '/':
		m, ok = parseCLF(b)
	case b[4] == '-' || b[4] == '/':
		m, ok = parseISO(b)
	default:
		m, ok = parseEpoch(b)
	}
	return m, ok && m.ns >= earliest && m.ns < latest
}

// moments reads times as [parseMoment] does, and caches the second and the zone of the last one, because the next line
// mostly has the same.
type moments struct {
	second [len("10/Oct/2026:13:55:36")]byte
	length int // of the second, 0: nothing is cached
	zone   []byte
	at     moment // without a fraction
}

func (c *moments) parseCached(b []byte) (moment, bool) {
	if n := c.length; n > 0 && len(b) >= n && string(b[:n]) == string(c.second[:n]) {
		m := c.at
		i := n
		if i+1 < len(b) && (b[i] == '.' || b[i] == ',') && isDigit(b[i+1]) {
			var fraction int64
			fraction, m.resolution, i = parseFraction(b, i)
			m.ns += fraction
		}
		if string(b[i:]) == string(c.zone) {
			return m, true
		}
	}
	m, ok := parseMoment(b)
	if !ok {
		return m, false
	}
	switch {
	case len(b) >= 20 && b[2] == '/' && b[6] == '/':
		c.length = 20
	case len(b) >= 19 && b[4] == b[7] && (b[4] == '-' || b[4] == '/') && b[13] == ':' && b[16] == ':':
		c.length = 19
	default:
		return m, true
	}
	copy(c.second[:], b[:c.length])
	fraction, i := int64(0), c.length
	if i+1 < len(b) && (b[i] == '.' || b[i] == ',') && isDigit(b[i+1]) {
		fraction, _, i = parseFraction(b, i)
	}
	c.zone = append(c.zone[:0], b[i:]...)
	c.at = moment{m.ns - fraction, int64(time.Second), m.zoned}
	return m, true
}

// parseFraction reads the fraction after a second, .123, and returns its end.
func parseFraction(b []byte, i int) (ns, resolution int64, end int) {
	resolution = int64(time.Second)
	for i++; i < len(b) && isDigit(b[i]); i++ {
		if resolution > 1 {
			resolution /= 10
			ns += int64(b[i]-'0') * resolution
		}
	}
	return ns, resolution, i
}

func parseCLF(b []byte) (moment, bool) {
	if len(b) < 20 || b[11] != ':' && b[11] != ' ' {
		return moment{}, false
	}
	month := monthOf(b[3], b[4], b[5])
	if month == 0 {
		return moment{}, false
	}
	return parseClock(b[12:], parseDigits(b[7:11]), month, parseDigits(b[0:2]))
}

func parseISO(b []byte) (moment, bool) {
	if len(b) < 19 || b[7] != b[4] {
		return moment{}, false
	}
	rest := b[11:]
	switch {
	case b[10] == 'T' || b[10] == 't':
	case b[10] == ' ' && b[11] == '-' && b[12] == ' ':
		rest = b[13:]
	case b[10] != ' ':
		return moment{}, false
	}
	return parseClock(rest, parseDigits(b[0:4]), parseDigits(b[5:7]), parseDigits(b[8:10]))
}

// parseClock reads HH:MM:SS, a fraction and a zone.
func parseClock(b []byte, year, month, day int) (moment, bool) {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' {
		return moment{}, false
	}
	h, m, s := parseDigits(b[0:2]), parseDigits(b[3:5]), parseDigits(b[6:8])
	if year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 60 {
		return moment{}, false
	}
	t := moment{resolution: int64(time.Second)}
	i := 8
	var fraction int64
	if i+1 < len(b) && (b[i] == '.' || b[i] == ',') && isDigit(b[i+1]) {
		fraction, t.resolution, i = parseFraction(b, i)
	}
	seconds := format.DaysSinceEpoch(int64(year), int64(month), int64(day))*86400 + int64(h*3600+m*60+s)
	if i < len(b) && b[i] == ' ' {
		i++
	}
	if i < len(b) {
		offset, ok := parseZone(b[i:])
		if !ok {
			return moment{}, false
		}
		t.zoned = true
		seconds -= offset
	}
	t.ns = seconds*int64(time.Second) + fraction
	return t, true
}

// parseZone returns the seconds east of UTC.
func parseZone(b []byte) (int64, bool) {
	switch string(b) {
	case "Z", "z", "UTC", "GMT":
		return 0, true
	}
	var h, m int
	switch {
	case len(b) == 6 && b[3] == ':':
		h, m = parseDigits(b[1:3]), parseDigits(b[4:6])
	case len(b) == 5:
		h, m = parseDigits(b[1:3]), parseDigits(b[3:5])
	case len(b) == 3:
		h = parseDigits(b[1:3])
	default:
		return 0, false
	}
	if h < 0 || h > 15 || m < 0 || m > 59 {
		return 0, false
	}
	offset := int64(h*3600 + m*60)
	switch b[0] {
	case '+':
		return offset, true
	case '-':
		return -offset, true
	}
	return 0, false
}

func parseEpoch(b []byte) (moment, bool) {
	d, n := parseDecimal(b)
	if n != len(b) || d.mantissa <= 0 {
		return moment{}, false
	}
	whole := d.mantissa
	for range d.places {
		whole /= 10
	}
	unit := int64(time.Second)
	switch {
	case whole >= 1e17:
		unit = 1
	case whole >= 1e14:
		unit = int64(time.Microsecond)
	case whole >= 1e11:
		unit = int64(time.Millisecond)
	}
	ns, ok := d.toNanoseconds(unit)
	resolution := unit
	for range d.places {
		resolution = max(1, resolution/10)
	}
	return moment{ns, resolution, true}, ok
}

var months = [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}

func monthOf(a, b, c byte) int {
	for i, m := range months {
		if m[0] == a && m[1] == b && m[2] == c {
			return i + 1
		}
	}
	return 0
}

// parseDigits reads a text of digits only; it returns -1 for any other.
func parseDigits(b []byte) int {
	n := 0
	for _, c := range b {
		if !isDigit(c) {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

func isDigit(c byte) bool { return c-'0' <= 9 }
