package check

import (
	"math"
	"strconv"
)

// Digits formats v with n significant digits for input fields and commands, with all digits before the point: 1203, 98.6,
// 0.031. Package figure formats text for people.
func Digits(n int, v float64) string {
	if math.Abs(v) >= math.Pow10(n) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', n-1, 64), 64)
	if err != nil { // not a number
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
