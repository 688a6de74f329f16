package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// DotnetGC is what the events of a .NET process tell of its collections over a window: what PerfView's GCStats shows, and
// which code caused collections. Sizes are bytes; times are ns where they are integers, and seconds where they are [Value]s
// or named so.
//
// Its opinion: a pause is charged to the collection it was for, and a background collection has two. The time since the last
// collection counts from the end of its last pause. Heap sizes before and after are known only with the runtime's histories
// (.NET Core 3.0 on), else NaN.
type DotnetGC struct {
	Window
	Span   float64         // s of it that were watched
	Lost   int64           // events that were lost: counts and sums are lower bounds if there are any
	Unseen int             // collections between sessions recorded in turn, known only by their missing numbers
	Origin evidence.Origin // the artifact with the events

	Collections []Collection                // by their beginning
	Generations [evidence.Gen2 + 1]GCRollup // by the generation that was collected
	All         GCRollup
	Reasons     []GCReason    // why they ran, most pause time first
	Condemned   []GCCondemned // why that generation and not a lower one was collected, most collections first
	Triggers    []GCTrigger   // the calls or allocations that caused them, most pause time first

	Paused      Value     // s of all pauses
	Share       Value     // of the window, 0…1: % time in GC
	Longest     Value     // pause, s
	Suspending  Value     // s until all threads had stopped, in total
	Resuming    Value     // s in which threads were resumed, in total: GC.GetTotalPauseDuration includes them
	Alloc       Value     // bytes/s, from the counter, else from the heap's growth between collections
	LargeAlloc  Value     // bytes/s on the large object heap, from its growth between collections
	LargeWaits  []GCWait  // waits of threads for large objects during background collections of generation 2
	LargeWaited bool      // LargeWaits were watched: if not, their absence means nothing
	Server      bool      // server GC: a heap per CPU
	Heaps       Value     // number of heaps
	MemoryLoad  Value     // the highest percentage of memory in use that the runtime saw
	Heap        HeapTrend // over time
}

// Collection is one collection. Unknown figures are NaN.
type Collection struct {
	Row        int   // of the bundle's intervals
	Number     int64 // the runtime's number
	From, To   int64 // from GCStart to GCEnd: a background collection runs mostly beside the program
	Generation int   // 0 to 2; 2 includes the large and pinned objects
	Kind       evidence.Collection
	Reason     string // "induced", "large allocations"; "" unknown
	Induced    bool   // the program, or a tool, asked for it

	Pause      float64 // s, total of its pauses
	Suspend    float64 // s of Pause, until all threads had stopped
	PauseShare float64 // of the time since the end of the last collection's last pause, 0…1

	Before, After, Promoted float64 // bytes of the whole heap
	Free                    float64 // bytes between objects after the collection: fragmentation
	Allocated               float64 // bytes since the last collection
	LargeAllocated          float64 // of Allocated, on the large object heap
	Gen                     [evidence.Generations]GCSizes
	Pinned, Handles         float64 // objects that it must not move; GC handles
	Finalizable             float64 // bytes kept only for their finalizers
	Compacting              bool
	MemoryLoad              float64 // percent
	Budget                  float64 // bytes that generation 0 may grow until the next collection
	Condemned               []evidence.CondemnReason
	Stack                   evidence.StackID // of the thread that caused the collection, 0 unknown
	Origin                  evidence.Origin
}

// GCSizes are the sizes of one generation at a collection, bytes: its size before and after, the free space between its
// objects, and how much of it survived.
type GCSizes struct{ Before, Gaps, After, Free, Survived float64 }

// allocatedSince returns the bytes allocated in a generation since an earlier collection.
func (s GCSizes) allocatedSince(last GCSizes) float64 {
	return math.Max(0, (s.Before-s.Gaps)-(last.After-last.Free))
}

// Survival returns the share of a generation that a collection kept, NaN unknown.
func (s GCSizes) Survival() float64 {
	if !(s.Before-s.Gaps > 0) {
		return math.NaN()
	}
	return s.Survived / (s.Before - s.Gaps)
}

