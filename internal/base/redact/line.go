package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Line returns a line without its secrets: the line itself if there are none.
// It does not change what it is given.
func Line(b []byte) []byte {
	s := scanner{in: b}
	s.scan(0, len(b))
	s.shapes()
	return s.text()
}

// text is what was looked at without what was found.
func (s *scanner) text() []byte {
	b := s.in
	if len(s.spans) == 0 {
		return b
	}
	out, done := make([]byte, 0, len(b)+len(Mark)*len(s.spans)), 0
	for _, h := range s.merged() {
		out = append(append(out, b[done:h.from]...), h.text...)
		done = h.to
	}
	return append(out, b[done:]...)
}

// Overwrite puts asterisks over what [Line] would hide: the length stays, as data
// with lengths and offsets in it needs.
func Overwrite(b []byte) (found bool) {
	s := scanner{in: b}
	s.scan(0, len(b))
	s.shapes()
	return s.overwrite()
}

func (s *scanner) overwrite() bool {
	for _, h := range s.spans {
		for i := h.from; i < h.to; i++ {
			s.in[i] = '*'
		}
	}
	return len(s.spans) > 0
}

// starts are the bytes that secrets are recognised at; the rest are passed over.
var starts = func() (t [256]bool) {
	for _, c := range "=:%@-_ABJ" {
		t[c] = true
	}
	return t
}()

type scanner struct {
	in     []byte
	spans  []span
	copied int  // behind what was hidden last
	own    bool // written by the tool or a runtime itself: see [Own]
}

// span is what is hidden, and what stands there instead.
type span struct {
	from, to int
	text     string
}

