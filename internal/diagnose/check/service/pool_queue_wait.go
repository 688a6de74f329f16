package service

import (
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// poolQueueWait is the wait in the thread pool's queue before the service begins with a request. The queue's length
// divided by the rate of work items gives it (Little's law: John D. C. Little, Operations Research 9, 1961). It is nil
// if the queue was not recorded, or if clients timed the requests, whose latency then includes it.
type poolQueueWait struct {
	queue *metrics.Curve
	rate  float64 // work items taken from it, 1/s
}

func poolQueueWaitOf(c *check.Case) *poolQueueWait {
	return check.Once(c, func(c *check.Case) *poolQueueWait {
		l := c.Ledger
		if l == nil || len(l.Rows) == 0 || c.Bundle.Requests.Lane.At(l.Rows[0]) == 0 {
			return nil
		}
		o := &poolQueueWait{queue: metrics.CurveOf(c.Bundle, c.Subject, evidence.SeriesPoolQueue, metrics.Whole), rate: l.Requests.Rate}
		if done := metrics.CurveOf(c.Bundle, c.Subject, evidence.SeriesPoolCompleted, metrics.Whole).Over(metrics.Whole); done.Known() {
			o.rate = max(o.rate, done.Number)
		}
		if !o.queue.Known() || !(o.rate > 0) {
			return nil
		}
		return o
	})
}

// meanWait returns the mean wait over a time. It returns 0 where the wait is unknown: callers add it to a latency or
// compare it with a least wait, so that an unknown wait accuses nothing. See [poolQueueWait.isKnown].
func (o *poolQueueWait) meanWait(w metrics.Window) time.Duration {
	if o == nil {
		return 0
	}
	if v := o.queue.Over(w); v.Known() {
		return time.Duration(v.Number / o.rate * 1e9)
	}
	return 0
}

// isKnown says whether the queue was watched in a time.
func (o *poolQueueWait) isKnown(w metrics.Window) bool { return o != nil && o.queue.Over(w).Known() }

// isNoticeable says whether the wait was long enough to be noticed in at least that many readings.
func (o *poolQueueWait) isNoticeable(readings int) bool {
	if o == nil {
		return false
	}
	for _, items := range o.queue.V {
		if items/o.rate*1e9 >= check.Noticeable.Value {
			readings--
		}
	}
	return readings <= 0
}

// waitFigure returns the wait over a time, as evidence.
func (o *poolQueueWait) waitFigure(c *check.Case, when string, w metrics.Window) check.Evidence {
	return c.Figure("pool.queue_wait_ms", "wait in the pool's queue before the service starts a request; its own figures do not include it"+when, o.meanWait(w).Seconds()*1e3, "ms", o.queue.Origin)
}
