package nettrace

import (
	"testing"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// TestLimitAt has forty requests at all times at a place that lets three in for 200 ms each. The wait is for a method that awaits, as
// SemaphoreSlim.WaitAsync with a token: those who wait count among the awaits of methods, too, and are no holders.
func TestLimitAt(t *testing.T) {
	const hold, waiting, limit, until = 200, 40, 3, 12_000 // ms
	activity := func(n int) (g eventpipe.GUID) {
		g[0], g[1] = byte(n+1), byte((n+1)>>8)
		return g
	}
	for _, inner := range []bool{true, false} {
		p, ended := new(awaitPlace), make(map[eventpipe.GUID]int64)
		var within []*await
		add := func(rows *[]*await, start, end int64, of eventpipe.GUID) {
			if start >= until {
				return
			}
			if end > until {
				end = 0
			}
			*rows = append(*rows, &await{start: start, end: end, activity: of})
		}
		for n := range 3 * until / hold {
			came, got := int64(max(0, n-waiting)/limit*hold+n%limit), int64(n/limit*hold+n%limit)
			if came < got {
				add(&p.rows, came, got, activity(n))
				if inner {
					add(&within, came, got, activity(n))
				}
			}
			add(&within, got, got+hold-1, activity(n))
			ended[activity(n)] = min(until, got+hold)
		}
		if k := limitAt(p, ended, within, 0, until); k != limit {
			t.Errorf("limit of %d, want %d (waits for a method that awaits: %v)", k, limit, inner)
		}
	}
}
