package lab

import (
	"context"
	"fmt"

	"github.com/unstall/unstall/load"
)

// served is the part of the offered load that must be answered: below, a queue
// grows for as long as the load lasts.
const served = .95

// holds says whether a service keeps the SLO at a rate.
func (s *Stand) holds(ctx context.Context, one *Service, rate float64) (bool, Delivered, error) {
	s.quiet()
	d, err := s.Drive(ctx, one, Demand{Rate: rate, For: s.Sizes.Hold, Seed: s.out.Plan.Seed})
	if err != nil {
		return false, d, err
	}
	ok := d.Achieved >= served*d.Offered && d.P99 <= s.out.Plan.SLOMs && d.Failed == 0
	s.say("%s at %.0f requests/s: p99 %.1f ms, %.1f %% answered in time", one.Variant.Name, rate, d.P99, 100*d.Achieved/d.Offered)
	return ok, d, nil
}

// bracket looks whether the knee is where the peak's share puts it: at the rate of
// which the peak is four fifths the SLO must be kept, at that of which it is three
// fifths it need not be.
func (s *Stand) bracket(one *Service) error {
	low, high := s.Sizes.Peak/Share[1], s.Sizes.Peak/Share[0]
	p := &s.out.Plan
	for _, rate := range []float64{low, high} {
		ok, _, err := s.holds(s.ctx, one, rate)
		if err != nil {
			return err
		}
		if !ok {
			p.KneeHigh = &rate
			break
		}
		p.KneeLow = &rate
	}
	return nil
}

// search finds the knee and moves the peak to where its share of it must be.
func (s *Stand) search(one *Service) error {
	p := &s.out.Plan
	k, err := load.Knee(s.ctx, s.plan(one, Demand{Rate: s.Sizes.Peak, For: s.Sizes.Hold, Seed: p.Seed}), load.SLO{P99: s.SLO, Achieved: served},
		load.KneeOptions{Start: s.Sizes.Peak, Step: s.Sizes.Hold,
			Tried: func(step load.KneeStep) { s.say("%s", step.Line()) },
			Run: func(ctx context.Context, p load.Plan) (*load.Result, error) {
				s.quiet()
				return load.Run(ctx, p, nil)
			}})
	if err != nil {
		return err
	}
	if k.Rate == nil {
		return fmt.Errorf("%s keeps its SLO of %v at no rate: %s: is this host busy?", one.Variant.Name, s.SLO, k.Why)
	}
	p.Knee = k.Rate
	s.say("the knee of %s is %.0f requests/s", one.Variant.Name, *k.Rate)
	peak := min(max(s.Sizes.Peak, rounded(Share[0]**k.Rate)), rounded(Share[1]**k.Rate))
	if peak != s.Sizes.Peak {
		s.warnf("the storm is %.0f requests/s instead of %.0f: it must be %.0f to %.0f %% of the knee", peak, s.Sizes.Peak, 100*Share[0], 100*Share[1])
		s.Sizes.Peak, p.Peak, p.Base = peak, peak, peak/s.Sizes.Spike
		for _, one := range s.Services {
			if err := s.follow(one); err != nil {
				return err
			}
			if !one.Variant.Compared {
				continue
			}
			if err := s.warm(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow makes a service's size follow a storm that was moved; it is to be warmed up
// again then.
func (s *Stand) follow(one *Service) error {
	if s.Follow == nil || s.Sizes.Peak == s.Full.Peak {
		return nil
	}
	if err := s.Follow(s, one); err != nil {
		return fmt.Errorf("%s: %w", one.Variant.Name, err)
	}
	return nil
}

// kneeCheck says whether the peak lies where it must.
func (o *Outcome) kneeCheck() Check {
	c := Check{Name: "peak ÷ knee of the fixed variant", Unit: "1", Asked: fmt.Sprintf("%.1f–%.1f", Share[0], Share[1])}
	p := o.Plan
	share := func(knee *float64) *float64 {
		if knee == nil {
			return nil
		}
		v := p.Peak / *knee
		return &v
	}
	c.Got, c.Low, c.High = share(p.Knee), share(p.KneeHigh), share(p.KneeLow)
	switch {
	case c.Got != nil:
		c.OK = *c.Got >= Share[0]-.005 && *c.Got <= Share[1]+.005
	case c.Low != nil && c.High != nil:
		c.OK = true
	case c.High != nil:
		c.Why = "the knee is higher: the storm is a smaller part of what the fixed variant can do"
	default:
		c.Why = "the knee is lower: the storm is a larger part of what the fixed variant can do"
	}
	c.Told = true
	return c
}
