package accesslog

import (
	"bytes"

	"github.com/unstall/unstall/evidence"
)

// routes folds request targets into routes: the query is dropped, segments that
// look like identifiers become {id}. After maxRoutes distinct ones the rest is
// folded to its first segment, then to its method, so that a scanner that tries
// a million paths costs no memory.
type routes struct {
	b       *evidence.Builder
	slots   map[string]uint16
	names   []evidence.NameID
	texts   []string
	buf     []byte
	unknown string // route of what has none
}

const (
	maxRoutes   = 1000 // in full
	maxFolded   = 1500 // including METHOD /first/…
	maxSegments = 16
	maxRouteLen = 200
)

func newRoutes(b *evidence.Builder, unknown string) *routes {
	return &routes{b: b, unknown: unknown, slots: make(map[string]uint16)}
}

// of returns the number of a request's route; its name is names[number].
func (r *routes) of(method, target []byte) uint16 {
	if len(target) == 0 && len(method) == 0 {
		return r.slot(r.unknown)
	}
	r.buf = append(r.buf[:0], method...)
	if len(method) > 0 && len(target) > 0 {
		r.buf = append(r.buf, ' ')
	}
	r.buf = appendRoute(r.buf, target)
	if s, ok := r.slots[string(r.buf)]; ok {
		return s
	}
	if len(r.names) < maxRoutes {
		return r.slot(string(r.buf))
	}
	path := r.buf
	if len(method) > 0 {
		path = path[min(len(path), len(method)+1):]
	}
	head := len(r.buf) - len(path)
	if len(path) > 1 {
		if i := bytes.IndexByte(path[1:], '/'); i >= 0 {
			r.buf = append(r.buf[:head+i+2], "…"...)
			if s, ok := r.slots[string(r.buf)]; ok {
				return s
			}
			if len(r.names) < maxFolded {
				return r.slot(string(r.buf))
			}
		}
	}
	r.buf = append(r.buf[:head], "/…"...)
	if s, ok := r.slots[string(r.buf)]; ok || len(r.names) < maxFolded+100 {
		if !ok {
			s = r.slot(string(r.buf))
		}
		return s
	}
	return r.slot("…")
}

func (r *routes) slot(text string) uint16 {
	if s, ok := r.slots[text]; ok {
		return s
	}
	s := uint16(len(r.names))
	r.slots[text] = s
	r.names = append(r.names, r.b.Name(text))
	r.texts = append(r.texts, text)
	return s
}

// appendRoute appends the route of a target.
func appendRoute(out, target []byte) []byte {
	if len(target) > 0 && target[0] != '/' {
		if i := bytes.Index(target[:min(len(target), 12)], []byte("://")); i > 0 {
			target = target[i+3:]
			if j := bytes.IndexAny(target, "/?#"); j >= 0 && target[j] == '/' {
				target = target[j:]
			} else {
				target = []byte("/")
			}
		}
	}
	for i, c := range target {
		if c == '?' || c == '#' || c == ';' {
			target = target[:i]
			break
		}
	}
	limit := len(out) + maxRouteLen
	for segments := 0; ; segments++ {
		i := bytes.IndexByte(target, '/')
		s := target
		if i >= 0 {
			s = target[:i]
		}
		if segments > maxSegments || len(out)+len(s) > limit {
			return append(out, "…"...)
		}
		out = appendSegment(out, s)
		if i < 0 {
			return out
		}
		out = append(out, '/')
		target = target[i+1:]
	}
}

func appendSegment(out, s []byte) []byte {
	var digits, hex, upper, lower, dashes, odd int
	dot := -1
	for i, c := range s {
		switch {
		case isDigit(c):
			digits++
			hex++
		case c >= 'a' && c <= 'z':
			lower++
			if c <= 'f' {
				hex++
			}
		case c >= 'A' && c <= 'Z':
			upper++
			if c <= 'F' {
				hex++
			}
		case c == '-':
			dashes++
		case c == '.':
			dot = i
		case c == '%' || c == '@' || c < ' ' || c >= 0x7f:
			odd++
		}
	}
	n := len(s)
	switch {
	case n == 0 || digits == 0 && odd == 0 && n < 24:
		return append(out, s...)
	case digits == n, odd > 0,
		hex == n && n >= 8,                                         // 8f3ab2c1
		n == 36 && dashes == 4 && hex == 32,                        // UUID
		digits >= 4 && digits*2 >= n && dot < 0,                    // INV-2026-0012, 2026-10-10
		n >= 16 && digits > 0 && upper > 0 && lower > 0 && dot < 0, // base64, ULID, KSUID
		n >= 24 && digits >= 4 && dashes < 3 && dot < 0:
		return append(out, "{id}"...)
	case dot > 0 && n-dot <= 6 && (number(s[:dot]) >= 0 || dot >= 8 && hexOnly(s[:dot])):
		return append(append(out, "{id}"...), s[dot:]...) // 4711.jpg
	}
	return append(out, s...)
}

func hexOnly(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') && c != '-' {
			return false
		}
	}
	return true
}
