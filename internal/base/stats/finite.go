package stats

import "math"

// FiniteOrNil returns a pointer to a figure, for keys of JSON that may be null; nil if the figure is NaN or infinite, that is unknown.
func FiniteOrNil(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// ZeroIfNaN returns the figure, 0 if it is not known: as an addend, or where more of it would speak for a cause.
func ZeroIfNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
