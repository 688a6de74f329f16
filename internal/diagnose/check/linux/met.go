package linux

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// met is what requests met between two readings of a figure.
type met struct {
	metrics.Window
	value float64 // of the reading
	slow  int64   // ns of slow requests in it, total
	all   int64   // ns of all requests in it, total
	most  int64   // ns of slow requests if each had met all of the figure's seconds
}

// heldTime returns the product of the figure and its time, ns: the figure is an average number of
// waiting threads, or of stops.
func (m *met) heldTime() float64 { return m.value * float64(m.Until-m.From) }

// overlayRequests lays all requests that were seen over a figure, also those without states:
// traces cover some seconds, and the slow requests may be others. Watched is the part of slow time
// that the figure covers.
func overlayRequests(c *check.Case, curve *metrics.Curve) (out []met, watched float64) {
	if c.Ledger == nil || !curve.Known() {
		return nil, 0
	}
	for i := range len(curve.T) - 1 {
		out = append(out, met{Window: metrics.Window{From: curve.T[i], Until: curve.T[i+1]}, value: curve.V[i]})
	}
	each := func(rows []int, do func(m *met, ns int64)) (sum int64) {
		for _, row := range rows {
			from, to := spanSinceSent(c, row)
			sum += to - from
			n, _ := slices.BinarySearchFunc(out, from, func(m met, t int64) int { return cmp.Compare(m.Until, t) })
			for ; n < len(out) && out[n].From < to; n++ {
				if ns := min(to, out[n].Until) - max(from, out[n].From); ns > 0 {
					do(&out[n], ns)
				}
			}
		}
		return sum
	}
	var seen int64
	l := c.Ledger.All
	whole := each(l.Slow, func(m *met, ns int64) {
		m.slow += ns
		m.most += min(ns, int64(m.heldTime()))
		seen += ns
	})
	each(l.Rows, func(m *met, ns int64) { m.all += ns })
	if whole > 0 {
		watched = float64(seen) / float64(whole)
	}
	return out, watched
}

// spanSinceSent returns when a request was on its way or in the service, without the time its load
// generator sent it late.
func spanSinceSent(c *check.Case, row int) (from, to int64) {
	r := &c.Bundle.Requests
	to = r.End.At(row)
	from = to - r.Latency(row)
	for s := range r.Path(row).All {
		if s.Kind != evidence.SentLate {
			break
		}
		from += s.Dur
	}
	return min(from, to), to
}

var noticeable = check.Threshold{Name: "mean length of slow requests from which waits for a CPU are named", Value: 20e6, Unit: "ns",
	Why: "a few ms are what the scheduler gives to whatever is at work before", Source: "judgement: as long as a slow request that is noticed"}

// Shorter requests are reported where most requests meet the waits: most are slow, by more than a slice of the scheduler on average, and a
// thread of the process waits for three times as long as it runs.
var (
	mostSlow = check.Threshold{Name: "share of requests that are slow, for shorter ones to matter", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
	mostWait = check.Threshold{Name: "share of the time of ready threads that they wait for a CPU, for shorter ones to matter", Value: .75, Unit: "1",
		Why: "three times as long as they run", Source: "arithmetic: of four parts of their time they wait for three"}
	slice = check.Threshold{Name: "mean length of slow requests that may be waits for a CPU at all", Value: 4e6, Unit: "ns",
		Why: "a slice of the scheduler", Source: "base_slice_ns of Linux: about 3 ms"}
)

// slowAtAll says whether slow requests are common enough among all that were seen, not only the
// traced ones.
func slowAtAll(c *check.Case) bool {
	all := check.Case{Bundle: c.Bundle, Subject: c.Subject, Ledger: c.Ledger.All}
	return all.Slow()
}

// isSlowEnough says whether slow requests are slow enough to ask which other processes used the
// processors.
func (d delay) isSlowEnough(c *check.Case) bool {
	l, mean := c.Ledger.All, meanSlow(c)
	return l.Rule != ledger.RuleFloor || mean >= noticeable.Value ||
		mean >= slice.Value && d.denied >= mostWait.Value && float64(len(l.Slow)) > mostSlow.Value*float64(len(l.Rows))
}

// meanSlow returns how long (ns) slow requests take on average.
func meanSlow(c *check.Case) float64 {
	l := c.Ledger.All
	return float64(l.Total) / float64(max(1, len(l.Slow)))
}
