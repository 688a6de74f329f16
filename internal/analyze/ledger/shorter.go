package ledger

import (
	"math"

	"github.com/unstall/unstall/internal/base/stats"
)

// Shorter is the p99 (ms) of requests as they were, and if each had been shorter; the 95 % interval of the latter is NaN
// where too few blocks of time were watched.
type Shorter struct{ Now, Then, Low, High float64 }

// FewerSlow returns the share of all requests that are slow, as they were, and if each had been shorter by less(row) ns.
func (l *Ledger) FewerSlow(less func(row int) int64) (now, then float64) {
	if len(l.Rows) == 0 {
		return math.NaN(), math.NaN()
	}
	left := 0
	for _, row := range l.Slow {
		if l.b.Requests.Latency(row)-less(row)-l.recorderDelay(row) > l.Limit(row) {
			left++
		}
	}
	all := float64(len(l.Rows))
	return float64(len(l.Slow)) / all, float64(left) / all
}

// Shorten returns the p99 of all requests if each had been shorter by less(row) ns.
func (l *Ledger) Shorten(less func(row int) int64) Shorter {
	r := &l.b.Requests
	took := make([]int64, len(l.Rows))
	var longest int64
	for n, row := range l.Rows {
		took[n] = r.Latency(row)
		longest = max(longest, took[n])
	}
	p := Shorter{Low: math.NaN(), High: math.NaN()}
	p.Now = float64(stats.QuantileOf(took, .99)) / 1e6
	then := took // reuse memory: for millions of requests each such slice is a tenth of all memory
	for n, row := range l.Rows {
		then[n] = max(0, r.Latency(row)-less(row))
	}
	if iv, ok := stats.QuantileIntervalAt(func(n int) int64 { return r.End.At(l.Rows[n]) }, then, .99, l.From, l.To, BlockOf*longest, 1); ok {
		p.Low, p.High = iv.Low/1e6, iv.High/1e6
	}
	p.Then = float64(stats.QuantileOf(then, .99)) / 1e6
	if !math.IsNaN(p.Low) { // resampled blocks may leave out the one that has the longest requests
		p.Low, p.High = min(p.Low, p.Then), max(p.High, p.Then)
	}
	return p
}
