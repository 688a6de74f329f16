package dotnet

import (
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// savedTime returns what slow requests would not have taken if nothing blocked: all but the time
// they need. Where that is not known, the saving lies between their wait for a thread and all but
// their own work: how long the tasks they block on would take in a pool with free threads cannot
// be seen in one without.
func (s *starving) savedTime(n threadpool.Service) *check.Saves {
	l := s.c.Ledger
	if l == nil || len(l.Slow) == 0 {
		return nil
	}
	r := &s.c.Bundle.Requests
	per := make([]int64, len(l.Slow))
	var sum, least int64
	for i, row := range l.Slow {
		ch := l.Of(row)
		own := ch[ledger.Own] + ch[ledger.Kernel] + ch[ledger.StopTheWorld] + ch[ledger.Client] + ch[ledger.GeneratorLag]
		if n.Seconds > 0 {
			own = max(own, int64(n.Seconds*1e9))
		}
		per[i] = max(0, r.Latency(row)-own)
		sum += per[i]
		least += min(per[i], ch[ledger.PoolThread]+ch[ledger.Queued])
	}
	if n.Seconds > 0 {
		return s.c.Save(per, -1, -1)
	}
	return s.c.Bound(float64(sum), float64(least), float64(sum))
}

// waitedForThreads returns the slow time spent waiting for threads, which is the saving where
// extra threads make up for the blocked ones.
func (s *starving) waitedForThreads() *check.Saves {
	l := s.c.Ledger
	if l == nil || len(l.Slow) == 0 {
		return nil
	}
	return s.c.SaveMechanism(ledger.PoolThread)
}

// predictAwait returns what the simulation of the pool predicts for awaiting instead of blocking,
// beside what was measured; nil where the recording does not show what a request needs or how many
// there are, or where other work than requests blocks the threads.
func (s *starving) predictAwait(n threadpool.Service) []check.Prediction {
	if s.isBlockedElsewhere() {
		return nil
	}
	of := s.pool.With(n, threadpool.Await)
	then, err := of.Case.Predict()
	if err != nil {
		return nil
	}
	now := &of.Measured
	finished := newPrediction("requests.finished_per_s", "requests finished", "1/s", now.Rate, then.Rate)
	if come := s.arrivalRate(); now.Rate.Value > 0 && come > 0 && then.Rate.Value > moreThanCome.Value*come { // while none is finished, clients that wait send no more
		finished.Metric, finished.Now = "capacity", nil // no more are finished than come
	}
	return []check.Prediction{
		finished,
		newPrediction("requests.mean_ms", "mean latency", "ms", model.Unknown, then.Latency),
		newPrediction("requests.p99_ms", "p99", "ms", model.Unknown, then.P99),
		newPrediction("pool.threads", "pool threads", "threads", now.Threads, then.Threads),
	}
}

var moreThanCome = check.Threshold{Name: "predicted rate of finished requests over the rate at which requests come", Value: 1.1, Unit: "times",
	Why: "no more requests are finished than come: what is predicted above that is the pool's capacity", Source: check.Judgement + ": weighs the error of both rates, a few hundredths, against capacity, which is then several times as much"}

// arrivalRate returns how many requests came per second, 0 unknown.
func (s *starving) arrivalRate() float64 {
	l := s.c.Ledger
	if l == nil || l.To <= l.From {
		return 0
	}
	return float64(len(l.All.Rows)) / (float64(l.To-l.From) / 1e9)
}

// isBlockedElsewhere says whether the pool's threads are blocked not in requests but in timers or
// other work: fewer requests are in flight on average than threads are blocked, and hardly any of
// these threads works on one.
func (s *starving) isBlockedElsewhere() bool {
	l := s.c.Ledger
	if l == nil || l.To <= l.From || s.work.Blocked == 0 || s.work.Serving >= s.work.Blocked/2 {
		return false
	}
	r, under := &s.c.Bundle.Requests, int64(0)
	for _, row := range l.Rows {
		under += max(0, min(r.End.At(row), l.To)-max(r.Begins(row), l.From))
	}
	return float64(under)/float64(l.To-l.From) < s.work.Blocked/2
}

func newPrediction(id, metric, unit string, now, then model.Estimate) check.Prediction {
	return check.Prediction{ID: id, Metric: metric, Unit: unit, Now: stats.FiniteOrNil(now.Value), Then: stats.FiniteOrNil(then.Value), Low: stats.FiniteOrNil(then.Low), High: stats.FiniteOrNil(then.High)}
}
