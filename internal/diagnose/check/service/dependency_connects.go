package service

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// A client that opens a connection for each call pays its set-up each time: TLS and logins ask and answer several times before the call. All
// requests of a route pay it, so none is slower than the others.
var (
	fewPerConnection = check.Threshold{Name: "questions and answers on a connection, on average, if each call opens one", Value: 6, Unit: "count",
		Why: "a connection that is kept carries many", Source: "arithmetic: two for TLS (RFC 8446, section 2: one in 1.3), up to three for a database's login, and one for the call"}
	mostSetUp = check.Threshold{Name: "part of a route's time in the set-up of connections", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
)

// connecting is what requests of a route spend on the set-up of connections that they open for single calls.
type connecting struct {
	to          evidence.NameID
	connections int
	calls       int // questions and answers on them
	route       evidence.NameID
	requests    int             // of that route, that opened some
	share       float64         // of their time that set-ups take
	of          float64         // of the time of all requests
	p50         int64           // ns, of the set-ups of such a request
	byRow       map[int]int64   // ns
	opened      []*connectionUp // in order of their beginning
}

// connectionUp is the set-up of one connection: from its first question until its last, which is the call.
type connectionUp struct {
	begun, until int64 // ns
	request      int   // row, −1 unknown
}

// connectsEach adds to a verdict that rules a dependency out the connections that requests of a route always open.
func connectsEach(c *check.Case, v check.Verdict) check.Verdict {
	x := exchangedOf(c)
	if !v.RuledOut() || x == nil || slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.Step == check.StepDependency }) {
		return v
	}
	var worst *connecting
	for _, w := range connectingOf(c, x) {
		if w.findRoute(c, x) && (worst == nil || w.of > worst.of) {
			worst = w
		}
	}
	if worst == nil {
		return v
	}
	v.Weigh(worst.share, mostSetUp)
	v.Rule, v.Weight = check.Matters, worst.of
	whom := c.Bundle.Names.Text(worst.to)
	v.Title = fmt.Sprintf("Requests of %s open a new connection to %s for a single call: its set-up takes %s of these requests' time.", routeName(c, worst.route), whom, units.Percent(worst.share))
	v.Summary = fmt.Sprintf("%s opened to %s for %s", units.Plural(worst.connections, "connection"), whom, units.Plural(worst.calls, "question"))
	v.Evidence = worst.listFigures(c, x) // what slow requests of other routes wait for is beside the point
	v.Fix = append(v.Fix, keepConnections(c, whom))
	r := &c.Bundle.Requests
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
		if ns, known := worst.byRow[row]; known || r.Route.At(row) != worst.route {
			return ns
		}
		return min(worst.p50, r.Latency(row)) // its own calls were not seen: they count as the others'
	}))
	return v
}

func (w *connecting) listFigures(c *check.Case, x *exchanged) []check.Evidence {
	return []check.Evidence{
		c.Figure("dependency.connections", "connections opened to "+c.Bundle.Names.Text(w.to), float64(w.connections), "count", x.origin),
		c.Figure("connection.questions", "questions and answers on each, those of its set-up among them (mean)", float64(w.calls)/float64(w.connections), "count", x.origin),
		c.Figure("connection.set_up_ms", fmt.Sprintf("set-up of connections in a request (median of %s)", units.Plural(w.requests, "request")), float64(w.p50)/1e6, "ms", x.origin),
	}
}

// keepConnections returns what helps where each call opens a connection, in the terms of the service's runtime.
func keepConnections(c *check.Case, whom string) check.Fix {
	text := fmt.Sprintf("keep connections to %s open between calls: one client for all requests, with keep-alive and a pool that keeps as many idle as calls run side by side", whom)
	if how := platform.ByID(c.Runtime()).KeepsConnections; how != "" {
		text += " (" + how + ")"
	}
	return check.Fix{Text: text}
}

// connectingOf returns the dependencies to which connections are opened for single calls. What is asked before a protocol is known, as for TLS or
// a login, is on the same connection as what it is set up for.
func connectingOf(c *check.Case, x *exchanged) (all []*connecting) {
	type key struct {
		address string
		port    int64
	}
	on := make(map[key][]*exchangedCall)
	by := make(map[string]*connecting)
	addresses := make(map[evidence.NameID]string)
	for i := range x.calls {
		call := &x.calls[i]
		if call.port == 0 { // others may be in progress on its connection
			continue
		}
		address, known := addresses[call.to]
		if !known {
			address = c.Bundle.Names.Text(call.to)
			if at := strings.LastIndex(address, " at "); at >= 0 {
				address = address[at+len(" at "):]
			}
			addresses[call.to] = address
		}
		w := by[address]
		if w == nil {
			w = &connecting{to: call.to}
			by[address] = w
		}
		if c.Bundle.Names.Text(w.to) == address { // the other one may name the product
			w.to = call.to
		}
		k := key{address, call.port}
		if on[k] == nil {
			w.connections++
		}
		on[k] = append(on[k], call)
		w.calls++
	}
	for k, calls := range on {
		for n := len(calls); n > 0 && calls[n-1].failed; n-- { // a farewell, after the request
			calls = calls[:n-1]
		}
		if len(calls) < 2 { // its set-up, if it has one, was not seen
			continue
		}
		up := &connectionUp{begun: calls[0].begun, until: calls[len(calls)-1].begun, request: -1}
		for _, call := range calls {
			up.request = max(up.request, call.request)
		}
		by[k.address].opened = append(by[k.address].opened, up)
	}
	for _, address := range slices.Sorted(maps.Keys(by)) {
		w := by[address]
		if w.connections < ledger.MinRequests || float64(w.calls) > fewPerConnection.Value*float64(w.connections) || 2*len(w.opened) < w.connections {
			continue
		}
		slices.SortFunc(w.opened, func(a, b *connectionUp) int { return cmp.Compare(a.begun, b.begun) })
		all = append(all, w)
	}
	return all
}

// findRoute finds the route whose requests spend most on these set-ups, and says whether it is most of their time.
func (w *connecting) findRoute(c *check.Case, x *exchanged) bool {
	routes, byRow, all := x.sumRoutes(c, func(row int, from, until int64) (up int64) {
		var at int64 // until when set-ups are counted, as some run side by side
		for i := sort.Search(len(w.opened), func(i int) bool { return w.opened[i].begun >= from }); i < len(w.opened) && w.opened[i].begun < until; i++ {
			o := w.opened[i]
			if o.until > until || o.request >= 0 && o.request != row {
				continue
			}
			if o.request < 0 && at > 0 { // of several at once it is not known whose they are: one counts
				continue
			}
			up += max(0, o.until-max(at, o.begun))
			at = max(at, o.until)
		}
		return up
	})
	best := largestRoute(routes, mostSetUp, func(t *routeTime) bool {
		return stats.QuantileOf(t.latencies, .5) >= check.NoticeableCall.Int64()
	})
	if best == nil {
		return false
	}
	w.route, w.requests, w.p50, w.byRow = best.route, len(best.spent), stats.QuantileOf(best.spent, .5), byRow
	w.share, w.of = best.shareOfTime(), float64(best.total)/float64(max(1, all))
	return true
}
