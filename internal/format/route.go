package format

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/redact"
)

// Bounds of a route.
const (
	maxSegments = 16
	MaxRoute    = 200 // bytes, and those of one segment more
)

// AppendRoute appends the route of a request target: it drops the query, and replaces
// segments that look like identifiers or like secrets
// by {id}. Sources with a server's own route
// templates do not need it.
func AppendRoute(out, target []byte) []byte {
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
	limit := len(out) + MaxRoute
	path := redact.PathOf(nil)
	for segments := 0; ; segments++ {
		i := bytes.IndexByte(target, '/')
		s := target
		if i >= 0 {
			s = target[:i]
		}
		if segments > maxSegments || len(out)+len(s) > limit {
			return append(out, "…"...)
		}
		out = appendSegment(out, s, path.Single(s))
		if i < 0 {
			return out
		}
		out = append(out, '/')
		target = target[i+1:]
	}
}

func appendSegment(out, s []byte, single bool) []byte {
	var digits, hex, upper, lower, dashes, stars, odd int
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
		case c == '*':
			stars++
		case c == '%' || c == '@' || c < ' ' || c >= 0x7f:
			odd++
		}
	}
	n := len(s)
	switch {
	case single, n >= 4 && stars == n, bytes.Contains(s, []byte(redact.Mark)): // a secret, and what is left of one
		return append(out, redact.ID...)
	case n == 0 || digits == 0 && odd == 0 && n < 24:
		return append(out, s...)
	case digits == n, odd > 0,
		hex == n && n >= 8,                                         // 8f3ab2c1
		n == 36 && dashes == 4 && hex == 32,                        // UUID
		digits >= 4 && digits*2 >= n && dot < 0,                    // INV-2026-0012, 2026-10-10
		n >= 16 && digits > 0 && upper > 0 && lower > 0 && dot < 0, // base64, ULID, KSUID
		n >= 24 && digits >= 4 && dashes < 3 && dot < 0:
		return append(out, redact.ID...)
	case numberAt(s) > 0: // page-17
		return append(append(out, s[:numberAt(s)]...), redact.ID...)
	case dot > 0 && n-dot <= 6 && (digitsOnly(s[:dot]) || dot >= 8 && hexOnly(s[:dot])):
		return append(append(out, redact.ID...), s[dot:]...) // 4711.jpg
	}
	return append(out, s...)
}

// numberAt returns where the number begins in a segment of words and, behind a hyphen or underscore,
// a number; 0 for others.
func numberAt(s []byte) int {
	at := len(s)
	for at > 0 && isDigit(s[at-1]) {
		at--
	}
	if at == len(s) || at < 2 || s[at-1] != '-' && s[at-1] != '_' || bytes.ContainsAny(s[:at], "0123456789.~") {
		return 0
	}
	return at
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digitsOnly(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

func hexOnly(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') && c != '-' {
			return false
		}
	}
	return true
}
