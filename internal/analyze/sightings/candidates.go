package sightings

import (
	"cmp"
	"container/heap"
	"slices"
)

// candidate is a possible pair.
type candidate struct {
	Pair
	off int64 // ns by which their ends and beginnings differ
}

// compareCandidates orders candidates for taking, the nearest first. No two are equal.
func compareCandidates(x, y candidate) int {
	switch {
	case x.off != y.off:
		return cmp.Compare(x.off, y.off)
	case x.Traced != y.Traced:
		return cmp.Compare(x.Traced, y.Traced)
	}
	return cmp.Compare(x.Row, y.Row)
}

// keepNearest adds a candidate to those from first on, of which it keeps the few nearest, in order.
func keepNearest(all []candidate, first int, c candidate) []candidate {
	k := len(all)
	for k > first && compareCandidates(c, all[k-1]) < 0 {
		k--
	}
	switch {
	case len(all)-first < mostKept:
		return slices.Insert(all, k, c)
	case k < len(all):
		copy(all[k+1:], all[k:])
		all[k] = c
	}
	return all
}

// nearest gives candidates in order. Most requests get their nearest row: so only that is sorted among all requests, and the next of a request
// only when it is asked for.
type nearest struct {
	all    []candidate
	firsts []place // the first candidate of each request, in order
	again  laters  // the next one of those whose row was taken
	last   place   // what takeNearest returned
}

// place is a candidate in the list of all.
type place struct {
	candidate
	at, end int // the place, and that behind the request's last
}

// queueNearest sorts candidates. Those of a request stand together.
func queueNearest(all []candidate) *nearest {
	q := &nearest{all: all}
	for from := 0; from < len(all); {
		end := from + 1
		for end < len(all) && all[end].Traced == all[from].Traced {
			end++
		}
		slices.SortFunc(all[from:end], compareCandidates)
		q.firsts = append(q.firsts, place{all[from], from, end})
		from = end
	}
	slices.SortFunc(q.firsts, func(x, y place) int { return compareCandidates(x.candidate, y.candidate) })
	return q
}

// takeNearest returns the nearest candidate of those that were not returned; false if there is none.
func (q *nearest) takeNearest() (candidate, bool) {
	switch {
	case len(q.again) > 0 && (len(q.firsts) == 0 || compareCandidates(q.again[0].candidate, q.firsts[0].candidate) < 0):
		q.last = heap.Pop(&q.again).(place)
	case len(q.firsts) > 0:
		q.last, q.firsts = q.firsts[0], q.firsts[1:]
	default:
		return candidate{}, false
	}
	return q.last.candidate, true
}

// askOn has the request that takeNearest returned a candidate of wait for its next one.
func (q *nearest) askOn() {
	if at := q.last.at + 1; at < q.last.end {
		heap.Push(&q.again, place{q.all[at], at, q.last.end})
	}
}

// laters is a heap of candidates.
type laters []place

func (h laters) Len() int           { return len(h) }
func (h laters) Less(i, j int) bool { return compareCandidates(h[i].candidate, h[j].candidate) < 0 }
func (h laters) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *laters) Push(x any)        { *h = append(*h, x.(place)) }
func (h *laters) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
