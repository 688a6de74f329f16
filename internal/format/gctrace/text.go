package gctrace

// A line is read from left to right. Each of these functions takes a start position and
// returns the end of what it read, -1 if that is not there; at -1 they find nothing. As methods of a
// cursor they kept the position in memory, which made reading a line half as long again.

const (
	maxProcs = 1 << 20
	maxGoal  = 1 << 33 // MiB; no machine has 8 PiB: the pacer prints it for "never"
	maxInt   = 1e15

	// 11 days of a phase, 30 years of @: a longer time is a clock that ran backwards.
	maxDecimal = 1e9
)

// skipLiteral skips s.
func skipLiteral(b []byte, i int, s string) int {
	if i < 0 || len(b)-i < len(s) || string(b[i:i+len(s)]) != s {
		return -1
	}
	return i + len(s)
}

// skipOptional skips s if it is there.
func skipOptional(b []byte, i int, s string) (end int, there bool) {
	if i < 0 || len(b)-i < len(s) || string(b[i:i+len(s)]) != s {
		return i, false
	}
	return i + len(s), true
}

// skipArrow skips an arrow, also in the form of JSON encoders, for envelopes that
// were not removed.
func skipArrow(b []byte, i int) int {
	if end, there := skipOptional(b, i, "->"); there {
		return end
	}
	return skipLiteral(b, i, `-\u003e`)
}

// parseInteger parses digits.
func parseInteger(b []byte, i int) (n int64, end int) {
	if i < 0 {
		return 0, -1
	}
	from := i
	for i < len(b) && isDigit(b[i]) {
		if n = n*10 + int64(b[i]-'0'); n > maxInt {
			return 0, -1
		}
		i++
	}
	if i == from {
		return 0, -1
	}
	return n, i
}

// parseDecimal parses a number as a multiple of unit ns, rounded down.
func parseDecimal(b []byte, i int, unit int64) (ns int64, end int) {
	n, i := parseInteger(b, i)
	if i < 0 || n > maxDecimal {
		return 0, -1
	}
	n *= unit
	if i == len(b) || b[i] != '.' {
		return n, i
	}
	i++
	from := i
	for i < len(b) && isDigit(b[i]) {
		unit /= 10
		n += int64(b[i]-'0') * unit
		i++
	}
	if i == from {
		return 0, -1
	}
	return n, i
}

// parsePercent parses a share; -1 if it is negative or above 100, as early in a process the
// share can be anything.
func parsePercent(b []byte, i int) (share int32, end int) {
	i, negative := skipOptional(b, i, "-")
	if i < 0 {
		return 0, -1
	}
	n, from := int64(0), i
	for i < len(b) && isDigit(b[i]) {
		n = min(n*10+int64(b[i]-'0'), 1000)
		i++
	}
	if i == from {
		return 0, -1
	}
	i = skipLiteral(b, i, "%")
	if negative || n > 100 {
		return -1, i
	}
	return int32(n), i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
