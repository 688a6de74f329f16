package gauges

import (
	"io"
	"strconv"
	"strings"
	"time"
)

// layouts of times, those with a zone first. A fraction of the second may follow each.
var layouts = []struct {
	layout string
	zoned  bool
}{
	{time.RFC3339, true}, {"2006-01-02 15:04:05Z07:00", true}, {"2006-01-02 15:04:05-07", true}, {"2006-01-02 15:04:05-0700", true}, {"2006-01-02T15:04:05-0700", true}, {"2006-01-02 15:04:05 UTC", true},
	{"2006-01-02 15:04:05 -0700", true}, {time.RFC1123, true},
	{"2006-01-02T15:04:05", false}, {"2006-01-02 15:04:05", false}, {"2006/01/02 15:04:05", false}, {"2006-01-02 15:04", false}, {"2006/01/02 15:04", false},
}

// parseTime reads a time: a date and time of day, or a number since the epoch, whose size tells s,
// ms, µs and ns apart.
func parseTime(s string) (ns int64, zoned, ok bool) {
	if n, ok := wholeNumber(s); ok {
		if ns := sinceEpoch(float64(n)); ns > 0 {
			return n * int64(ns), true, true
		}
		return 0, false, false
	}
	s = strings.TrimSpace(s)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		if ns := sinceEpoch(float64(i)); ns > 0 {
			return i * int64(ns), true, true
		}
		return 0, false, false
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		if ns := sinceEpoch(v); ns > 0 {
			return int64(v * ns), true, true
		}
		return 0, false, false
	}
	if len(s) < 16 || len(s) > 40 {
		return 0, false, false
	}
	for _, l := range layouts {
		if t, err := time.Parse(l.layout, s); err == nil && t.Year() > 1970 && t.Year() < 2262 {
			return t.UnixNano(), l.zoned, true
		}
	}
	return 0, false, false
}

// wholeNumber reads digits only, as most times and figures are: at most 15, which a float64 holds.
func wholeNumber(s string) (v int64, ok bool) {
	if len(s) == 0 || len(s) > 15 {
		return 0, false
	}
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		v = v*10 + int64(d)
	}
	return v, true
}

// sinceEpoch returns the unit of a number since the epoch, in ns; 0: it is no such number.
func sinceEpoch(v float64) (ns float64) {
	switch {
	case v >= 3e7 && v < 1e10:
		return 1e9
	case v >= 3e10 && v < 1e13:
		return 1e6
	case v >= 3e13 && v < 1e16:
		return 1e3
	case v >= 3e16 && v < 9e18:
		return 1
	}
	return 0
}

// readFull fills b as far as there is data.
func readFull(r io.Reader, b []byte) (int, error) {
	n, err := io.ReadFull(r, b)
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, err
}
