package eventpipe

import "encoding/binary"

// header reads the header of the next event and returns its flags, as compression
// gives them, and its size; 0 where it is not whole.
func (d *decoder) header() (flags byte, n int) {
	if d.compressed {
		return d.short()
	}
	return d.long()
}

// short reads a compressed header: what it leaves out is as in the one before.
func (d *decoder) short() (flags byte, n int) {
	b := d.rest
	flags, n = b[0], 1
	over := false
	next := func() uint64 {
		if n < len(b) && b[n] < 0x80 {
			n++
			return uint64(b[n-1])
		}
		v, size := binary.Uvarint(b[n:])
		if size <= 0 {
			over = true
			return 0
		}
		n += size
		return v
	}
	if flags&hasMetadata != 0 {
		d.metadata = uint32(next())
	}
	if flags&hasCapture != 0 {
		d.sequence += uint32(next()) + 1
		d.capture = next()
		d.processor = uint32(next())
	} else if d.metadata != 0 { // 0: a type's own definition, which has no number
		d.sequence++
	}
	if flags&hasThread != 0 {
		d.thread = next()
	}
	if flags&hasStack != 0 {
		d.stack = uint32(next())
	}
	d.ticks += next()
	if d.v6 {
		if flags&hasLabels != 0 {
			d.labels = uint32(next())
		}
	} else if flags&(hasActivity|hasRelated) != 0 {
		n = d.activities(flags, n)
	}
	if flags&hasSize != 0 {
		d.size = uint32(next())
	}
	if over || n > len(b) {
		return 0, 0
	}
	return flags, n
}

// activities reads up to two activity IDs at n and returns what follows them, past
// the end where they are not whole.
func (d *decoder) activities(flags byte, n int) int {
	if flags&hasActivity != 0 {
		if n+16 > len(d.rest) {
			return len(d.rest) + 1
		}
		n += copy(d.activity[:], d.rest[n:])
	}
	if flags&hasRelated != 0 {
		if n+16 > len(d.rest) {
			return len(d.rest) + 1
		}
		n += copy(d.related[:], d.rest[n:])
	}
	return n
}

const (
	longHeader4 = 80 // with the event's size before it
	longHeader6 = 56
)

// unsorted marks an event that is not sorted in a header that is not compressed. The
// specification says the bit marks those that are; both the runtime, which writes it,
// and TraceEvent, which reads it, have it the other way round.
const unsorted = 1 << 31

// long reads a header that is not compressed.
func (d *decoder) long() (flags byte, n int) {
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
