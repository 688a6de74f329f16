package service

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// CacheStampede is requests that all recompute an entry that a cache lost, at the same time.
var CacheStampede = check.Check{
	ID:    "service.cache-stampede",
	Title: "requests rebuild the same cached value at the same time",
	Step:  check.StepDependency,
	Doc: `A value that takes long to make is kept for some time. When it expires, every request that comes
until a new one is there makes it, too: the same call runs many times side by side, each slower for the
others, and then not at all until it expires again. Most requests are quick, and some are slow together. A value
that is computed shows in the same way: many requests run one function at once, and hardly any runs it between.

How to tell it from similar problems: a slow query that each request makes is slow at any time
(service.dependency-slow). Here requests of the same route that come a moment later make no such call.

What helps: let one request make the value while the others wait for it (single flight, a lock for each key) or
get the old one; make it again before it expires; spread when entries expire. What does not help: a longer time to
live alone, a larger pool, a faster database.`,
	Least: "4 identical calls at the same time, 8 of 10 of them begun before the first was answered, at least twice; without any before for at least as long as they begin after each other; requests of the route that make none half as many as all, and four times as quick; and 25 % of slow time during these calls; or 3 crowds of 4 requests that run one function, half of what runs while requests are slow, which hardly runs between; or by the program's log, 4 that make one value at once, of a second and more",
	Thresholds: []check.Threshold{check.TwoKinds, begunBefore, burstTime, crowdsLeast, givenUp, mostBeside, mostInCrowds, mostMeanwhile, quickerWithout, sameWork, servedWithout, stampedeCalls, stampedeLeast,
		stampedeTimes, surging, toldStampede, check.FewClocked, check.Material, check.Noticeable, check.SlowShare, check.SomeSlow},

	Needs: "the calls on each connection (as root, unstall record PID)",
	Applies: func(c *check.Case) bool {
		return c.Ledger != nil && exchangedOf(c) != nil || isCacheLogged(c)
	},
	Judge: judgeStampede,
}

