package incident

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// service is a worker's work on a request.
type service struct {
	row         int
	route       evidence.NameID
	wait        int64 // ns before it
	from, until int64 // ns
	grain       int64 // ns: resolution of the clock behind these times
}

const (
	// At most this many looks are shared out; of more, every second, third and so on counts.
	mostShared = 20_000
	// One look is shared out among at most this many requests.
	mostUnderWay = 64
	// Rounds in which shares settle.
	sharings = 40
	// The route's states count as this many looks at the request itself.
	routeLooks = 2
	// The shortest work on a request, ns, where the log says 0: it counts whole milliseconds.
	leastWork = 100e3
)

// shareLooks returns by request the states in which workers spent its time, the longest first; a request without looks
// has none. A look tells what a worker does, but not for which request. So it is shared out among the requests under way
// at that moment, by how often requests of their routes are seen in that state, which the shares in turn tell
// (expectation-maximisation of a mixture). This separates a page that sleeps from one that runs at the same time.
func (s *spending) shareLooks(all []service) [][]partOf {
	out := make([][]partOf, len(all))
	if s.whole.looks < leastLooks {
		return out
	}
	x := s.newSharing(all)
	for range sharings {
		x.updateShares()
	}
	for k := range all {
		of := x.of[x.route[k]]
		sum := float64(routeLooks)
		for _, n := range x.own[k] {
			sum += n
		}
		for state, seg := range x.states {
			part := routeLooks * of[state]
			if x.own[k] != nil {
				part += x.own[k][state]
			}
			if part > 0 {
				out[k] = append(out[k], partOf{seg, part / sum})
			}
		}
		sorting.Short(out[k], func(x, y partOf) int {
			return cmp.Or(cmp.Compare(y.part, x.part), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Cause, y.Cause))
		})
	}
	return out
}

// sharing holds looks while they are shared out.
type sharing struct {
	states []evidence.Segment
	whole  []float64   // by state: its part of all looks
	route  []int       // of each request
	of     [][]float64 // by route and state: its part
	own    [][]float64 // by request and state: looks at it; nil: none
	looks  []shared
}

// shared is a look with the requests that it may belong to.
type shared struct {
	state   int
	n       float64
	among   []int     // requests
	weights []float64 // how likely each was under way
}

func (s *spending) newSharing(all []service) *sharing {
	x := &sharing{route: make([]int, len(all)), own: make([][]float64, len(all))}
	number := make(map[evidence.Segment]int)
	for seg := range s.whole.by {
		x.states = append(x.states, seg)
	}
	sorting.Short(x.states, func(x, y evidence.Segment) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Cause, y.Cause))
	})
	for k, seg := range x.states {
		number[seg] = k
		x.whole = append(x.whole, float64(s.whole.by[seg])/float64(s.whole.looks))
	}
	routes := make(map[evidence.NameID]int)
	byStart := make([]int, len(all))
	for k := range all {
		r, ok := routes[all[k].route]
		if !ok {
			r = len(routes)
			routes[all[k].route] = r
			x.of = append(x.of, slices.Clone(x.whole))
		}
		x.route[k], byStart[k] = r, k
	}
	begins := func(k int) int64 { return all[k].from - all[k].grain }
	slices.SortFunc(byStart, func(i, j int) int { return cmp.Or(cmp.Compare(begins(i), begins(j)), cmp.Compare(i, j)) })
	step := (len(s.looks) + mostShared - 1) / mostShared
	var under []int
	next := 0
	for n := 0; n < len(s.looks); n += step {
		l := &s.looks[n]
		for ; next < len(byStart) && begins(byStart[next]) <= l.at; next++ {
			under = append(under, byStart[next])
		}
		under = slices.DeleteFunc(under, func(k int) bool { return all[k].until+all[k].grain < l.at })
		if len(under) == 0 || len(under) > mostUnderWay {
			continue
		}
		v := shared{state: number[l.state], n: l.n * float64(step), among: slices.Clone(under)}
		for _, k := range under {
			took := float64(max(all[k].until-all[k].from, leastWork))
			v.weights = append(v.weights, took/(took+2*float64(all[k].grain)))
		}
		x.looks = append(x.looks, v)
	}
	return x
}

// updateShares shares out all looks among the requests by the parts of the previous round.
func (x *sharing) updateShares() {
	sums, totals := make([][]float64, len(x.of)), make([]float64, len(x.of))
	for r := range sums {
		sums[r] = slices.Clone(x.whole) // a route's own looks tell more than all looks, where it has any
		totals[r] = 1
	}
	for k := range x.own {
		clear(x.own[k])
	}
	var parts [mostUnderWay]float64
	for i := range x.looks {
		l := &x.looks[i]
		sum := 0.
		for j, k := range l.among {
			parts[j] = l.weights[j] * x.of[x.route[k]][l.state]
			sum += parts[j]
		}
		if sum <= 0 {
			continue
		}
		for j, k := range l.among {
			n := l.n * parts[j] / sum
			r := x.route[k]
			if x.own[k] == nil {
				x.own[k] = make([]float64, len(x.states))
			}
			x.own[k][l.state] += n
			sums[r][l.state] += n
			totals[r] += n
		}
	}
	for r := range sums {
		for state := range sums[r] {
			sums[r][state] /= totals[r]
		}
	}
	x.of = sums
}
