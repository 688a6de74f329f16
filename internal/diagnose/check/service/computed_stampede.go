package service

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var (
	sameWork = check.Threshold{Name: "share of what the process runs while requests are slow, in one function that hardly runs at other times", Value: .5, Unit: "1",
		Why: "it then takes most of the CPUs for which requests wait", Source: "arithmetic: half"}
	crowdsLeast = check.Threshold{Name: "crowds of requests that run the same function", Value: 3, Unit: "count",
		Why: "one may be a job or a burst of requests, two a coincidence", Source: "arithmetic: the least number that shows two distances"}
)

// computed is a value that requests compute together, again and again.
type computed struct {
	work    check.Effort
	origin  evidence.Origin
	crowds  int
	most    int     // requests of one crowd
	apart   int64   // ns, median from the beginning of a crowd to that of the next
	inside  float64 // of the function's samples, the part that is in the crowds
	quick   float64 // of the requests of these routes, the part that is quick
	arrives float64 // rate of requests in crowds over that between them
}

// findComputed finds a function that many requests run at the same time, and hardly any at other times, though as many of their routes come then; nil if there is
// none. A burst of requests comes faster than those between; requests that are always costly come at any time; a job of the service serves none.
func findComputed(c *check.Case) *computed {
	l, r := c.Ledger, &c.Bundle.Requests
	if l == nil || !c.Slow() || partSlow(c) >= burstTime.Value {
		return nil
	}
	where, beside := c.RanWhileSlow()
	if len(where) == 0 || !(beside < mostBeside.Value) || where[0].Share < sameWork.Value {
		return nil
	}
	x := &computed{work: where[0], origin: check.From(l.Source)}
	if !x.countCrowds(c) || !x.runsInCrowds(c) {
		return nil
	}
	slow := c.SlowSpans()
	routes := make(map[evidence.NameID]bool)
	for _, row := range l.Slow {
		routes[r.Route.At(row)] = true
	}
	var all, begun int
	for _, row := range l.Rows {
		if routes[r.Route.At(row)] {
			all++
			if at := r.Begins(row); slow.Within(at, at+1) > 0 {
				begun++
			}
		}
	}
	x.quick = 1 - float64(len(l.Slow))/float64(max(1, all))
	in, whole := float64(slow.Time()), float64(l.To-l.From)
	x.arrives = float64(begun) / in / max(1e-12, float64(all-begun)/max(1, whole-in))
	if x.quick < servedWithout.Value || x.arrives >= surging.Value {
		return nil
	}
	return x
}

// countCrowds counts the stretches in which enough slow requests are under way that most began before the first of them was answered.
func (x *computed) countCrowds(c *check.Case) bool {
	r := &c.Bundle.Requests
	rows := slices.Clone(c.Ledger.Slow)
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(r.Begins(a), r.Begins(b)) })
	var begins []int64
	crowded := 0
	for len(rows) > 0 {
		n, first, until := 0, r.End.At(rows[0]), int64(0)
		for n < len(rows) && (n == 0 || r.Begins(rows[n]) < until) {
			until, first = max(until, r.End.At(rows[n])), min(first, r.End.At(rows[n]))
			n++
		}
		early := 0
		for _, row := range rows[:n] {
			if r.Begins(row) < first {
				early++
			}
		}
		if early >= stampedeCalls.Int() {
			begins = append(begins, r.Begins(rows[0]))
			crowded += n
			x.most = max(x.most, early)
		}
		rows = rows[n:]
	}
	x.crowds = len(begins)
	var apart []int64
	for i := 1; i < len(begins); i++ {
		apart = append(apart, begins[i]-begins[i-1])
	}
	if x.crowds < crowdsLeast.Int() || float64(crowded) < mostInCrowds.Value*float64(len(c.Ledger.Slow)) {
		return false
	}
	x.apart = stats.QuantileOf(apart, .5)
	return true
}

// runsInCrowds says whether the function hardly runs while no request is slow, by the kernel's CPU clock.
func (x *computed) runsInCrowds(c *check.Case) bool {
	on, s := c.Bundle.Names.Lookup(evidence.SampleOnCPU), &c.Bundle.Samples
	if on == 0 {
		return false
	}
	slow := c.SlowSpans()
	is := make(map[evidence.StackID]bool)
	all, in := 0, 0
	for i := range s.Len() {
		if s.Type[i] != on || s.Subject[i] != c.Subject {
			continue
		}
		runs, known := is[s.Stack[i]]
		if !known {
			runs = c.SiteOf(s.Stack[i]).Function == x.work.Function
			is[s.Stack[i]] = runs
		}
		if runs {
			all++
			if slow.Within(s.Time[i], s.Time[i]+1) > 0 {
				in++
			}
		}
	}
	x.inside = float64(in) / float64(max(1, all))
	return x.inside >= mostInCrowds.Value
}

// judgeComputed judges a value that requests compute together when it has expired; ok is false where there is none.
func judgeComputed(c *check.Case) (v check.Verdict, ok bool) {
	x := findComputed(c)
	if x == nil {
		return v, false
	}
	l := c.Ledger
	per := make([]int64, len(l.Slow))
	for n, row := range l.Slow {
		ch := l.Of(row)
		per[n] = ch[ledger.RequestsCPU] + ch[ledger.Own] + ch[ledger.Unobserved] + ch[ledger.Queued]
	}
	share := float64(sumInts(per)) / float64(max(1, l.Total))
	if share < check.Material.Value || !c.UserVisible(check.Noticeable) {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Saves: c.Save(per, -1, -1)}
	v.Weigh(share, check.Material)
	v.Weigh(x.work.Share, sameWork)
	v.Counted(float64(x.crowds), crowdsLeast)
	v.Title = fmt.Sprintf("Up to %d requests at a time run %s, again each %s, and hardly any between: %s of slow time. A value that each of them makes has probably expired.", x.most, x.work.Function, units.Time(float64(x.apart)), units.Percent(share))
	v.Summary = fmt.Sprintf("%s while many requests at once run %s", check.OfSlow(share), x.work.Function)
	v.Evidence = append(v.Evidence,
		c.Figure("work.crowds", "times that many requests ran it side by side", float64(x.crowds), "count", x.origin),
		c.Figure("work.site_share", "share of what its threads ran while requests were slow in "+x.work.Name(), x.work.Share, "1", x.work.Origin),
		c.Figure("work.in_crowds_share", "share of the time in this function that is within these stretches", x.inside, "1", x.work.Origin),
		c.Figure("requests.quick_share", "share of the requests of the same routes that are quick", x.quick, "1", x.origin))
	v.Fix = append(v.Fix, check.Fix{Text: "let one request make the value while the others wait for it or get the old one (single flight, a lock for each key), or make it again before it expires", Code: x.work.Name()})
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
		ch := l.Of(row)
		return ch[ledger.RequestsCPU] + ch[ledger.Queued]
	}))
	return v, true
}
