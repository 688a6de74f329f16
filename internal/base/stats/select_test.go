package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantileOf(t *testing.T) {
	source := rand.New(rand.NewPCG(4, 2))
	for _, n := range []int{0, 1, 2, fewToSort, fewToSort + 1, 1000, 5000} {
		for name, draw := range map[string]func(i int) int64{
			"one":   func(int) int64 { return 7 },
			"few":   func(int) int64 { return source.Int64N(5) },
			"many":  func(int) int64 { return source.Int64N(1 << 50) },
			"up":    func(i int) int64 { return int64(i) },
			"down":  func(i int) int64 { return int64(-i) },
			"peaks": func(i int) int64 { return int64(min(i%100, 100-i%100)) },
		} {
			v := make([]int64, n)
			for i := range v {
				v[i] = draw(i)
			}
			sorted := slices.Sorted(slices.Values(v))
			for _, q := range []float64{0, .01, .5, .99, 1} {
				if got, want := QuantileOf(slices.Clone(v), q), Quantile(sorted, q); got != want {
					t.Errorf("%d values, %s: quantile %g is %d, not %d", n, name, q, got, want)
				}
			}
		}
	}
}
