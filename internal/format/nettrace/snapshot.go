package nettrace

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// snapshot is the content of the heap by type, if a collection was asked to write every object
// (keyword 0x1980001, as dotnet-gcdump does): BulkType (15) names types, BulkNode (18) has the
// objects. Of several the last one counts.
type snapshot struct {
	types map[uint64]heapType
	sizes map[uint64]heapSum
	at    int64
	n     int64
}

type heapType struct {
	name    string
	array   bool
	element uint64
}

type heapSum struct{ bytes, objects int64 }

// Flags of a type (TypeFlags in eventtrace.h), and how many are kept.
const (
	typeIsArray  = 0x8
	maxHeapTypes = 256 << 10
)

func (q *process) heapTypes(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	n := c.U32()
	c.Skip(2)
	s := &q.snapshot
	if s.types == nil {
		s.types = make(map[uint64]heapType)
	}
	for range n {
		id := c.U64()
		c.Skip(8 + 4) // module, id of the name
		flags := c.U32()
		c.Skip(1)
		t := heapType{name: cleanText(c.UTF16()), array: flags&typeIsArray != 0}
		for i := range c.U32() {
			if element := c.U64(); i == 0 {
				t.element = element
			}
			if !c.OK() {
				break
			}
		}
		if !c.OK() {
			q.countMalformed(e)
			return
		}
		if len(s.types) < maxHeapTypes {
			s.types[id] = t
		}
	}
}

func (q *process) heapObjects(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	index, n := c.U32(), c.U32()
	c.Skip(2)
	s := &q.snapshot
	if index == 0 || s.sizes == nil {
		s.sizes = make(map[uint64]heapSum)
		s.at, s.n = e.Time, e.N
	}
	for range n {
		c.Pointer()
		size, id := c.U64(), c.U64()
		c.Skip(8) // edges
		if !c.OK() {
			q.countMalformed(e)
			return
		}
		x, ok := s.sizes[id]
		if !ok && len(s.sizes) == maxHeapTypes {
			continue
		}
		s.sizes[id] = heapSum{x.bytes + int64(clamp(size)), x.objects + 1}
	}
}

// heapTypeName returns the name of a type; for an array that of its element with brackets.
func (s *snapshot) heapTypeName(id uint64) string {
	brackets := ""
	for range 8 { // arrays of arrays
		t, ok := s.types[id]
		switch {
		case !ok:
			return "unknown"
		case t.array && t.element != 0 && !strings.HasSuffix(t.name, "]"):
			brackets += "[]"
			id = t.element
			continue
		}
		return t.name + brackets
	}
	return "unknown"
}

func (s *snapshot) emit(q *process) {
	if len(s.sizes) == 0 {
		return
	}
	byName := make(map[string]heapSum)
	for id, x := range s.sizes {
		name := s.heapTypeName(id)
		y := byName[name]
		byName[name] = heapSum{y.bytes + x.bytes, y.objects + x.objects}
	}
	for _, name := range slices.SortedFunc(maps.Keys(byName), func(x, y string) int {
		return cmp.Or(-cmp.Compare(byName[x].bytes, byName[y].bytes), cmp.Compare(x, y))
	}) {
		row := evidence.Sample{Subject: q.id, Time: s.at, Type: q.b.Name(evidence.SampleLive), Unit: q.b.Name("bytes"), Class: q.b.Name(name), Value: byName[name].bytes, Origin: q.b.Origin(s.n)}
		q.b.Sample(row)
		row.Type, row.Unit, row.Value = q.b.Name(evidence.SampleLiveObjects), q.b.Name("count"), byName[name].objects
		q.b.Sample(row)
	}
	q.addCoverage(evidence.CoverClasses, s.at, s.at, 0)
}
