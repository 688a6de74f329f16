package redact

import (
	"bytes"
	"slices"
)

// Text redacts the lines of a text in order, and so finds private keys that go
// over several of them. The zero value is ready.
type Text struct {
	Seen *Seen // of lines; may be nil

	key    bool // within a private key
	others int  // lines since then that were none of it
}

// maxOthers is how many lines of other threads may stand between those of a key.
const maxOthers = 8

// Line is [Line] for the next line.
func (t *Text) Line(b []byte) []byte { return t.redactLine(b, AsLine, Line) }

// Own is [Own] for the next line.
func (t *Text) Own(b []byte) []byte { return t.redactLine(b, AsOwn, Own) }

func (t *Text) redactLine(b []byte, as byte, of func([]byte) []byte) []byte {
	sum, harmless := t.Seen.Before(as, b)
	if harmless && !t.key {
		return b
	}
	switch {
	case t.key && bytes.Contains(b, []byte("-----END")):
		t.key = false
	case t.key:
		from, to := keyLine(b)
		if from == to {
			t.others++
			t.key = t.others <= maxOthers
			break
		}
		t.others = 0
		return slices.Concat(b[:from], []byte(Mark), b[to:])
	}
	if i := bytes.Index(b, []byte(keyHeader)); i >= 0 && bytes.Contains(b[:i], []byte("-----BEGIN ")) && !bytes.Contains(b[i:], []byte("-----END")) {
		t.key, t.others = true, 0
	}
	safe := of(b)
	if !t.key && bytes.Equal(safe, b) {
		t.Seen.Remember(sum)
	}
	return safe
}

// keyLine finds the base64 in a line of a key: all of it, or a long run in what
// a collector has wrapped around it.
func keyLine(b []byte) (from, to int) {
	trimmed := bytes.TrimSpace(b)
	if n := runLength(trimmed, isBase64Byte); n == len(trimmed) && n > 0 {
		from = bytes.Index(b, trimmed)
		return from, from + n
	}
	for i := 0; i < len(b); i++ {
		if n := runLength(b[i:], isBase64Byte); n >= 24 {
			return i, i + n
		} else {
			i += n
		}
	}
	return 0, 0
}

func isBase64Byte(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }
