package stats

import (
	"math"
	"slices"
)

// Quantile returns the q-quantile of ascending values by the nearest rank: the smallest value that at least q of all values do not exceed,
// 0 of none. It is definition 1 of Hyndman & Fan, Sample Quantiles in Statistical Packages (The American Statistician 50, 1996): always a
// value that really occurred, so that it can be looked up, and the one that load generators with exact percentiles print.
func Quantile[N Number](sorted []N, q float64) N {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[nearestRank(q, len(sorted))-1]
}

// nearestRank returns ⌈q·n⌉ within 1…n. The slack keeps .07·100 = 7.000000000000001 at 7.
func nearestRank(q float64, n int) int {
	r := math.Ceil(q*float64(n) - 1e-9*float64(n))
	if !(r > 1) { // also NaN
		return 1
	}
	return int(min(r, float64(n)))
}

// Median returns the middle of the values, which need not be sorted: the mean
// of the two middle ones where their number is even (definition 2 at ½), 0 of
// none.
func Median[N Number](values []N) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	s := slices.Clone(values)
	slices.Sort(s)
	return float64(s[(n-1)/2])/2 + float64(s[n/2])/2
}
