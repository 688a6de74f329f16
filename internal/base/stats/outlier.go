package stats

import "math"

// OutlierScore is from where on a value of a few is no longer like the others: the bound of
// Iglewicz & Hoaglin, How to Detect and Handle Outliers (ASQC, 1993). Of many values some lie
// beyond it by chance: [OutlierBound].
const OutlierScore = 3.5

// OutlierBound is [OutlierScore], or what at most one of twenty sets of n values from a normal
// distribution has a single value above, where that is more: 4.4 of 10,000. Of a few values the
// deviation itself is uncertain, and scores reach further: by simulation 5.3 of 5, 3.8 of 10.
func OutlierBound(n int) float64 {
	n = max(n, 1)
	few := 1 + 12/float64(n*n)
	return few * max(OutlierScore, math.Sqrt2*math.Erfinv(1-.1/float64(n)))
}

// Outliers says of each value how far it lies from the median of all, in standard deviations
// that half of the values do not move: (x − median) ÷ (1.4826 × the median absolute deviation).
// Where more than half are the same, that deviation is zero, and 1.2533 × the mean absolute
// one takes its place, as Iglewicz & Hoaglin do; where all are, every score is 0.
func Outliers(values []float64) []float64 {
	out := make([]float64, len(values))
	middle := Median(values)
	off := make([]float64, len(values))
	var sum float64
	for i, v := range values {
		off[i] = math.Abs(v - middle)
		sum += off[i]
	}
	scale := 1.4826 * Median(off)
	if !(scale > 0) {
		scale = 1.2533 * sum / float64(max(len(values), 1))
	}
	if !(scale > 0) {
		return out
	}
	for i, v := range values {
		out[i] = (v - middle) / scale
	}
	return out
}
