package nettrace

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// history is the runtime's record of a collection at its end: of all heaps together, of
// each of them (as many as CPUs with server GC), of the live bytes by root, and of the
// heap after it. Sizes are bytes and sums over heaps
// (https://github.com/dotnet/runtime/blob/main/src/coreclr/gc/gcrecord.h).
type history struct {
	global, heaps, after bool // which of them were recorded

	budget     uint64 // of generation 0 until the next collection
	heapCount  int32
	mechanisms uint32
	memory     uint32 // percent of the host's, or the container's, in use
	condemned  uint32 // the reason for this generation

	before, gaps, free, survived [evidence.Generations]uint64
	generations                  int // that it tells of

	sizes, promoted [evidence.Generations]uint64 // after
	pinned, handles uint32
	finalizable     uint64
	marked          [roots]uint64 // bytes, by the root that kept them alive
	markedBy        bool
}

// roots are the kinds that MarkWithType tells (GC_ROOT_KIND in gcinterface.h), others joined.
const (
	rootStack = iota
	rootFinalizer
	rootHandle
	rootOlder
	rootOthers
	roots
)

// maxHistories of a stream are kept.
const maxHistories = 64 << 10

// Mechanisms of a collection (gc_global_mechanism_p).
const (
	mechanismConcurrent = 1 << 0
	mechanismCompaction = 1 << 1
)

// historyOf returns the history of a collection to fill; nil: none.
func (g *collector) historyOf(y *cycle) *history {
	if y == nil {
		return nil
	}
	if y.history == nil {
		if len(g.done) >= maxHistories {
			g.plain++
			return nil
		}
		y.history = new(history)
	}
	return y.history
}

// latestOpen returns the latest of the collections in progress; nil if there is
// none.
func (g *collector) latestOpen() *cycle {
	if len(g.open) == 0 {
		return nil
	}
	return g.open[len(g.open)-1]
}

// globalHistory reads GlobalHeapHistory (205), just before a collection ends, or (.NET 10, in the
// background) just after. It belongs to the collection of that generation.
func (q *process) globalHistory(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	budget, heaps, generation := c.U64(), c.I32(), c.U32()
	c.Skip(4) // gen 0 reductions
	reason, mechanisms := c.U32(), c.U32()
	var memory, condemned uint32
	if e.Meta.Version >= 2 {
		c.Skip(2 + 4) // instance, pause mode
		memory = c.U32()
	}
	if e.Meta.Version >= 3 {
		c.Skip(4) // by generation
		condemned = c.U32()
	}
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	g := &q.gc
	is := func(y *cycle) bool {
		return y.generation == generation && (y.kind == background) == (mechanisms&mechanismConcurrent != 0)
	}
	g.told = g.latestOpen()
	if i := slices.IndexFunc(g.open, is); i >= 0 {
		g.told = g.open[i]
	} else if n := len(g.done); n > 0 && is(g.done[n-1]) && (g.done[n-1].history == nil || !g.done[n-1].history.global) {
		g.told = g.done[n-1]
	} else if y := q.beginUnseen(generation, reason, mechanisms, e.N); y != nil {
		g.told = y
	}
	h := g.historyOf(g.told)
	if h == nil {
		return
	}
	h.global = true
	h.budget, h.heapCount, h.mechanisms, h.memory = budget, heaps, mechanisms, memory
	h.condemned |= condemned
}

// heapHistory reads PerHeapHistory (204), of one heap; it follows GlobalHeapHistory.
func (q *process) heapHistory(e *eventpipe.Event) {
	if e.Meta.Version < 3 {
		return // of desktop .NET, as a structure of its own
	}
	c := q.p.r.Cursor(e.Payload())
	c.Skip(2)
	for range 6 { // how generation 2 grew
		c.Pointer()
	}
	c.Skip(4 + 4)
	condemned := c.U32()
	c.Skip(4 + 4 + 4) // mechanisms of compacting and expanding, the heap's number
	c.Pointer()
	n := int(c.U32())
	if !c.OK() || n > evidence.Generations {
		q.countMalformed(e)
		return
	}
	g := &q.gc
	y := g.told
	if y == nil {
		y = g.latestOpen()
	}
	h := g.historyOf(y)
	if h == nil {
		return
	}
	for i := range n {
		before := c.Pointer()
		gaps := clamp(c.Pointer()) + clamp(c.Pointer())
		c.Pointer() // after: HeapStats tells it
		free := clamp(c.Pointer()) + clamp(c.Pointer())
		c.Pointer() // came in from the generation below
		survived := clamp(c.Pointer()) + clamp(c.Pointer())
		c.Pointer() // budget
		if !c.OK() {
			q.countMalformed(e)
			return
		}
		h.before[i] += clamp(before)
		h.gaps[i] += gaps
		h.free[i] += free
		h.survived[i] += survived
	}
	h.heaps, h.generations = true, n
	h.condemned |= condemned
}

