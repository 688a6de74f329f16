package check

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
)

// Stopped is the share of its periods in which a CPU quota stopped the process
// while its requests were watched; NaN where cpu.stat was not. From [OftenStopped]
// on what it took on processors is no measure of what that cost.
func (c *Case) Stopped() float64 {
	if c.Ledger == nil {
		return math.NaN()
	}
	return metrics.QuotaOf(c.Bundle, c.Subject, c.source(), metrics.Window{From: c.Ledger.From, Until: c.Ledger.To}).Share()
}

// StopLength is how long (ns) a stop by the quota lasts in the mean, at most: the kernel counts
// it for each processor that had a thread of the process to run. 0 where it is rarely stopped,
// or not enough for that to be in slow requests.
func (c *Case) StopLength() int64 {
	if !(c.Stopped() >= OftenStopped.Value) || c.Share(ledger.HostCPU) < Material.Value {
		return 0
	}
	w := metrics.Window{From: c.Ledger.From, Until: c.Ledger.To}
	q := metrics.QuotaOf(c.Bundle, c.Subject, c.source(), w)
	if !q.Waiting.Known() || q.Stopped.Number < 1 {
		return 0
	}
	return int64(q.Waiting.Number * w.Seconds() * 1e9 / q.Stopped.Number)
}

// OftenStopped is the share of periods from which a p90 meets a stop.
var OftenStopped = Threshold{Name: "share of a quota's periods from which a p90 meets a stop", Value: .1, Unit: "1",
	Why: "what it took on CPUs is then no measure of what that cost", Source: "arithmetic: the p90"}
