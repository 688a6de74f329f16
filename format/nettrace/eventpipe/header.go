package eventpipe

import (
	"encoding/binary"
	"math/bits"
)

// header reads the header of the next event and returns its flags, as compression
// gives them, and its size; 0 where it is not whole.
func (d *decoder) header() (flags byte, n int) {
	if d.compressed {
		return d.short()
	}
	return d.plain()
}

// short reads a compressed header: what it leaves out is as in the one before.
func (d *decoder) short() (flags byte, n int) {
	b := d.rest[:len(d.rest)+slack]
	flags, n = b[0], 1
	var v uint64
	if flags&hasMetadata != 0 {
		v, n = uvarint(b, n)
		d.metadata = uint32(v)
	}
	if flags&hasCapture != 0 {
		v, n = uvarint(b, n)
		d.sequence += uint32(v) + 1
		d.capture, n = uvarint(b, n)
		v, n = uvarint(b, n)
		d.processor = uint32(v)
	} else if d.metadata != 0 { // 0: a type's own definition, which has no number
		d.sequence++
	}
	if flags&hasThread != 0 {
		d.thread, n = uvarint(b, n)
	}
	if flags&hasStack != 0 {
		v, n = uvarint(b, n)
		d.stack = uint32(v)
	}
	v, n = uvarint(b, n)
	d.ticks += v
	if flags&(hasActivity|hasRelated) != 0 {
		if d.v6 && flags&hasLabels != 0 {
			v, n = uvarint(b, n)
			d.labels = uint32(v)
		} else if !d.v6 {
			n = d.activities(flags, n)
		}
	}
	if flags&hasSize != 0 {
		v, n = uvarint(b, n)
		d.size = uint32(v)
	}
	if n > len(d.rest) {
		return 0, 0
	}
	return flags, n
}

// uvarint reads a number at n and returns what follows it. It looks at up to 8 bytes
// at once, so b has that much slack; what follows is then past the end of the block,
// as it is for good once a number is not whole.
func uvarint(b []byte, n int) (uint64, int) {
	if n > len(b)-slack {
		return 0, len(b)
	}
	x := binary.LittleEndian.Uint64(b[n:])
	if x&0x80 == 0 {
		return x & 0x7f, n + 1
	}
	ends := ^x & 0x8080808080808080
	if ends == 0 {
		return long(b, n)
	}
	x &= ends ^ (ends - 1) // up to the last byte
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	x = x&0x000000000fffffff | x&0x0fffffff00000000>>4
	return x, n + bits.TrailingZeros64(ends)/8 + 1
}

// long reads a number of more than 8 bytes.
func long(b []byte, n int) (uint64, int) {
	v, size := binary.Uvarint(b[n : len(b)-slack])
	if size <= 0 {
		return 0, len(b)
	}
	return v, n + size
}

// activities reads up to two activity IDs at n and returns what follows them, past
// the end where they are not whole.
func (d *decoder) activities(flags byte, n int) int {
	if flags&hasActivity != 0 {
		if n+16 > len(d.rest) {
			return len(d.rest) + slack
		}
		n += copy(d.activity[:], d.rest[n:])
	}
	if flags&hasRelated != 0 {
		if n+16 > len(d.rest) {
			return len(d.rest) + slack
		}
		n += copy(d.related[:], d.rest[n:])
	}
	return n
}

const (
	longHeader4 = 80 // with the event's size before it
	longHeader6 = 52
)

// unsorted marks an event that is not sorted in a header that is not compressed. The
// specification says the bit marks those that are; both the runtime, which writes it,
// and TraceEvent, which reads it, have it the other way round.
const unsorted = 1 << 31

// plain reads a header that is not compressed.
func (d *decoder) plain() (flags byte, n int) {
	n = longHeader4
	if d.v6 {
		n = longHeader6
	}
	if len(d.rest) < n {
		return 0, 0
	}
	c := Cursor{rest: d.rest[4:n]}
	d.metadata = c.U32()
	flags = hasAll
	if d.metadata&unsorted == 0 {
		flags |= isSorted
	}
	d.metadata &^= unsorted
	d.sequence, d.thread, d.capture = c.U32(), c.U64(), c.U64()
	d.processor, d.stack, d.ticks = c.U32(), c.U32(), c.U64()
	if d.v6 {
		d.labels = c.U32()
	} else {
		d.activity, d.related = c.GUID(), c.GUID()
	}
	d.size = c.U32()
	return flags, n
}

// aligned is where the next event begins after a header of n bytes that is not
// compressed: its size counts what fills it up to whole words, which writers other
// than the runtime leave out.
func (d *decoder) aligned(n int) int {
	least := n + int(d.size)
	if said := 4 + uint64(binary.LittleEndian.Uint32(d.rest)); said >= uint64(least) && said <= uint64(len(d.rest)) && said < uint64(least)+4 {
		return int(said)
	}
	return least
}
