package nettrace

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/nettrace/eventpipe"
)

// allocations sums what was allocated by where and of what type. Events are
// samples: an allocation tick (10) comes for every 100 KB on the way, with the type
// that crossed it, and for each large object; AllocationSampled (303, .NET 10) for
// an object drawn at random, one in 100 KiB on average.
type allocations struct {
	sums  map[allocation]*allocated
	types map[string]int32
	names []string
	name  []byte // reused

	ticks, sampled, left int64
	first, last          int64
}

type allocation struct {
	stack eventpipe.StackID
	class int32
	kind  uint8
}

type allocated struct {
	count int64 // events
	bytes float64
	time  int64 // of the first
	n     int64
}

// Kinds of allocation.
const (
	small  = 0
	large  = 1 // on the large object heap
	pinned = 2
)

var allocationKinds = [...]string{"small objects", "large objects", "pinned objects"}

const (
	maxAllocations = 256 << 10 // stacks × types
	sampleMean     = 100 << 10 // bytes between two of AllocationSampled, on average
)

func (a *allocations) init() {
	a.sums = make(map[allocation]*allocated)
	a.types = make(map[string]int32)
}

func (q *process) allocationTick(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload)
	bytes, kind := float64(c.U32()), c.U32()
	q.allocs.name = q.allocs.name[:0]
	if e.Meta.Version >= 2 {
		c.Skip(2)
		bytes = float64(c.U64())
		c.Pointer()
		q.allocs.name = c.AppendUTF16(q.allocs.name)
	}
	if !c.OK() {
		q.bad(e)
		return
	}
	q.allocs.ticks++
	q.allocs.add(e, kind, bytes)
}

func (q *process) allocationSampled(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload)
	kind := c.U32()
	c.Skip(2)
	c.Pointer()
	q.allocs.name = c.AppendUTF16(q.allocs.name[:0])
	c.Pointer()
	size := float64(c.U64())
	if !c.OK() || size <= 0 {
		q.bad(e)
		return
	}
	q.allocs.sampled++
	// An object of this size is drawn with probability 1 − e^(−size/mean).
	q.allocs.add(e, kind, size/-math.Expm1(-size/sampleMean))
}

func (a *allocations) add(e *eventpipe.Event, kind uint32, bytes float64) {
	class, ok := a.types[string(a.name)]
	if !ok {
		class = int32(len(a.names))
		name := string(a.name)
		a.types[name] = class
		a.names = append(a.names, clean(name))
	}
	if a.first == 0 {
		a.first = e.Time
	}
	a.last = e.Time
	k := allocation{e.Stack, class, uint8(min(kind, pinned))}
	s := a.sums[k]
	if s == nil {
		if len(a.sums) == maxAllocations {
			a.left++
			return
		}
		s = &allocated{time: e.Time, n: e.N}
		a.sums[k] = s
	}
	s.count++
	s.bytes += bytes
}

// emit writes a row for each stack and type; its class is the type.
func (a *allocations) emit(q *process) {
	keys := a.keys()
	kind, unit := q.b.Name("alloc_space"), q.b.Name("bytes")
	for _, k := range keys {
		s := a.sums[k]
		q.b.Sample(evidence.Sample{Subject: q.id, Stack: q.stack(k.stack, false, s.time), Type: kind, Unit: unit,
			Class: q.b.Name(a.names[k.class]), Value: int64(min(s.bytes, 1<<62)), Origin: q.b.Origin(s.n)})
	}
	if a.left > 0 {
		q.b.Warnf(0, "allocations have more than %d combinations of stack and type: %d events of others are left out", maxAllocations, a.left)
	}
}

// keys are in an order that repeats: most bytes first.
func (a *allocations) keys() []allocation {
	keys := make([]allocation, 0, len(a.sums))
	for k := range a.sums {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y allocation) int {
		return cmp.Or(-cmp.Compare(a.sums[x].bytes, a.sums[y].bytes), cmp.Compare(a.sums[x].n, a.sums[y].n))
	})
	return keys
}
