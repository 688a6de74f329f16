package exchanges

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// linkCalls finds the requests that calls are made for: by goroutines, and else by threads, by time, or by the threads that requests are handed to,
// whichever links more calls.
func (p *parser) linkCalls() {
	byThreads := linkByThreads(p.requests, p.calls, p.started)
	byThreads += handedOver(p.requests, p.calls)
	of := p.linksOfCalls()
	for i := range p.calls {
		if p.calls[i].served {
			byThreads--
		}
	}
	unlink := func() {
		for i := range p.calls {
			if x := &p.calls[i]; !x.served {
				x.request = -1
			}
		}
	}
	unlink()
	byTime := linkByTime(p.requests, p.calls, nil, p.until-p.from)
	timed := byTime > byThreads
	if timed {
		of, byThreads = p.linksOfCalls(), byTime
	}
	unlink()
	working, byJobs := linkByJobs(p.requests, p.calls)
	if byJobs > 0 {
		byJobs += linkByTime(p.requests, p.calls, working, p.until-p.from)
	}
	if byJobs <= byThreads {
		for i := range p.calls {
			p.calls[i].request = of[i]
			p.calls[i].byTime = timed && !p.calls[i].served
		}
	}
	if byJobs <= byThreads {
		p.linkRestByTime(timed)
	}
	p.linkTransactions()
}

// linkRestByTime links by time the calls that are not linked yet: requests of some routes may wait for what a worker does for them, beside others
// that make their calls themselves, or are answered later after their call than most. Where times linked the others (timed), a
// request that has a call gets no more.
func (p *parser) linkRestByTime(timed bool) {
	linked := make(map[int32]bool)
	var rest []int
	for i := range p.calls {
		if r := p.calls[i].request; r < 0 {
			rest = append(rest, i)
		} else if timed {
			linked[r] = true
		}
	}
	linkByTime(p.requests, p.calls, linked, p.until-p.from)
	for _, i := range rest {
		p.calls[i].byTime = p.calls[i].request >= 0
	}
}

// linksOfCalls returns the request of each call.
func (p *parser) linksOfCalls() []int32 {
	of := make([]int32, len(p.calls))
	for i := range p.calls {
		of[i] = p.calls[i].request
	}
	return of
}

// linkTransactions links the calls of a transaction to the request that another of its calls belongs to. The calls of a connection are in order.
func (p *parser) linkTransactions() {
	open := make(map[ownEnd][]int)
	for _, i := range p.byBeginning() {
		x := &p.calls[i]
		at := ownEnd{x.what, x.port}
		if x.transaction != transactionNone && x.transaction != transactionOpen {
			continue
		}
		all := append(open[at], i)
		if open[at] = all; x.transaction == transactionOpen {
			continue
		}
		delete(open, at)
		request := int32(-1)
		for _, k := range all {
			request = max(request, p.calls[k].request)
		}
		for _, k := range all {
			if c := &p.calls[k]; c.request < 0 && request >= 0 && c.begun >= p.requests[request].begun {
				c.request = request
			}
		}
	}
}

// byBeginning returns all calls in the order in which they begin.
func (p *parser) byBeginning() []int {
	all := make([]int, len(p.calls))
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Or(cmp.Compare(p.calls[a].begun, p.calls[b].begun), cmp.Compare(a, b)) })
	return all
}

// isUnansweredLookup says whether a call is a query to a name server without an answer. When the
// resolver gave up on it is unknown.
func (x *exchange) isUnansweredLookup() bool { return x.lookup && x.first == 0 }

// moment is an act of a thread, in the order of time.
type moment struct {
	at        int64
	what      act
	thread    int64
	of        int32 // the request or the call
	goroutine int64 // 0 unknown
}

type act uint8

const (
	reads   act = iota // a request
	sends              // a call
	learns             // the answer of a call
	answers            // a request, for the last time
)

// mostOutlived is the part of the calls that may end after the requests they are linked to. If the links are wrong,
// about half do.
const mostOutlived = .05

