package ledger

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Rules for what is slow.
const (
	RuleSLO        = "slo"
	RuleFloor      = "3x_route_floor"
	RuleBaseline   = "baseline"
	RuleUnfinished = "unfinished" // most never ended: what they need is not known
)

// stuck is how long (ns) a request may have waited for its end where most of its
// route came to none, or half of what was watched if that is less: those that did
// end are the lucky ones, and three times what they took is no measure.
const stuck = int64(time.Second)

// floorFactor times what a route's requests need when nothing stands in their
// way is slow.
const floorFactor = 3

// differ is by how much thresholds of routes may differ for one to stand for all of them.
const differ = .1

// LeastSlow (ns) is what no request is slow below where nobody says what is: handlers of some µs take several times
// that by a mere switch of threads, and who asks over a network does not notice less than a millisecond.
const LeastSlow = floorFactor * shortest

const shortest = 333_334 // ns, the least floor

// floorPart is the part of a route's requests that nothing much stood in the way of: what
// the last of them takes is the route's floor. The very quickest may have been refused, or
// were answered by a cache.
const floorPart = .1

// leastNeed is what any request needs (ns): no service reads and answers one in less. Where
// the shares that looks give to waiting leave less of a request, they are those of the few
// that were looked at, and say nothing of what it needs.
const leastNeed = int64(time.Microsecond)

// findSlow decides which requests are slow: those above the objective; else those
// that took longer than the baseline says of their route; else, and for routes it
// does not know, those above three times the floor of their route. A service that
// finishes next to nothing has no floor to be seen: there it is who waits on. A route that
// always computes for far longer than the others is held to theirs, unless it is rare and takes
// little of the processors: however few requests it has, that it takes longer is its nature.
func (l *Ledger) findSlow(slo time.Duration, baseline Baseline) {
	if slo > 0 {
		l.Rule, l.Threshold = RuleSLO, slo.Nanoseconds()
		for _, i := range l.Rows {
			l.addSlow(i, l.Threshold)
		}
		return
	}
	l.Rule = RuleFloor
	l.way = l.usualWay()
	byRoute, open := l.byRoute(), l.countUnfinished()
	stuck := min(stuck, (l.To-l.From)/2)
	threshold := make(map[evidence.NameID]int64)
	grain, usual := max(l.latencyResolution(), shortest), medianLatency(byRoute)
	most, known := 0, false
	few := make(map[evidence.NameID]int) // routes with too few requests to know their floor, and how many
	for _, route := range slices.Sorted(maps.Keys(byRoute)) {
		v := byRoute[route]
		floor := stats.QuantileOf(v, floorPart)
		if inside, ok := l.inside[route]; ok {
			floor = min(floor, inside)
		}
		limit, rule := floorFactor*max(floor, grain), RuleFloor
		if d, ok := baseline[l.b.Names.Text(route)]; ok {
			limit, rule, known = max(d.Nanoseconds(), grain), RuleBaseline, true
		} else if open[route] > len(v) && (len(v) == 0 || limit > stuck) {
			limit, rule = stuck, RuleUnfinished
		}
		n := len(v) + open[route]
		if n >= MinRequests || rule == RuleBaseline || rule == RuleFloor && len(v) >= longLeast && floor >= longTimes*usual {
			threshold[route] = limit
		} else if rule == RuleFloor {
			few[route] = n
		}
		if n > most {
			most, l.Threshold, l.Rule = n, limit, rule
		}
	}
	for _, kin := range l.siblingRoutes(few) {
		var took []int64
		n := 0
		for _, route := range kin {
			took, n = append(took, byRoute[route]...), n+few[route]
		}
		limit := floorFactor * max(stats.QuantileOf(took, floorPart), grain)
		for _, route := range kin {
			threshold[route] = limit
		}
		if n > most {
			most, l.Threshold, l.Rule = n, limit, RuleFloor
		}
	}
	if l.Rule == RuleFloor && len(baseline) == 0 {
		long, fault := l.longRoutes(byRoute, usual)
		for _, route := range slices.Sorted(maps.Keys(long)) {
			if !fault {
				l.Unjudged = append(l.Unjudged, route)
				continue
			}
			threshold[route] = l.Threshold
			l.Long += len(byRoute[route])
		}
	}
	for _, limit := range threshold {
		l.Several = l.Several || math.Abs(float64(limit-l.Threshold)) > differ*float64(l.Threshold)
	}
	if len(baseline) > 0 && !known {
		l.b.Warnf(evidence.NewOrigin(l.Source, 0), "the baseline has no requests to these routes, so requests over %d × the route's baseline latency count as slow; record a baseline with the same routes, or set --slo", floorFactor)
	}
	l.limits = threshold
	n := 0 // counted, as half of millions may be slow
	for _, i := range l.Rows {
		if l.b.Requests.Latency(i) > l.Limit(i) {
			n++
		}
	}
	l.Slow = slices.Grow(l.Slow, n)
	for _, i := range l.Rows {
		l.addSlow(i, l.Limit(i))
	}
}

