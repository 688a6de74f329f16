package metrics

import (
	"cmp"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Collector is what a process's garbage collector did over a window. It is the same for all runtimes; a figure that a
// runtime does not have, or that its source does not give, is [Unknown].
type Collector struct {
	Window                 // of the figures
	Span   float64         // s of the window that were watched
	Name   string          // [evidence.FactCollector]; "" unknown
	Origin evidence.Origin // of the artifact with most figures
	Placed bool            // its clock can be joined with others
	All    Pauses          // of the whole recording
	Pauses Pauses          // of the window
	Cycles []Cycle         // of the window, in order
	// Missing is how many cycles of the window the log skips, by the runtime's numbers. Their time does not count as
	// watched; Go.
	Missing float64

	// Frequency and length, of the window. Go's cycles are those that the pacer started; a JVM's are the collections of any
	// generation that stop the world, and the cycles of fully concurrent collectors; .NET's are of every generation.
	Rate    Value // collections per second
	Logged  Value // of those that were recorded one by one, where Rate is by counters; Go
	Full    Value // of Rate, collections of the whole heap per second: .NET's generation 2. Go has no others: unknown
	Stopped Value // share of the time in which the world was stopped, 0…1
	Longest Value // pause, s
	Marking Value // share of the time in which a cycle marked, 0…1; Go

	// Memory.
	Live     Value // median bytes left after collections of the whole heap
	Goal     Value // median bytes at which the next cycle is to end; Go
	Capacity Value // bytes: the heap's maximum, else its size; JVM
	Alloc    Value // bytes/s
	Each     Value // mean bytes allocated from one collection to the next; JVM
	Promoted Value // bytes/s into the old generation; JVM

	// Processors. On a host that does not run the process, time on them is not CPU time.
	Assist     Value // s/s of mark assists; Go
	Background Value // s/s of dedicated and fractional mark workers; Go
	Idle       Value // s/s of mark workers on otherwise idle processors; Go
	Share      Value // of the process's CPU time, from a profile, 0…1; Go
	PauseCPU   Value // s/s of CPU time in pauses, all the collector's threads; JVM
	Processors Value // processors that the runtime may use

	bundle   *evidence.Bundle
	subject  evidence.SubjectID
	covers   string // the coverage that must exist: evidence.CoverGC, else evidence.CoverSafepoints
	withheld Withheld
	source   evidence.ArtifactID // of the requests read beside it, -1 none
	began    []int64             // when the collections that Rate counts began
}

// Beside holds the requests that a collector is read beside.
type Beside struct {
	Window
	Source evidence.ArtifactID // the source of the requests
	Clock  evidence.ClockID
}

// Scope says over which time a collector is read.
type Scope struct {
	Beside *Beside // the time of these requests; nil: no requests
	// Whole asks for the longest recording of the collector, with all its pieces and the process's start, and for counters:
	// runs are compared by that.
	Whole bool
}

// requestSource returns the artifact whose requests count, -1 without requests.
func (s Scope) requestSource() evidence.ArtifactID {
	if s.Beside == nil {
		return -1
	}
	return s.Beside.Source
}

// CollectorReader reads the collector of a runtime; nil: it was not watched.
type CollectorReader func(*evidence.Bundle, evidence.SubjectID, Scope) *Collector

// newCollector returns a collector with all figures unknown.
func newCollector(b *evidence.Bundle, subject evidence.SubjectID, source evidence.ArtifactID) *Collector {
	g := &Collector{bundle: b, subject: subject, covers: evidence.CoverGC, source: source}
	for _, v := range g.listValues() {
		*v = Unknown
	}
	if f, ok := g.findFact(evidence.FactCollector); ok {
		g.Name = f.Value
	}
	return g
}

func (g *Collector) listValues() []*Value {
	return []*Value{&g.Rate, &g.Logged, &g.Full, &g.Stopped, &g.Longest, &g.Marking, &g.Live, &g.Goal, &g.Capacity, &g.Alloc, &g.Each, &g.Promoted,
		&g.Assist, &g.Background, &g.Idle, &g.Share, &g.PauseCPU, &g.Processors}
}

// valueOf makes a value of a figure for the watched time.
func (g *Collector) valueOf(v float64) Value {
	return Value{Number: v, Origin: g.Origin, Watched: g.Span / max(g.Window.Seconds(), 1e-9)}
}

// findFact returns a fact from the artifact of the requests, else from any other.
func (g *Collector) findFact(key string) (evidence.Fact, bool) {
	return g.bundle.FactFrom(g.source, g.subject, key)
}

// look is what one artifact shows of a collector.
type look struct {
	artifact evidence.ArtifactID
	clock    evidence.Clock
	Window
	pauses Pauses
}

// listLooks returns the artifacts that watched the collector: first those whose clock can be joined with others, then by
// length.
func (g *Collector) listLooks() (all []*look) {
	b := g.bundle
	of := make(map[evidence.ArtifactID]*look)
	for _, w := range b.Covered(g.subject, g.covers) {
		a, ok := w.Origin.Artifact()
		if !ok || w.Until <= w.From || !Stamped(b.Clocks[w.Clock]) {
			continue
		}
		x := of[a]
		if x == nil {
			x = &look{artifact: a, clock: b.Clocks[w.Clock], Window: Window{w.From, w.Until}}
			of[a] = x
			all = append(all, x)
		}
		x.From, x.Until = min(x.From, w.From), max(x.Until, w.Until)
	}
	v := &b.Intervals
	for _, i := range v.Select(evidence.StopTheWorld, g.subject) {
		a, _ := v.Origin.At(i).Artifact()
		if x := of[a]; x != nil {
			k, _ := v.PauseOf(i)
			for from, to := range v.EachPause(i) {
				x.pauses = append(x.pauses, Pause{Row: i, From: from, To: to, Of: k})
			}
		}
	}
	// A collector that only a counter reports for a running process has no pauses to show.
	sorting.Short(all, func(x, y *look) int {
		return cmp.Or(-compareBool(x.clock.Anchored(), y.clock.Anchored()), cmp.Compare(min(1, len(y.pauses)), min(1, len(x.pauses))), cmp.Compare(y.Until-y.From, x.Until-x.From))
	})
	return all
}

// Stamped is false for the clock of a log without time stamps: its pauses follow each other, and the time between them is
// unknown.
func Stamped(c evidence.Clock) bool { return c.Anchored() || c.Resolution > 0 }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// readPauses reads the pauses from all artifacts; false if none watched the collector. Where several artifacts have the same
// pauses, the one with the better clock counts, and others add pauses from times that it does not cover. The window is that
// of the requests where their clock can be joined with the collector's, else all of the watched time.
func (g *Collector) readPauses(beside *Beside) bool {
	all := g.listLooks()
	if len(all) == 0 {
		return false
	}
	g.Placed = all[0].clock.Anchored()
	g.Origin = evidence.NewOrigin(all[0].artifact, 0)
	var looked Spans
	for i, w := range all {
		if i > 0 && w.clock.Anchored() != g.Placed {
			continue // their offset is unknown
		}
		for _, p := range w.pauses {
			if looked.Within(p.From, p.From+1) == 0 {
				g.All = append(g.All, p)
			}
		}
		looked = looked.withSpan(w.From, w.Until)
	}
	sorting.Short(g.All, func(a, b Pause) int { return cmp.Compare(a.From, b.From) })
	g.Window = Window{looked[0].From, looked[len(looked)-1].To}
	watched := looked.Within(g.From, g.Until)
	if beside != nil && g.Placed && g.bundle.Clocks[beside.Clock].Anchored() {
		from, until := max(g.From, beside.From), min(g.Until, beside.Until)
		if part := looked.Within(from, until); part > (beside.Until-beside.From)/4 {
			g.Window, watched = Window{from, until}, part
		}
	}
	g.Span = float64(watched) / 1e9
	g.Pauses = g.All.beginningIn(g.Window)
	g.Stopped = g.valueOf(g.ShareOf(g.Pauses))
	if g.Placed {
		g.withheld = WithheldFrom(g.bundle, g.subject, g.All.Spans())
	}
	g.noteLongest()
	return true
}

// Meets reports whether the collector's work can be laid over the requests; nil: there are none.
func (g *Collector) Meets(r *Beside) bool {
	if r == nil {
		return false
	}
	for _, w := range g.bundle.Covered(g.subject, g.covers) {
		if w.Until > r.From && w.From < r.Until && (w.Clock == r.Clock || g.Placed && g.bundle.Clocks[r.Clock].Anchored()) {
			return true
		}
	}
	return false
}

// noteLongest notes the longest pause of the window, where pauses were read.
func (g *Collector) noteLongest() {
	if most := g.Pauses.Longest(); len(g.Pauses) > 0 {
		g.Longest = g.valueOf(most.Seconds())
		g.Longest.Origin = g.OriginOf(most)
	}
}

// PerSecond returns how many of some pauses there were per second of the window.
func (g *Collector) PerSecond(p Pauses) float64 {
	if g.Span <= 0 {
		return 0
	}
	return float64(len(p)) / g.Span
}

// ShareOf returns the share of the window in which some pauses stopped the world.
func (g *Collector) ShareOf(p Pauses) float64 {
	if g.Span <= 0 {
		return 0
	}
	return p.Seconds() / g.Span
}

// PauseTime returns the total of some pauses, s, without the time for which the host withheld processors.
func (g *Collector) PauseTime(p Pauses) (sum float64) {
	for _, x := range p {
		sum += x.Seconds() * (1 - g.withheld.Part(x.From, x.To))
	}
	return sum
}

// Get returns a figure of a pause, NaN if its source does not give it.
func (g *Collector) Get(p Pause, k evidence.Key) float64 {
	return figureOrNaN(&g.bundle.Intervals, p.Row, k)
}

// figureOrNaN returns a figure of a row, NaN if its source does not give it.
func figureOrNaN(v *evidence.Intervals, row int, k evidence.Key) float64 {
	if x, ok := v.Get(row, k); ok {
		return x
	}
	return math.NaN()
}

// NameOf is the collector's own name of a pause, "ParNew"; "" unknown.
func (g *Collector) NameOf(p Pause) string {
	return g.bundle.Names.Text(g.bundle.Intervals.Cause.At(p.Row))
}

// TriggerOf is why the collector ran, "Allocation Failure"; "" unknown.
func (g *Collector) TriggerOf(p Pause) string {
	return g.bundle.Names.Text(g.bundle.Intervals.NameOf(p.Row, evidence.Trigger))
}

// FailureOf is what went wrong in a pause, "promotion failed"; "" unknown.
func (g *Collector) FailureOf(p Pause) string {
	return g.bundle.Names.Text(g.bundle.Intervals.NameOf(p.Row, evidence.Failure))
}

// OriginOf is where a pause was read from.
func (g *Collector) OriginOf(p Pause) evidence.Origin { return g.bundle.Intervals.Origin.At(p.Row) }

// Is reports whether the collector's name contains a word: "CMS", "G1", "ZGC".
func (g *Collector) Is(word string) bool { return strings.Contains(g.Name, word) }
