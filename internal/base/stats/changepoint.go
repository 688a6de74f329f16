package stats

import (
	"cmp"
	"math"
	"slices"
)

// ChangePoints returns the indexes at which a series changes its level, ascending: the first index of each new segment. Segments with
// fewer than shortest points (at least 2) count as outliers, not as a new level.
//
// The segmentation is the one of least cost by PELT (Killick, Fearnhead &
// Eckley, Optimal Detection of Changepoints with a Linear Computational Cost,
// JASA 107, 2012) on the ranks of the values, so that a latency of ten seconds
// weighs no more than the largest of the series should (ranks as in
// Lung-Yut-Fong, Lévy-Leduc & Cappé, 2011). A segment's cost is the sum of
// squared distances from its mean rank in units of the ranks' variance; each
// change costs 3·ln n. Time grows with n² where nothing changes: give some
// thousands of points, not raw requests.
func ChangePoints(series []float64, shortest int) []int {
	n := len(series)
	shortest = max(shortest, 2)
	if n < 2*shortest {
		return nil
	}
	r := rankValues(series)
	s1, s2 := make([]float64, n+1), make([]float64, n+1)
	for i, x := range r {
		s1[i+1], s2[i+1] = s1[i]+x, s2[i]+x*x
	}
	variance := s2[n]/float64(n) - s1[n]*s1[n]/float64(n)/float64(n)
	if !(variance > 1e-9) {
		return nil // all the same
	}
	cost := func(from, to int) float64 {
		d := s1[to] - s1[from]
		return (s2[to] - s2[from] - d*d/float64(to-from)) / variance
	}
	penalty := 3 * math.Log(float64(n))

	best := make([]float64, n+1) // of the points before i
	last := make([]int, n+1)     // where the segment ending before i begins
	best[0] = -penalty
	for i := 1; i <= n; i++ {
		best[i] = math.Inf(1)
	}
	candidates := []int{0}
	for i := shortest; i <= n; i++ {
		if j := i - shortest; j >= shortest {
			candidates = append(candidates, j)
		}
		for _, j := range candidates {
			if c := best[j] + cost(j, i) + penalty; c < best[i] {
				best[i], last[i] = c, j
			}
		}
		// A change at m, possible from the next end on, beats one at j for good.
		if m := i + 1 - shortest; m >= shortest {
			kept := candidates[:0]
			for _, j := range candidates {
				if m-j < shortest || best[j]+cost(j, m) <= best[m] {
					kept = append(kept, j)
				}
			}
			candidates = kept
		}
	}
	var out []int
	for i := last[n]; i > 0; i = last[i] {
		out = append(out, i)
	}
	slices.Reverse(out)
	return out
}

// rankValues returns the rank of each value, equal ones sharing the middle of theirs.
func rankValues(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	out := make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && cmp.Compare(v[order[j]], v[order[i]]) == 0 {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}
