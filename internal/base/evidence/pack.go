package evidence

import (
	"math"
	"math/bits"
	"unsafe"
)

// packRows packs rows that are written out, if that makes them smaller. Each packed row takes a power of two of bits, so that none
// crosses a word and reading one needs no loop.
func (b *block[T]) packRows() {
	least, most, differ := b.rows[0], b.rows[0], uint64(0)
	for _, v := range b.rows {
		least, most = min(least, v), max(most, v)
		differ |= uint64(int64(v) ^ int64(b.rows[0]))
	}
	if differ == 0 {
		*b = block[T]{first: least, packed: nothing[:]}
		return
	}
	span := uint64(int64(most) - int64(least))
	if span >= 1<<62 {
		return
	}
	shift := bits.TrailingZeros64(differ) // sizes are in KiB or MiB
	unit := decimalUnit(b.rows, least, shift, span)
	span = span >> shift / unit
	width := bits.Len(uint(bits.Len64(span) - 1)) // 2^width bits
	size := uint(1) << width
	if size >= 8*uint(unsafe.Sizeof(least)) {
		return
	}
	packed, inverse := make([]uint64, (len(b.rows)<<width+63)/64), inverseOf(unit)
	for k, v := range b.rows {
		bit := uint(k) << width
		packed[bit>>6] |= (uint64(int64(v)-int64(least)) >> shift * inverse) << (bit & 63)
	}
	*b = block[T]{first: least, unit: T(unit << shift), packed: packed, mask: 1<<size - 1, width: uint8(width)}
}

// decimalUnit returns the largest of the odd parts of 10⁹, 10⁶ and 10³, the units of times, of which all shifted differences from one of
// the rows are multiples.
func decimalUnit[T ~int32 | ~int64 | ~uint8](rows []T, from T, shift int, span uint64) uint64 {
	if span < 1<<8 {
		return 1 // it takes a byte or less anyway
	}
next:
	for _, unit := range [...]uint64{1953125, 15625, 125} {
		inverse, most := inverseOf(unit), math.MaxUint64/unit
		for _, v := range rows {
			if uint64(int64(v)-int64(from))>>shift*inverse > most {
				continue next
			}
		}
		return unit
	}
	return 1
}

// inverseOf returns what a multiple of an odd number is multiplied by, modulo 2⁶⁴, to be divided by it; that takes a fifth of the time of a
// division. The product of any other number is larger than that of every multiple.
func inverseOf(odd uint64) uint64 {
	x := odd // right in 3 bits; each step of Newton's method doubles them
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}
