package check

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Collections are a garbage collector's collections of one kind, with one reason and one function that caused them, where they
// paused the program.
type Collections struct {
	Words  string // "gen 2, large allocations"
	Asker  string // the program's own function that caused them; "" unknown
	Pauses metrics.Pauses
	Origin evidence.Origin
}

// Collector returns the subject's garbage collector as seen beside its requests; nil if it was not watched.
func (c *Case) Collector() *metrics.Collector {
	return Once(c, func(c *Case) *metrics.Collector {
		read := platform.ByID(c.Runtime()).ReadCollector
		if read == nil {
			return nil
		}
		return read(c.Bundle, c.Subject, metrics.Scope{Beside: c.ledgerScope()})
	})
}

// ledgerScope returns the time, source and clock of the ledger's requests, over which the collector is read; nil without
// requests.
func (c *Case) ledgerScope() *metrics.Beside {
	l := c.Ledger
	if l == nil || len(l.Rows) == 0 {
		return nil
	}
	return &metrics.Beside{Window: metrics.Window{From: l.From, Until: l.To}, Source: l.Source, Clock: c.Bundle.Requests.Clock.At(l.Rows[0])}
}

// Collections returns the pauses of the collector grouped by reason and by the function that caused them, the longest total
// first.
func (c *Case) Collections() (out []Collections) {
	g := c.Collector()
	if g == nil {
		return nil
	}
	v := &c.Bundle.Intervals
	for _, p := range g.Pauses {
		k := Collections{Words: c.Bundle.Names.Text(v.Cause.At(p.Row)), Origin: v.Origin.At(p.Row)}
		if n, _ := slices.BinarySearchFunc(g.Cycles, p.From, func(y metrics.Cycle, at int64) int { return cmp.Compare(y.From, at) }); n < len(g.Cycles) && g.Cycles[n].From <= p.To {
			y := &g.Cycles[n]
			k.Words, k.Origin = c.Bundle.Names.Text(v.Cause.At(y.Row)), v.Origin.At(y.Row)
			k.Asker = c.SiteOf(v.Stack.At(y.Row)).Function
		}
		i := slices.IndexFunc(out, func(o Collections) bool { return o.Words == k.Words && o.Asker == k.Asker })
		if i < 0 {
			i = len(out)
			out = append(out, k)
		}
		out[i].Pauses = append(out[i].Pauses, p)
	}
	sorting.Short(out, func(a, b Collections) int { return cmp.Compare(b.Pauses.Seconds(), a.Pauses.Seconds()) })
	return out
}

// Thresholds for pauses that requests meet before the service begins with them.
var (
	LongPause = Threshold{Name: "mean length of pauses that requests meet before the service begins with them", Value: 20e-3, Unit: "s",
		Why: "a request that arrives in one waits for half of it", Source: "arithmetic: a request that comes at random waits for half of it, so for 10 ms, from which one call is noticed"}
	OftenPaused = Threshold{Name: "share of the time in such pauses", Value: .01, Unit: "1",
		Why: "every hundredth request that arrives meets one", Source: "arithmetic: the p99"}
)

// SlowPausesMet says whether a collector's pauses are long and frequent enough to be noticed, even
// if the service's own figures show no slow request: requests that arrive during a pause wait
// before the service counts them. Time in which the host withheld processors is not included.
func SlowPausesMet(g *metrics.Collector, p metrics.Pauses) bool {
	if len(p) == 0 {
		return false
	}
	ran := g.PauseTime(p)
	return ran/float64(len(p)) >= LongPause.Value && ran >= OftenPaused.Value*g.Span
}
