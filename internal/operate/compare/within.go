package compare

import (
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/stats"
)

// wholly is the share of its window that must be recorded for a figure to be of one stretch.
const wholly = .95

// parts is the largest number of blocks of time into which a run is cut. The interval includes load changes
// that last as long as a block, but not longer ones.
const parts = 40

// setBlockIntervals adds intervals to those GC figures that add up over the run. It takes them from blocks of
// time that are at least five times the longest pause; too few blocks give no interval. A collection counts at
// its time. Collections come at a regular pace, so a few of them say more than as many random events, and the
// intervals are rather too wide than too narrow. A figure from a counter, or from several short recordings, has
// no interval.
func (m *measurement) setBlockIntervals(g *metrics.Collector) {
	block := g.Span / parts
	if g.Longest.Known() {
		block = max(block, 5*g.Longest.Number)
	}
	for _, x := range []struct {
		metric string
		of     metrics.Value
		sums   metrics.Amounts
	}{
		{"gc_cycles_per_s", g.Rate, g.Began()}, {"stopped_ms_per_s", g.Stopped, g.Stops()}, {"assist_ms_per_s", g.Assist, g.Assists()},
		{"alloc_mib_per_s", g.Alloc, g.Allocated()}, {"promoted_mib_per_s", g.Promoted, g.Promotions()},
	} {
		value, known := m.run.Metrics[x.metric]
		sum := x.sums.Sum()
		if !known || x.of.Origin != g.Origin || x.of.Watched < wholly || sum <= 0 {
			continue
		}
		if iv, ok := stats.SumInterval(x.sums.At, x.sums.V, g.From, g.Until, int64(1e9*block), 1); ok {
			m.setInterval(x.metric, stats.Interval{Low: value * iv.Low / sum, High: value * iv.High / sum})
		}
	}
}

// setInterval notes the 95 % interval of a metric.
func (m *measurement) setInterval(metric string, iv stats.Interval) {
	if m.run.Within == nil {
		m.run.Within = make(map[string]stats.Interval)
	}
	m.run.Within[metric] = iv
}
