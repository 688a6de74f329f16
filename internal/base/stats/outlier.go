package stats

import "math"

// OutlierScore is the score from which a value among few is an outlier: the bound of Iglewicz & Hoaglin, How to Detect and Handle Outliers
// (ASQC, 1993). Among many values some exceed it by chance: [OutlierBound].
const OutlierScore = 3.5

// OutlierBound returns [OutlierScore] or, if larger, the score that at most one of twenty sets of n normal values exceeds with any value:
// 4.4 for 10,000. Among few values the deviation itself is uncertain, and scores reach further: by simulation 5.3 for 5, 3.8 for 10.
func OutlierBound(n int) float64 {
	n = max(n, 1)
	few := 1 + 12/float64(n*n)
	return few * max(OutlierScore, math.Sqrt2*math.Erfinv(1-.1/float64(n)))
}

// Outliers returns how far each value is from the median, in standard deviations that half of the values do not affect: (x − median) ÷
// (1.4826 × the median absolute deviation). Where more than half are equal, that deviation is zero, and 1.2533 × the mean absolute
// deviation replaces it, as in Iglewicz & Hoaglin; where all are equal, every score is 0.
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
