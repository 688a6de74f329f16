package compare

import (
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/stats"
)

// wholly is the part of its window that must be watched for a figure to be of one stretch.
const wholly = .95

// parts is into how many blocks of time a run is cut at most: load swings that last as long
// as a block are in the interval, longer ones are not.
const parts = 40

// setBlockIntervals adds intervals to those of the collector's figures that add up over the run,
// from blocks of time of at least five of the longest pauses; too few blocks give none. What a
// collection did counts when it came. Collections come at a beat, so that a few of them say more
// than as many random events: the intervals are rather too wide than too narrow. A figure that a
// counter gives, or that is of several short recordings, has none.
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
