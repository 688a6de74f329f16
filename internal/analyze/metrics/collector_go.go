package metrics

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// manyCycles is how many cycles a log must have for its first third to be left out: the process's start, in which the heap
// grows to its size.
const manyCycles = 12

// GoCollector reads the cycles of a Go process from one artifact. A trace comes before a log, because requests met what a
// trace saw, and the requests' trace before others; else the longest artifact. Of a log that shows a process's start it
// leaves out the first third. For a whole run (see [Scope]) it reads the longest recording: a log, a trace, or several short
// traces of one recording, in which the absence of cycles is a figure, too. Counts of runtime.MemStats come first there,
// because they cover the whole run.
func GoCollector(b *evidence.Bundle, subject evidence.SubjectID, scope Scope) *Collector {
	if scope.Whole {
		return wholeGo(b, subject, scope)
	}
	traced := b.Covered(subject, evidence.CoverStates)
	isTrace := func(a evidence.ArtifactID) bool {
		return slices.ContainsFunc(traced, func(w evidence.Coverage) bool { return artifactOf(w) == a })
	}
	best := evidence.ArtifactID(-1)
	var cover evidence.Coverage
	for _, w := range b.Covered(subject, evidence.CoverGC) {
		a := artifactOf(w)
		better := best < 0 || w.Until-w.From > cover.Until-cover.From
		if len(traced) > 0 {
			better = best < 0 || isTrace(a) && (!isTrace(best) || a == scope.requestSource())
		}
		if better {
			best, cover = a, w
		}
	}
	if best < 0 || cover.Until <= cover.From {
		return nil
	}
	rows := cyclesOf(b, subject, best)
	w := Window{cover.From, cover.Until}
	if !isTrace(best) && len(rows) >= manyCycles && showsStart(b, rows[0]) {
		w.From += (w.Until - w.From) / 3
	}
	return readGo(b, subject, scope.requestSource(), best, rows, w)
}

// showsStart reports whether a log begins with the first cycles of a process, by the cycles' numbers.
func showsStart(b *evidence.Bundle, first int) bool {
	n, numbered := b.Intervals.Get(first, evidence.CycleNumber)
	return !numbered || n < manyCycles
}

// artifactOf returns the artifact that watched the collector, -1 where it is not known.
func artifactOf(w evidence.Coverage) evidence.ArtifactID {
	a, _ := w.Origin.Artifact()
	return a
}

// cyclesOf returns the cycles that one artifact saw.
func cyclesOf(b *evidence.Bundle, subject evidence.SubjectID, a evidence.ArtifactID) (rows []int) {
	v := &b.Intervals
	for _, i := range v.Select(evidence.GCCycle, subject) {
		if o, _ := v.Origin.At(i).Artifact(); o == a {
			rows = append(rows, i)
		}
	}
	return rows
}

// readGo reads what one artifact saw in a window.
func readGo(b *evidence.Bundle, subject evidence.SubjectID, source, a evidence.ArtifactID, rows []int, w Window) *Collector {
	g := newCollector(b, subject, source)
	g.Window, g.Span, g.Origin = w, w.Seconds(), evidence.NewOrigin(a, 0)
	g.subtractSkipped(rows)
	g.Placed = b.Clocks[clockOf(b, subject, a)].Anchored()
	g.goCycles(rows)
	v := &b.Intervals
	for _, i := range v.Select(evidence.StopTheWorld, subject) {
		if o, _ := v.Origin.At(i).Artifact(); o == a && strings.HasPrefix(b.Names.Text(v.Cause.At(i)), "GC ") {
			g.All = append(g.All, Pause{Row: i, From: v.Start[i], To: v.End[i]})
		}
	}
	g.Pauses = g.All.Where(func(p Pause) bool { return p.From >= w.From && p.From < w.Until })
	g.Stopped = g.valueOf(g.ShareOf(g.Pauses))
	g.noteLongest()
	return g
}

// clockOf returns the clock of an artifact that watched the collector.
func clockOf(b *evidence.Bundle, subject evidence.SubjectID, a evidence.ArtifactID) (clock evidence.ClockID) {
	for _, w := range b.Covered(subject, evidence.CoverGC) {
		if artifactOf(w) == a {
			clock = w.Clock
		}
	}
	return clock
}

