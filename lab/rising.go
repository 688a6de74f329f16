package lab

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/operate/compare"
)

// Rising is an open loop that rises from one rate to another and stays there:
// callers do not wait for each other. Only the compared services are resident;
// each is warmed up before its first load.
type Rising struct {
	Base, Peak        float64       // requests/s
	Warm              time.Duration // by some closed-loop clients
	Before, Ramp, For time.Duration // at the base rate, on the way to the peak, at the peak

	// SLO is the latency objective of a request, after which its caller gives up.
	SLO time.Duration
	// Patience is how long callers wait here, so that the lab measures what callers that give
	// up at the SLO miss. To the service it is the same: it notices that a caller gave up
	// only when it has the answer.
	Patience time.Duration

	// Between are two variants whose knees are searched: the peak must lie above the
	// first's and below the second's, and is moved there if this host differs.
	Between   [2]string
	Hold      time.Duration // how long a rate must be kept to count as below the knee
	Confirm   int           // how often
	Precision float64       // of the knees

	// Work is the CPU time of a request of the fixed variant on the host for which the peak and the objective were chosen. On
	// a host where it takes longer, the peak is lower, and the objective and the time at the peak are longer in proportion,
	// so that as many requests come and as many collections run. 0: they are as they are.
	Work time.Duration
}

// Distances from the knees, so that a queue grows soon, and neither by chance nor by the error of a knee. The incident's service was well at
// 80 requests/s and collapsed at 120; here, too, two thirds of the peak must be served well.
const (
	beyondKnee = 1.3
	belowKnee  = .9
)

// Knee is the highest rate at which a variant keeps the SLO.
type Knee struct {
	Variant string   `json:"variant"`
	Rate    *float64 `json:"rate"` // requests/s, null: none
	Why     string   `json:"why,omitempty"`
}

type rising struct {
	Rising
	*Stand
	warmed  []int         // PIDs
	planned time.Duration // the objective before it followed the host
}

func (l Rising) newLoading(s *Stand) loading {
	slo, lasts := float64(l.SLO.Microseconds())/1e3, l.For.Seconds()
	s.out.Plan.SLOMs, s.out.Plan.StormS = &slo, &lasts
	r := &rising{Rising: l, Stand: s, planned: l.SLO}
	s.out.Plan.Base, s.out.Plan.Peak = &r.Base, &r.Peak // prepareLoad may move them
	return r
}

// isResident reports whether a variant is compared, or lends its service to others at another
// rate.
func (l *rising) isResident(v Variant) bool {
	shared := slices.ContainsFunc(l.variants, func(other Variant) bool { return other.Of == v.Name })
	return v.Of == "" && (v.Compared || shared)
}

func (l *rising) admitVariant(v Variant) error {
	if !l.isResident(v) {
		return nil
	}
	one, err := l.startService(v)
	if err != nil {
		return err
	}
	l.Services = append(l.Services, one)
	return nil
}

// prepareLoad makes the load that of this host: it lowers the peak where requests work longer, or looks for the knees and
// moves the peak between them.
func (l *rising) prepareLoad() error {
	if l.Work > 0 {
		return l.followWork()
	}
	var knees [2]*float64
	for i, name := range l.Between {
		v, ok := l.Variant(name)
		if !ok {
			return nil
		}
		err := l.With(v, func(one *Service) (err error) {
			knees[i], err = l.findKnee(one)
			return err
		})
		if err != nil {
			return err
		}
	}
	if knees[0] == nil || knees[1] == nil {
		return nil // that is reported already
	}
	peak, low, high := l.peakBetween(*knees[0], *knees[1])
	if low > high {
		l.addWarning("there is no rate well above the knee of %s and well below that of %s", l.Between[0], l.Between[1])
	}
	if peak != l.Peak {
		l.addWarning("the peak is %.0f requests/s instead of %.0f, so that it lies between %.0f and %.0f: beyond the knee of %s and below that of %s",
			peak, l.Peak, low, high, l.Between[0], l.Between[1])
		l.Peak = peak
	}
	return nil
}

