package jvm

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/stats"
)

// collector is what is known of a JVM's collector over a window: that in which requests
// were watched where their clock and the log's meet, else all the log is of.
type collector struct {
	c        *cause.Case
	origin   evidence.Origin // of the artifact that tells most
	name     string          // [evidence.FactCollector]; "" unknown
	from, to int64           // ns: the window
	span     float64         // s
	all      pauses          // of the whole log, in order
	pauses   pauses          // of the window
	placed   bool            // the log's clock can be joined with others
}

// pause is one stop of the world by the collector.
type pause struct {
	row      int // of the bundle's intervals
	from, to int64
	of       evidence.Pause // PauseOther where its source does not tell
}

func (p pause) seconds() float64 { return float64(p.to-p.from) / 1e9 }

// pauses are in order of their beginning.
type pauses []pause

// collectorOf reads the pauses of a case's JVM; nil if nobody watched its collector.
// Several artifacts may tell of the same pauses: that with the better clock counts, and
// others add what lies where it did not look.
func collectorOf(c *cause.Case) *collector {
	g := &collector{c: c}
	logs := g.logs()
	if len(logs) == 0 {
		return nil
	}
	g.placed = logs[0].clock.Anchored()
	g.origin = cause.From(logs[0].artifact)
	var looked cause.Spans
	for i, w := range logs {
		if i > 0 && w.clock.Anchored() != g.placed {
			continue // nothing says how the two lie to each other
		}
		for _, p := range w.pauses {
			if looked.Within(p.from, p.from+1) == 0 {
				g.all = append(g.all, p)
			}
		}
		looked = union(looked, w.from, w.until)
	}
	slices.SortStableFunc(g.all, func(a, b pause) int { return cmp.Compare(a.from, b.from) })
	g.from, g.to = looked[0].From, looked[len(looked)-1].To
	watched := looked.Within(g.from, g.to)
	if l := c.Ledger; l != nil && g.placed && c.Bundle.Clocks[c.Bundle.Requests.Clock[l.Rows[0]]].Anchored() {
		from, to := max(g.from, l.From), min(g.to, l.To)
		if part := looked.Within(from, to); part > (l.To-l.From)/4 {
			g.from, g.to, watched = from, to, part
		}
	}
	g.span = float64(watched) / 1e9
	for _, p := range g.all {
		if p.from >= g.from && p.from < g.to {
			g.pauses = append(g.pauses, p)
		}
	}
	if f, ok := c.Fact(evidence.FactCollector); ok {
		g.name = f.Value
	}
	return g
}

// log is what one artifact shows of the collector.
type log struct {
	artifact    evidence.ArtifactID
	clock       evidence.Clock
	from, until int64
	pauses      pauses
}

// logs are the artifacts that watched the collector: those whose clock can be joined with
// others first, then the longest.
func (g *collector) logs() (all []*log) {
	b := g.c.Bundle
	of := make(map[evidence.ArtifactID]*log)
	for _, w := range b.Covered(g.c.Subject, evidence.CoverGC) {
		a, ok := w.Origin.Artifact()
		if !ok || w.Until <= w.From || !stamped(b.Clocks[w.Clock]) {
			continue
		}
		x := of[a]
		if x == nil {
			x = &log{artifact: a, clock: b.Clocks[w.Clock], from: w.From, until: w.Until}
			of[a] = x
			all = append(all, x)
		}
		x.from, x.until = min(x.from, w.From), max(x.until, w.Until)
	}
	v := &b.Intervals
	for _, i := range v.Select(evidence.StopTheWorld, g.c.Subject) {
		a, _ := v.Origin[i].Artifact()
		if x := of[a]; x != nil {
			k, _ := v.PauseOf(i)
			x.pauses = append(x.pauses, pause{row: i, from: v.Start[i], to: v.End[i], of: k})
		}
	}
	// One that has been told of a running JVM by a counter alone has no pauses to show.
	slices.SortStableFunc(all, func(x, y *log) int {
		return cmp.Or(-compareBool(x.clock.Anchored(), y.clock.Anchored()), cmp.Compare(min(1, len(y.pauses)), min(1, len(x.pauses))), cmp.Compare(y.until-y.from, x.until-x.from))
	})
	return all
}

