package sentence

import (
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
)

// TestFigureOfAll writes shares of all and of nothing as percentages, and ratios as numbers.
func TestFigureOfAll(t *testing.T) {
	for _, c := range []struct {
		id    string
		value float64
		want  string
	}{
		{"gc.paused_share", 1, "100 %"}, {"gc.paused_share", .5, "50 %"}, {"gc.paused_share", 0, "0 %"}, {"pool.full_share", 1, "100 %"}, {"heap.goal_by_live", 1, "1"}, {"heap.goal_by_live", 1.05, "1.05"},
	} {
		if got := Figure(&diagnose.Evidence{ID: c.id, Value: &c.value, Unit: "1"}); got != c.want {
			t.Errorf("%s of %g is written %q, want %q", c.id, c.value, got, c.want)
		}
	}
	cpus := 1.68
	for text, want := range map[string]string{"CPUs used by the process, of 2": "1.68", "quota": "1.68 CPUs"} { // the unit is said once
		if got := Figure(&diagnose.Evidence{Text: text, Value: &cpus, Unit: "CPUs"}); got != want {
			t.Errorf("%q before %q, want %q", got, text, want)
		}
	}
}
