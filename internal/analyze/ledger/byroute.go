package ledger

import "github.com/unstall/unstall/internal/base/evidence"

// LatenciesByRoute returns the latencies (ns) of the charged requests by route, unsorted.
func (l *Ledger) LatenciesByRoute() map[evidence.NameID][]int64 {
	return byRoute(&l.b.Requests, l.Rows, func(int) bool { return true }, l.b.Requests.Latency)
}

// byRoute groups latencies by route and omits routes without requests. All groups share one allocation of the exact size:
// for a log of millions, growing slices would leave several times that behind.
func byRoute(r *evidence.Requests, rows []int, counts func(row int) bool, took func(row int) int64) map[evidence.NameID][]int64 {
	type route struct {
		took []int64
		n    int
	}
	routes := make(map[evidence.NameID]*route)
	var id evidence.NameID
	var last *route // most requests follow one of their own route
	of := func(row int) *route {
		if at := r.Route.At(row); last == nil || at != id {
			if id, last = at, routes[at]; last == nil {
				last = &route{}
				routes[at] = last
			}
		}
		return last
	}
	all := 0
	for _, row := range rows {
		if x := of(row); counts(row) {
			x.n++
			all++
		}
	}
	left := make([]int64, all)
	for _, x := range routes {
		x.took, left = left[:0:x.n], left[x.n:]
	}
	for _, row := range rows {
		if counts(row) {
			x := of(row)
			x.took = append(x.took, took(row))
		}
	}
	out := make(map[evidence.NameID][]int64, len(routes))
	for at, x := range routes {
		out[at] = x.took
	}
	return out
}
