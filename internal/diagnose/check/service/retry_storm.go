package service

import (
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// RetryStorm is failing calls that are retried, so that a dependency in trouble gets more of them.
var RetryStorm = check.Check{
	ID:    "service.retry-storm",
	Title: "failed calls are repeated, and add to the load of a dependency in trouble",
	Step:  check.StepDependency,
	Doc: `A call fails or takes longer than its timeout, and the service makes it again at once. While the
dependency is in trouble each request makes two or three calls instead of one, and a server that has just
too much to do gets a multiple of it: a short disturbance becomes a long one. What is given up after a
timeout still runs at the other end.

How to tell it from similar problems: if a dependency is slow and each request calls it as often as
usual, nothing is repeated (service.dependency-slow). If requests always make many calls, failures or
not, these are part of the work (service.chatty-calls).

What helps: a budget for retries (at most one in ten calls), a pause before each that grows and is drawn at
random, one layer that retries instead of all, a circuit breaker, and a timeout above the dependency's usual
99th percentile. What does not help: more attempts, a shorter timeout, more connections.`,
	Least: "10 failed calls to one place (status 500 or above, 429, or closed without a response after 10 ms or more), in seconds with 3 of them and one in ten calls; in these 1.5 times the calls per request of other seconds; and 25 % of slow time waiting for it then",
	Thresholds: []check.Threshold{check.TwoKinds, failedEach, failedPart, givenUp, leastFailed, leastRequests, stormFactor, check.Material, check.Noticeable,
		check.SlowShare, check.SomeSlow},

	Needs: "the calls on each connection (as root, unstall record PID)",
	Applies: func(c *check.Case) bool {
		return c.Ledger != nil && exchangedOf(c) != nil && len(exchangedOf(c).calls) > 0
	},
	Judge: judgeRetries,
}

var (
	leastFailed = check.Threshold{Name: "failed calls", Value: 10, Unit: "count",
		Why: "fewer are what networks do", Source: "Poisson: where 5 are usual, 10 or more come by chance in 3 % of recordings"}
	failedEach = check.Threshold{Name: "failed calls in a second", Value: 3, Unit: "count",
		Why: "fewer are what networks do", Source: "Poisson: where 1 is usual, 3 or more come by chance in 8 % of seconds"}
	failedPart = check.Threshold{Name: "part of the calls of a second that fail", Value: .1, Unit: "1",
		Why: "fewer are what networks do", Source: "Site Reliability Engineering, O'Reilly, 2016, chapter 21: a client retries at most a tenth of its requests (retry budget)"}
	stormFactor = check.Threshold{Name: "calls per request over the usual", Value: 1.5, Unit: "times",
		Why: "retries of every second call make as many", Source: "arithmetic: 1 and a half"}
	leastRequests = check.Threshold{Name: "requests of which a ratio is known", Value: 20, Unit: "count",
		Why: "of 20 a share is known within a tenth", Source: "binomial error: a share of one half is known within 11 % (√(0.5·0.5/20))"}
)

const (
	stormSecond = int64(1e9) // ns: the unit of counting calls and requests
	anyRequest  = -2         // no row, and not −1, unknown
)

// storm is calls to one place that are retried while they fail.
type storm struct {
	to            evidence.NameID
	calls, failed int
	usual, then   float64 // calls per request, in other seconds and while they fail
	always        bool    // they fail all the time: usual are those that repeat no failed one
	untold        bool    // whether they repeat a failed one is not known
	failing       map[int64]bool
}

func judgeRetries(c *check.Case) check.Verdict {
	x, l := exchangedOf(c), c.Ledger
	s := check.Once(c, findStorm)
	if s == nil {
		return check.Verdict{Rule: check.Absent, Summary: x.describeFailed()}
	}
	var v check.Verdict
	v.Rule = check.TooLittle
	to := c.Bundle.Names.Text(s.to)
	v.Evidence = append(v.Evidence,
		c.Figure("calls.failed", fmt.Sprintf("failed calls to %s, of %s", to, units.Plural(s.calls, "call")), float64(s.failed), "count", x.origin),
		c.Figure("calls.per_request", "calls to the dependency per request, in seconds in which some fail", s.then, "count", x.origin),
		c.Figure("calls.per_request_usual", "the same, "+s.describeUsual(), s.usual, "count", x.origin))
	v.Summary = fmt.Sprintf("%s calls per request to %s while calls fail, %s %s", units.Num(s.then), to, units.Num(s.usual), s.describeUsual())
	factor := s.then / s.usual
	v.Weigh(float64(s.failed), leastFailed)
	v.Weigh(factor, stormFactor)
	if s.untold && factor < stormFactor.Value {
		v.Rule = check.Untold
		v.Summary = fmt.Sprintf("%d of %s to %s fail, at all times: whether they repeat failed ones is not known", s.failed, units.Plural(s.calls, "call"), to)
		v.Needs = []check.Need{{What: "a recording that has some seconds in which its calls are answered"}}
		return v
	}
	if factor < stormFactor.Value || s.failed < leastFailed.Int() {
		return v
	}
	r := &c.Bundle.Requests
	holds := s.holdsWorkers(c)
	per, usual, share := c.Excess(l.Rows, l.Slow, func(row int) int64 {
		if from := r.End.At(row) - r.Latency(row); !s.overlapsFailures(x, from, r.End.At(row)) {
			return 0
		}
		charges := l.Of(row)
		waits := charges[ledger.Dependency] + charges[ledger.Pool] + charges[ledger.Unobserved]
		if holds {
			waits += charges[ledger.Queued]
		}
		return waits
	})
	v.Weigh(share, check.Material)
	if !c.Slow() || share < check.Material.Value || !c.UserVisible(check.Noticeable) {
		v.Rule = c.Cleared(share)
		v.Summary += ", but slow requests do not wait for it then"
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Failed calls to %s are repeated: %s calls per request while they fail, %s %s, and %s of slow time passes in these seconds.", to, units.Num(s.then), units.Num(s.usual), s.describeUsual(), units.Percent(share))
	again := 1 - 1/factor // part of the calls that are retries
	v.Saves = c.Bound(again*float64(sumInts(per)), 0, float64(sumInts(per)))
	v.Fix = append(v.Fix, check.Fix{Text: "give retries a budget (at most one in ten calls) and a growing, random pause before each, stop calling for a moment while most fail (circuit breaker), and set the timeout above the usual 99th percentile of the call"})
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
		if from := r.End.At(row) - r.Latency(row); !s.overlapsFailures(x, from, r.End.At(row)) {
			return 0
		}
		charges := l.Of(row)
		less := int64(again * float64(max(0, charges[ledger.Dependency]-usual)))
		if holds { // with two thirds of the calls or fewer, hardly any connection waits to be read
			less += charges[ledger.Queued]
		}
		return less
	}))
	return v
}