// goCycles reads the figures that cycles give.
func (g *Collector) goCycles(rows []int) {
	v := &g.bundle.Intervals
	off := g.Off()
	var lives, goals []float64
	var allocated, mark, assist, background, idle, processors float64
	for _, i := range rows {
		if v.End[i] <= g.From || v.Start[i] >= g.Until {
			continue
		}
		x := cycleOf(v, i)
		if !x.Forced && x.From >= g.From {
			g.began = append(g.began, x.From)
		}
		if !(x.Goal > 0) && off {
			x.Goal = x.After // a trace gives only GOGC's goal, so take where cycles ended
		}
		if x.Live > 0 {
			lives = append(lives, x.Live)
		}
		if x.Goal > 0 {
			goals = append(goals, x.Goal)
		}
		mark, assist, background, idle = sumKnown(mark, x.Mark), sumKnown(assist, x.Assist), sumKnown(background, x.Background), sumKnown(idle, x.Idle)
		processors = max(processors, sumKnown(figureOrNaN(v, i, evidence.Processors)))
		if n := len(g.Cycles); n > 0 {
			if skipped, _ := skippedBetween(g.Cycles[n-1], x); skipped == 0 {
				allocated = sumKnown(allocated, x.allocatedSince(g.Cycles[n-1]))
			}
		}
		g.Cycles = append(g.Cycles, x)
	}
	g.Rate, g.Marking = g.valueOf((float64(len(g.began))+g.Missing)/g.Window.Seconds()), g.valueOf(mark/1e9/g.Span)
	if len(g.Cycles) == 0 || slices.ContainsFunc(g.Cycles, func(x Cycle) bool { return x.Assist >= 0 || x.Background >= 0 || x.Idle >= 0 }) { // logs before Go 1.5 do not have these
		for to, ns := range map[*Value]float64{&g.Assist: assist, &g.Background: background, &g.Idle: idle} {
			*to = g.valueOf(ns / (1e9 * g.Span))
		}
	}
	if processors = cmp.Or(processors, float64(g.bundle.Subjects[g.subject].CPUs)); processors > 0 {
		g.Processors = g.valueOf(processors)
	}
	g.Live, g.Goal = g.medianValue(lives), g.medianValue(goals)
	if n := len(g.Cycles); n >= 2 && allocated > 0 {
		if d := float64(g.Cycles[n-1].To-g.Cycles[0].To)/1e9 - (g.Window.Seconds() - g.Span); d > 0 {
			g.Alloc = g.valueOf(allocated / d)
		}
	}
}

// allocatedSince returns the bytes allocated from the end of the previous cycle to the end of this one; NaN unknown.
func (x Cycle) allocatedSince(last Cycle) float64 {
	if last.Live > 0 && x.After >= last.Live {
		return x.After - last.Live
	}
	return math.NaN()
}

func (g *Collector) medianValue(all []float64) Value {
	if len(all) == 0 {
		return Unknown
	}
	return g.valueOf(stats.Median(all))
}

// Off reports whether GOGC is off, so that only a memory limit starts cycles.
func (g *Collector) Off() bool {
	f, ok := g.findFact(evidence.FactGOGC)
	return ok && f.Number < 0
}

// Recording returns the whole recording that the collector was read from, with rates weighted by the length of its pieces,
// and the pieces in the order they were read: several short traces form one recording. A recording of one piece has only
// that.
func (g *Collector) Recording() (whole *Collector, pieces []*Collector) {
	b := g.bundle
	own, _ := g.Origin.Artifact()
	series := b.Artifacts[own].Series
	if series == "" {
		return g, []*Collector{g}
	}
	for _, w := range b.Covered(g.subject, evidence.CoverGC) {
		a := artifactOf(w)
		switch {
		case a == own:
			pieces = append(pieces, g)
		case a >= 0 && b.Artifacts[a].Series == series && w.Until > w.From:
			pieces = append(pieces, readGo(b, g.subject, g.source, a, cyclesOf(b, g.subject, a), Window{w.From, w.Until}))
		}
	}
	return joinPieces(pieces), pieces
}

