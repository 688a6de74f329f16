package stats

import "slices"

// QuantileOf is [Quantile] of values in no order, which it puts into another one: it sorts no more
// than it must (Hoare, Algorithm 65: Find, Communications of the ACM 4, 1961). Where the pivots are bad
// again and again, it sorts what is left.
func QuantileOf(v []int64, q float64) int64 {
	if len(v) == 0 {
		return 0
	}
	k := nearestRank(q, len(v)) - 1
	for tries := 0; len(v) > fewToSort && tries < mostPivots; tries++ {
		low, high := partitionAround(v)
		switch {
		case k < low:
			v = v[:low]
		case k >= high:
			v, k = v[high:], k-high
		default:
			return v[k]
		}
	}
	slices.Sort(v)
	return v[k]
}

const (
	fewToSort  = 32
	mostPivots = 64
)

// partitionAround puts what is less than a value of v before those that are equal, which are [low,
// high), and what is more behind them.
func partitionAround(v []int64) (low, high int) {
	a, b, c := v[0], v[len(v)/2], v[len(v)-1]
	pivot := max(min(a, b), min(max(a, b), c))
	high = len(v)
	for i := 0; i < high; {
		switch x := v[i]; {
		case x < pivot:
			v[i], v[low] = v[low], x
			low++
			i++
		case x > pivot:
			high--
			v[i], v[high] = v[high], x
		default:
			i++
		}
	}
	return low, high
}
