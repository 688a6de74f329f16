package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"lab", "list", "record", "load", "top", "--slo", "--since"}
	for word, want := range map[string]string{"reocrd": "record", "RECORD": "record", "laod": "load", "--slow": "--slo", "gateway": "", "digest": "", "foo": "", "--sinec": "--since", "": "", strings.Repeat("load", 1<<20): ""} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
