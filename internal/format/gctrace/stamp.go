package gctrace

import (
	"bytes"
	"time"
)

// stamp is a time in a line's text, truncated to res.
type stamp struct {
	at, res  int64 // ns
	zoneless bool  // taken to be UTC
}

// stampFinder finds the time in other loggers' lines. A logger writes it at the
// same place in every line, so that place is checked first.
type stampFinder struct {
	hint int
	some bool
}

// maxStampAt is how far into a line a time is searched: access logs and JSON
// records do not begin with it.
const maxStampAt = 96

func (f *stampFinder) findStamp(b []byte) (stamp, bool) {
	if f.some && f.hint < len(b) {
		if s, ok := stampAt(b, f.hint); ok {
			return s, true
		}
	}
	for i := 0; i < len(b)-9 && i < maxStampAt; i++ {
		if !isDigit(b[i]) || i > 0 && isDigit(b[i-1]) {
			continue
		}
		if s, ok := stampAt(b, i); ok {
			f.hint, f.some = i, true
			return s, true
		}
	}
	return stamp{}, false
}

// stampAt reads one of
//
//	2026/11/20 22:49:44[.123456]                 log, LstdFlags
//	2026-11-20T22:49:44.123Z, …+01:00, … +0100   log/slog, zap, zerolog and most others
//	20/Nov/2026:22:49:44 +0100                   access logs
//	"ts":1795215384.123, "time":1795215384       zap, zerolog
func stampAt(b []byte, i int) (stamp, bool) {
	rest := b[i:]
	switch {
	case len(rest) >= 19 && (rest[4] == '-' || rest[4] == '/') && rest[7] == rest[4]:
		return dateStamp(rest)
	case len(rest) >= 20 && rest[2] == '/' && rest[6] == '/':
		return accessStamp(rest)
	case len(rest) >= 10 && i >= 5 && (bytes.HasSuffix(b[:i], []byte(`"ts":`)) || bytes.HasSuffix(b[:i], []byte(`"time":`))):
		return epochStamp(rest)
	}
	return stamp{}, false
}

func dateStamp(b []byte) (stamp, bool) {
	if b[10] != ' ' && b[10] != 'T' {
		return stamp{}, false
	}
	year, month, day := parseDigits(b[:4]), parseDigits(b[5:7]), parseDigits(b[8:10])
	s, n, ok := clockStamp(b[11:], year, month, day)
	if !ok {
		return s, false
	}
	s.applyZone(b[11+n:])
	return s, true
}

func accessStamp(b []byte) (stamp, bool) {
	const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	m := bytes.Index([]byte(months), b[3:6])
	if m < 0 || m%3 != 0 || b[11] != ':' {
		return stamp{}, false
	}
	s, n, ok := clockStamp(b[12:], parseDigits(b[7:11]), m/3+1, parseDigits(b[:2]))
	if !ok {
		return s, false
	}
	s.applyZone(b[12+n:])
	return s, true
}

// clockStamp reads 22:49:44[.123456] and returns its length.
func clockStamp(b []byte, year, month, day int) (s stamp, n int, ok bool) {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' {
		return s, 0, false
	}
	h, m, sec := parseDigits(b[:2]), parseDigits(b[3:5]), parseDigits(b[6:8])
	if year < 1980 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 || h < 0 || h > 23 || m < 0 || m > 59 || sec < 0 || sec > 60 {
		return s, 0, false
	}
	frac, res, w := parseFraction(b[8:])
	t := time.Date(year, time.Month(month), day, h, m, sec, 0, time.UTC)
	return stamp{at: t.Unix()*1e9 + frac, res: res}, 8 + w, true
}

func epochStamp(b []byte) (stamp, bool) {
	sec := parseDigits(b[:10])
	if sec < 1e9 || len(b) > 10 && isDigit(b[10]) {
		return stamp{}, false
	}
	frac, res, _ := parseFraction(b[10:])
	return stamp{at: int64(sec)*1e9 + frac, res: res}, true
}

// applyZone applies a zone, Z, +01:00 or +0100, also after a space.
func (s *stamp) applyZone(b []byte) {
	s.zoneless = true
	if len(b) > 0 && b[0] == 'Z' {
		s.zoneless = false
		return
	}
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	if len(b) < 5 || b[0] != '+' && b[0] != '-' {
		return
	}
	minutes := b[3:]
	if minutes[0] == ':' {
		minutes = minutes[1:]
	}
	if len(minutes) < 2 {
		return
	}
	h, m := parseDigits(b[1:3]), parseDigits(minutes[:2])
	if h < 0 || h > 15 || m < 0 || m > 59 {
		return
	}
	east := int64(h*60+m) * 60e9
	if b[0] == '-' {
		east = -east
	}
	s.at -= east
	s.zoneless = false
}

// parseFraction parses .123 or ,123 and returns ns, the resolution and its length.
func parseFraction(b []byte) (ns, res int64, n int) {
	res = 1e9
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || !isDigit(b[1]) {
		return 0, res, 0
	}
	for n = 1; n < len(b) && isDigit(b[n]); n++ {
		if res > 1 {
			res /= 10
			ns += int64(b[n]-'0') * res
		}
	}
	return ns, res, n
}

// parseDigits parses digits only; it returns -1 for other text.
func parseDigits(b []byte) (n int) {
	for _, c := range b {
		if !isDigit(c) {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
