package golang

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// isBusy says whether cycles come often, or run back to back, as a cycle of a large heap takes
// longer than a second. Cycles that the program asks for are judged apart.
func (g *collector) isBusy() bool {
	return g.Rate.Number >= frequent.Value || g.Marking.Number >= metrics.BackToBack && 2*askedFor(g) < len(g.Cycles)
}

var backToBack = check.Threshold{Name: "share of the time that marking takes, from which cycles run back to back", Value: metrics.BackToBack, Unit: "1",
	Why: "then they are frequent, however long each takes", Source: "arithmetic: half"}

// weighBusy records the figures of [collector.isBusy], of which one suffices.
func (g *collector) weighBusy(v *check.Verdict) {
	v.WeighOne(g.Rate.Number, frequent)
	v.WeighOne(g.Marking.Number, backToBack)
}

// formatOften says how much GC runs, by the figure that shows it, as the start of a title.
func (g *collector) formatOften() string {
	if g.Rate.Number >= frequent.Value {
		return fmt.Sprintf("GC runs %s times per second", units.Num(g.Rate.Number))
	}
	return fmt.Sprintf("GC marks %s of the time", units.Percent(g.Marking.Number))
}

// orBackToBack returns the verdict of the whole recording or, where that finds nothing and
// requests do not show whether GC costs them, that of the longest stretch in which cycles ran back
// to back: a mean hides a phase. Where the log lacks most of the cycles, nothing is ruled out.
func (g *collector) orBackToBack(c *check.Case, whole check.Verdict, judge func(*check.Case, *collector) check.Verdict) check.Verdict {
	if whole.Supported() || c.Traced() {
		return whole
	}
	if s := g.LongestBackToBack(); s != nil && (c.Ledger == nil || len(c.Ledger.Rows) == 0 || c.Slow()) {
		stretch := *g.Process
		stretch.Collector = s
		if v := judge(c, &collector{&stretch}); v.Supported() {
			v.Title = fmt.Sprintf("For %s %s", units.Time(1e9*s.Window.Seconds()), v.Title)
			v.Evidence = append(v.Evidence, c.Figure("gc.back_to_back_s", "length of the stretch in which GC ran back to back, which these figures are of", s.Window.Seconds(), "s", s.Origin))
			return v
		}
	}
	return g.unlessMissing(whole)
}
