package golang

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// grow is the advice where the recording does not show the heap's size.
var grow = check.Fix{Text: "let the heap grow more before GC starts: GOMEMLIMIT (since Go 1.19), or a ballast (before)"}

// adviseHeap adds the reason, the fix and its prediction: the knee of what memory buys. The p99 comes from the bill of traced
// requests; nil if unknown.
func (g *collector) adviseHeap(c *check.Case, v *check.Verdict, b *goheap.Bill) {
	if !(g.Live.Number > 0 && g.Goal.Number > g.Live.Number) {
		v.Fix = append(v.Fix, grow)
		return
	}
	v.Evidence = append(v.Evidence,
		c.Figure("heap.live_bytes", "live heap", g.Live.Number, "bytes", g.Origin),
		c.Figure("heap.goal_bytes", "heap goal", g.Goal.Number, "bytes", g.Origin),
		c.Figure("alloc.bytes_per_s", "allocation rate", g.Alloc.Number, "bytes/s", g.Origin))
	v.Evidence = append(v.Evidence, heapSettings(c)...)
	h := g.Heap()
	latency, why := g.Latency(b)
	f, err := h.Frontier(c.Bundle.Subjects[c.Subject].Name, latency)
	if err != nil {
		v.Fix = append(v.Fix, grow)
		return
	}
	v.Frontier = f.Table()
	at, ok := f.Recommended()
	if !ok {
		v.Fix = append(v.Fix, check.Fix{Text: f.Why + ": allocate less per request, or give it more memory"})
		return
	}
	v.Fix = append(v.Fix, g.heapFixes(c, h, f, at)...)
	v.Prediction = append(v.Prediction, g.predictFix(c, f, at, b, why == nil)...)
}

// heapFixes returns the settings for a point of the frontier. Where the release of Go is not
// known, both ways are given.
func (g *collector) heapFixes(c *check.Case, h *goheap.Heap, f *goheap.Frontier, at goheap.Outcome) []check.Fix {
	capped := ""
	if f.Capped {
		capped = " (as much as the " + f.Who + " allows)"
	}
	ballast := at.Setting.Ballast
	if ballast == 0 {
		ballast = h.BallastFor(at).Ballast
	}
	old := check.Fix{Text: "for Go before 1.19: a ballast in main; it is never touched, so it uses no resident memory itself" + capped,
		Code: fmt.Sprintf("ballast := make([]byte, %d<<20)\ndefer runtime.KeepAlive(ballast)", int64(ballast)>>20)}
	limit := check.Fix{Text: "set it for the next start (Go 1.19 or later)" + capped + "; set the container limit at least 10 % higher", Setting: at.Setting.String()}
	if at.Setting.Limit == 0 && at.Setting.Ballast == 0 {
		limit.Text = "set it for the next start" + capped + "; a ratio instead of a limit, because under a limit a growing live heap would make GC run all the time"
	}
	switch {
	case at.Setting.Ballast > 0:
		return []check.Fix{old}
	case h.Minor >= 19 || c.Bundle.Subjects[c.Subject].Version != "":
		return []check.Fix{limit}
	default:
		return []check.Fix{limit, old}
	}
}

// predictFix returns what the model predicts for the fix, beside what was measured. The p99 is by
// replay, where that fits, else by the bill of traced requests; its name says which.
func (g *collector) predictFix(c *check.Case, f *goheap.Frontier, at goheap.Outcome, b *goheap.Bill, replayed bool) []check.Prediction {
	all := []check.Prediction{
		newPrediction("gc.cycles_per_s", "gc cycles", "1/s", g.Rate.Number, at.Cycles),
		newPrediction("heap.peak_bytes", "heap at its peak", "bytes", f.Measured.Peak.Value, at.Peak),
	}
	if f.Measured.RSS.Known() {
		all = append(all, newPrediction("process.resident_bytes", "resident memory", "bytes", f.Measured.RSS.Value, at.RSS))
	}
	all = append(all, newPrediction("gc.cpu_cores", "gc cpu", "cores", f.Measured.Collector.Value, at.Collector))
	switch {
	case replayed && at.P99.Known():
		all = append(all, newPrediction("requests.replayed_p99_ms", "p99 by replay", "ms", f.Now.P99.Value, at.P99))
	case b != nil && !at.Limiter && !at.PilesUp:
		all = append(all, g.predictedP99(c, b, f, at))
	}
	return all
}

func newPrediction(id, metric, unit string, now float64, then model.Estimate) check.Prediction {
	return check.Prediction{ID: id, Metric: metric, Unit: unit, Now: stats.FiniteOrNil(now), Then: stats.FiniteOrNil(then.Value), Low: stats.FiniteOrNil(then.Low), High: stats.FiniteOrNil(then.High)}
}

// predictedP99 returns the p99 of traced requests if their bill shrinks as the collector's work
// does.
func (g *collector) predictedP99(c *check.Case, b *goheap.Bill, f *goheap.Frontier, at goheap.Outcome) check.Prediction {
	return c.PredictP99(b.Without(f.Now, at))
}
