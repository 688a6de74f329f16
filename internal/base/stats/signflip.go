package stats

import (
	"math"
	"math/bits"
	"slices"
)

// MinPairs is the least number of pairs that can decide at 95 %: with five the smallest possible p is 2/2⁵ = 0.0625.
const MinPairs = 6

const (
	exactSubsets = 16 // up to 2¹⁶ subset means are all kept
	randomMeans  = 1<<13 - 1
)

// SignFlipInterval returns a confidence interval for the mean difference of pairs, with at least the level (0.95). It returns
// false with fewer than [MinPairs] pairs, or too few for the level.
//
// The interval holds the centres of symmetry that the sign-flip test does not reject (Fisher, The Design of Experiments, 1935,
// §21; p is the share of the 2ⁿ choices of signs whose sum is at least as far from zero). The test rejects a centre if too few
// subsets of the differences have their mean beyond it, so the ends are order statistics of the subset means (Hartigan, Using
// Subsample Values as Typical Values, JASA 64, 1969). Beyond 16 pairs subsets are drawn.
func SignFlipInterval(diffs []float64, level float64, seed uint64) (Interval, bool) {
	n := len(diffs)
	for _, d := range diffs {
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return Interval{}, false
		}
	}
	if n < MinPairs || !(level > 0 && level < 1) {
		return Interval{}, false
	}
	means := subsetMeans(diffs, seed)
	k := int((1-level)/2*float64(len(means)+1) + 1e-9)
	if k < 1 {
		return Interval{}, false
	}
	slices.Sort(means)
	return Interval{means[k-1], means[len(means)-k]}, true
}

// subsetMeans returns the means of all non-empty subsets, or of drawn ones.
func subsetMeans(diffs []float64, seed uint64) []float64 {
	n := len(diffs)
	if n <= exactSubsets {
		sums := make([]float64, 1<<n)
		for s := 1; s < len(sums); s++ {
			sums[s] = sums[s&(s-1)] + diffs[bits.TrailingZeros(uint(s))]
		}
		for s := 1; s < len(sums); s++ {
			sums[s] /= float64(bits.OnesCount(uint(s)))
		}
		return sums[1:]
	}
	means := make([]float64, 0, randomMeans)
	r := random(seed)
	for len(means) < cap(means) {
		var sum, count float64
		var word uint64
		for i, d := range diffs {
			if i%64 == 0 {
				word = r.next()
			}
			if word&1 != 0 {
				sum += d
				count++
			}
			word >>= 1
		}
		if count > 0 {
			means = append(means, sum/count)
		}
	}
	return means
}
