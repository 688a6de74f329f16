package format

import "strconv"

// Count is a number of things with the right words: "1 line is", "7 lines are".
func Count[N ~int | ~int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}

// Times is how often something happened: "once", "7 times".
func Times[N ~int | ~int64](n N) string {
	if n == 1 {
		return "once"
	}
	return strconv.FormatInt(int64(n), 10) + " times"
}
