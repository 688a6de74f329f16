package metrics

import (
	"cmp"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// JVMCollector reads the pauses of a JVM from its logs, over the requests' time where the clocks can be joined, else over
// the whole log. A run as a whole is read the same way.
func JVMCollector(b *evidence.Bundle, subject evidence.SubjectID, scope Scope) *Collector {
	g := newCollector(b, subject, scope.requestSource())
	if !g.readPauses(scope.Beside) {
		return nil
	}
	collections := g.Pauses.Of(evidence.PauseYoung, evidence.PauseMixed, evidence.PauseFull, evidence.PauseDegenerated)
	if len(g.All.Of(evidence.PauseYoung, evidence.PauseMixed)) == 0 { // ZGC, Shenandoah: each cycle has such a pause
		collections = g.Pauses.Of(evidence.PauseInitialMark, evidence.PauseFull)
	}
	for _, p := range collections {
		g.began = append(g.began, p.From)
	}
	g.Rate = g.valueOf(g.PerSecond(collections))
	if g.Unlogged() {
		g.cyclesAlone()
	}
	g.Full = g.valueOf(g.PerSecond(g.Pauses.Of(evidence.PauseFull)))
	g.Capacity = g.valueOf(g.heapCapacity())
	g.Live = g.medianLeft()
	g.heapRates()
	if !g.Alloc.Known() {
		g.Alloc = g.valueOf(g.allocatedBeside())
	}
	if user, system, _ := g.CPUOf(g.Pauses); !math.IsNaN(user) && g.Span > 0 {
		g.PauseCPU = g.valueOf((user + system) / g.Span)
	}
	if n := b.CPUsOf(subject); n > 0 {
		g.Processors = g.valueOf(float64(n))
	}
	return g
}

// JVMSafepoints returns the collector of a JVM of which only safepoints were watched: its collections are unknown. It
// returns nil where safepoints were not watched either.
func JVMSafepoints(b *evidence.Bundle, subject evidence.SubjectID, scope Scope) *Collector {
	g := newCollector(b, subject, scope.requestSource())
	g.covers = evidence.CoverSafepoints
	if !g.readPauses(scope.Beside) {
		return nil
	}
	g.Stopped, g.Longest = Unknown, Unknown
	return g
}

// Unlogged reports whether the log has the cycles of a concurrent collector but no pauses, as with -Xlog:gc alone for ZGC
// and Shenandoah: each cycle has pauses, so their absence means that they are unknown.
//
// A log that was searched only for stalls has neither.
func (g *Collector) Unlogged() bool {
	return len(g.All) == 0 && (len(g.concurrentRows()) > 0 || len(g.bundle.Intervals.Select(evidence.AllocStall, g.subject)) > 0)
}

// cyclesAlone counts cycles without pauses.
func (g *Collector) cyclesAlone() {
	v := &g.bundle.Intervals
	g.Stopped, g.Longest = Unknown, Unknown
	for _, i := range g.concurrentRows() {
		if v.Start[i] >= g.From && v.Start[i] < g.Until {
			g.began = append(g.began, v.Start[i])
		}
	}
	if g.Rate = Unknown; g.Span > 0 && len(g.concurrentRows()) > 0 {
		g.Rate = g.valueOf(float64(len(g.began)) / g.Span)
	}
}

// heapRates reads allocation from the heap's growth between two pauses, and promotion from the old generation's growth in
// young collections.
func (g *Collector) heapRates() {
	var took float64
	for i := 1; i < len(g.Pauses); i++ {
		if p, q := g.Pauses[i-1], g.Pauses[i]; g.Between(p, q) >= 0 {
			took += float64(q.From-p.From) / 1e9
		}
	}
	if grown := g.Allocated(); took > 0 {
		g.Alloc, g.Each = g.valueOf(grown.Sum()/took), g.valueOf(grown.Sum()/float64(len(grown.V)))
	}
	// What the first collection promoted was allocated before the counted time.
	if promoted := g.Promotions(); len(promoted.V) > 1 {
		if d := float64(promoted.At[len(promoted.At)-1]-promoted.At[0]) / 1e9; d > 0 {
			g.Promoted = g.valueOf((promoted.Sum() - promoted.V[0]) / d)
		}
	}
}

// OldOf is [OldOf] of a pause.
func (g *Collector) OldOf(p Pause) (before, after float64) {
	return OldOf(&g.bundle.Intervals, p.Row)
}

// OldOf returns the old generation's size before and after the pause of a row, bytes; NaN where the source gives neither
// that nor the sizes of heap and young generation.
func OldOf(v *evidence.Intervals, row int) (before, after float64) {
	before, after = figureOrNaN(v, row, evidence.OldBefore), figureOrNaN(v, row, evidence.OldAfter)
	if math.IsNaN(before) || math.IsNaN(after) {
		before = figureOrNaN(v, row, evidence.HeapBefore) - figureOrNaN(v, row, evidence.YoungBefore)
		after = figureOrNaN(v, row, evidence.HeapAfter) - figureOrNaN(v, row, evidence.YoungAfter)
	}
	return before, after
}

// Between is [Grown] of pauses.
func (g *Collector) Between(p, q Pause) float64 { return Grown(&g.bundle.Intervals, p.Row, q.Row) }

// Grown returns the bytes allocated from the pause of a row to the next one; NaN unknown. A concurrent collector frees
// memory between two pauses: then only the young generation, which it leaves alone, tells.
func Grown(v *evidence.Intervals, row, next int) float64 {
	after, before := figureOrNaN(v, row, evidence.YoungAfter), figureOrNaN(v, next, evidence.YoungBefore)
	if math.IsNaN(after) || math.IsNaN(before) {
		after, before = figureOrNaN(v, row, evidence.HeapAfter), figureOrNaN(v, next, evidence.HeapBefore)
	}
	if before < after || v.Start[next] <= v.End[row] {
		return math.NaN()
	}
	return before - after
}

// CPUOf returns the time on processors in user mode and in the kernel of all the collector's threads in some pauses, and the
// wall time of the pauses that report it, s; NaN where none does.
func (g *Collector) CPUOf(p Pauses) (user, system, real float64) {
	told := 0
	for _, x := range p {
		u, s := g.Get(x, evidence.UserCPU), g.Get(x, evidence.SystemCPU)
		if math.IsNaN(u) || math.IsNaN(s) {
			continue
		}
		told++
		user += u / 1e9
		system += s / 1e9
		real += x.Seconds()
	}
	if told == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return user, system, real
}

// Flag returns a flag's value (bytes, counts), 0 where it is unknown.
func (g *Collector) Flag(flag string) float64 {
	if f, ok := g.findFact(flag); ok && f.Number > 0 {
		return f.Number
	}
	return 0
}

// heapCapacity returns the heap's maximum, else its size, bytes; NaN unknown.
func (g *Collector) heapCapacity() float64 {
	if m := g.Flag(evidence.FactMaxHeapSize); m > 0 {
		return m
	}
	most := math.NaN()
	for _, p := range g.All {
		if x := g.Get(p, evidence.HeapCapacity); !math.IsNaN(x) && !(x <= most) {
			most = x
		}
	}
	return most
}

// concurrentRows returns the rows of concurrent cycles that give the heap's size, in order, for a collector whose pauses do
// not give it.
func (g *Collector) concurrentRows() (rows []int) {
	v := &g.bundle.Intervals
	for _, i := range v.Select(evidence.GCConcurrent, g.subject) {
		if _, ok := v.Get(i, evidence.HeapAfter); ok {
			rows = append(rows, i)
		}
	}
	return rows
}

// allocatedBeside returns the allocation rate, bytes/s, of a collector whose pauses do not give the heap's size: from the
// growth between one cycle's end and the next one's beginning; NaN unknown.
func (g *Collector) allocatedBeside() float64 {
	v := &g.bundle.Intervals
	var grown, took, last float64
	var at int64
	for _, i := range g.concurrentRows() {
		before, ok := v.Get(i, evidence.HeapBefore)
		if !ok || v.Start[i] < g.From || v.End[i] > g.Until {
			continue
		}
		if at > 0 && v.Start[i] > at && before > last {
			grown += before - last
			took += float64(v.Start[i]-at) / 1e9
		}
		at, last = v.End[i], figureOrNaN(v, i, evidence.HeapAfter)
	}
	if took == 0 {
		return math.NaN()
	}
	return grown / took
}

// Left is the live heap after a collection of the old generation.
type Left struct {
	At     int64
	Bytes  float64
	Origin evidence.Origin
}

// FewLeft is the number of full collections up to which concurrent cycles tell the live heap instead.
const FewLeft = 6

// OldGenerationLeft returns the heap right after collections of the old generation, in order: after full ones, and for
// concurrent cycles the least heap after any pause from one cycle's end to the next one's beginning, when mixed collections
// or the sweep are done.
func (g *Collector) OldGenerationLeft() (all []Left) {
	v := &g.bundle.Intervals
	put := func(x Left) {
		if x.Bytes > 0 {
			all = append(all, x)
		}
	}
	for _, p := range g.All.Of(evidence.PauseFull) {
		put(Left{p.To, g.Get(p, evidence.HeapAfter), g.OriginOf(p)})
	}
	// Fully concurrent collectors give the heap of each cycle.
	for _, i := range g.concurrentRows() {
		// A young cycle leaves the old generation as it was.
		if name := g.bundle.Names.Text(v.Cause.At(i)); !strings.Contains(name, "Minor") && !strings.Contains(strings.ToLower(name), "young") {
			put(Left{v.End[i], figureOrNaN(v, i, evidence.HeapAfter), v.Origin.At(i)})
		}
	}
	if ends := g.markEnds(); len(all) < FewLeft && len(ends) > 0 {
		all = all[:0]
		for n, from := range ends {
			until := int64(math.MaxInt64)
			if n+1 < len(ends) {
				until = ends[n+1]
			}
			if least := g.leastHeap(Window{from, until}); !math.IsInf(least.Bytes, 1) {
				put(least)
			}
		}
	}
	sorting.Short(all, func(a, b Left) int { return cmp.Compare(a.At, b.At) })
	return all
}

// markEnds returns when concurrent cycles had marked the live objects (ns): after that the old generation is swept, or
// collected by mixed pauses.
func (g *Collector) markEnds() (ends []int64) {
	for _, p := range g.All.Of(evidence.PauseRemark) {
		if len(ends) == 0 || p.To > ends[len(ends)-1] {
			ends = append(ends, p.To)
		}
	}
	return ends
}

// leastHeap returns the least heap after any pause of a window, without the young generation that a young collection leaves.
func (g *Collector) leastHeap(w Window) Left {
	least := Left{Bytes: math.Inf(1)}
	for _, p := range g.All.beginningIn(w) {
		_, after := g.OldOf(p)
		if math.IsNaN(after) {
			after = g.Get(p, evidence.HeapAfter)
		}
		if after < least.Bytes {
			least = Left{p.To, after, g.OriginOf(p)}
		}
	}
	return least
}

// medianLeft returns the median heap after collections of the old generation in the window.
func (g *Collector) medianLeft() Value {
	var all []float64
	var last evidence.Origin
	for _, x := range g.OldGenerationLeft() {
		if x.At >= g.From && x.At < g.Until {
			all, last = append(all, x.Bytes), x.Origin
		}
	}
	v := g.medianValue(all)
	v.Origin = last
	return v
}
