package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Line returns a line without its secrets, or the line itself if it has none. It does not change its argument.
func Line(b []byte) []byte {
	s := scanner{in: b}
	s.scanRange(0, len(b))
	s.hideShapes()
	return s.redactedText()
}

// redactedText returns the scanned text without its secrets.
func (s *scanner) redactedText() []byte {
	b := s.in
	if len(s.spans) == 0 {
		return b
	}
	out, done := make([]byte, 0, len(b)+len(Mark)*len(s.spans)), 0
	for _, h := range s.mergeSpans() {
		out = append(append(out, b[done:h.from]...), h.text...)
		done = h.to
	}
	return append(out, b[done:]...)
}

// Overwrite puts asterisks over what [Line] hides: the length stays, for data that contains lengths and offsets.
func Overwrite(b []byte) (found bool) {
	s := scanner{in: b}
	s.scanRange(0, len(b))
	s.hideShapes()
	return s.overwriteSpans()
}

func (s *scanner) overwriteSpans() bool {
	for _, h := range s.spans {
		for i := h.from; i < h.to; i++ {
			s.in[i] = '*'
		}
	}
	return len(s.spans) > 0
}

// starts are the bytes at which secrets are recognised; the scan skips all others.
var starts = func() (t [256]bool) {
	for _, c := range "=:%@-_ABJ" {
		t[c] = true
	}
	return t
}()

type scanner struct {
	in     []byte
	spans  []span
	copied int  // end of the last hidden part
	own    bool // written by the tool or by a runtime, see [Own]
}

// span is a hidden part with its replacement.
type span struct {
	from, to int
	text     string
}

