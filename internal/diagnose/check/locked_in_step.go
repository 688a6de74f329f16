package check

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Threads that nothing shows to serve requests serve them if the more of them wait for locks the more slow requests are in flight.
var (
	StepRounds = Threshold{Name: "looks at all threads by which waiting threads are compared with slow requests in flight", Value: 20, Unit: "count",
		Why: "fewer agree by chance", Source: "statistics: of 20 pairs without relation one in 100 has a correlation of .5 or more"}
	StepAlike = Threshold{Name: "correlation of the threads that wait for locks with the slow requests in flight", Value: .5, Unit: "1",
		Why: "then most of what moves one moves the other", Source: "statistics: of 20 pairs without relation one in 100 has as much"}
)

// lockedInStep is the share of slow time that was not observed while threads waited for locks in place of its requests.
type lockedInStep float64

// lockedInStep returns the share of slow time that was not observed, as far as at each look a thread waited for a lock for each slow request in flight. It is 0 where
// the two do not move together: then these threads may wait for something of their own.
func (c *Case) lockedInStep() float64 { return float64(Once(c, readLockedInStep)) }

func readLockedInStep(c *Case) lockedInStep {
	l, r := c.Ledger, &c.Bundle.Requests
	unseen := c.Share(ledger.Unobserved)
	if l == nil || unseen < Material.Value {
		return 0
	}
	var waiting, under []float64
	both, all := 0., 0.
	for _, looks := range c.Threads().Rounds(c.Subject) {
		at := looks[0].Time
		if at < l.From || at > l.To {
			continue
		}
		locked, slow := 0., 0.
		for i := range looks {
			if looks[i].View.State == evidence.LockWait {
				locked++
			}
		}
		for _, row := range l.Slow {
			if r.Begins(row) <= at && at < r.End.At(row) {
				slow++
			}
		}
		waiting, under = append(waiting, locked), append(under, slow)
		both, all = both+min(locked, slow), all+slow
	}
	if len(waiting) < StepRounds.Int() || all == 0 || measureCorrelation(waiting, under) < StepAlike.Value {
		return 0
	}
	return lockedInStep(unseen * both / all)
}

// measureCorrelation returns Pearson's correlation; 0 where one of the two does not vary.
func measureCorrelation(x, y []float64) float64 {
	n := float64(len(x))
	var mx, my, xx, yy, xy float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}
