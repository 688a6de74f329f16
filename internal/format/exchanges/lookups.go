package exchanges

import (
	"cmp"
	"slices"
)

// naming is the queries of one lookup of a name: for A and AAAA at once, and for the name in further search domains.
type naming struct {
	begun, end int64 // end: when the last was answered, 0: not all were
	ok         bool  // one was answered with an address
	open       bool  // one is in progress at the end
	calls      []int32

	request int32 // that it may be for, and by how much (ns) that one's time is longer
	longer  int64
}

// unseen is a time in which a request showed no activity: until it made a call on a new connection, or was answered.
type unseen struct {
	from, until int64
	request     int32
	answers     bool
}

// Conditions to link lookups to requests if threads do not show it: a request showed no activity except for a moment before its lookup and another
// after it. The shorter these moments, and the fewer other requests showed none for about as long, the less likely is chance.
const (
	nextDomain = int64(5e6) // ns until a thread asks for the next name after the answer that there is no such name
	mostLonger = int64(1e9) // ns that a request may show no activity beyond its lookup
	mostCalls  = 1 << 8     // of a request that are examined
	mostTimes  = 1 << 10    // that are examined for a lookup
	timesAtOff = 4          // a few may exceed the time of most this many times
	leastGiven = int64(1e9) // ns until a resolver gives up
)

// linkLookups links the lookups that threads do not link: the C library's function blocks, so runtimes with event loops (asyncio,
// libuv) call it on threads of a pool. It returns how many lookups remain without a request, if these are many.
func (p *parser) linkLookups() (left int) {
	all := 0
	var rest []int32
	for i := range p.calls {
		if !p.calls[i].lookup {
			continue
		}
		all++
		if p.calls[i].request < 0 {
			rest = append(rest, int32(i))
		}
	}
	if len(rest) > 0 && len(p.requests) > 0 {
		p.linkNamings(p.groupLookups(rest), p.findUnseen(false))
	}
	for i := range p.calls {
		switch x := &p.calls[i]; {
		case !x.lookup:
		case x.request < 0:
			left++
		case x.isUnansweredLookup(): // the resolver gave up before this was written
			if r := &p.requests[x.request]; r.last > x.begun {
				x.last = min(x.last, r.last)
			}
		}
	}
	if len(p.requests) == 0 || float64(left) <= (1-linkedLeast)*float64(all) {
		return 0
	}
	return left
}

// groupLookups groups the queries of one lookup: a thread sends the next query at once, or soon
// after the answer that there is no such name.
func (p *parser) groupLookups(queries []int32) (all []naming) {
	slices.SortFunc(queries, func(a, b int32) int {
		x, y := &p.calls[a], &p.calls[b]
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.begun, y.begun), cmp.Compare(a, b))
	})
	thread := int64(0)
	for _, q := range queries {
		x := &p.calls[q]
		var n *naming
		if len(all) > 0 && x.thread == thread {
			last := &all[len(all)-1]
			if x.begun-last.begun <= atOnce || !last.ok && last.end > 0 && last.end <= x.begun && x.begun-last.end <= nextDomain {
				n = last
			}
		}
		if n == nil {
			all = append(all, naming{begun: x.begun, end: x.first})
			n = &all[len(all)-1]
		}
		thread = x.thread
		n.calls = append(n.calls, q)
		n.open = n.open || x.open
		if n.ok = n.ok || x.first > 0 && !x.unknownName && !x.failed; x.first == 0 {
			n.end = 0
		} else if n.end > 0 {
			n.end = max(n.end, x.first)
		}
	}
	return all
}

