package metrics

import (
	"github.com/unstall/unstall/internal/base/evidence"
)

// oldest is .NET's generation of the whole heap.
const oldest = 2

// DotnetCollector reads the collections of a .NET process from its events, over the requests' time where the clocks can be
// joined, else over the whole recording; allocation comes from its counter. Counters alone tell little: only how often
// generation 2 was collected, and no pauses. A run as a whole is read the same way.
func DotnetCollector(b *evidence.Bundle, subject evidence.SubjectID, scope Scope) *Collector {
	g := newCollector(b, subject, scope.requestSource())
	if !g.readPauses(scope.Beside) {
		return g.dotnetCounters()
	}
	v := &b.Intervals
	full := 0.
	var left []float64
	for _, i := range v.Select(evidence.GCCycle, subject) {
		x := cycleOf(v, i)
		if x.From < g.From || x.From >= g.Until {
			continue
		}
		g.Cycles = append(g.Cycles, x)
		g.began = append(g.began, x.From)
		if x.Generation == oldest {
			full++
			if x.After > 0 {
				left = append(left, x.After)
			}
		}
	}
	if g.Span > 0 {
		g.Rate, g.Full = g.valueOf(float64(len(g.began))/g.Span), g.valueOf(full/g.Span)
	}
	g.Live = g.medianValue(left)
	g.Alloc = Mean(b, subject, evidence.SeriesAllocation, g.Window)
	if n := b.CPUsOf(subject); n > 0 {
		g.Processors = g.valueOf(float64(n))
	}
	return g
}

// dotnetCounters reads what counters tell without GC events; nil: nothing.
func (g *Collector) dotnetCounters() *Collector {
	s := g.bundle.SeriesOf(g.subject, evidence.SeriesAllocation)
	if s == nil || len(s.T) < 2 {
		return nil
	}
	g.Window = Window{s.T[0], s.T[len(s.T)-1]}
	g.Span, g.Origin = g.Window.Seconds(), s.Origin
	g.Alloc = Mean(g.bundle, g.subject, evidence.SeriesAllocation, g.Window)
	g.Full = Mean(g.bundle, g.subject, evidence.SeriesGen2Collections, g.Window)
	return g
}

// CountedCollections returns how many collections per second .NET's counters show over the whole recording; unknown without
// counters. It is needed because a recording of GC events without any collection looks like no recording.
func CountedCollections(b *evidence.Bundle, subject evidence.SubjectID) Value {
	for _, name := range []string{evidence.SeriesGen0Collections, evidence.SeriesGen0Meter} {
		if k := CurveOf(b, subject, name, Whole); k.Known() && len(k.V) > 1 {
			return Value{Number: k.Mean(), Origin: k.Origin, Watched: 1}
		}
	}
	return Unknown
}
