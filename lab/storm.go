package lab

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/operate/compare"
)

// Storm is an open loop: clients do not wait for each other, and their rate suddenly becomes many
// times as high. All services are resident and warmed up, and one at a time is under
// load.
type Storm struct {
	Peak  float64       // requests/s of the storm
	Spike float64       // the storm is that many times the load before it
	Base  time.Duration // before the storm
	For   time.Duration

	SLO  time.Duration // that the p99 must keep at the knee
	Warm time.Duration // longest time until a variant reaches its plateau
	Hold time.Duration // how long a rate must be kept to count as below the knee

	// Follow, if not nil, changes the size of a service when the storm had to be moved to
	// keep its share of the knee.
	Follow func(*Stand, *Service) error
}

// Share is the range that the peak must be in, as parts of the fixed variant's
// knee.
var Share = [2]float64{.6, .8}

// storming is a storm on a stand; its peak may have moved.
type storming struct {
	Storm
	*Stand
	moved bool
}

func (l Storm) newLoading(s *Stand) loading {
	slo := float64(l.SLO.Microseconds()) / 1e3
	storm := l.For.Seconds()
	s.out.Plan.SLOMs, s.out.Plan.StormS = &slo, &storm
	t := &storming{Storm: l, Stand: s}
	t.publishRates()
	return t
}

// publishRates writes the rates into the outcome.
func (t *storming) publishRates() {
	peak, base := t.Peak, t.Peak/t.Spike
	t.out.Plan.Peak, t.out.Plan.Base = &peak, &base
}

func (t *storming) isResident(Variant) bool { return true }

// admitVariant starts a service and warms it up.
func (t *storming) admitVariant(v Variant) error {
	one, err := t.startService(v)
	if err != nil {
		return err
	}
	t.Services = append(t.Services, one)
	t.reportProgress("warming up %s: %s", v.Name, v.About)
	if err := t.followStorm(one); err != nil {
		return err
	}
	return t.warmToPlateau(one)
}

// prepareLoad measures how much load the fixed variant can serve, and moves the peak to its share of
// that.
func (t *storming) prepareLoad() error {
	one := t.Service(t.Fixed)
	if one == nil {
		return nil
	}
	t.reportProgress("looking for the knee of %s: the highest rate at which its p99 is within %v", t.Fixed, t.SLO)
	return t.searchKnee(one)
}

func (t *storming) diagnosisDemand(one *Service) (Demand, error) {
	v := one.Variant
	if v.Overload > 0 {
		most, err := t.Drive(t.ctx, one, Demand{For: t.Hold})
		if err != nil {
			return Demand{}, err
		}
		t.reportProgress("%s serves %.0f requests/s at most", v.Name, most.Achieved)
		return Demand{Rate: v.Overload * most.Achieved}, nil
	}
	return Demand{Rate: t.diagnosisRate(one)}, nil
}

// diagnosisRate returns the rate that a variant is diagnosed under, requests/s.
func (t *storming) diagnosisRate(one *Service) float64 {
	if r := one.Variant.Rate; r > 0 {
		return r
	}
	return t.Peak
}

// measureRun makes one run: a base load, then many times as much. The figures are of the
// storm.
func (t *storming) measureRun(one *Service, block int) (Measured, compare.Load, error) {
	var from state
	var failed error
	r := Measured{Variant: one.Variant.Name, Block: block + 1}
	delivered, err := t.Drive(t.ctx, one, Demand{
		Before: t.Base, Base: t.Peak / t.Spike, Rate: t.Peak, For: t.For,
		Seed: t.out.Plan.Seed + uint64(block), // the same arrivals for all variants of a block
		Storm: func() {
			r.Start = time.Now()
			from, failed = t.takeState(one)
		},
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return r, compare.Load{}, err
	}
	until, err := t.takeState(one)
	if err != nil {
		return r, compare.Load{}, err
	}
	r.Metrics = t.Runtime.figuresBetween(from, until)
	r.Metrics["p50_ms"], r.Metrics["p90_ms"], r.Metrics["p99_ms"] = delivered.P50, delivered.P90, delivered.P99
	r.Metrics["rate"] = delivered.Achieved
	r.Offered, r.Achieved, r.Limited = &delivered.Offered, delivered.Achieved, delivered.Limited
	r.Others = until.othersShare(from.usage, from.secondsUntil(until))
	return r, compare.Load{URL: one.operation, Mode: "open", LatencyFrom: "intended", Offered: delivered.Offered, Rate: delivered.Achieved,
		Duration: t.For, Sent: delivered.Sent, Failed: delivered.Failed, Others: &r.Others, Limited: delivered.Limited}, nil
}

func (t *storming) loadChecks() []Check { return []Check{t.out.kneeCheck()} }

// keepsUp is the part of the offered load that must be answered: with less, a queue
// grows as long as the load lasts.
const keepsUp = .95

// searchKnee finds the knee and moves the peak to its share of the knee.
func (t *storming) searchKnee(one *Service) error {
	p := &t.out.Plan
	k, err := load.Knee(t.ctx, t.loadPlan(one, Demand{Rate: t.Peak, For: t.Hold, Seed: p.Seed}), load.SLO{P99: t.SLO, Achieved: keepsUp},
		load.KneeOptions{Start: t.Peak, Step: t.Hold,
			Tried: func(step load.KneeStep) { t.reportProgress("%s", step.Line()) },
			Run: func(ctx context.Context, p load.Plan) (*load.Result, error) {
				t.awaitQuiet()
				return load.Run(ctx, p, nil)
			}})
	if err != nil {
		return err
	}
	if k.Rate == nil {
		return fmt.Errorf("%s keeps its SLO of %v at no rate: %s: is this host busy?", one.Variant.Name, t.SLO, k.Why)
	}
	p.Knee = k.Rate
	t.reportProgress("the knee of %s is %.0f requests/s", one.Variant.Name, *k.Rate)
	peak := min(max(t.Peak, roundRate(Share[0]**k.Rate)), roundRate(Share[1]**k.Rate))
	if peak == t.Peak {
		return nil
	}
	t.addWarning("the storm is %.0f requests/s instead of %.0f: it must be %.0f to %.0f %% of the knee", peak, t.Peak, 100*Share[0], 100*Share[1])
	t.Peak, t.moved = peak, true
	t.publishRates()
	for _, one := range t.Services {
		if err := t.followStorm(one); err != nil {
			return err
		}
		if !one.Variant.Compared {
			continue
		}
		if err := t.warmToPlateau(one); err != nil {
			return err
		}
	}
	return nil
}

// roundRate rounds a rate to a multiple of 10, as people write rates.
func roundRate(v float64) float64 { return math.Round(v/10) * 10 }

// followStorm changes a service's size after the storm was moved; the service must then be warmed up
// again.
func (t *storming) followStorm(one *Service) error {
	if t.Follow == nil || !t.moved {
		return nil
	}
	if err := t.Follow(t.Stand, one); err != nil {
		return fmt.Errorf("%s: %w", one.Variant.Name, err)
	}
	return nil
}

// kneeCheck checks that the peak is within its share of the knee.
func (o *Outcome) kneeCheck() Check {
	c := Check{Name: "peak ÷ knee of the fixed variant", Unit: "1", Asked: fmt.Sprintf("%.1f–%.1f", Share[0], Share[1])}
	p := o.Plan
	if p.Knee == nil {
		c.Why = "the knee is not known"
	} else {
		share := *p.Peak / *p.Knee
		c.Got, c.OK = &share, share >= Share[0]-.005 && share <= Share[1]+.005
	}
	c.Told = true
	return c
}
