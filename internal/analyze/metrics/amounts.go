package metrics

import "github.com/unstall/unstall/internal/base/evidence"

// Amounts are what came when, in order of time: a rate is their sum by the time it was
// watched. Who wants to know how sure a rate is resamples them by blocks of time.
type Amounts struct {
	At []int64
	V  []float64
}

func (a *Amounts) addAmount(at int64, v float64) {
	a.At, a.V = append(a.At, at), append(a.V, v)
}

// Sum is all of it.
func (a Amounts) Sum() (sum float64) {
	for _, v := range a.V {
		sum += v
	}
	return sum
}

// Began are the collections that [Collector.Rate] counts, each 1.
func (g *Collector) Began() (a Amounts) {
	for _, at := range g.began {
		a.addAmount(at, 1)
	}
	return a
}

// Stops are the pauses, s.
func (g *Collector) Stops() (a Amounts) {
	for _, p := range g.Pauses {
		a.addAmount(p.From, p.Seconds())
	}
	return a
}

// Assists are the mark assists of each cycle, s of processors.
func (g *Collector) Assists() (a Amounts) {
	for _, x := range g.Cycles {
		if x.Assist >= 0 {
			a.addAmount(x.From, x.Assist/1e9)
		}
	}
	return a
}

// Allocated is what was allocated from one collection to the next, bytes, at the next.
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

// Promotions are what young collections made the old generation grow by, bytes.
func (g *Collector) Promotions() (a Amounts) {
	for _, p := range g.Pauses.Of(evidence.PauseYoung) {
		if before, after := g.OldOf(p); after >= before || after < before { // both are told
			a.addAmount(p.From, max(0, after-before))
		}
	}
	return a
}
