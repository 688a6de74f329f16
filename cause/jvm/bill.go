package jvm

import (
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/reading"
)

// bill is what some of a collector's pauses cost slow requests. It is counterfactual:
//
//	direct  the time they were stopped themselves
//	behind  what they waited besides, in the queue that pauses leave behind; nothing where the
//	        service's own work fills the processors: there is a queue without any pause; by replay of
//	        the recorded arrivals or, where none reproduces what was observed, by the
//	        answers of processors that were never idle; where neither is known, it lies
//	        between nothing and all that the requests which met a pause waited
type bill struct {
	direct, behind int64   // ns
	low, high      int64   // ns: bounds of the sum
	slow           []int64 // of each slow request, ns
	method         string  // how what is behind is known, "": it is not
	why            string  // why there is no replay
	full           bool    // the service's own work fills the processors: nothing waits only for pauses
	total          int64   // ns: all slow time
}

// billOf charges pauses to a case's slow requests; nil where there are none, or nothing
// says how the clocks of requests and pauses lie to each other.
func (g *collector) billOf(p reading.Pauses) *bill {
	l := g.c.Ledger
	if l == nil || len(l.Slow) == 0 || !g.meets() {
		return nil
	}
	var stops ledger.Stops
	for _, s := range p.Spans() {
		stops = append(stops, [2]int64{s.From, s.To})
	}
	s := l.Spare(stops)
	b := &bill{slow: s.Direct, low: s.Low, high: s.High, method: s.Method, why: s.Why, total: l.Total}
	for _, v := range s.Direct {
		b.direct += v
	}
	if g.c.Full() { // what queues up does so without them, too
		b.full = true
		return b
	}
	if b.method != "" {
		for n, v := range s.Behind {
			b.behind += v
			b.slow[n] += v
		}
		b.low, b.high = b.low+s.BehindLow, b.high+s.BehindHigh
		return b
	}
	for n, row := range l.Slow {
		if s.Direct[n] == 0 {
			continue
		}
		ch := l.Of(row)
		b.high += ch[ledger.Unobserved] + ch[ledger.Queued] + ch[ledger.RequestsCPU]
	}
	b.high = min(b.high, b.total)
	return b
}

// meets says whether the pauses can be laid over the requests.
func (g *collector) meets() bool { return g.Meets(g.c.Ledger.Beside()) }

func (b *bill) sum() int64 { return b.direct + b.behind }

// share is the part of slow time that would not have passed.
func (b *bill) share() float64 { return float64(b.sum()) / float64(max(b.total, 1)) }

// most is the largest part that can be the pauses'.
func (b *bill) most() float64 { return float64(max(b.high, b.sum())) / float64(max(b.total, 1)) }

// saves is the bill as a saving.
func (b *bill) saves(c *cause.Case) *cause.Saves { return c.Save(b.slow, b.low, b.high) }

// figures are the evidence of a bill; what names the pauses: "young collections".
func (g *collector) figures(b *bill, what string) (out []cause.Evidence) {
	from := cause.From(g.c.Ledger.Source)
	out = append(out, g.c.Figure("slow time: paused by "+what, float64(b.direct)/1e6, "ms", from))
	switch {
	case b.full:
		return out
	case b.method == "":
		return append(out, g.c.Figure(fmt.Sprintf("slow time: at most, with queueing behind the pauses (no replay: %s)", b.why), float64(max(b.high, b.direct))/1e6, "ms", from))
	}
	by := "from a replay of the arrivals"
	if b.method == ledger.MethodBacklog {
		by = "from the answers while CPUs were never idle"
	}
	return append(out,
		g.c.Figure("slow time: queued behind these pauses, "+by, float64(b.behind)/1e6, "ms", from),
		g.c.Figure("slow time that would remain without them", float64(b.total-b.sum())/1e6, "ms", from))
}
