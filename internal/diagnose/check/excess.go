package check

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Excess is by how much slow requests exceed, in all, what requests of their route usually
// wait, as a share of the time they took. Usual is that of the route most of them are of. All need not have every slow one: what is usual is
// told by those that it has.
func (c *Case) Excess(all, slow []int, wait func(row int) int64) (per []int64, usual int64, share float64) {
	r := &c.Bundle.Requests
	w := c.waited(all, rowsWithin(all, slow))
	per = make([]int64, len(slow))
	known := 0 // each is asked for once, as to charge it is work: slow ones are among all, in the same order
	for _, row := range all {
		ns := wait(row)
		w.add(row, ns)
		if known < len(slow) && slow[known] == row {
			per[known] = ns
			known++
		}
	}
	for n := known; n < len(slow); n++ { // but for those that are not
		per[n] = wait(slow[n])
	}
	w.judge()
	var sum, total int64
	for n, row := range slow {
		of := w.of(row)
		per[n] = max(0, per[n]-of.usual)
		sum += per[n]
		of.lost += per[n]
		total += r.Latency(row)
	}
	var route evidence.NameID // that most of it is of
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

// rowsWithin are the rows of some that are among all; mostly these are all of them.
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

// waited is what requests wait, by route.
type waited struct {
	r         *evidence.Requests
	isSlow    evidence.Rows
	all, slow int // requests
	routes    map[evidence.NameID]*ofRoute
	route     evidence.NameID // the last one that was asked for, as one is mostly followed by another of it
	last      *ofRoute
}

// ofRoute is what requests of one route wait.
type ofRoute struct {
	waits []int64 // ns: those that are not slow first
	fast  int     // of waits
	end   int     // waits from here on are known, too
	slow  int     // requests
	usual int64
	lost  int64 // ns that slow ones exceed it, in all
}

func (c *Case) waited(all, slow []int) *waited {
	w := &waited{r: &c.Bundle.Requests, isSlow: evidence.NewRows(c.Bundle.Requests.Len()), all: len(all), slow: len(slow), routes: make(map[evidence.NameID]*ofRoute)}
	for _, row := range slow {
		w.isSlow.Add(row)
		w.of(row).slow++
	}
	for _, row := range all {
		w.of(row).end++
	}
	waits := make([]int64, len(all))
	for _, of := range w.routes {
		of.waits, waits = waits[:of.end:of.end], waits[of.end:]
	}
	return w
}

// of is what requests of a row's route wait.
func (w *waited) of(row int) *ofRoute {
	if route := w.r.Route.At(row); w.last == nil || route != w.route {
		w.route, w.last = route, w.routes[route]
		if w.last == nil {
			w.last = &ofRoute{}
			w.routes[route] = w.last
		}
	}
	return w.last
}

func (w *waited) add(row int, ns int64) {
	of := w.of(row)
	if w.isSlow.Has(row) {
		of.end--
		of.waits[of.end] = ns
		return
	}
	of.waits[of.fast] = ns
	of.fast++
}

// judge says what is usual; a route with few requests has no usual of its own, but that of all.
func (w *waited) judge() {
	overall := int64(-1) // not known
	for _, of := range w.routes {
		if len(of.waits) < ledger.MinRequests {
			if overall < 0 {
				overall = w.overall()
			}
			of.usual = overall
		}
	}
	for _, of := range w.routes { // which puts them in another order
		if len(of.waits) >= ledger.MinRequests {
			of.usual = usually(of.waits, of.fast, of.slow)
		}
	}
}

// overall is what is usual among requests of all routes.
func (w *waited) overall() int64 {
	waits := make([]int64, 0, w.all)
	for _, of := range w.routes {
		waits = append(waits, of.waits[:of.fast]...)
	}
	fast := len(waits)
	for _, of := range w.routes {
		waits = append(waits, of.waits[of.fast:]...)
	}
	return usually(waits, fast, w.slow)
}

// usually is the median of what requests wait, in ns, those first that are not slow. Where most of them are slow it is
// that of the others; where there are hardly any, what is usual is not in the evidence,
// and an objective missed by all counts from zero.
func usually(waits []int64, fast, slow int) int64 {
	if 2*slow > len(waits) {
		if waits = waits[:fast]; len(waits) < ledger.MinRequests {
			return 0
		}
	}
	return stats.QuantileOf(waits, .5)
}
