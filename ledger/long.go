package ledger

import (
	"slices"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/stats"
)

// A route that always computes for long has a high floor, and nothing of it would ever be slow;
// yet it is all of the service's p99, and what computes can be made to compute less. So where
// nobody said what is slow, a route is held to what the others take if it stands far apart from
// them: few of the requests, each many times as long as half of all requests, long enough to be
// noticed, and for most of its time on a processor. One that awaits or waits keeps its own floor:
// what it needs of others is not for its own code to change.
const (
	longTimes = 20         // times what half of all requests take is the floor of such a route
	longFor   = int64(2e7) // ns: its median, at least
	longFew   = .25        // of all requests come to such routes, at most
	longOwn   = .5         // of their time is their own work, at least
)

// longRoutes are those of the routes that stand so far apart. Took are their requests' latencies
// without what stands in the way, in ascending order.
func (l *Ledger) longRoutes(took map[evidence.NameID][]int64, threshold map[evidence.NameID]int64) map[evidence.NameID]bool {
	var all []int64
	for _, v := range took {
		all = append(all, v...)
	}
	if len(all) == 0 || l.Host.Starved() {
		return nil
	}
	slices.Sort(all)
	usual := stats.Quantile(all, .5)
	long, few := make(map[evidence.NameID]bool), 0
	for route, v := range took {
		if _, known := threshold[route]; known && stats.Quantile(v, floorPart) >= longTimes*usual && stats.Quantile(v, .5) >= longFor {
			long[route] = true
			few += len(v)
		}
	}
	if float64(few) > longFew*float64(len(all)) {
		return nil
	}
	own, sum := make(map[evidence.NameID]int64), make(map[evidence.NameID]int64)
	for _, i := range l.Rows {
		if route := l.b.Requests.Route[i]; long[route] {
			own[route] += l.Of(i)[Own]
			sum[route] += l.b.Requests.Latency(i)
		}
	}
	for route := range long {
		if float64(own[route]) < longOwn*float64(sum[route]) {
			delete(long, route)
		}
	}
	return long
}
