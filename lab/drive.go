package lab

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/load"
)

// Demand is a load on one service.
type Demand struct {
	Before time.Duration // at Base, first; in a closed loop: with one client
	Base   float64       // requests/s
	Ramp   time.Duration // from Base to Rate
	Rate   float64       // requests/s; 0: as fast as answers come
	For    time.Duration // at Rate
	Seed   uint64

	Connections int           // of a closed loop; 0: enough for a small host
	Patience    time.Duration // of a client for its answer; 0: 5 s

	SLO time.Duration // of its diagnosis; 0: found from the requests

	// Storm is called after Before and Ramp, if not nil.
	Storm func()
}

// String describes the load.
func (d Demand) String() string {
	if d.Rate == 0 {
		return fmt.Sprintf("%d connections", cmp.Or(d.Connections, closedConnections))
	}
	return fmt.Sprintf("%.0f requests/s", d.Rate)
}

// closedConnections are enough to use all CPUs of a small host.
const closedConnections = 16

// leadTime returns the time before the load reaches its rate.
func (d Demand) leadTime() time.Duration { return d.Before + d.Ramp }

// Delivered is the result of a demand after Before and Ramp.
type Delivered struct {
	Offered, Achieved float64 // requests/s; answers after the end do not count
	Sent, Failed      int64
	Mean              float64 // ms, as are the quantiles
	P50, P90, P99     float64 // ms, from the intended time; a request without an answer counts the time it waited
	Slow              float64 // share that took longer than the demand's SLO, or got no answer
	Limited           bool    // by the generator
	Result            *load.Result

	rows []load.Row
}

// Answered returns how many answers came per second between two instants after the
// start.
func (d *Delivered) Answered(from, until time.Duration) float64 {
	start, n := d.Result.Start.UnixNano(), 0
	for _, x := range d.rows {
		if x.Status != 0 && x.End >= start+int64(from) && x.End < start+int64(until) {
			n++
		}
	}
	return float64(n) / (until - from).Seconds()
}

// loadPlan returns the load generator's plan for a demand.
func (s *Stand) loadPlan(one *Service, d Demand) load.Plan {
	p := load.Plan{URL: one.URL, Header: http.Header{}, Arrivals: load.Poisson, Seed: d.Seed, Timeout: cmp.Or(d.Patience, settle)}
	switch {
	case len(one.Variant.Paths) > 0:
		p.Paths = one.Variant.Paths
	case one.Variant.Path == "":
		p.Paths = s.Paths
	}
	for _, h := range s.Headers {
		if name, value, ok := strings.Cut(h, ":"); ok {
			p.Header.Add(name, strings.TrimSpace(value))
		}
	}
	if d.Rate == 0 {
		p.Mode, p.Connections, p.Duration = load.Closed, cmp.Or(d.Connections, closedConnections), d.For
		return p
	}
	if d.Before > 0 {
		p.Pattern = append(p.Pattern, load.Stage{For: d.Before, From: d.Base, To: d.Base})
	}
	if d.Ramp > 0 {
		p.Pattern = append(p.Pattern, load.Stage{For: d.Ramp, From: d.Base, To: d.Rate})
	}
	p.Pattern = append(p.Pattern, load.Stage{For: d.For, From: d.Rate, To: d.Rate})
	return p
}

// Drive puts a load on a service and returns what the clients measured.
func (s *Stand) Drive(ctx context.Context, one *Service, d Demand) (Delivered, error) {
	if d.Rate == 0 && d.Before > 0 {
		if err := s.runOneClient(ctx, one, d.Before); err != nil {
			return Delivered{}, err
		}
		if d.Storm != nil {
			d.Storm()
		}
		d.Before, d.Storm = 0, nil
	}
	rows := &rowsFrom{}
	if d.Storm != nil {
		rose := make(chan struct{})
		timer := time.AfterFunc(d.leadTime(), func() { d.Storm(); close(rose) })
		defer func() {
			if !timer.Stop() {
				<-rose
			}
		}()
	}
	r, err := load.Run(ctx, s.loadPlan(one, d), rows)
	if err != nil {
		return Delivered{}, err
	}
	return rows.sumDelivered(r, d), nil
}

// runOneClient puts one client on a service.
func (s *Stand) runOneClient(ctx context.Context, one *Service, d time.Duration) error {
	_, err := load.Run(ctx, s.loadPlan(one, Demand{Connections: 1, For: d}), nil)
	return err
}

// rowsFrom keeps the requests of a run.
type rowsFrom struct{ rows []load.Row }

func (o *rowsFrom) Progress(load.Snapshot) {}

func (o *rowsFrom) Rows(rows []load.Row) error {
	o.rows = append(o.rows, rows...)
	return nil
}

// sumDelivered sums up the requests whose intended time was at the demand's rate.
func (o *rowsFrom) sumDelivered(r *load.Result, d Demand) Delivered {
	from := r.Start.Add(d.leadTime()).UnixNano()
	out := Delivered{Limited: r.GeneratorLimited, Result: r, rows: o.rows}
	var latencies []int64
	var answered, slow, sum int64
	until := from + int64(d.For)
	for _, x := range o.rows {
		if x.Intended < from {
			continue
		}
		out.Sent++
		if x.Outcome != evidence.OK {
			out.Failed++
		}
		if x.Outcome != evidence.OK || x.Latency() > int64(d.SLO) {
			slow++
		}
		if x.Status != 0 && x.End <= until {
			answered++
		}
		if x.Status != 0 || x.Outcome == evidence.TimedOut || x.Outcome == evidence.Unfinished {
			latencies = append(latencies, x.Latency())
			sum += x.Latency()
		}
	}
	out.Offered = float64(out.Sent) / d.For.Seconds()
	out.Achieved = float64(answered) / d.For.Seconds()
	slices.Sort(latencies)
	ms := func(p float64) float64 { return float64(stats.Quantile(latencies, p)) / 1e6 }
	if len(latencies) > 0 {
		out.Slow = float64(slow) / float64(out.Sent)
		out.Mean = float64(sum) / float64(len(latencies)) / 1e6
		out.P50, out.P90, out.P99 = ms(.5), ms(.9), ms(.99)
	}
	return out
}
