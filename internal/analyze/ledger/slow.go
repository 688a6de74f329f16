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
	RuleUnfinished = "unfinished" // most requests never ended: their need is not known
	RuleTimedOut   = "timed_out"  // most requests failed after one and the same time: their need is not known
)

// stuck is how long (ns) a request may have waited for its end where most of its route's requests never ended, or half of
// the watched time if that is less: there the requests that did end are the lucky ones, and three times their latency is
// no measure.
const stuck = int64(time.Second)

// Time-outs: requests of a route that fail after one and the same time, of at least shortTimeout ns. From the tenth to the ninth
// tenth of them these times differ by no more than timeoutSpread of the median.
const (
	shortTimeout  = int64(100 * time.Millisecond)
	timeoutSpread = .1
)

// floorFactor times the time that a route's requests need when nothing delays them is slow.
const floorFactor = 3

// differ is how far thresholds of routes may differ for one to stand for all of them.
const differ = .1

// LeastSlow (ns) is the latency below which no request is slow without an objective: handlers of some µs take several
// times that after a mere switch of threads, and a client over a network does not notice less than a millisecond.
const LeastSlow = floorFactor * shortest

const shortest = 333_334 // ns, the least floor

// floorPart is the quantile of a route's latencies that is its floor: nothing much delayed requests up to it. The very
// quickest may have been refused, or answered by a cache.
const floorPart = .1

// byNature × the median of all requests is the floor of a rare route from which its latency is not taken for its nature.
const byNature = 10

// leastNeed is the least time (ns) that any request needs: no service reads and answers one in less. Where the waiting
// shares from looks leave a request less, they come from the few requests that were looked at and say nothing of its need.
const leastNeed = int64(time.Microsecond)