// describeFailed says how many of the calls failed.
func (x *exchanged) describeFailed() string {
	failed := 0
	for i := range x.calls {
		if x.calls[i].failed || x.calls[i].refused {
			failed++
		}
	}
	if failed == 0 {
		return "no call failed"
	}
	return fmt.Sprintf("only %s of %s failed", units.Count(failed), units.Plural(len(x.calls), "call"))
}

// describeUsual says what the usual number of calls is of.
func (s *storm) describeUsual() string {
	if s.always {
		return "without those that repeat a failed one"
	}
	return "else"
}

// overlapsFailures says whether a time touches a second in which calls fail.
func (s *storm) overlapsFailures(x *exchanged, from, until int64) bool {
	for at := (from - x.from) / stormSecond; at <= (until-x.from)/stormSecond; at++ {
		if s.failing[at] {
			return true
		}
	}
	return false
}

// holdsWorkers says whether failed calls take most of the time for which requests are served that were read in seconds in which some fail, so that
// those behind them wait to be read.
func (s *storm) holdsWorkers(c *check.Case) bool {
	x, r := exchangedOf(c), &c.Bundle.Requests
	var served, failed int64
	for _, row := range c.Ledger.Rows {
		end := r.End.At(row)
		if read := end - r.Latency(row) + entranceWait(c, row); s.failing[(read-x.from)/stormSecond] {
			served += end - read
		}
	}
	for i := range x.calls {
		if call := &x.calls[i]; call.failed && call.to == s.to {
			failed += call.end - call.begun
		}
	}
	return 2*failed >= served
}

