package rule

import (
	"math"
	"slices"
)

// even is the largest relative deviation of the times between two occurrences from their median. A timer starts its work
// by the clock, a little late if the host is busy.
const even = .12

// together is the largest distance between points of one occurrence, as a share of the shortest accepted period.
const together = .3

// findPeriod returns the time (ns) after which points of a track above a bound come back; 0 if they do not, or if that is
// unknown yet. Other points above the bound may lie in between, because requests are slow for many reasons. So only points
// of at least half the highest value count.
func (k *track) findPeriod(p *Period, now int64) int64 {
	if len(k.at) == 0 {
		return 0
	}
	least, most := int64(p.Least), int64(p.Most)
	begin := now - most*int64(p.Times+1)
	highest := 0.
	for i := len(k.at) - 1; i >= 0 && k.at[i] >= begin; i-- {
		highest = max(highest, k.v[i])
	}
	bound := max(p.Above, highest/2)
	if highest < p.Above || highest == 0 {
		return 0
	}
	var began []int64 // start of each occurrence
	last := int64(math.MinInt64 / 2)
	hits, all := 0, 0
	for i, at := range k.at {
		if at < begin {
			continue
		}
		all++
		if k.v[i] < bound {
			continue
		}
		hits++
		if float64(at-last) > together*float64(least) {
			began = append(began, at)
		}
		last = at
	}
	// A state that lasts half of the time does not come back: it stays.
	if len(began) < p.Times || hits*2 > all {
		return 0
	}
	began = began[len(began)-p.Times:]
	gaps := make([]int64, 0, p.Times)
	for i := 1; i < len(began); i++ {
		gaps = append(gaps, began[i]-began[i-1])
	}
	median := slices.Sorted(slices.Values(gaps))[len(gaps)/2]
	slack := max(even*float64(median), 1.5*k.step) // the time of a point is no more exact
	for _, g := range gaps {
		if math.Abs(float64(g-median)) > slack {
			return 0
		}
	}
	// The next occurrence is due. If it is missing, the period has stopped.
	if median < least || median > most || float64(median) < 4*k.step || float64(now-began[len(began)-1]) > 1.5*float64(median) {
		return 0
	}
	return median
}
