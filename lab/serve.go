package lab

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Serve builds what variants of a lab need, starts them side by side, each warmed up as its lab has it, and
// calls do: for who looks at them in another way than by a diagnosis. They end when do has returned. The host is as all of
// them want it; variants that want it in different ways cannot run side by side.
func Serve(ctx context.Context, l *Lab, opt Options, variants []string, do func(*Stand) error) error {
	opt.Only = variants
	s, err := newStand(ctx, l, opt)
	if err != nil {
		return err
	}
	first := s.variants[0]
	for _, v := range s.variants {
		if !slices.Equal(v.Host, first.Host) || !slices.Equal(v.Beside, first.Beside) {
			return fmt.Errorf("lab %s: %s and %s want different hosts", l.Name, first.Name, v.Name)
		}
	}
	return s.runServices(func() error { return s.withHost(first, func() error { return s.serveVariants(variants, do) }) })
}

func (s *Stand) serveVariants(variants []string, do func(*Stand) error) error {
	for _, name := range variants {
		v, _ := s.Variant(name)
		if err := s.load.admitVariant(v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if s.Service(name) != nil {
			continue
		}
		one, err := s.startService(v)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.Services = append(s.Services, one)
	}
	return do(s)
}

// Demand is the load that a service is diagnosed under; where that takes it, it is warmed up before.
func (s *Stand) Demand(one *Service) (Demand, error) { return s.load.diagnosisDemand(one) }

// calmPart is what is left of a load when little is asked for.
const calmPart = .05

// Calm asks little of a service: a part of its load, or of clients who wait for each other one.
func (s *Stand) Calm(ctx context.Context, one *Service, d Demand, lasts time.Duration) error {
	if d.Rate == 0 {
		_, err := s.Drive(ctx, one, Demand{Connections: 1, For: lasts})
		return err
	}
	_, err := s.Drive(ctx, one, Demand{Rate: calmPart * d.Rate, For: lasts, Patience: d.Patience})
	return err
}
