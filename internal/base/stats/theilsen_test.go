package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTheilSen(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, slope := range []float64{-3, 0, 5} {
		var x, y []float64
		for i := range 2000 {
			x, y = append(x, float64(i)/10), append(y, slope*float64(i)/10+random.NormFloat64())
		}
		for i := 0; i < 2000; i += 10 { // a tenth of the points are elsewhere
			y[i] = 1e6 * float64(1-i/10%2*2)
		}
		got, low, high := TheilSen(x, y)
		if math.Abs(got-slope) > .02 || low > got || high < got || high-low > .1 {
			t.Errorf("slope %v is %v (%v to %v)", slope, got, low, high)
		}
	}
	for _, few := range [][]float64{nil, {1}, {1, 1}} {
		if got, low, high := TheilSen(few, few); got != 0 || !math.IsInf(low, -1) || !math.IsInf(high, 1) {
			t.Errorf("%v has the slope %v (%v to %v)", few, got, low, high)
		}
	}
}
