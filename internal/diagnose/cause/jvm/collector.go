package jvm

import (
	"github.com/unstall/unstall/internal/analyze/reading"
	"github.com/unstall/unstall/internal/diagnose/cause"
)

// collector is a case's collector, beside its requests where there are any.
type collector struct {
	*reading.Collector
	c *cause.Case

	// What several causes ask of every pause, of which a log has a million, is found out when it is asked first.
	why   map[int]reason // by row: see reasons
	timed reading.Pauses // whose CPU time is told; nil: not asked yet
	speed paces          // of these
}

// collectorOf is nil if nobody watched it.
func collectorOf(c *cause.Case) *collector {
	return cause.Once(c, func(c *cause.Case) *collector {
		g := reading.JVMCollector(c.Bundle, c.Subject, reading.Scope{Beside: c.Ledger.Beside()})
		if g == nil {
			return nil
		}
		return &collector{Collector: g, c: c}
	})
}

// processors is how many processors the JVM may use; 0 unknown.
func (g *collector) processors() float64 { return float64(g.c.Bundle.CPUsOf(g.c.Subject)) }

// meets says whether the pauses can be laid over the requests.
func (g *collector) meets() bool { return g.Meets(g.c.Ledger.Beside()) }

// billOf charges pauses to the case's slow requests, nil where that cannot be.
func (g *collector) billOf(p reading.Pauses) *cause.Bill { return g.c.BillOf(g.Collector, p) }
