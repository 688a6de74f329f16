package loadresult

import (
	"bytes"
	"encoding/json"

	"github.com/unstall/unstall/internal/format"
)

// Streams of one JSON object per line are scanned by hand: of some twenty
// members per request five are needed, and encoding/json reads all of them.

// scanMembers calls f for each member of an object with its key and raw value until f returns
// false. It returns false if the object is not well formed up to there.
func scanMembers(b []byte, f func(key, value []byte) bool) bool {
	i := skipSpaces(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	i = skipSpaces(b, i+1)
	for i < len(b) {
		if b[i] == '}' {
			return true
		}
		if b[i] != '"' {
			return false
		}
		end := stringEnd(b, i)
		if end < 0 {
			return false
		}
		key := b[i+1 : end-1]
		i = skipSpaces(b, end)
		if i >= len(b) || b[i] != ':' {
			return false
		}
		i = skipSpaces(b, i+1)
		end = valueEnd(b, i)
		if end < 0 {
			return false
		}
		if !f(key, b[i:end]) {
			return true
		}
		i = skipSpaces(b, end)
		if i >= len(b) {
			return false
		}
		if b[i] == ',' {
			i = skipSpaces(b, i+1)
		}
	}
	return false
}

func skipSpaces(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the position after the string that begins at i, -1 if it
// does not end.
func stringEnd(b []byte, i int) int {
	for from := i + 1; ; {
		k := bytes.IndexByte(b[from:], '"')
		if k < 0 {
			return -1
		}
		end := from + k
		slashes := 0
		for end-1-slashes > i && b[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		from = end + 1
	}
}

func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				if i = stringEnd(b, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	start := i
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			if i == start {
				return -1
			}
			return i
		}
		i++
	}
	return -1
}

// unquoteValue returns the text of a string value, nil of anything else.
func unquoteValue(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return nil
	}
	return []byte(s)
}

// parseInstant parses an RFC 3339 time as ns since the epoch, for years a load test can be of.
func parseInstant(b []byte) (int64, bool) {
	if len(b) < 20 || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return 0, false
	}
	year, month, day := parseDigits(b[0:4]), parseDigits(b[5:7]), parseDigits(b[8:10])
	hour, minute, second := parseDigits(b[11:13]), parseDigits(b[14:16]), parseDigits(b[17:19])
	if year < 1971 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return 0, false
	}
	t := (format.DaysSinceEpoch(year, month, day)*24+hour)*3600 + minute*60 + second
	b = b[19:]
	var frac int64
	if b[0] == '.' {
		b = b[1:]
		unit := int64(1e8)
		for len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
			frac += int64(b[0]-'0') * unit
			unit /= 10
			b = b[1:]
		}
	}
	switch {
	case len(b) == 1 && b[0] == 'Z':
	case len(b) == 6 && (b[0] == '+' || b[0] == '-') && b[3] == ':':
		h, m := parseDigits(b[1:3]), parseDigits(b[4:6])
		if h < 0 || h > 23 || m < 0 || m > 59 {
			return 0, false
		}
		if b[0] == '+' {
			t -= h*3600 + m*60
		} else {
			t += h*3600 + m*60
		}
	default:
		return 0, false
	}
	return t*1e9 + frac, true
}

func parseDigits(b []byte) (n int64) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// parseNatural parses an unsigned decimal number.
func parseNatural(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		if len(b) != 19 || b[0] > '8' { // 19 digits: ns since the epoch until 2255
			return 0, false
		}
	}
	n := parseDigits(b)
	return n, n >= 0
}
