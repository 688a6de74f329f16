package linux

import "testing"

func TestAtMost(t *testing.T) {
	for share, want := range map[float64]string{.00001: "less than 0.01 %", .2: "at most 20 %", 0: "at most 0 %"} {
		if got := atMost(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}
