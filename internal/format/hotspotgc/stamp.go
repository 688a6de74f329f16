package hotspotgc

import "github.com/unstall/unstall/internal/format"

// dateShape is a date stamp without its zone: every JVM writes milliseconds.
const dateShape = "0000-00-00T00:00:00.000"

// parseStamp reads a date stamp with its zone, "2020-03-25T16:16:18.390+0800" or "…Z", and
// returns it in ns since the epoch with its length; 0, 0 if s does not begin with one. Some
// locales write a comma before the milliseconds.
func parseStamp(s []byte) (ns int64, n int) {
	if len(s) <= len(dateShape) || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[19] != '.' && s[19] != ',' {
		return 0, 0
	}
	year, ok1 := parseDigits(s[0:4])
	month, ok2 := parseDigits(s[5:7])
	day, ok3 := parseDigits(s[8:10])
	hour, ok4 := parseDigits(s[11:13])
	minute, ok5 := parseDigits(s[14:16])
	second, ok6 := parseDigits(s[17:19])
	milli, ok7 := parseDigits(s[20:23])
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7) || year < 1971 || year > 2199 || month < 1 || month > 12 || day < 1 || day > 31 ||
		hour > 23 || minute > 59 || second > 60 {
		return 0, 0
	}
	n = len(dateShape)
	zone := int64(0)
	switch {
	case s[n] == 'Z':
		n++
	case (s[n] == '+' || s[n] == '-') && len(s) >= n+5:
		h, okh := parseDigits(s[n+1 : n+3])
		m, okm := parseDigits(s[n+3 : n+5])
		if !okh || !okm {
			return 0, 0
		}
		zone = h*3600 + m*60
		if s[n] == '-' {
			zone = -zone
		}
		n += 5
	default:
		return 0, 0
	}
	return (format.DaysSinceEpoch(year, month, day)*86400+hour*3600+minute*60+second-zone)*1e9 + milli*1e6, n
}

// parseDigits reads a number that consists of digits only.
func parseDigits(s []byte) (v int64, ok bool) {
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, len(s) > 0
}

// maxWhole keeps a decimal of 10⁻⁹ within 63 bits.
const maxWhole = 1 << 33

// tenths are 10⁻ⁿ in units of 10⁻⁹.
var tenths = [...]int64{1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 10, 1}

// parseDecimal reads "12.345" or, as some locales write it, "12,345" in units of 10⁻⁹, and
// returns its length; 0, 0 if s does not begin with a digit, or with more than fit.
func parseDecimal(s []byte) (nanos int64, n int) {
	whole := int64(0)
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		if whole = whole*10 + int64(s[n]-'0'); whole >= maxWhole {
			return 0, 0
		}
		n++
	}
	if n == 0 {
		return 0, 0
	}
	return decimalOf(whole, s, n)
}

// decimalOf is decimal for text that begins with a whole number of n digits.
func decimalOf(whole int64, s []byte, n int) (nanos int64, end int) {
	nanos = whole * 1e9
	if n+1 < len(s) && (s[n] == '.' || s[n] == ',') && s[n+1] >= '0' && s[n+1] <= '9' {
		parts, digits := int64(0), 0
		for n++; n < len(s) && s[n] >= '0' && s[n] <= '9'; n++ {
			if digits < len(tenths)-1 {
				parts = parts*10 + int64(s[n]-'0')
				digits++
			}
		}
		nanos += parts * tenths[digits]
	}
	return nanos, n
}
