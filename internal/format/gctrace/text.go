package gctrace

// A line is read from left to right. Each of these functions takes the position it begins at and
// returns where what it read ends, -1 if that is not there; behind -1 nothing is. As methods of a
// cursor they kept the position in memory, and reading a line took a half longer.

const (
	maxProcs = 1 << 20
	maxGoal  = 1 << 33 // MiB; no machine has 8 PiB: the pacer's "never"
	maxInt   = 1e15

	// 11 days of a phase, 30 years of @: more is a clock that ran backwards.
	maxDecimal = 1e9
)

// literal passes over s.
func literal(b []byte, i int, s string) int {
	if i < 0 || len(b)-i < len(s) || string(b[i:i+len(s)]) != s {
		return -1
	}
	return i + len(s)
}

// optional passes over s if it is there.
func optional(b []byte, i int, s string) (end int, there bool) {
	if i < 0 || len(b)-i < len(s) || string(b[i:i+len(s)]) != s {
		return i, false
	}
	return i + len(s), true
}

// arrow also takes the form JSON encoders give it, for envelopes that nobody
// took off.
func arrow(b []byte, i int) int {
	if end, there := optional(b, i, "->"); there {
		return end
	}
	return literal(b, i, `-\u003e`)
}

// integer reads digits.
func integer(b []byte, i int) (n int64, end int) {
	if i < 0 {
		return 0, -1
	}
	from := i
	for i < len(b) && digit(b[i]) {
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

// decimal reads a number as a multiple of unit ns, rounded down.
func decimal(b []byte, i int, unit int64) (ns int64, end int) {
	n, i := integer(b, i)
	if i < 0 || n > maxDecimal {
		return 0, -1
	}
	n *= unit
	if i == len(b) || b[i] != '.' {
		return n, i
	}
	i++
	from := i
	for i < len(b) && digit(b[i]) {
		unit /= 10
		n += int64(b[i]-'0') * unit
		i++
	}
	if i == from {
		return 0, -1
	}
	return n, i
}

// percent returns -1 for what is none: early in a process the share can be
// anything.
func percent(b []byte, i int) (share int32, end int) {
	i, negative := optional(b, i, "-")
	if i < 0 {
		return 0, -1
	}
	n, from := int64(0), i
	for i < len(b) && digit(b[i]) {
		n = min(n*10+int64(b[i]-'0'), 1000)
		i++
	}
	if i == from {
		return 0, -1
	}
	i = literal(b, i, "%")
	if negative || n > 100 {
		return -1, i
	}
	return int32(n), i
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
