package ledger

import (
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Baseline is the latency above which a request is slow, by the name of its route.
type Baseline map[string]time.Duration

// baselineRequests is how many requests a p99 needs.
const baselineRequests = 100

// baselinePart is the part of a baseline's requests that were not slow in it: a request that takes longer than its p99
// is slow now.
const baselinePart = .99

// BaselineOf returns the p99 of each route from evidence of a healthy service; for routes with too few requests for a
// p99, three times their floor. It omits routes with fewer than [MinRequests]. Where several services have a route, the
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