// linkByThreads links calls to the requests that their threads work on, and returns how many. A goroutine that read a request works on it
// until it is answered, on any thread: its calls are for that request, and so are those of goroutines that it has started meanwhile. Other goroutines, such as those
// that write for a client of HTTP, continue on the thread that woke them.
func linkByThreads(requests, calls []exchange, started *started) (linked int) {
	all := make([]moment, 0, 2*(len(requests)+len(calls)))
	for i := range requests {
		x := &requests[i]
		all = append(all, moment{x.begun, reads, x.thread, int32(i), x.goroutines[0]})
		if x.last > 0 {
			all = append(all, moment{x.last, answers, x.other, int32(i), x.goroutines[1]})
		}
	}
	for i := range calls {
		x := &calls[i]
		all = append(all, moment{x.begun, sends, x.thread, int32(i), x.goroutines[0]})
		if x.first > 0 {
			all = append(all, moment{x.first, learns, x.other, int32(i), x.goroutines[1]})
		}
	}
	slices.SortFunc(all, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what)) })
	handles := make(map[int64]int32) // by thread: a request, −1 unknown
	serves := make(map[int64]int32)  // by goroutine: the request that it read last
	underWay := make(map[int32]bool)
	for _, m := range all {
		switch m.what {
		case reads:
			handles[m.thread] = m.of
			underWay[m.of] = true
			if m.goroutine > 0 {
				serves[m.goroutine] = m.of
			}
		case sends:
			r, known := serves[m.goroutine]
			if origin, seen := started.originOf(m.goroutine, m.at, max(calls[m.of].first, m.at)); origin > 0 {
				// One that is there before or after the request does not work for it alone, as those that keep a connection.
				if of, serving := serves[origin]; serving && seen[0] >= requests[of].begun && (requests[of].last == 0 || seen[1] <= requests[of].last) {
					r, known = of, true
					calls[m.of].byStarted = true
				}
			}
			if known {
				handles[m.thread] = r
				calls[m.of].served = true
			} else {
				r, known = handles[m.thread]
			}
			if known && r >= 0 && underWay[r] {
				calls[m.of].request = r
			}
		case learns:
			handles[m.thread] = calls[m.of].request
		case answers:
			delete(underWay, m.of)
		}
	}
	guessed, outlived := 0, 0
	for i := range calls {
		x := &calls[i]
		if x.request < 0 {
			continue
		}
		linked++
		if !x.served {
			guessed++
		}
		if r := &requests[x.request]; r.last > 0 && max(x.first, x.last) > r.last && !x.isUnansweredLookup() {
			linked--
			if x.request = -1; !x.served {
				outlived++
			}
		}
	}
	if float64(outlived) > mostOutlived*float64(guessed) {
		for i := range calls {
			if x := &calls[i]; x.request >= 0 && !x.served {
				x.request = -1
				linked--
			}
		}
	}
	return linked
}

// Conditions to link calls by time: a request is answered, or makes its next call, atOnce after a call has ended. This must hold for linkedLeast of the
// requests that can have a call, or of those of a route, and notByChance times as often as for random moments.
const (
	atOnce      = int64(1e6) // ns
	soon        = int64(3e6) // ns, if the last call of requests is known
	later       = int64(5e6) // ns, as long as it takes to read an answer and write another
	linkedLeast = .7
	notByChance = 4
	routeLeast  = 10 // requests of a route
)

// linkByTime links calls to requests if threads do not show it, and returns how many; recorded is the length of the recording (ns). Requests whose calls are
// known get no further ones.
func linkByTime(requests, calls []exchange, known map[int32]bool, recorded int64) (linked int) {
	if len(calls) == 0 || len(requests) == 0 {
		return 0
	}
	x := byTime{requests: requests, calls: calls}
	for i := range calls {
		if calls[i].request < 0 && x.callEnd(int32(i)) > 0 && !calls[i].lookup { // linkLookups is better for lookups
			x.byEnd = append(x.byEnd, int32(i))
		}
	}
	slices.SortFunc(x.byEnd, func(a, b int32) int { return cmp.Or(cmp.Compare(x.callEnd(a), x.callEnd(b)), cmp.Compare(a, b)) })
	var answered []int32
	for i := range requests {
		if requests[i].first > 0 && !known[int32(i)] {
			answered = append(answered, int32(i))
		}
	}
	slices.SortFunc(answered, func(a, b int32) int {
		return cmp.Or(cmp.Compare(requests[a].first, requests[b].first), cmp.Compare(a, b))
	})
	chance := float64(len(x.byEnd)) * float64(atOnce) / float64(max(1, recorded))
	tells := func(met, could, all int) bool {
		return float64(met) >= linkedLeast*float64(could) && float64(met) >= notByChance*chance*float64(all)
	}
	last := x.lastOf(answered)
	if !tells(len(last), min(len(answered), len(x.byEnd)), len(answered)) { // some routes make no calls, or there are too many calls
		for _, k := range last {
			calls[k].request = -1
		}
		x.last = make(map[evidence.NameID]ending)
		x.findLast(answered, recorded, atOnce)
		x.findLast(answered, recorded, soon)
		x.findLast(answered, recorded, later)
		last = x.lastOf(answered)
	}
	return len(last) + x.linkEarlierCalls(last)
}

