package exchanges

import (
	"cmp"
	"slices"
)

// naming is the queries of one lookup of a name: for A and AAAA at once, and for the name in the next search domain.
type naming struct {
	begun, end int64 // end: the last was answered, 0: not all were
	ok         bool  // one was answered with a name
	calls      []int32
}

// linkLookups links the lookups of names that threads do not link: the C library's function blocks, so that runtimes with event loops (asyncio,
// libuv) call it on threads of a pool. A request makes its next call, on a new connection, or is answered, at once after its lookup; or its lookup
// begins at once after the request was read or an answer of its calls. It returns how many of the lookups are left, if that is many.
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
		of := p.namings(rest)
		p.linkNamings(of, p.leadsOn(), func(n *naming) (from, until int64) { return n.end, n.end + atOnce })
		p.linkNamings(of, p.hasLed(), func(n *naming) (from, until int64) { return n.begun, n.begun - atOnce })
	}
	for i := range p.calls {
		switch x := &p.calls[i]; {
		case !x.lookup:
		case x.request < 0:
			left++
		case x.unanswered(): // the resolver gave up before that was told
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

// namings puts queries together that are of one lookup: a thread sends the next at once, or at once after it was told that there is no such name.
func (p *parser) namings(queries []int32) (all []naming) {
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
			if x.begun-last.begun <= atOnce || !last.ok && last.end > 0 && last.end <= x.begun && x.begun-last.end <= atOnce {
				n = last
			}
		}
		if n == nil {
			all = append(all, naming{begun: x.begun, end: x.first})
			n = &all[len(all)-1]
		}
		thread = x.thread
		n.calls = append(n.calls, q)
		if n.ok = n.ok || x.first > 0 && !x.unknownName && !x.failed; x.first == 0 {
			n.end = 0
		} else if n.end > 0 {
			n.end = max(n.end, x.first)
		}
	}
	return all
}

// leadsOn is what requests do next after a lookup, in order of time: the first calls on their connections, and answers.
func (p *parser) leadsOn() (all []moment) {
	first := make(map[ownEnd]int64)
	for i := range p.calls {
		x := &p.calls[i]
		at := ownEnd{x.what, x.port}
		if begun, known := first[at]; !known || x.begun < begun {
			first[at] = x.begun
		}
	}
	for i := range p.calls {
		if x := &p.calls[i]; !x.lookup && x.request >= 0 && first[ownEnd{x.what, x.port}] == x.begun {
			all = append(all, moment{at: x.begun, of: x.request})
		}
	}
	for i := range p.requests {
		if x := &p.requests[i]; x.first > 0 {
			all = append(all, moment{at: x.first, of: int32(i)})
		}
	}
	slices.SortFunc(all, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.of, b.of)) })
	return all
}

// hasLed is what lookups follow, in order of time: requests that were read, and answers of their calls.
func (p *parser) hasLed() (all []moment) {
	for i := range p.requests {
		all = append(all, moment{at: p.requests[i].begun, of: int32(i)})
	}
	for i := range p.calls {
		if x := &p.calls[i]; x.request >= 0 && x.first > 0 {
			all = append(all, moment{at: x.first, of: x.request})
		}
	}
	slices.SortFunc(all, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.of, b.of)) })
	return all
}

// linkNamings links lookups to the requests of the moments next to them, from one time on to another or back to it, if most have such a
// moment, and more than by chance.
func (p *parser) linkNamings(all []naming, moments []moment, near func(n *naming) (from, until int64)) {
	to := make(map[int]int32)
	could := 0
	for i := range all {
		n := &all[i]
		from, until := near(n)
		if from == 0 || p.calls[n.calls[0]].request >= 0 {
			continue
		}
		could++
		step := 1
		at, _ := slices.BinarySearchFunc(moments, from, func(m moment, t int64) int { return cmp.Compare(m.at, t) })
		if until < from {
			at, _ = slices.BinarySearchFunc(moments, from, func(m moment, t int64) int { return cmp.Compare(m.at, t+1) })
			at, step = at-1, -1
		}
		for ; at >= 0 && at < len(moments) && min(from, until) <= moments[at].at && moments[at].at <= max(from, until); at += step {
			if r := &p.requests[moments[at].of]; r.begun <= n.begun && (r.last == 0 || r.last >= max(n.end, n.begun)) {
				to[i] = moments[at].of
				break
			}
		}
	}
	chance := float64(len(moments)) * float64(atOnce) / float64(max(1, p.until-p.from))
	if float64(len(to)) < linkedLeast*float64(could) || float64(len(to)) < notByChance*chance*float64(could) {
		return
	}
	for i, r := range to {
		for _, q := range all[i].calls {
			p.calls[q].request = r
		}
	}
}
