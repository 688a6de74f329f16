package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/dev/thresholds/meter"
	"github.com/unstall/unstall/internal/diagnose/check"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
)

const root = "../.."

// TestInstrument holds that the checks' code can still be instrumented: each patch fits once, and comparisons with thresholds are found,
// also those with a threshold that is handed over.
func TestInstrument(t *testing.T) {
	at, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := readSource(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.instrument(); err != nil {
		t.Fatal(err)
	}
	list, err := s.overlay(at, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"internal/diagnose/check/check.go":  "meter.Compare(share >= SlowShare.Value, SlowShare.Name, SlowShare.Value, func(meterValue float64) float64 { meterT := SlowShare; meterT.Value = meterValue; return float64(share) - float64(meterT.Value) })",
		"internal/diagnose/check/once.go":   "meter.Once(",
		"internal/diagnose/check/pauses.go": "of.Least.Name, of.Least.Value",
		"internal/diagnose/run.go":          "meter.Asked(",
	} {
		text, err := os.ReadFile(o.Replace[filepath.Join(at, file)])
		if err != nil || !strings.Contains(string(text), want) || strings.Count(string(text), `import meter "`) != 1 {
			t.Errorf("%s does not have %s, or no import of the meter: %v", file, want, err)
		}
	}
	for _, x := range []check.Threshold{check.Material, check.Noticeable, check.FullCPUs} {
		if !s.comparable[x.Name] {
			t.Errorf("nothing is compared with %q", x.Name)
		}
	}
}

// TestApply checks that what is put in last at an end encloses what was put in before.
func TestApply(t *testing.T) {
	got := applyEdits("if a < b && c {", []edit{{3, "f(", false}, {8, ", 1)", true}, {3, "f(", false}, {8, ", 2)", true}})
	if want := "if f(f(a < b, 1), 2) && c {"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFigureOf checks which figure stands for a recording.
func TestFigureOf(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	of := check.Threshold{Name: "share of something", Value: .2}
	below := check.Threshold{Name: "share below which there is none", Value: .2}
	for _, x := range []struct {
		about string
		t     check.Threshold
		lines []*meter.Seen
		want  float64
		ok    bool
	}{
		{"not compared", of, []*meter.Seen{nil}, math.NaN(), false},
		{"unknown", of, []*meter.Seen{{Value: .2, Times: 1}}, math.NaN(), true},
		{"the largest", of, []*meter.Seen{{Value: .2, Least: p(.1), Most: p(.3)}, {Value: .2, Least: p(.4), Most: p(.4)}}, .4, true},
		{"the least, of what is to stay below", below, []*meter.Seen{{Value: .2, Least: p(.1), Most: p(.3)}, {Value: .2, Least: p(.4), Most: p(.4)}}, .1, true},
		{"what the verdict keeps", of, []*meter.Seen{{Value: .2, Least: p(.1), Most: p(.3), Weighed: p(.15)}}, .15, true},
		{"scaled", of, []*meter.Seen{{Value: .4, Least: p(.3), Most: p(.3)}}, .15, true},
	} {
		var lines []meter.Line
		for _, s := range x.lines {
			l := meter.Line{Compared: map[string]*meter.Seen{}}
			if s != nil {
				l.Compared[x.t.Name] = s
			}
			lines = append(lines, l)
		}
		got, ok := figureOf(lines, x.t)
		if ok != x.ok || math.IsNaN(got) != math.IsNaN(x.want) || math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s: %g %v, want %g %v", x.about, got, ok, x.want, x.ok)
		}
	}
}

// TestMeasure measures two recordings.
func TestMeasure(t *testing.T) {
	k := causes.Causes[1]
	of := func(cause string, figure float64, supported bool) meter.Line {
		return meter.Line{Cause: cause, Supported: supported, Compared: map[string]*meter.Seen{check.Material.Name: {Value: .25, Weighed: &figure}}}
	}
	all := []*recording{
		{name: "sick", sick: []string{k.ID}, untold: func(string) bool { return false }, lines: []meter.Line{of(k.ID, .1, false), of(k.ID, .6, true)}},
		{name: "other", sick: []string{"go.forced-gc"}, untold: func(cause string) bool { return cause == "linux.swap" }, lines: []meter.Line{of(k.ID, .24, false), of("linux.swap", .9, true)}},
	}
	m := measureMargins(all, map[string]bool{check.Material.Name: true})
	if m.Recordings != 2 || m.Sick != 2 || len(m.Margins) != 2 || m.Margins[1].Cause != k.ID {
		t.Fatalf("%+v", m)
	}
	x := m.Margins[0] // of all causes
	if x.Cause != "" || x.With.Count != 1 || *x.With.Least != .6 || x.With.Reached != 1 || x.Without.Count != 1 || *x.Without.Most != .24 || x.Without.Reached != 0 || x.Near != 1 {
		t.Errorf("%+v", x)
	}
}
