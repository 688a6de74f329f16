package service

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// monitored is what a dependency's own monitor says of it.
type monitored struct {
	name   string
	mean   float64 // ns a call took, while the requests were watched
	best   float64 // ns, the mean of its best readings; 0 not known
	worst  float64 // ns, see worstOf
	of     string  // what worst is
	calls  float64 // per request of the service, 0 not known
	origin evidence.Origin
}

// listMonitors returns the dependencies whose own monitor was recorded, those that take requests
// most time first. Calls per request are counted by the spans, else by the monitor: calls per
// second over requests per second.
func listMonitors(c *check.Case, s *spanned) (all []monitored) {
	b := c.Bundle
	for i, x := range b.Subjects {
		id := evidence.SubjectID(i)
		f, ok := b.Fact(id, evidence.FactDependencyMean)
		if x.Kind != evidence.Dependency || !ok {
			continue
		}
		m := monitored{name: x.Name, mean: f.Number, origin: f.Origin}
		if w, ok := b.Fact(id, evidence.FactDependencyMax); ok {
			m.worst, m.of = w.Number, w.Value
		}
		if l := c.Ledger; l != nil {
			if means := b.SeriesOf(id, evidence.SeriesDependencyMean); means != nil {
				if v, ok := meanDuringSlow(c, means); ok {
					m.mean = v
				}
				sorted := slices.Sorted(slices.Values(means.V))
				m.best = sorted[len(sorted)/10]
			}
			if asked := b.SeriesOf(id, evidence.SeriesDependencyCalls); asked != nil && l.Requests.Rate > 0 {
				if v, watched := asked.Mean(l.From, l.To); watched > 0 {
					m.calls = v / l.Requests.Rate
				}
			}
		}
		all = append(all, m)
	}
	if len(all) == 1 && all[0].calls == 0 && s != nil {
		all[0].calls = s.perRequest()
	}
	sorting.Short(all, func(x, y monitored) int { return cmp.Compare(y.mean*y.calls, x.mean*x.calls) })
	return all
}

// meanDuringSlow returns the mean of a series while slow requests were under way, or any request
// if none was slow; false if nothing was read then.
func meanDuringSlow(c *check.Case, s *evidence.Series) (mean float64, ok bool) {
	l, r := c.Ledger, &c.Bundle.Requests
	rows := l.Slow
	if len(rows) == 0 {
		rows = l.Rows
	}
	var sum, ns float64
	for _, i := range rows {
		v, watched := s.Mean(r.End.At(i)-r.Latency(i), r.End.At(i)+1)
		sum += v * float64(watched)
		ns += float64(watched)
	}
	return sum / max(ns, 1), ns > 0
}

// addFigures adds what a monitor shows.
func (m *monitored) addFigures(c *check.Case, v *check.Verdict) {
	v.Evidence = append(v.Evidence, c.Figure("call.monitor_mean_ms", "mean duration of a call, measured by "+m.name, m.mean/1e6, "ms", m.origin))
	if m.worst > 0 {
		v.Evidence = append(v.Evidence, c.Figure("call.monitor_longest_ms", "longest call ("+m.of+")", m.worst/1e6, "ms", m.origin))
	}
	if m.calls > 0 {
		v.Evidence = append(v.Evidence, c.Figure("requests.monitor_calls", "its calls per request", m.calls, "count", m.origin))
	}
}

// countCalls is what says how many calls a request makes.
var countCalls = check.Need{What: "the number of calls per request: spans of some requests (OTLP, Zipkin or Jaeger JSON), or a count of calls over time"}

// judgeMonitored judges a dependency by its own monitor, where the service's own evidence does not
// show its waits.
func judgeMonitored(c *check.Case, all []monitored) check.Verdict {
	v := check.Verdict{Rule: check.TooLittle}
	for i := range all {
		all[i].addFigures(c, &v)
	}
	l := c.Ledger
	if l == nil || len(l.Rows) == 0 {
		v.Rule, v.Summary = check.NotRecorded, fmt.Sprintf("a call to %s takes %s, but there are no requests to compare with", all[0].name, units.Time(all[0].mean))
		v.Needs = []check.Need{{What: "requests: an access log from the same time"}}
		return v
	}
	rows := l.Slow
	if len(rows) == 0 {
		rows = l.Rows
	}
	var took float64
	for _, i := range rows {
		took += float64(c.Bundle.Requests.Latency(i)) / float64(len(rows))
	}
	top := &all[0]
	if top.calls == 0 {
		v.Rule, v.Summary = check.NotRecorded, fmt.Sprintf("a call to %s takes %s, a slow request %s, but the number of calls per request is unknown", top.name, units.Time(top.mean), units.Time(took))
		v.Needs = []check.Need{countCalls}
		return v
	}
	in, over := 0.0, 0.0
	for _, m := range all {
		usual := m.best
		if 2*len(l.Slow) > len(l.Rows) {
			usual = 0 // its best readings are of slow requests, too
		}
		in += m.calls * m.mean
		over += m.calls * max(0, m.mean-usual)
	}
	v.Summary = formatProduct(top.calls, top.mean, top.calls*top.mean, took)
	v.Evidence = append(v.Evidence, c.Figure("slow.mean_ms", "mean duration of a slow request", took/1e6, "ms", check.From(l.StatesFrom())))
	share := min(1, over/took)
	v.Weigh(share, check.MaterialBeyond)
	switch {
	case !c.Slow():
		v.Rule = check.NotSlow
	case share >= check.Material.Value:
		v.Rule = check.Matters
		v.Title = fmt.Sprintf("Slow requests wait for %s.", top.name)
		v.Saves = c.Bound(share*float64(l.Total), 0, min(1, in/took)*float64(l.Total))
		v.Fix = append(v.Fix, boundWait)
	case in >= check.Material.Value*took:
		v.Rule = check.Usual
		v.Summary += ", but calls take no longer than usual"
	}
	return v
}
