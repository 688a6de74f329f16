package heapgrowth

import "testing"

func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		live int64 // MiB
		want int
	}{{0, 50}, {1, 3100}, {16, 100}, {24, 50}, {80, 50}, {90, 44}, {96, 41}, {128, 31}, {200, 20}, {4000, 20}} {
		if got := percentFor(c.live << 20); got != c.want {
			t.Errorf("%d MiB live: %d %%, not %d", c.live, got, c.want)
		}
	}
}
