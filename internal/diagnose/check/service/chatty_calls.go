package service

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// ChattyCalls is requests that make many short calls, one after the other.
var ChattyCalls = check.Check{
	ID:    "service.chatty-calls",
	Title: "requests make many short calls, one after the other",
	Step:  check.StepDependency,
	Doc: `A request asks its database or another service again and again: for each row of a first
answer once more, as ORMs do that load what belongs to it lazily, or for each item of a list. Each call is quick, and the dependency's own
figures show nothing; their number times the way there and back is what the request takes.

How to tell it from similar problems: if single calls take long, the dependency is slow
(service.dependency-slow). If they wait for a connection before they begin, the pool is exhausted
(service.pool-exhausted), which so many calls cause as well.

What helps: one query with a join or a list of ids (IN, ANY, a batch endpoint), eager loading in an ORM, a
pipeline, or a cache for what repeats. A faster database helps little, as most of such a call is the way.`,
	Least: fmt.Sprintf("%v calls of the median request of a route, to one place, of less than %v each on average, one after the other, and %v of slow time in them; without slow requests, half of the time of requests of %v or more; of a few requests alone, of %v and more each; by a program's own log of its statements, %v of one shape in turn that take %v and more together",
		manyCalls, shortCall, check.Material, check.Noticeable, aSecond, manyCalls, aSecond),
	Thresholds: []check.Threshold{aSecond, manyCalls, mostlyCall, ofOthers, oneByOne, shortCall, timesLonger, check.CrowdedBy, check.CrowdedHost, check.FullCPUs, check.Material, check.Noticeable, check.SlowShare,
		check.SomeSlow},

	Needs:   "the calls of each request (as root, unstall record PID sees them on its connections; Go: an execution trace; or spans)",
	Applies: func(c *check.Case) bool { return hasStatements(c) || c.Ledger != nil && len(callsOf(c)) > 0 },
	Judge:   judgeChatty,
}

