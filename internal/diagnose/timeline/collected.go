package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// Collected sums up a garbage collector's work, as a viewer of GC logs does. Unknown figures are NaN.
type Collected struct {
	Name     string // of the collector, "" unknown
	Source   string
	From, To int64   // ns
	Watched  float64 // s that were watched
	Rate     float64 // collections per second

	// Pauses are the lengths of all stops of the world, ns, shortest first. Unlogged means that the log has concurrent cycles but none of
	// their pauses.
	Pauses   []int64
	Unlogged bool
	Stopped  float64 // share of the time, 0…1
	// Worst is the beginning of the stretch of length WorstOf (ns) with most stopped time, and the stopped share of it; 0 for a recording that is
	// not much longer.
	Worst, WorstOf int64
	WorstShare     float64

	Kinds  []Pauses // by the collector's own names, longest total first
	Causes []Pauses // collections by cause; nil: unknown

	Alloc, Promoted      float64 // bytes/s
	Live, Goal, Capacity float64 // bytes
}

// Pauses are stops of the world with something in common.
type Pauses struct {
	Name               string
	Count              int
	Total, Mean, Worst int64 // ns
	P99                int64 // ns, 0: too few
}

// enoughForP99 is the number of pauses that a 99th percentile needs.
const enoughForP99 = 100

// Worst stretches are listed for recordings this many times as long.
const (
	stretch      = 60e9 // ns
	muchLonger   = 5
	mostPauseRow = 15
)

// summarizeCollector sets what the subject's collector did; it stays nil if the collector was not
// watched.
func (l *layout) summarizeCollector() {
	r := platform.ByID(l.b.Subjects[l.subject].Runtime)
	if r.ReadCollector == nil {
		return
	}
	g := r.ReadCollector(l.b, l.subject, metrics.Scope{Whole: true})
	if g == nil || g.Span <= 0 || len(g.Pauses)+len(g.Cycles) == 0 && !g.Unlogged() {
		return
	}
	c := &Collected{Name: cmp.Or(g.Name, r.Collector), From: g.From, To: g.Until, Watched: g.Span, Unlogged: g.Unlogged(),
		Rate: g.Rate.Number, Stopped: g.Stopped.Number, Alloc: g.Alloc.Number, Promoted: g.Promoted.Number, Live: g.Live.Number, Goal: g.Goal.Number, Capacity: g.Capacity.Number}
	if g.Logged.Known() { // the pauses beside it are those of recorded collections
		c.Rate = g.Logged.Number
	}
	c.Source = l.originName(g.Origin)
	if a, ok := g.Origin.Artifact(); ok {
		c.Source = l.nameOf(l.piecesOf(a))
	}
	kinds, causes := make(pausesBy), make(pausesBy)
	for _, p := range g.Pauses {
		c.Pauses = append(c.Pauses, p.To-p.From)
		kinds.addPause(g.NameOf(p), p.To-p.From)
		causes.addPause(g.TriggerOf(p), p.To-p.From)
	}
	slices.Sort(c.Pauses)
	if g.Span*1e9 > muchLonger*stretch && len(g.Pauses) > 0 {
		at, stopped := g.Pauses.Worst(stretch)
		c.Worst, c.WorstOf, c.WorstShare = at, stretch, float64(stopped)/stretch
	}
	c.Kinds, c.Causes = kinds.summarizeGroups(), causes.summarizeGroups()
	switch {
	case r.Generations != nil:
		l.ofGenerations(c, r.Generations(l.b, l.subject, g.Window))
	case len(c.Causes) == 0:
		c.Causes = l.ofCycles(g)
	}
	l.t.Collected = c
}

// ofGenerations fills in why each collection came and what was allocated and promoted, from a
// runtime that reports it.
func (l *layout) ofGenerations(c *Collected, g *metrics.DotnetGC) {
	if g == nil {
		return
	}
	by := make(pausesBy)
	var promoted float64
	told := false
	for i := range g.Collections {
		x := &g.Collections[i]
		name := "generation " + string(rune('0'+x.Generation))
		if x.Reason != "" {
			name += ", " + x.Reason
		}
		by.addPause(name, int64(x.Pause*1e9))
		if x.Generation < 2 && x.Promoted >= 0 {
			promoted, told = promoted+x.Promoted, true
		}
	}
	c.Causes = by.summarizeGroups()
	if g.Alloc.Known() {
		c.Alloc = g.Alloc.Number
	}
	if told && g.Span > 0 {
		c.Promoted = promoted / g.Span
	}
}

// ofCycles groups cycles into those the pacer began and those that were forced, with all their
// pauses; nil if none was forced, except for Go.
func (l *layout) ofCycles(g *metrics.Collector) []Pauses {
	by := make(pausesBy)
	n := 0
	forced := false
	for _, x := range g.Cycles {
		name := "the heap had reached its goal"
		if x.Forced {
			name, forced = "forced: by the program, or after two minutes without one", true
		}
		var sum int64
		for n < len(g.Pauses) && g.Pauses[n].From < x.From {
			n++
		}
		for k := n; k < len(g.Pauses) && g.Pauses[k].From <= x.To; k++ {
			sum += g.Pauses[k].To - g.Pauses[k].From
		}
		by.addPause(name, sum)
	}
	if !forced && l.t.Lanes != "goroutine" {
		return nil
	}
	return by.summarizeGroups()
}

