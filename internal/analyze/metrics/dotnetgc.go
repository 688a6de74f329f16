package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// DotnetGC is all that the events of a .NET process tell of its collections, over a window:
// what PerfView's GCStats shows, and who brought collections on. Sizes are bytes, times ns
// where they are integers and seconds where they are [Value]s or called so.
//
// Its opinion: a pause is charged to the collection it was for, a background one's are two; the
// time since the last collection counts from the end of the last pause; what heaps held before
// and after is known only where the runtime's histories came (.NET Core 3.0 on), else NaN.
type DotnetGC struct {
	Window
	Span   float64         // s of it that were watched
	Lost   int64           // events that were lost meanwhile: counts and sums are lower bounds
	Unseen int             // collections of which nothing was told, between sessions recorded in turn: their numbers are missing
	Origin evidence.Origin // of the artifact that tells of them

	Collections []Collection                // in order of their beginning
	Generations [evidence.Gen2 + 1]GCRollup // by the generation that was collected
	All         GCRollup
	Reasons     []GCReason    // why they came, most pause first
	Condemned   []GCCondemned // why that generation and not a lower one, most collections first
	Triggers    []GCTrigger   // whose call or allocation brought them on, most pause first

	Paused      Value     // s that the world was stopped for the collector, all pauses
	Share       Value     // of the window, 0…1: % time in GC
	Longest     Value     // pause, s
	Suspending  Value     // s until all threads had stopped, in all
	Resuming    Value     // s in which they were let run again: GC.GetTotalPauseDuration counts up to there
	Alloc       Value     // bytes/s, of the counter, else of the heap's growth between collections
	LargeAlloc  Value     // bytes/s on the large object heap, of its growth between collections
	LargeWaits  []GCWait  // of threads for large objects while generation 2 was collected in the background
	LargeWaited bool      // whether they were watched: without, none means nothing
	Server      bool      // server GC: a heap for each CPU
	Heaps       Value     // how many heaps
	MemoryLoad  Value     // the highest percentage of memory in use that the runtime saw
	Heap        HeapTrend // over time
}

// Collection is one collection. What is not known is NaN.
type Collection struct {
	Row        int   // of the bundle's intervals
	Number     int64 // as the runtime counts
	From, To   int64 // from GCStart to GCEnd: of a background one mostly beside the program
	Generation int   // 0 to 2; with 2 the large and pinned objects
	Kind       evidence.Collection
	Reason     string // "induced", "large allocations"; "" not told
	Induced    bool   // the program, or a tool, asked for it

	Pause      float64 // s, all its pauses
	Suspend    float64 // s of them until all threads had stopped
	PauseShare float64 // of the time since the last collection's last pause ended, 0…1

	Before, After, Promoted float64 // bytes of the whole heap
	Free                    float64 // bytes between objects after it: fragmentation
	Allocated               float64 // bytes since the last collection
	LargeAllocated          float64 // of them on the large object heap
	Gen                     [evidence.Generations]GCSizes
	Pinned, Handles         float64 // objects it must not move; GC handles
	Finalizable             float64 // bytes kept for their finalizers only
	Compacting              bool
	MemoryLoad              float64 // percent
	Budget                  float64 // bytes that generation 0 may take until the next one
	Condemned               []evidence.CondemnReason
	Stack                   evidence.StackID // of the thread that brought it on, 0 unknown
	Origin                  evidence.Origin
}

// GCSizes are those of one generation at a collection, bytes: what it took before and after,
// what lay free in it then, between its objects, and what of it was kept.
type GCSizes struct{ Before, Gaps, After, Free, Survived float64 }

// allocatedSince returns the bytes allocated in a generation since a collection before.
func (s GCSizes) allocatedSince(last GCSizes) float64 {
	return math.Max(0, (s.Before-s.Gaps)-(last.After-last.Free))
}

// Survival is the share of a generation that a collection kept, NaN unknown.
func (s GCSizes) Survival() float64 {
	if !(s.Before-s.Gaps > 0) {
		return math.NaN()
	}
	return s.Survived / (s.Before - s.Gaps)
}

