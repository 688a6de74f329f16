package accesslog

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLatencies compares quantiles with those of the sorted latencies, for all units and all distances between latencies.
func TestLatencies(t *testing.T) {
	source := rand.New(rand.NewPCG(7, 8))
	for _, unit := range []int64{1, 1e3, 1e6} {
		for _, most := range []int64{1, 50, 70_000, longest / unit} {
			var l latencies
			byRoute := make([][]int64, 3)
			var all []int64
			for range 1 + source.IntN(3000) {
				ns, route := source.Int64N(most)*unit, source.IntN(3)
				if source.IntN(3) == 0 {
					ns = 0
				}
				l.add(ns, uint16(route))
				all, byRoute[route] = append(all, ns), append(byRoute[route], ns)
			}
			slices.Sort(all)
			var asked []*quantile
			var want []int64
			ask := func(route int, sorted []int64) {
				slices.Sort(sorted)
				for _, q := range []float64{0, .5, .99, .999, 1} {
					k := nearestRank(int64(len(sorted)), q)
					asked, want = append(asked, &quantile{route: route, rank: k}), append(want, sorted[k])
				}
			}
			ask(allRoutes, all)
			for r, ns := range byRoute {
				if len(ns) > 0 {
					ask(r, ns)
				}
			}
			l.findQuantiles(asked)
			for i, q := range asked {
				if q.value != want[i] {
					t.Errorf("unit %d, below %d: rank of route %d is %d, want %d", unit, most, q.route, q.value, want[i])
				}
			}
		}
	}
}
