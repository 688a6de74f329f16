package sorting

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

type pair struct {
	key, n int
	text   string
	_      [6]int
}

func pairs(n, keys int) []pair {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	all := make([]pair, n)
	for i := range all {
		all[i] = pair{key: r.IntN(keys), n: i}
	}
	return all
}

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

func TestBy(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 12, 13, 50, 1000} {
		for _, keys := range []int{1, 2, 7, 1 << 30} {
			got, want := pairs(n, keys), pairs(n, keys)
			By(got, byKey)
			slices.SortStableFunc(want, byKey)
			if !slices.Equal(got, want) {
				t.Errorf("%d elements of %d keys are not as a stable sort has them", n, keys)
			}
			slices.Reverse(got)
			slices.Reverse(want)
			By(got, byKey)
			slices.SortStableFunc(want, byKey)
			if !slices.Equal(got, want) {
				t.Errorf("%d reversed elements of %d keys", n, keys)
			}
		}
	}
}

func TestByNumber(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, few - 1, few, few + 1, 1000} {
		for _, keys := range []int{1, 2, 256, 257, 1 << 30, math.MaxInt} {
			got, want := pairs(n, keys), pairs(n, keys)
			for range 2 { // and what is sorted already
				ByNumber(got, func(p *pair) uint64 { return uint64(p.key) })
				slices.SortStableFunc(want, byKey)
				if !slices.Equal(got, want) {
					t.Errorf("%d elements of %d keys are not as a stable sort has them", n, keys)
				}
			}
			slices.Reverse(got)
			slices.Reverse(want)
			ByNumber(got, func(p *pair) uint64 { return uint64(p.key) })
			slices.SortStableFunc(want, byKey)
			if !slices.Equal(got, want) {
				t.Errorf("%d reversed elements of %d keys", n, keys)
			}
		}
	}
}

func BenchmarkBy(b *testing.B) {
	all := pairs(1<<16, 1<<30)
	byNumber := func(all []pair, _ func(a, b pair) int) { ByNumber(all, func(p *pair) uint64 { return uint64(p.key) }) }
	for _, c := range []struct {
		name string
		sort func([]pair, func(a, b pair) int)
	}{{"sorting", By[[]pair]}, {"number", byNumber}, {"slices", slices.SortFunc[[]pair]}, {"stable", slices.SortStableFunc[[]pair]}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.sort(slices.Clone(all), byKey)
			}
		})
	}
}
