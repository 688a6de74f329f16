package ledger

import "math/bits"

// uint128 is an unsigned number of 128 bits: ns times ns of a recording of days.
type uint128 struct{ hi, lo uint64 }

// mulInt64 multiplies two non-negative numbers.
func mulInt64(a, b int64) (w uint128) {
	w.hi, w.lo = bits.Mul64(uint64(a), uint64(b))
	return w
}

func (w uint128) plus(o uint128) (sum uint128) {
	var carry uint64
	sum.lo, carry = bits.Add64(w.lo, o.lo, 0)
	sum.hi, _ = bits.Add64(w.hi, o.hi, carry)
	return sum
}

func (w uint128) minus(o uint128) (d uint128) {
	var borrow uint64
	d.lo, borrow = bits.Sub64(w.lo, o.lo, 0)
	d.hi, _ = bits.Sub64(w.hi, o.hi, borrow)
	return d
}

// toFloat returns the number, read as signed.
func (w uint128) toFloat() float64 { return float64(int64(w.hi))*0x1p64 + float64(w.lo) }
