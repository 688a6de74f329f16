package exchanges

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Signs that a process serves one request at a time, behind a lock, a queue with one worker or a limit of one: while several are in progress,
// the distances of their answers are as long as the service of a lone request. Requests that are served side by side are answered at any
// time, some right after another.
const (
	turnLeast   = int64(500e3) // ns that a lone request takes, in the median
	turnAlone   = 20           // lone requests, at least
	turnBehind  = 50           // requests that were answered after others that they had waited for, at least
	turnEven    = .6           // the tenth percentile of the distances is at least this part of that of lone requests' times
	turnLonger  = 1.6          // the median distance is at most this many times the lone requests' median
	turnShorter = .7           // and at least this part of it
)

// portRoute is a route of a port; 0: all of them.
type portRoute struct {
	port  int64
	route evidence.NameID
}

// routeRows are requests by their routes.
type routeRows map[portRoute][]int

// sortKeys returns the routes in order. All requests of a port come before those of a route: a wait of all is not the route's.
func (r routeRows) sortKeys() []portRoute {
	return slices.SortedFunc(maps.Keys(r), func(a, b portRoute) int { return cmp.Or(cmp.Compare(a.port, b.port), cmp.Compare(a.route, b.route)) })
}

// findTurns finds, for ports without event loops, until when others were served before each request. It leaves out requests whose calls
// explain their waits.
func (p *parser) findTurns(loops *loops) {
	called := p.markCalling()
	groups := make(routeRows)
	for i := range p.requests {
		x := &p.requests[i]
		if x.first > 0 && !called[i] && !loops.isLoop(x.thread) && !x.isStreamed() {
			groups[portRoute{port: x.port}] = append(groups[portRoute{port: x.port}], i)
			if x.what != 0 {
				groups[portRoute{x.port, x.what}] = append(groups[portRoute{x.port, x.what}], i)
			}
		}
	}
	done := make(map[int64]bool)
	for _, k := range groups.sortKeys() {
		if !done[k.port] && p.takeTurns(groups[k]) {
			done[k.port] = k.route == 0
		}
	}
	p.findTurnsBesideCalls(loops, called)
}

// turnUnseen is the part of the time of a route's requests in which they neither call nor wait for a busy event loop, from which they may wait
// for their turn.
const turnUnseen = .5

// findTurnsBesideCalls is [parser.findTurns] for routes whose requests make calls but are mostly idle: each puts a
// task into a queue, such as a list in Redis, and is answered when the one worker has done it. The worker's calls are not theirs.
func (p *parser) findTurnsBesideCalls(loops *loops, called []bool) {
	groups := make(routeRows)
	for i := range p.requests {
		x := &p.requests[i]
		if x.first > 0 && x.turn == 0 && x.what != 0 && !x.isStreamed() && called[i] {
			groups[portRoute{x.port, x.what}] = append(groups[portRoute{x.port, x.what}], i)
		}
	}
	inCalls := make([]int64, len(p.requests))
	for i := range p.calls {
		if x := &p.calls[i]; x.request >= 0 {
			r := &p.requests[x.request]
			inCalls[x.request] += max(0, min(p.doneAt(x), r.first)-max(x.begun-x.pooled, r.begun))
		}
	}
	for _, k := range groups.sortKeys() {
		var all, seen int64
		for _, i := range groups[k] {
			x := &p.requests[i]
			all += x.first - x.begun
			seen += min(x.first-x.begun, inCalls[i]+loops.busyFor(x.thread, x.begun, x.first))
		}
		if float64(all-seen) >= turnUnseen*float64(all) {
			p.takeTurns(groups[k])
		}
	}
}

// takeTurns says whether requests are served one at a time, and records until when each waits.
func (p *parser) takeTurns(rows []int) bool {
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(p.requests[a].first, p.requests[b].first) })
	type wait struct {
		row   int
		until int64
	}
	var waits []wait
	var alone, gaps []int64
	last := int64(0)
	for _, i := range rows {
		x := &p.requests[i]
		if last > x.begun {
			waits = append(waits, wait{i, last})
			gaps = append(gaps, x.first-last)
		} else {
			alone = append(alone, x.first-x.begun)
		}
		last = x.first
	}
	if len(alone) < turnAlone || len(gaps) < turnBehind {
		return false
	}
	if stats.QuantileOf(alone, .5) < turnLeast || !isAsLong(gaps, alone) {
		return false
	}
	for _, w := range waits {
		p.requests[w.row].turn = w.until
	}
	return true
}
