package nettrace

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortAddresses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s addressSorter
	for _, n := range []int{0, 1, 2, leastBytewise - 1, leastBytewise, 3000, 500, 20000} {
		for _, address := range map[string]func(int) uint64{
			"code":   func(int) uint64 { return 0x7f00_0000_0000 + r.Uint64N(1<<28) },
			"any":    func(int) uint64 { return r.Uint64() },
			"few":    func(int) uint64 { return r.Uint64N(7) << 40 },
			"sorted": func(i int) uint64 { return uint64(i / 2) },
			"one":    func(int) uint64 { return 1 << 63 },
		} {
			keys := make([]addressed, n)
			for i := range keys {
				keys[i] = addressed{address(i), int32(i)}
			}
			want := slices.Clone(keys)
			slices.SortStableFunc(want, func(x, y addressed) int { return cmp.Compare(x.address, y.address) })
			if s.sortKeys(keys); !slices.Equal(keys, want) {
				t.Fatalf("%d addresses are out of order", n)
			}
		}
	}
}
