package main

import (
	"fmt"
	"strings"
)

// bound is what a recording must show to be kept; most 0 is no upper
// bound.
type bound struct {
	metric      string
	least, most float64
}

// metrics are the figures that bounds refer to. Those without a unit in their name are of
// the trace's window.
var metrics = map[string]func(*truth) float64{
	"p50 ms":           func(t *truth) float64 { return t.mainWindow().Latency.P50 },
	"p99 ms":           func(t *truth) float64 { return t.mainWindow().Latency.P99 },
	"clients' p99 ms":  func(t *truth) float64 { return t.Load.P99 },
	"clients' p90 ms":  func(t *truth) float64 { return t.Load.P90 },
	"GC/s":             func(t *truth) float64 { return t.mainWindow().GCRate },
	"cores":            func(t *truth) float64 { return t.mainWindow().Cores },
	"faults/s":         func(t *truth) float64 { return t.mainWindow().Faults },
	"neighbours' CPUs": func(t *truth) float64 { return t.mainWindow().Neighbours },
	"collector %":      func(t *truth) float64 { return 100 * *t.Collector },
	"achieved %":       func(t *truth) float64 { return 100 * t.Load.Achieved / t.Load.Plan.Rate },
	"answers/s":        func(t *truth) float64 { return t.Load.Achieved },
	"new goroutines":   func(t *truth) float64 { return float64(t.All.Goroutines[1] - t.All.Goroutines[0]) },
	"leaks in trace":   func(t *truth) float64 { return float64(t.mainWindow().Goroutines[1] - t.mainWindow().Goroutines[0]) },
	"mutex wait s":     func(t *truth) float64 { return t.mainWindow().MutexWait },
}

// checkPlausible returns what is wrong with a recording, in general and for its
// purpose.
func checkPlausible(r recording, t *truth, quiet float64) error {
	w := t.mainWindow()
	if !r.noisy && w.Neighbours+w.Stolen > quiet {
		return fmt.Errorf("disturbed: others used %.2f CPUs", w.Neighbours+w.Stolen)
	}
	if all := t.All; !r.noisy && all.Neighbours+all.Stolen > 2*quiet {
		return fmt.Errorf("disturbed: others used %.2f CPUs in all", all.Neighbours+all.Stolen)
	}
	if l := t.Load; l.Unanswered > 0 && r.capture == 0 && r.jvm == nil { // a capture may end before requests do
		return fmt.Errorf("%d of %d requests were not answered: %s", l.Unanswered, l.Sent, l.Error)
	}
	if r.whole && (!w.Exact || w.totalFinished() != t.Load.Finished) {
		return fmt.Errorf("the trace was to hold %d requests; the service finished %d", t.Load.Finished, w.totalFinished())
	}
	for _, b := range r.expect {
		got := metrics[b.metric](t)
		if got < b.least || b.most != 0 && got > b.most {
			return fmt.Errorf("%s is %.3g, expected %g to %g", b.metric, got, b.least, b.most)
		}
	}
	return nil
}

func (t *truth) formatSummary() string {
	var b strings.Builder
	l, w := t.Load, t.mainWindow()
	fmt.Fprintf(&b, "%d requests, %.0f/s, p50 %.2f p99 %.2f ms, lag %.2f ms", l.Finished, l.Achieved, l.P50, l.P99, l.LagP99)
	if w.Finished == nil { // the service did not count them
		fmt.Fprintf(&b, "; recorded %.1f s: %.2f cores, others %.2f", w.Seconds, w.Cores, w.Neighbours+w.Stolen)
		return b.String()
	}
	fmt.Fprintf(&b, "; traced %d in %.1f s: p50 %.2f p99 %.2f max %.1f ms, %.1f GC/s, %.2f cores, %.0f faults/s, others %.2f",
		w.totalFinished(), w.Seconds, w.Latency.P50, w.Latency.P99, w.Latency.Max, w.GCRate, w.Cores, w.Faults, w.Neighbours+w.Stolen)
	if t.Collector != nil {
		fmt.Fprintf(&b, ", collector %.0f %%", 100**t.Collector)
	}
	return b.String()
}
