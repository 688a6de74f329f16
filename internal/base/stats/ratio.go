package stats

import (
	"math"
	"math/bits"
)

// RatioInterval returns by which factor the second figures of pairs differ from
// the first, and an interval for it with at least the level of confidence: the
// factors θ for which the sign-flip test does not reject that after and θ·before are
// alike. Each pair is scored by (after − θ·before) ÷ (after + θ·before), which is
// symmetric about zero when the logarithm of the pair's ratio is about log θ,
// lies within ±1 however far off one pair is, and takes figures of zero. The
// estimate is the θ whose scores sum to zero; as a subset of pairs whose scores
// do has its own, the ends are order statistics of these, as in
// [SignFlipInterval]. Pairs of two zeros say nothing and do not count.
//
// Figures are not negative. A factor may be 0 or +Inf. The interval is false with
// fewer than [MinPairs] pairs that count or too few for the level; the estimate is
// NaN without any.
func RatioInterval(before, after []float64, level float64, seed uint64) (estimate float64, iv Interval, ok bool) {
	r := ratios{}
	for i := range min(len(before), len(after)) {
		b, a := before[i], after[i]
		if !(a >= 0) || !(b >= 0) || math.IsInf(a, 0) || math.IsInf(b, 0) {
			return math.NaN(), Interval{}, false
		}
		if a > 0 || b > 0 {
			r.before, r.after = append(r.before, b), append(r.after, a)
		}
	}
	n := len(r.before)
	if n == 0 {
		return math.NaN(), Interval{}, false
	}
	r.scores = make([]float64, n)
	estimate = r.findFactor(func() bool {
		var sum float64
		for _, s := range r.scores {
			sum += s
		}
		return sum > rounding
	})
	if n < MinPairs || !(level > 0 && level < 1) {
		return estimate, Interval{}, false
	}
	r.chooseSubsets(seed)
	k := int((1-level)/2*float64(r.subsets+1) + 1e-9)
	if k < 1 {
		return estimate, Interval{}, false
	}
	iv.Low = r.findFactor(func() bool { return r.countSubsets(func(sum float64) bool { return sum <= rounding }) < k })
	iv.High = r.findFactor(func() bool { return r.countSubsets(func(sum float64) bool { return sum >= -rounding }) >= k })
	return estimate, iv, true
}

// rounding is the difference below which sums of scores count as equal.
const rounding = 1e-9

// ratios are pairs scored under changing factors.
type ratios struct {
	before, after []float64
	scores        []float64
	sums          []float64 // of all subsets, up to exactSubsets pairs
	drawn         []uint64  // beyond: those drawn, words each
	words         int
	subsets       int // without the empty one
}

// findFactor returns the factor above which a condition on the scores, true for small factors, is false: 0 or +Inf if it is never or always
// true.
func (r *ratios) findFactor(below func() bool) float64 {
	lo, hi := math.Inf(1), math.Inf(-1) // logarithms
	for i, b := range r.before {
		if a := r.after[i]; a > 0 && b > 0 {
			x := math.Log(a) - math.Log(b)
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if lo > hi {
		lo, hi = 0, 0
	}
	const far = 40 // there scores are ±1
	lo, hi = lo-far, hi+far
	at := func(x float64) bool {
		for i, b := range r.before {
			// exp(x)·b could overflow; the score depends on the ratio only
			switch a := r.after[i]; {
			case b == 0:
				r.scores[i] = 1
			case a == 0:
				r.scores[i] = -1
			default:
				r.scores[i] = math.Tanh((math.Log(a) - math.Log(b) - x) / 2)
			}
		}
		return below()
	}
	if !at(lo) {
		return 0
	}
	if at(hi) {
		return math.Inf(1)
	}
	for hi-lo > 1e-9 {
		mid := lo + (hi-lo)/2
		if at(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp(lo + (hi-lo)/2)
}

// chooseSubsets decides which subsets are used: all, or drawn ones.
func (r *ratios) chooseSubsets(seed uint64) {
	n := len(r.before)
	if n <= exactSubsets {
		r.sums = make([]float64, 1<<n)
		r.subsets = len(r.sums) - 1
		return
	}
	r.words = (n + 63) / 64
	random := random(seed)
	for r.subsets < randomMeans {
		set := make([]uint64, r.words)
		var any uint64
		for w := range set {
			set[w] = random.next()
			if left := n - 64*w; left < 64 {
				set[w] &= 1<<left - 1
			}
			any |= set[w]
		}
		if any != 0 {
			r.drawn = append(r.drawn, set...)
			r.subsets++
		}
	}
}

// countSubsets returns how many subsets have a sum of scores that meets a condition.
func (r *ratios) countSubsets(match func(sum float64) bool) (n int) {
	if r.sums != nil {
		for s := 1; s < len(r.sums); s++ {
			r.sums[s] = r.sums[s&(s-1)] + r.scores[bits.TrailingZeros(uint(s))]
			if match(r.sums[s]) {
				n++
			}
		}
		return n
	}
	for s := range r.subsets {
		var sum float64
		for w, word := range r.drawn[s*r.words : (s+1)*r.words] {
			for ; word != 0; word &= word - 1 {
				sum += r.scores[64*w+bits.TrailingZeros64(word)]
			}
		}
		if match(sum) {
			n++
		}
	}
	return n
}