// siblingRoutes are groups of routes with too few requests each to know their floor, which together have
// enough: of one method and below one path, which says most often that they differ by what they
// are asked for, "/city/york" and "/city/leeds".
func (l *Ledger) siblingRoutes(few map[evidence.NameID]int) (groups [][]evidence.NameID) {
	below := make(map[string][]evidence.NameID)
	for _, route := range slices.Sorted(maps.Keys(few)) {
		if at := parentRoute(l.b.Names.Text(route)); at != "" {
			below[at] = append(below[at], route)
		}
	}
	deeper := func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/")), cmp.Compare(a, b))
	}
	for len(below) > 0 {
		at := slices.MinFunc(slices.Collect(maps.Keys(below)), deeper)
		routes, n := below[at], 0
		delete(below, at)
		for _, route := range routes {
			n += few[route]
		}
		if n >= MinRequests {
			groups = append(groups, routes)
		} else if up := parentRoute(at); up != "" {
			below[up] = append(below[up], routes...)
		}
	}
	return groups
}

// parentRoute returns the route that one is below: "GET /city" of "GET /city/york"; "" of one that
// is no path, or is at the root: pages there have nothing in common.
func parentRoute(route string) string {
	method, path, _ := strings.Cut(route, "/")
	if method != "" && !strings.HasSuffix(method, " ") || !strings.Contains(path, "/") {
		return ""
	}
	return route[:strings.LastIndexByte(route, '/')]
}

// Limit is what a request may take (ns) and is not slow.
func (l *Ledger) Limit(row int) int64 { return l.LimitOf(l.b.Requests.Route.At(row)) }

// LimitOf is what requests of a route may take (ns) and are not slow.
func (l *Ledger) LimitOf(route evidence.NameID) int64 {
	if limit, ok := l.limits[route]; ok {
		return limit
	}
	return l.Threshold // of all, or of a route with too few requests to know its floor
}

// byRoute returns what the finished requests of each route took without what
// stood in their way, in no order; nothing of routes that finished none.
func (l *Ledger) byRoute() map[evidence.NameID][]int64 {
	return byRoute(&l.b.Requests, l.Rows, func(i int) bool { return !l.isOpen(i) }, l.serviceTime)
}

// insideFloors are what requests of each route take where the service itself saw them:
// clients that all wait alike see no floor.
func (l *Ledger) insideFloors(sources map[evidence.ArtifactID][]int) map[evidence.NameID]int64 {
	r := &l.b.Requests
	took := make(map[evidence.NameID][]int64)
	for a, rows := range sources {
		if a == l.Source || r.Lane.At(rows[0]) == 0 {
			continue
		}
		for _, i := range rows {
			if !l.isOpen(i) {
				took[r.Route.At(i)] = append(took[r.Route.At(i)], r.Latency(i))
			}
		}
	}
	floors := make(map[evidence.NameID]int64)
	for route, v := range took {
		if len(v) >= MinRequests {
			floors[route] = stats.QuantileOf(v, floorPart)
		}
	}
	return floors
}

