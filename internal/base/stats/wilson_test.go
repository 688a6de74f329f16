package stats

import (
	"math"
	"testing"
)

// The figures are of Newcombe, Two-sided confidence intervals for the single proportion
// (Statistics in Medicine 17, 1998), table I, method 3.
func TestWilsonInterval(t *testing.T) {
	for _, c := range []struct {
		successes float64
		n         int
		low, high float64
	}{
		{81, 263, .2553, .3662},
		{15, 148, .0624, .1605},
		{0, 20, 0, .1611},
		{1, 29, .0061, .1718},
	} {
		iv, ok := WilsonInterval(c.successes, c.n)
		if !ok || math.Abs(iv.Low-c.low) > 5e-5 || math.Abs(iv.High-c.high) > 5e-5 {
			t.Errorf("%g of %d: %.4f–%.4f, want %.4f–%.4f", c.successes, c.n, iv.Low, iv.High, c.low, c.high)
		}
	}
	for _, c := range []struct {
		successes float64
		n         int
	}{{0, 0}, {2, 1}, {-1, 3}, {math.NaN(), 3}} {
		if _, ok := WilsonInterval(c.successes, c.n); ok {
			t.Errorf("%g of %d has an interval", c.successes, c.n)
		}
	}
}
