package sightings

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/unstall/unstall/internal/base/stats"
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

// keepNearest adds a candidate to those from first on, of which it keeps so many, the nearest, in order.
func keepNearest(all []candidate, first int, c candidate, most int) []candidate {
	k := len(all)
	for k > first && compareCandidates(c, all[k-1]) < 0 {
		k--
	}
	if len(all)-first < most {
		all = append(all, c)
	}
	if k < len(all) {
		copy(all[k+1:], all[k:])
		all[k] = c
	}
	return all
}

// nearest gives candidates in order. Most requests get their nearest row: so only that is sorted among all requests, and the others of a request
// are asked for when it does not get it.
type nearest struct {
	firsts []first                   // the nearest candidate of each request, in order
	others func(f first) []candidate // the request's other ones, in order
	again  laters                    // the next one of those whose row was taken
	first  *first                    // what takeNearest returned, if that was its request's first
	last   later                     // else this
}

// first is the nearest candidate of a request.
type first struct {
	candidate
	at int // its place among all, where these are known
}

// later is a candidate of a request whose nearer ones were taken, and those after it.
type later struct {
	candidate
	rest []candidate
}

// queueNearest sorts candidates. Those of a request stand together.
func queueNearest(all []candidate) *nearest {
	q := &nearest{others: func(f first) []candidate {
		end := f.at + 1
		for end < len(all) && all[end].Traced == f.Traced {
			end++
		}
		return all[f.at+1 : end]
	}}
	for from := 0; from < len(all); {
		end := from + 1
		for end < len(all) && all[end].Traced == all[from].Traced {
			end++
		}
		slices.SortFunc(all[from:end], compareCandidates)
		q.firsts = append(q.firsts, first{all[from], from})
		from = end
	}
	sortFirsts(q.firsts)
	return q
}

// queueFirsts sorts the nearest candidate of each request; others lists all of a request, the nearest first.
func queueFirsts(all []candidate, others func(traced int) []candidate) *nearest {
	q := &nearest{firsts: make([]first, len(all)), others: func(f first) []candidate { return others(f.Traced)[1:] }}
	for i, c := range all {
		q.firsts[i] = first{candidate: c}
	}
	sortFirsts(q.firsts)
	return q
}

// Of how many candidates the distance and the place fit one number, which sorts faster.
const (
	placeBits   = 20
	mostFarBits = 63 - placeBits
)

func sortFirsts(all []first) {
	compare := func(x, y first) int { return compareCandidates(x.candidate, y.candidate) }
	keys := make([]int64, len(all))
	for i, f := range all {
		if i>>placeBits > 0 || f.off>>mostFarBits > 0 {
			slices.SortFunc(all, compare)
			return
		}
		keys[i] = f.off<<placeBits | int64(i)
	}
	stats.SortInts(keys)
	sorted := make([]first, len(all))
	for i, k := range keys {
		sorted[i] = all[k&(1<<placeBits-1)]
	}
	copy(all, sorted)
	for from := 0; from < len(all); {
		end := from + 1
		for end < len(all) && all[end].off == all[from].off {
			end++
		}
		slices.SortFunc(all[from:end], compare)
		from = end
	}
}

// takeNearest returns the nearest candidate of those that were not returned; false if there is none.
func (q *nearest) takeNearest() (candidate, bool) {
	switch {
	case len(q.again) > 0 && (len(q.firsts) == 0 || compareCandidates(q.again[0].candidate, q.firsts[0].candidate) < 0):
		q.last, q.first = heap.Pop(&q.again).(later), nil
		return q.last.candidate, true
	case len(q.firsts) > 0:
		q.first, q.firsts = &q.firsts[0], q.firsts[1:]
		return q.first.candidate, true
	}
	return candidate{}, false
}

// askOn has the request that takeNearest returned a candidate of wait for its next one.
func (q *nearest) askOn() {
	rest := q.last.rest
	if q.first != nil {
		rest = q.others(*q.first)
	}
	if len(rest) > 0 {
		heap.Push(&q.again, later{rest[0], rest[1:]})
	}
}

// laters is a heap of candidates.
type laters []later

func (h laters) Len() int           { return len(h) }
func (h laters) Less(i, j int) bool { return compareCandidates(h[i].candidate, h[j].candidate) < 0 }
func (h laters) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *laters) Push(x any)        { *h = append(*h, x.(later)) }
func (h *laters) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
