package compare

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// series makes one run for each value of a metric, a minute apart, under one load.
func series(metric string, values ...float64) (runs []Run) {
	for i, v := range values {
		runs = append(runs, Run{Name: "r", Start: noon.Add(time.Duration(i) * time.Minute), Load: open(500), Metrics: map[string]float64{metric: v}})
	}
	return runs
}

func open(rate float64) Load {
	return Load{URL: "http://127.0.0.1:8080/", Mode: "open", LatencyFrom: "intended", Offered: rate, Rate: rate, Duration: 10 * time.Second, Sent: int64(10 * rate)}
}

func TestResults(t *testing.T) {
	few := []float64{10, 11, 9, 10}
	six := []float64{10, 11, 9, 10, 12, 10}
	for _, tt := range []struct {
		name, metric  string
		before, after []float64
		result        string
		change        float64 // NaN: null
		why           string
	}{
		{"faster", "p99_ms", six, times(six, .6), Improved, -.4, ""},
		{"slower", "p99_ms", six, times(six, 1.5), Regressed, .5, ""},
		{"more finished is better", "rate", times(six, 100), times(six, 140), Improved, .4, ""},
		{"less finished is worse", "rate", times(six, 100), times(six, 60), Regressed, -.4, ""},
		{"the same", "p99_ms", six, six, Same, 0, ""},
		{"by less than counts", "p99_ms", six, times(six, 1.02), Same, .02, ""},
		{"not to be told apart", "p99_ms", six, []float64{8, 14, 8, 12, 10, 11}, Unclear, math.NaN(), "no larger than the differences between runs"},
		{"surely, but perhaps too little", "p99_ms", six, []float64{10.1, 12, 9.2, 10.4, 12.3, 10.3}, Unclear, math.NaN(), "smaller than the smallest change that counts (5 %)"},
		{"too few", "p99_ms", few, times(few, .1), Unclear, -.9, "4 pairs of runs, at least 6 needed"},
		{"one", "p99_ms", few[:1], few[:1], Unclear, 0, "1 pair of runs, at least 6 needed"},
		{"cycles are gone", "gc_cycles_per_s", []float64{9.3, 9.1, 9.4, 9.2, 9.3, 9.5}, make([]float64, 6), Improved, -1, ""},
		{"cycles come up", "gc_cycles_per_s", make([]float64, 6), []float64{9.3, 9.1, 9.4, 9.2, 9.3, 9.5}, Regressed, math.NaN(), ""},
		{"none before, none after", "gc_cycles_per_s", make([]float64, 6), make([]float64, 6), Same, math.NaN(), ""},
		{"one cycle more", "gc_cycles_per_s", []float64{0, 0, 0, 0, 0, 0}, []float64{0, 0, 0, .01, 0, 0}, Same, math.NaN(), ""},
		{"errors come up", "errors", make([]float64, 6), []float64{.005, .006, .004, .007, .005, .005}, Regressed, math.NaN(), ""},
		{"one error in thousands", "errors", make([]float64, 6), []float64{0, .0002, 0, 0, .0001, 0}, Same, math.NaN(), ""},
		{"twice a trifle", "assist_ms_per_s", []float64{.1, .1, .1, .1, .1, .1}, []float64{.2, .2, .2, .2, .2, .21}, Same, math.NaN(), ""},
	} {
		c, err := Compare(series(tt.metric, tt.before...), series(tt.metric, tt.after...), Options{})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		m, ok := c.Of(tt.metric)
		if !ok || m.Result != tt.result || m.Why != tt.why {
			t.Errorf("%s: %+v; want %s %q", tt.name, m, tt.result, tt.why)
			continue
		}
		if math.IsNaN(tt.change) {
			continue
		}
		if m.Change == nil || math.Abs(*m.Change-tt.change) > 1e-6 {
			t.Errorf("%s: change %v, want %g", tt.name, m.Change, tt.change)
		}
		if m.Low != nil && (*m.Low > *m.Change+1e-9 || *m.High < *m.Change-1e-9) {
			t.Errorf("%s: %g is not within %g to %g", tt.name, *m.Change, *m.Low, *m.High)
		}
	}
}

func times(v []float64, f float64) (out []float64) {
	for _, x := range v {
		out = append(out, x*f)
	}
	return out
}

