package exchanges

import (
	"cmp"
	"slices"
)

// handedOver links calls to requests if some threads read requests, and others make the calls and answer: the calls that such a thread
// makes between two answers are for the second. It returns how many it linked.
func handedOver(requests, calls []exchange) (linked int) {
	reading := make(map[int64]bool)
	answered := make(map[int64][]int32) // by thread, in order of time
	same, all := 0, 0
	for i := range requests {
		x := &requests[i]
		reading[x.thread] = true
		if x.first == 0 {
			continue
		}
		all++
		if x.other == x.thread {
			same++
		}
		answered[x.other] = append(answered[x.other], int32(i))
	}
	byReaders := 0
	for i := range calls {
		if reading[calls[i].thread] {
			byReaders++
		}
	}
	if float64(same) > mostOutlived*float64(all) || float64(byReaders) > mostOutlived*float64(len(calls)) {
		return 0
	}
	for _, of := range answered {
		slices.SortFunc(of, func(a, b int32) int { return cmp.Compare(requests[a].first, requests[b].first) })
	}
	var found []int
	astray := 0
	for i := range calls {
		x := &calls[i]
		of := answered[x.thread]
		if x.request >= 0 || len(of) == 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(of, x.begun, func(r int32, at int64) int { return cmp.Compare(requests[r].first, at) })
		if n == len(of) {
			continue
		}
		switch r := &requests[of[n]]; {
		case r.begun > x.begun, max(x.first, x.last) > r.last: // for none, or for another
			astray++
		default:
			x.request = of[n]
			found = append(found, i)
		}
	}
	if float64(astray) > mostAstray*float64(len(found)+astray) {
		for _, i := range found {
			calls[i].request = -1
		}
		return 0
	}
	return len(found)
}

// mostAstray is the part of the calls of answering threads that may belong to no request: pools of connections do maintenance
// on the same threads.
const mostAstray = .2
