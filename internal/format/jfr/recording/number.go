package recording

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// decodeVarint decodes a number: seven bits a byte, the lowest first, the ninth byte whole. n is
// its length in bytes, 0 if it is cut.
func decodeVarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
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

// cursor reads values in sequence. After the first missing value everything is 0.
type cursor struct {
	b    []byte
	at   int
	wide bool // numbers are not compressed, but big-endian in their full width
	bad  bool
}

func (c *cursor) markBad() { c.at, c.bad = len(c.b), true }

// readNumber reads an integer; its width (bytes) matters where numbers are not compressed.
func (c *cursor) readNumber(width int) uint64 {
	if c.wide {
		if len(c.b)-c.at < width {
			c.markBad()
			return 0
		}
		at := c.at
		c.at += width
		switch width {
		case 8:
			return binary.BigEndian.Uint64(c.b[at:])
		case 4:
			return uint64(int64(int32(binary.BigEndian.Uint32(c.b[at:]))))
		default:
			return uint64(int64(int16(binary.BigEndian.Uint16(c.b[at:]))))
		}
	}
	if c.at < len(c.b) && c.b[c.at] < 0x80 {
		c.at++
		return uint64(c.b[c.at-1])
	}
	v, n := decodeVarint(c.b[c.at:])
	if n == 0 {
		c.markBad()
	}
	c.at += n
	return v
}

// hasSmallNumber says whether a compressed number of one byte follows.
func (c *cursor) hasSmallNumber() bool { return !c.wide && c.at < len(c.b) && c.b[c.at] < 0x80 }

// skipNumbers skips that many compressed integers.
func (c *cursor) skipNumbers(n int) {
	b, at := c.b, c.at
	for ; n > 0; n-- {
		for begin := at; ; {
			if at >= len(b) {
				c.markBad()
				return
			}
			at++
			if b[at-1] < 0x80 || at-begin == 9 {
				break
			}
		}
	}
	c.at = at
}

func (c *cursor) readLong() int64 { return int64(c.readNumber(8)) }
func (c *cursor) readInt() int64  { return int64(c.readNumber(4)) }

func (c *cursor) readByte() byte {
	if c.at >= len(c.b) {
		c.markBad()
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *cursor) skipBytes(n int) {
	if n < 0 || n > len(c.b)-c.at {
		c.markBad()
		return
	}
	c.at += n
}

// readCount reads how many items follow; each takes at least a byte.
func (c *cursor) readCount() int {
	n := c.readNumber(4)
	if n > uint64(len(c.b)-c.at) {
		c.markBad()
		return 0
	}
	return int(n)
}

func (c *cursor) readFloat() float64 {
	at := c.at
	if c.skipBytes(4); c.bad {
		return 0
	}
	return float64(math.Float32frombits(binary.BigEndian.Uint32(c.b[at:])))
}

func (c *cursor) readDouble() float64 {
	at := c.at
	if c.skipBytes(8); c.bad {
		return 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(c.b[at:]))
}

// Encodings of strings
// (https://github.com/openjdk/jdk/blob/master/src/jdk.jfr/share/classes/jdk/jfr/internal/consumer/StringParser.java).
const (
	noString = iota
	emptyString
	pooledString
	utf8Bytes
	charArray
	latin1Bytes
)

// skipString goes over a string.
func (c *cursor) skipString() {
	switch c.readByte() {
	case noString, emptyString:
	case pooledString:
		c.readLong()
	case utf8Bytes, latin1Bytes:
		c.skipBytes(c.readCount())
	case charArray:
		for range c.readCount() {
			c.readNumber(2)
		}
	default:
		c.markBad()
	}
}

// readString reads a string; for a constant it returns the key.
func (c *cursor) readString() (s string, key int64, pooled bool) {
	switch c.readByte() {
	case noString, emptyString:
	case pooledString:
		return "", c.readLong(), true
	case utf8Bytes:
		s = string(c.readBytes())
	case latin1Bytes:
		s = decodeLatin1(c.readBytes())
	case charArray:
		s = c.readUTF16()
	default:
		c.markBad()
	}
	return s, 0, false
}

func (c *cursor) readBytes() []byte {
	n := c.readCount()
	at := c.at
	c.skipBytes(n)
	if c.bad {
		return nil
	}
	return c.b[at : at+n]
}

func decodeLatin1(b []byte) string {
	ascii := true
	for _, x := range b {
		ascii = ascii && x < utf8.RuneSelf
	}
	if ascii {
		return string(b)
	}
	s := make([]rune, len(b))
	for i, x := range b {
		s[i] = rune(x)
	}
	return string(s)
}

// readUTF16 reads UTF-16, in which a character beyond the first 65,536 is two.
func (c *cursor) readUTF16() string {
	n := c.readCount()
	s := make([]uint16, 0, min(n, 4096))
	for range n {
		if c.bad {
			return ""
		}
		s = append(s, uint16(c.readNumber(2)))
	}
	return utf16Text(s)
}