// fewSlower is how many times longer a request may work than on the host for which the peak was chosen.
const fewSlower = 1.05

// followWork lowers the peak, and lengthens it and the objective, where a request of the fixed variant works longer than the
// lab says. At half the peak requests hardly wait for each other.
func (l *rising) followWork() error {
	v, ok := l.Variant(l.Fixed)
	if !ok {
		return nil
	}
	return l.With(v, func(one *Service) error {
		if err := l.warmUp(one); err != nil {
			return err
		}
		l.awaitQuiet()
		before, err := l.takeState(one)
		if err != nil {
			return err
		}
		served, err := l.Drive(l.ctx, one, Demand{Rate: l.Peak / 2, For: l.For, Seed: l.out.Plan.Seed})
		if err != nil {
			return err
		}
		after, err := l.takeState(one)
		if err != nil {
			return err
		}
		if served.Sent == 0 {
			return nil
		}
		works := before.cpuSeconds(after) / float64(served.Sent)
		slower := works / l.Work.Seconds()
		l.reportProgress("a request of %s works for %.1f ms", l.Fixed, 1e3*works)
		if slower <= fewSlower {
			return nil
		}
		l.addWarning("a request of %s works %.2f times as long as planned: the peak is that much lower and lasts that much longer, and the objective is %.0f ms instead of %.0f", l.Fixed, slower, slower*float64(l.SLO.Milliseconds()), float64(l.SLO.Milliseconds()))
		l.Peak, l.Base = l.Peak/slower, l.Base/slower
		l.SLO, l.For = time.Duration(slower*float64(l.SLO)), time.Duration(slower*float64(l.For))
		*l.out.Plan.SLOMs, *l.out.Plan.StormS = float64(l.SLO.Microseconds())/1e3, l.For.Seconds()
		return nil
	})
}

// peakBetween returns the peak for two knees: the planned one, if it is well between
// them.
func (l Rising) peakBetween(first, second float64) (peak, low, high float64) {
	low, high = beyondKnee*first, belowKnee*second
	if l.Peak >= low && l.Peak <= high {
		return l.Peak, low, high
	}
	peak = max(min(l.Peak, high), low)
	if whole := roundRate(peak); whole >= low && whole <= high {
		peak = whole
	}
	return peak, low, high
}

func (l *rising) findKnee(one *Service) (*float64, error) {
	if err := l.warmUp(one); err != nil {
		return nil, err
	}
	l.reportProgress("looking for the knee of %s: the highest rate at which its p99 is within %v", one.Variant.Name, l.SLO)
	plan := l.loadPlan(one, Demand{Rate: l.Peak, For: l.Hold, Patience: l.Patience, Seed: l.out.Plan.Seed})
	k, err := load.Knee(l.ctx, plan, load.SLO{P99: l.SLO, Achieved: keepsUp}, load.KneeOptions{Start: l.Peak, Step: l.Hold, Confirm: l.Confirm, Precision: l.Precision,
		Tried: func(step load.KneeStep) { l.reportProgress("%s", step.Line()) },
		Run:   func(ctx context.Context, p load.Plan) (*load.Result, error) { return l.tryRate(ctx, one, p) }})
	if err != nil {
		return nil, err
	}
	found := Knee{Variant: one.Variant.Name, Rate: k.Rate}
	if k.Rate == nil {
		found.Why = k.Why
		l.addWarning("%s keeps its SLO of %v at no rate: %s", found.Variant, l.SLO, k.Why)
	} else {
		l.reportProgress("the knee of %s is %.0f requests/s", found.Variant, *k.Rate)
	}
	l.out.Knees = append(l.out.Knees, found)
	return k.Rate, nil
}

