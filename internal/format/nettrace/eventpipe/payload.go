package eventpipe

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// Cursor reads a payload from its beginning. It never reads past the end: from the
// first missing field on every field is zero and OK is false. So a payload
// of an older version of an event is read by checking OK before the fields it lacks.
type Cursor struct {
	data    []byte
	at      int // start of the rest: moving it writes no pointer, which is costly during GC marking
	pointer int
	over    bool
}

// Cursor returns a cursor over payload, with the pointer size of this stream.
func (r *Reader) Cursor(payload []byte) Cursor {
	return Cursor{data: payload, pointer: r.head.PointerBytes}
}

// OK says whether everything that was read was there.
func (c *Cursor) OK() bool { return !c.over }

// Len returns how many bytes are left.
func (c *Cursor) Len() int { return len(c.data) - c.at }

// Rest returns the remaining bytes, not copied.
func (c *Cursor) Rest() []byte { return c.data[c.at:] }

// Bytes returns the next n bytes, not copied; nil if they are not there.
func (c *Cursor) Bytes(n int) []byte {
	if n < 0 || n > len(c.data)-c.at {
		c.at, c.over = len(c.data), true
		return nil
	}
	b := c.data[c.at : c.at+n]
	c.at += n
	return b
}

// Skip skips n bytes.
func (c *Cursor) Skip(n int) { c.Bytes(n) }

// U8 reads 1 byte.
func (c *Cursor) U8() uint8 {
	if b := c.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// U16 reads 2 bytes.
func (c *Cursor) U16() uint16 {
	if b := c.Bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// U32 reads 4 bytes.
func (c *Cursor) U32() uint32 {
	if b := c.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// U64 reads 8 bytes.
func (c *Cursor) U64() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// I32 reads 4 bytes.
func (c *Cursor) I32() int32 { return int32(c.U32()) }

// I64 reads 8 bytes.
func (c *Cursor) I64() int64 { return int64(c.U64()) }

// F32 reads 4 bytes.
func (c *Cursor) F32() float32 { return math.Float32frombits(c.U32()) }

// F64 reads 8 bytes.
func (c *Cursor) F64() float64 { return math.Float64frombits(c.U64()) }

// Bool32 reads 4 bytes, .NET's encoding of a boolean.
func (c *Cursor) Bool32() bool { return c.U32() != 0 }

// Pointer reads 4 or 8 bytes, as wide as the stream's pointers.
func (c *Cursor) Pointer() uint64 {
	if c.pointer == 4 {
		return uint64(c.U32())
	}
	return c.U64()
}

// GUID reads 16 bytes.
func (c *Cursor) GUID() (g GUID) {
	copy(g[:], c.Bytes(16))
	return g
}

// Uvarint reads bytes up to one without a continuation bit, at most 10.
func (c *Cursor) Uvarint() uint64 {
	v, n := binary.Uvarint(c.Rest())
	if n <= 0 {
		c.Bytes(-1)
		return 0
	}
	c.at += n
	return v
}

// Varint reads a Uvarint with its sign in the lowest bit.
func (c *Cursor) Varint() int64 {
	v := c.Uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// scanUTF16 returns the bytes of a string up to its zero, which it skips. A string without a
// zero ends with the payload and counts as missing.
func (c *Cursor) scanUTF16() []byte {
	rest := c.Rest()
	for i := 0; i+1 < len(rest); i += 2 {
		if rest[i] == 0 && rest[i+1] == 0 {
			c.at += i + 2
			return rest[:i]
		}
	}
	c.Bytes(-1)
	return nil
}

// SkipUTF16 passes over a string.
func (c *Cursor) SkipUTF16() { c.scanUTF16() }

// UTF16 reads a string up to its zero.
func (c *Cursor) UTF16() string {
	b := c.scanUTF16()
	if len(b) == 0 {
		return ""
	}
	var short [128]byte
	return string(AppendUTF16(short[:0], b))
}

// UTF16 decodes a string of a payload, up to its zero or its end.
func UTF16(b []byte) string {
	c := Cursor{data: b}
	if s := c.scanUTF16(); c.OK() {
		b = s
	}
	var short [128]byte
	return string(AppendUTF16(short[:0], b))
}

// AppendUTF16 reads a string up to its zero and appends it to dst as UTF-8, for
// strings that are mostly looked up and seldom new.
func (c *Cursor) AppendUTF16(dst []byte) []byte { return AppendUTF16(dst, c.scanUTF16()) }

// AppendUTF16 appends all of b, which is UTF-16, as UTF-8.
func AppendUTF16(dst, b []byte) []byte {
	for i := 0; i+1 < len(b); i += 2 {
		u := rune(b[i]) | rune(b[i+1])<<8
		switch {
		case u < utf8.RuneSelf:
			dst = append(dst, byte(u))
		case utf16.IsSurrogate(u) && i+3 < len(b):
			next := rune(b[i+2]) | rune(b[i+3])<<8
			if whole := utf16.DecodeRune(u, next); whole != utf8.RuneError {
				dst = utf8.AppendRune(dst, whole)
				i += 2
				continue
			}
			dst = utf8.AppendRune(dst, utf8.RuneError)
		default:
			dst = utf8.AppendRune(dst, u)
		}
	}
	return dst
}

// readCounted reads a string after its length, as version 6 writes names.
func (c *Cursor) readCounted() string {
	n := c.Uvarint()
	if n > uint64(c.Len()) {
		c.Bytes(-1)
		return ""
	}
	return string(c.Bytes(int(n)))
}
