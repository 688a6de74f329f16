package linux

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// stoppedSeconds is what slow requests met in the seconds (between two readings of cpu.stat) in which the quota stopped the process, and in
// the others. The kernel counts how long it stopped the process, but not when: slow requests that come with the stops have these in common.
// All figures but part are parts of slow time.
type stoppedSeconds struct {
	inside float64 // in such seconds
	excess float64 // of inside, beyond what as long a time without a stop has; NaN: too little such time
	least  float64 // if the stops of all processors had been at once
	most   float64 // if they had been one after another
	when   metrics.Spans
	part   float64 // of the time with requests: these seconds
}

var fewSeconds = check.Threshold{Name: "part of the time without a stop that says what is usual", Value: .1, Unit: "1",
	Why: "of less the usual is by chance", Source: "judgement: weighs recordings with few quiet seconds against a usual that these few make"}

// stoppedSecondsOf compares slow time with the seconds in which the quota stopped the process; ok
// is false where less than half of slow time was watched.
func (t *throttle) stoppedSecondsOf(c *check.Case) (s stoppedSeconds, ok bool) {
	l := c.Ledger.All
	all, watched := overlayRequests(c, metrics.ThrottledQueues(c.Bundle, c.Subject, metrics.Window{From: l.From, Until: l.To}))
	if watched < metrics.Most {
		return s, false
	}
	cpus := float64(max(1, c.Bundle.Subjects[c.Subject].CPUs))
	var slow, inside, most, least, time, stopped float64
	for i := range all {
		m := &all[i]
		if m.all == 0 {
			continue // without requests
		}
		slow += float64(m.slow)
		time += float64(m.Until - m.From)
		if m.value > 0 {
			inside += float64(m.slow)
			most += float64(m.most)
			least += float64(m.most) / cpus
			stopped += float64(m.Until - m.From)
			s.when = s.when.Add(m.From, m.Until)
		}
	}
	if slow == 0 {
		return s, false
	}
	s.inside, s.most, s.least, s.excess, s.part = inside/slow, most/slow, least/slow, math.NaN(), stopped/time
	if usual := time - stopped; usual >= fewSeconds.Value*time {
		s.excess = max(0, inside-(slow-inside)*stopped/usual) / slow
	}
	return s, true
}

// explainedShare returns the share of slow time that the stops explain.
func (s stoppedSeconds) explainedShare() float64 {
	if math.IsNaN(s.excess) {
		return s.least
	}
	return min(s.excess, s.most)
}

// judgeSeconds judges by the seconds in which the process was stopped, where the states of
// requests are not known; false where that does not decide.
func (t *throttle) judgeSeconds(c *check.Case, v *check.Verdict) bool {
	s, ok := t.stoppedSecondsOf(c)
	switch {
	case !ok:
		return false
	case s.most < check.Material.Value:
		v.Weigh(s.most, check.Material)
		v.Summary += fmt.Sprintf(", but that is at most %s of slow time", units.Percent(s.most))
		return true
	case s.explainedShare() < check.Material.Value && !(math.IsNaN(s.excess) && t.Share() >= check.OftenStopped.Value):
		return false
	}
	total := float64(c.Ledger.Total)
	t.supportQuota(v, c.Bound(s.explainedShare()*total, min(s.least, s.explainedShare())*total, s.most*total), s.explainedShare())
	v.Evidence = append(v.Evidence, c.Figure("slow.in_stopped_seconds_share", fmt.Sprintf("slow time in seconds with throttling, which are %s of the time", units.Percent(s.part)), s.inside, "1", t.Stopped.Origin))
	t.addFixes(c, v)
	without := func(share float64) check.Prediction {
		return c.PredictP99(func(row int) int64 {
			from, to := spanSinceSent(c, row)
			return int64(min(1, share/s.inside) * float64(s.when.Within(from, to)))
		})
	}
	p := without(s.explainedShare())
	p.Low, p.High = without(s.most).Then, without(min(s.least, s.explainedShare())).Then
	v.Prediction = append(v.Prediction, p)
	return true
}
