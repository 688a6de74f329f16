package exchanges

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Signs of a pool of connections that is never seen to be full, because some of its connections are lost: nothing is sent on them any more, and
// yet they keep their places until a time-out, as when the body of an answer is not closed. Requests wait for the others: each of these goes to the
// next request at the moment when its call ends, and a new connection is opened only when a lost one is given up.
const (
	handedPart  = .8 // of the requests that waited before a call: the call begins right after another's on its connection, or on a new connection
	lostOpened  = 5  // connections that are opened for requests that waited, from which connections count as lost
	handedPorts = 2  // connections that are handed over: one alone may be a lock
)

// handed is what is known of a peer's connections by how they go from one request to the next.
type handed struct {
	waits  []handedWait
	opened int // connections that were opened for requests that waited
}

type handedWait struct {
	call int
	from int64 // since when (ns) its request waited
}

// isLosing says whether connections are lost.
func (h handed) isLosing() bool { return h.opened >= lostOpened }

// findHanded finds the waits for a peer's connections by how these are handed over alone; none if nearly as many would begin so by chance. activity
// returns since when (ns) a request has shown no activity when it makes a call.
func (p *parser) findHanded(calls []int, loops *loops, activity func() func(call int) int64) (found handed) {
	done, holds := p.busyInTransactions(calls)
	over, quick, quickOver := 0, 0, 0
	ports := make(map[int64]bool)
	last := make(map[int64]int) // by connection
	for _, i := range calls {
		x := &p.calls[i]
		before, known := last[x.port]
		last[x.port] = i
		if x.request < 0 || loops.isLoop(p.requests[x.request].thread) || known && (holds[before] || p.calls[before].request == x.request) {
			continue
		}
		atOnce := known && x.begun-done[before] <= handOver
		from := activity()(i)
		switch {
		case x.begun-from < heldWait:
			if quick++; atOnce {
				quickOver++
			}
			continue
		case atOnce:
			over++
			ports[x.port] = true
		case !known:
			found.opened++
		}
		found.waits = append(found.waits, handedWait{i, from})
	}
	chance := max(float64(quickOver)/float64(max(1, quick)), float64(handOver)*float64(len(calls))/float64(len(last))/float64(max(1, p.until-p.from)))
	n := float64(len(found.waits))
	if over < handOvers || len(ports) < handedPorts || float64(over+found.opened) < handedPart*n || float64(over) < notByChance*chance*n {
		return handed{}
	}
	return found
}

// chargeHanded charges requests with their waits for a peer's connections, to the pool of that name if it is known (else 0).
func (p *parser) chargeHanded(name, peer evidence.NameID, found handed) {
	if name == 0 && len(found.waits) > 0 {
		what := evidence.Wait{Of: p.b.Text(peer)}
		if found.isLosing() {
			what.Kind = evidence.LostPool
		}
		name = p.b.TellWait(fmt.Sprintf("the pool of connections to %s", p.b.Text(peer)), what)
	}
	for _, w := range found.waits {
		if x := &p.calls[w.call]; x.begun-w.from > x.pooled {
			x.pool, x.pooled, x.idle = name, x.begun-w.from, found.isLosing()
		}
	}
}

// sinceActivity returns a function that returns since when (ns) a request has shown no activity when it makes a call.
func (p *parser) sinceActivity() func(call int) int64 {
	type key struct {
		request int32
		until   int64
	}
	since := make(map[key]int64)
	for _, u := range p.findUnseen(true) {
		since[key{u.request, u.until}] = u.from
	}
	return func(call int) int64 {
		x := &p.calls[call]
		if from, known := since[key{x.request, x.begun}]; known {
			return from
		}
		return x.begun
	}
}
