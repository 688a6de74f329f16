package lab

import (
	"fmt"
	"slices"
	"strings"
)

// setting in the environment of a variant stands for what the diagnosis of the
// sick variant advised.
const setting = "{setting}"

func needsAdvice(v Variant) bool { return slices.Contains(v.Env, setting) }

// startAdvised starts a variant with the setting that was advised, as given.
func (s *Stand) startAdvised(v Variant, bins map[string]string) error {
	advice := s.out.Result(s.Sick).advice()
	if advice == "" {
		s.warnf("%s: the diagnosis of %s advised no setting: not measured", v.Name, s.Sick)
		return nil
	}
	env := slices.Clone(v.Env)
	i := slices.Index(env, setting)
	v.Env = slices.Replace(env, i, i+1, strings.Fields(advice)...)
	v.About = fmt.Sprintf("as advised: %s", advice)
	one, err := s.start(v, bins)
	if err != nil {
		return err
	}
	s.Services = append(s.Services, one)
	s.say("warming up %s: %s", v.Name, v.About)
	if err := s.follow(one); err != nil {
		return err
	}
	return s.warm(one)
}

// advice is the setting of the first fix of what was found first.
func (r *Result) advice() string {
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

// predictions holds what the diagnosis of the sick variant predicted against what
// was measured of the one that got its advice.
func (o *Outcome) predictions(sick, advised string) {
	before, after := o.Result(sick), o.Result(advised)
	if before == nil || after == nil || before.Diagnosis == nil || len(before.Found) == 0 {
		return
	}
	for _, p := range before.Diagnosis.Verdicts[0].Prediction {
		out := Prediction{Metric: p.Metric, Unit: p.Unit, Variant: advised, Predicted: p.Then, Measured: after.measured(p.Metric)}
		if out.Predicted != nil && out.Measured != nil && *out.Measured != 0 {
			e := *out.Predicted / *out.Measured - 1
			out.RelativeError = &e
		}
		o.Predictions = append(o.Predictions, out)
	}
}

// measured is what came of a metric that was predicted, nil if it was not
// measured.
func (r *Result) measured(metric string) *float64 {
	f := r.figures
	switch {
	case metric == "gc cycles" && f != nil:
		return &f.cycles
	case metric == "heap at its peak" && f != nil && f.heapPeak > 0:
		return &f.heapPeak
	case strings.HasPrefix(metric, "p99") && r.Diagnosis != nil && r.Diagnosis.Requests != nil:
		return r.Diagnosis.Requests.P99Ms
	}
	return nil
}