func TestUnknownIsLeftOut(t *testing.T) {
	before, after := series("p99_ms", 1, 2, 3, 4, 5, 6, 7), series("p99_ms", 1, 2, 3, 4, 5, 6, 7)
	delete(before[2].Metrics, "p99_ms")
	after[3].Metrics["p99_ms"] = math.NaN()
	after[0].Metrics["nonsense"] = 1
	c, err := Compare(before, after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := c.Of("p99_ms"); !ok || m.Pairs != 5 || m.Result != Unclear || len(c.Metrics) != 1 {
		t.Errorf("%+v", c.Metrics)
	}
}

// Runs are paired in order of time, not in the order they are given.
func TestPairsAreInOrderOfTime(t *testing.T) {
	v := []float64{1, 2, 4, 8, 16, 32}
	before, after := series("p99_ms", v...), series("p99_ms", times(v, .5)...)
	before[0], before[5], after[2], after[3] = before[5], before[0], after[3], after[2]
	c, err := Compare(before, after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := c.Of("p99_ms"); m.Result != Improved || math.Abs(*m.Low+.5) > 1e-6 || math.Abs(*m.High+.5) > 1e-6 {
		t.Errorf("%+v", m)
	}
	c, err = Compare(before, after[:5], Options{})
	if err != nil || c.Pairs != 5 || len(c.Warnings) == 0 || !strings.Contains(c.Warnings[0], "1 without a pair") {
		t.Errorf("%v, %d pairs, %q", err, c.Pairs, c.Warnings)
	}
}

func TestRequestsOfOneRunGiveAnInterval(t *testing.T) {
	before, after := series("p99_ms", 10), series("p99_ms", 5)
	before[0].Within = map[string]stats.Interval{"p99_ms": {Low: 9, High: 11}}
	after[0].Within = map[string]stats.Interval{"p99_ms": {Low: 4.5, High: 5.5}}
	c, err := Compare(before, after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := c.Of("p99_ms")
	if m.Result != Improved || *m.Basis != BasisWithin || *m.Low > -.55 || *m.Low < -.6 || *m.High < -.45 || *m.High > -.4 {
		t.Errorf("%+v: %g to %g", m, *m.Low, *m.High)
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	some := series("p99_ms", 1)
	if _, err := Compare(nil, some, Options{}); !errors.Is(err, ErrNoRuns) {
		t.Error(err)
	}
	if _, err := Compare(some, nil, Options{}); !errors.Is(err, ErrNoRuns) {
		t.Error(err)
	}
	for _, o := range []Options{{Level: 95}, {Level: -1}, {MinEffect: -1}, {MinEffect: math.NaN()}} {
		if _, err := Compare(some, some, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

func TestWarningsAreSaidOnce(t *testing.T) {
	before, after := series("p99_ms", 1, 2), series("p99_ms", 1, 2)
	for _, r := range []*Run{&before[0], &before[1], &after[1]} {
		r.Warnings = []string{"1 line not understood"}
	}
	for range 12 {
		after[0].Warnings = append(after[0].Warnings, strings.Repeat("x", len(after[0].Warnings)+1))
	}
	c, err := Compare(before, after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(c.Warnings, "\n")
	if strings.Count(all, "not understood") != 1 || !strings.Contains(all, "r and 2 more: 1 line not understood") || !strings.HasSuffix(all, "and 3 more warnings: diagnose each run by itself to see them") {
		t.Error(all)
	}
}

func TestMetricsAreWellFormed(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range Metrics {
		if seen[m.Name] || m.Title == "" || m.Unit == "" || m.Better != Lower && m.Better != Higher || !(m.MinEffect > 0) {
			t.Errorf("%+v", m)
		}
		seen[m.Name] = true
	}
}

// Where runs have too few requests for a p99, the report says so, and how many it needs.
func TestTooFewRequestsForAQuantile(t *testing.T) {
	run := func(sent int64) []Run {
		load := open(40)
		load.Sent = sent
		return []Run{{Load: load, Metrics: map[string]float64{"p50_ms": 10}}}
	}
	for sent, want := range map[int64]bool{120: true, 300: false} {
		c, err := Compare(run(sent), run(sent), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(c.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "p99 is not compared: a run has 120 requests, and it is known from 200 on")
		}); got != want {
			t.Errorf("%d requests: %q", sent, c.Warnings)
		}
	}
}
