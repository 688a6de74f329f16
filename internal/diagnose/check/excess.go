package check

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Excess returns by how much (ns) each slow request exceeds the usual wait of its route, and the sum as a share of slow
// requests' time. Usual is the wait of the route with the largest excess. All may lack some slow requests; the usual wait comes
// from the requests in it.
func (c *Case) Excess(all, slow []int, wait func(row int) int64) (per []int64, usual int64, share float64) {
	r := &c.Bundle.Requests
	w := c.newWaited(all, rowsWithin(all, slow))
	per = make([]int64, len(slow))
	known := 0 // charging a request is work, so each is asked once: slow ones are in all, in the same order
	for _, row := range all {
		ns := wait(row)
		w.addWait(row, ns)
		if known < len(slow) && slow[known] == row {
			per[known] = ns
			known++
		}
	}
	for n := known; n < len(slow); n++ { // all but the slow ones
		per[n] = wait(slow[n])
	}
	w.setUsual(all)
	var sum, total int64
	for n, row := range slow {
		of := w.routeOf(row)
		per[n] = max(0, per[n]-of.usual)
		sum += per[n]
		of.lost += per[n]
		total += r.Latency(row)
	}
	var route evidence.NameID // the route with most of it
	most := int64(-1)
	for id, of := range w.routes {
		if of.slow > 0 && (of.lost > most || of.lost == most && id < route) {
			route, most = id, of.lost
		}
	}
	if of := w.routes[route]; of != nil {
		usual = of.usual
	}
	return per, usual, float64(sum) / float64(max(total, 1))
}

// ShowsUsual reports whether so many requests are not slow that they show what is usual.
func (c *Case) ShowsUsual() bool {
	return len(c.Ledger.UsualRows())-len(c.Ledger.Slow) >= ledger.MinRequests
}

// rowsWithin returns those rows of some that are also in all; mostly these are all of them.
func rowsWithin(all, some []int) []int {
	last := 0
	for _, rows := range [][]int{all, some} {
		for _, row := range rows {
			last = max(last, row)
		}
	}
	in := evidence.NewRows(last + 1)
	for _, row := range all {
		in.Add(row)
	}
	if !slices.ContainsFunc(some, func(row int) bool { return !in.Has(row) }) {
		return some
	}
	return slices.DeleteFunc(slices.Clone(some), func(row int) bool { return !in.Has(row) })
}

// waited is the waits of requests, by route.
type waited struct {
	r         *evidence.Requests
	isSlow    evidence.Rows
	all, slow int // requests
	routes    map[evidence.NameID]*ofRoute
	route     evidence.NameID // the last one that was asked for, as most requests follow one of their route
	last      *ofRoute
}

// ofRoute is the waits of requests of one route.
type ofRoute struct {
	waits []int64 // ns: not slow requests first
	fast  int     // of waits
	end   int     // waits from here on are known
	slow  int     // requests
	usual int64
	lost  int64 // ns by which slow requests exceed it, total
}

func (c *Case) newWaited(all, slow []int) *waited {
	w := &waited{r: &c.Bundle.Requests, isSlow: evidence.NewRows(c.Bundle.Requests.Len()), all: len(all), slow: len(slow), routes: make(map[evidence.NameID]*ofRoute)}
	for _, row := range slow {
		w.isSlow.Add(row)
		w.routeOf(row).slow++
	}
	for _, row := range all {
		w.routeOf(row).end++
	}
	waits := make([]int64, len(all))
	for _, of := range w.routes {
		of.waits, waits = waits[:of.end:of.end], waits[of.end:]
	}
	return w
}

// routeOf returns the waits of the route of a row's request.
func (w *waited) routeOf(row int) *ofRoute {
	if route := w.r.Route.At(row); w.last == nil || route != w.route {
		w.route, w.last = route, w.routes[route]
		if w.last == nil {
			w.last = &ofRoute{}
			w.routes[route] = w.last
		}
	}
	return w.last
}

func (w *waited) addWait(row int, ns int64) {
	of := w.routeOf(row)
	if w.isSlow.Has(row) {
		of.end--
		of.waits[of.end] = ns
		return
	}
	of.waits[of.fast] = ns
	of.fast++
}

// setUsual computes the usual wait of each route from its requests; a route with few requests gets that of all routes.
func (w *waited) setUsual(all []int) {
	overall := int64(-1) // not known
	for _, of := range w.routes {
		if len(of.waits) < ledger.MinRequests {
			if overall < 0 {
				overall = w.overallUsual(all)
			}
			of.usual = overall
		}
	}
	for route, of := range w.routes { // sorts the waits
		if len(of.waits) >= ledger.MinRequests {
			of.usual = usualWait(of.waits, of.fast, of.slow, func() bool { return w.oneKind(all, &route) })
		}
	}
}

// overallUsual returns the usual wait among requests of all routes.
func (w *waited) overallUsual(all []int) int64 {
	waits := make([]int64, 0, w.all)
	for _, of := range w.routes {
		waits = append(waits, of.waits[:of.fast]...)
	}
	fast := len(waits)
	for _, of := range w.routes {
		waits = append(waits, of.waits[of.fast:]...)
	}
	return usualWait(waits, fast, w.slow, func() bool { return w.oneKind(all, nil) })
}

// usualWait returns the median wait (ns) of requests, of which those that are not slow come first. Where most requests are slow
// it is the median of the others. It is 0, as the usual wait is not in the evidence, where hardly any request is not slow, and
// where most are slow and the slow ones and the others are of one kind: an objective says that what is usual takes too long.
func usualWait(waits []int64, fast, slow int, oneKind func() bool) int64 {
	if 2*slow > len(waits) {
		if waits = waits[:fast]; len(waits) < ledger.MinRequests || oneKind() {
			return 0
		}
	}
	return stats.QuantileOf(waits, .5)
}

// TwoKinds × the median of the others is what the median slow request takes at least, if these are two kinds of requests.
var TwoKinds = Threshold{Name: "median slow request, in medians of the others, from which the two are different kinds", Value: 2, Unit: "times",
	Why: "below it most of a slow request's time is what all need, so that an objective which most miss asks for less of that", Source: "arithmetic: 1/2 of the time is what is usual"}

// oneKind reports whether the slow requests of a route take about as long as its others. The limit then divides requests of one kind. A nil
// route stands for all.
func (w *waited) oneKind(all []int, route *evidence.NameID) bool {
	n := len(all)
	if route != nil {
		n = 0
		for _, row := range all {
			if w.r.Route.At(row) == *route {
				n++
			}
		}
	}
	took, from, to := make([]int64, n), 0, n // slow ones from the beginning, others from the end: a log has millions
	for _, row := range all {
		switch {
		case route != nil && w.r.Route.At(row) != *route:
		case w.isSlow.Has(row):
			took[from] = w.r.Latency(row)
			from++
		default:
			to--
			took[to] = w.r.Latency(row)
		}
	}
	slow, fast := took[:from], took[to:]
	return len(slow) > 0 && len(fast) > 0 && float64(stats.QuantileOf(slow, .5)) < TwoKinds.Value*float64(stats.QuantileOf(fast, .5))
}
