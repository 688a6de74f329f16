package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRatioInterval(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name          string
		before, after []float64
		estimate      float64
		low, high     float64
		ok            bool
	}{
		{"all alike", []float64{1, 2, 3, 4, 5, 6}, []float64{.5, 1, 1.5, 2, 2.5, 3}, .5, .5, .5, true},
		{"six pairs: their range", []float64{10, 10, 10, 10, 10, 10}, []float64{5, 6, 5, 6, 5, 6}, math.Sqrt(.3), .5, .6, true},
		{"gone", []float64{9, 9.2, 9.1, 9, 9.3, 8.9}, make([]float64, 6), 0, 0, 0, true},
		{"from nothing", make([]float64, 6), []float64{1, 1, 1, 1, 1, 1}, inf, inf, inf, true},
		{"some gone", []float64{8, 8, 8, 8, 8, 8}, []float64{0, 0, .08, .08, .08, .08}, .01 / 3, 0, .01, true},
		{"one pair is off", []float64{10, 10, 10, 10, 10, 10}, []float64{5, 5, 5, 5, 5, 5000}, .5 * 1.5, .5, 500, true},
		{"two zeros say nothing", []float64{0, 10, 10, 10, 10, 10}, []float64{0, 5, 5, 5, 5, 5}, .5, 0, 0, false},
		{"five", []float64{1, 1, 1, 1, 1}, []float64{2, 2, 2, 2, 2}, 2, 0, 0, false},
		{"none", nil, nil, math.NaN(), 0, 0, false},
		{"negative", []float64{1, 1, 1, 1, 1, -1}, []float64{2, 2, 2, 2, 2, 2}, math.NaN(), 0, 0, false},
	} {
		estimate, iv, ok := RatioInterval(c.before, c.after, .95, 1)
		near := func(got, want float64) bool {
			return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= .01*want
		}
		if ok != c.ok || !near(estimate, c.estimate) || ok && (!near(iv.Low, c.low) || !near(iv.High, c.high)) {
			t.Errorf("%s: %.4g (%.4g to %.4g) %v, want %.4g (%.4g to %.4g) %v", c.name, estimate, iv.Low, iv.High, ok, c.estimate, c.low, c.high, c.ok)
		}
	}
	if _, _, ok := RatioInterval(make([]float64, 6), []float64{1, 1, 1, 1, 1, 1}, .99, 1); ok {
		t.Error("six pairs decide at 99 %")
	}
}

// The interval holds the true factor as often as it says, for pairs whose
// common part varies a lot, with outliers, for few pairs and for many.
func TestRatioIntervalCovers(t *testing.T) {
	for _, c := range []struct{ n, runs int }{{6, 2000}, {9, 1000}, {18, 60}} {
		n, runs := c.n, c.runs
		r := rand.New(rand.NewPCG(1, uint64(n)))
		hits := 0
		for range runs {
			before, after := make([]float64, n), make([]float64, n)
			for i := range n {
				common := math.Exp(r.NormFloat64())
				before[i] = common * math.Exp(.2*r.NormFloat64())
				after[i] = .7 * common * math.Exp(.2*r.NormFloat64())
				if r.IntN(10) == 0 {
					before[i] *= 20
				}
				if r.IntN(10) == 0 {
					after[i] *= 20
				}
			}
			if _, iv, ok := RatioInterval(before, after, .95, 1); ok && iv.Contains(.7) {
				hits++
			}
		}
		if share := float64(hits) / float64(runs); share < .92 {
			t.Errorf("%d pairs: the interval holds the factor in %.3f of the runs", n, share)
		}
	}
}
