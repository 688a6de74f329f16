package sentence

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/operate/compare"
)

// What other processes used of the host is said where it changed, and where nothing was decided on a busy host.
func TestHostChange(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after float64
		result        string
		want          string
	}{
		{"quiet", .1, .2, compare.Unclear, ""},
		{"busier", .1, .5, compare.Improved, "The host was busier after the change"},
		{"busy and decided", .8, .9, compare.Improved, ""},
		{"busy and not decided", .8, .9, compare.Unclear, "Other processes used 80 % and 90 % of the host's CPUs during the runs"},
	} {
		x := &compare.Comparison{Metrics: []compare.Result{{Name: "p99_ms", Gate: true, Result: c.result}}}
		x.Loads.Before.Others, x.Loads.After.Others = &c.before, &c.after
		if got := HostChange(x); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
