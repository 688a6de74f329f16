package eventpipe

import (
	"encoding/binary"
	"math/bits"
)

// decodeHeader decodes the header of the next event and returns its flags, in the form of compressed
// headers, and where its payload begins; 0 if the header is incomplete.
func (d *decoder) decodeHeader() (flags byte, n int) {
	if d.compressed {
		return d.decodeCompressed()
	}
	return d.decodePlain()
}

// decodeCompressed decodes a compressed header: omitted parts equal those of the previous one. It
// reads slack behind the block if a header is incomplete, and notices that by its end.
func (d *decoder) decodeCompressed() (flags byte, n int) {
	b := d.data[:len(d.data)+slack]
	flags, n = b[d.at], d.at+1
	var v uint64
	if flags&hasMetadata != 0 {
		if b[n] < 0x80 {
			d.metadata = uint32(b[n])
			n++
		} else {
			v, n = decodeUvarint(b, n)
			d.metadata = uint32(v)
		}
	}
	if flags&hasCapture != 0 {
		v, n = decodeUvarint(b, n)
		d.sequence += uint32(v) + 1
		d.capture, n = decodeUvarint(b, n)
		v, n = decodeUvarint(b, n)
		d.processor = uint32(v)
	} else if d.metadata != 0 { // 0: a type's own definition, which has no number
		d.sequence++
	}
	if flags&hasThread != 0 {
		d.thread, n = decodeUvarint(b, n)
	}
	if flags&hasStack != 0 {
		if b[n] < 0x80 {
			d.stack = uint32(b[n])
			n++
		} else {
			v, n = decodeUvarint(b, n)
			d.stack = uint32(v)
		}
	}
	var size int
	if v, size = decodeNumber(binary.LittleEndian.Uint64(b[n:])); size > 8 {
		v, size = decodeLong(b[n:])
	}
	d.ticks += v
	n += size
	if flags&(hasActivity|hasRelated) != 0 {
		if d.v6 && flags&hasLabels != 0 {
			v, n = decodeUvarint(b, n)
			d.labels = uint32(v)
		} else if !d.v6 {
			n = d.decodeActivities(b, flags, n)
		}
	}
	if flags&hasSize != 0 {
		if b[n] < 0x80 {
			d.size = uint32(b[n])
			n++
		} else {
			v, n = decodeUvarint(b, n)
			d.size = uint32(v)
		}
	}
	if n > len(d.data) {
		return 0, 0
	}
	return flags, n
}

// decodeUvarint decodes a number at n and returns what follows it.
func decodeUvarint(b []byte, n int) (uint64, int) {
	x := binary.LittleEndian.Uint64(b[n:])
	if x&0x80 == 0 {
		return x & 0x7f, n + 1
	}
	v, size := decodeNumber(x)
	if size > 8 {
		v, size = decodeLong(b[n:])
	}
	return v, n + size
}

// decodeNumber decodes a number of up to 8 bytes, without a branch, as lengths differ
// from one number to the next. For a longer one the size is 9.
func decodeNumber(x uint64) (v uint64, size int) {
	ends := ^x & 0x8080808080808080
	x &= ends ^ (ends - 1) // up to the last byte
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	x = x&0x000000000fffffff | x&0x0fffffff00000000>>4
	return x, bits.TrailingZeros64(ends)>>3 + 1
}

// decodeLong decodes a number of more than 8 bytes. One without an end is 0 and 10 bytes.
func decodeLong(b []byte) (v uint64, size int) {
	if v, size = binary.Uvarint(b); size <= 0 {
		return 0, binary.MaxVarintLen64
	}
	return v, size
}

// decodeActivities decodes up to two activity IDs at n and returns what follows them.
func (d *decoder) decodeActivities(b []byte, flags byte, n int) int {
	if flags&hasActivity != 0 {
		n += copy(d.activity[:], b[n:])
	}
	if flags&hasRelated != 0 {
		n += copy(d.related[:], b[n:])
	}
	return n
}

const (
	longHeader4 = 80 // with the event's size before it
	longHeader6 = 52
)

// unsorted marks an event that is not sorted in a header that is not compressed. The
// specification says that the bit marks sorted events; both the runtime, which writes it,
// and TraceEvent, which reads it, use it the other way round.
const unsorted = 1 << 31

// decodePlain decodes a header that is not compressed.
func (d *decoder) decodePlain() (flags byte, n int) {
	size := longHeader4
	if d.v6 {
		size = longHeader6
	}
	n = d.at + size
	if n > len(d.data) {
		return 0, 0
	}
	c := Cursor{data: d.data[d.at+4 : n]}
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

// skipPayload goes to the event after the one whose payload begins at n. Without compression an
// event's size includes padding to whole words, which writers other than the runtime
// omit.
func (d *decoder) skipPayload(n int) {
	end := n + int(d.size)
	if !d.compressed {
		said := uint64(d.at) + 4 + uint64(binary.LittleEndian.Uint32(d.data[d.at:]))
		if said > uint64(end) && said < uint64(end)+4 && said <= uint64(len(d.data)) {
			end = int(said)
		}
	}
	d.at = end
}
