package metrics

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

func TestParallel(t *testing.T) {
	full := slices.Repeat([]float64{1.01, .98, .6}, 6)
	for name, c := range map[string]struct {
		used []float64
		want int
	}{
		"one processor":           {full, 1},
		"more than one at times":  {append(slices.Clone(full), 1.4), 0},
		"never near it":           {slices.Repeat([]float64{.5, .6, .7}, 6), 0},
		"too few readings":        {full[:6], 0},
		"three processors":        {slices.Repeat([]float64{2.95, 3.02, 1.5}, 6), 3},
		"hardly any in use":       {slices.Repeat([]float64{.01}, 20), 0},
		"between two and three":   {slices.Repeat([]float64{2.4}, 20), 0},
		"a process that is stuck": {nil, 0},
	} {
		x := newProcess("go")
		if c.used != nil {
			x.series(x.id, evidence.SeriesProcessCPU, c.used...)
		}
		if got := Parallel(x.done(), x.id, Whole); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
