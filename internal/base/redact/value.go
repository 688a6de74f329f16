package redact

import "strings"

// findQuote says where a quoted value that begins at j has its first byte, and how many
// backslashes stand before its quotes (JSON in JSON); 0 if it has no quotes.
func findQuote(b []byte, j int) (open, slashes int) {
	for k := j; k < len(b) && k-j < 8; k++ {
		switch b[k] {
		case '\\':
		case '"', '\'':
			return k + 1, k - j
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// quoteEnd finds where the closing quote and its backslashes begin, the end of
// the line if there is none.
func quoteEnd(b []byte, open, slashes int) int {
	q := b[open-1]
	run := 0
	for k := open; k < len(b); k++ {
		switch {
		case b[k] == '\\':
			run++
			continue
		case b[k] == q && (slashes == 0 && run%2 == 0 || slashes > 0 && run <= slashes):
			if slashes == 0 {
				return k
			}
			return k - run
		}
		run = 0
	}
	return len(b)
}

// valueEnd finds the end of a value without quotes. What may end it may also
// be part of a password: there it depends on what follows.
func valueEnd(b []byte, j int) int {
	for k := j; k < len(b); k++ {
		c := b[k]
		if c > '?' && c < '[' || c > '`' && c < '{' || c >= '0' && c <= ':' { // most
			continue
		}
		next := byte(' ')
		if k+1 < len(b) {
			next = b[k+1]
		}
		switch c {
		case '"', '\'', '&', '<', '>', '`':
			return k
		case '\\':
			if strings.IndexByte(`"'\unrtx`, next) >= 0 {
				return k
			}
		case '?': // behind ;jsessionid=
			if beginsAssignment(b[k+1:]) {
				return k
			}
		case ',', ';':
			if next <= ' ' || next == '"' || next == '\'' || next == '{' || next == '[' || beginsAssignment(b[k+1:]) {
				return k
			}
		case ')', ']', '}', '|':
			if next <= ' ' || strings.IndexByte(`"',;)]}|\`, next) >= 0 {
				return k
			}
		default:
			if c <= ' ' {
				return k
			}
		}
	}
	return len(b)
}

// beginsAssignment says whether a text begins with a name and = or :, and is not the end of
// something in base64.
func beginsAssignment(b []byte) bool {
	k := 0
	for k < len(b) && k < maxName && lower[b[k]] != 0 {
		k++
	}
	return k > 0 && k+1 < len(b) && (b[k] == '=' || b[k] == ':') && b[k+1] > ' ' && b[k+1] != '=' && (b[0] < '0' || b[0] > '9')
}

// harmlessValue says that nothing would be hidden.
func harmlessValue(b []byte) bool {
	return isCPUModel(b) || string(b) == Mark || string(b) == "-" || equalsAny(b, "null", "nil", "none", "true", "false", "(null)", "<nil>", "undefined")
}

// isCPUModel says whether b is 32 bits as the signature of a processor's model is written:
// 0x00b00f21.
func isCPUModel(b []byte) bool {
	if len(b) != len("0x00b00f21") || b[0] != '0' || b[1] != 'x' {
		return false
	}
	for _, c := range b[2:] {
		if !isDigitByte(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// looksSecret says whether the value of a weak name looks like a secret: eight bytes or more, no
// number, no time, no path.
func looksSecret(b []byte) bool {
	if len(b) < 8 || b[0] == '/' {
		return false
	}
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != ':' && c != '-' {
			return true
		}
	}
	return false
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// isNumber says whether b is a number as JSON has them, or nearly.
func isNumber(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && strings.IndexByte("+-.eE", c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

// words are of ASCII, in lower case, by their first letter: few others need be compared with any.
type words [256][]string

func wordsOf(all ...string) *words {
	w := new(words)
	for _, s := range all {
		w[s[0]] = append(w[s[0]], s)
	}
	return w
}

// hasWord says whether b is one of the words, whatever its case.
func (w *words) hasWord(b []byte) bool {
	if len(b) == 0 {
		return false
	}
next:
	for _, s := range w[lower[b[0]]] {
		if len(s) != len(b) {
			continue
		}
		for i := range b {
			if c := b[i]; c != s[i] && ('A' > c || c > 'Z' || c|0x20 != s[i]) {
				continue next
			}
		}
		return true
	}
	return false
}

// equalsAny compares in any case with words in lower case.
func equalsAny(b []byte, words ...string) bool {
	for _, w := range words {
		if len(b) == len(w) && beginsFold(b, w) {
			return true
		}
	}
	return false
}
