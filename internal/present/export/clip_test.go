package export

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

func TestClipSeries(t *testing.T) {
	for _, c := range []struct {
		from, until int64
		t           []int64
		v           []float64
	}{
		{0, 0, []int64{10, 20, 30}, []float64{1, 2, 3}},
		{20, 0, []int64{20, 30}, []float64{2, 3}},
		{15, 0, []int64{15, 20, 30}, []float64{1, 2, 3}},
		{15, 20, []int64{15}, []float64{1}},
		{0, 20, []int64{10}, []float64{1}},
		{40, 50, nil, nil},
		{1, 5, nil, nil},
	} {
		s := evidence.Series{T: []int64{10, 20, 30}, V: []float64{1, 2, 3}}
		clipSeries(&s, c.from, c.until)
		if !slices.Equal(s.T, c.t) || !slices.Equal(s.V, c.v) {
			t.Errorf("[%d, %d): %v %v, want %v %v", c.from, c.until, s.T, s.V, c.t, c.v)
		}
	}
}
