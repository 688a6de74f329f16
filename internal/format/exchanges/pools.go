package exchanges

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
)

// Signs of a pool of connections that requests queue for: all existing connections carry calls or open transactions at once, and the
// next call begins as soon as one ends.
const (
	handOver   = int64(2e6) // ns from the end of a call until the next one begins on the same connection, if nothing is known
	handOverOf = .25        // of the median call, at most: what a program does between the end of a call and the beginning of the next
	handOvers  = 10         // calls that begin so while all other connections are busy
	poolReused = 2          // calls that a connection must carry to count as kept
	poolSpares = 1.25       // kept connections per busy one, at most: with more, connections were opened anew
	poolWait   = int64(1e6) // ns: the shortest wait that counts
)

// findPools finds the pools of connections, and for calls how long their requests waited for a connection. Where connections are lost,
// times at which all are busy are not asked: a few that are left may look like all.
func (p *parser) findPools(loops *loops) {
	activity := sync.OnceValue(p.sinceActivity)
	p.eachPeer(func(peer evidence.NameID, calls []int) {
		handed := p.findHanded(calls, loops, activity)
		if !handed.isLosing() && p.findPool(peer, calls, loops) {
			return
		}
		name := p.findHeldPool(peer, calls, loops)
		if name == 0 || handed.isLosing() { // those that were held since before the recording are not known
			p.chargeHanded(name, peer, handed)
		}
	})
}

// peerOf is a peer of one of the processes that are recorded together; 0 stands for the one in the heading.
type peerOf struct {
	peer    evidence.NameID
	process int64
}

