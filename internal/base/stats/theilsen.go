package stats

import (
	"math"
	"slices"
)

const (
	mostPoints = 600  // points of which all pairs are used; of more points, so many pairs
	normal95   = 1.96 // standard deviations to either side that hold 95 % of a normal distribution
)

// TheilSen returns the median slope of y over x between all pairs of points, and its 95 % interval; no single point decides it (P. K. Sen,
// Journal of the American Statistical Association 63, 1968). x ascends. Without a pair of points the slope is 0, and the interval infinite.
func TheilSen(x, y []float64) (slope, low, high float64) {
	if n := len(x); n > mostPoints {
		var someX, someY []float64
		for i := range mostPoints {
			someX, someY = append(someX, x[i*n/mostPoints]), append(someY, y[i*n/mostPoints])
		}
		x, y = someX, someY
	}
	var all []float64
	for i := range x {
		for k := i + 1; k < len(x); k++ {
			if x[k] > x[i] {
				all = append(all, (y[k]-y[i])/(x[k]-x[i]))
			}
		}
	}
	if len(all) == 0 {
		return 0, math.Inf(-1), math.Inf(1)
	}
	slices.Sort(all)
	n := float64(len(x))
	c := normal95 * math.Sqrt(n*(n-1)*(2*n+5)/18)
	at := func(rank float64) float64 {
		return all[int(min(max(0, rank), float64(len(all)-1)))]
	}
	pairs := float64(len(all))
	return Median(all), at(math.Floor((pairs - c) / 2)), at(math.Ceil((pairs + c) / 2))
}
