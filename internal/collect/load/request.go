package load

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// template is bytes with counters in them.
type template struct {
	fixed    []byte
	counters []counter // in order of position
}

type counter struct {
	at     int    // position in fixed
	modulo uint64 // 0: none
	width  int
}

var placeholder = regexp.MustCompile(`\{n(?:%([0-9]{1,18})(?::([0-9]{1,2}))?)?\}`)

func newTemplate(text []byte) (t template) {
	end := 0
	for _, m := range placeholder.FindAllSubmatchIndex(text, -1) {
		var c counter
		if m[2] >= 0 {
			c.modulo, _ = strconv.ParseUint(string(text[m[2]:m[3]]), 10, 64)
		}
		if m[4] >= 0 {
			c.width, _ = strconv.Atoi(string(text[m[4]:m[5]]))
		}
		t.fixed = append(t.fixed, text[end:m[0]]...)
		c.at = len(t.fixed)
		t.counters = append(t.counters, c)
		end = m[1]
	}
	t.fixed = append(t.fixed, text[end:]...)
	return t
}

// appendTo writes the template for request n.
func (t *template) appendTo(b []byte, n uint64) []byte {
	from := 0
	for _, c := range t.counters {
		b = append(b, t.fixed[from:c.at]...)
		from = c.at
		v := n
		if c.modulo > 0 {
			v %= c.modulo
		}
		start := len(b)
		b = strconv.AppendUint(b, v, 10)
		if pad := c.width - (len(b) - start); pad > 0 {
			b = slices.Insert(b, start, bytes.Repeat([]byte{'0'}, pad)...)
		}
	}
	return append(b, t.fixed[from:]...)
}

// message is a request as it is written, one for each path taken in turn.
type message struct {
	head, body template
	length     bool // the body's length differs by request: it is written after head
	sized      bool // there is a length, even if it is 0
	target     string
	route      string
}

// buildMessages renders everything about the requests that does not change.
func buildMessages(p *Plan, u *url.URL) ([]message, error) {
	if !isToken(p.Method) {
		return nil, planError("method %q: it is not the name of one, like POST", p.Method)
	}
	paths := p.Paths
	if len(paths) == 0 {
		paths = []string{u.RequestURI()}
		if strings.Contains(u.Path+u.RawQuery, "{n") { // braces are escaped otherwise
			_, rest, _ := strings.Cut(p.URL, u.Host)
			paths[0], _, _ = strings.Cut(rest, "#")
		}
	}
	var out []message
	for _, path := range paths {
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		if strings.ContainsAny(path, " \r\n\t") {
			return nil, planError("path %q: blanks are written %%20", path)
		}
		var head bytes.Buffer
		fmt.Fprintf(&head, "%s %s HTTP/1.1\r\n", p.Method, path)
		if err := writeHeader(&head, p, u); err != nil {
			return nil, err
		}
		m := message{body: newTemplate(p.Body), target: path}
		if m.sized = p.Body != nil || p.Method == http.MethodPost || p.Method == http.MethodPut || p.Method == http.MethodPatch; m.sized {
			if m.length = len(m.body.counters) > 0; !m.length {
				fmt.Fprintf(&head, "Content-Length: %d\r\n\r\n", len(m.body.fixed))
			}
		} else {
			head.WriteString("\r\n")
		}
		m.head = newTemplate(head.Bytes())
		path, _, _ = strings.Cut(path, "?")
		m.route = p.Method + " " + path
		out = append(out, m)
	}
	return out, nil
}

func writeHeader(head *bytes.Buffer, p *Plan, u *url.URL) error {
	fields, err := headerFields(p, u)
	if err != nil {
		return err
	}
	for _, f := range fields {
		fmt.Fprintf(head, "%s: %s\r\n", f.name, f.value)
	}
	return nil
}

type headerField struct{ name, value string }

// headerFields are the headers of each request, Host first, but for those about the body.
func headerFields(p *Plan, u *url.URL) ([]headerField, error) {
	host := u.Host
	if v := p.Header.Get("Host"); v != "" {
		host = v
	}
	out := []headerField{{"Host", host}}
	if p.Header.Get("User-Agent") == "" {
		out = append(out, headerField{"User-Agent", "unstall-load/1"})
	}
	if u.User != nil && p.Header.Get("Authorization") == "" {
		password, _ := u.User.Password()
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(u.User.Username(), password)
		out = append(out, headerField{"Authorization", r.Header.Get("Authorization")})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Header)) {
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Content-Length", "Transfer-Encoding":
			continue // ours to say
		}
		if !isToken(name) {
			return nil, planError("header %q: it is not the name of one, like Content-Type", name)
		}
		for _, v := range p.Header[name] {
			if strings.ContainsAny(v, "\r\n") {
				return nil, planError("header %s: its value has a line end in it", name)
			}
			out = append(out, headerField{name, v})
		}
	}
	return out, nil
}

// isToken reports whether s is a token of RFC 9110.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// fixedBytes is the whole message where no request differs from another, else nil.
func (m *message) fixedBytes() []byte {
	if m.length || len(m.head.counters) > 0 {
		return nil
	}
	return append(slices.Clone(m.head.fixed), m.body.fixed...)
}

// appendTo writes the message for request n.
func (m *message) appendTo(b []byte, n uint64) []byte {
	b = m.head.appendTo(b, n)
	if !m.length {
		return append(b, m.body.fixed...)
	}
	at := len(b)
	b = m.body.appendTo(b, n)
	length := []byte("Content-Length: " + strconv.Itoa(len(b)-at) + "\r\n\r\n")
	return slices.Insert(b, at, length...)
}

// isIdempotent reports whether a request with this method may be sent again when a kept connection
// turns out closed.
func isIdempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}
