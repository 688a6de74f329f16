package sightings

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// joins holds all joins of a bundle.
type joins struct {
	b      *evidence.Bundle
	paths  map[int]evidence.Path // of rows that are traced
	nested []*joining
	traced []int32 // by row: the row of a trace that it is, plus one
	inner  []int32 // by row: the row further inside that it is, plus one
	by     []uint8 // by row: index in nested of the join with inner
}

// keepPairs keeps which rows of a trace the rows of a join are.
func (x *joins) keepPairs(j *joining) {
	if x.traced == nil {
		x.traced = make([]int32, x.b.Requests.Len())
	}
	for _, p := range j.Pairs {
		x.traced[p.Row] = int32(p.Traced) + 1
	}
	j.Joined.inner = x.traced
}

// mostNested is the largest number of joins.
const mostNested = 200

// nestAll joins sources without states, each with the next one further inside, or with the one after that if the next one has different requests.
func (x *joins) nestAll(every []*source) (all []Joined) {
	for k, outer := range every {
		if outer.side == ByTrace || len(x.nested) >= mostNested {
			continue
		}
		for n := k - 1; n >= 0 && every[n].subject == outer.subject && every[n].side > ByTrace; n-- {
			if inner := every[n]; inner.side < outer.side || inner.side == ByProxy && outer.side == ByProxy {
				if j := x.nestSource(inner, outer); j != nil {
					all = append(all, *j)
					break
				}
			}
		}
	}
	return all
}

// alike is how far the latencies of rows may differ where clocks cannot separate these, as a part and at least (ns).
const (
	alikePart  = .2
	leastAlike = int64(5e6)
)

// nestSource joins a source with one further inside; nil if they do not have the same requests.
func (x *joins) nestSource(inner, outer *source) *Joined {
	b, r := x.b, &x.b.Requests
	j := &joining{b: b, r: r, Joined: Joined{Subject: outer.subject, Rows: outer.artifact, Clients: outer.side == ByLoad, Side: outer.side, Traces: inner.artifacts, Inner: inner.side}}
	j.setPairs(Pairs(b, inner.rows, outer.rows), inner.rows, outer.rows)
	if (j.vague || j.fuzzy) && j.Match.Keyed == 0 {
		j.Pairs = slices.DeleteFunc(j.Pairs, func(p Pair) bool {
			took := r.Latency(p.Row)
			return abs(took-r.Latency(p.Traced)) > max(leastAlike, int64(alikePart*float64(took)))
		})
		j.Matched = len(j.Pairs)
	}
	j.Traced, j.Count = countBoth(r, inner.rows, outer.rows)
	if !j.hasEnoughPairs() {
		return nil
	}
	j.catchUp(outer.rows)
	if x.inner == nil {
		x.inner, x.by = make([]int32, r.Len()), make([]uint8, r.Len())
	}
	for _, p := range j.Pairs {
		if began, ended := Whole(b, p.Traced); x.paths[p.Row] == nil && !(j.fuzzy && j.vague) {
			j.placeRow(p, began, ended)
		}
		x.inner[p.Row], x.by[p.Row] = int32(p.Traced)+1, uint8(len(x.nested))
		if !j.fuzzy && !j.vague {
			r.Thread.Set(p.Row, r.Thread.At(p.Traced))
		}
	}
	j.Pairs, j.Joined.inner = nil, x.inner
	x.nested = append(x.nested, j)
	return &j.Joined
}

// countBoth counts the rows of two sources in the time that both cover.
func countBoth(r *evidence.Requests, x, y []int) (n, m int) {
	from, until := answeredSpan(r, x)
	begin, end := answeredSpan(r, y)
	from, until = max(from, begin)-Late, min(until, end)+Late
	count := func(rows []int) (n int) {
		for _, i := range rows {
			if at := r.End.At(i); at >= from && at <= until {
				n++
			}
		}
		return n
	}
	return count(x), count(y)
}

// pathOf returns what all joins together tell of a row, nil if nothing.
func (x *joins) pathOf(row int) evidence.Path {
	traced := x.paths[row]
	if x.inner == nil || x.inner[row] == 0 {
		return traced
	}
	j, in := x.nested[x.by[row]], int(x.inner[row]-1)
	inner := x.pathOf(in)
	if inner == nil {
		inner = x.b.Requests.Path(in)
	}
	if traced != nil && !inner.Followed() {
		return traced
	}
	began, ended := Whole(x.b, in)
	exact := *j
	exact.fuzzy = j.fuzzy && x.paths[in] == nil
	path := exact.composePath(Pair{Traced: in, Row: row}, inner, began, ended)
	j.path = exact.path
	return path
}
