package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/unstall/unstall/internal/base/units"
)

// SLO is the limit that the service must keep.
type SLO struct {
	P99      time.Duration
	Achieved float64 // answers per request offered; 0: .95
}

// KneeOptions say how the search goes. Zero values are defaults.
type KneeOptions struct {
	Start     float64       // the first rate; 0: the plan's, else 100/s
	Step      time.Duration // of each try; 0: 5 s
	Hold      time.Duration // of each confirmation; 0: twice a step
	Precision float64       // of the rate; 0: 5 %
	Confirm   int           // how often the rate must hold; 0: 3

	// Tried is called as each try ends.
	Tried func(KneeStep)
	// Run makes the requests; nil: [Run].
	Run func(context.Context, Plan) (*Result, error)
}

// KneeStep is one rate that was tried.
type KneeStep struct {
	Phase    string   `json:"phase"` // double | bisect | confirm
	Rate     float64  `json:"rate"`
	P99      *float64 `json:"p99_ms"`
	Achieved *float64 `json:"achieved"`
	Failed   int64    `json:"failed"`
	Kept     bool     `json:"kept"` // the SLO
	Limited  bool     `json:"generator_limited"`
}

// KneeResult is the result of the search.
type KneeResult struct {
	Schema string     `json:"schema"` // unstall.knee/v1
	URL    string     `json:"url"`
	SLO    float64    `json:"slo_p99_ms"`
	Rate   *float64   `json:"rate"` // the highest that was kept and confirmed; null: none
	Why    string     `json:"why"`  // the search ended
	Steps  []KneeStep `json:"steps"`

	// GeneratorLimited says that the service may be able to do more.
	GeneratorLimited bool `json:"generator_limited"`
}

// Knee looks for the highest rate at which p99 keeps the SLO and at least .95
// of what is offered is answered: it doubles the rate until that fails, bisects,
// and then holds the rate found, three times in a row; each failure to hold takes
// a step back. A request counts as answered with 2xx or 3xx only.
func Knee(ctx context.Context, p Plan, slo SLO, o KneeOptions) (*KneeResult, error) {
	if slo.P99 <= 0 {
		return nil, planError("--slo %s: give a p99 above zero, such as 50ms", slo.P99)
	}
	if p.Mode != Open {
		return nil, planError("--knee searches for a rate: leave out --connections")
	}
	if o.Start == 0 {
		o.Start = p.Rate
	}
	if o.Start == 0 {
		o.Start = 100
	}
	if o.Start < 0 || o.Start > maxRate {
		return nil, planError("rate %g: give requests per second above zero", o.Start)
	}
	if o.Step == 0 {
		o.Step = 5 * time.Second
	}
	if o.Hold == 0 {
		o.Hold = 2 * o.Step
	}
	if o.Precision == 0 {
		o.Precision = .05
	}
	if o.Confirm == 0 {
		o.Confirm = 3
	}
	if slo.Achieved == 0 {
		slo.Achieved = .95
	}
	if o.Run == nil {
		o.Run = func(ctx context.Context, p Plan) (*Result, error) { return Run(ctx, p, nil) }
	}
	p.Pattern, p.Requests = nil, 0
	if p.Timeout == 0 {
		p.Timeout = max(2*time.Second, 10*slo.P99)
	}
	k := &kneeSearch{ctx: ctx, plan: p, slo: slo, o: o, result: &KneeResult{Schema: "unstall.knee/v1", URL: p.URL, SLO: float64(slo.P99) / 1e6}}
	err := k.findRate()
	return k.result, err
}

type kneeSearch struct {
	ctx    context.Context
	plan   Plan
	slo    SLO
	o      KneeOptions
	result *KneeResult
}

