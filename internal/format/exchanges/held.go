package exchanges

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Signs of a pool whose connections requests hold without a call, such as requests that wait for a second connection of it: nothing is on the
// wire while all wait. Such a request keeps its connection until it is answered, mostly by a time-out, after which the connection may be
// closed. Others leave a transaction open, which keeps the connection until a time-out closes it. Then the next request that waits begins its
// call at once, on this connection or on one that is opened instead.
const (
	heldWait  = int64(5e6) // ns that a request waits before it begins a call, to count
	heldTaken = .8         // part of the requests that waited whose connection was free only just before
	heldIdle  = .5         // part of the time in which connections are held without a call, at least
	heldAll   = .05        // part of the time in which all connections are held, at least
	heldAbove = .2         // of the time in which all connections are held, in which more are
	heldGap   = 2 * sharedEnd
	heldLost  = .8 // part of the connections that are closed while a transaction is open on them, from which those of which only the end is seen had one, too
)

// hold is the time in which a request keeps a connection.
type hold struct {
	from, until int64
	opened      int64 // when the set-up of its connection began, if this request is the first that has it; else from
	request     int32 // −1 unknown
	first       int   // its first call
	called      int64 // ns in calls
}

// holdsOf returns the holds of a peer's connections, if requests keep them until they are answered or their transactions end, and how many
// connections were closed while a transaction was open on them.
func (p *parser) holdsOf(calls []int) (all []hold, lost int) {
	if p.opened == nil {
		p.opened = make(map[int64]int64)
		for i := range p.calls {
			if x := &p.calls[i]; !x.lookup {
				if at, known := p.opened[x.port]; !known || x.begun < at {
					p.opened[x.port] = x.begun
				}
			}
		}
	}
	open := p.openAfter(calls)
	on := make(map[int64]int)     // by connection: its last hold
	before := make(map[int64]int) // by connection: the call before
	idle := 0                     // connections that were closed outside a transaction
	var unseen []hold             // of connections on which only the end was seen
	for _, i := range calls {
		x := &p.calls[i]
		done := max(x.begun, p.doneAt(x))
		n, known := on[x.port]
		last := before[x.port]
		before[x.port] = i
		if x.isClosing() {
			switch {
			case !known:
				unseen = append(unseen, hold{from: p.from, until: x.begun, opened: p.from, request: -1, first: i})
			case open[last]:
				all[n].until = x.begun
				lost++
			default:
				idle++
			}
			delete(on, x.port) // the port may come back
			continue
		}
		if known && open[last] { // the transaction goes on, or its end gives the connection back
			all[n].until = max(all[n].until, x.begun)
		}
		switch {
		case !known:
		case x.request >= 0 && all[n].request == x.request:
			all[n].called += done - x.begun
			continue
		case all[n].request < 0 && x.begun-all[n].until <= sharedEnd: // after the set-up of the connection, or a look whether it is alive
			h := &all[n]
			if h.until = max(h.until, done); x.request >= 0 {
				h.request, h.first, h.from, h.called, h.until = x.request, i, x.begun, done-x.begun, max(done, p.endOf(&p.requests[x.request]))
			}
			continue
		}
		h := hold{from: x.begun, until: done, opened: x.begun, request: x.request, first: i, called: done - x.begun}
		if x.request >= 0 {
			h.until = max(done, p.endOf(&p.requests[x.request]))
		}
		if known {
			all[n].until = min(all[n].until, x.begun)
		} else {
			h.opened = min(h.from, p.opened[x.port])
		}
		on[x.port] = len(all)
		all = append(all, h)
	}
	for port, n := range on {
		if open[before[port]] {
			all[n].until = p.until
		}
	}
	if float64(lost) >= heldLost*float64(lost+idle) {
		all = append(all, unseen...)
	}
	return all, lost
}