// merged are the spans in order, those that touch as one.
func (s *scanner) merged() []span {
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

// scan looks for secrets that begin in in[i:end], and returns where to go on: behind end
// where one reaches further.
func (s *scanner) scan(i, end int) int {
	for i < end {
		if !starts[s.in[i]] {
			i++
			continue
		}
		i = max(i+1, s.at(i))
	}
	return i
}

// at looks at one of the bytes in starts and returns where to go on.
func (s *scanner) at(i int) int {
	switch s.in[i] {
	case '=':
		return s.assignment(i, i+1)
	case '%':
		if beginsFold(s.in[i:], "%3d") {
			return s.assignment(i, i+3)
		}
	case ':':
		if begins(s.in[i:], "://") {
			return s.userinfo(i + 3)
		}
		return s.field(i)
	case '@':
		return s.dataSource(i)
	case '-':
		if begins(s.in[i:], "-----BEGIN ") {
			return s.privateKey(i)
		}
		if j := s.option(i); j > i {
			return j
		}
		return s.known(i)
	case 'B':
		return s.scheme(i)
	default:
		return s.known(i)
	}
	return i
}

// hide replaces in[i:j], and returns j.
func (s *scanner) hide(i, j int) int {
	if i = max(i, s.copied); i >= j || harmlessValue(s.in[i:j]) {
		return max(i, j)
	}
	s.spans = append(s.spans, span{i, j, Mark})
	s.copied = j
	return j
}

// assignment is "name=value", whose value begins at j.
func (s *scanner) assignment(i, j int) int {
	b, name := s.in, i
	if i > 0 && b[i-1] == ' ' && j < len(b) && b[j] == ' ' { // name = value
		name, j = i-1, j+1
	}
	k := nameBefore(b, s.copied, name)
	w := weigh(b[k:name])
	if w == harmless || j >= len(b) {
		return i
	}
	if open, n := quote(b, j); open > 0 {
		end := quoteEnd(b, open, n)
		if w == weak && !long(b[open:end]) {
			return i
		}
		return s.quoted(open, n)
	}
	if begins(b[j:], Mark) {
		return j + len(Mark)
	}
	end := valueEnd(b, j)
	if b[i] == '%' {
		if k := bytes.Index(b[j:end], []byte("%26")); k >= 0 {
			return s.hide(j, j+k)
		}
	}
	switch {
	case w == strong:
		return s.value(b[k:name], j)
	case inQuery(b, k):
		if code := b[k:name]; beginsFold(code, "code") && digits(b[j:end]) && end-j <= 3 {
			return i
		}
		return s.hide(j, end)
	case long(b[j:end]) && !beginsFold(b[k:name], "code"):
		return s.hide(j, end)
	}
	return i
}

// field is "name: value", of headers, JSON and what looks like it.
func (s *scanner) field(i int) int {
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
	w := weigh(name)
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
	if open, n := quote(b, j); open > 0 {
		if end := s.attribute(name, open, n); end > 0 {
			return end
		}
		return s.quoted(open, n)
	}
	switch c := b[j]; {
	case c == '[' && !begins(b[j:], Mark):
		return s.list(j + 1)
	case c == '{' || w == weak:
		return i
	case quoted && (c == '-' || '0' <= c && c <= '9'): // a JSON number
		end := valueEnd(b, j)
		if !number(b[j:end]) {
			return s.hide(j, end)
		}
		q := `"`
		if b[i-1] == '\'' {
			q = "'"
		}
		q = strings.Repeat(`\`, slashes) + q
		s.spans = append(s.spans, span{j, end, q + Mark + q})
		s.copied = end
		return end
	case j > i+1 && !quoted && !equalsAny(name, "cookie", "set-cookie") && assigns(b[j:]): // a logger's name, and fields
		return i
	}
	return s.value(name, j)
}

// attribute is a name in quotes that stands apart from its value, as spans have them:
// {"key":"http.route","value":{"stringValue":"/"}}. Of a secret the value is hidden, and
// not the name; whatever else stands in the name or before the value is looked at as
// anywhere. It returns 0 where it is none.
func (s *scanner) attribute(name []byte, open, slashes int) int {
	b := s.in
	if !equalsAny(name, "key") {
		return 0
	}
	end := quoteEnd(b, open, slashes)
	j := min(len(b), end+slashes+1)
	next := b[j:min(len(b), j+64)] // Jaeger's has a type between
	at := bytes.Index(next, []byte(`"value`))
	if at < 0 || next[0] != ',' && next[0] != ' ' || bytes.ContainsAny(next[:at], "{}[]") {
		return 0
	}
	if weigh(b[open:end]) != strong {
		return open
	}
	value, n := valueOf(b, j+at)
	if value == 0 {
		return open
	}
	if i := s.scan(open, value); i > value {
		return i
	}
	return s.quoted(value, n)
}

// valueOf finds the first quoted value of an attribute whose "value" begins at k, as
// quote does; 0 if it has none.
func valueOf(b []byte, k int) (open, slashes int) {
	for ; k < len(b) && b[k] != '}'; k++ {
		if b[k] != ':' {
			continue
		}
		for k++; k < len(b) && b[k] == ' '; {
			k++
		}
		if open, n := quote(b, k); open > 0 {
			return open, n
		}
		k--
	}
	return 0, 0
}

// quoted hides a quoted value, and what follows if it was the name of another.
func (s *scanner) quoted(open, slashes int) int {
	b := s.in
	for {
		end := s.hide(open, quoteEnd(b, open, slashes))
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
		if open, slashes = quote(b, j); open == 0 {
			return end
		}
	}
}

// list is ["a","b"] in JSON, [a b] as Go prints headers.
func (s *scanner) list(j int) int {
	b := s.in
	for j < len(b) && b[j] != ']' {
		if open, n := quote(b, j); open > 0 {
			j = min(len(b), s.hide(open, quoteEnd(b, open, n))+n+1)
			continue
		}
		switch {
		case b[j] == ' ' || b[j] == ',':
			j++
		case begins(b[j:], Mark):
			j += len(Mark)
		default:
			end := j
			for end < len(b) && b[end] != ' ' && b[end] != ']' {
				end++
			}
			j = s.hide(j, end)
		}
	}
	return j
}

// value hides the value of a strong name that has no quotes.
func (s *scanner) value(name []byte, j int) int {
	b := s.in
	if begins(b[j:], Mark) {
		return j + len(Mark)
	}
	end := valueEnd(b, j)
	var buf [maxName]byte
	switch plain := normalize(buf[:0], name); {
	case ends(plain, "authorization"):
		next := end + 1
		switch w := b[j:end]; {
		case end+1 >= len(b) || b[end] != ' ':
		case equalsAny(w, "aws4-hmac-sha256"): // its parts have names of their own
			return end
		case equalsAny(w, "digest"):
			for end < len(b) && b[end] != '\\' && b[end] >= ' ' {
				end++
			}
			return s.hide(next, end)
		case equalsAny(w, "bearer", "basic", "token", "apikey", "negotiate", "ntlm"):
			if begins(b[next:], Mark) {
				return next + len(Mark)
			}
			return s.hide(next, valueEnd(b, next))
		default:
			if after := valueEnd(b, next); after-next >= 16 {
				end = after
			}
		}
	case ends(plain, "cookie"):
		for end+2 < len(b) && b[end] == ';' && b[end+1] == ' ' {
			end = valueEnd(b, end+2)
		}
	}
	return s.hide(j, end)
}

// option is "--name value".
func (s *scanner) option(i int) int {
	b := s.in
	if !begins(b[i:], "--") || i > 0 && lower[b[i-1]] != 0 {
		return i
	}
	end := i + 2
	for end < len(b) && lower[b[end]] != 0 {
		end++
	}
	if end+1 >= len(b) || b[end] != ' ' || b[end+1] == '-' || weigh(b[i+2:end]) != strong {
		return i
	}
	j := end + 1
	if open, n := quote(b, j); open > 0 {
		return s.quoted(open, n)
	}
	if begins(b[j:], Mark) {
		return j + len(Mark)
	}
	return s.hide(j, valueEnd(b, j))
}
