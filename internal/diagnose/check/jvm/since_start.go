package jvm

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// alone asks for what shows when collections were, where only sums since the JVM's start are known.
var alone = []check.Need{{What: "when they were and what they took from the service: a GC log (-Xlog:gc*:file=gc.log), or jstat -gcutil -t PID 1s for some minutes"}}

// fullSinceStart judges full collections by their count and mean length since the JVM started: a
// mean of a second or more is reported, though how often they come now is unknown.
func fullSinceStart(c *check.Case) (v check.Verdict, ok bool) {
	n, ok := c.Fact(evidence.FactFullCollections)
	mean, _ := c.Fact(evidence.FactFullMean)
	if !ok || n.Number < frequentFull.Value || mean.Number < check.ASecond.Value*1e9 {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: stoppedFull.Value, Needs: alone,
		Title:   fmt.Sprintf("Full collections probably stop the program for %s each; %.0f were counted.", units.Time(mean.Number), n.Number),
		Summary: fmt.Sprintf("%.0f full collections, %s each on average", n.Number, units.Time(mean.Number)),
		Evidence: []check.Evidence{c.Figure("gc.full_counted", "full collections that were counted", n.Number, "count", n.Origin),
			c.Figure("gc.full_mean_ms", "mean time of one", mean.Number/1e6, "ms", mean.Origin)},
		Fix: []check.Fix{{Text: "give the heap more room, or keep less in it: a histogram of classes shows what fills it", Code: "jcmd PID GC.class_histogram"}}}
	return v, true
}

// longSinceStart judges by the longest pause that the JVM's own metrics report.
func longSinceStart(c *check.Case) (v check.Verdict, ok bool) {
	most, ok := c.Fact(evidence.FactPauseMost)
	if !ok || most.Number < check.ASecond.Value*1e9 {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: stoppedFull.Value, Needs: alone,
		Title:    fmt.Sprintf("A pause of GC probably stopped the program for %s, by its own metrics.", units.Time(most.Number)),
		Summary:  fmt.Sprintf("the longest pause was %s", units.Time(most.Number)),
		Evidence: []check.Evidence{c.Figure("gc.longest_ms", "longest pause of the last minutes, by the program's metrics", most.Number/1e6, "ms", most.Origin)},
		Fix:      []check.Fix{{Text: "find out what takes the time with a GC log of such a pause", Setting: "-Xlog:gc*,safepoint:file=gc.log"}}}
	return v, true
}
