package dotnet

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// judgeGen2Rollup judges gen 2 collections by their count and longest pause, where only the sums
// of a trace are known: a pause of a second is reported, whatever share of the time collections
// took.
func judgeGen2Rollup(c *check.Case) (v check.Verdict, ok bool) {
	most, ok := c.Fact(evidence.FactGen2Most)
	n, _ := c.Fact(evidence.FactGen2Count)
	if !ok || n.Number < 1 || most.Number < check.ASecond.Value*1e9 {
		return v, false
	}
	return check.Verdict{Rule: check.StandsAlone, Weight: check.Material.Value / 10,
		Title:   fmt.Sprintf("A gen 2 collection probably stopped the program for %s; there were %.0f.", units.Time(most.Number), n.Number),
		Summary: fmt.Sprintf("gen 2 collections of up to %s", units.Time(most.Number)),
		Evidence: []check.Evidence{c.Figure("gc.gen2_count", "gen 2 collections, without induced ones", n.Number, "count", n.Origin),
			c.Figure("gc.gen2_longest_ms", "longest pause of one", most.Number/1e6, "ms", most.Origin)},
		Fix:   []check.Fix{{Text: "keep less in generation 2 and on the large object heap, and let it be collected in the background", Setting: "System.GC.Concurrent=true"}},
		Needs: []check.Need{{What: "when they were and what they took from requests", Command: record}}}, true
}
