package timeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A burst that lasts less than any look is in the highest, and a request counts for
// as long as it was under way.
func TestUnderWayIsExact(t *testing.T) {
	g := newGrid(0, 1e9-1, 100e6, 10)
	starts, ends := []int64{0}, []int64{950e6}
	for range 500 { // 1 µs
		starts, ends = append(starts, 333_333_000), append(ends, 333_334_000)
	}
	for i := range int64(100) { // one after the other
		starts, ends = append(starts, 700e6+i*1e6), append(ends, 701e6+i*1e6)
	}
	starts, ends = append(starts, 10e6), append(ends, 10e6) // took no time
	at, mean, highest := g.underWay(starts, ends, 950e6)
	want := []float64{1, 1, 1, 501, 1, 1, 1, 2, 1, 1}
	if !slices.Equal(highest, want) || at[3] != 300e6 {
		t.Errorf("at most %v, want %v", highest, want)
	}
	for k, v := range []float64{1, 1, 1, 1.005, 1, 1, 1, 2, 1, 1} {
		if math.Abs(mean[k]-v) > 1e-9 {
			t.Errorf("cell %d: %g under way, want %g", k, mean[k], v)
		}
	}
}

// The integral is the requests' time, whatever they are.
func TestUnderWayKeepsTheTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var starts, ends []int64
	var want, last int64
	for range 5000 {
		at, d := rng.Int64N(5e9), rng.Int64N(300e6)
		starts, ends = append(starts, at), append(ends, at+d)
		want, last = want+d, max(last, at+d)
	}
	g := newGrid(0, last, 50e6, 100)
	_, mean, highest := g.underWay(starts, ends, last)
	var got float64
	for k := range mean {
		width := float64(g.width)
		if k == g.n-1 {
			width = float64(last - int64(k)*g.width)
		}
		got += mean[k] * width
		if highest[k] < mean[k] || highest[k] != math.Trunc(highest[k]) {
			t.Errorf("cell %d: mean %g, highest %g", k, mean[k], highest[k])
		}
	}
	if math.Abs(got-float64(want)) > 1e-6*float64(want) {
		t.Errorf("%g ns in all, want %d", got, want)
	}
}
