package dotnet

import (
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
)

// curve is a count over time.
type curve struct {
	t      []int64 // ns, ascending
	v      []float64
	origin evidence.Origin
	// loose counts more than the pool's threads: its level says nothing, its growth does.
	loose bool
}

func (k *curve) known() bool { return k != nil && len(k.t) > 0 }

// span is how long it was watched, in s.
func (k *curve) span() float64 {
	if !k.known() {
		return 0
	}
	return float64(k.t[len(k.t)-1]-k.t[0]) / 1e9
}

// level is the count at the end.
func (k *curve) level() float64 {
	if !k.known() {
		return math.NaN()
	}
	return k.v[len(k.v)-1]
}

// climb is the growth from the lowest count to the highest after it.
type climb struct {
	from, to float64
	rate     float64 // per second, without the jump at its beginning
	steps    int     // between two counts each; of one, nobody saw how it went
	still    bool    // it had not ended
}

// Growth from which a pool is taken to climb: coming and going within a pool that has
// enough moves its size by one or two.
const (
	climbLeast = 3
	climbRate  = .2 // per second
)

func (k *curve) climb() (g climb) {
	if !k.known() {
		return g
	}
	low, high, lowest := 0, 0, 0
	for i, v := range k.v {
		if v < k.v[lowest] {
			lowest = i
		}
		if v-k.v[lowest] > k.v[high]-k.v[low] {
			low, high = lowest, i
		}
	}
	g.from, g.to = k.v[low], k.v[high]
	if high > low+2 { // what the minimum allows is given at once
		low++
	}
	if d := float64(k.t[high]-k.t[low]) / 1e9; d > 0 {
		g.rate = (k.v[high] - k.v[low]) / d
	}
	g.steps = high - low
	g.still = k.t[high] >= k.t[len(k.t)-1]-int64(.2e9*k.span())
	return g
}

// climbs says whether the growth is that of a pool which is given threads one by one.
func (g climb) climbs() bool { return g.to-g.from >= climbLeast && g.rate >= climbRate }

// counter is a figure over time as a curve.
func counter(c *cause.Case, name string) *curve {
	s := c.Series(name)
	if s == nil || len(s.T) == 0 {
		return nil
	}
	return &curve{t: s.T, v: s.V, origin: s.Origin}
}

// mean weighs a curve's points by how long each held; NaN without any.
func (k *curve) mean() float64 {
	switch {
	case !k.known():
		return math.NaN()
	case k.span() == 0:
		return k.level()
	}
	var sum float64
	for i := range len(k.t) - 1 {
		sum += k.v[i] * float64(k.t[i+1]-k.t[i])
	}
	return sum / float64(k.t[len(k.t)-1]-k.t[0])
}
