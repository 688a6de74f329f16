package nettrace

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// survival follows sampled objects (those of allocation ticks) through collections by the
// records of survivors: ranges that stayed (21) and that moved (22), and the places of generations (23),
// keyword 0x400000. Objects that die in generation 2, or as large objects, were collected by the most expensive
// collections: PerfView's Gen 2 Object Deaths (Coarse Sampling).
//
// A collection writes its survivors before it ends, a background one in its last pause.
// Objects that were allocated after that one began are in no range, and are alive.
type survival struct {
	watched bool // some collection wrote its survivors
	off     bool // none did when one ended
	objects []object
	left    int64 // objects beyond maxObjects

	spare  []keptRange // of an earlier collection
	judged []addressed // likewise: objects that it kept or freed
	by     []int32     // likewise
	sorter addressSorter
	deaths []allocated // by stack and class
	places places      // in deaths
}

// object is a sampled object that may still be alive.
type object struct {
	address    uint64
	allocated  int64
	stack      eventpipe.StackID
	class      int32
	generation int8
	dead       bool // the collection that is being read freed it
	bytes      float64
	n          int64
}

// survivors are the survivors of one collection.
type survivors struct {
	kept    []keptRange
	regions []region // places of generations, written after the survivors
	settled bool     // objects were compared with kept
}

type keptRange struct{ from, to, size uint64 }

type region struct {
	from, size uint64
	generation int8
}

const (
	addressBits = 48 // of user space
	alignment   = 4  // of objects, bytes, at least
	maxObjects  = 256 << 10
	maxRanges   = 1 << 20 // of one collection; what lies beyond counts as alive
)

// followObject begins to follow an object.
func (s *survival) followObject(e *eventpipe.Event, address uint64, class int32, kind uint32, bytes float64) {
	if s.off || address == 0 || address >= 1<<addressBits || address%alignment != 0 {
		return
	}
	if len(s.objects) == maxObjects {
		s.left++
		return
	}
	generation := int8(evidence.Gen0)
	switch kind {
	case large:
		generation = evidence.LargeObjects
	case pinned:
		generation = evidence.PinnedObjHeap
	}
	s.objects = append(s.objects, object{address: address, allocated: e.Time, stack: e.Stack, class: class, generation: generation, bytes: bytes, n: e.N})
}

// survivorsOf returns the survivors of a collection to fill, nil without one.
func (g *collector) survivorsOf() *survivors {
	y := g.latestOpen()
	if y == nil {
		return nil
	}
	if y.survivors == nil {
		y.survivors = new(survivors)
	}
	return y.survivors
}

// survivingRanges reads BulkSurvivingObjectRanges (21).
func (q *process) survivingRanges(e *eventpipe.Event) { q.readRanges(e, false) }

// movedRanges reads BulkMovedObjectRanges (22).
func (q *process) movedRanges(e *eventpipe.Event) { q.readRanges(e, true) }

func (q *process) readRanges(e *eventpipe.Event, moved bool) {
	q.survival.watched = true // also of a collection that began before the session
	s := q.gc.survivorsOf()
	if s == nil {
		return
	}
	s.regions = s.regions[:0] // those before it are the old places
	c := q.p.r.Cursor(e.Payload())
	c.Skip(4)
	n := c.U32()
	c.Skip(2)
	if s.kept == nil {
		s.kept, q.survival.spare = q.survival.spare, nil
	}
	for range n {
		from := c.Pointer()
		to := from
		if moved {
			to = c.Pointer()
		}
		size := c.U64()
		if !c.OK() {
			q.countMalformed(e)
			return
		}
		if len(s.kept) < maxRanges {
			s.kept = append(s.kept, keptRange{from, to, size})
		}
	}
}

// generationRange reads GenerationRange (23), written for all of them when a collection begins and
// when it ends.
func (q *process) generationRange(e *eventpipe.Event) {
	s := q.gc.survivorsOf()
	if s == nil {
		return
	}
	c := q.p.r.Cursor(e.Payload())
	generation, from, used := c.U8(), c.Pointer(), c.U64()
	if !c.OK() || generation >= evidence.Generations {
		q.countMalformed(e)
		return
	}
	if len(s.regions) < maxRanges {
		s.regions = append(s.regions, region{from, used, int8(generation)})
	}
}