// eachPeer yields the calls of each peer in the order in which they begin, those of each process apart: it has pools and connections of its own.
// Peers come in the order of their names. It leaves out calls beside which others may be in progress on the connection.
func (p *parser) eachPeer(yield func(peer evidence.NameID, calls []int)) {
	ends := make(map[ownEnd]int64) // the process of a connection
	for i := range p.calls {
		x := &p.calls[i]
		if process := p.processes[x.thread]; process != 0 {
			ends[ownEnd{x.what, x.port}] = process
		}
	}
	byPeer := make(map[peerOf][]int)
	for i := range p.calls {
		if x := &p.calls[i]; x.what != 0 && !x.multiplexed && x.serves == nil {
			of := peerOf{x.what, ends[ownEnd{x.what, x.port}]}
			byPeer[of] = append(byPeer[of], i)
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(byPeer), func(a, b peerOf) int {
		return cmp.Or(cmp.Compare(p.b.Text(a.peer), p.b.Text(b.peer)), cmp.Compare(a.process, b.process))
	}) {
		calls := byPeer[of]
		slices.SortFunc(calls, func(a, b int) int { return cmp.Or(cmp.Compare(p.calls[a].begun, p.calls[b].begun), cmp.Compare(a, b)) })
		yield(of.peer, calls)
	}
}

// doneAt returns when the last byte of a call's answer was read; without an answer, when its connection was closed or the recording ended.
func (p *parser) doneAt(x *exchange) int64 {
	if done := max(x.first, x.last); done > 0 {
		return done
	}
	return p.until
}

// isClosing reports whether a call only says that its connection ends: a few bytes, after which it is closed without an answer.
func (x *exchange) isClosing() bool {
	return x.first == 0 && x.last > 0 && x.failed && x.operation == 0 && x.out <= closingBytes
}

// closingBytes is the longest message that ends a connection: Terminate of PostgreSQL and COM_QUIT of MySQL have 5 bytes, and TLS adds some 30.
const closingBytes = 48

// openAfter returns the calls of a peer, in the order in which they begin, that leave a transaction open on their connection, which carries
// nothing else until the transaction ends.
func (p *parser) openAfter(calls []int) map[int]bool {
	open := make(map[int]bool)
	stands := make(map[int64]bool) // by connection
	for _, i := range calls {
		x := &p.calls[i]
		if x.transaction != transactionUnknown {
			stands[x.port] = x.transaction == transactionOpen
		}
		if stands[x.port] {
			open[i] = true
		}
	}
	return open
}

// handOverTime returns how long (ns) a connection is idle at most when it is handed over: between the end of a call and the beginning of
// the next call, whose request was already waiting. Meanwhile the program reads the answer and wakes the next request. done is when
// calls give their connections back.
func (p *parser) handOverTime(calls []int, done map[int]int64) int64 {
	var rests, took []int64
	last := make(map[int64]int) // by connection
	for _, i := range calls {
		x := &p.calls[i]
		before, known := last[x.port]
		last[x.port] = i
		took = append(took, done[i]-x.begun)
		if known && x.request >= 0 && p.requests[x.request].begun < done[before] && x.begun >= done[before] {
			rests = append(rests, x.begun-done[before])
		}
	}
	if len(rests) < handOvers {
		return handOver
	}
	slices.Sort(rests)
	slices.Sort(took)
	return max(handOver, min(stats.Quantile(rests, .9), int64(handOverOf*float64(stats.Quantile(took, .5)))))
}

// findPool finds the pool of a peer's connections, and reports whether there is one that requests queue for. A connection is busy during its calls
// and transactions; if that shows no pool, it may be busy until the request that made a call on it is answered, as where rows or sessions
// are closed at the end.
func (p *parser) findPool(peer evidence.NameID, calls []int, loops *loops) bool {
	if done, holds := p.busyInTransactions(calls); p.findFullPool(peer, calls, done, holds, loops) {
		return true
	}
	done, holds, held := p.busyUntilAnswered(calls)
	return held && p.findFullPool(peer, calls, done, holds, loops)
}

// busyInTransactions returns until when (ns) each call keeps its connection, where a call or an open transaction does, and which calls
// the next one on the connection continues.
func (p *parser) busyInTransactions(calls []int) (done map[int]int64, holds map[int]bool) {
	holds = p.openAfter(calls)
	done = make(map[int]int64, len(calls))
	next := make(map[int64]int64) // by connection: when its next call begins
	for _, i := range slices.Backward(calls) {
		x := &p.calls[i]
		then, known := next[x.port]
		switch done[i] = p.doneAt(x); {
		case known && (holds[i] || then < done[i]): // the transaction goes on on its connection
			done[i] = then
		case holds[i]:
			done[i] = p.until
		}
		next[x.port] = x.begun
	}
	return done, holds
}

// heldCalls is the part of the calls after which no other request uses the connection before the request is answered, from which requests are
// taken to keep it until then.
const heldCalls = .95

// busyUntilAnswered returns until when (ns) each call keeps its connection, where requests keep it until they are answered, and which calls
// the next one on the connection continues. Held says whether they do: many requests work on for a while after a call, and hardly any other
// request uses the connection meanwhile.
func (p *parser) busyUntilAnswered(calls []int) (done map[int]int64, holds map[int]bool, held bool) {
	done, holds = make(map[int]int64, len(calls)), make(map[int]bool)
	next := make(map[int64]int) // by connection: the next call
	kept, lost := 0, 0
	for _, i := range slices.Backward(calls) {
		x := &p.calls[i]
		then, known := next[x.port]
		next[x.port] = i
		done[i] = p.doneAt(x)
		switch {
		case x.request < 0:
		case known && p.calls[then].request == x.request:
			holds[i], done[i] = true, p.calls[then].begun
		default:
			answered := p.doneAt(&p.requests[x.request])
			if answered-done[i] < poolWait {
				break
			}
			done[i] = answered
			if known && p.calls[then].begun < answered {
				lost++
			} else {
				kept++
			}
		}
		if known {
			done[i] = min(done[i], p.calls[then].begun)
		}
	}
	return done, holds, kept >= handOvers && float64(kept) >= heldCalls*float64(kept+lost)
}

// findFullPool finds the moments in which all connections of a peer are busy, by until when each call keeps its connection (done), and charges
// requests with their waits for one. It reports whether requests queue for connections.
func (p *parser) findFullPool(peer evidence.NameID, calls []int, done map[int]int64, holds map[int]bool, loops *loops) bool {
	carried := make(map[int64]int) // by connection
	type edge struct {
		at int64
		by int
	}
	edges := make([]edge, 0, 2*len(calls))
	for _, i := range calls {
		x := &p.calls[i]
		carried[x.port]++
		edges = append(edges, edge{x.begun, 1}, edge{done[i], -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	size, busy, kept := 0, 0, 0
	for _, e := range edges {
		busy += e.by
		size = max(size, busy)
	}
	for _, n := range carried {
		if n >= poolReused {
			kept++
		}
	}
	if kept < size || float64(len(carried)) > max(poolSpares*float64(size), float64(size+1)) {
		return false
	}
	handOver := p.handOverTime(calls, done)
	var full [][2]int64 // when all connections are busy, hand-overs included
	busy = 0
	for _, e := range edges {
		if busy += e.by; busy != size {
			if e.by < 0 && busy == size-1 && len(full) > 0 { // a call may end at the moment when it begins
				full[len(full)-1][1] = e.at
			}
			continue
		}
		if n := len(full); n > 0 && e.at-full[n-1][1] <= handOver {
			continue
		}
		full = append(full, [2]int64{e.at, p.until})
	}
	type handed struct {
		call int
		from int64
	}
	var queued []handed
	mistaken := p.findMistaken(calls)
	last := make(map[int64]int) // by connection
	for _, i := range calls {
		x := &p.calls[i]
		before, known := last[x.port]
		last[x.port] = i
		if !known || holds[before] || x.begun-done[before] > handOver || x.request < 0 || mistaken[i] {
			continue
		}
		n, _ := slices.BinarySearchFunc(full, x.begun, func(f [2]int64, t int64) int { return cmp.Compare(f[0], t) })
		if n == 0 || full[n-1][1] < done[before] {
			continue
		}
		queued = append(queued, handed{i, max(full[n-1][0], p.requests[x.request].begun)})
	}
	if len(queued) < handOvers {
		return false
	}
	for i := range mistaken {
		p.calls[i].request = -1
	}
	name := p.tellPool(peer, evidence.Wait{Places: size})
	if threads := p.threadsThatCall(calls, size); threads != "" {
		name = p.b.TellWait(fmt.Sprintf("the %d threads of %s", size, threads), evidence.Wait{Kind: evidence.PoolThread, Of: threads, Places: size})
	}
	if size == 1 { // calls under a lock need only one connection, too
		name = p.b.Wait(evidence.OneAtATime, p.b.Text(peer))
	}
	for _, h := range queued {
		if x := &p.calls[h.call]; x.begun-h.from >= poolWait {
			x.pool, x.pooled = name, x.begun-h.from
		}
	}
	if size > 1 {
		p.chargeUnlinked(name, calls, full, loops)
	}
	return true
}

// tellPool names a pool of connections to a peer, of which each process has one.
func (p *parser) tellPool(peer evidence.NameID, what evidence.Wait) evidence.NameID {
	what.Of = p.b.Text(peer)
	text := fmt.Sprintf("the pool of %s to %s", units.Plural(what.Places, "connection"), what.Of)
	if what.Processes = p.processesThatCall(peer); what.Processes > 1 {
		text += ", in each process"
	}
	return p.b.TellWait(text, what)
}

// processesThatCall counts the processes that call a peer.
func (p *parser) processesThatCall(peer evidence.NameID) int {
	if len(p.processes) == 0 {
		return 1
	}
	calling := make(map[int64]bool)
	for i := range p.calls {
		if x := &p.calls[i]; x.what == peer {
			calling[p.processes[x.thread]] = true
		}
	}
	return len(calling)
}

// threadsThatCall returns the name of the pool of threads from which the calls of a peer come, if there are as many threads as connections,
// each connection is one thread's own, and none of these threads reads requests: then requests wait for a thread, and the connections are only
// what each of them keeps. It is "" otherwise, and where the threads have no name of their own.
func (p *parser) threadsThatCall(calls []int, size int) (pool string) {
	owner := make(map[int64]int64) // thread by connection
	calling := make(map[int64]bool)
	for _, i := range calls {
		x := &p.calls[i]
		if thread, met := owner[x.port]; met && thread != x.thread {
			return ""
		}
		owner[x.port], calling[x.thread] = x.thread, true
	}
	for thread := range calling {
		name := threadstack.TrimNumber(p.names[thread])
		if name == "" || pool != "" && name != pool {
			return ""
		}
		pool = name
	}
	for i := range p.requests {
		if x := &p.requests[i]; calling[x.thread] || threadstack.TrimNumber(p.names[x.thread]) == pool {
			return ""
		}
	}
	if len(calling) != size {
		return ""
	}
	return pool
}

// Signs that requests send several calls at a time, which queue in the client: more calls are in progress than requests that make any.
const fannedLeast = .2 // of the time in which calls are in progress

// findMistaken returns the calls that are linked to a request only because they ended right before its next call began, if requests send several calls at a
// time: where those of one queue with those of others, the end of any lets the next one begin. The last call of each request is no mistake.
func (p *parser) findMistaken(calls []int) map[int]bool {
	type edge struct {
		at              int64
		calls, requests int
	}
	edges := make([]edge, 0, 4*len(calls))
	last := make(map[int32]int) // by request
	for _, i := range calls {
		x := &p.calls[i]
		edges = append(edges, edge{x.begun, 1, 0}, edge{p.doneAt(x), -1, 0})
		if x.request < 0 {
			continue
		}
		if !x.byTime {
			return nil // threads tell it
		}
		if k, known := last[x.request]; !known || p.doneAt(x) > p.doneAt(&p.calls[k]) {
			last[x.request] = i
		}
	}
	for r := range last {
		edges = append(edges, edge{p.requests[r].begun, 0, 1}, edge{p.doneAt(&p.requests[r]), 0, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.calls, b.calls), cmp.Compare(a.requests, b.requests))
	})
	inCalls, inRequests := 0, 0
	var fanned, all int64
	for n, e := range edges[:max(0, len(edges)-1)] {
		inCalls, inRequests = inCalls+e.calls, inRequests+e.requests
		ns := edges[n+1].at - e.at
		if inCalls > 0 {
			all += ns
		}
		if inRequests > 0 && inCalls > inRequests {
			fanned += ns
		}
	}
	if float64(fanned) < fannedLeast*float64(all) {
		return nil
	}
	mistaken := make(map[int]bool)
	for _, i := range calls {
		if r := p.calls[i].request; r >= 0 && last[r] != i {
			mistaken[i] = true
		}
	}
	return mistaken
}

// unlinkedLeast is the part of the requests of a route, of those that are linked to calls, that must call a pool's peer for the others to count
// as waiting for the pool. It is also how many calls without a request there must be for one such request.
const unlinkedLeast = .8

// chargeUnlinked charges requests of event loops with their waits for a connection of a pool while it is full (full: from and until, ns). On a loop neither
// threads nor times tell which calls a request makes once many are under way. A request of a route that calls the peer, at which
// no call is known, waited while the pool was full, but for as long as its own calls take.
func (p *parser) chargeUnlinked(name evidence.NameID, calls []int, full [][2]int64, loops *loops) {
	called := p.markCalling()
	callsPeer := make(map[int32]int64) // by request: how long its calls take, ns
	var alone int
	for _, i := range calls {
		if x := &p.calls[i]; x.request >= 0 {
			callsPeer[x.request] += p.doneAt(x) - x.begun
		} else {
			alone++
		}
	}
	type route struct {
		linked, calling int
		took            []int64
		unlinked        []int32
	}
	routes := make(map[evidence.NameID]*route)
	for i := range p.requests {
		x := &p.requests[i]
		of := routes[x.what]
		if of == nil {
			of = new(route)
			routes[x.what] = of
		}
		switch took, calls := callsPeer[int32(i)]; {
		case called[i]:
			if of.linked++; calls {
				of.calling++
				of.took = append(of.took, took)
			}
		case loops.isLoop(x.thread):
			of.unlinked = append(of.unlinked, int32(i))
		}
	}
	left := 0
	for what, of := range routes {
		if of.calling < routeLeast || float64(of.calling) < unlinkedLeast*float64(of.linked) {
			delete(routes, what)
			continue
		}
		left += len(of.unlinked)
	}
	if float64(alone) < unlinkedLeast*float64(left) {
		return
	}
	for _, of := range routes {
		usual := stats.QuantileOf(of.took, .5)
		for _, i := range of.unlinked {
			r := &p.requests[i]
			end := p.endOf(r) - usual
			if ns := timeWithin(full, r.begun, end); ns >= poolWait {
				p.calls = append(p.calls, exchange{begun: end, first: end, last: end, request: i, pool: name, pooled: ns, idle: true, behind: true})
			}
		}
	}
}

// timeWithin returns how much (ns) of the time between two moments lies in stretches, which are in order.
func timeWithin(stretches [][2]int64, from, until int64) (ns int64) {
	n, _ := slices.BinarySearchFunc(stretches, from, func(s [2]int64, t int64) int { return cmp.Compare(s[1], t) })
	for ; n < len(stretches) && stretches[n][0] < until; n++ {
		ns += min(until, stretches[n][1]) - max(from, stretches[n][0])
	}
	return ns
}