var (
	manyCalls = check.Threshold{Name: "calls of one request to one place", Value: 10, Unit: "count",
		Why: "fewer are a request's ordinary work", Source: "judgement: weighs requests that need several answers against a loop that asks for each row; docs of query planners and ORMs give no number"}
	shortCall = check.Threshold{Name: "mean length of such a call", Value: 10e6, Unit: "ns",
		Why: "longer ones are slow by themselves", Source: "judgement: as long as a call that is noticed"}
	oneByOne = check.Threshold{Name: "part of what calls take together, that they take one after the other", Value: .7, Unit: "1",
		Why: "else they run side by side already", Source: "judgement: weighs a loop that waits for each call against calls that are sent together"}
	mostlyCall = check.Threshold{Name: "part of a request's time in such calls", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
)

// calling is the calls that requests of one route make to one dependency.
type calling struct {
	route, to evidence.NameID
	rows      []int
	counts    []int64       // calls of each row
	each      float64       // mean length of a call, ns
	all       float64       // ns of all calls
	waited    map[int]int64 // ns by row, of rows with calls
	made      map[int]int64 // number of calls by row, of rows with calls
	took      int64         // ns of all rows
	share     float64       // of the route's requests, if rows are only those with many calls; 0: rows are all requests
}

// callsOf returns the calls of requests by route and place, those with most time first.
func callsOf(c *check.Case) []calling {
	return check.Once(c, func(c *check.Case) chatter { return chatter(callsByRoute(c)) })
}

type chatter []calling

// callsByRoute counts the calls of each request: those recorded one by one, else the waits for the
// network among its states.
func callsByRoute(c *check.Case) (all []calling) {
	l, b := c.Ledger, c.Bundle
	r := &b.Requests
	type key struct{ route, to evidence.NameID }
	type sum struct {
		n  int64
		ns int64
	}
	byRow := make(map[int]map[evidence.NameID]*sum)
	add := func(row int, to evidence.NameID, ns int64) {
		of := byRow[row]
		if of == nil {
			of = make(map[evidence.NameID]*sum)
			byRow[row] = of
		}
		if of[to] == nil {
			of[to] = &sum{}
		}
		of[to].n++
		of[to].ns += ns
	}
	told := make(map[evidence.ArtifactID]bool) // sources that record the calls of their requests; the ledger may charge clients' rows of the same requests
	v := &b.Intervals
	for i, k := range v.Kind {
		if k == evidence.Call && v.Subject.At(i) == c.Subject && v.Request.At(i) > 0 {
			row := int(v.Request.At(i)) - 1
			add(row, v.Cause.At(i), v.End[i]-v.Start[i])
			a, _ := r.Origin.At(row).Artifact()
			told[a] = true
		}
	}
	if len(told) == 0 {
		for _, row := range l.Rows {
			if !r.Path(row).Followed() {
				continue
			}
			for s := range r.Path(row).All {
				if s.Kind == evidence.NetWait && s.Cause != 0 && s.Lane == 0 {
					add(row, s.Cause, s.Dur)
				}
			}
		}
	}
	of := make(map[key]*calling)
	routes := make(map[evidence.NameID][]int)
	for row := range r.Len() {
		if a, ok := r.Origin.At(row).Artifact(); ok && told[a] && r.Subject.At(row) == c.Subject && r.Timed(row) {
			routes[r.Route.At(row)] = append(routes[r.Route.At(row)], row)
		}
	}
	for _, row := range l.Rows {
		if len(told) == 0 && r.Path(row).Followed() {
			routes[r.Route.At(row)] = append(routes[r.Route.At(row)], row)
		}
	}
	for row, to := range byRow {
		for name, x := range to {
			k := key{r.Route.At(row), name}
			g := of[k]
			if g == nil {
				g = &calling{route: k.route, to: k.to, waited: make(map[int]int64), made: make(map[int]int64)}
				of[k] = g
			}
			g.counts = append(g.counts, x.n)
			g.each += float64(x.ns)
			g.waited[row], g.made[row] = x.ns, x.n
		}
	}
	for _, g := range of {
		var n int64
		for _, x := range g.counts {
			n += x
		}
		g.all = g.each
		g.each /= float64(n)
		g.rows = routes[g.route]
		for _, row := range g.rows {
			g.took += r.Latency(row)
		}
		for len(g.counts) < len(g.rows) { // the other rows make no calls
			g.counts = append(g.counts, 0)
		}
		all = append(all, *g)
	}
	slices.SortFunc(all, func(x, y calling) int {
		return cmp.Or(cmp.Compare(y.all, x.all), cmp.Compare(x.route, y.route), cmp.Compare(x.to, y.to))
	})
	return all
}

func judgeChatty(c *check.Case) check.Verdict {
	if hasStatements(c) {
		return judgeStatements(c)
	}
	all, l := callsOf(c), c.Ledger
	v := check.Verdict{Rule: check.TooLittle}
	from := check.From(l.StatesFrom())
	worst, some := findChattiest(c)
	few := worst == nil && isChattyAlone(c, &all[0])
	if few {
		worst, some = &all[0], false
	}
	if worst == nil {
		g := &all[0]
		v.Weigh(float64(g.medianCalls()), manyCalls)
		v.WeighBelow(g.each, shortCall)
		if g.medianCalls() >= manyCalls.Int64() && g.each < shortCall.Value { // some of them take longer than all together should
			v.Rule = check.Explained
		}
		v.Summary = fmt.Sprintf("the median request of %s makes %s to %s", routeName(c, g.route), units.Plural(int(g.medianCalls()), "call"), c.Bundle.Names.Text(g.to))
		if g.medianCalls() == 0 { // others may make calls that are not linked to them
			v.Summary = fmt.Sprintf("no call of most requests of %s is known", routeName(c, g.route))
		}
		return v
	}
	median := worst.medianCalls()
	v.Weigh(float64(median), manyCalls)
	per := make([]int64, len(l.Slow))
	var lost int64
	for n, row := range l.Slow {
		per[n] = min(worst.callTime(c, row), c.Bundle.Requests.Latency(row))
		lost += per[n]
	}
	share := float64(lost) / float64(max(1, l.Total))
	part := worst.all / float64(max(1, worst.took)) // above 1 where some run side by side
	v.Weigh(share, check.Material)
	to := c.Bundle.Names.Text(worst.to)
	v.Evidence = append(v.Evidence,
		c.Figure("requests.calls", fmt.Sprintf("calls of the median request of %s to %s", routeName(c, worst.route), to), float64(median), "count", from),
		c.Figure("call.mean_ms", "mean duration of such a call", worst.each/1e6, "ms", from),
		c.Figure("requests.in_calls_share", "share of the time of these requests in these calls", min(1, part), "1", from))
	v.Summary = fmt.Sprintf("%s calls × %s each are %s of the time of %s", units.Num(float64(median)), formatMillis(worst.each), units.Percent(min(1, part)), routeName(c, worst.route))
	took := make([]int64, 0, len(worst.rows))
	for _, row := range worst.rows {
		took = append(took, c.Bundle.Requests.Latency(row))
	}
	order := fmt.Sprintf("one after the other: %s of its time", units.Percent(min(1, part)))
	if part > 1/oneByOne.Value { // some run side by side
		order = fmt.Sprintf("about %s at a time", units.Num(math.Round(part)))
	}
	switch {
	case float64(median) < manyCalls.Value*max(1, part):
		v.Weigh(float64(median)/max(1, part), manyCalls) // one after the other
		return v
	case c.Slow() && share >= check.Material.Value && c.UserVisible(check.Noticeable):
		v.Saves = c.Save(per, -1, -1)
	case !some && (!c.Slow() || len(c.Found) == 0) && part >= mostlyCall.Value && stats.QuantileOf(took, .5) >= check.Noticeable.Int64():
		v.Weigh(part, mostlyCall)
		v.Weight = min(1, part)
	default:
		v.Rule = c.Cleared(share)
		return v
	}
	if v.Rule = check.Matters; few {
		v.Rule = check.StandsAlone
		v.Needs = []check.Need{{What: "more requests of this route: spans of some minutes"}}
	}
	whom := to
	if what := worst.mainOperation(c); what != "" && what != to {
		whom = fmt.Sprintf("%s (%s)", to, what)
	}
	v.Title = fmt.Sprintf("A request of %s makes %s calls to %s, %s.", routeName(c, worst.route), units.Num(float64(median)), whom, order)
	if some {
		v.Title = fmt.Sprintf("%s of the requests of %s make %s calls each to %s, %s.", units.Percent(worst.share), routeName(c, worst.route), units.Num(float64(median)), whom, order)
	}
	where := cmp.Or(c.SiteOf(siteOfCalls(c, worst)).Path(), callingCode(c, to))
	if where != "" {
		v.Evidence = append(v.Evidence, c.Seen("called from "+where, from))
	}
	fix := check.Fix{Text: "ask once for all of it: " + askOnce(to), Code: where}
	if c.Bundle.Names.Wait(worst.to).Kind == evidence.NameServer {
		fix = unsearched
	}
	v.Fix = append(v.Fix, fix)
	rest := func(row int) int64 {
		ns := worst.callTime(c, row)
		took := c.Bundle.Requests.Latency(row)
		if alike := !some || 2*took > worst.took/int64(len(worst.rows)); ns == 0 && alike && routeName(c, c.Bundle.Requests.Route.At(row)) == routeName(c, worst.route) {
			ns = int64(min(1, part) * float64(took)) // its calls were not seen: assume as many as others make
		}
		return ns - ns/max(1, median) // one call remains
	}
	v.Prediction = append(v.Prediction, c.PredictP99(rest))
	return v
}

// findChattiest returns the calls of the route whose requests make most of many short calls, nil if there are none. Some are those of a part of its requests.
func findChattiest(c *check.Case) (worst *calling, some bool) {
	all := callsOf(c)
	for i := range all {
		if g := &all[i]; len(g.rows) >= ledger.MinRequests && g.medianCalls() >= manyCalls.Int64() && (g.each < shortCall.Value && !g.hasLongCalls(c) || g.isShortByItself(c)) {
			return g, false
		}
	}
	worst = chattySome(c, all)
	return worst, worst != nil && !worst.isOfAll(c, all)
}

// keptByCalls says whether an event loop is busy with a route because its requests make many short calls, which take a material part of the slow time:
// the longest stretch of such a request without a beginning or an end of a call is short in most of them. A request that computes for long
// after its calls has a long one.
func keptByCalls(c *check.Case, route string) bool {
	worst, _ := findChattiest(c)
	if worst == nil || routeName(c, worst.route) != route {
		return false
	}
	var lost int64
	for _, row := range c.Ledger.Slow {
		lost += min(worst.callTime(c, row), c.Bundle.Requests.Latency(row))
	}
	if float64(lost) < check.Material.Value*float64(c.Ledger.Total) {
		return false
	}
	acts := make(map[int][]int64) // by row
	v := &c.Bundle.Intervals
	for i, k := range v.Kind {
		if row := int(v.Request.At(i)) - 1; k == evidence.Call && v.Subject.At(i) == c.Subject && v.Request.At(i) > 0 && worst.made[row] >= manyCalls.Int64() {
			acts[row] = append(acts[row], v.Start[i], v.End[i])
		}
	}
	var stretches []int64
	for row, at := range acts {
		r := &c.Bundle.Requests
		begun := r.Start.At(row)
		end := begun + r.Latency(row)
		at = append(at, begun, end)
		slices.Sort(at)
		longest := int64(0)
		for n := 1; n < len(at); n++ {
			longest = max(longest, min(at[n], end)-max(at[n-1], begun))
		}
		stretches = append(stretches, longest*1000/max(1, end-begun))
	}
	return len(stretches) > 0 && float64(stats.QuantileOf(stretches, .5)) < 1000*check.Material.Value
}

// isChattyAlone says whether few requests are known, as of a single trace, and take a second or more, most of it in many short calls.
func isChattyAlone(c *check.Case, g *calling) bool {
	return len(c.Ledger.Rows) < ledger.MinRequests && g.medianCalls() >= manyCalls.Int64() && g.each < shortCall.Value &&
		float64(g.took) >= aSecond.Value*float64(len(g.rows)) && g.all >= mostlyCall.Value*float64(g.took)
}

// chattySome returns the calls of those requests of a route that make many calls while most make few: one of several GraphQL queries, or
// long lists. It returns nil if there are none.
func chattySome(c *check.Case, all []calling) *calling {
	r := &c.Bundle.Requests
	for i := range all {
		g := &all[i]
		of := calling{route: g.route, to: g.to, waited: make(map[int]int64), made: make(map[int]int64)}
		n := 0.
		for _, row := range g.rows {
			if g.made[row] < manyCalls.Int64() {
				continue
			}
			of.rows, of.counts = append(of.rows, row), append(of.counts, g.made[row])
			of.waited[row], of.made[row] = g.waited[row], g.made[row]
			of.took += r.Latency(row)
			of.all += float64(g.waited[row])
			n += float64(g.made[row])
		}
		if len(of.rows) < ledger.MinRequests {
			continue
		}
		others := float64(sumInts(g.counts)) - n // calls
		of.each = of.all / n
		longer := of.each / max(1, (g.all-of.all)/max(1, others))
		more := float64(of.medianCalls()) / max(1, others/float64(max(1, len(g.rows)-len(of.rows))))
		if of.share = float64(len(of.rows)) / float64(len(g.rows)); of.each < shortCall.Value && (more > timesLonger.Value*longer || others == 0 && of.isOfAll(c, all)) {
			return &of
		}
	}
	return nil
}

// callTime returns how long (ns) a request waits for such calls: by the calls themselves, or by
// its path.
func (g *calling) callTime(c *check.Case, row int) (ns int64) {
	if ns, known := g.waited[g.rowWithCalls(c, row)]; known {
		return ns
	}
	if routeName(c, c.Bundle.Requests.Route.At(row)) != routeName(c, g.route) { // it calls the same place for other reasons
		return 0
	}
	for s := range c.Bundle.Requests.Path(row).All {
		if s.Kind == evidence.NetWait && s.Cause == g.to {
			ns += s.Dur
		}
	}
	return ns
}

// rowWithCalls returns the row of the request that a row is whose calls are known: itself, or as another source saw it from further inside.
func (g *calling) rowWithCalls(c *check.Case, row int) int {
	if _, known := g.waited[row]; known {
		return row
	}
	for in := range c.Ledger.Inside(row) {
		if _, known := g.waited[in]; known {
			return in
		}
	}
	return row
}

var timesLonger = check.Threshold{Name: "length of slow requests' calls over that of others", Value: 2, Unit: "times",
	Why: "then it is their length, not their number", Source: "arithmetic: half of their time is then what they take longer (1 − 1/2)"}

// mainOperation returns what most of the calls ask for. It returns "" if that is unknown, or only puts connections in order.
func (g *calling) mainOperation(c *check.Case) string {
	v := &c.Bundle.Intervals
	n, all := make(map[evidence.NameID]int), 0
	for i, k := range v.Kind {
		if k != evidence.Call || v.Subject.At(i) != c.Subject || v.Cause.At(i) != g.to || v.Request.At(i) == evidence.NoRequest || g.made[int(v.Request.At(i))-1] == 0 {
			continue
		}
		all++
		if what := v.NameOf(i, evidence.Operation); what != 0 {
			n[what]++
		}
	}
	top := largestName(n)
	if top == 0 || 2*n[top] <= all || resetsConnection(c.Bundle.Names.Text(top)) {
		return ""
	}
	return c.Bundle.Names.Text(top)
}

// hasLongCalls says whether the calls of slow requests are long themselves.
func (g *calling) hasLongCalls(c *check.Case) bool {
	var long, n int64
	for _, row := range c.Ledger.Slow {
		row = g.rowWithCalls(c, row)
		long, n = long+g.waited[row], n+g.made[row]
	}
	if n == 0 {
		return false
	}
	each := float64(long) / float64(n)
	var calls int64
	for _, m := range g.made {
		calls += m
	}
	if rest := calls - n; rest > n/10 && each > timesLonger.Value*(g.all-float64(long))/float64(rest) {
		return true
	}
	return each >= shortCall.Value
}

// isShortByItself says whether other processes crowd the host, and a quarter of the calls is short all the same. The other calls are long because one
// of their ends waits for a CPU.
func (g *calling) isShortByItself(c *check.Case) bool {
	if c.Crowding() == nil {
		return false
	}
	v := &c.Bundle.Intervals
	var took []int64
	for i, k := range v.Kind {
		if k == evidence.Call && v.Subject.At(i) == c.Subject && v.Cause.At(i) == g.to && v.Request.At(i) > 0 && g.made[int(v.Request.At(i))-1] > 0 {
			took = append(took, v.End[i]-v.Start[i])
		}
	}
	return len(took) > 0 && stats.QuantileOf(took, .25) < shortCall.Int64()
}

// medianCalls returns the median number of calls of a request.
func (g *calling) medianCalls() int64 { return stats.QuantileOf(slices.Clone(g.counts), .5) }

// siteOfCalls returns the stack with most of the wait for such calls, 0 if unknown.
func siteOfCalls(c *check.Case, g *calling) (top evidence.StackID) {
	sums := make(map[evidence.StackID]int64)
	for _, row := range g.rows {
		for s := range c.Bundle.Requests.Path(row).All {
			if s.Kind == evidence.NetWait && s.Cause == g.to && s.Stack != 0 {
				sums[s.Stack] += s.Dur
			}
		}
	}
	for _, s := range slices.Sorted(maps.Keys(sums)) {
		if top == 0 || sums[s] > sums[top] {
			top = s
		}
	}
	return top
}

// askOnce says how a dependency is asked once for what many calls ask for, by the product in its name.
func askOnce(to string) string {
	switch {
	case strings.HasPrefix(to, "PostgreSQL"), strings.HasPrefix(to, "MySQL"):
		return "a query with a join or a list of ids, or eager loading"
	case strings.HasPrefix(to, "Redis"):
		return "a command for several keys (MGET, HMGET), or a pipeline"
	case strings.HasPrefix(to, "gRPC"), speaksHTTP(to):
		return "an endpoint that takes a list, or keep answers that stay the same for a while"
	}
	return "a query with a join or a list of ids, eager loading, a batch endpoint or a pipeline"
}

// speaksHTTP says whether the name of a dependency is that of one that is asked over HTTP: its address alone.
func speaksHTTP(to string) bool {
	_, _, err := net.SplitHostPort(strings.TrimPrefix(to, "http "))
	return err == nil
}

// routeName returns a route in words: those of the report, where the source of its requests has another name for all of them than the
// source that saw them from further inside.
func routeName(c *check.Case, route evidence.NameID) string {
	if route == 0 {
		return "this service"
	}
	if outer := check.Once(c, nameRoutes)[route]; outer != 0 {
		route = outer
	}
	return c.Bundle.Names.Text(route)
}

// outerNames are names of routes in the source of the report's requests, by their names further inside.
type outerNames map[evidence.NameID]evidence.NameID

func nameRoutes(c *check.Case) outerNames {
	if c.Ledger == nil {
		return nil
	}
	r, of := &c.Bundle.Requests, make(outerNames)
	several := make(map[evidence.NameID]bool)
	for _, row := range c.Ledger.Rows {
		outer := r.Route.At(row)
		for in := range c.Ledger.Inside(row) {
			inner := r.Route.At(in)
			if known := of[inner]; known != 0 && known != outer {
				several[inner] = true
			}
			of[inner] = outer
		}
	}
	for inner := range several {
		delete(of, inner)
	}
	return of
}