// usualWay is how much time (ns) on the way to the service and back is the network's and the client's own, and no queue's: what half of the
// requests take for it, if that is no more than a host among others needs; else what the quickest take, who are far away.
func (l *Ledger) usualWay() int64 {
	if l.Joined == nil {
		return 0
	}
	var took []int64
	var s evidence.Segment
	for _, row := range l.Rows {
		way, known := int64(0), false
		for p := l.b.Requests.Path(row); p.Next(&s); {
			switch s.Kind {
			case evidence.BeforeService, evidence.AfterService:
				way, known = way+s.Dur, true
			}
		}
		if known {
			took = append(took, way)
		}
	}
	return max(min(stats.QuantileOf(took, .5), nearWay), min(stats.QuantileOf(took, farPart), farWay))
}

const (
	nearWay = int64(1e6)  // ns that the way to a service in the same network and back takes at most
	farWay  = int64(20e6) // ns that it takes at most where even the quickest, farPart of the requests, need longer
	farPart = .01
)

// isOpen says whether a request came to no end while it was watched, or before its client gave it
// up: it takes longer than its latency says.
func (l *Ledger) isOpen(i int) bool {
	o := l.b.Requests.Outcome.At(i)
	return o == evidence.Unfinished || o == evidence.TimedOut
}

// countUnfinished counts the requests of each route that came to no end.
func (l *Ledger) countUnfinished() map[evidence.NameID]int {
	n := make(map[evidence.NameID]int)
	for _, i := range l.Rows {
		if l.isOpen(i) {
			n[l.b.Requests.Route.At(i)]++
		}
	}
	return n
}

// latencyResolution is the unit (ns) that the requests' durations are whole multiples of: the
// least that their source can tell from zero. Traced ones have none.
func (l *Ledger) latencyResolution() int64 {
	if l.Traced && l.Joined == nil {
		return 0
	}
	grain := int64(1e9)
	for _, i := range l.Rows {
		for grain > 1 && l.b.Requests.Latency(i)%grain != 0 {
			grain /= 1000 // logs count s, ms, µs or ns
		}
	}
	return grain
}

// addSlow takes up a request that takes longer than it may, by more than the recorder held it.
func (l *Ledger) addSlow(i int, threshold int64) {
	lat := l.b.Requests.Latency(i)
	if lat <= threshold {
		return
	}
	if held := l.recorderDelay(i); lat-held <= threshold {
		l.Held = append(l.Held, i)
		l.HeldTime += held
		return
	}
	l.Slow = append(l.Slow, i)
	l.Total += lat
}

// serviceTime is a request's time without what stands in requests' way: the
// collector, other requests, locks and pools. Without states it is all of it, unless looks at
// the threads show that most of it was waiting for locks and pools. What
// it awaits or blocks a thread for is its own: how much of that was waiting for a
// thread of the pool cannot be seen.
func (l *Ledger) serviceTime(i int) int64 {
	if !l.Traced || l.Joined != nil && !l.b.Requests.Path(i).Followed() {
		took := l.b.Requests.Latency(i)
		if wait := queuedOutside(l.b.Requests.Path(i)); took-wait >= leastNeed {
			took -= wait
		}
		if l.occupancy == nil {
			return took
		}
		c := l.Of(i)
		each := c[Lock] + c[Pool] + c[PoolThread]
		if rest := took - each; 2*each > took && rest >= leastNeed { // most of it, for each other
			return rest
		}
		return took
	}
	c := l.Of(i)
	if l.queued != nil {
		c[Awaiting] += c[PoolThread] // a share of all says nothing of a single one
	}
	return l.way + c[Dependency] + c[TaskWait] + c[Client] + c[Awaiting] + c[Goroutine] + c[Timer] + c[Kernel] + c[Own] + c[Unobserved] + c[Unexplained]
}

// queuedOutside is how long (ns) a request waited before the service saw it, where the recording names for what.
func queuedOutside(p evidence.Path) (ns int64) {
	var s evidence.Segment
	for p.Next(&s) {
		if s.Kind == evidence.BeforeService && s.Cause != 0 {
			ns += s.Dur
		}
	}
	return ns
}
