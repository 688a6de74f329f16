package page

import (
	"strconv"
	"strings"
)

// parseURLs returns the URLs of a value; of image-set() the one for a device pixel ratio of 1.
func parseURLs(value string) (out []string) {
	for at := 0; at < len(value); {
		rest := value[at:]
		lower := strings.ToLower(rest[:min(len(rest), 18)])
		boundary := at == 0 || !isNameLetter(value[at-1])
		switch {
		case boundary && strings.HasPrefix(strings.TrimPrefix(lower, "-webkit-"), "image-set("):
			inner, end := cutBrackets(rest)
			if ref := imageSet(inner); ref != "" {
				out = append(out, ref)
			}
			at += end
		case boundary && strings.HasPrefix(lower, "url("):
			inner, end := cutBrackets(rest)
			if s, ok := parseString(strings.TrimSpace(inner)); ok {
				inner = s
			}
			if inner = strings.TrimSpace(unescapeCSS(inner)); inner != "" && !strings.HasPrefix(inner, "#") {
				out = append(out, inner)
			}
			at += end
		case value[at] == '"' || value[at] == '\'':
			at = closingQuote(value, at) + 1
		default:
			at++
		}
	}
	return out
}

func isNameLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '_' }

// imageSet picks of "a.png" 1x, "b.png" 2x the first for at least 1x, else the last.
func imageSet(inner string) (best string) {
	for _, item := range splitTopLevel(inner, ',') {
		item = strings.TrimSpace(item)
		ref, ok := parseString(item)
		if !ok {
			refs := parseURLs(item)
			if len(refs) == 0 {
				continue
			}
			ref = refs[0]
		}
		best = ref
		fields := strings.Fields(item)
		if px, ok := lengthOf(fields[len(fields)-1], Desktop); !ok || px >= 1 {
			return ref
		}
	}
	return best
}

// cutBrackets returns what stands in the brackets that a function begins with, and where they end.
func cutBrackets(s string) (inner string, end int) {
	open := strings.IndexByte(s, '(')
	plain := strings.TrimLeft(s[open+1:], " \t\r\n") // url(a.png): anything up to the bracket
	unquoted := strings.EqualFold(s[:open], "url") && !strings.HasPrefix(plain, `"`) && !strings.HasPrefix(plain, "'")
	depth := 0
	for i := open; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case (c == '"' || c == '\'') && !unquoted:
			i = closingQuote(s, i)
		case c == '(' && (!unquoted || i == open):
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return s[open+1 : i], i + 1
			}
		}
	}
	return s[open+1:], len(s)
}

// parseString returns the string that a value begins with.
func parseString(s string) (string, bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", false
	}
	end := closingQuote(s, 0)
	return unescapeCSS(s[1:max(min(end, len(s)), 1)]), true
}

// closingQuote returns where the string ends that begins at i: at its quote, or the end of all.
func closingQuote(s string, i int) int {
	for j := i + 1; j < len(s); j++ {
		if s[j] == '\\' {
			j++
		} else if s[j] == s[i] {
			return j
		}
	}
	return len(s)
}

func unescapeCSS(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		j := i + 1
		for j < len(s) && j < i+7 && strings.IndexByte("0123456789abcdefABCDEF", s[j]) >= 0 {
			j++
		}
		if code, err := strconv.ParseUint(s[i+1:j], 16, 32); err == nil {
			b.WriteRune(rune(code))
			if j < len(s) && s[j] == ' ' {
				j++
			}
			i = j - 1
		} else if i+1 < len(s) {
			i++
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// stripComments returns CSS without its comments; strings and URLs are left alone.
func stripComments(s string) string {
	if !strings.Contains(s, "/*") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case s[i] == '"' || s[i] == '\'':
			end := min(closingQuote(s, i)+1, len(s))
			b.WriteString(s[i:end])
			i = end
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return b.String()
			}
			i += end + 4
			b.WriteByte(' ')
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}
