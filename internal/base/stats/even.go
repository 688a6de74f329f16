package stats

import "slices"

// EvenDistances returns the median of distances, which it leaves as they are, and how many of them are even: they differ from it, or from up to
// most times it, by no more than near of it. Steps of a clock are even, also where up to most-1 in a row are left out.
func EvenDistances(distances []int64, near float64, most int64) (median int64, even int) {
	median = QuantileOf(slices.Clone(distances), .5)
	for _, d := range distances {
		times := max(1, (d+median/2)/max(1, median))
		if times <= most && float64(max(d-times*median, times*median-d)) <= near*float64(median) {
			even++
		}
	}
	return median, even
}
