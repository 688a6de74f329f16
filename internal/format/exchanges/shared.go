package exchanges

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// sharedEnd is the time (ns) after answers were read within which the last waiting request is answered: one follows the other.
const sharedEnd = int64(5e6)

// findShared finds requests that wait behind another request's call on a shared connection. Clients of Redis such as ioredis,
// Lettuce and StackExchange.Redis send further commands behind an unanswered call, and answers come in order: the kernel
// sees one exchange with several pieces sent. A request without calls that was read during the exchange, and was
// answered right after it ended, waited for it.
func (p *parser) findShared() {
	var all []int32 // calls, in the order of their ends
	for i := range p.calls {
		if c := &p.calls[i]; c.shared && c.first > 0 {
			all = append(all, int32(i))
		}
	}
	if len(all) == 0 {
		return
	}
	ended := func(k int32) int64 { return max(p.calls[k].first, p.calls[k].last) }
	slices.SortFunc(all, func(a, b int32) int { return cmp.Or(cmp.Compare(ended(a), ended(b)), cmp.Compare(a, b)) })
	called := p.markCalling()
	for i := range p.requests {
		x := &p.requests[i]
		if called[i] || x.first == 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(all, x.first, func(k int32, at int64) int { return cmp.Compare(ended(k), at+1) })
		for n--; n >= 0 && x.first-ended(all[n]) <= sharedEnd; n-- {
			c := p.calls[all[n]]
			if c.begun <= x.begun && x.begun < ended(all[n]) {
				p.calls = append(p.calls, c.behindIt(int32(i), x.begun))
				break
			}
		}
	}
}

// Signs that requests without calls wait for another request's call: the call lasts nearly all the time from their reading to their answer,
// which follows its end at once. This must hold for most of those that take long, and more often than by chance.
const (
	awaitedLeast = int64(5e6) // ns that a request and the call take
	awaitedPart  = .8         // of the request's time
	awaitedMost  = .5         // of the requests
	awaitedTimes = 10
)

// findAwaited finds requests that wait until another request's call is answered: for a lock that is held over the call, a place in a limit
// of one, or a result that all share. If their reader is an event loop that was blocked then, they wait for the loop.
func (p *parser) findAwaited(loops *loops) {
	called := make([]bool, len(p.requests))
	var byEnd []int32
	var took []int64
	for i := range p.calls {
		c := &p.calls[i]
		if c.request >= 0 {
			called[c.request] = true
		}
		if c.first > 0 && !c.behind && p.doneAt(c)-c.begun >= awaitedLeast {
			byEnd = append(byEnd, int32(i))
			took = append(took, p.doneAt(c)-c.begun)
		}
	}
	ended := func(k int32) int64 { return p.doneAt(&p.calls[k]) }
	slices.SortFunc(byEnd, func(a, b int32) int { return cmp.Or(cmp.Compare(ended(a), ended(b)), cmp.Compare(a, b)) })
	slices.Sort(took)
	type wait struct{ request, call int32 }
	var found []wait
	long, chance := 0, 0.
	for i := range p.requests {
		x := &p.requests[i]
		lasts := x.first - x.begun
		if called[i] || x.first == 0 || lasts < awaitedLeast || float64(loops.busyFor(x.thread, x.begun, x.first)) >= awaitedMost*float64(lasts) {
			continue
		}
		long++
		shorter, _ := slices.BinarySearch(took, int64(awaitedPart*float64(lasts)))
		chance += min(1, float64(len(took)-shorter)*float64(sharedEnd)/float64(max(1, p.until-p.from)))
		n, _ := slices.BinarySearchFunc(byEnd, x.first, func(k int32, at int64) int { return cmp.Compare(ended(k), at+1) })
		for n--; n >= 0 && x.first-ended(byEnd[n]) <= sharedEnd; n-- {
			if c := &p.calls[byEnd[n]]; float64(ended(byEnd[n])-max(c.begun, x.begun)) >= awaitedPart*float64(lasts) {
				found = append(found, wait{int32(i), byEnd[n]})
				break
			}
		}
	}
	if n := float64(len(found)); n < awaitedTimes || n < awaitedMost*float64(long) || n < notByChance*chance {
		return
	}
	waiters := make(map[int32]int)
	for _, w := range found {
		waiters[w.call]++
	}
	for _, w := range found {
		c, from := &p.calls[w.call], p.requests[w.request].begun
		if c.request < 0 && waiters[w.call] == 1 && c.begun >= from { // a call of no other request, for which only this one waits, is its own
			c.request, c.byTime = w.request, true
			continue
		}
		p.calls = append(p.calls, c.awaitedBy(w.request, from))
	}
}