// joinPieces averages the pieces of a recording weighted by their lengths; memory only over pieces that report it.
func joinPieces(pieces []*Collector) *Collector {
	g := *pieces[0]
	if len(pieces) == 1 {
		return &g
	}
	for _, p := range pieces[1:] {
		span, longest := g.Span+p.Span, g.Longest
		mean := func(to *Value, v Value, weight float64) {
			switch {
			case !to.Known():
				*to = v
			case v.Known():
				to.Number += weight * (v.Number - to.Number)
			}
		}
		for i, v := range p.listValues() {
			mean(g.listValues()[i], *v, p.Span/span)
		}
		if g.Longest = longest; !(longest.Number >= p.Longest.Number) && p.Longest.Known() {
			g.Longest = p.Longest
		}
		g.Missing += p.Missing
		g.Window, g.Span = Window{min(g.From, p.From), max(g.Until, p.Until)}, span
		g.began = slices.Concat(g.began, p.began)
		g.All, g.Pauses, g.Cycles = slices.Concat(g.All, p.All), slices.Concat(g.Pauses, p.Pauses), slices.Concat(g.Cycles, p.Cycles)
	}
	for _, v := range g.listValues() {
		if v.Known() {
			v.Watched = g.Span / g.Window.Seconds()
		}
	}
	g.Processors = mostProcessors(pieces)
	sorting.Short(g.Pauses, func(a, b Pause) int { return cmp.Compare(a.From, b.From) })
	return &g
}

// mostProcessors returns the largest number of processors of any piece.
func mostProcessors(pieces []*Collector) Value {
	v := Unknown
	for _, p := range pieces {
		if p.Processors.Known() && !(v.Number >= p.Processors.Number) {
			v = p.Processors
		}
	}
	return v
}

// wholeGo reads the longest recording of a process's collector, and what its counters and a CPU profile say of the whole
// run.
func wholeGo(b *evidence.Bundle, subject evidence.SubjectID, scope Scope) *Collector {
	g := longestGo(b, subject, scope.requestSource())
	watched := g != nil
	if !watched {
		g = newCollector(b, subject, scope.requestSource())
	}
	counted := g.readCounters()
	if p, ok := ProfileOf(b, subject); ok {
		g.Share = Value{Number: float64(p.GC) / float64(p.All), Origin: p.Origin, Watched: 1}
		if p.Span > g.Span {
			g.Assist = Value{Number: float64(p.Assist) / 1e9 / p.Span, Origin: p.Origin, Watched: 1}
		}
		return g
	}
	if !watched && !counted {
		return nil
	}
	return g
}

// longestGo reads the longest recording; nil: there is none.
func longestGo(b *evidence.Bundle, subject evidence.SubjectID, source evidence.ArtifactID) *Collector {
	covers := make(map[string][]evidence.Coverage)
	spans := make(map[string]int64)
	best := ""
	for _, w := range b.Covered(subject, evidence.CoverGC) {
		a := artifactOf(w)
		if a < 0 || w.Until <= w.From {
			continue
		}
		name := cmp.Or(b.Artifacts[a].Series, b.Artifacts[a].Name)
		covers[name] = append(covers[name], w)
		spans[name] += w.Until - w.From
		if best == "" || spans[name] > spans[best] {
			best = name
		}
	}
	var pieces []*Collector
	for _, w := range covers[best] {
		pieces = append(pieces, readGo(b, subject, source, artifactOf(w), cyclesOf(b, subject, artifactOf(w)), Window{w.From, w.Until}))
	}
	if len(pieces) == 0 {
		return nil
	}
	return joinPieces(pieces)
}

// readCounters reads what runtime.MemStats counted over a run, and reports whether it was read twice, as that needs.
func (g *Collector) readCounters() (any bool) {
	if cycles, ok := g.growthRate(evidence.FactNumGC); ok {
		forced, _ := g.growthRate(evidence.FactNumForcedGC)
		cycles.Number = max(0, cycles.Number-sumKnown(forced.Number))
		g.Logged, g.Rate, any = g.Rate, cycles, true
	}
	if bytes, ok := g.growthRate(evidence.FactTotalAlloc); ok {
		g.Alloc, any = bytes, true
	}
	return any
}

// growthRate returns the growth per second of a counter of runtime.MemStats between its first and its last reading; false if
// it was not read twice, or restarted.
func (g *Collector) growthRate(key string) (Value, bool) {
	var read []evidence.Fact
	for _, f := range g.bundle.Facts {
		if f.Subject == g.subject && f.Key == key && f.From > 0 && !math.IsNaN(f.Number) {
			read = append(read, f)
		}
	}
	if len(read) < 2 {
		return Unknown, false
	}
	sorting.Short(read, func(a, b evidence.Fact) int { return cmp.Compare(a.From, b.From) })
	first, last := read[0], read[len(read)-1]
	if last.From <= first.From || last.Number < first.Number {
		return Unknown, false
	}
	return Value{Number: (last.Number - first.Number) / (float64(last.From-first.From) / 1e9), Origin: last.Origin, Watched: 1}, true
}
