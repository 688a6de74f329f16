package units

import "testing"

func TestPlural(t *testing.T) {
	for n, want := range map[int][2]string{
		0:    {"0 pauses", "0 times"},
		1:    {"1 pause", "once"},
		2:    {"2 pauses", "twice"},
		1234: {"1,234 pauses", "1,234 times"},
	} {
		if got := [2]string{Plural(n, "pause"), Times(n)}; got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
