package recorded

import (
	"strings"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/base/redact"
)

// reader reads the values of an event one after the other.
type reader struct {
	b   []byte
	at  int
	bad bool // the data is malformed
}

// decodeVarint decodes a number of JFR: seven bits a byte, the lowest first, the ninth byte whole; n is 0 if it is cut off.
func decodeVarint(b []byte) (v uint64, n int) {
	for n < len(b) {
		c := b[n]
		n++
		if n == 9 {
			return v | uint64(c)<<56, n
		}
		v |= uint64(c&0x7f) << (7 * (n - 1))
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

func (r *reader) nextVarint() uint64 {
	v, n := decodeVarint(r.b[min(r.at, len(r.b)):])
	if r.at += n; n == 0 {
		r.bad = true
	}
	return v
}

func (r *reader) skip(n int) {
	if r.at += n; r.at > len(r.b) {
		r.at, r.bad = len(r.b), true
	}
}

// nextCount returns the number of following elements; each takes at least one byte.
func (r *reader) nextCount() uint64 {
	n := r.nextVarint()
	if n > uint64(len(r.b)-min(r.at, len(r.b))) {
		r.bad = true
		return 0
	}
	return n
}

// Encodings of strings.
const (
	noString    = 0
	emptyString = 1
	pooled      = 2
	utf8Bytes   = 3
	charArray   = 4
	latin1Bytes = 5
)

// nextString finds the bytes of the next string.
func (r *reader) nextString() (from, to int, kind byte) {
	if r.at >= len(r.b) {
		r.bad = true
		return 0, 0, 0
	}
	kind = r.b[r.at]
	r.at++
	switch kind {
	case noString, emptyString:
		return r.at, r.at, kind
	case pooled:
		r.nextVarint()
		return r.at, r.at, kind
	case utf8Bytes, latin1Bytes:
		n := r.nextCount()
		from = r.at
		r.skip(int(n))
	case charArray:
		n := r.nextCount()
		from = r.at
		for range n {
			r.nextVarint()
		}
	default:
		r.bad = true
	}
	return from, min(r.at, len(r.b)), kind
}

// overwriteString overwrites the secrets in the next string.
func (r *reader) overwriteString(p policy) {
	from, to, kind := r.nextString()
	if r.bad || from == to {
		return
	}
	if kind != charArray {
		p.overwriteText(r.b[from:to])
		return
	}
	// Each character is a number of one to three bytes: of those in one the text is
	// read, the others stand for letters.
	chars := make([]byte, 0, to-from)
	var starts []int
	for i := from; i < to; {
		v, n := decodeVarint(r.b[i:to])
		if n == 0 {
			break
		}
		if v >= utf8.RuneSelf {
			v = 0xff
		}
		chars, starts = append(chars, byte(v)), append(starts, i)
		i += n
	}
	before := string(chars)
	p.overwriteText(chars)
	for i, c := range chars {
		if c == before[i] {
			continue
		}
		end := to
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		for k := starts[i]; k < end; k++ {
			r.b[k] = 0x80 // the number continues
		}
		if end-starts[i] == 1 {
			r.b[starts[i]] = c
		} else {
			r.b[starts[i]], r.b[end-1] = c|0x80, 0
		}
	}
}

func decodeCharArray(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		v, n := decodeVarint(b)
		if n == 0 {
			break
		}
		s.WriteRune(rune(v))
		b = b[n:]
	}
	return s.String()
}

// overwriteText overwrites the secrets in a text.
func (p policy) overwriteText(b []byte) {
	switch p {
	case asName:
		redact.Overwrite(b)
	case asCommand:
		redact.OverwriteWords(b)
	case asSecret:
		for i := range b {
			b[i] = '*'
		}
	default:
		redact.OverwriteValue(b)
	}
}

// eachString finds all possible strings in b.
func eachString(b []byte, f func([]byte)) {
	for i := range b {
		if b[i] != utf8Bytes && b[i] != latin1Bytes && b[i] != charArray {
			continue
		}
		n, k := decodeVarint(b[i+1:])
		if from := i + 1 + k; k > 0 && n >= shortest && n <= uint64(len(b)-from) && plainText(b[from:from+int(n)]) {
			f(b[from : from+int(n)])
		}
	}
}

func isPrintable(c byte) bool { return c >= ' ' && c < 0x7f || c == '\t' || c >= 0x80 }

func plainText(b []byte) bool {
	for _, c := range b {
		if !isPrintable(c) {
			return false
		}
	}
	return true
}
