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

// Where the p99 alone is not decided, the first line is about what is, and says so of the p99; metrics that went both ways decide nothing.
func TestTheFirstLineIsDecided(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	metric := func(name, title, result string) compare.Result {
		return compare.Result{Name: name, Title: title, Unit: "ms", Before: num(20), After: num(5), Change: num(-.75), Result: result, Pairs: 1}
	}
	for want, all := range map[string][]compare.Result{
		"Better: p90 20 → 5 ms, −75 %; p99 20 → 5 ms, −75 %, is not decided.": {metric("p90_ms", "p90", compare.Improved), metric("p99_ms", "p99", compare.Unclear), metric("mean_ms", "mean latency", compare.Improved)},
		"Worse: mean latency 20 → 5 ms, −75 %; p99 20":                        {metric("p90_ms", "p90", compare.Unclear), metric("p99_ms", "p99", compare.Unclear), metric("mean_ms", "mean latency", compare.Regressed)},
		"Not decided: p99 ": {metric("p90_ms", "p90", compare.Improved), metric("p99_ms", "p99", compare.Unclear), metric("mean_ms", "mean latency", compare.Regressed)},
		"Better: p99 20 →":  {metric("p90_ms", "p90", compare.Unclear), metric("p99_ms", "p99", compare.Improved)},
	} {
		yes := true
		if got := Compared(&compare.Comparison{Comparable: &yes, Pairs: 1, Metrics: all}); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Runs that do not compare because of loads that nobody made say how to make them compare.
func TestForVerdict(t *testing.T) {
	no, rate := false, 500.0
	for name, c := range map[string]struct {
		c    compare.Comparison
		want string
	}{
		"loads that came by themselves":  {compare.Comparison{Comparable: &no}, "For a verdict: record both sides under the same load, "},
		"loads that were made":           {compare.Comparison{Comparable: &no, Loads: compare.Loads{Before: compare.Side{OfferedRate: &rate}}}, ""},
		"unknown loads":                  {compare.Comparison{Why: "unknown", Metrics: []compare.Result{{Name: "gc_cpu_share"}}}, "For a verdict: record both sides under the same --load URL, "},
		"unknown loads, nothing to tell": {compare.Comparison{Why: "unknown"}, ""},
	} {
		if got := ForVerdict(&c.c); got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A change over the pairs that is not that of the medians beside it says what it is.
func TestChangeOfPairs(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	yes := true
	m := compare.Result{Name: "p90_ms", Title: "p90", Unit: "ms", Before: num(3.75), After: num(9.06), Change: num(2.24), Low: num(.33), High: num(16.4), Result: compare.Regressed, Pairs: 6}
	if got, want := Compared(&compare.Comparison{Comparable: &yes, Pairs: 6, Metrics: []compare.Result{m}}), "Worse: p90 3.75 → 9.06 ms (medians), pair by pair +224 % (+33 to ×17.4)"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	m.Change = num(1.42)
	if got, want := Compared(&compare.Comparison{Comparable: &yes, Pairs: 6, Metrics: []compare.Result{m}}), "Worse: p90 3.75 → 9.06 ms, +142 % ("; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
