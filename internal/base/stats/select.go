package stats

import "slices"

// QuantileOf is [Quantile] of unsorted values, which it reorders: it sorts no more than needed (Hoare, Algorithm 65: Find, Communications of
// the ACM 4, 1961). After repeated bad pivots it sorts the rest.
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

// partitionAround moves values less than a value of v before those equal to it, which become [low, high), and larger ones after them.
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