// clamp keeps a damaged size from overflowing sums.
func clamp(bytes uint64) uint64 { return min(bytes, 1<<48) }

// markWithType reads MarkWithType (202): how many bytes were found alive from roots of a kind.
func (q *process) markWithType(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	c.Skip(4 + 2)
	kind, bytes := c.U32(), c.U64()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	if h := q.gc.historyOf(q.gc.latestOpen()); h != nil {
		h.marked[min(kind, rootOthers)] += clamp(bytes)
		h.markedBy = true
	}
}

// heap is its sizes after a collection: generations 0 to 2, large objects, pinned objects.
type heap struct {
	at    int64
	n     int64
	sizes [evidence.Generations]uint64
	five  bool
}

// heapStats reads HeapStats (4): the heap after a collection, when its end was already read.
func (q *process) heapStats(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	h := heap{at: e.Time, n: e.N}
	var promoted [evidence.Generations]uint64
	for i := range 4 {
		h.sizes[i], promoted[i] = c.U64(), c.U64()
	}
	finalizable := c.U64()
	c.Skip(8) // how many
	pinned := c.U32()
	c.Skip(4) // sync blocks
	handles := c.U32()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	c.Skip(2)
	if e.Meta.Version >= 2 {
		h.sizes[4], promoted[4] = c.U64(), c.U64()
		h.five = c.OK()
	}
	g := &q.gc
	if n := len(g.done); n > 0 && g.done[n-1].after < 0 {
		y := g.done[n-1]
		y.after = h.totalSize()
		if t := g.historyOf(y); t != nil {
			t.after = true
			t.sizes, t.promoted = h.sizes, promoted
			t.pinned, t.handles, t.finalizable = pinned, handles, clamp(finalizable)
			t.generations = max(t.generations, 4)
			if h.five {
				t.generations = 5
			}
		}
	}
	if len(g.heaps) < maxCycles {
		g.heaps = append(g.heaps, h)
	}
}

func (h *heap) totalSize() (bytes int64) {
	for _, s := range h.sizes {
		bytes += int64(clamp(s))
	}
	return bytes
}

// addFigures adds the figures that came.
func (h *history) addFigures(x *figures) {
	if h.global {
		x.add(evidence.GenBudget, float64(clamp(h.budget)))
		x.add(evidence.HeapCount, float64(h.heapCount))
		x.add(evidence.MemoryLoad, float64(h.memory))
		x.add(evidence.Compacting, float64(h.mechanisms&mechanismCompaction/mechanismCompaction))
	}
	if h.condemned != 0 {
		x.add(evidence.CondemnReasons, float64(h.condemned))
	}
	if h.heaps {
		var before, free uint64
		for i := range h.generations {
			before, free = before+h.before[i], free+h.free[i]
		}
		x.add(evidence.HeapBefore, float64(before))
		x.add(evidence.FreeBytes, float64(free))
		x.addGenerations(evidence.GenBefore, h.before[:h.generations])
		x.addGenerations(evidence.GenGaps, h.gaps[:h.generations])
		x.addGenerations(evidence.GenFree, h.free[:h.generations])
		x.addGenerations(evidence.GenSurvived, h.survived[:h.generations])
	}
	if h.after {
		var promoted uint64
		for _, p := range h.promoted {
			promoted += clamp(p)
		}
		x.add(evidence.PromotedBytes, float64(promoted))
		x.add(evidence.PinnedObjects, float64(h.pinned))
		x.add(evidence.HandleCount, float64(h.handles))
		x.add(evidence.FinalizableBytes, float64(h.finalizable))
		x.addGenerations(evidence.GenAfter, h.sizes[:h.generations])
	}
	if h.markedBy {
		for i, k := range [roots]evidence.Key{evidence.MarkedStacks, evidence.MarkedFinalizer, evidence.MarkedHandles, evidence.MarkedOlder, evidence.MarkedOther} {
			x.add(k, float64(h.marked[i]))
		}
	}
}

func (x *figures) addGenerations(k evidence.Key, sizes []uint64) {
	for i, s := range sizes {
		x.add(k.In(i), float64(clamp(s)))
	}
}
