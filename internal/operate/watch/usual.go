package watch

import "slices"

// usually is how long requests of a route take where nothing stands in their way: what nine of ten take at most, and what all but one
// in fifty do, in the calmer part of the last hour. Of a cache that misses now and then, or of a route that does two things, the second
// is much longer than the first, and that is usual, too.
type usually struct{ most, nearlyAll calmest }

const (
	slowTimes    = 3   // what nine of ten take
	rareTimes    = 1.5 // what all but one in fifty do
	leastSlowMs  = 1.
	calmLooks    = 720 // an hour of looks each 5 s
	leastCalm    = 6
	leastCalmToo = 3
)

func newUsually() *usually {
	return &usually{most: calmest{of: 10, at: 9}, nearlyAll: calmest{of: 50, at: 49}}
}

// addLatencies adds the latencies of requests, in ms.
func (u *usually) addLatencies(took []float64) {
	u.most.addLatencies(took)
	u.nearlyAll.addLatencies(took)
}

// slowLimit returns from how many ms on a request is slow; 0 where that is not known yet.
func (u *usually) slowLimit() float64 {
	if len(u.most.calm) < leastCalm {
		return 0
	}
	limit := max(leastSlowMs, slowTimes*u.most.lowerQuartile())
	if len(u.nearlyAll.calm) >= leastCalmToo {
		limit = max(limit, rareTimes*u.nearlyAll.lowerQuartile())
	}
	return limit
}

// calmest keeps a quantile, at of so many, of each stretch of so many requests or more.
type calmest struct {
	of, at int
	recent []float64 // of the stretch that has too few yet
	calm   []float64 // of the last hour, the newest last
}

func (c *calmest) addLatencies(took []float64) {
	c.recent = append(c.recent, took...)
	if len(c.recent) < c.of {
		return
	}
	slices.Sort(c.recent)
	if len(c.calm) == calmLooks {
		c.calm = append(c.calm[:0], c.calm[1:]...)
	}
	c.calm = append(c.calm, c.recent[len(c.recent)*c.at/c.of])
	c.recent = c.recent[:0]
}

// lowerQuartile returns what a quarter of the stretches do not exceed.
func (c *calmest) lowerQuartile() float64 {
	of := slices.Sorted(slices.Values(c.calm))
	return of[len(of)/4]
}
