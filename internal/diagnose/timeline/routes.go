package timeline

import (
	"cmp"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// addRoutes sums up what the slow requests of each route lost, where there are routes.
func (l *layout) addRoutes() {
	if l.ledger == nil {
		return
	}
	type route struct {
		Route
		charges ledger.Charges
	}
	q := &l.b.Requests
	of := make(map[evidence.NameID]*route)
	named := false
	for _, row := range l.ledger.Slow {
		id := q.Route.At(row)
		x := of[id]
		if x == nil {
			x = &route{Route: Route{Name: l.b.Names.Text(id)}}
			of[id] = x
			named = named || x.Name != ""
		}
		x.Slow++
		x.Time += q.Latency(row)
		c := l.ledger.Of(row)
		x.charges.Add(&c)
	}
	if !named {
		return
	}
	order := l.mechanismOrder()
	for _, x := range of {
		for _, m := range order {
			if v := x.charges[m]; v > 0 {
				x.Parts = append(x.Parts, Part{Mechanism: m.String(), Dur: v})
			}
		}
		l.t.Routes = append(l.t.Routes, x.Route)
	}
	sorting.Short(l.t.Routes, func(a, b Route) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name)) })
	if left := len(l.t.Routes) - MaxRoutes; left > 0 {
		l.noteOmitted("what the slow requests of %d routes lost, which lost least", left)
		l.t.Routes = l.t.Routes[:MaxRoutes]
	}
}
