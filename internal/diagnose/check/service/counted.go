package service

import (
	"fmt"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var leastCounted = check.Threshold{Name: "readings of a service's own counters", Value: 8, Unit: "count",
	Why: "fewer do not tell how requests came", Source: "arithmetic: four before a change and four after"}

// countedArrivals returns the arrivals of requests by the service's own counters: finished
// requests and the growth of the queue. Counters show what nothing else does where requests are
// too fast to follow, or still in the queue. Nil where the service has no such counters.
func countedArrivals(c *check.Case) *arrivals {
	out := poolQueueWaitOf(c)
	done := metrics.CurveOf(c.Bundle, c.Subject, evidence.SeriesRequestRate, metrics.Whole)
	if out == nil || !done.Known() || len(done.T) < leastCounted.Int() {
		return nil
	}
	n := int64(len(done.T) - 1)
	width := (done.T[n] - done.T[0]) / n
	if width < int64(time.Second)/2 {
		return nil
	}
	a := &arrivals{Arrivals: &metrics.Arrivals{Rate: metrics.Value{Number: done.Mean(), Origin: done.Origin, Watched: 1}, From: done.T[0] - width, Width: width}}
	a.rate = a.Rate.Number
	a.Source, _ = done.Origin.Artifact()
	inside := float64(c.Ledger.Requests.P50)
	for i, at := range done.T { // what a reading tells is of the time before it
		grown := (out.queue.At(at) - out.queue.At(at-width)) / (float64(width) / 1e9)
		a.Rates = append(a.Rates, max(0, done.V[i]+grown))
		a.Medians = append(a.Medians, inside+out.queue.At(at)/out.rate*1e9)
	}
	return a
}

// judgeCountedSurge judges a rise that the service's own counters show, with a queue that began
// with it. The wait in the queue is in no request's own figures, so the saving is not known for
// each.
func judgeCountedSurge(c *check.Case, v *check.Verdict) bool {
	a := countedArrivals(c)
	if a == nil || !poolQueueWaitOf(c).isNoticeable(shortest.Int()) {
		return false
	}
	step, ok := a.findBurst()
	if !ok {
		step, ok = a.findStep()
	}
	until := step.at
	for i := (step.at - a.From) / a.Width; ok && i < int64(len(a.Rates)) && a.Rates[i] >= surging.Value*step.before; i++ {
		until += a.Width
	}
	out := poolQueueWaitOf(c)
	before, risen := metrics.Window{From: a.From, Until: step.at}, metrics.Window{From: step.at, Until: until}
	if !ok || !out.isKnown(before) || out.meanWait(risen) < check.Noticeable.Duration() || out.meanWait(before) >= check.Noticeable.Duration()/2 {
		return false
	}
	times := step.after / step.before
	v.Evidence = append(v.Evidence, c.Figure("requests.before_per_s", "before "+formatClock(step.at), step.before, "1/s", a.Rate.Origin), c.Figure("requests.after_per_s", "from then on, for "+fmt.Sprintf("%.0f s", float64(until-step.at)/1e9), step.after, "1/s", a.Rate.Origin),
		out.waitFigure(c, ", on average in that time", risen))
	if share, origin, none := takenByOthers(c); none {
		v.Rule = check.Withheld
		v.Evidence = append(v.Evidence, c.Figure("host.others_cpus_share", "share of the host's CPUs used by other processes, which left none free", share, "1", origin))
		v.Summary = fmt.Sprintf("%s × the rate before %s, but other processes used %s of the host's CPUs: which of the two made requests wait is unknown", units.Num(times), formatClock(step.at), units.Percent(share))
		v.Needs = []check.Need{{What: "a recording on a host with free CPUs", Command: "unstall record PID --expect-rate " + check.Digits(3, step.before)}}
		return true
	}
	v.Rule = check.Matters
	v.Summary = fmt.Sprintf("%s requests/s, %s × the rate before %s", units.Num(step.after), units.Num(times), formatClock(step.at))
	v.Title = fmt.Sprintf("The request rate rose %s × at %s, to %s requests/s, and requests waited %s before the service started them.",
		units.Num(times), formatClock(step.at), units.Num(step.after), units.Time(float64(out.meanWait(risen))))
	v.Weight = 1 // while it lasts all wait
	most := metrics.CurveOf(c.Bundle, c.Subject, evidence.SeriesRequestRate, metrics.Whole).Over(risen)
	v.Fix = append(v.Fix, check.Fix{Text: fmt.Sprintf("limit callers to the service's capacity: let them cache responses, and reject requests above %s/s early", units.Num(most.Number))},
		check.Fix{Text: "make requests cheaper, or cache their most expensive part in the service; document the agreed rate, and monitor it"})
	return true
}
