package ledger

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// A route that always computes for long has a high floor, and nothing of it would ever be slow;
// yet what computes can be made to compute less. Where nobody said what is slow, that it takes
// long is no fault by itself: a rare report takes what it takes. It is one where it is not rare,
// but the slowest twentieth of all requests, or where few requests take so much of the processors
// that all others have notably less of them: such a route is held to what the others take, if it
// stands far apart from them: each request many times as long as half of all, long enough to be
// noticed, and for most of its time on a processor. One that awaits or waits keeps its own floor:
// what it needs of others is not for its own code to change.
const (
	longTimes = 20         // times what half of all requests take is the floor of such a route
	longFor   = int64(1e7) // ns: its median, at least
	longLeast = 5          // of them must have been seen to say that each is long
	longFew   = .25        // of all requests come to such routes, at most
	longSome  = .05        // … at least, or as many as chance makes of that
	longOwn   = .5         // of their time is their own work, at least, or waiting for a processor to do it on
	longTakes = .25        // of all processors is what such routes take in the mean, where fewer come
)

// longRoutes are those of the routes that stand so far apart, and whether they are so many
// requests, or take so much, that it is a fault. Took are their requests' latencies without what
// stands in the way, and usual is what half of all take.
func (l *Ledger) longRoutes(took map[evidence.NameID][]int64, usual int64) (long map[evidence.NameID]bool, fault bool) {
	if l.Host.Starved() {
		return nil, false
	}
	all, few := 0, 0
	long = make(map[evidence.NameID]bool)
	for route, v := range took {
		all += len(v)
		if len(v) >= longLeast && stats.QuantileOf(v, floorPart) >= longTimes*usual && stats.QuantileOf(v, .5) >= longFor {
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
	some := float64(few)+2*math.Sqrt(float64(few)) >= longSome*float64(all) // in as long a time two standard deviations more may come
	return long, some || cpus > 0 && float64(takes) >= longTakes*float64(cpus)*float64(l.To-l.From)
}

// medianLatency returns what half of all requests take, ns.
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
