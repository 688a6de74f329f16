package exchanges

import (
	"cmp"
	"slices"
)

// link finds for calls the requests that they are made for: by threads or by time, whichever tells of more.
func (p *parser) link() {
	byThreads := linkByThreads(p.requests, p.calls)
	byThreads += handedOver(p.requests, p.calls)
	of := make([]int32, len(p.calls))
	for i := range p.calls {
		of[i], p.calls[i].request = p.calls[i].request, -1
	}
	if linkByTime(p.requests, p.calls, p.until-p.from) <= byThreads {
		for i := range p.calls {
			p.calls[i].request = of[i]
		}
	}
}

// unanswered says whether it is a query to a name server without an answer, of which it is not known when the resolver gave up.
func (x *exchange) unanswered() bool { return x.lookup && x.first == 0 }

// moment is something that a thread did, in the order of time.
type moment struct {
	at     int64
	what   act
	thread int64
	of     int32 // the request or the call
}

type act uint8

const (
	reads   act = iota // a request
	sends              // a call
	learns             // the answer of a call
	answers            // a request, for the last time
)

// mostOutlived is the part of the calls that may end after the requests they are taken to belong to. Where they belong to others,
// about half do.
const mostOutlived = .05

// linkByThreads links calls to the requests that their threads work on, and says how many.
func linkByThreads(requests, calls []exchange) (linked int) {
	all := make([]moment, 0, 2*(len(requests)+len(calls)))
	for i := range requests {
		x := &requests[i]
		all = append(all, moment{x.begun, reads, x.thread, int32(i)})
		if x.last > 0 {
			all = append(all, moment{x.last, answers, x.other, int32(i)})
		}
	}
	for i := range calls {
		x := &calls[i]
		all = append(all, moment{x.begun, sends, x.thread, int32(i)})
		if x.first > 0 {
			all = append(all, moment{x.first, learns, x.other, int32(i)})
		}
	}
	slices.SortFunc(all, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what)) })
	handles := make(map[int64]int32) // by thread: a request, −1 unknown
	underWay := make(map[int32]bool)
	for _, m := range all {
		switch m.what {
		case reads:
			handles[m.thread] = m.of
			underWay[m.of] = true
		case sends:
			if r, known := handles[m.thread]; known && r >= 0 && underWay[r] {
				calls[m.of].request = r
			}
		case learns:
			handles[m.thread] = calls[m.of].request
		case answers:
			delete(underWay, m.of)
		}
	}
	outlived := 0
	for i := range calls {
		x := &calls[i]
		if x.request < 0 {
			continue
		}
		linked++
		if r := &requests[x.request]; r.last > 0 && max(x.first, x.last) > r.last && !x.unanswered() {
			outlived++
			x.request = -1
		}
	}
	if float64(outlived) > mostOutlived*float64(linked) {
		for i := range calls {
			calls[i].request = -1
		}
		return 0
	}
	return linked - outlived
}

// What links calls by time: a request is answered, or makes its next call, atOnce after a call has ended. That is so of linkedLeast of the
// requests that can have a call, and of notByChance times as many as it would be of moments drawn by lot.
const (
	atOnce      = int64(1e6) // ns
	linkedLeast = .7
	notByChance = 4
)

// linkByTime links calls to requests where threads do not tell, and says how many; recorded is for how long they were recorded (ns).
func linkByTime(requests, calls []exchange, recorded int64) (linked int) {
	if len(calls) == 0 || len(requests) == 0 {
		return 0
	}
	byEnd := make([]int32, 0, len(calls))
	end := func(k int32) int64 { return max(calls[k].first, calls[k].last) }
	for i := range calls {
		if end(int32(i)) > 0 && !calls[i].unanswered() {
			byEnd = append(byEnd, int32(i))
		}
	}
	slices.SortFunc(byEnd, func(a, b int32) int { return cmp.Or(cmp.Compare(end(a), end(b)), cmp.Compare(a, b)) })
	before := func(r int32, at int64) int32 { // the call that ended last before a moment, and that nothing speaks against
		n, _ := slices.BinarySearchFunc(byEnd, at, func(k int32, t int64) int { return cmp.Compare(end(k), t+1) })
		for n--; n >= 0 && at-end(byEnd[n]) <= atOnce; n-- {
			if k := byEnd[n]; calls[k].request < 0 && calls[k].begun >= requests[r].begun {
				return k
			}
		}
		return -1
	}
	byAnswer := make([]int32, 0, len(requests))
	for i := range requests {
		if requests[i].first > 0 {
			byAnswer = append(byAnswer, int32(i))
		}
	}
	slices.SortFunc(byAnswer, func(a, b int32) int {
		return cmp.Or(cmp.Compare(requests[a].first, requests[b].first), cmp.Compare(a, b))
	})
	met := 0
	for _, r := range byAnswer {
		if k := before(r, requests[r].first); k >= 0 {
			calls[k].request = r
			met++
		}
	}
	chance := float64(len(byEnd)) * float64(atOnce) / float64(max(1, recorded))
	if could := min(len(byAnswer), len(byEnd)); float64(met) < linkedLeast*float64(could) || float64(met) < notByChance*chance*float64(len(byAnswer)) {
		for i := range calls {
			calls[i].request = -1
		}
		return 0
	}
	last := make([]int32, 0, met)
	for i := range calls {
		if calls[i].request >= 0 {
			last = append(last, int32(i))
		}
	}
	slices.SortFunc(last, func(a, b int32) int { return cmp.Or(cmp.Compare(calls[b].begun, calls[a].begun), cmp.Compare(a, b)) })
	linked = met
	for _, k := range last { // and those before it, one after the other
		for at := k; ; linked++ {
			j := before(calls[k].request, calls[at].begun)
			if j < 0 {
				break
			}
			calls[j].request = calls[k].request
			at = j
		}
	}
	return linked
}