// pausesBy gathers the lengths (ns) of pauses by what they have in common.
type pausesBy map[string][]int64

func (p pausesBy) addPause(name string, ns int64) {
	if name != "" {
		p[name] = append(p[name], ns)
	}
}

// summarizeGroups returns the statistics of each group, the longest total first.
func (p pausesBy) summarizeGroups() (out []Pauses) {
	for name, ns := range p {
		slices.Sort(ns)
		x := Pauses{Name: name, Count: len(ns), Worst: ns[len(ns)-1]}
		for _, v := range ns {
			x.Total += v
		}
		x.Mean = x.Total / int64(len(ns))
		if len(ns) >= enoughForP99 {
			x.P99 = stats.Quantile(ns, .99)
		}
		out = append(out, x)
	}
	sorting.Short(out, func(a, b Pauses) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name)) })
	return out[:min(len(out), mostPauseRow)]
}

// addCycleCharts adds what cycles show over time, for runtimes whose pauses do not: how fast the
// heap filled and, for .NET, what each collection found, left and promoted.
func (l *layout) addCycleCharts() {
	r := platform.ByID(l.b.Subjects[l.subject].Runtime)
	rows, artifacts, looked := l.listIntervals(evidence.GCCycle, evidence.CoverGC)
	if len(rows) < 2 || r.ReadCollector == nil || l.hasChart("allocation") {
		return
	}
	source := l.nameOf(artifacts)
	if r.Generations != nil {
		l.byGeneration(r.Generations(l.b, l.subject, metrics.Window{From: l.t.From, Until: l.t.To}), source)
		return
	}
	v := &l.b.Intervals
	get := func(row int, k evidence.Key) float64 {
		if x, ok := v.Get(row, k); ok {
			return x
		}
		return math.NaN()
	}
	c := Curve{ID: "allocated", Title: "allocated, from one GC cycle to the next", Source: source}
	for n, i := range rows[1:] {
		last := rows[n]
		if v.End[i] < l.t.From || v.Start[last] > l.t.To {
			continue
		}
		grown := get(i, evidence.HeapAfter) - get(last, evidence.HeapLive)
		took := float64(v.End[i]-v.End[last]) / 1e9
		if !(grown >= 0) || took <= 0 || !looked.containsTime(v.End[last]) {
			grown, took = math.NaN(), 1
		}
		c.appendPoint(v.End[last], grown/took)
	}
	if n := len(c.T); n > 0 {
		c.appendPoint(v.End[rows[len(rows)-1]], math.NaN())
	}
	chart := Chart{ID: "allocation", Title: "allocation rate", Unit: "bytes/s"}
	chart.addCurve(l.decimateCurve(c))
	l.addChart(chart)
}

// hasChart says whether the timeline has a chart of this id.
func (l *layout) hasChart(id string) bool {
	return slices.ContainsFunc(l.t.Charts, func(c Chart) bool { return c.ID == id })
}

// byGeneration draws what .NET reports of each collection.
func (l *layout) byGeneration(g *metrics.DotnetGC, source string) {
	if g == nil {
		return
	}
	used := Curve{ID: "used", Title: "heap, at each collection", Source: source, Sloped: true}
	after := Curve{ID: "after", Title: "after a collection", Source: source}
	rates := []*Curve{{ID: "allocated", Title: "allocated", Source: source}, {ID: "promoted", Title: "promoted", Source: source}}
	var last int64
	for i := range g.Collections {
		x := &g.Collections[i]
		if x.Before > 0 && x.After > 0 {
			used.appendPoint(x.From, x.Before)
			used.appendPoint(x.To, x.After)
			after.appendPoint(x.To, x.After)
		}
		if i > 0 && x.From > last {
			took := float64(x.From-last) / 1e9
			rates[0].appendPoint(last, x.Allocated/took)
			if x.Generation < 2 {
				rates[1].appendPoint(last, x.Promoted/took)
			}
		}
		last = x.To
	}
	heap := Chart{ID: "collected", Title: "heap before and after collections", Unit: "bytes"}
	heap.addCurve(l.decimateCurve(used))
	heap.addCurve(l.decimateCurve(after))
	l.addChart(heap)
	for i, c := range []Chart{{ID: "allocation", Title: "allocation rate", Unit: "bytes/s"}, {ID: "promotion", Title: "promotion rate", Unit: "bytes/s"}} {
		if len(rates[i].T) > 0 {
			rates[i].appendPoint(last, math.NaN())
		}
		c.addCurve(l.decimateCurve(*rates[i]))
		l.addChart(c)
	}
}
