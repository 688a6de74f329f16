package evidence

import "testing"

func TestSeriesMean(t *testing.T) {
	s := &Series{T: []int64{10, 20, 40}, V: []float64{1, 4, 9}}
	for _, c := range []struct {
		from, until int64
		mean        float64
		watched     int64
	}{{0, 100, 3, 30}, {15, 25, 2.5, 10}, {20, 30, 4, 10}, {40, 50, 0, 0}, {0, 10, 0, 0}} {
		if mean, watched := s.Mean(c.from, c.until); mean != c.mean || watched != c.watched {
			t.Errorf("[%d, %d): %g over %d, want %g over %d", c.from, c.until, mean, watched, c.mean, c.watched)
		}
	}
}
