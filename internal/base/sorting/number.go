package sorting

import (
	"cmp"
	"slices"
)

// ByNumber sorts by a number of each element, such as an address. What is equal stays in its order. It goes
// over the numbers once for each byte in which they differ and compares nothing, which takes a fifth of
// the time of By and less. It takes 36 bytes for each element, and nothing where they
// are in order.
func ByNumber[S ~[]E, E any](s S, number func(*E) uint64) {
	if len(s) < 2 {
		return
	}
	sorted := 1
	for last := number(&s[0]); sorted < len(s); sorted++ {
		n := number(&s[sorted])
		if n < last {
			break
		}
		last = n
	}
	if sorted == len(s) {
		return
	}
	all := make([]numbered, 2*len(s))
	now, next := all[:len(s)], all[len(s):]
	var differ uint64
	for i := range s {
		n := number(&s[i])
		now[i] = numbered{n, int32(i)}
		differ |= n ^ now[0].number
	}
	if len(s) < few {
		slices.SortStableFunc(now, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
		differ = 0
	}
	for shift := 0; shift < 64; shift += 8 {
		if byte(differ>>shift) != 0 {
			byByte(now, next, shift)
			now, next = next, now
		}
	}
	places := make([]int32, len(s))
	for i := range now {
		places[i] = now[i].place
	}
	put(s, places)
}

// few are sorted before the numbers' first byte has been counted.
const few = 64

// numbered is the number of an element, and where that is.
type numbered struct {
	number uint64
	place  int32
}

// byByte sorts by one byte of the numbers, into another slice.
func byByte(from, to []numbered, shift int) {
	var at [256]int32
	for i := range from {
		at[byte(from[i].number>>shift)]++
	}
	sum := int32(0)
	for i, n := range at {
		at[i], sum = sum, sum+n
	}
	for i := range from {
		b := byte(from[i].number >> shift)
		to[at[b]] = from[i]
		at[b]++
	}
}
