package lab

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/compare"
	output "github.com/unstall/unstall/internal/present/json"
	"github.com/unstall/unstall/lab/build"
)

func diagnosis(supported ...string) *diagnose.Diagnosis {
	d := &diagnose.Diagnosis{Verdicts: []diagnose.Verdict{}}
	for _, id := range supported {
		d.Verdicts = append(d.Verdicts, diagnose.Verdict{Cause: id, Verdict: "supported"})
	}
	d.Verdicts = append(d.Verdicts, diagnose.Verdict{Cause: "go.lock-contention", Verdict: "ruled_out"})
	return d
}

func TestExpected(t *testing.T) {
	const gc, lock, pool = "go.gc-rate", "go.lock-contention", "service.pool-exhausted"
	for _, c := range []struct {
		name  string
		e     Expected
		found []string
		met   bool
	}{
		{"first", Expected{First: gc}, []string{gc, pool}, true},
		{"second", Expected{First: gc}, []string{pool, gc}, false},
		{"behind another", Expected{First: gc, Behind: pool}, []string{pool, gc}, true},
		{"first, where it may be behind another", Expected{First: gc, Behind: pool}, []string{gc}, true},
		{"only the one that it may be behind", Expected{First: gc, Behind: pool}, []string{pool}, false},
		{"nothing found", Expected{First: gc}, nil, false},
		{"first, with another that must not be", Expected{First: gc, Not: []string{pool}}, []string{gc, pool}, false},
		{"ruled out is not found", Expected{First: gc, Not: []string{lock}}, []string{gc}, true},
		{"none", Expected{NoneOf: []string{gc}}, nil, true},
		{"none but another", Expected{NoneOf: []string{gc}}, []string{pool}, true},
		{"one of none", Expected{NoneOf: []string{gc, pool}}, []string{pool}, false},
		{"any", Expected{AnyOf: []string{gc, pool}}, []string{lock, pool}, true},
		{"not any", Expected{AnyOf: []string{gc, pool}}, []string{lock}, false},
		{"no answer known", Expected{}, nil, false},
	} {
		if got := c.e.Met(diagnosis(c.found...)); got != c.met {
			t.Errorf("%s: met = %v, want %v", c.name, got, c.met)
		}
	}
	if (Expected{NoneOf: []string{gc}}).Met(nil) {
		t.Error("no diagnosis is as expected")
	}
}

func TestPlateau(t *testing.T) {
	for _, c := range []struct {
		v    []int64
		flat bool
	}{
		{[]int64{100, 100, 100}, false},
		{[]int64{10, 100, 101, 102, 102}, true},
		{[]int64{100, 101, 110, 102}, false},
	} {
		if got := isPlateau(c.v, 4, .03, 1); got != c.flat {
			t.Errorf("plateau(%v) = %v, want %v", c.v, got, c.flat)
		}
	}
}

func TestPass(t *testing.T) {
	for _, c := range []struct {
		name   string
		o      Outcome
		passed bool
	}{
		{"nothing was run", Outcome{}, false},
		{"all well", Outcome{Variants: []Result{{OK: true}}, Checks: []Check{{OK: true}}}, true},
		{"a variant is not", Outcome{Variants: []Result{{OK: true}, {}}}, false},
		{"a check is not", Outcome{Variants: []Result{{OK: true}}, Checks: []Check{{}}}, false},
		{"a miss that is only told", Outcome{Variants: []Result{{OK: true}}, Checks: []Check{{Told: true}}}, true},
	} {
		if c.o.completeOutcome(); c.o.Pass != c.passed {
			t.Errorf("%s: pass = %v, want %v", c.name, c.o.Pass, c.passed)
		}
	}
}

func TestPeakAndKnee(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		plan Plan
		ok   bool
	}{
		{Plan{Peak: n(700), Knee: n(1000)}, true},
		{Plan{Peak: n(500), Knee: n(1000)}, false},
		{Plan{Peak: n(900), Knee: n(1000)}, false},
		{Plan{Peak: n(700)}, false},
	} {
		o := Outcome{Plan: c.plan}
		if got := o.kneeCheck(); got.OK != c.ok {
			t.Errorf("%+v: %+v, want ok %v", c.plan, got, c.ok)
		}
	}
}

