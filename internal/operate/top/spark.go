package top

import (
	"math"
	"slices"
)

var (
	bars  = []rune("▁▂▃▄▅▆▇█")
	ascii = []rune("_.-=+*#@")
)

// drawSparkline draws values as one line of bars, with a blank for a missing value. The scale spans the values, and
// at least a tenth of the largest, so that small changes do not look large.
func drawSparkline(values []float64, steps []rune) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	wide := max(high-low, math.Abs(high)/10)
	low = max((low+high-wide)/2, min(low, 0))
	out := make([]rune, len(values))
	for i, v := range values {
		switch {
		case math.IsNaN(v):
			out[i] = ' '
		case wide == 0:
			out[i] = steps[0]
		default:
			k := int((v-low)/wide*float64(len(steps)) + 1e-6) // 1e-6 makes exact halves round up
			out[i] = steps[max(0, min(k, len(steps)-1))]
		}
	}
	return string(out)
}

// fillGaps fills gaps of at most two columns with the value before, because a reading may come late.
func fillGaps(values []float64) []float64 {
	out := slices.Clone(values)
	for i := range out {
		for back := 1; back <= 2 && math.IsNaN(out[i]) && i >= back; back++ {
			out[i] = values[i-back]
		}
	}
	return out
}
