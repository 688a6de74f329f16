package dotnet

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// collector is a case's collector with everything that its events record, over the time of the requests if there are any.
type collector struct {
	*metrics.Collector
	gc  *metrics.DotnetGC
	who *metrics.Allocations // nil: allocations were not recorded
	c   *check.Case

	collectionByPause []int // by pause: the collection it was for; -1 none
}

// collectorOf returns the case's collector, nil if its collections were not watched.
func collectorOf(c *check.Case) *collector {
	return check.Once(c, func(c *check.Case) *collector {
		g := c.Collector()
		if g == nil {
			return nil
		}
		gc := metrics.ReadDotnetGC(c.Bundle, c.Subject, g.Window)
		if gc == nil {
			return nil
		}
		x := &collector{Collector: g, gc: gc, who: metrics.ReadAllocations(c.Bundle, c.Subject, threadstack.Dotnet), c: c}
		for _, p := range g.Pauses {
			x.collectionByPause = append(x.collectionByPause, x.collectionOf(p))
		}
		return x
	})
}

// collectionOf returns the index of the collection that a pause was for: the one that begins in it, else the background
// collection that runs at that time; −1 if there is neither.
func (g *collector) collectionOf(p metrics.Pause) int {
	all := g.gc.Collections
	n, _ := slices.BinarySearchFunc(all, p.From, func(x metrics.Collection, at int64) int { return cmp.Compare(x.From, at) })
	if n < len(all) && all[n].From <= p.To {
		return n
	}
	for n--; n >= 0; n-- {
		if x := &all[n]; x.Kind == evidence.CollectionBackground && x.From <= p.From && p.From <= x.To {
			return n
		}
	}
	return -1
}

// pausesOf returns the pauses of the collections that match.
func (g *collector) pausesOf(match func(*metrics.Collection) bool) (out metrics.Pauses) {
	for i, p := range g.Pauses {
		if n := g.collectionByPause[i]; n >= 0 && match(&g.gc.Collections[n]) {
			out = append(out, p)
		}
	}
	return out
}

// selectCollections returns the collections that match.
func (g *collector) selectCollections(match func(*metrics.Collection) bool) (out []*metrics.Collection) {
	for i := range g.gc.Collections {
		if c := &g.gc.Collections[i]; match(c) {
			out = append(out, c)
		}
	}
	return out
}

// isInduced says whether the program or a tool asked for a collection. Each collection belongs to
// one cause, induced, for large objects or ordinary, as its cost must not be counted twice.
func isInduced(c *metrics.Collection) bool { return c.Induced }

// The runtime's reasons for a collection of the oldest generation because of large objects.
const (
	largeReason  = "large allocations"
	noLargeSpace = "out of space for large objects"
)

func isForLarge(c *metrics.Collection) bool {
	return !c.Induced && (c.Reason == largeReason || c.Reason == noLargeSpace)
}

// isOrdinary reports whether a collection was caused by the allocation of small objects.
func isOrdinary(c *metrics.Collection) bool { return !c.Induced && !isForLarge(c) }

func isOrdinaryGen2(c *metrics.Collection) bool {
	return isOrdinary(c) && c.Generation == evidence.Gen2
}

// unwatchedVerdict returns the verdict where no collector events were recorded: there were no
// collections, or events were not asked for.
func unwatchedVerdict(c *check.Case) check.Verdict {
	if n := metrics.CountedCollections(c.Bundle, c.Subject); n.Known() && n.Number == 0 {
		return check.Verdict{Rule: check.Absent, Summary: "no collections", Evidence: []check.Evidence{c.Figure("gc.counted_collections_per_s", "collections, from the runtime's counters", 0, "1/s", n.Origin)}}
	}
	summary := "its garbage collections were not recorded"
	var said []check.Evidence
	if g := metrics.ReadGCCounters(c.Bundle, c.Subject, metrics.Whole); g != nil {
		for i, f := range g.Findings() {
			summary += map[bool]string{true: ", but the counters show ", false: ", "}[i == 0] + f.Counter + " " + units.Num(f.Value.Number) + map[string]string{"%": " %", "1/s": "/s"}[f.Unit]
			said = append(said, c.Figure(f.ID, f.Counter+": "+f.Text, f.Value.Number, f.Unit, f.Value.Origin))
		}
	}
	return check.Verdict{Rule: check.NotRecorded, Summary: summary, Evidence: said,
		Needs: []check.Need{{What: "GC events", Command: "unstall record PID"}, {What: "or", Command: "dotnet-trace collect -p PID --profile gc-verbose"}}}
}

// judgePauses judges the cost of collections by [check.Case.JudgePauses], which all collectors share. what names the
// collections in the text. stalled is each slow request's wait (ns) for memory; nil: none waited.
func (g *collector) judgePauses(v *check.Verdict, cause string, p metrics.Pauses, what string, stalled []int64) *check.Bill {
	return g.c.JudgePauses(v, check.Paused{Cause: cause, Collector: g.Collector, Pauses: p, What: what, Least: terms.Own, Stalled: stalled, Terms: &terms})
}

// addFigure adds a figure to the evidence unless it is unknown.
func (g *collector) addFigure(v *check.Verdict, id, text string, x float64, unit string, at evidence.Origin) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		v.Evidence = append(v.Evidence, g.c.Figure(id, text, x, unit, at))
	}
}

// perMinute returns the rate of n events per minute of the watched time.
func (g *collector) perMinute(n int) float64 { return 60 * float64(n) / max(g.Span, 1e-9) }
