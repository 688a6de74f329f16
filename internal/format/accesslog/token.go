package accesslog

import "bytes"

type tokenKind uint8

const (
	bare      tokenKind = iota
	quoted              // "…"
	bracketed           // […]
)

// token is a column of a text line; from and to exclude quotes and brackets.
type token struct {
	from, to int32
	kind     tokenKind
}

func (t token) textIn(line []byte) []byte { return line[t.from:t.to] }

const maxTokens = 96

// splitColumns cuts a line into columns at spaces, tabs and bars, and appends them to toks.
//
// A quote ends a column only before a separator, because Traefik and old Apaches do not escape
// quotes. nginx lists of upstreams are one column although they hold spaces: "10.0.0.1:80,
// 10.0.0.2:80 : 10.0.0.3:80".
func splitColumns(line []byte, toks []token) []token {
	for i := 0; i < len(line) && len(toks) < maxTokens; {
		switch c := line[i]; {
		case isSeparator(c):
			i++
		case c == '"':
			end := findClosingQuote(line, i+1)
			toks = append(toks, token{int32(i + 1), int32(end), quoted})
			i = end + 1
		case c == '[':
			end := bytes.IndexByte(line[i:], ']')
			if end < 0 {
				end = bareEnd(line, i)
				toks = append(toks, token{int32(i), int32(end), bare})
				i = end
				continue
			}
			toks = append(toks, token{int32(i + 1), int32(i + end), bracketed})
			i += end + 1
		default:
			end := bareEnd(line, i)
			toks = append(toks, token{int32(i), int32(end), bare})
			i = end
		}
	}
	return toks
}

func isSeparator(c byte) bool { return c == ' ' || c == '\t' || c == '|' }

// findClosingQuote returns where the quoted text that starts at i ends.
func findClosingQuote(line []byte, i int) int {
	for from := i; ; {
		j := bytes.IndexByte(line[from:], '"')
		if j < 0 {
			return len(line)
		}
		j += from
		escaped := false
		for k := j - 1; k >= i && line[k] == '\\'; k-- {
			escaped = !escaped
		}
		if !escaped && (j+1 == len(line) || isSeparator(line[j+1]) || line[j+1] == ',') {
			return j
		}
		from = j + 1
	}
}

func bareEnd(line []byte, i int) int {
	for from := i; i < len(line); i++ {
		if !mayEnd[line[i]] {
			continue
		}
		switch line[i] {
		case ' ':
			if line[i-1] == ',' && i-1 > from {
				continue
			}
			if i+2 < len(line) && line[i+1] == ':' && line[i+2] == ' ' {
				i += 2
				continue
			}
			return i
		case '\t', '|':
			return i
		case '"':
			if i > from && line[i-1] == '=' {
				i = min(findClosingQuote(line, i+1), len(line)-1)
			}
		}
	}
	return i
}

// mayEnd are the bytes at which a column without quotes may end.
var mayEnd = [256]bool{' ': true, '\t': true, '|': true, '"': true}

// splitLabel splits rt=0.003 and urt="0.001, 0.002" into label and value.
func splitLabel(b []byte) (label, value []byte) {
	i := bytes.IndexByte(b, '=')
	if i <= 0 || i > 40 {
		return nil, b
	}
	for _, c := range b[:i] {
		if !isLetter(c) && !isDigit(c) && c != '_' && c != '-' && c != '.' {
			return nil, b
		}
	}
	return b[:i], trimQuotes(b[i+1:])
}

func trimQuotes(b []byte) []byte {
	if len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"' {
		return b[1 : len(b)-1]
	}
	return b
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// parseRequest splits "GET /path?query HTTP/1.1". Another request line
// (a TLS hello, "-") has no method.
func parseRequest(b []byte) (method, path []byte, ok bool) {
	i := bytes.IndexByte(b, ' ')
	if i < 1 || !isMethod(b[:i]) {
		return nil, nil, false
	}
	path = b[i+1:]
	if j := bytes.LastIndexByte(path, ' '); j >= 0 && isProtocol(path[j+1:]) {
		path = path[:j]
	} else if j >= 0 {
		path = path[:bytes.IndexByte(path, ' ')]
	}
	if !isTarget(path) {
		return nil, nil, false
	}
	return b[:i], path, true
}

// isMethod accepts any token of capitals: WebDAV has dozens.
func isMethod(b []byte) bool {
	if len(b) < 3 || len(b) > 20 {
		return false
	}
	for _, c := range b {
		if (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func isProtocol(b []byte) bool {
	return len(b) >= 5 && (string(b[:5]) == "HTTP/" || string(b) == "HTTPS")
}

// isTarget says whether a text can be a request's target: a path, an absolute URI,
// host:port of a CONNECT, or *.
func isTarget(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	return b[0] == '/' || b[0] == '*' || bytes.Contains(b[:min(len(b), 12)], []byte("://")) || bytes.IndexByte(b, ':') > 0
}
