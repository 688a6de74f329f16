package format

import "strings"

// CutLast is [strings.Cut] at the last separator. Without one it returns the whole text and false.
func CutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