// findSharedLookups finds requests that wait for the lookup that another request began. Clients such as Netty's ask once for a name that
// several requests want, and all of them go on when the answer has come.
func (p *parser) findSharedLookups() { p.findSharedAnswers(true, nil) }

// findSharedCalls is [parser.findAwaited] for requests of Go programs that make calls of their own before or after the wait. Of other runtimes
// their threads show the lock.
func (p *parser) findSharedCalls(loops *loops) {
	if slices.ContainsFunc(p.requests, func(x exchange) bool { return x.goroutines[0] > 0 }) {
		p.findSharedAnswers(false, loops)
	}
}

// findSharedAnswers finds requests that go on when another request's lookup or call is answered: with their next call, or with their own
// answer. Times tell it, as for findAwaited, by route. Requests whose reader is an event loop that was blocked then wait for the loop.
func (p *parser) findSharedAnswers(lookups bool, loops *loops) {
	var byEnd []int32
	var took []int64
	ended := func(k int32) int64 { return max(p.calls[k].first, p.calls[k].last) }
	for i := range p.calls {
		if c := &p.calls[i]; c.lookup == lookups && !c.behind && c.first > 0 && ended(int32(i))-c.begun >= awaitedLeast {
			byEnd = append(byEnd, int32(i))
			took = append(took, ended(int32(i))-c.begun)
		}
	}
	if len(byEnd) == 0 {
		return
	}
	slices.SortFunc(byEnd, func(a, b int32) int { return cmp.Or(cmp.Compare(ended(a), ended(b)), cmp.Compare(a, b)) })
	slices.Sort(took)
	type wait struct {
		request, call int32
		from          int64
	}
	type waits struct {
		found  []wait
		long   int     // times without activity
		chance float64 // how many of them would end after a lookup by chance
	}
	byRoute := make(map[evidence.NameID]*waits)
	for _, u := range p.findUnseen(true) {
		lasts := u.until - u.from
		r := &p.requests[u.request]
		if lasts < awaitedLeast || loops != nil && float64(loops.busyFor(r.thread, u.from, u.until)) >= awaitedMost*float64(lasts) {
			continue
		}
		of := byRoute[r.what]
		if of == nil {
			of = new(waits)
			byRoute[r.what] = of
		}
		of.long++
		shorter, _ := slices.BinarySearch(took, int64(awaitedPart*float64(lasts)))
		of.chance += min(1, float64(len(took)-shorter)*float64(sharedEnd)/float64(max(1, p.until-p.from)))
		n, _ := slices.BinarySearchFunc(byEnd, u.until, func(k int32, at int64) int { return cmp.Compare(ended(k), at+1) })
		for n--; n >= 0; n-- {
			c := &p.calls[byEnd[n]]
			if u.until-ended(byEnd[n]) > max(sharedEnd, int64((1-awaitedPart)*float64(lasts))) {
				break
			}
			if c.request != u.request && float64(ended(byEnd[n])-max(c.begun, u.from)) >= awaitedPart*float64(lasts) {
				of.found = append(of.found, wait{u.request, byEnd[n], u.from})
				break
			}
		}
	}
	var found []wait
	for _, of := range byRoute {
		if n := float64(len(of.found)); n >= awaitedTimes && n >= awaitedMost*float64(of.long) && n >= notByChance*of.chance {
			found = append(found, of.found...)
		}
	}
	slices.SortFunc(found, func(a, b wait) int { return cmp.Or(cmp.Compare(a.request, b.request), cmp.Compare(a.from, b.from)) })
	for _, w := range found {
		c := p.calls[w.call].awaitedBy(w.request, w.from)
		c.awaited = !lookups
		p.calls = append(p.calls, c)
	}
}

// behindIt returns a call as another request's wait, from a moment or from the call's beginning on.
func (x exchange) behindIt(request int32, from int64) exchange {
	x.begun, x.request, x.behind, x.pool, x.pooled, x.ready = max(x.begun, from), request, true, 0, 0, 0
	return x
}

// awaitedBy is [exchange.behindIt] for a request that waits until the call has ended: for a lock that is held over it, or for its result.
func (x exchange) awaitedBy(request int32, from int64) exchange {
	x = x.behindIt(request, from)
	x.awaited = true
	return x
}

// markCalling returns, by request, whether it makes a call.
func (p *parser) markCalling() []bool {
	called := make([]bool, len(p.requests))
	for i := range p.calls {
		if r := p.calls[i].request; r >= 0 {
			called[r] = true
		}
	}
	return called
}

// Signs that requests wait for several exchanges of a shared connection, one after the other: answers come in the order of the commands, so that what is
// sent during one exchange may be answered with the next. A request is answered right after the last of them ends, and they last nearly all the time since it was
// read. That must hold for most requests of a route that take long, and more often than by chance.
const chainedMost = 4 // exchanges

