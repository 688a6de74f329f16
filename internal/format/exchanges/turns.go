package exchanges

import (
	"cmp"
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

// findTurns finds, for ports without event loops, until when others were served before each request. It leaves out requests that
// make calls, as the calls explain their waits.
func (p *parser) findTurns(loops *loops) {
	called := p.markCalling()
	type key struct {
		port  int64
		route evidence.NameID
	}
	groups := make(map[key][]int)
	for i := range p.requests {
		x := &p.requests[i]
		if x.first > 0 && !called[i] && !loops.isLoop(x.thread) && !x.isStreamed() {
			groups[key{port: x.port}] = append(groups[key{port: x.port}], i)
			if x.what != 0 {
				groups[key{x.port, x.what}] = append(groups[key{x.port, x.what}], i)
			}
		}
	}
	keys := make([]key, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	// All requests of a port come before those of a route: a wait of all is not the route's.
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.port, b.port), cmp.Compare(a.route, b.route)) })
	done := make(map[int64]bool)
	for _, k := range keys {
		if !done[k.port] && p.takeTurns(groups[k]) {
			done[k.port] = k.route == 0
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
	served, gap := stats.QuantileOf(alone, .5), stats.QuantileOf(gaps, .5)
	if served < turnLeast || float64(stats.QuantileOf(gaps, .1)) < turnEven*float64(stats.QuantileOf(alone, .1)) ||
		float64(gap) > turnLonger*float64(served) || float64(gap) < turnShorter*float64(served) {
		return false
	}
	for _, w := range waits {
		p.requests[w.row].turn = w.until
	}
	return true
}
