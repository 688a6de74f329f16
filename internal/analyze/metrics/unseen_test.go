package metrics

import "testing"

func TestUnseenCollections(t *testing.T) {
	const s = int64(1e9)
	for name, tt := range map[string]struct {
		began map[int64]int64
		want  int
	}{
		"none":                  {map[int64]int64{7: 1 * s, 8: 2 * s, 9: 3 * s}, 0},
		"two":                   {map[int64]int64{7: 1 * s, 9: 2 * s, 11: 3 * s}, 2},
		"numbers not told":      {map[int64]int64{-1: 1 * s, 9: 2 * s}, 0},
		"a restart":             {map[int64]int64{2: 9 * s, 90: 1 * s, 92: 2 * s}, 0},
		"one that began unseen": {map[int64]int64{4: 2*s + s/2, 5: 2 * s, 7: 3 * s}, 1},
		"nothing":               {map[int64]int64{}, 0},
	} {
		if got := countMissing(tt.began); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