// callKind is what calls of one kind share.
type callKind struct {
	to, operation evidence.NameID
	transaction   transaction
}

func (x *exchange) kind() callKind { return callKind{x.what, x.operation, x.transaction} }

// ending is the kind of call that the requests of a route end with, at most this long (ns) before their answer.
type ending struct {
	callKind
	after    int64
	requests int // that end so
}

// findLast finds for routes the call that most of their requests end with, such as a commit, if more do than with the call known so far.
func (x *byTime) findLast(answered []int32, recorded, after int64) {
	kinds := make(map[callKind]int)
	for _, k := range x.byEnd {
		kinds[x.calls[k].kind()]++
	}
	type pair struct { // of requests and calls that may end them
		route evidence.NameID
		callKind
	}
	met, of := make(map[pair]int), make(map[evidence.NameID]int)
	var near []callKind
	for _, r := range answered {
		of[x.requests[r].what]++
		near = near[:0]
		x.eachEndedBefore(r, x.requests[r].first, after, func(k int32) bool {
			if kind := x.calls[k].kind(); !slices.Contains(near, kind) {
				near = append(near, kind)
				met[pair{x.requests[r].what, kind}]++
			}
			return true
		})
	}
	for p, n := range met {
		chance := float64(kinds[p.callKind]) * float64(after) / float64(max(1, recorded))
		all := of[p.route]
		if all < routeLeast || float64(n) < linkedLeast*float64(all) || float64(n) < notByChance*chance*float64(all) {
			continue
		}
		if before := x.last[p.route]; n > before.requests || n == before.requests && after == before.after && cmp.Or(cmp.Compare(p.to, before.to), cmp.Compare(p.operation, before.operation), cmp.Compare(p.transaction, before.transaction)) < 0 {
			x.last[p.route] = ending{p.callKind, after, n}
		}
	}
}

// byTime are calls in the order in which they end, some linked to requests.
type byTime struct {
	requests, calls []exchange
	byEnd           []int32
	last            map[evidence.NameID]ending // by route; nil: any call may be the last
}

func (x *byTime) callEnd(k int32) int64 { return max(x.calls[k].first, x.calls[k].last) }

// eachEndedBefore yields the calls that may belong to request r and ended at most after (ns)
// before the moment at, the last first.
func (x *byTime) eachEndedBefore(r int32, at, after int64, yield func(k int32) bool) {
	n, _ := slices.BinarySearchFunc(x.byEnd, at, func(k int32, t int64) int { return cmp.Compare(x.callEnd(k), t+1) })
	for n--; n >= 0 && at-x.callEnd(x.byEnd[n]) <= after; n-- {
		if k := x.byEnd[n]; x.calls[k].request < 0 && x.calls[k].begun >= x.requests[r].begun && !yield(k) {
			return
		}
	}
}

// endedAt returns the call that ended right before a moment of a request; -1 none.
func (x *byTime) endedAt(r int32, at int64) (found int32) {
	found = -1
	x.eachEndedBefore(r, at, atOnce, func(k int32) bool {
		found = k
		return false
	})
	return found
}

// endOf returns the call that a request ended with; -1 unknown.
func (x *byTime) endOf(r int32) (found int32) {
	if x.last == nil {
		return x.endedAt(r, x.requests[r].first)
	}
	found = -1
	if of, known := x.last[x.requests[r].what]; known {
		x.eachEndedBefore(r, x.requests[r].first, of.after, func(k int32) bool {
			if x.calls[k].kind() == of.callKind {
				found = k
			}
			return found < 0
		})
	}
	return found
}

// lastOf links requests, in the order of their answers, with their last calls, and returns these.
func (x *byTime) lastOf(answered []int32) (last []int32) {
	for _, r := range answered {
		if k := x.endOf(r); k >= 0 {
			x.calls[k].request = r
			last = append(last, k)
		}
	}
	return last
}

// linkEarlierCalls links the calls that requests made before their last, one after the other, and
// returns how many it linked.
func (x *byTime) linkEarlierCalls(last []int32) (linked int) {
	slices.SortFunc(last, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.calls[b].begun, x.calls[a].begun), cmp.Compare(a, b))
	})
	for _, k := range last {
		for at := k; ; linked++ {
			j := x.endedAt(x.calls[k].request, x.calls[at].begun)
			if j < 0 {
				break
			}
			x.calls[j].request = x.calls[k].request
			at = j
		}
	}
	return linked
}