func (k *kneeSearch) findRate() error {
	good, bad, limited := 0.0, math.Inf(1), false
	for rate := k.o.Start; ; {
		s, err := k.tryRate("double", rate, k.o.Step)
		if err != nil {
			return err
		}
		if s.Kept {
			good = rate
			if rate *= 2; rate > maxRate {
				bad, limited = good, true // a generator's limit, too
			}
			if rate >= bad {
				break
			}
			continue
		}
		bad, limited = rate, s.Limited
		if good > 0 {
			break
		}
		if rate /= 2; rate < 1 {
			k.result.Why = "not even 1 request per second keeps it"
			return nil
		}
	}
	for bad-good > k.o.Precision*good {
		s, err := k.tryRate("bisect", (good+bad)/2, k.o.Step)
		if err != nil {
			return err
		}
		if s.Kept {
			good = s.Rate
		} else {
			bad, limited = s.Rate, s.Limited
		}
	}
	beyond := limited // the generator's limit, not the service's, ended the search upwards
	limited = false
	for held := 0; held < k.o.Confirm; {
		s, err := k.tryRate("confirm", good, k.o.Hold)
		if err != nil {
			return err
		}
		if s.Kept {
			held++
			continue
		}
		if s.Limited && !limited { // another program may have slowed the generator: try once more
			limited = true
			continue
		}
		held, limited = 0, false
		if good *= 1 - k.o.Precision; good < 1 {
			k.result.Why = "no rate was kept when held longer"
			return nil
		}
	}
	k.result.Rate, k.result.GeneratorLimited = &good, beyond
	k.result.Why = "above it p99 is higher"
	if beyond {
		k.result.Why = "above it the generator cannot keep its schedule: the service may be able to do more"
	}
	return nil
}

func (k *kneeSearch) tryRate(phase string, rate float64, d time.Duration) (KneeStep, error) {
	p := k.plan
	rate = math.Round(rate*10) / 10
	p.Rate, p.Duration = rate, d
	s := KneeStep{Phase: phase, Rate: rate}
	r, err := k.o.Run(k.ctx, p)
	if k.ctx.Err() != nil {
		k.result.Why = "it was interrupted"
		return s, k.ctx.Err()
	}
	if err != nil {
		return s, err
	}
	s.P99, s.Limited, s.Failed = r.Latency.P99, r.GeneratorLimited, r.Errors+r.Unfinished
	if s.P99 == nil {
		s.P99 = r.Latency.Max // too few requests for a p99: the highest decides
	}
	if r.Achieved != nil && r.Completed > 0 {
		good := *r.Achieved * float64(r.Codes.Success+r.Codes.Redirection) / float64(r.Completed)
		s.Achieved = &good
	}
	s.Kept = s.P99 != nil && *s.P99 <= float64(k.slo.P99)/1e6 && s.Achieved != nil && *s.Achieved >= k.slo.Achieved
	// Latencies include the generator's lag: a rate that keeps the SLO keeps it without the lag, too; one that does not may fail by the lag.
	k.result.Steps = append(k.result.Steps, s)
	if k.o.Tried != nil {
		k.o.Tried(s)
	}
	return s, nil
}

// Line is the step in one line.
func (s KneeStep) Line() string {
	verdict := "kept"
	switch {
	case !s.Kept && s.Limited:
		verdict = "not kept; the generator did not keep its schedule either"
	case !s.Kept:
		verdict = "not kept"
	}
	achieved := units.Unknown
	if s.Achieved != nil {
		achieved = units.Num(*s.Achieved * 100)
	}
	return fmt.Sprintf("%-7s %10s/s  p99 %10s  achieved %5s %%  %s", s.Phase, units.Num(s.Rate), formatDuration(s.P99), achieved, verdict)
}

// JSON writes the result as a document.
func (r *KneeResult) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Text writes the result in a line.
func (r *KneeResult) Text(w io.Writer) error {
	if r.Rate == nil {
		_, err := fmt.Fprintf(w, "no rate keeps p99 ≤ %s: %s\n", units.Ms(r.SLO), r.Why)
		return err
	}
	_, err := fmt.Fprintf(w, "%s requests/s is the highest rate that keeps p99 ≤ %s; %s\n", units.Num(*r.Rate), units.Ms(r.SLO), r.Why)
	return err
}
