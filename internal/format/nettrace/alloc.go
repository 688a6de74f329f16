package nettrace

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// allocations sums allocated bytes by stack and type. Events are
// samples: an allocation tick (10) comes for about every 100 KB, with the type
// that crossed the limit, and for each large object; AllocationSampled (303, .NET 10) comes for
// an object drawn at random, one in 100 KiB on average. If a session has both, ticks count.
type allocations struct {
	sums    rowBlocks[allocated]
	places  places           // in sums, by key
	types   map[string]int32 // classes by name as it came, in UTF-16
	names   []string         // of classes
	classes map[string]int32 // by name
	lately  [256]typeName    // by the lowest bits of the type's address
	drawn   [256]drawing     // by the size of objects

	ticks, sampled, left int64
	first, last          int64
}

// typeName is a class and its recorded name, including the terminating zero.
type typeName struct {
	name  string
	class int32
}

type allocated struct {
	stack   eventpipe.StackID
	class   int32
	kind    uint32
	drawn   bool    // by AllocationSampled
	count   int64   // events
	objects float64 // for large ones: how many objects these stand for
	bytes   float64
	time    int64 // of the first
	n       int64
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
	a.types = make(map[string]int32)
	a.classes = make(map[string]int32)
}

func (q *process) allocationTick(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	bytes, kind := float64(c.U32()), c.U32()
	class, address := int32(-1), uint64(0)
	if e.Meta.Version >= 2 {
		c.Skip(2)
		bytes = float64(c.U64())
		class = q.allocs.classAt(c.Pointer(), &c)
	}
	if e.Meta.Version >= 3 {
		c.Skip(4) // heap
		address = c.Pointer()
	}
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	if class < 0 {
		class = q.allocs.classNamed(nil)
	}
	q.allocs.ticks++
	q.survival.followObject(e, address, class, kind, bytes)
	q.allocs.add(e, class, kind, bytes, 0)
}

func (q *process) allocationSampled(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	kind := c.U32()
	c.Skip(2)
	class := q.allocs.classAt(c.Pointer(), &c)
	c.Pointer()
	size := float64(c.U64())
	if !c.OK() || size <= 0 {
		q.countMalformed(e)
		return
	}
	q.allocs.sampled++
	q.allocs.add(e, class, kind, size, q.allocs.drawnAt(size))
}

// drawnAt returns the probability with which an object of a size is drawn, 1 − e^(−size/mean). Most objects have one of few sizes, so it is kept.
func (a *allocations) drawnAt(size float64) float64 {
	kept := &a.drawn[uint64(size)/8%uint64(len(a.drawn))]
	if kept.size != size {
		*kept = drawing{size, -math.Expm1(-size / sampleMean)}
	}
	return kept.probability
}

type drawing struct{ size, probability float64 }

// classAt returns the class of the type at an address, whose name it reads. It compares the name, as the address may
// belong to another type by now.
func (a *allocations) classAt(address uint64, c *eventpipe.Cursor) int32 {
	lately := &a.lately[(address>>3^address>>11)%uint64(len(a.lately))]
	rest := c.Rest()
	if n := len(lately.name); n > 0 && len(rest) >= n && string(rest[:n]) == lately.name {
		c.Skip(n)
		return lately.class
	}
	c.SkipUTF16()
	if !c.OK() {
		return -1
	}
	name := rest[:len(rest)-c.Len()]
	class := a.classNamed(name)
	*lately = typeName{string(name), class}
	return class
}

// classNamed returns the class of a name in UTF-16 with its zero.
func (a *allocations) classNamed(utf16 []byte) int32 {
	if class, ok := a.types[string(utf16)]; ok {
		return class
	}
	name := eventpipe.UTF16(utf16)
	class, ok := a.classes[name]
	if !ok {
		class = int32(len(a.names))
		a.classes[name] = class
		a.names = append(a.names, cleanText(name))
	}
	a.types[string(utf16)] = class
	return class
}

// add counts an event. An event drawn with a probability stands for 1/probability objects;
// drawn is 0 for others.
func (a *allocations) add(e *eventpipe.Event, class int32, kind uint32, bytes, drawn float64) {
	if a.first == 0 {
		a.first = e.Time
	}
	a.last = e.Time
	kind = min(kind, pinned)
	key := uint64(e.Stack)<<32 | uint64(class)<<3 | uint64(kind)
	objects := 1.
	if drawn > 0 {
		key |= 1 << 2
		objects, bytes = 1/drawn, bytes/drawn
	}
	if a.sums.n == maxAllocations && !a.places.hasRow(key) {
		a.left++
		return
	}
	at, known := a.places.findRow(key, a.sums.n)
	if !known {
		*a.sums.add() = allocated{stack: e.Stack, class: class, kind: kind, drawn: drawn > 0, time: e.Time, n: e.N}
	}
	s := a.sums.at(at)
	s.count++
	s.objects += objects
	s.bytes += bytes
}

// emit emits a row for each stack and type; its class is the type. Large objects have two more.
func (a *allocations) emit(q *process) {
	if a.sums.n == 0 {
		return
	}
	q.addCoverage(evidence.CoverAllocation, q.watchedSince(), q.watchedUntil(), 0)
	kind, unit := q.b.Name(evidence.SampleAllocated), q.b.Name("bytes")
	q.b.RoomForSamples(a.sums.n)
	for _, i := range a.sortedByBytes() {
		s := a.sums.at(int(i))
		if s.drawn && a.ticks > 0 {
			continue
		}
		row := evidence.Sample{Subject: q.id, Stack: q.stackAt(s.stack, false, s.time), Type: kind, Unit: unit,
			Class: q.b.Name(a.names[s.class]), Value: int64(min(s.bytes, 1<<62)), Origin: q.b.Origin(s.n)}
		q.b.Sample(row)
		if s.kind == large {
			row.Type = q.b.Name(evidence.SampleLargeAllocated)
			q.b.Sample(row)
			row.Type, row.Unit, row.Value = q.b.Name(evidence.SampleLargeObjects), q.b.Name("count"), int64(s.objects+.5)
			q.b.Sample(row)
		}
	}
	if a.left > 0 {
		q.b.Warnf(0, "allocations have more than %d combinations of stack and type: events of the others left out: %d", maxAllocations, a.left)
	}
}

// sortedByBytes returns the places in sums in a stable order: most bytes first.
func (a *allocations) sortedByBytes() []uint32 {
	order := make([]uint32, a.sums.n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		p, q := a.sums.at(int(x)), a.sums.at(int(y))
		return cmp.Or(-cmp.Compare(p.bytes, q.bytes), cmp.Compare(p.n, q.n))
	})
	return order
}