// callsOfSecond counts calls to one place.
type callsOfSecond struct {
	calls, failed int
	again         int // that follow a failed one of the same request for the same thing
	alike         int // that follow a failed one for the same thing, of whichever request
}

// placeCalls are the calls to one place by the second in which they began, and the operations they asked for.
type placeCalls struct {
	seconds map[int64]*callsOfSecond
	asked   map[evidence.NameID]bool
}

// countCalls counts calls by place and second.
func (x *exchanged) countCalls() map[evidence.NameID]*placeCalls {
	type thing struct {
		request       int
		to, operation evidence.NameID
		sent          int64
	}
	before := make(map[thing]*exchangedCall)
	follows := func(call *exchangedCall, request int) bool { // follows a failed call for the same thing
		k := thing{request, call.to, call.operation, call.sent}
		last := before[k]
		before[k] = call
		return last != nil && last.failed && call.begun <= last.end+(last.end-last.begun)
	}
	by := make(map[evidence.NameID]*placeCalls)
	for i := range x.calls {
		call := &x.calls[i]
		of := by[call.to]
		if of == nil {
			of = &placeCalls{make(map[int64]*callsOfSecond), make(map[evidence.NameID]bool)}
			by[call.to] = of
		}
		of.asked[call.operation] = true
		at := (call.begun - x.from) / stormSecond
		n := of.seconds[at]
		if n == nil {
			n = &callsOfSecond{}
			of.seconds[at] = n
		}
		n.calls++
		if call.failed {
			n.failed++
		}
		if follows(call, call.request) {
			n.again++
		}
		if follows(call, anyRequest) {
			n.alike++
		}
	}
	return by
}

// findStorm finds the place at which most calls fail; nil if hardly any fails. Where there is no other time to compare with, a call that
// follows a failed one for the same thing is a retry: of the same request, where that is known.
func findStorm(c *check.Case) (worst *storm) {
	x := exchangedOf(c)
	by := x.countCalls()
	requests := x.requestsBySecond(c)
	for _, to := range slices.Sorted(maps.Keys(by)) {
		of := by[to]
		s := &storm{to: to, failing: make(map[int64]bool)}
		var callsThen, callsElse, requestsThen, requestsElse, again, alike int
		for at, n := range of.seconds {
			s.calls += n.calls
			s.failed += n.failed
			s.failing[at] = n.failed >= failedEach.Int() && float64(n.failed) >= failedPart.Value*float64(n.calls)
			if s.failing[at] {
				callsThen, again, alike = callsThen+n.calls, again+n.again, alike+n.alike
			} else {
				callsElse += n.calls
			}
		}
		for at, n := range requests {
			if s.failing[at] {
				requestsThen += n
			} else {
				requestsElse += n
			}
		}
		if s.failed < failedEach.Int() || requestsThen < leastRequests.Int() {
			continue
		}
		s.then, s.usual = float64(callsThen)/float64(requestsThen), float64(callsElse)/float64(requestsElse)
		if requestsElse < leastRequests.Int() || callsElse == 0 {
			if len(of.asked) >= leastRequests.Int() { // else different requests ask for the same
				again = max(again, alike)
			} else {
				s.untold = alike > again
			}
			s.usual, s.always = float64(callsThen-again)/float64(requestsThen), true
		}
		if worst == nil || s.failed > worst.failed {
			worst = s
		}
	}
	return worst
}

// requestsBySecond counts the requests that the kernel saw on the same connections, by the second
// in which they were read: one that waits to be read makes its calls later.
func (x *exchanged) requestsBySecond(c *check.Case) map[int64]int {
	out := make(map[int64]int)
	r := &c.Bundle.Requests
	for row := range r.Len() {
		if a, ok := r.Origin.At(row).Artifact(); ok && check.From(a) == x.origin && r.Subject.At(row) == c.Subject && r.Timed(row) {
			out[(r.End.At(row)-r.Latency(row)+entranceWait(c, row)-x.from)/stormSecond]++
		}
	}
	return out
}
