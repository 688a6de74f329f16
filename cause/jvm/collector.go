package jvm

import (
	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/reading"
)

// collector is a case's collector, beside its requests where there are any.
type collector struct {
	*reading.Collector
	c *cause.Case
}

// collectorOf is nil if nobody watched it.
func collectorOf(c *cause.Case) *collector {
	return cause.Once(c, func(c *cause.Case) *collector {
		g := reading.JVMCollector(c.Bundle, c.Subject, reading.Scope{Beside: c.Ledger.Beside()})
		if g == nil {
			return nil
		}
		return &collector{g, c}
	})
}

// processors is how many processors the JVM may use; 0 unknown.
func (g *collector) processors() float64 { return float64(g.c.Bundle.CPUsOf(g.c.Subject)) }
