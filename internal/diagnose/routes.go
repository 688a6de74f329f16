package diagnose

import (
	"cmp"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// Route is what is known of the requests of one route, with the mechanism of most of its slow time.
type Route struct {
	Route    string   `json:"route"`
	Subject  string   `json:"subject"`
	Requests int      `json:"requests"`
	Rate     *float64 `json:"rate"`   // per second, null unknown
	P50Ms    *float64 `json:"p50_ms"` // null: none was finished
	P99Ms    *float64 `json:"p99_ms"` // null: too few
	LimitMs  *float64 `json:"slow_threshold_ms"`
	Slow     int      `json:"slow"`
	SlowMs   float64  `json:"slow_ms"`

	Mechanism string   `json:"mechanism"` // of most of its slow time; "": none is slow, or unknown
	Title     string   `json:"title"`     // the mechanism in words
	Share     *float64 `json:"share"`     // of its slow time, null unknown
}

// enoughForP99 is the number of requests that a p99 needs.
const enoughForP99 = 100

// mostKnown is the part of the charged requests that must have a route for figures by route.
const mostKnown = .5

// mostRoutes is how many routes are listed: a log may have one per item that clients asked for.
const mostRoutes = 100

// summarizeRoutes returns the requests of each route, those first that lost most time, and how
// many more routes there are; nil where requests have no routes.
func (r *run) summarizeRoutes() (out []Route, left int) {
	named := false
	for _, charged := range r.incident.Counted() {
		l := charged.All
		q := &r.b.Requests
		took, of := l.LatenciesByRoute(), make(map[evidence.NameID]*Route)
		for route := range took {
			of[route] = &Route{Route: r.b.Names.Text(route), Subject: r.name[l.Subject], LimitMs: stats.FiniteOrNil(float64(l.LimitOf(route)) / 1e6)}
			named = named || of[route].Route != ""
		}
		for _, i := range l.Slow {
			x := of[q.Route.At(i)]
			x.Slow++
			x.SlowMs += float64(q.Latency(i)) / 1e6
		}
		spent, known := make(map[evidence.NameID]*ledger.Charges), 0
		for _, i := range charged.Slow {
			if of[q.Route.At(i)] == nil || of[q.Route.At(i)].Route == "" {
				continue
			}
			known++
			c := charged.Of(i)
			if spent[q.Route.At(i)] == nil {
				spent[q.Route.At(i)] = new(ledger.Charges)
			}
			spent[q.Route.At(i)].Add(&c)
		}
		if float64(known) < mostKnown*float64(len(charged.Slow)) { // a few requests do not represent the route
			clear(spent)
		}
		lane := platform.ByID(r.b.Subjects[l.Subject].Runtime).Lane
		for route, x := range of {
			ns := took[route]
			x.Requests, x.P50Ms = len(ns), msOrNil(stats.QuantileOf(ns, .5))
			if len(ns) >= enoughForP99 {
				x.P99Ms = msOrNil(stats.QuantileOf(ns, .99))
			}
			if l.To > l.From && len(ns) >= ledger.LeastOfRate {
				x.Rate = stats.FiniteOrNil(float64(len(ns)) / (float64(l.To-l.From) / 1e9))
			}
			x.setMainMechanism(spent[route], func(m ledger.Mechanism) string { return charged.TitleOf(m, lane) })
			out = append(out, *x)
		}
	}
	if !named {
		return nil, 0
	}
	sorting.Short(out, func(a, b Route) int {
		return cmp.Or(cmp.Compare(b.SlowMs, a.SlowMs), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Route, b.Route))
	})
	left = max(0, len(out)-mostRoutes)
	return out[:len(out)-left], left
}

// setMainMechanism sets the mechanism that most of the route's slow time went into, and its share.
func (x *Route) setMainMechanism(c *ledger.Charges, title func(ledger.Mechanism) string) {
	if c == nil || x.Slow == 0 {
		return
	}
	most, sum := 0, c.Sum()
	for m, v := range c {
		if v > c[most] {
			most = m
		}
	}
	if sum <= 0 || c[most] <= 0 {
		return
	}
	m := ledger.Mechanism(most)
	x.Mechanism, x.Title, x.Share = m.String(), title(m), stats.FiniteOrNil(float64(c[most])/float64(sum))
}
