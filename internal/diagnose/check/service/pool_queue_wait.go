package service

import (
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// poolQueueWait is what requests wait before the service begins with them, where they are as it saw
// them: in the queue of its pool, of which every reading tells, by Little's law (John D. C.
// Little, Operations Research 9, 1961), how long the next work item will be in it. Nil where
// that was not recorded, or requests are as their clients saw them.
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

// meanWait returns the mean wait over a time, 0 where that is not known.
func (o *poolQueueWait) meanWait(w metrics.Window) time.Duration {
	if o == nil {
		return 0
	}
	if v := o.queue.Over(w); v.Known() {
		return time.Duration(v.Number / o.rate * 1e9)
	}
	return 0
}

// isNoticeable says whether the wait was long enough to be noticed in so many readings.
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