// findUnseen finds the times in which requests showed no activity, in order of time: until their answer and until calls on new
// connections, or until any call.
func (p *parser) findUnseen(untilAnyCall bool) (all []unseen) {
	first := make(map[ownEnd]int64) // the first calls of connections
	byRequest := make([][]int32, len(p.requests))
	for i := range p.calls {
		x := &p.calls[i]
		at := ownEnd{x.what, x.port}
		if begun, known := first[at]; !known || x.begun < begun {
			first[at] = x.begun
		}
		if x.request >= 0 && !x.lookup {
			byRequest[x.request] = append(byRequest[x.request], int32(i))
		}
	}
	for i := range p.requests {
		r, calls := &p.requests[i], byRequest[i]
		slices.SortFunc(calls, func(a, b int32) int {
			return cmp.Or(cmp.Compare(p.calls[a].begun, p.calls[b].begun), cmp.Compare(a, b))
		})
		if len(calls) > mostCalls {
			continue
		}
		since := func(at int64) int64 { // the last act before
			last := r.begun
			for _, k := range calls {
				if end := max(p.calls[k].first, p.calls[k].last); end <= at {
					last = max(last, end)
				}
			}
			return last
		}
		for _, k := range calls {
			if x := &p.calls[k]; untilAnyCall || first[ownEnd{x.what, x.port}] == x.begun {
				all = append(all, unseen{from: since(x.begun), until: x.begun - x.pooled, request: int32(i)})
			}
		}
		until := r.first
		if until == 0 {
			until = p.endOf(r)
		}
		all = append(all, unseen{from: since(until), until: until, request: int32(i), answers: true})
	}
	slices.SortFunc(all, func(a, b unseen) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.until, b.until), cmp.Compare(a.request, b.request))
	})
	return all
}

// lookupTime returns how long (ns) a lookup took: 0 for one under way, leastGiven for one that
// will get no answer.
func (n *naming) lookupTime() int64 {
	if n.open {
		return 0
	}
	if n.end == 0 {
		return leastGiven
	}
	return n.end - n.begun
}

// findRequest finds the request with the shortest such time in which the lookup fits. A request
// that has got an address makes a call.
func (n *naming) findRequest(all []unseen) {
	n.request, n.longer = -1, mostLonger
	at, _ := slices.BinarySearchFunc(all, n.begun, func(u unseen, t int64) int { return cmp.Compare(u.from, t+1) })
	least := max(0, at-mostTimes)
	for at--; at >= least && n.begun-all[at].from < n.longer; at-- {
		u := &all[at]
		if u.until < n.begun+n.lookupTime() || n.ok && n.end > 0 && u.answers {
			continue
		}
		longer := u.until - u.from - n.lookupTime()
		if n.end == 0 { // when the resolver gave up is unknown
			longer = n.begun - u.from
		}
		if longer < n.longer {
			n.request, n.longer = u.request, longer
		}
	}
}

// linkNamings links lookups to requests, if their times agree for most, and not by chance.
func (p *parser) linkNamings(all []naming, times []unseen) {
	var sum, found int64
	for i := range all {
		all[i].findRequest(times)
		sum += all[i].lookupTime()
	}
	slices.SortStableFunc(all, func(a, b naming) int { return cmp.Compare(a.longer, b.longer) })
	longer := int64(-1) // for most of the time
	for i := range all {
		if all[i].request < 0 {
			continue
		}
		found += all[i].lookupTime()
		if float64(found) >= linkedLeast*float64(sum) {
			longer = all[i].longer
			break
		}
	}
	if longer < 0 {
		return
	}
	lengths := make([]int64, 0, len(times))
	for i := range times {
		lengths = append(lengths, times[i].until-times[i].from)
	}
	slices.Sort(lengths)
	chance := 0. // to find one that is another's
	for i := range all {
		took := all[i].lookupTime()
		from, _ := slices.BinarySearch(lengths, took)
		until, _ := slices.BinarySearch(lengths, took+longer+1)
		if all[i].end == 0 {
			until = len(lengths)
		}
		chance += min(1, float64(until-from)*float64(longer)/float64(max(1, p.until-p.from))) * float64(took) / float64(max(1, sum))
	}
	if linkedLeast < notByChance*chance {
		return
	}
	for i := range all {
		if n := &all[i]; n.request >= 0 && n.longer <= timesAtOff*max(longer, atOnce) {
			for _, q := range n.calls {
				p.calls[q].request = n.request
			}
		}
	}
}
