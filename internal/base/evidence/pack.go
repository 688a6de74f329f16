package evidence

import (
	"math/bits"
	"unsafe"
)

// packRows packs rows that are written out, if that makes them smaller. Each packed row takes a power of two of bits, so that none
// crosses a word and reading one needs no loop.
func (b *block[T]) packRows() {
	least, most := b.rows[0], b.rows[0]
	for _, v := range b.rows {
		least, most = min(least, v), max(most, v)
	}
	span := uint64(int64(most) - int64(least))
	if span == 0 || span >= 1<<62 {
		return
	}
	unit := int64(1)
	if span >= 1<<8 {
		unit = commonUnit(b.rows, least)
		span /= uint64(unit)
	}
	width := bits.Len(uint(bits.Len64(span) - 1)) // 2^width bits
	size := uint(1) << width
	if size >= 8*uint(unsafe.Sizeof(least)) {
		return
	}
	packed := make([]uint64, columnRows>>6<<width)
	for k, v := range b.rows {
		bit := uint(k) << width
		packed[bit>>6] |= uint64((int64(v)-int64(least))/unit) << (bit & 63)
	}
	*b = block[T]{first: least, unit: T(unit), packed: packed, mask: 1<<size - 1, width: uint8(width)}
}

// commonUnit returns the largest of the units in which times are written such that all rows differ from one of them by multiples of it.
func commonUnit[T ~int32 | ~int64 | ~uint8](rows []T, from T) int64 {
next:
	for _, unit := range [...]int64{1e9, 1e6, 1e3} {
		for _, v := range rows {
			if (int64(v)-int64(from))%unit != 0 {
				continue next
			}
		}
		return unit
	}
	return 1
}