// findSlow decides which requests are slow: those above the objective; without one, those above the baseline of their
// route; without a baseline, and for routes that it does not know, those above three times the floor of their route. A
// service that finishes next to nothing shows no floor: there a request is slow if it waits for long. Where most requests of a
// route fail after one and the same time, that is a time-out, and a request is slow if it takes half of that. A route that always
// computes for far longer than the others is held to their floor, unless it is rare and takes little of the processors:
// then its long latency is its nature. So is that of a rare route whose requests all exceed the others' limit and take
// less than byNature times the median of all requests.
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
	byRoute, open, timeouts := l.byRoute(), l.countUnfinished(), l.findTimeouts()
	stuck := min(stuck, (l.To-l.From)/2)
	threshold := make(map[evidence.NameID]int64)
	grain, usual := max(l.latencyResolution(), shortest), medianLatency(byRoute)
	most, known := 0, false
	few := make(map[evidence.NameID]int) // routes with too few requests for a floor, and their number of requests
	served := l.servedByRoute(byRoute)
	for _, route := range slices.Sorted(maps.Keys(byRoute)) {
		v := byRoute[route]
		floor := stats.QuantileOf(v, floorPart)
		if s := served[route]; len(s) >= MinRequests {
			floor = stats.QuantileOf(s, floorPart)
		}
		if inside, ok := l.inside[route]; ok {
			floor = min(floor, inside)
		}
		limit, rule := floorFactor*max(floor, grain), RuleFloor
		if d, ok := baseline[l.b.Names.Text(route)]; ok {
			limit, rule, known = max(d.Nanoseconds(), grain), RuleBaseline, true
		} else if open[route] > len(v) && (len(v) == 0 || limit > stuck) {
			limit, rule = stuck, RuleUnfinished
		} else if timeout := timeouts[route]; timeout > 0 && limit > timeout/2 {
			limit, rule = timeout/2, RuleTimedOut
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
	for route, n := range few {
		v := byRoute[route]
		if _, grouped := threshold[route]; !grouped && len(v) >= longLeast && float64(n) < longSome*float64(len(l.Rows)) {
			if floor := stats.QuantileOf(v, floorPart); floor > l.Threshold && floor < byNature*usual {
				threshold[route] = floorFactor * floor
			}
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
	n := 0 // counted before allocating, as half of millions may be slow
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

// siblingRoutes returns groups of routes, each with too few requests for a floor, that together have enough. The routes of
// a group share a method and a parent path, which mostly means that only a parameter differs: "/city/york" and
// "/city/leeds".
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

// parentRoute returns the parent of a route: "GET /city" of "GET /city/york". It returns "" for a route that is not a path
// and for pages at the root, which have nothing in common.
func parentRoute(route string) string {
	method, path, _ := strings.Cut(route, "/")
	if method != "" && !strings.HasSuffix(method, " ") || !strings.Contains(path, "/") {
		return ""
	}
	return route[:strings.LastIndexByte(route, '/')]
}

// Limit returns the latency (ns) up to which a request is not slow.
func (l *Ledger) Limit(row int) int64 { return l.LimitOf(l.b.Requests.Route.At(row)) }

// LimitOf returns the latency (ns) up to which requests of a route are not slow.
func (l *Ledger) LimitOf(route evidence.NameID) int64 {
	if limit, ok := l.limits[route]; ok {
		return limit
	}
	return l.Threshold // of all, or of a route with too few requests for a floor
}

// byRoute returns the service times of the finished requests by route, unsorted; routes that finished none are omitted.
func (l *Ledger) byRoute() map[evidence.NameID][]int64 {
	return byRoute(&l.b.Requests, l.Rows, func(i int) bool { return !l.isOpen(i) }, l.serviceTime)
}

// servedByRoute returns byRoute without requests that failed, for routes of which some did and most did not: one that fails at once shows no floor of what it takes
// to serve one.
func (l *Ledger) servedByRoute(all map[evidence.NameID][]int64) map[evidence.NameID][]int64 {
	r := &l.b.Requests
	if !slices.ContainsFunc(l.Rows, func(i int) bool { return r.Outcome.At(i) == evidence.Failed }) {
		return nil
	}
	served := byRoute(r, l.Rows, func(i int) bool { return !l.isOpen(i) && r.Outcome.At(i) != evidence.Failed }, l.serviceTime)
	maps.DeleteFunc(served, func(route evidence.NameID, took []int64) bool {
		return len(took) == len(all[route]) || 2*len(took) <= len(all[route])
	})
	return served
}

// insideFloors returns the floor (ns) of each route as the service itself saw it: where all clients wait alike, their
// latencies show no floor.
func (l *Ledger) insideFloors(sources map[evidence.ArtifactID][]int) map[evidence.NameID]int64 {
	r := &l.b.Requests
	took := make(map[evidence.NameID][]int64)
	for a, rows := range sources {
		if a == l.Source || r.Lane.At(rows[0]) == 0 {
			continue
		}
		for _, i := range rows {
			if !l.isOpen(i) && r.Outcome.At(i) != evidence.Failed {
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

// usualWay returns how much time (ns) on the way to the service and back belongs to the network and the client rather than
// to a queue: the median, capped at what hosts in one network need; or the time of the quickest requests if they are
// farther away.
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
	farWay  = int64(20e6) // ns: the cap where even the quickest requests (farPart of all) need longer
	farPart = .01
)

// isOpen reports whether a request did not end while it was watched, or before its client gave up: it takes longer than
// its latency says.
func (l *Ledger) isOpen(i int) bool {
	o := l.b.Requests.Outcome.At(i)
	return o == evidence.Unfinished || o == evidence.TimedOut
}

// countUnfinished counts the requests of each route that did not end.
func (l *Ledger) countUnfinished() map[evidence.NameID]int {
	n := make(map[evidence.NameID]int)
	for _, i := range l.Rows {
		if l.isOpen(i) {
			n[l.b.Requests.Route.At(i)]++
		}
	}
	return n
}

// findTimeouts returns after which time (ns) the requests of a route fail, for routes of which most requests fail and all of
// these after about the same time.
func (l *Ledger) findTimeouts() map[evidence.NameID]int64 {
	r := &l.b.Requests
	n := make(map[evidence.NameID]int)
	failed := make(map[evidence.NameID][]int64)
	for _, i := range l.Rows {
		route := r.Route.At(i)
		n[route]++
		if r.Outcome.At(i) == evidence.Failed {
			failed[route] = append(failed[route], r.Latency(i))
		}
	}
	timeouts := make(map[evidence.NameID]int64)
	for route, took := range failed {
		if len(took) < MinRequests || 2*len(took) <= n[route] {
			continue
		}
		median := stats.QuantileOf(took, .5)
		spread := stats.QuantileOf(took, .9) - stats.QuantileOf(took, .1)
		if median >= shortTimeout && float64(spread) <= timeoutSpread*float64(median) {
			timeouts[route] = median
		}
	}
	return timeouts
}

// latencyResolution returns the unit (ns) of which the requests' durations are whole multiples: the least duration that
// their source can tell from zero. Traced durations have none.
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

// addSlow adds a request that exceeds its limit by more than the recorder held it.
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

// serviceTime returns a request's time without what delays requests: the collector, other requests, locks and pools.
// Without states it is the whole latency, unless looks at the threads show that most of it was waiting for locks and
// pools. Time that the request awaits, or blocks a thread for, is its own: how much of that was a wait for a thread of the
// pool cannot be seen.
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
		if rest := took - each; 2*each > took && rest >= leastNeed { // most of it was waiting for other requests
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

// queuedOutside returns how long (ns) a request waited before the service saw it, where the recording names what for.
func queuedOutside(p evidence.Path) (ns int64) {
	var s evidence.Segment
	for p.Next(&s) {
		if s.Kind == evidence.BeforeService && s.Cause != 0 {
			ns += s.Dur
		}
	}
	return ns
}
