package check

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
)

// Bill is what some of a collector's pauses cost slow requests. It is counterfactual:
//
//	direct  the time that pauses stopped the requests themselves
//	behind  the further wait in the queue that pauses leave behind: by a replay of the recorded
//	        arrivals or, where none reproduces what was observed, by the answers of processors that
//	        were never idle; where neither is known, between nothing and the whole wait of the
//	        requests that met a pause. It is nothing where the service's own work fills the
//	        processors, because there is a queue without any pause
type Bill struct {
	direct, behind int64   // ns
	Low, High      int64   // ns: bounds of the sum
	slow           []int64 // of each slow request, ns
	method         string  // how behind is known, "": it is not
	why            string  // why there is no replay
	full           bool    // the service's own work fills the processors: no request waits only for pauses
	total          int64   // ns: all slow time
}

// BillOf charges a collector's pauses to the slow requests; nil where there are none, or where the clocks of requests and
// pauses cannot be joined.
func (c *Case) BillOf(g *metrics.Collector, p metrics.Pauses) *Bill {
	l := c.Ledger
	if l == nil || len(l.Slow) == 0 || !g.Meets(l.RequestsOf()) {
		return nil
	}
	var stops ledger.Stops
	for _, s := range p.Spans() {
		stops = append(stops, [2]int64{s.From, s.To})
	}
	s := l.SavingsWithout(stops)
	b := &Bill{slow: s.Direct, Low: s.Low, High: s.High, method: s.Method, why: s.Why, total: l.Total}
	for _, v := range s.Direct {
		b.direct += v
	}
	if c.Full() { // the queue would be there without pauses, too
		b.full = true
		return b
	}
	if b.method != "" {
		for n, v := range s.Behind {
			b.behind += v
			b.slow[n] += v
		}
		b.Low, b.High = b.Low+s.BehindLow, b.High+s.BehindHigh
		return b
	}
	for n, row := range l.Slow {
		if s.Direct[n] == 0 {
			continue
		}
		ch := l.Of(row)
		b.High += ch[ledger.Unobserved] + ch[ledger.Queued] + ch[ledger.RequestsCPU]
	}
	b.High = min(b.High, b.total)
	return b
}

// Sum returns the slow time (ns) that would not have passed without the pauses.
func (b *Bill) Sum() int64 { return b.direct + b.behind }

// Share returns the part of slow time that would not have passed without the pauses.
func (b *Bill) Share() float64 { return float64(b.Sum()) / float64(max(b.total, 1)) }

// Most returns the largest part of slow time that the pauses can account for.
func (b *Bill) Most() float64 { return float64(max(b.High, b.Sum())) / float64(max(b.total, 1)) }

// Saves returns the bill as a saving.
func (b *Bill) Saves(c *Case) *Saves { return c.Save(b.slow, b.Low, b.High) }

// Figures returns the evidence of a bill; what names the pauses: "young collections".
func (b *Bill) Figures(c *Case, what string) (out []Evidence) {
	from := From(c.Ledger.StatesFrom())
	out = append(out, c.Figure("slow.paused_ms", "slow time: paused by "+what, float64(b.direct)/1e6, "ms", from))
	switch {
	case b.full:
		return out
	case b.method == "":
		return append(out, c.Figure("slow.paused_most_ms", "slow time: upper bound, including queueing behind the pauses", float64(max(b.High, b.direct))/1e6, "ms", from),
			c.Seen("the queueing time behind them is unknown: "+b.why, from))
	}
	by := "from a replay of the arrivals"
	if b.method == ledger.MethodBacklog {
		by = "from the responses while no CPU was idle"
	}
	return append(out,
		c.Figure("slow.behind_pauses_ms", "slow time: queued behind these pauses, "+by, float64(b.behind)/1e6, "ms", from),
		c.Figure("slow.without_pauses_ms", "slow time that would remain without them", float64(b.total-b.Sum())/1e6, "ms", from))
}

// Placed says whether the time that requests waited behind the pauses is known, not only bounded.
func (b *Bill) Placed() bool { return b.method != "" }

// Scaled returns a bill with the cost of each request multiplied by a factor.
func (b *Bill) Scaled(part float64) *Bill {
	if b == nil {
		return nil
	}
	s := *b
	s.slow = make([]int64, len(b.slow))
	for i, v := range b.slow {
		s.slow[i] = int64(part * float64(v))
	}
	for _, v := range []*int64{&s.direct, &s.behind, &s.Low, &s.High} {
		*v = int64(part * float64(*v))
	}
	return &s
}

// Each returns what each slow request would not have waited (ns) without the pauses, in the order
// of Ledger.Slow.
func (b *Bill) Each() []int64 { return slices.Clone(b.slow) }
