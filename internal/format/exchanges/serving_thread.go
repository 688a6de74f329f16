package exchanges

import (
	"cmp"
	"slices"
)

// Signs that threads serve one request at a time, from reading to answering.
const (
	sameThread    = .95 // part of a port's answered requests that the thread which read them answers: in a pool with awaits another thread often goes on
	sameThreadFew = 20  // such requests of a port, at least
)

// findServingThreads finds the requests of ports at which the thread that reads a request answers it. A thread that has read the next request before
// it has answered one serves several at a time, as an event loop does.
func (p *parser) findServingThreads(loops *loops) {
	same, answered := make(map[int64]int), make(map[int64]int)
	for i := range p.requests {
		if x := &p.requests[i]; x.first > 0 {
			answered[x.port]++
			if x.thread == x.other {
				same[x.port]++
			}
		}
	}
	of := make(map[int64][]*exchange)
	for i := range p.requests {
		x := &p.requests[i]
		if x.goroutines[0] == 0 && !loops.isLoop(x.thread) && !x.multiplexed && same[x.port] >= sameThreadFew && float64(same[x.port]) >= sameThread*float64(answered[x.port]) {
			of[x.thread] = append(of[x.thread], x)
		}
	}
	for _, all := range of {
		slices.SortFunc(all, func(x, y *exchange) int { return cmp.Compare(x.begun, y.begun) })
		var until int64 // of the requests before
		for i, x := range all {
			end := p.endOf(x)
			alone := x.begun >= until && (i+1 == len(all) || all[i+1].begun >= end)
			x.byThread = alone && (x.first == 0 || x.thread == x.other)
			until = max(until, end)
		}
	}
}
