package metrics

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// CounterStall is the longest time without any of a process's counters, which arrive at a regular beat. The process itself
// sends them, so it did not run, or the thread that sends them did not.
type CounterStall struct {
	Window       // from the last reading before it to the first after it
	Beat   int64 // ns, from one reading to the next in the median
	Origin evidence.Origin
}

// Missed returns how long (s) the counters were late.
func (s CounterStall) Missed() float64 { return float64(s.Until-s.From-s.Beat) / 1e9 }

// A stall is several beats long, and longer than the rounding of stamps in whole seconds.
const (
	stalledBeats = 4
	stalledTime  = 3 // s
	leastBeats   = 2 // besides the stall
)

// CounterStallOf finds the stall in the artifact that has a counter of a process; false if there is none.
func CounterStallOf(b *evidence.Bundle, subject evidence.SubjectID, name string) (s CounterStall, ok bool) {
	k := CurveOf(b, subject, name, Whole)
	if !k.Known() {
		return s, false
	}
	a, known := k.Origin.Artifact()
	if !known || b.Artifacts[a].Series != "" {
		return s, false
	}
	var at []int64
	for i := range b.Series {
		x := &b.Series[i]
		if from, _ := x.Origin.Artifact(); x.Subject == subject && from == a {
			at = append(at, x.T...)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	var beats []int64
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d > s.Until-s.From {
			s.Window = Window{at[i-1], at[i]}
		}
		beats = append(beats, at[i]-at[i-1])
	}
	if len(beats) <= leastBeats {
		return s, false
	}
	slices.Sort(beats)
	s.Beat, s.Origin = stats.Quantile(beats, .5), k.Origin
	return s, s.Missed() >= stalledTime && s.Until-s.From >= stalledBeats*s.Beat
}
