package stats

import (
	"math"
	"testing"
)

func TestOutliers(t *testing.T) {
	// Median 6, deviations 1 1 2 2 0 94: their median is 1.5.
	got := Outliers([]float64{5, 7, 4, 8, 6, 6, 100})
	if want := 94 / 1.4826; math.Abs(got[6]-want) > 1e-9 {
		t.Errorf("100 scores %g, want %g", got[6], want)
	}
	if got[4] != 0 || got[2] != -2/1.4826 {
		t.Errorf("%v", got)
	}
	// More than half are the same: the mean deviation, 1.
	if got := Outliers([]float64{3, 3, 3, 3, 8}); got[0] != 0 || math.Abs(got[4]-5/1.2533) > 1e-9 {
		t.Errorf("%v", got)
	}
	for _, same := range [][]float64{nil, {1}, {2, 2, 2}} {
		for _, v := range Outliers(same) {
			if v != 0 {
				t.Errorf("%v: %g", same, v)
			}
		}
	}
}

// TestOutlierBound sees that chance alone rarely makes an outlier, however many there are.
func TestOutlierBound(t *testing.T) {
	if math.Abs(OutlierBound(100)-OutlierScore) > .01 || math.Abs(OutlierBound(10_000)-4.42) > .01 {
		t.Errorf("of 100 %g, of 10,000 %g", OutlierBound(100), OutlierBound(10_000))
	}
	random := random(7)
	normal := func() float64 {
		u := (float64(random.next()>>11) + .5) / (1 << 53)
		return math.Sqrt2 * math.Erfinv(2*u-1)
	}
	for _, n := range []int{5, 7, 10, 30, 1000} {
		const sets = 400
		alarms := 0
		for range sets {
			v := make([]float64, n)
			for i := range v {
				v[i] = normal()
			}
			for _, z := range Outliers(v) {
				if z > OutlierBound(n) {
					alarms++
					break
				}
			}
		}
		if alarms > sets/12 {
			t.Errorf("%d of %d sets of %d values have an outlier by chance, about one of twenty should", alarms, sets, n)
		}
	}
}
