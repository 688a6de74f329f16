package units

// Plural writes a count with a noun, which takes an s: "1 pause", "1,234 pauses".
func Plural[N ~int | ~int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + one + "s"
}

// Times writes how often something happened: "once", "twice", "12 times".
func Times[N ~int | ~int64](n N) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Count(n) + " times"
}
