package probe

import "strings"

// OneLine returns a text of the system or of a target as recordings of lines hold it: control characters are blanks.
func OneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s))
}
