package lab

import (
	"cmp"
	"time"

	"github.com/unstall/unstall/internal/operate/compare"
)

// Closed is a closed loop: a number of clients, each of which waits for its answer before
// it asks again. Every diagnosis and every run gets a fresh process that has served one
// client before: the run measures how a service grows into the load, and not how it
// compiles its code.
type Closed struct {
	Connections int
	For         time.Duration

	// Patience is how long clients wait for an answer: the run ends when the last one has
	// an answer or gives up, as in load tests that count all requests sent.
	Patience time.Duration

	Before time.Duration // with one client

	// SLO is the latency objective of a request: where all clients wait for each other, all
	// requests are equally slow, and the latency of the fast ones is no baseline.
	SLO time.Duration
}

type closing struct {
	Closed
	*Stand
}

func (l Closed) newLoading(s *Stand) loading {
	run, slo := l.For.Seconds(), float64(l.SLO.Microseconds())/1e3
	s.out.Plan.SLOMs = &slo
	s.out.Plan.Connections, s.out.Plan.RunS = &l.Connections, &run
	return closing{l, s}
}

func (c closing) isResident(Variant) bool { return false }

func (c closing) admitVariant(Variant) error { return nil }
func (c closing) prepareLoad() error         { return nil }
func (c closing) loadChecks() []Check        { return nil }

// diagnosisDemand returns a demand whose clients never give up while the diagnosis records.
func (c closing) diagnosisDemand(*Service) (Demand, error) {
	return Demand{Before: c.Before, Connections: c.Connections, Patience: c.Sizes.Record + settle, SLO: c.SLO}, nil
}

// measureRun makes one run. The figures are of all that was sent, up to the last answer; a client
// that gave up waited at least as long as that.
func (c closing) measureRun(one *Service, block int) (Measured, compare.Load, error) {
	r := Measured{Variant: one.Variant.Name, Block: block + 1}
	var from state
	var failed error
	d, err := c.Drive(c.ctx, one, Demand{Before: c.Before, Connections: c.Connections, For: c.For, Patience: c.Patience, Storm: func() {
		r.Start = time.Now()
		from, failed = c.takeState(one)
	}})
	if err = cmp.Or(err, failed); err != nil {
		return r, compare.Load{}, err
	}
	until, err := c.takeState(one)
	if err != nil {
		return r, compare.Load{}, err
	}
	r.Metrics = c.Runtime.figuresBetween(from, until)
	for name, v := range map[string]*float64{
		"rate_stdev": d.Result.Rate.Stdev, "rate_max": d.Result.Rate.Max,
		"mean_ms": d.Result.Latency.Mean, "stdev_ms": d.Result.Latency.Stdev, "max_ms": d.Result.Latency.Max,
		"p50_ms": d.Result.Latency.P50, "p90_ms": d.Result.Latency.P90, "p99_ms": d.Result.Latency.P99,
	} {
		if v != nil {
			r.Metrics[name] = *v
		}
	}
	r.Metrics["rate"], r.Metrics["answered"], r.Metrics["kib_per_s"] = d.Result.Rate.Mean, float64(d.Result.Codes.Success), d.Result.BytesPerS/1024
	if n := d.Result.Completed; n > 0 {
		r.Metrics["cpu_ms_per_request"] = 1e3 * from.cpuSeconds(until) / float64(n)
	}
	r.Achieved, r.Limited = d.Result.Rate.Mean, d.Limited
	r.Others = until.othersShare(from.usage, from.secondsUntil(until))
	return r, compare.Load{URL: one.operation, Mode: "closed", LatencyFrom: "send", Connections: c.Connections, Rate: r.Achieved,
		Duration: c.For, Sent: d.Sent, Failed: d.Failed - d.Result.Timeouts, Others: &r.Others, Limited: d.Limited}, nil
}