// Label returns the collection as PerfView names it: the generation and N (blocking), B (background), F (during a background
// one), I (induced, forced) or i (induced, not forced).
func (c *Collection) Label() string {
	letter := map[evidence.Collection]string{evidence.CollectionBlocking: "N", evidence.CollectionBackground: "B", evidence.CollectionForeground: "F"}[c.Kind]
	switch {
	case c.Induced && c.Reason == InducedSoftly:
		letter = "i"
	case c.Induced:
		letter = "I"
	}
	return string(rune('0'+c.Generation)) + letter
}

// InducedSoftly is the reason of collections by GC.Collect with mode Optimized or without blocking, where the runtime decides, and by GC.AddMemoryPressure.
const InducedSoftly = "induced, not forced"

// GCRollup sums up collections.
type GCRollup struct {
	Count, Background, Induced int
	Paused, Mean, Max          float64 // s of pauses, per collection
	MaxOrigin                  evidence.Origin
	Allocated                  float64 // bytes allocated before them, each since the previous collection of any generation
	Survived, Of               float64 // bytes of surviving objects in the collected generations, and the total they survived from
	MaxPeak                    float64 // bytes, the largest heap at the beginning of a collection
	Pinned                     float64 // mean number of objects per collection
}

// Survival returns the share of the collected generations that survived, NaN unknown.
func (r *GCRollup) Survival() float64 {
	if !(r.Of > 0) {
		return math.NaN()
	}
	return r.Survived / r.Of
}

// GCReason sums collections by the runtime's reason.
type GCReason struct {
	Reason string
	Gen2   int // of them, of generation 2
	GCRollup
}

// GCCondemned counts collections by why their generation was chosen.
type GCCondemned struct {
	Reason evidence.CondemnReason
	Count  int
	Gen2   int // of them, of generation 2
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

// Seconds returns how long the thread waited.
func (w GCWait) Seconds() float64 { return float64(w.To-w.From) / 1e9 }

// ReadDotnetGC reads the collections of a process that begin within a window; nil: they were not watched.
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

// readCollections reads the collections, and what each allocated since the previous one.
func (g *DotnetGC) readCollections(b *evidence.Bundle, subject evidence.SubjectID) {
	v := &b.Intervals
	seen := make(map[int64]int64) // ns: when each number began; two sessions may have the same one
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
	sorting.Short(byEnd, func(x, y *Collection) int { return cmp.Compare(x.To, y.To) })
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

// countMissing counts the missing numbers between the first and the last; 0 where another process restarts the numbering.
func countMissing(began map[int64]int64) (n int) {
	delete(began, -1) // -1 is unknown
	numbers := slices.Sorted(maps.Keys(began))
	for i := 1; i < len(numbers); i++ {
		if began[numbers[i]] < began[numbers[i-1]]-restarted {
			return 0
		}
		n += int(numbers[i] - numbers[i-1] - 1)
	}
	return n
}

// restarted is how much earlier (ns) than the previous one a collection begins if another process numbered it. A collection
// that began between two sessions is known only by the beginning of the second.
const restarted = 1e9

// sameCollection is how far apart (ns) two sessions' clocks may place the same moment.
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
		Stack: v.Stack.At(row), Origin: v.Origin.At(row)}
	for i := range c.Gen {
		c.Gen[i] = GCSizes{of(evidence.GenBefore.In(i)), of(evidence.GenGaps.In(i)), of(evidence.GenAfter.In(i)), of(evidence.GenFree.In(i)), of(evidence.GenSurvived.In(i))}
	}
	if bits := of(evidence.CondemnReasons); bits > 0 {
		c.Condemned = evidence.CondemnReasonsOf(bits)
	}
	return c
}

// intOr returns a figure as an integer, or a default where it is not known.
func intOr(v float64, unknown int64) int64 {
	if math.IsNaN(v) {
		return unknown
	}
	return int64(v)
}