// findHeldPool finds the pool of a peer's connections that requests hold without a call, and charges requests with their waits for one: those
// that get a connection late, and those that get none. It returns the pool, 0 if there is none.
func (p *parser) findHeldPool(peer evidence.NameID, calls []int, loops *loops) (name evidence.NameID) {
	holds, lost := p.holdsOf(calls)
	if len(holds) < handOvers {
		return 0
	}
	var held, called int64
	ends := make([]int64, 0, len(holds))
	for i := range holds {
		h := &holds[i]
		held, called = held+h.until-h.from, called+h.called
		ends = append(ends, h.until)
	}
	if float64(called) > (1-heldIdle)*float64(held) {
		return 0
	}
	slices.Sort(ends)
	size, full := fullTimes(holds)
	if size < 2 { // one at a time may be a lock
		return 0
	}
	waited, taken := 0, 0
	for i := range holds {
		h := &holds[i]
		if h.request < 0 || h.from-p.requests[h.request].begun < heldWait || loops.isLoop(p.requests[h.request].thread) { // a loop that was busy calls late, too
			continue
		}
		waited++
		n, _ := slices.BinarySearch(ends, h.opened+1)
		if n > 0 && h.opened-ends[n-1] <= handOver || h.opened < h.from && h.opened-p.requests[h.request].begun >= heldWait {
			taken++
		}
	}
	chance := min(1, float64(len(ends))*float64(handOver)/float64(max(1, p.until-p.from)))
	if taken < handOvers || float64(taken) < heldTaken*float64(waited) || float64(taken) < notByChance*chance*float64(waited) {
		return 0
	}
	what := evidence.Wait{Kind: evidence.HeldPool, Places: size}
	if lost >= size/2 {
		what.Kind = evidence.LeakedPool
	}
	name = p.tellPool(peer, what)
	p.chargeHeld(name, holds, full)
	return name
}

// fullTimes returns the largest number of connections that are held at once for more than moments, and when so many are; 0 if there is no such
// number, as where more are opened when they are needed.
func fullTimes(holds []hold) (size int, full [][2]int64) {
	type edge struct {
		at int64
		by int
	}
	edges := make([]edge, 0, 2*len(holds))
	for i := range holds {
		edges = append(edges, edge{holds[i].from, 1}, edge{holds[i].until, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	times := make([]int64, len(holds)+1) // ns, by the number that are held
	n := 0
	for i, e := range edges {
		if n += e.by; i+1 < len(edges) {
			times[n] += edges[i+1].at - e.at
		}
	}
	var total, above int64
	for _, t := range times {
		total += t
	}
	for n := len(times) - 1; n > 0; n-- {
		if float64(times[n]) >= heldAll*float64(total) {
			size = n
			break
		}
		above += times[n]
	}
	if size == 0 || float64(above) > heldAbove*float64(times[size]) {
		return 0, nil
	}
	n = 0
	for _, e := range edges {
		was := n
		switch n += e.by; {
		case was < size && n >= size:
			if k := len(full); k > 0 && e.at-full[k-1][1] <= heldGap {
				full[k-1][1] = e.at // it is handed over
				continue
			}
			full = append(full, [2]int64{e.at, e.at})
		case was >= size:
			full[len(full)-1][1] = e.at
		}
	}
	return size, full
}

// chargeHeld charges requests with their waits for a connection while all are held: until they have one, or until they are answered without.
// Requests of routes that never call the peer do not wait for it.
func (p *parser) chargeHeld(name evidence.NameID, holds []hold, full [][2]int64) {
	waitIn := func(from, until int64) (ns int64) { // the last of the times without a connection
		n, _ := slices.BinarySearchFunc(full, until, func(f [2]int64, t int64) int { return cmp.Compare(f[0], t) })
		if n == 0 || until-full[n-1][1] > heldGap {
			return 0
		}
		return until - max(from, full[n-1][0])
	}
	routes := make(map[evidence.NameID]bool)
	for i := range holds {
		h := &holds[i]
		if h.request < 0 {
			continue
		}
		r := &p.requests[h.request]
		routes[r.what] = true
		if c := &p.calls[h.first]; c.pooled == 0 {
			if ns := waitIn(r.begun, c.begun); ns >= poolWait {
				c.pool, c.pooled, c.idle = name, ns, true
			}
		}
	}
	called := p.markCalling()
	for i := range p.requests {
		r := &p.requests[i]
		if called[i] || !routes[r.what] {
			continue
		}
		end := p.endOf(r)
		if ns := waitIn(r.begun, end); ns >= poolWait {
			p.calls = append(p.calls, exchange{begun: end, first: end, last: end, request: int32(i), pool: name, pooled: ns, idle: true, behind: true})
		}
	}
}