// stamped is false of a log without time stamps: its pauses lie one after another, and no
// time between them is known.
func stamped(c evidence.Clock) bool { return c.Anchored() || c.Resolution > 0 }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// union adds a span to others that may lie before and after it.
func union(s cause.Spans, from, to int64) (out cause.Spans) {
	all := append(slices.Clone(s), cause.Span{From: from, To: to})
	slices.SortFunc(all, func(a, b cause.Span) int { return cmp.Compare(a.From, b.From) })
	for _, x := range all {
		out = out.Add(x.From, x.To)
	}
	return out
}

// get returns a figure of a pause, NaN if its source does not give it.
func (g *collector) get(p pause, k evidence.Key) float64 {
	if v, ok := g.c.Bundle.Intervals.Get(p.row, k); ok {
		return v
	}
	return math.NaN()
}

// cause is the collector's own name of a pause, "ParNew"; trigger why it collected,
// "Allocation Failure"; failure what went wrong in it, "promotion failed"; "" is not told.
func (g *collector) cause(p pause) string {
	return g.c.Bundle.Names.Text(g.c.Bundle.Intervals.Cause[p.row])
}

func (g *collector) trigger(p pause) string {
	return g.c.Bundle.Names.Text(g.c.Bundle.Intervals.NameOf(p.row, evidence.Trigger))
}

func (g *collector) failure(p pause) string {
	return g.c.Bundle.Names.Text(g.c.Bundle.Intervals.NameOf(p.row, evidence.Failure))
}

// at is where a pause was read.
func (g *collector) at(p pause) evidence.Origin { return g.c.Bundle.Intervals.Origin[p.row] }

// is says whether the collector is one of those whose name holds a word: "CMS", "G1", "ZGC".
func (g *collector) is(word string) bool { return strings.Contains(g.name, word) }

// of returns the pauses of the window of some kinds.
func (p pauses) of(kinds ...evidence.Pause) pauses {
	return p.where(func(x pause) bool { return slices.Contains(kinds, x.of) })
}

// where returns those for which a condition holds.
func (p pauses) where(is func(pause) bool) (out pauses) {
	for _, x := range p {
		if is(x) {
			out = append(out, x)
		}
	}
	return out
}

// seconds is the time the world was stopped, in all.
func (p pauses) seconds() (sum float64) {
	for _, x := range p {
		sum += x.seconds()
	}
	return sum
}

// longest is the longest pause; the zero pause without any.
func (p pauses) longest() (most pause) {
	for _, x := range p {
		if x.to-x.from > most.to-most.from {
			most = x
		}
	}
	return most
}

// spans are the times in which the world was stopped.
func (p pauses) spans() (out cause.Spans) {
	for _, x := range p {
		out = out.Add(x.from, x.to)
	}
	return out
}

// interval is the median time from one pause's beginning to the next one's, s; NaN below two.
func (p pauses) interval() float64 {
	var gaps []float64
	for i := 1; i < len(p); i++ {
		gaps = append(gaps, float64(p[i].from-p[i-1].from)/1e9)
	}
	if len(gaps) == 0 {
		return math.NaN()
	}
	return stats.Median(gaps)
}

// rate is how many pauses there were each second of the window.
func (g *collector) rate(p pauses) float64 {
	if g.span <= 0 {
		return 0
	}
	return float64(len(p)) / g.span
}

// stopped is the share of the window in which those pauses stopped the world.
func (g *collector) stopped(p pauses) float64 {
	if g.span <= 0 {
		return 0
	}
	return p.seconds() / g.span
}
