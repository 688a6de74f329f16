package check

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
)

// FewPauses is the number of pauses from which they are a cause where no objective is set and none takes a second.
var FewPauses = Threshold{Name: "pauses behind three quarters of the slow time of all pauses (asked unless --slo is given or one takes a second)", Value: 2, Unit: "count",
	Why: "all requests that meet one pause are one event, which the next recording may not have", Source: "Poisson: where 1 is expected, another recording has none in 37 % of cases (e⁻¹); where 2 are, in 14 %"}

// ByFewPauses reports whether so few pauses cost slow requests most of what all of these pauses do that another recording may
// have none, and how many. It is false where an objective says that what they cost is too much.
func (c *Case) ByFewPauses(p metrics.Pauses) (count int, few bool) {
	if c.Ledger == nil || c.Ledger.Rule != ledger.RuleFloor || p.Longest().Seconds() >= ASecond.Value {
		return 0, false
	}
	count = c.costliestPauses(p)
	c.recordAnswer(AskEvidence, float64(count), FewPauses)
	return count, count > 0 && count < FewPauses.Int()
}

// costliestPauses returns the number of pauses that cost slow requests [MostOfSlow] of what all do, the costliest first.
func (c *Case) costliestPauses(p metrics.Pauses) (count int) {
	r := &c.Bundle.Requests
	cost := make([]int64, len(p)) // ns
	var all int64
	for _, row := range c.Ledger.Slow {
		until := r.End.At(row)
		from := until - r.Latency(row)
		first, _ := slices.BinarySearchFunc(p, from, func(x metrics.Pause, at int64) int { return cmp.Compare(x.To, at) })
		for i := first; i < len(p) && p[i].From < until; i++ {
			if met := min(until, p[i].To) - max(from, p[i].From); met > 0 {
				cost[i] += met
				all += met
			}
		}
	}
	slices.SortFunc(cost, func(a, b int64) int { return cmp.Compare(b, a) })
	var sum int64
	for _, ns := range cost {
		if float64(sum) >= MostOfSlow.Value*float64(all) {
			break
		}
		sum += ns
		count++
	}
	return count
}
