package ledger

import (
	"maps"
	"slices"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/stats"
)

// Rules for what is slow.
const (
	RuleSLO   = "slo"
	RuleFloor = "3x_route_floor"
)

// floorFactor times what a route's requests need when nothing stands in their
// way is slow.
const floorFactor = 3

// findSlow decides which requests are slow: those above the objective, else
// those above three times the floor of their route.
func (l *Ledger) findSlow(slo time.Duration) {
	r := &l.b.Requests
	if slo > 0 {
		l.Rule, l.Threshold = RuleSLO, slo.Nanoseconds()
		for _, i := range l.Rows {
			l.addSlow(i, l.Threshold)
		}
		return
	}
	l.Rule = RuleFloor
	byRoute := make(map[evidence.NameID][]int64)
	for _, i := range l.Rows {
		if r.Outcome[i] != evidence.Unfinished {
			byRoute[r.Route[i]] = append(byRoute[r.Route[i]], l.unhindered(i))
		}
	}
	floor := make(map[evidence.NameID]int64)
	grain := l.grain()
	var most int
	for _, route := range slices.Sorted(maps.Keys(byRoute)) {
		v := byRoute[route]
		slices.Sort(v)
		floor[route] = max(stats.Quantile(v, .1), grain)
		if len(v) > most {
			most, l.Threshold = len(v), floorFactor*floor[route]
		}
	}
	for _, i := range l.Rows {
		threshold := l.Threshold // of a route with too few requests to know its floor
		if len(byRoute[r.Route[i]]) >= MinRequests {
			threshold = floorFactor * floor[r.Route[i]]
		}
		l.addSlow(i, threshold)
	}
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
			grain /= 1000
		}
	}
	return grain
}

func (l *Ledger) addSlow(i int, threshold int64) {
	if lat := l.b.Requests.Latency(i); lat > threshold {
		l.Slow = append(l.Slow, i)
		l.Total += lat
	}
}

// unhindered is a request's time without what stands in requests' way: the
// collector, other requests, locks and pools. Without states it is all of it.
func (l *Ledger) unhindered(i int) int64 {
	if !l.Traced {
		return l.b.Requests.Latency(i)
	}
	c := l.Of(i)
	return c[Dependency] + c[Client] + c[Goroutine] + c[Timer] + c[Kernel] + c[Own] + c[Unobserved] + c[Unexplained]
}
