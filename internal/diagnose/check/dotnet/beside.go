package dotnet

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var moreMet = check.Threshold{Name: "how much higher the odds are of slow time beside background collections", Value: 2, Unit: "times",
	Why: "by chance slow time lies beside them as often as any time", Source: "arithmetic: half of the slow time beside them is then more than chance (1 − 1/2)"}

// excessDuringLargeGC returns by how much (ns) each slow request exceeds its route's other
// requests while gen 2 was collected in the background for large objects, or while requests that
// met such a collection were still under way. Threads that allocate a large object then wait in
// the runtime, which .NET Core 3.1 does not report, and new requests queue for the remaining
// threads and CPUs. Nil where slow requests meet these collections no more than by chance.
func (g *collector) excessDuringLargeGC(v *check.Verdict) []int64 {
	l := g.c.Ledger
	if l == nil || l.Total == 0 || !g.Meets(l.RequestsOf()) {
		return nil
	}
	var ran metrics.Spans
	for _, x := range g.selectCollections(isForLarge) {
		if x.Kind == evidence.CollectionBackground {
			ran = ran.Add(x.From, x.To)
		}
	}
	var covered metrics.Spans // .NET Core 3.1 is recorded in turns
	for _, w := range g.c.Bundle.Covered(g.c.Subject, evidence.CoverGC) {
		covered = covered.Add(w.From, w.Until)
	}
	q := &g.c.Bundle.Requests
	came := func(row int) int64 { return q.End.At(row) - q.Latency(row) }
	var met, watched int64
	for _, row := range l.Slow {
		met += ran.Within(came(row), q.End.At(row))
		watched += covered.Within(came(row), q.End.At(row))
	}
	slow := float64(met) / max(float64(watched), 1)
	all := float64(ran.Within(g.From, g.Until)) / max(float64(covered.Within(g.From, g.Until)), 1)
	odds := moreMet.Value
	if g.holdUp(ran) {
		odds = 1 // the runtime reports held threads, so any excess over chance counts
	}
	if met == 0 || slow*(1-all) < odds*all*(1-slow) {
		return nil
	}
	after := g.extendUntilAnswered(ran, came)
	usual := make(map[evidence.NameID][]float64)
	for _, row := range l.Rows {
		if after.Within(came(row), q.End.At(row)) == 0 {
			usual[q.Route.At(row)] = append(usual[q.Route.At(row)], float64(q.Latency(row)))
		}
	}
	per := make([]int64, len(l.Slow))
	var longer int64
	for n, row := range l.Slow {
		if alone := usual[q.Route.At(row)]; len(alone) >= ledger.MinRequests {
			per[n] = min(after.Within(came(row), q.End.At(row)), max(0, q.Latency(row)-int64(stats.Median(alone))))
			longer += per[n]
		}
	}
	if longer == 0 {
		return nil
	}
	v.Evidence = append(v.Evidence,
		g.c.Figure("slow.beside_background_gc_share", "share of slow time during background gen 2 collections for large objects", slow, "1", g.Origin),
		g.c.Figure("gc.background_large_share", "share of all time in these collections", all, "1", g.Origin),
		g.c.Figure("slow.beside_background_gc_ms", "slow time above the routes' usual latency, during these collections and until the backlog was answered", float64(longer)/1e6, "ms", check.From(l.StatesFrom())))
	return per
}

// holdUp says whether the runtime reports that, on average, at least one thread waits for memory
// while these collections run.
func (g *collector) holdUp(ran metrics.Spans) bool {
	var waited, lasted float64
	for _, w := range g.gc.LargeWaits {
		waited += w.Seconds()
	}
	for _, s := range ran {
		lasted += float64(s.To-s.From) / 1e9
	}
	return waited > 0 && waited >= lasted
}

// extendUntilAnswered extends each span until the slow requests that came before its end were
// answered.
func (g *collector) extendUntilAnswered(spans metrics.Spans, came func(row int) int64) (out metrics.Spans) {
	l, q := g.c.Ledger, &g.c.Bundle.Requests
	rows := slices.SortedFunc(slices.Values(l.Slow), func(a, b int) int { return cmp.Compare(came(a), came(b)) })
	for _, s := range spans {
		for _, row := range rows {
			if came(row) >= s.To {
				break
			}
			if q.End.At(row) > s.From {
				s.To = max(s.To, q.End.At(row))
			}
		}
		out = out.Add(s.From, s.To)
	}
	return out
}
