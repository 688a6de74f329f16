package younggen

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Load is what requests and collections take of the processors, over the window that a
// collector was watched.
type Load struct {
	Knee    Knee
	Offered float64         // requests that came each second
	CPU     evidence.Origin // of the process's CPU time
}

// kneeBlocks is how many parts of the window tell how sure the knee is.
const kneeBlocks = 8

// kneeRequests is how many requests tell what one takes of the processors, so that each
// block has a dozen.
const kneeRequests = 100

// deviation is how many median deviations from the median the standard deviation of a normal
// distribution is; two of these to either side hold 95 % of it.
const deviation = 1.4826

// LoadOf reads it from the process's CPU time, its pauses and its requests; ok is false
// where one of them was not watched.
func LoadOf(b *evidence.Bundle, subject evidence.SubjectID, l *ledger.Ledger, g *metrics.Collector) (w Load, ok bool) {
	cores := float64(b.CPUsOf(subject))
	if !g.Meets(l.RequestsOf()) || cores == 0 || len(l.Rows) < kneeRequests {
		return w, false
	}
	cpu := metrics.ProcessorTime(b, subject, g.Window)
	if !cpu.Known() {
		return w, false
	}
	left := metrics.HostOf(b, subject, g.Window).Left(cores, g.Window)
	r := &b.Requests
	var came []int64
	for _, i := range l.Rows {
		came = append(came, r.End.At(i)-r.Latency(i))
	}
	share := func(from, to int64) (k Knee, offered float64, ok bool) {
		seconds := float64(to-from) / 1e9
		used := cpu.Over(metrics.Window{From: from, Until: to})
		n, done := 0, 0
		for j, i := range l.Rows {
			if came[j] >= from && came[j] < to {
				n++
			}
			if r.End.At(i) >= from && r.End.At(i) < to {
				done++
			}
		}
		if !used.MostlyKnown() || n == 0 || done == 0 {
			return k, 0, false
		}
		in := g.Pauses.Where(func(x metrics.Pause) bool { return x.From >= from && x.From < to })
		user, system, _ := g.CPUOf(in)
		if math.IsNaN(user) {
			user, system = left*in.Seconds(), 0 // its threads had all processors
		}
		rate := float64(done) / seconds
		k = Knee{Processors: left, Work: max(0, used.Number-(user+system)/seconds) / rate, Stopped: in.Seconds() / seconds / rate}
		return k, float64(n) / seconds, k.Work > 0
	}
	if w.Knee, w.Offered, ok = share(g.From, g.Until); !ok {
		return w, false
	}
	w.CPU = cpu.Origin
	var at, free []float64
	for n := range int64(kneeBlocks) {
		k, _, ok := share(g.From+(g.Until-g.From)*n/kneeBlocks, g.From+(g.Until-g.From)*(n+1)/kneeBlocks)
		if ok {
			at, free = append(at, k.Rate().Value), append(free, k.Free().Value)
		}
	}
	w.Knee.Spread, w.Knee.SpreadFree = relativeSpread(at), relativeSpread(free)
	return w, true
}

// relativeSpread returns the relative 95 % interval of a mean by its parts, NaN of too few.
func relativeSpread(v []float64) float64 {
	if len(v) < kneeBlocks/2 {
		return math.NaN()
	}
	m := stats.Median(v)
	dev := make([]float64, len(v))
	for i, x := range v {
		dev[i] = math.Abs(x - m)
	}
	return 2 * deviation * stats.Median(dev) / math.Sqrt(float64(len(v))) / m
}
