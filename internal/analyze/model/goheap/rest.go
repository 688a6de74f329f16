package goheap

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/unstall/unstall/internal/base/stats"
)

// rest carries over what a replay does not explain. A replayed latency is taken by its rank
// among those the replay gives for the recorded cycles, and becomes the recorded latency of
// the same rank; each phase beside the cycles by itself. So what requests wait for besides
// the collector stays in a prediction: another setting changes how many requests meet a
// cycle, and where among those they stand. Meteorology corrects its models that way
// (quantile mapping: Panofsky & Brier, Some Applications of Statistics to Meteorology, 1958;
// Maraun, Bias Correcting Climate Change Simulations, Current Climate Change Reports 2,
// 2016). Beyond the last ranks that were recorded the replay's latency is scaled as there.
//
// The ranks are those of few cycles. How much that matters is found by drawing cycles, each
// with all requests up to the next, with replacement (a bootstrap by blocks that renew the
// process: Athreya & Fuh, Bootstrapping Markov Chains, Journal of Statistical Planning and
// Inference 33, 1992).
type rest struct {
	seen   byPhase
	others []byPhase // of cycles drawn anew
	model  byPhase   // of the replay under the recorded cycles
	beside int64     // ns that the replay leaves out, where a phase was hardly recorded
	blocks int       // cycles that were drawn from
}

// byPhase are latencies (ns), sorted.
type byPhase [phases][]int64

// redraws are how often cycles are drawn: a spread of 100 is right to a fourteenth.
const redraws = 100

// kept bounds the ranks that are looked through: twenty of them are beyond a p99.
const kept = 2000

// beyond which rank what was recorded is scaled: so many requests are left.
const leftAbove = 3

func newRest(placed []Placed) *rest {
	r := &rest{}
	// What is drawn is among what was seen: it need not be sorted again, but counted by its rank.
	type ranked struct {
		phase
		rank int32
	}
	var blocks [][]ranked
	var sorted byPhase
	for _, x := range placed {
		sorted[x.phase] = append(sorted[x.phase], x.Latency)
	}
	for _, v := range sorted {
		stats.SortInts(v)
	}
	for i, x := range placed {
		if i == 0 || x.Cycle != placed[i-1].Cycle {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], ranked{x.phase, int32(countBelow(sorted[x.phase], x.Latency))})
	}
	for p, v := range sorted {
		r.seen[p] = thinOut(v, kept)
	}
	if r.blocks = len(blocks); r.blocks < 2 {
		return r
	}
	chance := rand.New(rand.NewPCG(uint64(len(placed)), 0x72657374))
	var times [phases][]int32
	for p, v := range sorted {
		times[p] = make([]int32, len(v))
	}
	var all []int64
	for range redraws {
		for range blocks {
			for _, x := range blocks[chance.IntN(len(blocks))] {
				times[x.phase][x.rank]++
			}
		}
		var drawn byPhase
		for p, v := range sorted {
			all = all[:0]
			for rank, n := range times[p] {
				for range n {
					all = append(all, v[rank])
				}
			}
			clear(times[p])
			if drawn[p] = thinOut(all, kept); len(all) <= kept {
				drawn[p] = slices.Clone(all)
			}
		}
		r.others = append(r.others, drawn)
	}
	return r
}

func (r *byPhase) sortPhases() {
	for p, v := range r {
		stats.SortInts(v)
		r[p] = thinOut(v, kept)
	}
}

// thinOut leaves at most so many values of sorted ones, evenly by rank.
func thinOut(v []int64, most int) []int64 {
	if len(v) <= most {
		return v
	}
	out := make([]int64, most)
	for i := range out {
		out[i] = v[(2*i+1)*len(v)/(2*most)]
	}
	return out
}

// carryOver returns what a replayed latency of a phase becomes, by the ranks seen.
func (r *rest) carryOver(seen *byPhase, p phase, latency int64) float64 {
	s, m := seen[p], r.model[p]
	if len(s) < MinFree || len(m) < MinFree {
		return float64(latency + r.beside)
	}
	top := 1 - (leftAbove+.5)/float64(len(s))
	rank := (float64(countBelow(m, latency)) + .5) / float64(len(m))
	if rank > top {
		least := stats.Quantile(m, top)
		return interpolateQuantile(s, top) * max(1, float64(latency)/float64(max(least, 1)))
	}
	return interpolateQuantile(s, rank)
}

// countBelow returns how many of sorted values are below one.
func countBelow(v []int64, x int64) int {
	i, _ := slices.BinarySearch(v, x)
	return i
}

// interpolateQuantile returns a quantile of sorted values, between two of them where it lies
// there.
func interpolateQuantile(v []int64, q float64) float64 {
	x := q*float64(len(v)) - .5
	i := min(max(int(math.Floor(x)), 0), len(v)-1)
	k := min(i+1, len(v)-1)
	part := min(max(x-float64(i), 0), 1)
	return float64(v[i]) + part*float64(v[k]-v[i])
}

// shares are the parts of the requests in each phase, 0…1.
type shares [phases]float64

func (r *byPhase) phaseShares() (s shares) {
	all := 0.
	for _, v := range r {
		all += float64(len(v))
	}
	for p, v := range r {
		s[p] = float64(len(v)) / max(all, 1)
	}
	return s
}

// scaleCycles returns the shares if cycles met so many times as many requests.
func (s shares) scaleCycles(k float64) shares {
	cycles := s[meets] + s[behind]
	if cycles == 0 || s[apart] == 0 {
		return s
	}
	k = min(k, 1/cycles)
	return shares{meets: k * s[meets], behind: k * s[behind], apart: max(0, 1-k*cycles)}
}

// carriedQuantile returns that quantile of replayed latencies, carried over, of phases that have
// these shares.
func (r *rest) carriedQuantile(seen, replayed *byPhase, of shares, q float64) float64 {
	low, high, all := 0., 0., 0.
	for p, v := range replayed {
		if len(v) > 0 {
			all += of[p]
			high = max(high, r.carryOver(seen, phase(p), v[len(v)-1]))
		}
	}
	below := func(x float64) (sum float64) {
		for p, v := range replayed {
			if len(v) > 0 {
				n := sort.Search(len(v), func(i int) bool { return r.carryOver(seen, phase(p), v[i]) > x })
				sum += of[p] * float64(n) / float64(len(v))
			}
		}
		return sum
	}
	for high > 1 && high-low > 1e-3*high {
		if middle := (low + high) / 2; below(middle) >= q*all {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// quantileSpread returns the standard deviation of the logarithm of a quantile by what cycles were
// recorded; NaN where there are too few to say.
func (r *rest) quantileSpread(replayed *byPhase, of shares, q float64) float64 {
	if r.blocks < 2 {
		return math.NaN()
	}
	var sum, squares float64
	for i := range r.others {
		x := math.Log(max(r.carriedQuantile(&r.others[i], replayed, of, q), 1))
		sum, squares = sum+x, squares+x*x
	}
	n := float64(len(r.others))
	mean := sum / n
	// Of n blocks a plain bootstrap is too narrow by √(n/(n−1)) (Hesterberg, What Teachers
	// Should Know About the Bootstrap, The American Statistician 69, 2015, section 5.1).
	return math.Sqrt(max(0, squares/n-mean*mean) * float64(r.blocks) / float64(r.blocks-1))
}
