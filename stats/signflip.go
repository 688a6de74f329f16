package stats

import (
	"math"
	"math/bits"
	"slices"
)

// MinPairs is the fewest pairs that can decide anything at 95 %: with five the
// smallest possible p is 2/2⁵ = 0.0625.
const MinPairs = 6

const (
	exactFlips   = 20      // up to 2²⁰ sign patterns are all tried
	exactSubsets = 16      // up to 2¹⁶ subset means are all kept
	randomFlips  = 1 << 17 // beyond, so many are drawn
	randomMeans  = 1<<13 - 1
)

// SignFlip returns the two-sided p-value of the hypothesis that the differences
// of pairs are symmetric about zero: the share of the 2ⁿ ways to choose their
// signs that give a sum at least as far from zero (Fisher, The Design of
// Experiments, 1935, §21). All ways are tried up to 20 pairs; beyond, 2¹⁷ are
// drawn and the observed one is counted in (Phipson & Smyth, 2010). No pairs
// give 1.
func SignFlip(diffs []float64, seed uint64) float64 {
	n := len(diffs)
	var sum, scale float64
	for _, d := range diffs {
		sum += d
		scale += math.Abs(d)
	}
	if math.IsNaN(sum) || math.IsInf(scale, 0) {
		return math.NaN()
	}
	far := math.Abs(sum) - 1e-9*scale // sums that are equal but for rounding are ties
	if n <= exactFlips {
		// In Gray code order each pattern differs from the last in one sign. The
		// last sign is left alone: patterns come in mirrored pairs.
		hits, patterns := 0, 1<<max(n-1, 0)
		flipped := slices.Clone(diffs)
		for i := 1; ; i++ {
			if math.Abs(sum) >= far {
				hits++
			}
			if i >= patterns {
				return float64(hits) / float64(patterns)
			}
			k := bits.TrailingZeros(uint(i))
			sum -= 2 * flipped[k]
			flipped[k] = -flipped[k]
		}
	}
	r := random(seed)
	hits := 1
	for range randomFlips {
		var s float64
		var word uint64
		for i, d := range diffs {
			if i%64 == 0 {
				word = r.next()
			}
			if word&1 != 0 {
				d = -d
			}
			word >>= 1
			s += d
		}
		if math.Abs(s) >= far {
			hits++
		}
	}
	return float64(hits) / (randomFlips + 1)
}

// SignFlipInterval returns the centres of symmetry that [SignFlip] does not
// reject, an interval for the mean difference with at least the level (0.95)
// of confidence; false with fewer than [MinPairs] pairs or too few for the
// level. The test rejects a centre exactly when too few subsets of the
// differences have their mean on its far side, so the ends are order statistics
// of the subset means (Hartigan, Using Subsample Values as Typical Values, JASA
// 64, 1969). Beyond 16 pairs subsets are drawn.
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

// subsetMeans returns the means of all subsets that are not empty, or of
// drawn ones.
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
