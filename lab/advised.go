package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/operate/compare"
)

// setting in the environment or the flags of a variant stands for what the diagnosis
// of the sick variant advised.
const setting = "{setting}"

func needsAdvice(v Variant) bool {
	return slices.Contains(v.Env, setting) || slices.Contains(v.Flags, setting)
}

// takeAdvice gives a variant the advised setting unchanged; it returns false if there
// was no advice.
func (s *Stand) takeAdvice(v *Variant) bool {
	advice := s.out.Result(s.Sick).advisedSetting()
	if advice == "" {
		s.addWarning("%s: the diagnosis of %s advised no setting: not measured", v.Name, s.Sick)
		return false
	}
	v.Env, v.Flags = insertAdvice(v.Env, advice), insertAdvice(v.Flags, advice)
	v.About = fmt.Sprintf("as advised: %s", advice)
	return true
}

// insertAdvice replaces the placeholder in words by the advice.
func insertAdvice(words []string, advice string) []string {
	i := slices.Index(words, setting)
	if i < 0 {
		return words
	}
	return slices.Replace(slices.Clone(words), i, i+1, strings.Fields(advice)...)
}

// advisedSetting returns the setting of the first fix of the first cause found, "" if there is
// none.
func (r *Result) advisedSetting() string {
	if r == nil || r.Diagnosis == nil || len(r.Found) == 0 {
		return ""
	}
	for _, f := range r.Diagnosis.Verdicts[0].Fix {
		if f.Setting != "" {
			return f.Setting
		}
	}
	return ""
}

// comparePredictions compares what the diagnosis of the sick variant predicted with what was
// measured of the variant that got its advice.
func (o *Outcome) comparePredictions(sick, advised string) {
	before, after := o.Result(sick), o.Result(advised)
	if before == nil || after == nil || before.Diagnosis == nil || len(before.Found) == 0 {
		return
	}
	for _, p := range before.Diagnosis.Verdicts[0].Prediction {
		out := Prediction{Metric: p.Metric, Unit: p.Unit, Variant: advised, Predicted: p.Then, Measured: o.measuredValue(after, p.Metric)}
		if out.Predicted != nil && out.Measured != nil && *out.Measured != 0 {
			e := *out.Predicted / *out.Measured - 1
			out.RelativeError = &e
		}
		o.Predictions = append(o.Predictions, out)
	}
}

// Predicted returns what the first verdict of a variant's diagnosis predicts of a metric; it is empty
// without a prediction.
func (o *Outcome) Predicted(variant, metric string) (p check.Prediction) {
	if r := o.Result(variant); r != nil && r.Diagnosis != nil && len(r.Found) > 0 {
		for _, p := range r.Diagnosis.Verdicts[0].Prediction {
			if p.Metric == metric {
				return p
			}
		}
	}
	return p
}

// Measured returns the measured value of a metric in a variant, nil where it was not measured.
func (o *Outcome) Measured(variant, metric string) *float64 {
	if r := o.Result(variant); r != nil {
		return o.measuredValue(r, metric)
	}
	return nil
}

// measuredValue returns the measured value of a metric that was predicted, nil if it was not
// measured: by the variant's capture, else over its runs, else by its diagnosis.
func (o *Outcome) measuredValue(r *Result, metric string) *float64 {
	if v, ok := r.figures[metric]; ok {
		return &v
	}
	for _, m := range compare.Metrics {
		if m.Title != metric {
			continue
		}
		if runs := o.Of(r.Name, m.Name); len(runs) > 0 {
			v := stats.Median(runs)
			return &v
		}
	}
	if q := r.Diagnosis; strings.HasPrefix(metric, "p99") && q != nil && q.Requests != nil {
		return q.Requests.P99Ms
	}
	return nil
}