var (
	stampedeCalls = check.Threshold{Name: "identical calls at the same time", Value: 4, Unit: "count",
		Why: "two or three are by chance", Source: "Poisson: where one is under way on average, four or more are at the same time in 2 % of cases"}
	stampedeTimes = check.Threshold{Name: "crowds of identical calls", Value: 2, Unit: "count",
		Why: "a single crowd may be chance", Source: "arithmetic: the least number that repeats itself"}
	stampedeLeast = check.Threshold{Name: "time that such a call takes", Value: 5e6, Unit: "ns",
		Why: "what is quicker needs no cache", Source: "judgement: half of a call that is noticed"}
	begunBefore = check.Threshold{Name: "part of the calls begun before the first of them was answered", Value: .8, Unit: "1",
		Why: "the others may follow from it", Source: "judgement: weighs calls that arrive while the first is answered against those that follow from its answer"}
	mostInCrowds = check.Threshold{Name: "part of all such calls that are in crowds", Value: .8, Unit: "1",
		Why: "else the call is made all the time", Source: "judgement: weighs calls that a cache makes when it is empty against calls that are always made"}
	servedWithout = check.Threshold{Name: "part of the route's requests that need no such call", Value: .5, Unit: "1",
		Why: "a cache answers them", Source: "arithmetic: half"}
	quickerWithout = check.Threshold{Name: "how much quicker requests without the call are", Value: 4, Unit: "times",
		Why: "then it is the call that takes their time", Source: "arithmetic: three quarters of a request are then the call (1 − 1/4)"}
	mostMeanwhile = check.Threshold{Name: "part of a slow request's time in such calls", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
)

// crowd is identical calls that run at the same time.
type crowd struct {
	from, until int64
	calls       []*exchangedCall
}

// stampede is one call that crowds make.
type stampede struct {
	call    *exchangedCall
	crowds  []crowd
	most    int
	quiet   int64 // ns, median: before each crowd
	took    int64 // ns, median of such a call
	route   evidence.NameID
	without float64 // part of the route's requests without such a call
	ns      int64
}

// toldStampede is how long a value must take to make for a crowd by a program's own log to be named: requests are not in it.
var toldStampede = check.Threshold{Name: "time that making a value takes, by a program's log", Value: 1e9, Unit: "ns",
	Why: "without requests nothing tells the cost", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: after 1 s people lose their thought"}

// isCacheLogged says whether a program's log tells how values of its cache were made.
func isCacheLogged(c *check.Case) bool {
	_, told := c.Fact(evidence.FactCacheCrowd)
	return told
}

// judgeCacheLog judges by a program's log of what its cache lacks: several requests miss a value, and each makes it.
func judgeCacheLog(c *check.Case) check.Verdict {
	most, _ := c.Fact(evidence.FactCacheCrowd)
	crowds, _ := c.Fact(evidence.FactCacheCrowds)
	took, timed := c.Fact(evidence.FactCacheMade)
	v := check.Verdict{Rule: check.TooLittle, Summary: "no value was made by many at once, by the program's log",
		Needs: []check.Need{{What: "requests from the same time, to show what it costs them: an access log with durations"}}}
	v.Weigh(most.Number, stampedeCalls)
	if most.Number < stampedeCalls.Value {
		return v
	}
	v.Evidence = append(v.Evidence, c.Figure("cache.crowd_most", "most that made the same value at once, by the program's log", most.Number, "count", most.Origin),
		c.Figure("cache.crowds_told", "times that several made it", crowds.Number, "count", crowds.Origin))
	if timed {
		v.Evidence = append(v.Evidence, c.Figure("cache.made_longest_ms", "longest that making it took", took.Number/1e6, "ms", took.Origin))
	}
	v.Summary = fmt.Sprintf("%.0f made the same value of a cache at once", most.Number)
	if !timed || took.Number < toldStampede.Value {
		v.Rule = check.CostUnknown
		return v
	}
	v.Rule, v.Weight = check.StandsAlone, 1
	v.Title = fmt.Sprintf("Up to %.0f requests make the same value of a cache at once (%s): each takes up to %s, as none waits for the first.", most.Number, most.Value, units.Time(took.Number))
	v.Fix = []check.Fix{{Text: "let one request make the value while the others wait for it or get the old one (single flight, a lock for each key), or make it again before it expires", Code: most.Value}}
	return v
}

func judgeStampede(c *check.Case) check.Verdict {
	if isCacheLogged(c) && (c.Ledger == nil || exchangedOf(c) == nil) {
		return judgeCacheLog(c)
	}
	v := check.Verdict{Rule: check.Absent, Summary: "no call is made by many requests at once and then by none"}
	x, l := exchangedOf(c), c.Ledger
	s := findStampede(c, x)
	if s == nil {
		if of, ok := judgeComputed(c); ok {
			return of
		}
		return v
	}
	v.Rule = check.TooLittle
	r := &c.Bundle.Requests
	meanwhile := func(row int) (ns int64) {
		from, until := r.End.At(row)-r.Latency(row), r.End.At(row)
		first := sort.Search(len(s.crowds), func(i int) bool { return s.crowds[i].until > from })
		for _, of := range s.crowds[first:] {
			if of.from >= until {
				break
			}
			ns += min(until, of.until) - max(from, of.from)
		}
		if float64(ns) < mostMeanwhile.Value*float64(until-from) {
			return 0
		}
		return ns
	}
	per, usual, share := c.Excess(l.Rows, l.Slow, meanwhile)
	to := c.Bundle.Names.Text(s.call.to)
	if s.call.operation != 0 {
		to = fmt.Sprintf("%s (%s)", to, c.Bundle.Names.Text(s.call.operation))
	}
	v.Evidence = append(v.Evidence,
		c.Figure("calls.crowds", fmt.Sprintf("times that %d or more identical calls to %s ran side by side", stampedeCalls.Int(), to), float64(len(s.crowds)), "count", x.origin),
		c.Figure("calls.crowd_most", "most of these calls at once", float64(s.most), "count", x.origin),
		c.Figure("calls.quiet_ms", "median time without such a call before they begin", float64(s.quiet)/1e6, "ms", x.origin),
		c.Figure("call.p50_ms", "median duration of such a call", float64(s.took)/1e6, "ms", x.origin),
		c.Figure("requests.without_call_share", fmt.Sprintf("share of the requests of %s that make no such call", routeName(c, s.route)), s.without, "1", x.origin))
	v.Summary = fmt.Sprintf("identical calls of several requests at once are %s of slow time", units.Percent(share))
	v.Weigh(share, check.Material)
	if !c.Slow() || share < check.Material.Value || !c.UserVisible(check.Noticeable) {
		v.Rule = c.Cleared(share)
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Up to %d requests of %s make the same call to %s at once, after %s without one: %s of slow time. A cached value has probably expired.", s.most, routeName(c, s.route), to, units.Time(float64(s.quiet)), units.Percent(share))
	v.Saves = c.Save(per, -1, -1)
	v.Fix = append(v.Fix, check.Fix{Text: "let one request make the value while the others wait for it or get the old one (single flight, a lock for each key), or make it again before it expires"})
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return max(0, meanwhile(row)-usual) }))
	return v
}

