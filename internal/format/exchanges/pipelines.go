package exchanges

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Signs that the requests of a route ask a peer over one connection in a protocol that is not known, such as that of a message broker: what is sent
// on it comes to one piece for each request, further pieces are sent before earlier ones are answered, and requests are answered right after
// something was read. How long each waited for its own answer is then all its time: the peer, or what works behind it, lets them wait, and not a
// queue of the program's own, whose requests would ask only when their turn has come.
const (
	pipelinedLeast = 50  // requests
	pipelinedPart  = .8  // of them: that are answered right after a read; and of the pieces sent, and of the requests, that match
	pipelinedAhead = 10  // times that something was sent before an earlier piece was answered
	pipelinedSlack = 2e6 // ns between the reading of a request and what it sends
)

// findPipelined finds such routes, and charges their requests with the wait for the peer, unless they make other calls.
func (p *parser) findPipelined(loops *loops) {
	called := make([]bool, len(p.requests))
	for i := range p.calls {
		if x := &p.calls[i]; x.request >= 0 && x.known {
			called[x.request] = true
		}
	}
	routes := make(routeRows)
	for i := range p.requests {
		if x := &p.requests[i]; x.first > 0 && x.what != 0 && !called[i] && !x.isStreamed() {
			routes[portRoute{x.port, x.what}] = append(routes[portRoute{x.port, x.what}], i)
		}
	}
	byPort := make(map[ownEnd][]int32)
	p.eachPeer(func(peer evidence.NameID, calls []int) {
		for _, i := range calls {
			if x := &p.calls[i]; !x.known && x.first > 0 {
				byPort[ownEnd{peer, x.port}] = append(byPort[ownEnd{peer, x.port}], int32(i))
			}
		}
	})
	ends := make([]ownEnd, 0, len(byPort))
	for end := range byPort {
		ends = append(ends, end)
	}
	slices.SortFunc(ends, func(a, b ownEnd) int {
		return cmp.Or(cmp.Compare(p.b.Text(a.to), p.b.Text(b.to)), cmp.Compare(a.port, b.port))
	})
	for _, k := range routes.sortKeys() {
		for _, end := range ends {
			if rows := routes[k]; p.isPipelined(rows, byPort[end], loops) {
				for _, i := range byPort[end] {
					p.calls[i].request = -1 // times linked it
				}
				for _, i := range rows {
					x := &p.requests[i]
					p.calls = append(p.calls, exchange{what: end.to, port: end.port, begun: x.begun, first: x.first, last: x.first, request: int32(i), behind: true, known: true, multiplexed: true})
				}
				break
			}
		}
	}
}

// isPipelined says whether requests ask over a connection, whose exchanges are given in the order of their times.
func (p *parser) isPipelined(rows []int, exchanges []int32, loops *loops) bool {
	if len(rows) < pipelinedLeast || len(exchanges) == 0 {
		return false
	}
	var reads []int64
	pieces, matched, ahead := 0, 0, 0
	next := 0
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(p.requests[a].begun, p.requests[b].begun) })
	for n, k := range exchanges {
		c := &p.calls[k]
		reads = append(reads, c.first, p.doneAt(c))
		until := p.until
		if n+1 < len(exchanges) {
			until = p.calls[exchanges[n+1]].begun
		}
		asked := 0
		for next < len(rows) && p.requests[rows[next]].begun < until-int64(pipelinedSlack) {
			if p.requests[rows[next]].begun >= c.begun-int64(pipelinedSlack) {
				asked++
			}
			next++
		}
		pieces += int(c.sends)
		matched += min(asked, int(c.sends))
		ahead += max(0, int(c.sends)-1)
	}
	if ahead < pipelinedAhead || float64(matched) < pipelinedPart*float64(max(pieces, len(rows))) {
		return false
	}
	slices.Sort(reads)
	after := 0
	for _, i := range rows {
		x := &p.requests[i]
		if loops.busyFor(x.thread, x.begun, x.first) > (x.first-x.begun)/2 {
			continue // the loop that reads answers was blocked
		}
		if n, _ := slices.BinarySearch(reads, x.first+1); n > 0 && x.first-reads[n-1] <= sharedEnd {
			after++
		}
	}
	chance := min(1, float64(len(reads))*float64(sharedEnd)/float64(max(1, p.until-p.from)))
	return float64(after) >= max(pipelinedPart, min(.95, notByChance*chance))*float64(len(rows))
}
