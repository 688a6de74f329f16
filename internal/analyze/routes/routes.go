// Package routes names the handler of each request that is known only by stacks, as in an execution trace, and gives it the method and path of
// the same request in an access log or a load generator's rows.
//
// Its opinion: one stack cannot separate a handler from its wrappers and from what it calls; all stacks of all requests together can. A function
// that calls another handler is a wrapper. A function that calls several functions on one line, one per request, got them as arguments: it only
// dispatches. Any function further inside is incidental to some requests of a handler and no route: a request must not be compared with others
// by what made it slow.
package routes

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Name sets the routes of requests whose handling was seen, of each process on its own.
func Name(b *evidence.Bundle) {
	r := &b.Requests
	traced := make(map[evidence.SubjectID][]int)
	for i := range r.Len() {
		if r.Route.At(i) == 0 && r.Lane.At(i) != 0 && r.Path(i) != nil {
			traced[r.Subject.At(i)] = append(traced[r.Subject.At(i)], i)
		}
	}
	for _, rows := range traced {
		if slices.ContainsFunc(rows, func(i int) bool { return r.Handling.At(i) != 0 }) {
			nameRoutes(b, rows)
		}
	}
}

func nameRoutes(b *evidence.Bundle, rows []int) {
	r := &b.Requests
	h := learnHandlings(b, rows)
	known := make(map[evidence.HandlingID]evidence.NameID)
	for id := range h.count {
		known[id] = h.routeOf(id)
	}
	var unknown []int
	count := make(map[evidence.NameID]int)
	for _, i := range rows {
		if r.Route.Set(i, known[r.Handling.At(i)]); r.Route.At(i) != 0 {
			count[r.Route.At(i)]++
		} else {
			unknown = append(unknown, i)
		}
	}
	if route := routeOfUnknown(b, rows, unknown, count); route != 0 {
		for _, i := range unknown {
			r.Route.Set(i, route)
		}
	}
}

// handlings are the functions in which a process's requests were seen.
type handlings struct {
	all      *evidence.Handlings
	count    map[evidence.HandlingID]int
	wrappers map[evidence.NameID]bool
	handsOn  map[call]bool
}

// call is a line of a function that calls others.
type call struct {
	by   evidence.NameID
	line int32
}

// minSeen is the least number of requests seen in a function for it to count: one or two are signals and panics.
const minSeen = 3

func learnHandlings(b *evidence.Bundle, rows []int) *handlings {
	h := &handlings{all: b.Handlings, count: make(map[evidence.HandlingID]int), wrappers: make(map[evidence.NameID]bool), handsOn: make(map[call]bool)}
	for _, i := range rows {
		if id := b.Requests.Handling.At(i); id != 0 {
			h.count[id]++
		}
	}
	for id := range h.count {
		for _, s := range h.all.Stacks(id) {
			for i := range lastCalled(s) {
				if s[i].Called {
					h.wrappers[s[i].Func] = true
				}
			}
		}
	}
	h.findCalls()
	return h
}

func lastCalled(s []evidence.Caller) int {
	for i := len(s) - 1; i > 0; i-- {
		if s[i].Called {
			return i
		}
	}
	return 0
}

// severalAtOnce is the share of requests that may be seen in two functions called on the same
// line before that line calls both for one request: f(g(x)).
const severalAtOnce = .05

// findCalls finds the lines on which a function dispatches requests to several others.
func (h *handlings) findCalls() {
	seen := make(map[call]map[evidence.NameID]int)
	requests, several := make(map[call]int), make(map[call]int)
	for id, n := range h.count {
		mine := make(map[call]map[evidence.NameID]bool)
		for _, s := range h.all.Stacks(id) {
			for i := lastCalled(s); i+1 < len(s); i++ {
				c := call{s[i].Func, s[i].Line}
				if mine[c] == nil {
					mine[c] = make(map[evidence.NameID]bool)
				}
				mine[c][s[i+1].Func] = true
			}
		}
		for c, to := range mine {
			if seen[c] == nil {
				seen[c] = make(map[evidence.NameID]int)
			}
			for f := range to {
				seen[c][f] += n
			}
			requests[c] += n
			if len(to) > 1 {
				several[c] += n
			}
		}
	}
	for c, to := range seen {
		often := 0
		for _, n := range to {
			if n >= minSeen {
				often++
			}
		}
		h.handsOn[c] = often > 1 && float64(several[c]) <= severalAtOnce*float64(requests[c])
	}
}

// routeOf returns the handler of requests with a handling, 0 if only wrappers were seen.
func (h *handlings) routeOf(id evidence.HandlingID) (route evidence.NameID) {
	deepest := -1
	for _, s := range h.all.Stacks(id) {
		i := lastCalled(s)
		if h.wrappers[s[i].Func] {
			continue
		}
		depth := 0
		for i+1 < len(s) && h.handsOn[call{s[i].Func, s[i].Line}] {
			i++
			depth++
		}
		if depth > deepest {
			deepest, route = depth, s[i].Func
		}
	}
	return route
}

// alike is the share of requests with a known route that must be of one route for those of unknown route to count as of it, too.
const alike = .9

// routeOfUnknown returns the route of requests that never waited within their handler: the route whose other requests are all as short. Where no
// other request is as short, it is the only handler's route if these requests are the majority and profiles show no other handler: then the
// requests seen in the handler are the unusual ones. A minority belongs to another handler, which is too quick to be seen and no measure for the
// requests that were seen.
func routeOfUnknown(b *evidence.Bundle, rows, unknown []int, count map[evidence.NameID]int) evidence.NameID {
	if len(unknown) == 0 || len(count) == 0 {
		return 0
	}
	r := &b.Requests
	took := make([]int64, 0, len(unknown))
	for _, i := range unknown {
		took = append(took, r.Latency(i))
	}
	slices.Sort(took)
	short := 2 * took[len(took)/2]
	all := false
	if len(count) == 1 && 2*len(unknown) > len(rows) {
		for handler := range count {
			all = !hasOtherHandler(b, r.Subject.At(rows[0]), handler)
		}
	}
	n, of := 0, make(map[evidence.NameID]int)
	for _, i := range rows {
		if r.Route.At(i) != 0 && (all || r.Latency(i) <= short) {
			n++
			of[r.Route.At(i)]++
		}
	}
	for route, k := range of {
		if (n >= minSeen || all) && float64(k) >= alike*float64(n) {
			return route
		}
	}
	return 0
}
