package golang

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// judgeGCProfile judges by GC's part of a CPU profile, where nothing else is known of it.
func judgeGCProfile(c *check.Case) (v check.Verdict, ok bool) {
	p, ok := metrics.ProfileOf(c.Bundle, c.Subject)
	share, origin := float64(p.GC)/float64(max(p.All, 1)), p.Origin
	if !ok || share < burning.Value || c.Ledger != nil && !c.Slow() {
		return v, false
	}
	if cpus := c.Bundle.CPUsOf(c.Subject); p.Span > 0 && cpus > 0 && float64(p.GC)/1e9/p.Span < burningProcs.Value*float64(cpus) {
		return v, false // much of little
	}
	return check.Verdict{Rule: check.Matters, Weight: share,
		Title:    fmt.Sprintf("GC uses %s of the process's CPU time, probably because the heap is too small.", units.Percent(share)),
		Summary:  fmt.Sprintf("GC had %s of a CPU profile", units.Percent(share)),
		Evidence: []check.Evidence{c.Figure("gc.cpu_share", "share of the process's CPU time used by GC", share, "1", origin)},
		Fix:      []check.Fix{{Text: "let the heap grow before a cycle starts: GOMEMLIMIT with a higher GOGC since Go 1.19, a ballast before"}},
		Needs:    []check.Need{gcTrace}}, true
}
