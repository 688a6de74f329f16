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

	// Answers that several causes need of every pause, of which a log may have a million, computed on first use.
	why   map[int]reason // by row: see reasons
	timed metrics.Pauses // pauses with a known CPU time; nil: not computed yet
	speed paces          // of timed
}

// collectorOf returns the case's collector, nil if it was not watched.
func collectorOf(c *check.Case) *collector {
	return check.Once(c, func(c *check.Case) *collector {
		g := metrics.JVMCollector(c.Bundle, c.Subject, metrics.Scope{Beside: c.Ledger.RequestsOf()})
		if g == nil {
			return nil
		}
		return &collector{Collector: g, c: c}
	})
}

// unlessPartial wraps a judge so that it rules nothing out from a log that holds only long
// collections, or cycles without their pauses.
func unlessPartial(judge func(*check.Case) check.Verdict) func(*check.Case) check.Verdict {
	return withoutImpossibleAdvice(func(c *check.Case) check.Verdict {
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

// stopsOf returns the collector or, if it was not watched, what the safepoints show; nil if those
// were not watched either.
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

// cpuCount returns how many CPUs the JVM may use; 0 if unknown.
func (g *collector) cpuCount() float64 { return float64(g.c.Bundle.CPUsOf(g.c.Subject)) }

// meetsRequests says whether the pauses and the requests have a common timeline.
func (g *collector) meetsRequests() bool { return g.Meets(g.c.Ledger.RequestsOf()) }

// billOf charges pauses to the case's slow requests; nil where that is impossible.
func (g *collector) billOf(p metrics.Pauses) *check.Bill { return g.c.BillOf(g.Collector, p) }

// byCycles reports whether a verdict rests on the heap after cycles, which a log without pauses shows, too.
func byCycles(v *check.Verdict) bool {
	return slices.ContainsFunc(v.Evidence, func(e check.Evidence) bool { return e.ID == "heap.growth_bytes_per_h" })
}
