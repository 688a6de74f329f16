package jvm

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// collector is a case's collector, beside its requests where there are any.
type collector struct {
	*metrics.Collector
	c *check.Case

	// What several causes ask of every pause, of which a log has a million, is found out when it is asked first.
	why   map[int]reason // by row: see reasons
	timed metrics.Pauses // whose CPU time is told; nil: not asked yet
	speed paces          // of these
}

// collectorOf is nil if nobody watched it.
func collectorOf(c *check.Case) *collector {
	return check.Once(c, func(c *check.Case) *collector {
		g := metrics.JVMCollector(c.Bundle, c.Subject, metrics.Scope{Beside: c.Ledger.RequestsOf()})
		if g == nil {
			return nil
		}
		return &collector{Collector: g, c: c}
	})
}

// unlessPartial is a judge whose source may tell of long collections alone: what that does not
// show is not ruled out.
func unlessPartial(judge func(*check.Case) check.Verdict) func(*check.Case) check.Verdict {
	return possible(func(c *check.Case) check.Verdict {
		v := judge(c)
		if g := collectorOf(c); g != nil && v.RuledOut() && g.Unlogged() && !byCycles(&v) {
			return unlogged
		}
		if _, partial := c.Fact(evidence.FactLongAlone); !partial || !v.RuledOut() || len(c.Bundle.Covered(c.Subject, evidence.CoverGC)) > 1 {
			return v
		}
		v.Rule, v.Needs = check.Unseen, logging
		v.Summary = "only long collections are in the log"
		return v
	})
}

// stopsOf is the collector, else what safepoints tell where nobody watched it; nil: nobody
// watched those either.
func stopsOf(c *check.Case) *collector {
	if g := collectorOf(c); g != nil {
		return g
	}
	g := metrics.JVMSafepoints(c.Bundle, c.Subject, metrics.Scope{Beside: c.Ledger.RequestsOf()})
	if g == nil {
		return nil
	}
	return &collector{Collector: g, c: c}
}

// processors is how many processors the JVM may use; 0 unknown.
func (g *collector) processors() float64 { return float64(g.c.Bundle.CPUsOf(g.c.Subject)) }

// meets says whether the pauses can be laid over the requests.
func (g *collector) meets() bool { return g.Meets(g.c.Ledger.RequestsOf()) }

// billOf charges pauses to the case's slow requests, nil where that cannot be.
func (g *collector) billOf(p metrics.Pauses) *check.Bill { return g.c.BillOf(g.Collector, p) }

// byCycles says whether a verdict rests on what cycles leave in the heap, which a log without their pauses tells.
func byCycles(v *check.Verdict) bool {
	return slices.ContainsFunc(v.Evidence, func(e check.Evidence) bool { return e.ID == "heap.growth_bytes_per_h" })
}