// tryRate makes one run of the search, and again if other programs disturbed it.
func (l *rising) tryRate(ctx context.Context, one *Service, p load.Plan) (*load.Result, error) {
	for attempt := 1; ; attempt++ {
		l.awaitQuiet()
		before, begin := usageOf(one.allPIDs()...), time.Now()
		r, err := load.Run(ctx, p, nil)
		if err != nil || attempt == attempts || l.patience <= 0 || usageOf(one.allPIDs()...).othersShare(before, time.Since(begin).Seconds()) < others {
			return r, err
		}
		l.reportProgress("other programs used the host during the run: trying again")
	}
}

// warming is how many clients warm a service up: they use all CPUs, so that code which is
// compiled late is compiled before the measurement.
const warming = 4

// warmUp lets a service compile its code.
func (l *rising) warmUp(one *Service) error {
	if slices.Contains(l.warmed, one.PID) {
		return nil
	}
	l.reportProgress("warming up %s: %s", one.Variant.Name, one.Variant.About)
	l.warmed = append(l.warmed, one.PID)
	d := Demand{Connections: warming, For: l.Warm}
	if one.Variant.Warm > 0 {
		d = Demand{Rate: one.Variant.Warm, For: l.Warm}
	}
	_, err := load.Run(l.ctx, l.loadPlan(one, d), nil)
	return err
}

func (l *rising) diagnosisDemand(one *Service) (Demand, error) {
	d := l.riseDemand(one)
	return d, l.warmUp(one)
}

// riseDemand returns the load on a variant without the time at its rate.
func (l *rising) riseDemand(one *Service) Demand {
	rate, slo := l.Peak, l.SLO
	switch v := one.Variant; {
	case v.Part > 0:
		rate *= v.Part
	case v.Rate > 0:
		if rate = v.Rate; v.Path != "" { // of other requests, which may work for less
			slo = l.planned
		}
	}
	return Demand{Before: l.Before, Base: min(l.Base, rate), Ramp: l.Ramp, Rate: rate, Patience: l.Patience, SLO: cmp.Or(one.Variant.SLO, slo)}
}

func (l *rising) measureRun(one *Service, block int) (Measured, compare.Load, error) {
	r := Measured{Variant: one.Variant.Name, Block: block + 1}
	if err := l.warmUp(one); err != nil {
		return r, compare.Load{}, err
	}
	var from state
	var failed error
	d := l.riseDemand(one)
	d.For, d.Seed = l.For, l.out.Plan.Seed+uint64(block) // the same arrivals for all variants of a block
	d.Storm = func() {
		r.Start = time.Now()
		from, failed = l.takeState(one)
	}
	delivered, err := l.Drive(l.ctx, one, d)
	if err == nil {
		err = failed
	}
	if err != nil {
		return r, compare.Load{}, err
	}
	until, err := l.takeState(one)
	if err != nil {
		return r, compare.Load{}, err
	}
	r.Metrics = l.Runtime.figuresBetween(from, until)
	r.Metrics["p50_ms"], r.Metrics["p90_ms"], r.Metrics["p99_ms"], r.Metrics["mean_ms"] = delivered.P50, delivered.P90, delivered.P99, delivered.Mean
	r.Metrics["slow_share"], r.Metrics["rate"] = delivered.Slow, delivered.Achieved
	r.Offered, r.Achieved, r.Limited = &delivered.Offered, delivered.Achieved, delivered.Limited
	r.Others = until.othersShare(from.usage, from.secondsUntil(until))
	return r, compare.Load{URL: one.operation, Mode: "open", LatencyFrom: "intended", Offered: delivered.Offered, Rate: delivered.Achieved,
		Duration: l.For, Sent: delivered.Sent, Failed: delivered.Failed, Others: &r.Others, Limited: delivered.Limited}, nil
}

// loadChecks returns no checks: the lab itself checks the knees.
func (l *rising) loadChecks() []Check { return nil }
