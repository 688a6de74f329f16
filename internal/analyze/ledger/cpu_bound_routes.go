package ledger

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// A route that always computes for long has a high floor, so that none of its requests would ever be slow; yet its code
// can be made to compute less. Without an objective, a long latency alone is no fault: a rare report takes its time. It
// is a fault where such requests are not rare, but the slowest twentieth of all requests, or where few of them take so
// much of the processors that all others get notably less. Such a route is held to the floor of the others if it stands
// far apart from them: each request takes many times as long as the median of all, long enough to be noticed, and mostly
// on a processor. A route that awaits or waits keeps its own floor: its own code cannot change what it needs of others.
const (
	longTimes = 20         // × the median of all requests is the floor of such a route
	longFor   = int64(1e7) // ns: the least median of such a route
	longLeast = 5          // requests that must have been seen to say that each is long
	longFew   = .25        // of all requests come to such routes, at most
	longSome  = .05        // … at least, give or take chance
	longOwn   = .5         // of their time is their own work or a wait for a processor, at least
	longTakes = .25        // of all processors, on average, that such routes take where fewer requests come
)

// A timer answers never early, and mostly soon after: the shortest quarter of its requests takes a round time and a little more.
const (
	timedRound = int64(1e9) // ns: such times are multiples of it
	timedLate  = int64(1e7) // ns by which the first quarter ends after it, at most
)

// isTimed reports whether a timer ends the requests of a route, by their times (ns): they wait for it, and do not compute.
func isTimed(took []int64) bool {
	first := stats.QuantileOf(took, floorPart)
	after := first % timedRound
	return first >= timedRound && after+stats.QuantileOf(took, .25)-first <= timedLate
}

// longRoutes returns the routes that stand so far apart, and whether they are a fault: whether they have so many
// requests, or take so much of the processors. Took has their requests' times ([Ledger.serviceTime]), and
// usual is the median of all.
func (l *Ledger) longRoutes(took map[evidence.NameID][]int64, usual int64) (long map[evidence.NameID]bool, fault bool) {
	if l.Host.Starved() {
		return nil, false
	}
	all, few := 0, 0
	long = make(map[evidence.NameID]bool)
	for route, v := range took {
		all += len(v)
		if len(v) >= longLeast && stats.QuantileOf(v, floorPart) >= longTimes*usual && stats.QuantileOf(v, .5) >= longFor && !isTimed(v) {
			long[route] = true
			few += len(v)
		}
	}
	if float64(few) > longFew*float64(all) {
		return nil, false
	}
	own, ready, sum := make(map[evidence.NameID]int64), make(map[evidence.NameID]int64), make(map[evidence.NameID]int64)
	for _, i := range l.Rows {
		if route := l.b.Requests.Route.At(i); long[route] {
			c := l.Of(i)
			own[route] += c[Own]
			ready[route] += c[RequestsCPU] + c[BackgroundCPU] + c[HostCPU]
			sum[route] += l.b.Requests.Latency(i)
		}
	}
	var takes int64 // ns on processors
	few = 0
	for route := range long {
		if float64(own[route]+ready[route]) < longOwn*float64(sum[route]) {
			delete(long, route)
			continue
		}
		takes += own[route]
		few += len(took[route])
	}
	cpus := l.b.CPUsOf(l.Subject)
	some := float64(few)+2*math.Sqrt(float64(few)) >= longSome*float64(all) // allow two standard deviations by chance
	return long, some || cpus > 0 && float64(takes) >= longTakes*float64(cpus)*float64(l.To-l.From)
}

// medianLatency returns the median latency of all requests, ns.
func medianLatency(took map[evidence.NameID][]int64) int64 {
	n := 0
	for _, v := range took {
		n += len(v)
	}
	all := make([]int64, 0, n)
	for _, v := range took {
		all = append(all, v...)
	}
	return stats.QuantileOf(all, .5)
}
