package service

import (
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// routeTime is the time of a route's requests as the kernel saw them, and how much of it some of them spend on one thing.
type routeTime struct {
	route     evidence.NameID
	latencies []int64 // ns, of all requests
	spent     []int64 // ns, of the requests that spend some
	took      int64   // ns, sum of latencies
	total     int64   // ns, sum of spent
}

// shareOfTime returns the part of the requests' time that they spend.
func (t *routeTime) shareOfTime() float64 { return float64(t.total) / float64(max(1, t.took)) }

// sumRoutes asks how long (ns) each request of the service spends on one thing. It returns the sums of each route in the order of
// their names, the time of each row that spends some, and the time of all requests.
func (x *exchanged) sumRoutes(c *check.Case, spends func(row int, from, until int64) int64) (routes []*routeTime, byRow map[int]int64, all int64) {
	r := &c.Bundle.Requests
	of := make(map[evidence.NameID]*routeTime)
	byRow = make(map[int]int64)
	for row := range r.Len() {
		if a, ok := r.Origin.At(row).Artifact(); !ok || check.From(a) != x.origin || r.Subject.At(row) != c.Subject || !r.Timed(row) {
			continue
		}
		route := r.Route.At(row)
		t := of[route]
		if t == nil {
			t = &routeTime{route: route}
			of[route] = t
		}
		latency, until := r.Latency(row), r.End.At(row)
		all += latency
		t.took += latency
		t.latencies = append(t.latencies, latency)
		if ns := spends(row, until-latency, until); ns > 0 {
			t.spent = append(t.spent, ns)
			t.total += ns
			byRow[row] = ns
		}
	}
	for _, route := range slices.Sorted(maps.Keys(of)) {
		routes = append(routes, of[route])
	}
	return routes, byRow, all
}

// largestRoute returns, of the routes whose requests mostly spend some time, at least a part of all their time, and that suit if suits is
// given, the one that spends most; nil if there is none.
func largestRoute(routes []*routeTime, least check.Threshold, suits func(*routeTime) bool) (best *routeTime) {
	for _, t := range routes {
		if len(t.spent) < ledger.MinRequests || float64(len(t.spent)) < mostAlways.Value*float64(len(t.latencies)) || float64(t.total) < least.Value*float64(t.took) {
			continue
		}
		if (best == nil || t.total > best.total) && (suits == nil || suits(t)) {
			best = t
		}
	}
	return best
}
