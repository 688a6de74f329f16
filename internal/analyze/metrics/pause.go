package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Pause is one stop of the world by a collector.
type Pause struct {
	Row      int // of the bundle's intervals
	From, To int64
	Of       evidence.Pause // PauseOther where its source does not tell
}

// Seconds returns the length of the pause.
func (p Pause) Seconds() float64 { return float64(p.To-p.From) / 1e9 }

// Pauses are sorted by their beginning.
type Pauses []Pause

// Of returns the pauses of some kinds.
func (p Pauses) Of(kinds ...evidence.Pause) Pauses {
	return p.Where(func(x Pause) bool { return slices.Contains(kinds, x.Of) })
}

// Where returns those for which a condition holds.
func (p Pauses) Where(match func(Pause) bool) (out Pauses) {
	for _, x := range p {
		if match(x) {
			out = append(out, x)
		}
	}
	return out
}

// Seconds returns the total time that the world was stopped.
func (p Pauses) Seconds() (sum float64) {
	for _, x := range p {
		sum += x.Seconds()
	}
	return sum
}

// Longest returns the longest pause; the zero pause without any.
func (p Pauses) Longest() (most Pause) {
	for _, x := range p {
		if x.To-x.From > most.To-most.From {
			most = x
		}
	}
	return most
}

// Worst returns the window of a given length (ns) that begins with a pause and has most stopped time, and that time, ns.
func (p Pauses) Worst(length int64) (from, stopped int64) {
	var sum int64 // of the pauses i to n-1
	n := 0
	for _, x := range p {
		until := x.From + length
		for ; n < len(p) && p[n].From < until; n++ {
			sum += p[n].To - p[n].From
		}
		if within := sum - max(0, p[n-1].To-until); within > stopped {
			from, stopped = x.From, within
		}
		sum -= x.To - x.From
	}
	return from, stopped
}

// Spans returns the times in which the world was stopped.
func (p Pauses) Spans() (out Spans) {
	for _, x := range p {
		out = out.Add(x.From, x.To)
	}
	return out
}

// Interval returns the median time from one pause's beginning to the next one's, s; NaN below two.
func (p Pauses) Interval() float64 {
	var gaps []float64
	for i := 1; i < len(p); i++ {
		gaps = append(gaps, float64(p[i].From-p[i-1].From)/1e9)
	}
	if len(gaps) == 0 {
		return math.NaN()
	}
	return stats.Median(gaps)
}

// beginningIn returns the pauses that begin within a window.
func (p Pauses) beginningIn(w Window) Pauses {
	begin := func(t int64) int {
		i, _ := slices.BinarySearchFunc(p, t, func(x Pause, t int64) int { return cmp.Compare(x.From, t) })
		return i
	}
	return p[begin(w.From):begin(w.Until)]
}
