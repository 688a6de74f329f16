package sightings

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNearestInOrder holds that candidates are taken as if all of them were sorted first.
func TestNearestInOrder(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var all []candidate
		traced := 1 + chance.IntN(60)
		for i := range traced {
			first := len(all)
			var each []candidate
			for _, row := range chance.Perm(40)[:chance.IntN(30)] {
				each = append(each, candidate{Pair{i, row}, chance.Int64N(12)})
			}
			for _, c := range each {
				all = keepNearest(all, first, c, mostKept)
			}
			slices.SortFunc(each, compareCandidates)
			if want := each[:min(len(each), mostKept)]; !slices.Equal(all[first:], want) {
				t.Fatalf("kept %v\nof   %v", all[first:], each)
			}
			chance.Shuffle(len(all)-first, func(x, y int) { all[first+x], all[first+y] = all[first+y], all[first+x] })
		}
		var want []Pair
		paired, taken := make(map[int]bool), make(map[int]bool)
		for _, c := range slices.SortedFunc(slices.Values(all), compareCandidates) {
			if !paired[c.Traced] && !taken[c.Row] {
				paired[c.Traced], taken[c.Row] = true, true
				want = append(want, c.Pair)
			}
		}
		take := func(q *nearest) (got []Pair) {
			clear(paired)
			clear(taken)
			for c, ok := q.takeNearest(); ok; c, ok = q.takeNearest() {
				switch {
				case paired[c.Traced]:
				case taken[c.Row]:
					q.askOn()
				default:
					paired[c.Traced], taken[c.Row] = true, true
					got = append(got, c.Pair)
				}
			}
			return got
		}
		if got := take(queueNearest(all)); !slices.Equal(got, want) {
			t.Fatalf("took %v\nwant %v", got, want)
		}
		of := make(map[int][]candidate) // sorted by queueNearest
		var firsts []candidate
		for _, c := range all {
			if of[c.Traced] == nil {
				firsts = append(firsts, c)
			}
			of[c.Traced] = append(of[c.Traced], c)
		}
		if got := take(queueFirsts(firsts, func(i int) []candidate { return of[i] })); !slices.Equal(got, want) {
			t.Fatalf("one asked for after the other: took %v\nwant %v", got, want)
		}
	}
}
