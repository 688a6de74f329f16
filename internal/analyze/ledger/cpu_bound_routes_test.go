package ledger

import "testing"

// A timer ends requests at a round time and soon after; work ends at any time, and what varies is work.
func TestIsTimed(t *testing.T) {
	for name, c := range map[string]struct {
		first, step int64 // ms, and ms by which each request takes longer than the one before
		want        bool
	}{
		"a poll of three seconds":    {3001, 1, true},
		"a second":                   {1000, 0, true},
		"work":                       {3050, 1, false},
		"work at a round time":       {3001, 5, false},
		"shorter than a round time":  {100, 0, false},
		"a little before":            {2999, 0, false},
		"late, but within the limit": {3008, 0, true},
	} {
		var took []int64
		for i := range int64(20) {
			took = append(took, (c.first+i*c.step)*1e6)
		}
		if got := isTimed(took); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
