package service

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// A statement that every request of a route waits long for makes none of them slower than the others. It is a fault if it takes alwaysLong,
// while the same database answers others in a tenth of that: then the statement is slow and not the database.
var (
	alwaysLong = check.Threshold{Name: "length of a statement that most requests of a route wait for", Value: 2 * check.Noticeable.Value, Unit: "ns",
		Why: "an index answers in some ms", Source: "judgement: twice the time from which slow requests are noticed, as none is slower than the others"}
	mostAlways = check.Threshold{Name: "part of a route's requests, and of their time, in such a statement", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
	quickerOthers = check.Threshold{Name: "how much quicker the database answers others", Value: 10, Unit: "times",
		Why: "then it is the statement, not the database", Source: "judgement: weighs a statement without an index, whose cost grows with the table, against one that does more than others"}
	timedSpread = check.Threshold{Name: "spread of a statement's length (p90 − p10), as a part of its median, from which the database works on it", Value: .02, Unit: "1",
		Why: "below it a clock ends the statement, such as SLEEP or a limit", Source: "judgement: weighs a timer, which ends some 100 µs after its time (man 2 nanosleep), against reading rows, which takes longer or shorter by the state of caches and by what else runs"}
)

// alwaysWaited is a statement that all requests of a route wait long for.
type alwaysWaited struct {
	to, operation, route evidence.NameID
	p50, others          int64 // ns, of such a statement, and of others at the same database
	requests             int
	spread               float64 // of such a statement's length, as a part of p50
	share                float64 // of the time of the route's requests
	of                   float64 // of the time of all requests
	byRow                map[int]int64
}

// databases are products with statements that may be slow one by one.
var databases = []string{"PostgreSQL at ", "MySQL/MariaDB at ", "SQL Server at ", "Oracle at "}

// isDatabase says whether a dependency is one of databases.
func isDatabase(name string) bool {
	return slices.ContainsFunc(databases, func(d string) bool { return strings.HasPrefix(name, d) })
}

// alwaysSlow adds to a verdict that rules a dependency out what all requests of a route wait for.
func alwaysSlow(c *check.Case, v check.Verdict) check.Verdict {
	x := exchangedOf(c)
	if !v.RuledOut() && v.Rule != check.ByDesign || x == nil || isDependencyFound(c) {
		return v
	}
	w := findAlways(c, x)
	if w == nil {
		return v
	}
	whom := w.describeCall(c)
	v.Weigh(w.spread, timedSpread)
	if w.spread < timedSpread.Value {
		v.Rule = check.ByDesign
		v.Summary = fmt.Sprintf("requests of %s always wait %s for %s, each time as long: a clock ends that statement, such as SLEEP, which may be by design", routeName(c, w.route), units.Time(float64(w.p50)), whom)
		v.Needs = []check.Need{{What: "a limit for request latency", Command: "unstall PID --slo 100ms"}}
		return v
	}
	v.Rule, v.Weight = check.Matters, w.of
	v.Title = fmt.Sprintf("Requests of %s always wait %s for %s: %s of their time.", routeName(c, w.route), units.Time(float64(w.p50)), whom, units.Percent(w.share))
	v.Summary = fmt.Sprintf("%s for a statement, while others there take %s", units.Time(float64(w.p50)), units.Time(float64(w.others)))
	v.Evidence = append([]check.Evidence(nil), // what slow requests of other routes wait for is beside the point
		c.Figure("call.p50_ms", fmt.Sprintf("median duration of that statement, in %s of %s", units.Plural(w.requests, "request"), routeName(c, w.route)), float64(w.p50)/1e6, "ms", x.origin),
		c.Figure("call.others_p50_ms", "median duration of others at the same database", float64(w.others)/1e6, "ms", x.origin))
	w.addFix(c, &v, boundOf(whom), x.origin)
	r := &c.Bundle.Requests
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
		if r.Route.At(row) != w.route {
			return 0
		}
		if ns, known := w.byRow[row]; known {
			return ns
		}
		return min(w.p50, r.Latency(row)) // its own calls were not seen: they count as the others'
	}))
	return v
}

// addFix adds what helps, with the code that makes the call where that is known.
func (w *alwaysWaited) addFix(c *check.Case, v *check.Verdict, fix check.Fix, origin evidence.Origin) {
	if site := c.CallSite(w.to); site != "" {
		v.Evidence = append(v.Evidence, c.Seen("called from "+site, origin))
		fix.Code = site
	}
	v.Fix = append(v.Fix, fix)
}

// describeCall names the dependency, and what it is asked for.
func (w *alwaysWaited) describeCall(c *check.Case) string {
	if w.operation == 0 {
		return c.Bundle.Names.Text(w.to)
	}
	return fmt.Sprintf("%s (%s)", c.Bundle.Names.Text(w.to), c.Bundle.Names.Text(w.operation))
}

// isDependencyFound says whether a cause that concerns dependencies is found.
func isDependencyFound(c *check.Case) bool {
	return slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.Step == check.StepDependency })
}

// findAlways returns the statement that takes most of the requests' time; nil if none is always
// long.
func findAlways(c *check.Case, x *exchanged) (worst *alwaysWaited) {
	by := make(map[evidence.NameID][]*exchangedCall)
	for i := range x.calls {
		by[x.calls[i].to] = append(by[x.calls[i].to], &x.calls[i])
	}
	for _, to := range slices.Sorted(maps.Keys(by)) {
		if !isDatabase(c.Bundle.Names.Text(to)) {
			continue
		}
		var long []*exchangedCall
		var took, others []int64
		n := make(map[evidence.NameID]int)
		for _, call := range by[to] {
			if call.answerTime() < alwaysLong.Int64() {
				others = append(others, call.answerTime())
				continue
			}
			long = append(long, call)
			took = append(took, call.answerTime())
			n[call.operation]++
		}
		if len(long) < ledger.MinRequests || len(others) < ledger.MinRequests {
			continue
		}
		w := &alwaysWaited{to: to, p50: stats.QuantileOf(took, .5), others: stats.QuantileOf(others, .5)}
		w.spread = float64(stats.QuantileOf(took, .9)-stats.QuantileOf(took, .1)) / float64(max(1, w.p50))
		if top := largestName(n); 2*n[top] > len(long) {
			w.operation = top
		}
		if w.p50 < quickerOthers.Int64()*w.others || !w.findRoute(c, x, long) || worst != nil && w.of <= worst.of {
			continue
		}
		worst = w
	}
	return worst
}

// findRoute finds the route whose requests contain such statements, and says whether most of them do.
func (w *alwaysWaited) findRoute(c *check.Case, x *exchanged, long []*exchangedCall) bool {
	routes, byRow, all := x.sumRoutes(c, func(row int, from, until int64) (waited int64) {
		for i := sort.Search(len(long), func(i int) bool { return long[i].begun >= from }); i < len(long) && long[i].begun < until; i++ {
			if call := long[i]; call.end <= until && (call.request < 0 || call.request == row) {
				waited = max(waited, call.answerTime()) // the longest: others may be of another request
			}
		}
		return waited
	})
	best := largestRoute(routes, mostAlways, nil)
	if best == nil {
		return false
	}
	w.route, w.requests, w.byRow = best.route, len(best.spent), byRow
	w.share, w.of = best.shareOfTime(), float64(best.total)/float64(max(1, all))
	return true
}
