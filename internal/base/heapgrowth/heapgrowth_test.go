package heapgrowth

import "testing"

func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		live int64 // MiB
		want int
	}{{0, 50}, {1, 3100}, {16, 100}, {24, 50}, {90, 50}, {96, 50}, {128, 37}, {200, 24}, {240, 20}, {4000, 20}} {
		if got := percentFor(c.live << 20); got != c.want {
			t.Errorf("%d MiB live: %d %%, not %d", c.live, got, c.want)
		}
	}
}
