package service

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// OwnWork is slow requests that compute.
var OwnWork = check.Check{
	ID:    "service.own-work",
	Title: "slow requests are busy with their own work",
	Step:  check.StepRest,
	Doc: `Slow requests compute more than the others; they do not wait. Examples: a regular expression
that backtracks, a large response to encode, a list that is searched from end to end. The
function they run shows what to change.

The function comes from a CPU profile of the same period: in Go from samples during slow
requests, on a JVM or .NET from the stacks of running threads.

How to tell it from similar problems: if the CPUs are saturated, requests wait for each other
(service.over-capacity), and cheaper requests help there, too. If the host does not run the
process, its runtime counts waiting as running (linux.cpu-saturation). In Python others wait for the
interpreter's lock while one request computes: that wait counts here if one function has half of the CPU
time, else it is linux.futex.

.NET samples threads only at safe points: long work between two of them appears in the method
it returns to, and an inlined method in its caller.

Minimum evidence: 5 slow requests with known states, and more work than usual in 25 % of the
slow time, or in 15 % where half of the slow time is own work and no other cause is found;
without --slo, a p99 of 20 ms, or of 10 ms if one in twenty requests of a route takes 20 times
the median and almost none is between. A route that always computes for 20 ms and more, 20 times
as long as other requests, is not a fault by itself: only --slo decides for a rare report. It
counts as slow if one request in twenty is on such a route, or if fewer use 25 % of all CPUs.
Without requests, for threads that serve connections: one in 250 run periods is a long
computation in one function, of 13 ms and more, with half of the CPU time, and 20 times as long
as the others.

What helps: less work per request: a better algorithm, a cache, a smaller answer, or the
work in parallel where CPUs are free.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time of own work, more than is usual; by a profile alone, half of %v or more; by hot threads alone, %v in one function; by the application's own log alone, half of %v of %v, or of one of %v",
		check.SomeSlow, check.SlowShare, check.Material, aSecond, fewHot, fewStatement, aSecond, tenSeconds),
	Thresholds: []check.Threshold{aSecond, farLonger, fewHot, fewStatement, tenSeconds, leastLong, leastMean, longHold, longOfAll, longOfWork, longTurn, mostHeld, modeGap, modeLeast, modePart, modeTimes, mostRareTimes, noticeableWork,
		mostly, check.Arguable, check.FewClocked, check.Material, check.MaterialBeyond, check.TwoKinds, check.MaterialUnseen, check.Noticeable,
		check.SlowShare, check.SomeSlow},

	Needs:   "what requests did (Go: an execution trace, and a CPU profile at the same time; others: a recording of their threads)",
	Applies: (*check.Case).Serves,
	Judge:   judgeOwnWork,
}

func judgeOwnWork(c *check.Case) check.Verdict {
	if v, ok := computesLong(c); ok {
		return v
	}
	if v, ok := judgeProfiledWork(c); ok {
		return v
	}
	if !hasStates(c) {
		return c.NoStates()
	}
	if held := check.HeldInterpreterOf(c); held.By != nil {
		return workUnderInterpreterLock(c, held)
	}
	return noteUnjudgedRoutes(c, ownWork(c))
}

// workUnderInterpreterLock tells the work that slow requests do, or wait for as it holds Python's interpreter lock. The check of locks has judged that it matters.
func workUnderInterpreterLock(c *check.Case, held *check.HeldInterpreter) check.Verdict {
	l := c.Ledger
	at := check.From(l.StatesFrom())
	work := func(row int) int64 { ch := l.Of(row); return ch[ledger.Own] }
	per, _, over := c.Excess(l.UsualRows(), l.Slow, work)
	share := held.Share + over
	v := check.Verdict{Rule: check.Matters, Summary: fmt.Sprintf("%s is waiting for Python's interpreter lock (GIL) or computing with it", check.OfSlow(share))}
	v.Weigh(share, check.Material)
	name := held.By.Name()
	v.Title = fmt.Sprintf("Slow requests compute in %s, or wait while others do: Python's interpreter lock (GIL) lets one thread run at a time: %s of slow time.", name, units.Percent(share))
	v.Evidence = append(v.Evidence,
		c.Figure("slow.interpreter_share", "share of slow time in waits for Python's interpreter lock", held.Share, "1", at),
		c.Figure("slow.own_ms", "slow time of own work", float64(l.Charges[ledger.Own])/1e6, "ms", at),
		c.Figure("interpreter.top_share", "share of the CPU time while slow requests were under way, in "+name, held.By.Share, "1", held.By.Origin))
	v.Saves = c.Save(addInts(per, held.Per), -1, -1)
	v.Fix = append(v.Fix, check.Fix{Text: "let this code do less, or run it in another process: threads of one interpreter compute by turns, so that more threads do not help, and more worker processes do", Code: name})
	return v
}

// noteUnjudgedRoutes adds rare routes that always compute for long: whether they may is not known
// without --slo.
func noteUnjudgedRoutes(c *check.Case, v check.Verdict) check.Verdict {
	l, r := c.Ledger, &c.Bundle.Requests
	if !v.RuledOut() {
		return v
	}
	for _, route := range l.Unjudged {
		var took []int64
		for _, row := range l.Rows {
			if r.Route.At(row) == route {
				took = append(took, r.Latency(row))
			}
		}
		slices.Sort(took)
		name, median := c.Bundle.Names.Text(route), float64(stats.Quantile(took, .5))
		v.Summary += fmt.Sprintf("; requests to %s always compute, %s each: set --slo to judge whether that is too long", name, units.Time(median))
		v.Evidence = append(v.Evidence, c.Figure("requests.route_median_ms", "median of the requests to "+name, median/1e6, "ms", check.From(l.StatesFrom())))
	}
	return v
}

func ownWork(c *check.Case) check.Verdict {
	l := c.Ledger
	at := check.From(l.StatesFrom())
	work := func(row int) int64 { ch := l.Of(row); return ch[ledger.Own] }
	share := c.Share(ledger.Own)
	crowd := share < check.Material.Value && share >= check.Arguable.Value && share+c.Share(ledger.RequestsCPU) >= mostly.Value && len(c.Found) == 0
	if crowd { // they compute at the same time, and wait for one another
		work = func(row int) int64 { ch := l.Of(row); return ch[ledger.Own] + ch[ledger.RequestsCPU] }
		share = c.Share(ledger.Own, ledger.RequestsCPU)
	}
	v := check.Verdict{Rule: check.TooLittle, Summary: check.OfSlow(share) + " is own work"}
	v.Weigh(share, check.Material)
	// Who is ready looks as if it ran, but all requests together compute for no longer than the process
	// was on processors.
	used := metrics.ProcessOf(c.Bundle, c.Subject, metrics.Window{From: l.From, Until: l.To}).CPU
	if most := used.Number * float64(l.To-l.From) / float64(max(1, l.Total)); used.MostlyKnown() && share >= check.Material.Value && most < check.Material.Value {
		v.Weigh(most, check.Material)
		v.Summary = fmt.Sprintf("the process used CPUs for less than %s of the slow time, although its threads were runnable longer", units.Percent(most))
		v.Evidence = append(v.Evidence, c.Figure("process.cpus", "CPUs the process used", used.Number, "CPUs", used.Origin))
		return v
	}
	v.Evidence = append(v.Evidence, c.Figure("slow.own_ms", "slow time of own work", float64(l.Charges[ledger.Own])/1e6, "ms", at))
	if share < check.Material.Value && c.Slow() {
		return unlessUnseen(c, v)
	}
	if !c.Slow() {
		v.Rule = check.NotSlow
		return v
	}
	per, usual, over := c.Excess(l.UsualRows(), l.Slow, work)
	v.Weigh(over, check.MaterialBeyond)
	made, by := madeWork(c)
	for n := range per {
		per[n] = int64((1 - made) * float64(per[n]))
	}
	if usual > 0 { // else looks met no usual request
		v.Evidence = append(v.Evidence, c.Figure("requests.usual_own_ms", "usual own work per request (median of the most affected route)", float64(usual)/1e6, "ms", at))
	}
	least := check.Material.Value
	if share >= mostly.Value && len(c.Found) == 0 { // most of slow time is it, and no other cause is found
		least = check.Arguable.Value
	}
	switch {
	case over < least:
		v.Rule = check.Usual
		v.Summary += ", not more than is usual"
		if 2*over >= share {
			v.Rule = check.TooLittle
			v.Summary = fmt.Sprintf("%s is own work, %s above the usual: less than the %s that a cause has", check.OfSlow(share), units.Percent(over), units.Percent(least))
		}
		return v
	case (1-made)*over < least:
		v.Rule = check.Explained
		v.Summary += fmt.Sprintf(", but %s of that is %s", units.Percent(made), by)
		return v
	case l.Host.Starved():
		v.Rule, v.Summary = check.Withheld, "the host did not run the process all the time, so the amount of its own work is unknown"
		v.Needs = []check.Need{{What: "the same recording while the host has free CPUs"}}
		return v
	case !c.UserVisible(check.Noticeable) && !twoModes(c, per):
		v.Rule = check.Brief
		v.Summary += c.ButBrief()
		return v
	case loopsTakeShortTurns(c) && !computesNoticeably(&v, per) && !twoModes(c, per):
		v.Rule = check.Unnoticed
		v.Summary += ", but only milliseconds in each, on an event loop that serves many in turns"
		v.Needs = []check.Need{check.NeedLimit}
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Slow requests are busy computing: %s of slow time is own work.", units.Percent(share))
	v.Saves = c.Save(per, -1, -1)
	fix := check.Fix{Text: "do less work per request there, cache the result, or do it outside the request"}
	if where := c.Worked(); len(where) > 0 {
		top := where[0]
		v.Title = fmt.Sprintf("Slow requests are busy in %s: %s of slow time is own work.", top.Name(), units.Percent(share))
		if 2*top.Share < 1 { // it is not what they mostly do
			v.Title = fmt.Sprintf("Slow requests are busy computing, most often in %s: %s of slow time is own work.", top.Name(), units.Percent(share))
		}
		fix.Code = top.Function
		if crowd {
			v.Title = fmt.Sprintf("Slow requests compute in %s at the same time, and wait for one another's CPUs: %s of slow time.", top.Name(), units.Percent(share))
		}
		for _, w := range where[:min(3, len(where))] {
			v.Evidence = append(v.Evidence, c.Figure("work.site_share", "share of that work in "+w.Name(), w.Share, "1", w.Origin))
		}
	}
	if crowd {
		fix.Text = "do that work once for all who wait for its result (singleflight, a lock per key), or spread it over time; " + fix.Text
	}
	if route, part := routeOf(c, per); route != "" {
		v.Evidence = append(v.Evidence, c.Figure("work.route_share", "share of it in requests to "+route, part, "1", at))
	}
	v.Fix = append(v.Fix, fix)
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return max(0, int64((1-made)*float64(work(row)-usual))) }))
	return v
}

// computesNoticeably says whether half of the work beyond the usual (per, ns) is done in requests that do a noticeable part of it each. It records in v what decides.
func computesNoticeably(v *check.Verdict, per []int64) bool {
	each := medianByTime(per)
	v.Weigh(float64(each), noticeableWork)
	return each >= noticeableWork.Int64()
}

var noticeableWork = check.Threshold{Name: "work above the usual that a slow request does, of half of that work as much or more (asked where slow requests wait for an event loop that serves many in short turns)", Value: check.Noticeable.Value, Unit: "ns",
	Why: "the loop's turns are that work: what is too short to keep others waiting is too short here", Source: check.Noticeable.Source}

// madeWork returns the largest part of the requests' work that another cause accounts for, and
// that cause.
func madeWork(c *check.Case) (part float64, by string) {
	for _, f := range c.Found {
		if f.Work > part {
			part, by = f.Work, f.ID
		}
	}
	return part, by
}

// routeOf returns the route that has most of what slow requests lost, and its part; "" where
// requests have no routes, or no route stands out.
func routeOf(c *check.Case, per []int64) (route string, part float64) {
	sums := make(map[evidence.NameID]int64)
	var total int64
	for n, row := range c.Ledger.Slow {
		sums[c.Bundle.Requests.Route.At(row)] += per[n]
		total += per[n]
	}
	top := largestName(sums)
	if total == 0 {
		return "", 0
	}
	if part = float64(sums[top]) / float64(total); part < mostly.Value {
		return "", 0
	}
	return c.Bundle.Names.Text(top), part
}
