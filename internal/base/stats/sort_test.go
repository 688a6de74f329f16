package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortInts(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{0, 1, fewForDigits - 1, fewForDigits, 5000} {
		for _, draw := range []func() int64{
			func() int64 { return 7 },
			func() int64 { return source.Int64N(100) },
			func() int64 { return source.Int64N(math.MaxInt64) - math.MaxInt64/2 },
			func() int64 { return int64(source.Uint64()) },
		} {
			v := make([]int64, n)
			for i := range v {
				v[i] = draw()
			}
			want := slices.Sorted(slices.Values(v))
			SortInts(v)
			if !slices.Equal(v, want) {
				t.Fatalf("%d values are not sorted", n)
			}
			SortInts(v)
			if !slices.Equal(v, want) {
				t.Fatalf("%d sorted values are not left as they are", n)
			}
		}
	}
}

func BenchmarkSortInts(b *testing.B) {
	source := rand.New(rand.NewPCG(1, 9))
	v, w := make([]int64, 20_000), make([]int64, 20_000)
	for i := range v {
		v[i] = 1e6 + int64(source.ExpFloat64()*5e6)
	}
	for name, sort := range map[string]func([]int64){"digits": SortInts, "compare": slices.Sort[[]int64]} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				copy(w, v)
				sort(w)
			}
		})
	}
}