// Label is the collection as PerfView names it: the generation and N (blocking), B (in the
// background), F (during one), I (induced, forced) or i (induced, not forced).
func (c *Collection) Label() string {
	letter := map[evidence.Collection]string{evidence.CollectionBlocking: "N", evidence.CollectionBackground: "B", evidence.CollectionForeground: "F"}[c.Kind]
	switch {
	case c.Induced && c.Reason == inducedSoftly:
		letter = "i"
	case c.Induced:
		letter = "I"
	}
	return string(rune('0'+c.Generation)) + letter
}

// inducedSoftly is GC.Collect in mode Optimized: the runtime decides.
const inducedSoftly = "induced, not forced"

// GCRollup sums collections.
type GCRollup struct {
	Count, Background, Induced int
	Paused, Mean, Max          float64 // s of pauses, per collection
	MaxOrigin                  evidence.Origin
	Allocated                  float64 // bytes allocated before them, since the last of any
	Survived, Of               float64 // bytes of objects in the collected generations that were kept, and of how many
	MaxPeak                    float64 // bytes, the largest heap at the beginning of one
	Pinned                     float64 // objects per collection, in the mean
}

// Survival is the share of the collected generations that was kept, NaN unknown.
func (r *GCRollup) Survival() float64 {
	if !(r.Of > 0) {
		return math.NaN()
	}
	return r.Survived / r.Of
}

// GCReason sums collections by the runtime's reason.
type GCReason struct {
	Reason string
	Gen2   int // of them of generation 2
	GCRollup
}

// GCCondemned counts collections by why their generation was chosen.
type GCCondemned struct {
	Reason evidence.CondemnReason
	Count  int
	Gen2   int // of them of generation 2
}

// GCWait is a thread that waited to allocate.
type GCWait struct {
	Row      int
	From, To int64
	Lane     evidence.LaneID
	Reason   string
	Stack    evidence.StackID
	Origin   evidence.Origin
}

// Seconds is how long it waited.
func (w GCWait) Seconds() float64 { return float64(w.To-w.From) / 1e9 }

// ReadDotnetGC reads the collections of a process that begin within a window; nil: nobody
// watched them.
func ReadDotnetGC(b *evidence.Bundle, subject evidence.SubjectID, w Window) *DotnetGC {
	var watched Spans
	g := &DotnetGC{}
	for _, c := range b.Covered(subject, evidence.CoverGC) {
		if c.Until <= c.From {
			continue
		}
		watched = watched.withSpan(c.From, c.Until)
		g.Lost += c.Lost
		if g.Origin == 0 {
			g.Origin = c.Origin
		}
	}
	if len(watched) == 0 {
		return nil
	}
	g.Window = Window{max(w.From, watched[0].From), min(w.Until, watched[len(watched)-1].To)}
	g.Span = float64(watched.Within(g.From, g.Until)) / 1e9
	if g.Span <= 0 {
		return nil
	}
	for _, v := range []*Value{&g.Alloc, &g.LargeAlloc, &g.Heaps, &g.MemoryLoad, &g.Longest, &g.Suspending, &g.Resuming} {
		*v = Unknown
	}
	g.readCollections(b, subject)
	g.readPauses(b, subject)
	g.sumCollections()
	g.largeWaits(b, subject)
	g.readAllocation(b, subject)
	g.Triggers = sumTriggers(b, subject, g.Collections)
	g.Heap = trendOf(g.Collections, g.LargeAlloc.Number)
	return g
}

func (g *DotnetGC) valueOf(v float64) Value {
	return Value{Number: v, Origin: g.Origin, Watched: g.Span / max(g.Seconds(), 1e-9)}
}

