package ledger

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/stats"
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
// always computes for far longer than the others is held to theirs.
func (l *Ledger) findSlow(slo time.Duration, baseline Baseline) {
	r := &l.b.Requests
	if slo > 0 {
		l.Rule, l.Threshold = RuleSLO, slo.Nanoseconds()
		for _, i := range l.Rows {
			l.addSlow(i, l.Threshold)
		}
		return
	}
	l.Rule = RuleFloor
	byRoute, open := l.byRoute(), l.unfinished()
	stuck := min(stuck, (l.To-l.From)/2)
	threshold := make(map[evidence.NameID]int64)
	grain := l.grain()
	most, known := 0, false
	for _, route := range slices.Sorted(maps.Keys(byRoute)) {
		v := byRoute[route]
		floor := stats.Quantile(v, floorPart)
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
		if n >= MinRequests || rule == RuleBaseline {
			threshold[route] = limit
		}
		if n > most {
			most, l.Threshold, l.Rule = n, limit, rule
		}
	}
	if l.Rule == RuleFloor && len(baseline) == 0 {
		for route := range l.longRoutes(byRoute, threshold) {
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
	for _, i := range l.Rows {
		limit, ok := threshold[r.Route[i]]
		if !ok {
			limit = l.Threshold // of a route with too few requests to know its floor
		}
		l.addSlow(i, limit)
	}
}

// byRoute returns what the finished requests of each route took without what
// stood in their way, in ascending order; nothing of routes that finished none.
func (l *Ledger) byRoute() map[evidence.NameID][]int64 {
	r := &l.b.Requests
	out := make(map[evidence.NameID][]int64)
	for _, i := range l.Rows {
		took := out[r.Route[i]]
		if !l.open(i) {
			took = append(took, l.unhindered(i))
		}
		out[r.Route[i]] = took
	}
	for _, v := range out {
		slices.Sort(v)
	}
	return out
}

// insideFloors are what requests of each route take where the service itself saw them:
// clients that all wait alike see no floor.
func (l *Ledger) insideFloors(sources map[evidence.ArtifactID][]int) map[evidence.NameID]int64 {
	r := &l.b.Requests
	took := make(map[evidence.NameID][]int64)
	for a, rows := range sources {
		if a == l.Source || r.Lane[rows[0]] == 0 {
			continue
		}
		for _, i := range rows {
			if !l.open(i) {
				took[r.Route[i]] = append(took[r.Route[i]], r.Latency(i))
			}
		}
	}
	floors := make(map[evidence.NameID]int64)
	for route, v := range took {
		if len(v) >= MinRequests {
			slices.Sort(v)
			floors[route] = stats.Quantile(v, floorPart)
		}
	}
	return floors
}

// open says whether a request came to no end while it was watched, or before who asked
// gave it up: it takes longer than it did.
func (l *Ledger) open(i int) bool {
	o := l.b.Requests.Outcome[i]
	return o == evidence.Unfinished || o == evidence.TimedOut
}

// unfinished counts the requests of each route that came to no end.
func (l *Ledger) unfinished() map[evidence.NameID]int {
	n := make(map[evidence.NameID]int)
	for _, i := range l.Rows {
		if l.open(i) {
			n[l.b.Requests.Route[i]]++
		}
	}
	return n
}

// grain is the unit (ns) that the requests' durations are whole multiples of: the
// least that their source can tell from zero. Traced ones have none.
func (l *Ledger) grain() int64 {
	if l.Traced {
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
	if held := l.heldFor(i); lat-held <= threshold {
		l.Held = append(l.Held, i)
		l.HeldTime += held
		return
	}
	l.Slow = append(l.Slow, i)
	l.Total += lat
}

// unhindered is a request's time without what stands in requests' way: the
// collector, other requests, locks and pools. Without states it is all of it, unless looks at
// the threads show that most of it was waiting for locks and pools. What
// it awaits or blocks a thread for is its own: how much of that was waiting for a
// thread of the pool cannot be seen.
func (l *Ledger) unhindered(i int) int64 {
	if !l.Traced {
		took := l.b.Requests.Latency(i)
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
	return c[Dependency] + c[TaskWait] + c[Client] + c[Awaiting] + c[Goroutine] + c[Timer] + c[Kernel] + c[Own] + c[Unobserved] + c[Unexplained]
}
