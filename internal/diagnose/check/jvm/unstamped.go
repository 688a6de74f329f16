package jvm

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var someUnstamped = check.Threshold{Name: "pauses of a second or more in a log without times", Value: 2, Unit: "count",
	Why: "one may belong to a start, or be the only one of a day", Source: "judgement: weighs a pause that happened once against pauses that happen again, in a log that tells no rate"}

// unstamped is a pause of a log without times: how long it was is known, and not when.
type unstamped struct {
	of      evidence.Pause
	trigger string
	seconds float64
	origin  evidence.Origin
}

// isForMetadata says whether it came for class metadata.
func (x unstamped) isForMetadata() bool { return containsAny(x.trigger, metadataBy) }

// isRequested says whether a program or a tool asked for it.
func (x unstamped) isRequested() bool { return containsAny(x.trigger, requestedBy) }

// longUnstamped judges by pauses of a second or more in a log without times. They are long whenever they were; their
// rate is not known.
func longUnstamped(c *check.Case, is func(unstamped) bool, what string) (v check.Verdict, ok bool) {
	logs := make(map[evidence.ArtifactID]bool)
	for _, w := range c.Bundle.Covered(c.Subject, evidence.CoverGC) {
		if a, known := w.Origin.Artifact(); known && !metrics.Stamped(c.Bundle.Clocks[w.Clock]) {
			logs[a] = true
		}
	}
	if len(logs) == 0 {
		return v, false
	}
	rows := &c.Bundle.Intervals
	n, sum, most := 0, 0., unstamped{}
	for _, i := range rows.Select(evidence.StopTheWorld, c.Subject) {
		a, _ := rows.Origin.At(i).Artifact()
		of, told := rows.PauseOf(i)
		x := unstamped{of: of, trigger: c.Bundle.Names.Text(rows.NameOf(i, evidence.Trigger)), seconds: float64(rows.End[i]-rows.Start[i]) / float64(rows.Repeats(i)) / 1e9, origin: rows.Origin.At(i)}
		if !logs[a] || !told || x.seconds < check.ASecond.Value || !is(x) {
			continue
		}
		if x.seconds > most.seconds {
			most = x
		}
		n += int(rows.Repeats(i))
		sum += x.seconds * float64(rows.Repeats(i))
	}
	if n < someUnstamped.Int() {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: stoppedFull.Value, Needs: logging,
		Title:   fmt.Sprintf("%d %s stopped the program for up to %s; when is not known, as the log has no times.", n, what, units.Time(1e9*most.seconds)),
		Summary: fmt.Sprintf("%d %s of a second or more, %s in total", n, what, units.Time(1e9*sum))}
	v.Evidence = []check.Evidence{c.Figure("gc.these", what+" of a second or more", float64(n), "count", most.origin),
		c.Figure("gc.longest_ms", "the longest of them", 1e3*most.seconds, "ms", most.origin)}
	v.Fix = []check.Fix{{Text: "give the heap more room, or keep less in it: a histogram of classes shows what fills it", Code: "jcmd PID GC.class_histogram"}}
	if most.isForMetadata() {
		v.Fix = []check.Fix{{Text: "let class metadata grow to what the program needs before it is collected: set the threshold above it, and find what loads classes again and again (jcmd PID VM.classloader_stats)", Setting: "-XX:MetaspaceSize=SIZE"}}
	}
	return v, true
}
