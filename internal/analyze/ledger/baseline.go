package ledger

import (
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Baseline is above what a request is slow, by the name of its route.
type Baseline map[string]time.Duration

// baselineRequests is how many requests a p99 needs.
const baselineRequests = 100

// baselinePart is the part of a baseline's requests that were not slow in it: what takes
// longer than its p99 is slow now.
const baselinePart = .99

// BaselineOf takes the p99 of each route from evidence of when all was well; of
// routes with too few requests for one, three times their floor. Routes with
// under [MinRequests] are not in it. Of a route that several services have, the
// longest time counts. The bundle must have been unified and aligned.
func BaselineOf(b *evidence.Bundle, opt Options) Baseline {
	out := make(Baseline)
	for _, l := range Build(b, opt) {
		floors, grain := l.byRoute(), max(l.latencyResolution(), shortest)
		for route, v := range l.LatenciesByRoute() {
			if len(v) < MinRequests {
				continue
			}
			limit := stats.QuantileOf(v, baselinePart)
			if len(v) < baselineRequests {
				limit = floorFactor * max(stats.QuantileOf(floors[route], floorPart), grain)
			}
			name := b.Names.Text(route)
			out[name] = max(out[name], time.Duration(limit))
		}
	}
	return out
}
