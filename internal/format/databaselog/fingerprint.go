package databaselog

import (
	"strings"
	"unicode/utf8"
)

// maxFingerprint is how many bytes of a statement are kept.
const maxFingerprint = 160

// Fingerprint returns a statement without its literals: strings, numbers and comments are removed, and lists of
// them become one. Blanks are collapsed, words stay. A literal that is cut off is removed, too.
func Fingerprint(sql string) string {
	var w strings.Builder
	space := false
	last := func() byte {
		s := w.String()
		if len(s) == 0 {
			return 0
		}
		return s[len(s)-1]
	}
	put := func(s string) {
		if space && w.Len() > 0 {
			w.WriteByte(' ')
		}
		space = false
		w.WriteString(s)
	}
	literal := func() {
		s := strings.TrimRight(w.String(), " ")
		if strings.HasSuffix(s, "?,") { // one value of a list
			w.Reset()
			w.WriteString(strings.TrimSuffix(s, ","))
			space = false
			return
		}
		put("?")
	}
	for i := 0; i < len(sql) && w.Len() < maxFingerprint; {
		c := sql[i]
		switch {
		case c <= ' ':
			space = true
			i++
		case c == '\'' || c == '"' && looksLikeValue(w.String()):
			i = quotedEnd(sql, i, c)
			literal()
		case c == '"' || c == '`':
			end := quotedEnd(sql, i, c)
			put(sql[i:end])
			i = end
		case c == '$' && i+1 < len(sql) && (sql[i+1] == '$' || isWord(sql[i+1]) && (sql[i+1] < '0' || sql[i+1] > '9')):
			end := strings.IndexByte(sql[i+1:], '$')
			if end < 0 {
				return clipStatement(w.String())
			}
			tag := sql[i : i+end+2]
			close := strings.Index(sql[i+len(tag):], tag)
			if close < 0 {
				literal()
				return clipStatement(w.String())
			}
			i += 2*len(tag) + close
			literal()
		case strings.HasPrefix(sql[i:], "--"), c == '#':
			end := strings.IndexByte(sql[i:], '\n')
			if end < 0 {
				return clipStatement(w.String())
			}
			i += end
		case strings.HasPrefix(sql[i:], "/*"):
			end := strings.Index(sql[i:], "*/")
			if end < 0 {
				return clipStatement(w.String())
			}
			i += end + 2
		case c >= '0' && c <= '9' && !isWord(last()) || c >= '0' && c <= '9' && space:
			for i < len(sql) && (isWord(sql[i]) || sql[i] == '.' || (sql[i] == '+' || sql[i] == '-') && (sql[i-1] == 'e' || sql[i-1] == 'E')) {
				i++
			}
			literal()
		case c == '$' && i+1 < len(sql) && sql[i+1] >= '0' && sql[i+1] <= '9':
			for i++; i < len(sql) && sql[i] >= '0' && sql[i] <= '9'; {
				i++
			}
			literal()
		default:
			_, n := utf8.DecodeRuneInString(sql[i:])
			put(sql[i : i+n])
			i += n
		}
	}
	return clipStatement(w.String())
}

// looksLikeValue says whether a value follows and not a name: MySQL quotes strings with " too.
func looksLikeValue(before string) bool {
	before = strings.ToUpper(strings.TrimRight(before, " "))
	for _, s := range []string{"=", "<", ">", "LIKE", "VALUES", "IN", "?,", "(", "THEN", "ELSE", "BETWEEN", "AND"} {
		if strings.HasSuffix(before, s) {
			return true
		}
	}
	return false
}

// quotedEnd returns where the quoted text that begins at i ends, len(s) if it is cut.
func quotedEnd(s string, i int, quote byte) int {
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func clipStatement(s string) string {
	if len(s) > maxFingerprint {
		s = s[:maxFingerprint]
		for len(s) > 0 && !utf8.ValidString(s[max(0, len(s)-4):]) {
			s = s[:len(s)-1]
		}
		s += "…"
	}
	return strings.ToValidUTF8(strings.TrimRight(s, "; "), "?")
}
