package check

import (
	"math"
	"strconv"
)

// Digits writes v with n significant digits as it is typed, those before the point in full: 1203, 98.6,
// 0.031. Text for people is written by [figure].
func Digits(n int, v float64) string {
	if math.Abs(v) >= math.Pow10(n) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', n-1, 64), 64)
	if err != nil { // no number at all
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
