package dotnetcounters

import (
	"strings"
	"time"
)

// stamp is a time in some culture's form, before day and month are told apart.
type stamp struct {
	ns       int64 // of the day, or since the epoch where the date is certain
	a, b     int16 // day and month, or month and day
	year     int16
	date     bool // ns is since the epoch
	zoned    bool // … and certainly so
	fraction bool
	slash    bool // a/b: some countries write the day first, some the month
	twelve   bool // AM or PM
}

// parseStamp reads the output of DateTime.ToString: the numbers of a date, those of a
// time, AM or PM, an offset.
//
//	11/21/2026 9:00:01 AM    21.11.2026 09:00:01    2026-11-21 09:00:01Z
//	2026/11/21 9:00:01       2026. 11. 21. 9:00:01  2026-11-21T09:00:01.1234567+01:00
func parseStamp(text string) (s stamp, ok bool) {
	if len(text) > 64 {
		return s, false
	}
	if t, err := time.Parse("2006-01-02T15:04:05.9999999Z07:00", text); err == nil {
		return stamp{ns: t.UnixNano(), date: true, zoned: true, fraction: true}, inRange(t)
	}
	text = strings.TrimSuffix(text, "Z") // as "u" writes it, of local time
	var n []int64
	var digits []int
	separator := byte(0)
	for i := 0; i < len(text); {
		if text[i]-'0' > 9 {
			if len(n) == 1 && separator == 0 {
				separator = text[i]
			}
			i++
			continue
		}
		from := i
		v := int64(0)
		for i < len(text) && text[i]-'0' <= 9 && i-from < 10 {
			v = v*10 + int64(text[i]-'0')
			i++
		}
		n, digits = append(n, v), append(digits, i-from)
	}
	if len(n) < 6 || len(n) > 7 {
		return s, false
	}
	h, m, sec := n[3], n[4], n[5]
	lower := strings.ToLower(text)
	pm := strings.Contains(lower, "pm") || strings.Contains(lower, "p.m") || strings.Contains(lower, "nachm") || strings.Contains(text, "下午") || strings.Contains(text, "午後") || strings.Contains(text, "오후")
	am := strings.Contains(lower, "am") || strings.Contains(lower, "a.m") || strings.Contains(text, "上午") || strings.Contains(text, "午前") || strings.Contains(text, "오전")
	s.twelve = pm || am
	switch {
	case pm && h < 12:
		h += 12
	case am && h == 12:
		h = 0
	}
	if h > 23 || m > 59 || sec > 60 {
		return s, false
	}
	s.ns = (h*3600 + m*60 + sec) * int64(time.Second)
	if len(n) == 7 {
		f := n[6]
		for range 9 - digits[6] {
			f *= 10
		}
		if digits[6] > 9 {
			return s, false
		}
		s.ns, s.fraction = s.ns+f, true
	}
	if digits[0] == 4 { // year, month, day everywhere
		t := time.Date(int(n[0]), time.Month(n[1]), int(n[2]), 0, 0, 0, 0, time.UTC)
		s.ns, s.date = s.ns+t.UnixNano(), true
		return s, inRange(t) && n[1] >= 1 && n[1] <= 12 && n[2] >= 1 && n[2] <= 31
	}
	if n[0] < 1 || n[1] < 1 || n[0] > 31 || n[1] > 31 || n[0] > 12 && n[1] > 12 {
		return s, false
	}
	if n[2] < 100 {
		n[2] += 2000
	}
	if n[2] > 9999 {
		return s, false
	}
	s.a, s.b, s.year = int16(n[0]), int16(n[1]), int16(n[2])
	s.slash = separator == '/'
	return s, inRange(time.Date(int(n[2]), 1, 1, 0, 0, 0, 0, time.UTC))
}

func inRange(t time.Time) bool { return t.Year() >= 1995 && t.Year() < 2100 }

// monthFirst finds which of the first two numbers of all stamps is the month, and
// whether the file shows it or it was assumed. Stamps without a slash have the day first
// in all cultures. With slashes the month is first in the United States, and where the tool has no culture, as in
// containers.
func monthFirst(all []stamp, modified int64) (first, certain bool) {
	slash := false
	for i := range all {
		switch s := &all[i]; {
		case s.date:
		case s.a > 12:
			return false, true
		case s.b > 12:
			return true, true
		case s.slash:
			slash = true
			if s.twelve {
				return true, true
			}
		}
	}
	if !slash {
		return false, true
	}
	// The file was written when its last line was.
	if n := len(all); modified != 0 && n > 0 && !all[n-1].date {
		const day = int64(24 * time.Hour)
		month, date := modified-all[n-1].unixNano(true), modified-all[n-1].unixNano(false)
		if near := func(d int64) bool { return d > -day && d < day }; near(month) != near(date) {
			return near(month), true
		}
	}
	same := all[0].a == all[0].b
	return true, same
}

// unixNano returns the stamp in ns since the epoch; a stamp without a zone is taken as UTC.
func (s *stamp) unixNano(monthFirst bool) int64 {
	if s.date {
		return s.ns
	}
	month, day := s.b, s.a
	if monthFirst {
		month, day = day, month
	}
	return time.Date(int(s.year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC).UnixNano() + s.ns
}
