package diagnose

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// TestContradictions: each kind of contradiction is found, and what only looks like one is not.
func TestContradictions(t *testing.T) {
	num := stats.FiniteOrNil
	d := func(change func(*Diagnosis)) []string {
		x := &Diagnosis{Outcome: NothingFound, RankedBy: "request_time",
			Requests: &Requests{Count: 10, LedgerCount: 10, Slow: 2, SlowTotalMs: 100, P50Ms: num(1), P99Ms: num(60), P999Ms: num(60), SlowThresholdMs: num(30), Source: "log", LedgerSource: "trace"},
			Ledger:   []Entry{{Subject: "shop", Mechanism: "pool", SlowMs: 75}, {Subject: "shop", Mechanism: "own", SlowMs: 25}},
		}
		change(x)
		return x.Contradictions()
	}
	pools := func(summary string) func(*Diagnosis) {
		return func(d *Diagnosis) {
			d.Verdicts = []Verdict{{Cause: "service.pool-exhausted", Subject: "shop", Verdict: check.RuledOut, Summary: summary}}
		}
	}
	for name, c := range map[string]struct {
		change func(*Diagnosis)
		want   string // "": nothing
	}{
		"nothing":                 {func(*Diagnosis) {}, ""},
		"range below the figure":  {func(d *Diagnosis) { d.Ledger[0].Low, d.Ledger[0].High = num(1), num(9) }, "not between"},
		"range around the figure": {func(d *Diagnosis) { d.Ledger[0].Low, d.Ledger[0].High = num(60), num(75) }, ""},
		"prediction outside": {func(d *Diagnosis) {
			d.Verdicts = []Verdict{{Prediction: []Prediction{{Then: num(5), Low: num(6), High: num(7)}}}}
		}, "not between"},
		"denied":          {pools("no slow request waited for pools"), "is ruled out as"},
		"denied in part":  {pools("2.6 % of slow time is waiting for pools (2.6 ms)"), "is ruled out as"},
		"said":            {pools("75 % of slow time is waiting for pools (75 ms), while the holders were waiting for a dependency (88 % of that)"), ""},
		"said of another": {pools("75 % of slow time is waiting for queue of main.(*keeper).loop, which serves one after the other"), ""},
	} {
		got := strings.Join(d(c.change), "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
