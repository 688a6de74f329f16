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
	if !ok || n.Number < frequentFull.Value {
		return v, false
	}
	if mean.Number < check.ASecond.Value*1e9 {
		return fullForEachYoung(c, n, mean)
	}
	v = check.Verdict{Rule: check.Matters, Weight: stoppedFull.Value, Needs: alone,
		Title:   fmt.Sprintf("Full collections probably stop the program for %s each; %.0f were counted.", units.Time(mean.Number), n.Number),
		Summary: fmt.Sprintf("%.0f full collections, %s each on average", n.Number, units.Time(mean.Number)),
		Evidence: []check.Evidence{c.Figure("gc.full_counted", "full collections that were counted", n.Number, "count", n.Origin),
			c.Figure("gc.full_mean_ms", "mean time of one", mean.Number/1e6, "ms", mean.Origin)},
		Fix: []check.Fix{{Text: "give the heap more room, or keep less in it: a histogram of classes shows what fills it", Code: "jcmd PID GC.class_histogram"}}}
	v.Counted(n.Number, frequentFull)
	v.Weigh(mean.Number/1e9, check.ASecond)
	return v, true
}

// Full collections that come for nearly each young one: the heap, or what counts as one, has no room.
var (
	manyCounted = check.Threshold{Name: "full collections since the JVM's start, where they come for nearly each young one", Value: 100, Unit: "count",
		Why: "a start, and tools that ask for one, make some", Source: "judgement: weighs a start of some minutes against a program that goes on like this"}
	forEachYoung = check.Threshold{Name: "full collections for each young one since the JVM's start", Value: .5, Unit: "1",
		Why: "where there is room, many young ones come between two", Source: "judgement: a tenth of a per cent is usual, and a per cent is much"}
	felt = check.Threshold{Name: "mean length of a full collection that comes for nearly each young one", Value: 100e6, Unit: "ns",
		Why: "people take less for immediate", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 0.1 s"}
)

// fullForEachYoung judges full collections of less than a second by how many there are for each young one.
func fullForEachYoung(c *check.Case, n, mean evidence.Fact) (v check.Verdict, ok bool) {
	young, told := c.Fact(evidence.FactYoungCollected)
	if !told || n.Number < manyCounted.Value || n.Number < forEachYoung.Value*young.Number || mean.Number < felt.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: stoppedFull.Value,
		Title:   fmt.Sprintf("Probably full collections of %s come for nearly each young one: %.0f for %.0f since the JVM's start.", units.Time(mean.Number), n.Number, young.Number),
		Summary: fmt.Sprintf("%.0f full collections for %.0f young ones, %s each on average", n.Number, young.Number, units.Time(mean.Number)),
		Evidence: []check.Evidence{c.Figure("gc.full_counted", "full collections that were counted", n.Number, "count", n.Origin), c.Figure("gc.young_counted", "young collections that were counted", young.Number, "count", young.Origin),
			c.Figure("gc.full_mean_ms", "mean time of a full one", mean.Number/1e6, "ms", mean.Origin)},
		Needs: append([]check.Need{{What: "the collector: of CMS, jstat counts two pauses of each concurrent cycle as full collections", Command: "jcmd PID VM.flags"}}, alone...),
		Fix:   []check.Fix{{Text: "give the heap more room, or keep less in it: a histogram of classes shows what fills it", Code: "jcmd PID GC.class_histogram"}}}
	v.Counted(n.Number, manyCounted)
	v.Weigh(n.Number/young.Number, forEachYoung)
	v.Weigh(mean.Number, felt)
	if full, ok := c.Fact(evidence.FactPermanentFull); ok {
		v.Title = fmt.Sprintf("The permanent generation is full, so full collections of %s come for nearly each young one: %.0f for %.0f since the JVM's start.", units.Time(mean.Number), n.Number, young.Number)
		v.Evidence = append(v.Evidence, c.Figure("gc.permanent_used", "part of the permanent generation in use", full.Number, "1", full.Origin))
		v.Needs = alone
		v.Fix = []check.Fix{{Text: "raise the limit of the permanent generation: the loaded classes do not fit within it", Setting: "-XX:MaxPermSize=SIZE"},
			{Text: "if it fills again, class loaders leak: find what holds those of earlier deployments", Code: "jmap -permstat PID"}}
	}
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
	v.Weigh(most.Number/1e9, check.ASecond)
	return v, true
}
