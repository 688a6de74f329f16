package stats

import (
	"math"
	"slices"
	"testing"
)

func TestEvenDistances(t *testing.T) {
	for _, x := range []struct {
		distances []int64
		near      float64
		most      int64
		median    int64
		even      int
	}{
		{[]int64{100, 100, 100}, .1, 1, 100, 3},
		{[]int64{120, 90, 100, 110, 89}, .1, 1, 100, 3},
		{[]int64{100, 100, 200, 300, 100}, .1, 1, 100, 3},
		{[]int64{100, 100, 200, 300, 100}, .1, 2, 100, 4},
		{[]int64{100, 100, 200, 1511, 100}, .1, math.MaxInt64, 100, 4},
		{[]int64{100, 100, 200, 1509, 100}, .1, math.MaxInt64, 100, 5},
		{[]int64{0, 0, 7}, .1, math.MaxInt64, 0, 2},
	} {
		given := slices.Clone(x.distances)
		if median, even := EvenDistances(given, x.near, x.most); median != x.median || even != x.even {
			t.Errorf("%d, %g, up to %d times: %d even around %d, want %d around %d", x.distances, x.near, x.most, even, median, x.even, x.median)
		}
		if !slices.Equal(given, x.distances) {
			t.Errorf("%d became %d", x.distances, given)
		}
	}
}
