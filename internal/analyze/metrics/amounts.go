package metrics

import "github.com/unstall/unstall/internal/base/evidence"

// Amounts are amounts with their times, in order: a rate is their sum divided by the watched time. To find how certain a
// rate is, callers resample them by blocks of time.
type Amounts struct {
	At []int64
	V  []float64
}

func (a *Amounts) addAmount(at int64, v float64) {
	a.At, a.V = append(a.At, at), append(a.V, v)
}

// Sum returns the total.
func (a Amounts) Sum() (sum float64) {
	for _, v := range a.V {
		sum += v
	}
	return sum
}

// Began returns the collections that [Collector.Rate] counts, each as 1.
func (g *Collector) Began() (a Amounts) {
	for _, at := range g.began {
		a.addAmount(at, 1)
	}
	return a
}

// Stops returns the pauses, s.
func (g *Collector) Stops() (a Amounts) {
	for _, p := range g.Pauses {
		a.addAmount(p.From, p.Seconds())
	}
	return a
}

// Assists returns the mark assists of each cycle, s of processors.
func (g *Collector) Assists() (a Amounts) {
	for _, x := range g.Cycles {
		if x.Assist >= 0 {
			a.addAmount(x.From, x.Assist/1e9)
		}
	}
	return a
}

// Allocated returns the bytes allocated from one collection to the next, at the time of the next.
func (g *Collector) Allocated() (a Amounts) {
	for i := 1; i < len(g.Cycles); i++ {
		if d := g.Cycles[i].allocatedSince(g.Cycles[i-1]); d >= 0 {
			a.addAmount(g.Cycles[i].To, d)
		}
	}
	if len(g.Cycles) > 0 {
		return a
	}
	for i := 1; i < len(g.Pauses); i++ {
		if d := g.Between(g.Pauses[i-1], g.Pauses[i]); d >= 0 {
			a.addAmount(g.Pauses[i].From, d)
		}
	}
	return a
}

// Promotions returns the bytes by which young collections grew the old generation.
func (g *Collector) Promotions() (a Amounts) {
	for _, p := range g.Pauses.Of(evidence.PauseYoung) {
		if before, after := g.OldOf(p); after >= before || after < before { // both are known
			a.addAmount(p.From, max(0, after-before))
		}
	}
	return a
}
