package check

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
)

// Stopped returns the share of quota periods in which a CPU quota stopped the process while its
// requests were watched; NaN where cpu.stat was not recorded. From [OftenStopped] on, the CPU time
// used does not measure what was lost.
func (c *Case) Stopped() float64 {
	if c.Ledger == nil {
		return math.NaN()
	}
	return metrics.QuotaOf(c.Bundle, c.Subject, c.stateSource(), metrics.Window{From: c.Ledger.From, Until: c.Ledger.To}).Share()
}

// StopLength returns how long (ns) a stop by the quota lasts on average, at most: the kernel
// counts it for each processor that had a thread of the process to run. It is 0 where the process
// is rarely stopped, or not enough to matter to slow requests.
func (c *Case) StopLength() int64 {
	if !(c.Stopped() >= OftenStopped.Value) || c.Share(ledger.HostCPU) < Material.Value {
		return 0
	}
	w := metrics.Window{From: c.Ledger.From, Until: c.Ledger.To}
	q := metrics.QuotaOf(c.Bundle, c.Subject, c.stateSource(), w)
	if !q.Waiting.Known() || q.Stopped.Number < 1 {
		return 0
	}
	return int64(q.Waiting.Number * w.Seconds() * 1e9 / q.Stopped.Number)
}

// OftenStopped is the share of periods from which a p90 meets a stop.
var OftenStopped = Threshold{Name: "share of a quota's periods from which a p90 meets a stop", Value: .1, Unit: "1",
	Why: "what it took on CPUs is then no measure of what that cost", Source: "arithmetic: the p90"}
