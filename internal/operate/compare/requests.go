package compare

import (
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// quantiles are the metrics that are quantiles of the requests' latency, with the number of requests each one
// needs.
var quantiles = []struct {
	metric string
	q      float64
	least  int
}{{"p50_ms", .5, ledger.MinRequests}, {"p90_ms", .9, 50}, {"p99_ms", .99, 200}, {"p999_ms", .999, 2000}}

// measureRequests adds the metrics of all requests, as a diagnosis does. A request that did not finish counts
// with the time it had taken at the end.
func (m *measurement) measureRequests(l *ledger.Ledger, opt MeasureOptions) {
	r := &m.b.Requests
	var at, latency []int64
	var longest int64
	load := Load{LatencyFrom: "server", Arrivals: true, Rate: l.Requests.Rate, Duration: time.Duration(l.Requests.To - l.Requests.From), Routes: make(map[string]float64)}
	slow, sum := 0, 0.
	for _, i := range l.All.Rows {
		d := r.Latency(i)
		at, latency = append(at, r.End.At(i)), append(latency, d)
		longest, sum = max(longest, d), sum+float64(d)
		if r.Intended.At(i) != 0 {
			load.LatencyFrom = "intended"
		}
		if o := r.Outcome.At(i); o != evidence.OK && o != evidence.Unfinished {
			load.Failed++
		}
		if opt.SLO > 0 && d > opt.SLO.Nanoseconds() {
			slow++
		}
		load.Routes[m.b.Names.Text(r.Route.At(i))]++
	}
	load.Sent = int64(len(latency))
	for route := range load.Routes {
		load.Routes[route] /= float64(len(latency))
	}
	m.run.Load = load
	if len(latency) < ledger.MinRequests {
		return
	}
	sorted := slices.Clone(latency)
	slices.Sort(sorted)
	for _, q := range quantiles {
		if len(sorted) < q.least {
			continue
		}
		m.setMetric(q.metric, float64(stats.Quantile(sorted, q.q))/1e6)
		if iv, ok := stats.QuantileInterval(at, latency, q.q, l.Requests.From, l.Requests.To+1, 5*longest, 1); ok {
			m.setInterval(q.metric, stats.Interval{Low: iv.Low / 1e6, High: iv.High / 1e6})
		}
	}
	n := float64(len(latency))
	m.setMetric("mean_ms", sum/n/1e6)
	m.setMetric("rate", load.Rate)
	if e, ok := load.Errors(); ok {
		m.setMetric("errors", e)
	}
	if opt.SLO > 0 {
		m.setMetric("slow_share", float64(slow)/n)
	}
}

// applySchedule sets the requested load of a load generator where the run is only a part of its time. The
// generator's figures cover all of its time, so they are not used.
func (m *measurement) applySchedule(l *evidence.LoadResult) {
	m.run.Load.URL, m.run.Load.Mode, m.run.Load.Offered, m.run.Load.Connections = l.URL, l.Mode, l.Offered, l.Connection
	m.run.Load.Arrivals = false
}

// applyLoadResult sets the load and the metrics from a load generator's result. Its latencies replace those the
// service recorded. Intervals stay if the recorded requests are the generator's own.
func (m *measurement) applyLoadResult(l *evidence.LoadResult) {
	seen := m.run.Load
	m.run.Load = Load{URL: l.URL, Mode: l.Mode, LatencyFrom: "intended", Offered: l.Offered, Rate: l.Rate, Connections: l.Connection,
		Duration: time.Duration(l.Duration), Sent: max(l.Sent, l.Completed), Failed: l.Errors, Routes: seen.Routes}
	if l.FromSend {
		m.run.Load.LatencyFrom = "send"
	}
	if l.Tool == "unstall" {
		m.run.Load.Failed += l.Timeouts // other generators count them as errors
	}
	if seen.LatencyFrom != m.run.Load.LatencyFrom {
		m.run.Within = nil
		for _, q := range quantiles {
			delete(m.run.Metrics, q.metric)
		}
		delete(m.run.Metrics, "mean_ms")
	}
	for _, q := range quantiles {
		for _, x := range l.Quantiles {
			if math.Abs(x.Q-q.q) < 1e-9 {
				m.setMetric(q.metric, float64(x.Ns)/1e6)
			}
		}
	}
	if l.Mean > 0 {
		m.setMetric("mean_ms", float64(l.Mean)/1e6)
	}
	if l.Rate > 0 {
		m.setMetric("rate", l.Rate)
	}
	if e, ok := m.run.Load.Errors(); ok {
		m.setMetric("errors", e)
	}
}
