package exchanges

import (
	"cmp"
	"slices"
)

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

// link finds for calls the requests that they are made for, and says of how many.
func link(requests, calls []exchange) (linked int) {
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
		if r := &requests[x.request]; r.last > 0 && max(x.first, x.last) > r.last {
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
