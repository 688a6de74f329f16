package ledger

import (
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
	var most int
	for route, v := range byRoute {
		slices.Sort(v)
		floor[route] = stats.Quantile(v, .1)
		if len(v) > most {
			most, l.Threshold = len(v), floorFactor*floor[route]
		}
	}
	for _, i := range l.Rows {
		f, ok := floor[r.Route[i]]
		if !ok || len(byRoute[r.Route[i]]) < MinRequests {
			f = l.Threshold / floorFactor // too few of that route to know its floor
		}
		l.addSlow(i, floorFactor*max(f, l.resolution(i)))
	}
}

// resolution is the least duration that the request's log can tell from zero.
func (l *Ledger) resolution(i int) int64 {
	if l.Traced {
		return 0
	}
	// Durations are logged in steps of a millisecond at best where stamps are.
	return min(l.b.Clocks[l.b.Requests.Clock[i]].Resolution, 1e6)
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