// settleObjects decides which objects a collection kept; once, before another one moves them. Ranges outnumber objects by far and mostly come in
// the order of their addresses, so objects are sorted and each range looks for those in it from where the last one ended.
func (q *process) settleObjects(y *cycle) {
	s := y.survivors
	if s == nil || s.settled || len(s.kept) == 0 {
		return
	}
	s.settled = true
	objects, judged := q.survival.objects, q.survival.judged[:0]
	for i := range objects {
		o := &objects[i]
		if (y.generation >= evidence.Gen2 || uint32(o.generation) <= y.generation) && o.allocated < y.start {
			judged = append(judged, addressed{o.address, int32(i)})
		}
	}
	q.survival.sorter.sortKeys(judged)
	by := append(q.survival.by[:0], make([]int32, len(judged))...) // of each: number, from 1, of the range with the highest address that has it; 0 none
	at, last := 0, uint64(0)                                       // the first object at or beyond last
	for n, r := range s.kept {
		if r.from < last {
			at, _ = slices.BinarySearchFunc(judged, r.from, func(o addressed, a uint64) int { return cmp.Compare(o.address, a) })
		}
		for last = r.from; at < len(judged) && judged[at].address < r.from; at++ {
		}
		for k := at; k < len(judged) && judged[k].address-r.from < r.size; k++ {
			if by[k] == 0 || s.kept[by[k]-1].from < r.from {
				by[k] = int32(n + 1)
			}
		}
	}
	full := len(s.kept) == maxRanges // others were left out, so that an object in none of them may live
	for k, o := range judged {
		switch of := &objects[o.row]; {
		case by[k] > 0:
			of.address += s.kept[by[k]-1].to - s.kept[by[k]-1].from
		case !full:
			of.dead = true
		}
	}
	live := q.survival.objects[:0]
	for _, o := range q.survival.objects {
		if o.dead {
			q.survival.countDeath(&o)
			continue
		}
		live = append(live, o)
	}
	q.survival.objects, q.survival.judged, q.survival.by = live, judged, by
	q.survival.spare, s.kept = s.kept[:0], nil
}

// placeObjects assigns live objects to generations once a collection has ended.
func (q *process) placeObjects(y *cycle) {
	q.settleObjects(y)
	s := y.survivors
	y.survivors = nil
	if s == nil || !s.settled {
		if !q.survival.watched {
			q.survival.off, q.survival.objects = true, nil
		}
		return
	}
	slices.SortStableFunc(s.regions, func(a, b region) int { return cmp.Compare(a.from, b.from) })
	for i := range q.survival.objects {
		o := &q.survival.objects[i]
		n, _ := slices.BinarySearchFunc(s.regions, o.address, func(r region, a uint64) int {
			if r.from <= a {
				return -1
			}
			return 1
		})
		if n > 0 && o.address-s.regions[n-1].from < s.regions[n-1].size {
			o.generation = s.regions[n-1].generation
		}
	}
}

// countDeath counts an object that died, if it was old.
func (s *survival) countDeath(o *object) {
	if o.generation < evidence.Gen2 {
		return
	}
	key := uint64(o.stack)<<32 | uint64(uint32(o.class))
	if len(s.deaths) == maxAllocations && !s.places.hasRow(key) {
		return
	}
	at, known := s.places.findRow(key, len(s.deaths))
	if !known {
		s.deaths = append(s.deaths, allocated{stack: o.stack, class: o.class, time: o.allocated, n: o.n})
	}
	s.deaths[at].count++
	s.deaths[at].bytes += o.bytes
}

func (s *survival) emit(q *process) {
	if !s.watched || q.allocs.ticks == 0 {
		return
	}
	q.addCoverage(evidence.CoverDeaths, q.watchedSince(), q.watchedUntil(), 0)
	slices.SortStableFunc(s.deaths, func(x, y allocated) int { return cmp.Or(-cmp.Compare(x.bytes, y.bytes), cmp.Compare(x.n, y.n)) })
	for i := range s.deaths {
		d := &s.deaths[i]
		q.b.Sample(evidence.Sample{Subject: q.id, Stack: q.stackAt(d.stack, false, d.time), Type: q.b.Name(evidence.SampleGen2Deaths), Unit: q.b.Name("bytes"),
			Class: q.b.Name(q.allocs.names[d.class]), Value: int64(min(d.bytes, 1<<62)), Origin: q.b.Origin(d.n)})
	}
	if s.left > 0 {
		q.b.Warnf(0, "more than %d sampled objects live at once: which of the others die in generation 2 is not known: %d", maxObjects, s.left)
	}
}
