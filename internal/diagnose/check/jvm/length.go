package jvm

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// A share of all the time says little of a service that runs for days: a stop of 40 s in
// two hours is half a percent. So pauses are judged by three measures, and the worst
// decides: their share of the time, their share of the worst minute, and the longest alone.
var (
	leastWatched = check.Threshold{Name: "time that a log must cover for a share or rate to speak for the service", Value: 10., Unit: "s",
		Why: "a collection that was cut out of a log stops all of its time, and in the first seconds of a JVM its heap grows", Source: "arithmetic: of less, a single pause of 0.1 s, which people notice (J. Nielsen, Usability Engineering, 1993, chapter 5), is 1 % and more"}
	noticed = check.Threshold{Name: "time paused in all, where less was watched", Value: .2, Unit: "s",
		Why: "what a person at a browser notices", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 0.1 s feels immediate"}
	someCounted = check.Threshold{Name: "events from which their rate is known", Value: 5, Unit: "count",
		Why: "of five, its error is about a half", Source: "Poisson error: 1/√5"}
)

// rateEvidence returns how often pauses came per minute as evidence; nil if there were too few, or
// too little was watched.
func (g *collector) rateEvidence(text string, p metrics.Pauses) []check.Evidence {
	if len(p) < someCounted.Int() || g.Span < leastWatched.Value {
		return nil
	}
	return []check.Evidence{g.c.Figure("gc.these_per_min", text, 60*g.PerSecond(p), "1/min", g.OriginOf(p[0]))}
}

// worstMinute returns the minute in which the pauses stopped the program longest; zero if no more
// than a minute was watched.
func (g *collector) worstMinute(p metrics.Pauses) check.Minute {
	return check.WorstMinute(g.Collector, p)
}

// stretch is a part of a long log.
type stretch struct {
	from, to int64
	stopped  float64 // s
}

func (x stretch) stoppedShare() float64 { return x.stopped / (float64(x.to-x.from) / 1e9) }

// A log is long from so many minutes on, and a part of it speaks for some pauses if it holds so much of their time.
var (
	longMinutes = check.Threshold{Name: "minutes from which a log is long", Value: 10, Unit: "count",
		Why: "a part of it may speak for some pauses", Source: "arithmetic: its worst minute is at most a tenth of it"}
	mostOfThem = check.Threshold{Name: "share of the time of some pauses that a part of a log holds", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
)

// worstStretch returns the worst time of a long log: the worst minute, and the minutes before and
// after it that are stopped at least half as long. It is ok only if most of the pauses' time lies
// in it and their share of it is several times that of all the time ([check.MinuteOf]).
func (g *collector) worstStretch(p metrics.Pauses) (x stretch, ok bool) {
	m := g.worstMinute(p)
	if g.Span < longMinutes.Value*check.AMinute || m.Stopped == 0 {
		return x, false
	}
	spans := p.Spans()
	within := func(from int64) float64 { return float64(spans.Within(from, from+check.AMinute*1e9)) / 1e9 }
	x = stretch{m.From, m.From + check.AMinute*1e9, m.Stopped}
	for step := int64(check.AMinute * 1e9); ; x.from -= step {
		more := within(x.from - step)
		if more < m.Stopped/2 {
			break
		}
		x.stopped += more
	}
	for step := int64(check.AMinute * 1e9); ; x.to += step {
		more := within(x.to)
		if more < m.Stopped/2 {
			break
		}
		x.stopped += more
	}
	return x, x.stoppedShare() >= check.MinuteOf.Value*g.ShareOf(p) && x.stopped >= mostOfThem.Value*p.Seconds()
}

// fromTo writes when a stretch was: as time of day where the log has it, else since the log began.
func (g *collector) fromTo(x stretch) string {
	if g.Placed {
		from, to := time.Unix(0, x.from).UTC(), time.Unix(0, x.to).UTC()
		return "From " + from.Format("2006-01-02 15:04:05") + " to " + to.Format("15:04:05") + " UTC"
	}
	clock := func(ns int64) string {
		s := max(0, ns/1e9)
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return "From " + clock(x.from) + " to " + clock(x.to) + " of the log"
}

// addWorstToTitle adds to a title what is worst about pauses whose share of all the time does not
// show it: the worst stretch, the longest pause, else the worst minute.
func (g *collector) addWorstToTitle(title string, p metrics.Pauses) string {
	if x, ok := g.worstStretch(p); ok {
		title = fmt.Sprintf("%s, where they take %s of the time: %s", g.fromTo(x), units.Percent(x.stoppedShare()), title)
	}
	most, m := p.Longest(), g.worstMinute(p)
	switch {
	case most.Seconds() >= check.ASecond.Value && len(p) > 1:
		return fmt.Sprintf("%s; the longest, %s, for %s.", strings.TrimSuffix(title, "."), g.formatMoment(most.From), units.Time(1e9*most.Seconds()))
	case most.Seconds() >= check.ASecond.Value:
		return fmt.Sprintf("%s (%s).", strings.TrimSuffix(title, "."), g.formatMoment(most.From))
	case m.Share() >= check.MinuteOf.Value*g.ShareOf(p) && m.Stopped > 0:
		return fmt.Sprintf("%s, and %s of the minute from %s on.", strings.TrimSuffix(title, "."), units.Percent(m.Share()), strings.TrimPrefix(g.formatMoment(m.From), "at "))
	}
	return title
}

// formatMoment writes a moment: "at" and the time of day where the log has it, else the log's
// clock.
func (g *collector) formatMoment(ns int64) string {
	if g.Placed {
		return "at " + time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05") + " UTC"
	}
	return fmt.Sprintf("at %s s of the log", check.Digits(1, math.Floor(float64(ns)/1e9)))
}
