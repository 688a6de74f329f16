package cause

import "github.com/unstall/unstall/evidence"

// Stopped is the share of its periods in which a CPU quota stopped the process
// while its requests were watched; 0 where cpu.stat was not. From [OftenStopped]
// on what it took on processors is no measure of what that cost.
func (c *Case) Stopped() float64 {
	if c.Ledger == nil {
		return 0
	}
	mean := func(s *evidence.Series) (sum float64) {
		for i := 0; s != nil && i+1 < len(s.T); i++ {
			sum += s.V[i] * float64(max(0, min(s.T[i+1], c.Ledger.To)-max(s.T[i], c.Ledger.From)))
		}
		return sum
	}
	periods := mean(c.Series(evidence.SeriesCgroupCPUPeriods))
	if periods <= 0 {
		return 0
	}
	return mean(c.Series(evidence.SeriesCgroupCPUThrottledPeriods)) / periods
}

// OftenStopped is the share of periods from which a p90 meets a stop.
const OftenStopped = .1
