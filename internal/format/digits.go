package format

// ParseDigits reads a whole number that consists of digits only.
func ParseDigits(s []byte) (n int64, ok bool) {
	if len(s) == 0 || len(s) > 19 {
		return 0, false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n >= 0
}