// mergeSpans sorts the spans and joins those that touch.
func (s *scanner) mergeSpans() []span {
	slices.SortStableFunc(s.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := s.spans[:1]
	for _, h := range s.spans[1:] {
		switch last := &out[len(out)-1]; {
		case h.from > last.to || h.from == last.to && h.text != last.text:
			out = append(out, h)
		case h.to > last.to:
			last.to = h.to
		}
	}
	return out
}

// scanRange scans in[i:end] for beginnings of secrets, and returns where to continue: beyond end if a secret reaches further.
func (s *scanner) scanRange(i, end int) int {
	for i < end {
		if !starts[s.in[i]] {
			i++
			continue
		}
		i = max(i+1, s.scanAt(i))
	}
	return i
}

// scanAt scans at one of the bytes in starts and returns where to continue.
func (s *scanner) scanAt(i int) int {
	switch s.in[i] {
	case '=':
		return s.scanAssignment(i, i+1)
	case '%':
		if beginsFold(s.in[i:], "%3d") {
			return s.scanAssignment(i, i+3)
		}
	case ':':
		if hasPrefix(s.in[i:], "://") {
			return s.hideUserinfo(i + 3)
		}
		return s.scanField(i)
	case '@':
		return s.hideDataSource(i)
	case '-':
		if hasPrefix(s.in[i:], "-----BEGIN ") {
			return s.hidePrivateKey(i)
		}
		if j := s.scanOption(i); j > i {
			return j
		}
		return s.hideKnown(i)
	case 'B':
		return s.hideScheme(i)
	default:
		return s.hideKnown(i)
	}
	return i
}

// hideRange replaces in[i:j], and returns j.
func (s *scanner) hideRange(i, j int) int {
	if i = max(i, s.copied); i >= j || harmlessValue(s.in[i:j]) {
		return max(i, j)
	}
	s.spans = append(s.spans, span{i, j, Mark})
	s.copied = j
	return j
}

// scanAssignment scans "name=value", whose value begins at j.
func (s *scanner) scanAssignment(i, j int) int {
	b, name := s.in, i
	if i > 0 && b[i-1] == ' ' && j < len(b) && b[j] == ' ' { // name = value
		name, j = i-1, j+1
	}
	k := nameBefore(b, s.copied, name)
	w := weighName(b[k:name])
	if w == harmless || j >= len(b) {
		return i
	}
	if open, n := findQuote(b, j); open > 0 {
		end := quoteEnd(b, open, n)
		if w == weak && !looksSecret(b[open:end]) {
			return i
		}
		return s.hideQuoted(open, n)
	}
	if hasPrefix(b[j:], Mark) {
		return j + len(Mark)
	}
	end := valueEnd(b, j)
	if b[i] == '%' {
		if k := bytes.Index(b[j:end], []byte("%26")); k >= 0 {
			return s.hideRange(j, j+k)
		}
	}
	switch {
	case w == strong:
		return s.hideUnquoted(b[k:name], j)
	case inQuery(b, k):
		if code := b[k:name]; beginsFold(code, "code") && isDigits(b[j:end]) && end-j <= 3 {
			return i
		}
		return s.hideRange(j, end)
	case looksSecret(b[j:end]) && !beginsFold(b[k:name], "code"):
		return s.hideRange(j, end)
	}
	return i
}

// scanField scans "name: value" in headers, JSON and similar texts.
func (s *scanner) scanField(i int) int {
	b, end := s.in, i
	for end > s.copied && b[end-1] == ' ' && i-end < 2 {
		end--
	}
	quoted := end > s.copied && (b[end-1] == '"' || b[end-1] == '\'')
	slashes := 0
	if quoted {
		end--
		for end > s.copied && b[end-1] == '\\' {
			end--
			slashes++
		}
	} else {
		end = i
	}
	k := nameBefore(b, s.copied, end)
	name := b[k:end]
	w := weighName(name)
	if w == harmless || w == weak && (!quoted || beginsFold(name, "code")) {
		return i
	}
	j := i + 1
	for j < len(b) && b[j] == ' ' {
		j++
	}
	if j == len(b) {
		return i
	}
	if open, n := findQuote(b, j); open > 0 {
		if end := s.scanAttribute(name, open, n); end > 0 {
			return end
		}
		return s.hideQuoted(open, n)
	}
	switch c := b[j]; {
	case c == '[' && !hasPrefix(b[j:], Mark):
		return s.hideList(j + 1)
	case c == '{' || w == weak:
		return i
	case quoted && (c == '-' || '0' <= c && c <= '9'): // a JSON number
		end := valueEnd(b, j)
		if !isNumber(b[j:end]) {
			return s.hideRange(j, end)
		}
		q := `"`
		if b[i-1] == '\'' {
			q = "'"
		}
		q = strings.Repeat(`\`, slashes) + q
		s.spans = append(s.spans, span{j, end, q + Mark + q})
		s.copied = end
		return end
	case j > i+1 && !quoted && !equalsAny(name, "cookie", "set-cookie") && beginsAssignment(b[j:]): // a logger's name followed by fields
		return i
	}
	return s.hideUnquoted(name, j)
}

// scanAttribute scans a quoted name apart from its value, as in spans: {"key":"http.route","value":{"stringValue":"/"}}. For a secret it
// hides the value, not the name, and scans the rest of the name and the text before the value as usual. It returns 0 if there is no
// attribute.
func (s *scanner) scanAttribute(name []byte, open, slashes int) int {
	b := s.in
	if !equalsAny(name, "key") {
		return 0
	}
	end := quoteEnd(b, open, slashes)
	j := min(len(b), end+slashes+1)
	next := b[j:min(len(b), j+64)] // Jaeger's attributes have a type in between
	at := bytes.Index(next, []byte(`"value`))
	if at < 0 || next[0] != ',' && next[0] != ' ' || bytes.ContainsAny(next[:at], "{}[]") {
		return 0
	}
	if weighName(b[open:end]) != strong {
		return open
	}
	value, n := valueOf(b, j+at)
	if value == 0 {
		return open
	}
	if i := s.scanRange(open, value); i > value {
		return i
	}
	return s.hideQuoted(value, n)
}

// valueOf finds the first quoted value of an attribute whose "value" begins at k, in the same way as quote; 0 if it has none.
func valueOf(b []byte, k int) (open, slashes int) {
	for ; k < len(b) && b[k] != '}'; k++ {
		if b[k] != ':' {
			continue
		}
		for k++; k < len(b) && b[k] == ' '; {
			k++
		}
		if open, n := findQuote(b, k); open > 0 {
			return open, n
		}
		k--
	}
	return 0, 0
}

// hideQuoted hides a quoted value, and the next one if the value was the name of another.
func (s *scanner) hideQuoted(open, slashes int) int {
	b := s.in
	for {
		end := s.hideRange(open, quoteEnd(b, open, slashes))
		j := end + slashes + 1
		for j < len(b) && b[j] == ' ' {
			j++
		}
		if j >= len(b) || b[j] != ':' {
			return end
		}
		for j++; j < len(b) && b[j] == ' '; {
			j++
		}
		if open, slashes = findQuote(b, j); open == 0 {
			return end
		}
	}
}

// hideList hides the elements of ["a","b"] in JSON, and of [a b] as Go prints headers.
func (s *scanner) hideList(j int) int {
	b := s.in
	for j < len(b) && b[j] != ']' {
		if open, n := findQuote(b, j); open > 0 {
			j = min(len(b), s.hideRange(open, quoteEnd(b, open, n))+n+1)
			continue
		}
		switch {
		case b[j] == ' ' || b[j] == ',':
			j++
		case hasPrefix(b[j:], Mark):
			j += len(Mark)
		default:
			end := j
			for end < len(b) && b[end] != ' ' && b[end] != ']' {
				end++
			}
			j = s.hideRange(j, end)
		}
	}
	return j
}

// hideUnquoted hides the value of a strong name without quotes.
func (s *scanner) hideUnquoted(name []byte, j int) int {
	b := s.in
	if hasPrefix(b[j:], Mark) {
		return j + len(Mark)
	}
	end := valueEnd(b, j)
	var buf [maxName]byte
	switch plain := normalizeName(buf[:0], name); {
	case hasSuffix(plain, "authorization"):
		next := end + 1
		switch w := b[j:end]; {
		case end+1 >= len(b) || b[end] != ' ':
		case equalsAny(w, "aws4-hmac-sha256"): // its parts have names
			return end
		case equalsAny(w, "digest"):
			for end < len(b) && b[end] != '\\' && b[end] >= ' ' {
				end++
			}
			return s.hideRange(next, end)
		case equalsAny(w, "bearer", "basic", "token", "apikey", "negotiate", "ntlm"):
			if hasPrefix(b[next:], Mark) {
				return next + len(Mark)
			}
			return s.hideRange(next, valueEnd(b, next))
		default:
			if after := valueEnd(b, next); after-next >= 16 {
				end = after
			}
		}
	case hasSuffix(plain, "cookie"):
		for end+2 < len(b) && b[end] == ';' && b[end+1] == ' ' {
			end = valueEnd(b, end+2)
		}
	}
	return s.hideRange(j, end)
}

// scanOption scans "--name value".
func (s *scanner) scanOption(i int) int {
	b := s.in
	if !hasPrefix(b[i:], "--") || i > 0 && lower[b[i-1]] != 0 {
		return i
	}
	end := i + 2
	for end < len(b) && lower[b[end]] != 0 {
		end++
	}
	if end+1 >= len(b) || b[end] != ' ' || b[end+1] == '-' || weighName(b[i+2:end]) != strong {
		return i
	}
	j := end + 1
	if open, n := findQuote(b, j); open > 0 {
		return s.hideQuoted(open, n)
	}
	if hasPrefix(b[j:], Mark) {
		return j + len(Mark)
	}
	return s.hideRange(j, valueEnd(b, j))
}
