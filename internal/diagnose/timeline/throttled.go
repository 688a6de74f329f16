package timeline

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// ThrottledPeriods is the series of the number of a CPU quota's periods per second in which it stopped a control group
// (https://docs.kernel.org/scheduler/sched-bwc.html#statistics).
const ThrottledPeriods = evidence.SeriesCgroupCPUThrottledPeriods

// ThrottledTitle is the title of a row of [Throttle]s. They are as long as the time between two readings: a stop within it may have been short.
const ThrottledTitle = "readings in which the CPU quota throttled it"

// Throttle is the time between two readings of a quota's counters in which it stopped the group.
type Throttle struct {
	From, To int64  // ns
	Text     string // "1 of 3 periods, 442 µs in all"
}

// Throttles returns what a series of [ThrottledPeriods] shows, in order of time.
func Throttles(b *evidence.Bundle, s *evidence.Series) (out []Throttle) {
	like := func(name string) *evidence.Series {
		if a, ok := s.Origin.Artifact(); ok {
			return b.SeriesFrom(a, s.Subject, name)
		}
		return nil
	}
	stopped, periods := like(evidence.SeriesCgroupCPUThrottled), like(evidence.SeriesCgroupCPUPeriods)
	for i := 0; i+1 < len(s.T); i++ {
		if !(s.V[i] > 0) {
			continue
		}
		d := float64(s.T[i+1]-s.T[i]) / 1e9
		text := fmt.Sprintf("%.0f periods", s.V[i]*d)
		if v, ok := valueAt(periods, s.T[i]); ok && v > 0 {
			text = fmt.Sprintf("%.0f of %.0f periods", s.V[i]*d, v*d)
		}
		if v, ok := valueAt(stopped, s.T[i]); ok {
			text += ", " + formatDuration(int64(v*d*1e9)) + " in all"
		}
		out = append(out, Throttle{s.T[i], s.T[i+1], text})
	}
	return out
}

// valueAt returns a series' value at a time; false if it has no point there.
func valueAt(s *evidence.Series, t int64) (float64, bool) {
	if s == nil {
		return 0, false
	}
	i, ok := slices.BinarySearch(s.T, t)
	if !ok {
		return 0, false
	}
	return s.V[i], true
}

// addThrottled lays out when a quota stopped the process, at the resolution of its counters' readings.
func (l *layout) addThrottled() {
	for _, s := range l.findSeries(ThrottledPeriods) {
		all := Throttles(l.b, s)
		var bandSpans []bandSpan
		for i, x := range all {
			if x.To >= l.t.From && x.From <= l.t.To {
				bandSpans = append(bandSpans, bandSpan{x.From, x.To, i})
			}
		}
		// A reading covers the time since the previous one, also across pieces of a recording.
		watched := l.watchedBy(s)
		if len(watched) == 0 {
			watched = spans{{s.T[0], s.T[len(s.T)-1]}}
		}
		l.addBand(bandThrottled, ThrottledTitle, l.originName(s.Origin), bandSpans, watched, func(i int) string { return all[i].Text })
	}
}
