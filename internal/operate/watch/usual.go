package watch

import "slices"

// usually is how long requests of a route take while nothing slows them: the latency that 9 of 10 requests do not exceed, and
// the one that 49 of 50 do not exceed, in the calmer part of the last hour. With a cache that misses now and then, or a route
// that does two things, the second is much longer than the first, and that is usual, too.
type usually struct{ most, nearlyAll calmest }

const (
	slowTimes    = 3   // factor over the latency that 9 of 10 do not exceed
	rareTimes    = 1.5 // factor over the latency that 49 of 50 do not exceed
	leastSlowMs  = 1.
	calmLooks    = 720 // an hour with a look every 5 s
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

// slowLimit returns the latency in ms from which a request is slow; 0 if it is not known yet.
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

// calmest keeps the quantile at/of of each group of at least of requests.
type calmest struct {
	of, at int
	recent []float64 // latencies of the group that has too few yet
	calm   []float64 // quantiles of the last hour, the newest last
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

// lowerQuartile returns the value that a quarter of the groups do not exceed.
func (c *calmest) lowerQuartile() float64 {
	of := slices.Sorted(slices.Values(c.calm))
	return of[len(of)/4]
}