// findSharedChains finds such requests. They make no call of their own, or made their last on that connection.
func (p *parser) findSharedChains() {
	byEnd := make(map[ownEnd][]int32) // exchanges of connections that carry further commands
	for i := range p.calls {
		if c := &p.calls[i]; c.shared {
			byEnd[ownEnd{c.what, c.port}] = nil
		}
	}
	last := make(map[int32]int32) // by request: its call that ended last
	for i := range p.calls {
		c := &p.calls[i]
		if c.behind {
			if c.request >= 0 {
				last[c.request] = -1
			}
			continue
		}
		at := ownEnd{c.what, c.port}
		if _, shares := byEnd[at]; shares && c.first > 0 {
			byEnd[at] = append(byEnd[at], int32(i))
		}
		if k, known := last[c.request]; c.request >= 0 && (!known || k >= 0 && p.doneAt(c) > p.doneAt(&p.calls[k])) {
			last[c.request] = int32(i)
		}
	}
	type chained struct {
		request int32
		from    int64
	}
	type ofRoute struct {
		all   []chained
		found map[int32]int32 // by request: the exchange
	}
	for _, at := range slices.SortedFunc(maps.Keys(byEnd), func(a, b ownEnd) int {
		return cmp.Or(cmp.Compare(p.b.Text(a.to), p.b.Text(b.to)), cmp.Compare(a.port, b.port))
	}) {
		calls := byEnd[at]
		slices.SortFunc(calls, func(a, b int32) int { return cmp.Compare(p.doneAt(&p.calls[a]), p.doneAt(&p.calls[b])) })
		chance := min(1, float64(len(calls))*float64(sharedEnd)/float64(max(1, p.until-p.from)))
		routes := make(map[evidence.NameID]*ofRoute)
		answered := make(map[int32]int64) // by exchange: when the last of those that wait for it is answered
		for i := range p.requests {
			x := &p.requests[i]
			from := x.begun
			switch k, known := last[int32(i)]; {
			case x.first == 0, known && k < 0:
				continue
			case known && (ownEnd{p.calls[k].what, p.calls[k].port} != at || !p.calls[k].shared):
				continue
			case known:
				from = p.doneAt(&p.calls[k])
			}
			if x.first-from < awaitedLeast {
				continue
			}
			of := routes[x.what]
			if of == nil {
				of = &ofRoute{found: make(map[int32]int32)}
				routes[x.what] = of
			}
			of.all = append(of.all, chained{int32(i), from})
			if k := p.lastOfChain(calls, from, x.first, max(sharedEnd, int64((1-awaitedPart)*float64(x.first-from)))); k >= 0 {
				of.found[int32(i)] = k
				answered[k] = max(answered[k], x.first)
			}
		}
		for _, what := range slices.Sorted(maps.Keys(routes)) {
			of := routes[what]
			for _, w := range of.all { // others that are answered meanwhile: to answer many takes a loop a while
				if _, known := of.found[w.request]; known {
					continue
				}
				first := p.requests[w.request].first
				if k := p.lastOfChain(calls, w.from, first, first-w.from); k >= 0 && first <= answered[k]+shortWait {
					of.found[w.request] = k
				}
			}
			n, long := float64(len(of.found)), float64(len(of.all))
			if n < awaitedTimes || n < awaitedMost*long || n < notByChance*chance*long {
				continue
			}
			for _, w := range of.all {
				k, known := of.found[w.request]
				if !known {
					continue
				}
				c := p.calls[k].behindIt(w.request, w.from)
				c.begun = w.from
				p.calls = append(p.calls, c)
				last[w.request] = -1
			}
		}
	}
}

// lastOfChain returns the exchange, of those of a connection in the order of their ends, after which a request is answered that waited for it and
// those before it: at most so late (ns) after its end. It returns -1 if there is none.
func (p *parser) lastOfChain(calls []int32, from, answered, late int64) int32 {
	n, _ := slices.BinarySearchFunc(calls, answered, func(k int32, at int64) int { return cmp.Compare(p.doneAt(&p.calls[k]), at+1) })
	if n--; n < 0 || answered-p.doneAt(&p.calls[calls[n]]) > late {
		return -1
	}
	ended := p.doneAt(&p.calls[calls[n]])
	covered := int64(0)
	for k := n; k >= 0 && n-k < chainedMost; k-- {
		c := &p.calls[calls[k]]
		covered += max(0, p.doneAt(c)-max(c.begun, from))
		if c.begun <= from+shortWait || k > 0 && p.doneAt(&p.calls[calls[k-1]]) <= from {
			break
		}
	}
	if ended <= from || float64(covered) < awaitedPart*float64(ended-from) {
		return -1
	}
	return calls[n]
}
