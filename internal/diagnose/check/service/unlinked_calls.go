package service

import (
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var ofOthers = check.Threshold{Name: "calls that belong to no known request, over those that the requests without calls would make", Value: .5, Unit: "1",
	Why: "then most of these requests make as many", Source: "arithmetic: half"}

// isOfAll says whether the requests whose many calls are known stand for all of their route: calls to the place that belong to no known request, as other threads go on
// after each, are at least half of what the requests without calls would make, of whatever route.
func (g *calling) isOfAll(c *check.Case, all []calling) bool {
	v, r := &c.Bundle.Intervals, &c.Bundle.Requests
	unlinked := 0
	for i, k := range v.Kind {
		if k == evidence.Call && v.Subject.At(i) == c.Subject && v.Request.At(i) == evidence.NoRequest && v.Cause.At(i) == g.to {
			unlinked++
		}
	}
	from := make(map[evidence.ArtifactID]bool) // the sources of the calls that are known
	with := make(map[int]bool)
	for i := range all {
		for row := range all[i].made {
			a, _ := r.Origin.At(row).Artifact()
			from[a], with[row] = true, true
		}
	}
	without := 0
	for row := range r.Len() {
		if a, ok := r.Origin.At(row).Artifact(); ok && from[a] && !with[row] && r.Subject.At(row) == c.Subject {
			without++
		}
	}
	return without > 0 && float64(unlinked) >= ofOthers.Value*float64(without)*float64(g.medianCalls())
}
