package suggest

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"record", "load", "top", "--slo", "--since"}
	for word, want := range map[string]string{"recrod": "record", "RECORD": "record", "laod": "load", "--slow": "--slo", "gateway": "", "--sinec": "--since"} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
