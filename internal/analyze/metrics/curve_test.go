package metrics

import (
	"math"
	"testing"
)

func TestValueAt(t *testing.T) {
	k := &Curve{T: []int64{10, 20, 30}, V: []float64{1, 2, 3}}
	for at, want := range map[int64]float64{0: 1, 10: 1, 19: 1, 20: 2, 25: 2, 30: 3, 99: 3} {
		if got := k.At(at); got != want {
			t.Errorf("at %d it is %v, want %v", at, got, want)
		}
	}
	for name, k := range map[string]*Curve{"none": nil, "empty": {}} {
		if got := k.At(1); !math.IsNaN(got) {
			t.Errorf("%s: %v, want NaN", name, got)
		}
	}
}