// TestSchema fails when a key is renamed, because other programs read the schema.
func TestSchema(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	toolchain := "go1.26"
	o := Outcome{
		Schema: Schema, Lab: "fake", Host: Host{CPUs: 2, Toolchain: "go1.26", Go: &toolchain, Start: at, DurationS: 60},
		Plan:        Plan{SLOMs: n(100), Base: n(50), Peak: n(1000), Knee: n(1500), StormS: n(3), Blocks: 6, Seed: 1},
		Variants:    []Result{{Name: "sick", About: "sick", Command: "service", Expected: Expected{First: "go.gc-rate", Not: []string{}}, Found: []string{"go.gc-rate"}, Attempts: 1, OK: true}},
		Comparisons: []*compare.Comparison{{Schema: compare.Schema, Before: "sick", After: "fixed", Metrics: []compare.Result{}, Warnings: []string{}}},
		Predictions: []Prediction{{Metric: "gc cycles", Unit: "1/s", Variant: "advised", Predicted: n(.5), Measured: n(.4), RelativeError: n(.25)}},
		Checks:      []Check{{Name: "p99", Unit: "1", Asked: "better", Got: n(-.5), Low: n(-.6), High: n(-.4), Article: n(-.45), OK: true}},
		Runs:        []Measured{{Variant: "sick", Block: 1, Start: at, Offered: n(1000), Achieved: 999, Metrics: map[string]float64{"p99_ms": 6.4}}},
	}
	o.completeOutcome()
	var got bytes.Buffer
	if err := output.Encode(&got, &o); err != nil {
		t.Fatal(err)
	}
	golden(t, "outcome.json", got.Bytes())
	var text bytes.Buffer
	if err := Report(&text, &o); err != nil {
		t.Fatal(err)
	}
	golden(t, "outcome.txt", text.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *goldentest.Update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; if the new one is right: %s\n%s", path, goldentest.Command(), diff)
	}
}

func TestScore(t *testing.T) {
	s := ScoreOf([]*Outcome{{Lab: "fake", Variants: []Result{
		{Name: "sick", Expected: Expected{First: "go.gc-rate"}, Found: []string{"go.gc-rate"}, OK: true},
		{Name: "other", Expected: Expected{First: "go.gc-rate"}, Found: []string{"service.pool-exhausted"}},
		{Name: "healthy", Expected: Expected{NoneOf: []string{"go.gc-rate"}}, Found: []string{"go.gc-rate"}},
	}}})
	if s.Top == nil || *s.Top != .5 || s.FalseAlarms != 1 || s.Pass {
		t.Errorf("%+v", s)
	}
}

func TestNoToolchain(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	l := &Lab{Name: "fake", Runtime: Go{Sources: fstest.MapFS{}}}
	if _, err := l.Runtime.buildPrograms(t.Context(), l, func(string) {}); !errors.Is(err, build.ErrNoGo) {
		t.Errorf("error %v, want %v", err, build.ErrNoGo)
	}
}

func TestRunsOnOthers(t *testing.T) {
	own, newer := Dotnet{Project: build.Project{File: "a.csproj"}}, Dotnet{Project: build.Project{File: "a.csproj"}, On9: true}
	l := &Lab{Name: "fake", Runtime: own, On: map[string]Runtime{"dotnet-9": newer}}
	for on, want := range map[string]Dotnet{"": own, "dotnet-9": newer} {
		got, err := l.onRuntime(on)
		if err != nil || got.Runtime.(Dotnet).On9 != want.On9 || l.Runtime.(Dotnet).On9 {
			t.Errorf("on %q: %+v, %v", on, got, err)
		}
	}
	if _, err := Run(t.Context(), l, Options{On: "dotnet-7"}); err == nil || !strings.Contains(err.Error(), "but on dotnet-9") {
		t.Errorf("on what it does not run on: %v", err)
	}
}

// TestBetween checks the rate between the capacities of the sick variant and of the one without its cause:
// a plan outside moves to the nearest rate inside.
func TestBetween(t *testing.T) {
	for _, x := range []struct{ first, second, want float64 }{
		{90, 200, 120},
		{150, 300, 200}, // a faster host
		{50, 100, 90},   // a slower one
		{110, 118, 143}, // no rate is well between: beyond the first
	} {
		if got, _, _ := (Rising{Peak: 120}).peakBetween(x.first, x.second); got != x.want {
			t.Errorf("between %v and %v: %v, want %v", x.first, x.second, got, x.want)
		}
	}
}

// A peak that must lie 30 % above one knee and 10 % below another one needs 1.45 × as much from the second.
func TestHasRoom(t *testing.T) {
	for _, c := range []struct {
		above, below *float64
		want         bool
	}{
		{new(30.0), new(55.0), true},
		{new(32.0), new(44.0), false},
		{nil, new(44.0), true},
		{new(32.0), nil, true},
	} {
		o := Outcome{Knees: []Knee{{Variant: "sick", Rate: c.above}, {Variant: "cured", Rate: c.below}}}
		if got := o.HasRoom("sick", "cured"); got != c.want {
			t.Errorf("%v, %v: %v", c.above, c.below, got)
		}
	}
}
