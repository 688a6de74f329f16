package compare

import (
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
)

// RunOf returns the run of a load that was just made. Requests without an answer count as errors.
func RunOf(r *load.Result, name string) Run {
	m := newMeasurement(nil, name)
	m.run.Start = r.Start
	for _, w := range r.Warnings {
		if !strings.Contains(w, "did not keep its schedule") { // Limited says so of all runs together
			m.run.Warnings = append(m.run.Warnings, w)
		}
	}
	m.run.Load = Load{URL: r.URL, Mode: r.Mode, LatencyFrom: r.LatencyFrom, Rate: r.Rate.Mean, Duration: time.Duration(r.Duration * 1e9),
		Sent: r.Offered, Failed: min(r.Errors+r.Unfinished, r.Offered), Limited: r.GeneratorLimited}
	if r.OfferedRate != nil {
		m.run.Load.Offered = *r.OfferedRate
	}
	if r.Mode == load.Closed.String() {
		m.run.Load.Connections = r.Connections
	}
	l := &r.Latency
	for i, v := range []*float64{l.P50, l.P90, l.P99, l.P999} {
		if q := quantiles[i]; v != nil && r.Offered >= int64(q.least) {
			m.setMetric(q.metric, *v)
		}
	}
	if l.Mean != nil {
		m.setMetric("mean_ms", *l.Mean)
	}
	m.setMetric("rate", r.Rate.Mean)
	if e, ok := m.run.Load.Errors(); ok {
		m.setMetric("errors", e)
	}
	return m.run
}