// readCollections reads the collections, and what each allocated since the one before.
func (g *DotnetGC) readCollections(b *evidence.Bundle, subject evidence.SubjectID) {
	v := &b.Intervals
	seen := make(map[int64]int64) // when each number began: two sessions may tell of the same
	for _, i := range v.Select(evidence.GCCycle, subject) {
		if v.Start[i] < g.From || v.Start[i] >= g.Until {
			continue
		}
		c := collectionOf(b, i)
		if at, again := seen[c.Number]; again && c.From-at < sameCollection {
			continue
		}
		seen[c.Number] = c.From
		g.Collections = append(g.Collections, c)
	}
	g.Unseen = countMissing(seen)
	byEnd := make([]*Collection, len(g.Collections))
	for i := range g.Collections {
		byEnd[i] = &g.Collections[i]
	}
	slices.SortStableFunc(byEnd, func(x, y *Collection) int { return cmp.Compare(x.To, y.To) })
	for i := range g.Collections {
		c := &g.Collections[i]
		n, _ := slices.BinarySearchFunc(byEnd, c.From, func(x *Collection, t int64) int { return cmp.Compare(x.To, t) })
		if n == 0 {
			continue
		}
		last := byEnd[n-1]
		c.LargeAllocated = c.Gen[evidence.LargeObjects].allocatedSince(last.Gen[evidence.LargeObjects])
		c.Allocated = c.Gen[evidence.Gen0].allocatedSince(last.Gen[evidence.Gen0]) + c.LargeAllocated
	}
}

// countMissing counts the numbers that are missing between the first and the last; none where
// another process counts from the beginning again.
func countMissing(began map[int64]int64) (n int) {
	delete(began, -1) // not told
	numbers := slices.Sorted(maps.Keys(began))
	for i := 1; i < len(numbers); i++ {
		if began[numbers[i]] < began[numbers[i-1]]-restarted {
			return 0
		}
		n += int(numbers[i] - numbers[i-1] - 1)
	}
	return n
}

// restarted is how much earlier (ns) than the one before it a collection begins that another process
// numbered: of one that began between two sessions only the second's beginning is known.
const restarted = 1e9

// sameCollection is how far apart two sessions' clocks may tell the same moment, ns.
const sameCollection = 50e6

func collectionOf(b *evidence.Bundle, row int) Collection {
	v := &b.Intervals
	of := func(k evidence.Key) float64 { return figureOrNaN(v, row, k) }
	c := Collection{Row: row, Number: intOr(of(evidence.CycleNumber), -1), From: v.Start[row], To: v.End[row],
		Generation: int(min(max(intOr(of(evidence.Generation), 0), 0), evidence.Gen2)), Kind: evidence.Collection(intOr(of(evidence.CollectionKind), 0)),
		Reason: b.Names.Text(v.NameOf(row, evidence.Trigger)), Induced: of(evidence.Forced) == 1,
		Pause: of(evidence.PauseTime) / 1e9, Suspend: of(evidence.ToSafepoint) / 1e9, PauseShare: math.NaN(),
		Before: of(evidence.HeapBefore), After: of(evidence.HeapAfter), Promoted: of(evidence.PromotedBytes), Free: of(evidence.FreeBytes),
		Allocated: math.NaN(), LargeAllocated: math.NaN(), Pinned: of(evidence.PinnedObjects), Handles: of(evidence.HandleCount),
		Finalizable: of(evidence.FinalizableBytes), Compacting: of(evidence.Compacting) == 1, MemoryLoad: of(evidence.MemoryLoad), Budget: of(evidence.GenBudget),
		Stack: v.Stack[row], Origin: v.Origin[row]}
	for i := range c.Gen {
		c.Gen[i] = GCSizes{of(evidence.GenBefore.In(i)), of(evidence.GenGaps.In(i)), of(evidence.GenAfter.In(i)), of(evidence.GenFree.In(i)), of(evidence.GenSurvived.In(i))}
	}
	if bits := of(evidence.CondemnReasons); bits > 0 {
		c.Condemned = evidence.CondemnReasonsOf(bits)
	}
	return c
}

// intOr returns a figure as an integer, or another number where it is not known.
func intOr(v float64, unknown int64) int64 {
	if math.IsNaN(v) {
		return unknown
	}
	return int64(v)
}
