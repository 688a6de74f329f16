package stats

import "slices"

// SortInts sorts v, by its digits if it has many values. The radix sort needs a pass for each digit that is not the same in all values, and
// memory for a copy (Knuth, The Art of Computer Programming 3, 5.2.5).
func SortInts(v []int64) {
	if len(v) < fewForDigits {
		slices.Sort(v)
		return
	}
	least, most, sorted := v[0], v[0], true
	for i, x := range v {
		least, most = min(least, x), max(most, x)
		sorted = sorted && (i == 0 || v[i-1] <= x)
	}
	if sorted {
		return
	}
	from, to := v, make([]int64, len(v))
	// Differences from the least value are unsigned, even where they do not fit an int64.
	for shift, span := uint(0), uint64(most)-uint64(least); shift < 64 && span>>shift > 0; shift += digitBits {
		var at [1 << digitBits]int
		for _, x := range from {
			at[digitOf(x, least, shift)]++
		}
		sum := 0
		for d, n := range at {
			at[d], sum = sum, sum+n
		}
		for _, x := range from {
			d := digitOf(x, least, shift)
			to[at[d]] = x
			at[d]++
		}
		from, to = to, from
	}
	if &from[0] != &v[0] {
		copy(v, from)
	}
}

const (
	digitBits = 11 // as many counters as the first-level cache holds
	// Counting the digits of fewer values takes longer than comparing them.
	fewForDigits = 1 << 10
)

func digitOf(x, least int64, shift uint) uint64 {
	return (uint64(x) - uint64(least)) >> shift & (1<<digitBits - 1)
}
