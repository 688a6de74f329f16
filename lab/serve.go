package lab

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Serve builds and starts variants of a lab side by side, each warmed up as its lab demands, and calls do, which may
// examine them without a diagnosis. They end when do returns. All of them share the settings of the host;
// variants with different settings cannot run side by side.
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

// Demand returns the load that a service is diagnosed under; if the load needs it, the service is warmed up first.
func (s *Stand) Demand(one *Service) (Demand, error) { return s.load.diagnosisDemand(one) }

// calmPart is the part of a load that Calm sends.
const calmPart = .05

// Calm puts little load on a service: a part of its rate, or one client of a closed loop.
func (s *Stand) Calm(ctx context.Context, one *Service, d Demand, lasts time.Duration) error {
	if d.Rate == 0 {
		_, err := s.Drive(ctx, one, Demand{Connections: 1, For: lasts})
		return err
	}
	_, err := s.Drive(ctx, one, Demand{Rate: calmPart * d.Rate, For: lasts, Patience: d.Patience})
	return err
}
