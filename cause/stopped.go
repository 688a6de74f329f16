package cause

import (
	"math"

	"github.com/unstall/unstall/reading"
)

// Stopped is the share of its periods in which a CPU quota stopped the process
// while its requests were watched; NaN where cpu.stat was not. From [OftenStopped]
// on what it took on processors is no measure of what that cost.
func (c *Case) Stopped() float64 {
	if c.Ledger == nil {
		return math.NaN()
	}
	return reading.QuotaOf(c.Bundle, c.Subject, c.source(), reading.Window{From: c.Ledger.From, Until: c.Ledger.To}).Share()
}

// OftenStopped is the share of periods from which a p90 meets a stop.
const OftenStopped = .1
