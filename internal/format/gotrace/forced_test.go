package gotrace

import (
	"runtime/debug"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestForced tells cycles that the program asks for from those that the pacer begins.
func TestForced(t *testing.T) {
	const asked = 3
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	b := record(t, func() {
		for range asked {
			debug.FreeOSMemory()
		}
	})
	forced := 0
	for _, i := range b.Intervals.Select(evidence.GCCycle, 0) {
		if x, ok := b.Intervals.Get(i, evidence.Forced); ok && x == 1 {
			forced++
		}
	}
	if forced != asked {
		t.Errorf("%d cycles that were asked for, want %d\n%s", forced, asked, inspect(b))
	}
}
