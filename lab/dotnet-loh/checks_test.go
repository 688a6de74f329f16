package dotnetloh

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/lab"
)

// TestPredicted compares a prediction with the measurement by the decrease; an unknown value is a miss.
func TestPredicted(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		then, measured *float64
		ok             bool
		why            string
	}{
		{n(.03), n(.001), true, ""},
		{n(.15), n(.001), false, ""},
		{n(.001), n(.1), false, ""},
		{nil, n(.001), false, "not predicted"},
		{n(.03), nil, false, "not measured"},
	} {
		v := diagnose.Verdict{Cause: churn, Verdict: check.Supported}
		v.Prediction = []check.Prediction{{Metric: "slow requests", Unit: "1", Now: n(.25), Then: tt.then}}
		o := &lab.Outcome{Variants: []lab.Result{{Name: sick, Found: []string{churn}, Diagnosis: &diagnose.Diagnosis{Verdicts: []diagnose.Verdict{v}}}, {Name: fixed}}}
		if tt.measured != nil {
			o.Runs = []lab.Measured{{Variant: fixed, Block: 1, Metrics: map[string]float64{"slow_share": *tt.measured}}}
		}
		c := predictionChecks(o)[0]
		if c.OK != tt.ok || !strings.Contains(c.Why, tt.why) || (c.Got == nil) != (tt.why != "") {
			t.Errorf("then %v, measured %v: %+v", tt.then, tt.measured, c)
		}
	}
}
