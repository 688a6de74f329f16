package lab

import (
	"bytes"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/compare"
)

// TestHTML checks that the page of a lab has the diagnosis of the sick variant first, then
// the results.
func TestHTML(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	d := &diagnose.Diagnosis{Verdicts: []diagnose.Verdict{{Cause: "go.gc-rate", Verdict: "supported", Title: "The collector runs too often."}}}
	o := &Outcome{Lab: "<fake>", Plan: Plan{Connections: new(int), RunS: n(10)}, Host: Host{CPUs: 2, Toolchain: "go1.26"}, Variants: []Result{
		{Name: "sick", Found: []string{"go.gc-rate"}, Expected: Expected{First: "go.gc-rate"}, Diagnosis: d, OK: true},
		{Name: "twin", About: "<b>looks alike</b>", Expected: Expected{NoneOf: []string{"go.gc-rate"}}, OK: true},
		{Name: "fixed", About: "with a limit", Diagnosis: &diagnose.Diagnosis{}, OK: true}},
		Comparisons: []*compare.Comparison{{Before: "sick", After: "other"}, {Before: "sick", After: "fixed"}},
		Predictions: []Prediction{{Metric: "gc cycles", Unit: "1/s", Variant: "advised", Predicted: n(.5), Measured: n(.4), RelativeError: n(.25)}},
		Checks: []Check{{Name: "p99 of the fixed one", Asked: "better", Got: n(-.5), Article: n(-.45), change: true, OK: true},
			{Name: "cores", Asked: "1–2", Why: "it was not measured"}},
		Warnings: []string{"others were busy"}}
	var b bytes.Buffer
	if err := HTML(&b, o, &Lab{Sick: "sick", Fixed: "fixed"}, "unstall-lab run fake"); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, text := range []string{"lab &lt;fake&gt;", ">The collector runs too often.", "sick → fixed", "sick → other", ">Predicted and measured</h2>", "&#43;25.0 %", ">Asked for</h2>", "−45.0 %", "MISSED", "it was not measured",
		">All variants</h2>", "go.gc-rate first", "&lt;b&gt;looks alike", "others were busy", "fixed: with a limit"} {
		at := strings.Index(page, text)
		if at < 0 {
			t.Errorf("%q is not in the page, or not after what comes before it", text)
			continue
		}
		page = page[at:]
	}
	if got := strings.Count(b.String(), "<h1"); got != 1 {
		t.Errorf("%d main headings, want 1", got)
	}
}