// findStampede returns the call whose crowds take most time; nil if no call is made in crowds.
func findStampede(c *check.Case, x *exchanged) (worst *stampede) {
	type key struct {
		to, operation evidence.NameID
		sent          int64
	}
	by := make(map[key][]*exchangedCall)
	var order []key
	for i := range x.calls {
		call := &x.calls[i]
		k := key{call.to, call.operation, call.sent}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], call)
	}
	for _, k := range order {
		s := crowdsOf(by[k])
		if s == nil || worst != nil && s.ns <= worst.ns || !s.looksCached(c, x) {
			continue
		}
		worst = s
	}
	return worst
}

// crowdsOf finds crowds among identical calls, which are in order of time.
func crowdsOf(calls []*exchangedCall) *stampede {
	if len(calls) < stampedeTimes.Int()*stampedeCalls.Int() {
		return nil
	}
	s := &stampede{call: calls[0]}
	var all []crowd
	for _, x := range calls {
		if n := len(all); n > 0 && x.begun <= all[n-1].until {
			all[n-1].calls = append(all[n-1].calls, x)
			all[n-1].until = max(all[n-1].until, x.end)
		} else {
			all = append(all, crowd{x.begun, x.end, []*exchangedCall{x}})
		}
	}
	in := 0
	var quiet, took []int64
	for i, of := range all {
		early := 0
		answered := of.calls[0].end
		for _, x := range of.calls {
			answered = min(answered, x.end)
		}
		for _, x := range of.calls {
			if x.begun <= answered {
				early++
			}
		}
		if i == 0 || early < stampedeCalls.Int() || float64(early) < begunBefore.Value*float64(len(of.calls)) || of.from-all[i-1].until < of.calls[len(of.calls)-1].begun-of.from { // how long they take depends on how many there are
			continue
		}
		in += len(of.calls)
		s.crowds = append(s.crowds, of)
		s.most = max(s.most, early)
		s.ns += of.until - of.from
		quiet = append(quiet, of.from-all[i-1].until)
		for _, x := range of.calls {
			took = append(took, x.answerTime())
		}
	}
	if len(s.crowds) < stampedeTimes.Int() || float64(in) < mostInCrowds.Value*float64(len(calls)-len(all[0].calls)) {
		return nil
	}
	s.quiet, s.took = stats.QuantileOf(quiet, .5), stats.QuantileOf(took, .5)
	if s.took < stampedeLeast.Int64() {
		return nil
	}
	return s
}

// looksCached says whether most requests of the route that makes the calls do without them, and
// are much quicker then.
func (s *stampede) looksCached(c *check.Case, x *exchanged) bool {
	r := &c.Bundle.Requests
	type requests struct{ with, without int }
	of := make(map[evidence.NameID]*requests)
	quick := make(map[evidence.NameID][]int64)
	var calls []*exchangedCall
	for _, w := range s.crowds {
		calls = append(calls, w.calls...)
	}
	slices.SortFunc(calls, func(a, b *exchangedCall) int { return cmp.Compare(a.begun, b.begun) })
	for row := range r.Len() {
		if a, ok := r.Origin.At(row).Artifact(); !ok || check.From(a) != x.origin || r.Subject.At(row) != c.Subject || !r.Timed(row) {
			continue
		}
		route := r.Route.At(row)
		if of[route] == nil {
			of[route] = &requests{}
		}
		from, until := r.End.At(row)-r.Latency(row), r.End.At(row)
		contains := false
		for i := sort.Search(len(calls), func(i int) bool { return calls[i].begun >= from }); i < len(calls) && calls[i].begun < until && !contains; i++ {
			contains = calls[i].end <= until
		}
		if contains {
			of[route].with++
		} else {
			of[route].without++
			quick[route] = append(quick[route], until-from)
		}
	}
	with := 0
	for route, n := range of {
		if n.with > with || n.with == with && route < s.route {
			s.route, with = route, n.with
		}
	}
	n := of[s.route]
	if n == nil || n.with < stampedeTimes.Int()*stampedeCalls.Int() {
		return false
	}
	s.without = float64(n.without) / float64(n.with+n.without)
	return s.without >= servedWithout.Value && quickerWithout.Int64()*stats.QuantileOf(quick[s.route], .5) <= s.took
}
