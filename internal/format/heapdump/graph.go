package heapdump

// graph is the references between objects. It is given up if a dump has more than these bounds, about 250 MB, or if an object
// comes before its class. Classes are objects, too, with the references of their static fields. An object keeps its class alive, a class the loader that
// defined it, and that all its classes: so a single object that is left of an application keeps all of it. Only the classes of the JVM's own loader are
// always alive.
type graph struct {
	ids    []uint64 // of each object
	class  []int32  // likewise: index into classes
	own    []uint32 // bytes
	first  []uint32 // of its references
	refs   []uint64
	roots  []uint64
	kinds  []uint64 // classes by index: the identifier of each; up to maxPrimitive they are arrays of numbers
	kindOf map[uint64]int32

	layouts map[uint64]*layout
	defined map[uint64][]uint64 // classes by the loader that defined them, apart from those of the JVM's own
}

// maxPrimitive is the largest type of numbers, which stands for the class of arrays of them; classOfClasses stands for the class of classes. No object
// has such an identifier, as identifiers are addresses.
const (
	maxPrimitive   = 11
	classOfClasses = 12
)

// Bounds of a graph.
const (
	maxObjects    = 2_000_000
	maxReferences = 12_000_000
	maxRoots      = 500_000
	maxSupers     = 1000
	maxInstance   = 1 << 20 // bytes of the fields of an object
)

// layout is where an instance of a class has references.
type layout struct {
	super uint64
	own   []byte  // kinds of its own fields
	at    []int32 // offsets of references, of its own fields and those of the classes above
	size  int32
	known bool // at and size are known
}

func newGraph() *graph {
	return &graph{kindOf: make(map[uint64]int32), layouts: make(map[uint64]*layout), defined: make(map[uint64][]uint64)}
}

// kindIndex returns the index of a class, a new one if it has none.
func (g *graph) kindIndex(class uint64) int32 {
	k, ok := g.kindOf[class]
	if !ok {
		k = int32(len(g.kinds))
		g.kinds = append(g.kinds, class)
		g.kindOf[class] = k
	}
	return k
}

// addObject begins an object; its references follow. It returns false if there is no room.
func (g *graph) addObject(id, class uint64, bytes int64) bool {
	if len(g.ids) == maxObjects || len(g.kinds) >= maxClasses {
		return false
	}
	g.ids = append(g.ids, id)
	g.class = append(g.class, g.kindIndex(class))
	g.own = append(g.own, uint32(min(bytes, 1<<32-1)))
	g.first = append(g.first, uint32(len(g.refs)))
	return true
}

func (g *graph) addReference(to uint64) bool {
	if to == 0 {
		return true
	}
	if len(g.refs) == maxReferences {
		return false
	}
	g.refs = append(g.refs, to)
	return true
}

// layoutOf returns the offsets at which an instance of a class has references, and how long its
// fields are; false if they are unknown.
func (g *graph) layoutOf(class uint64, ids int) (*layout, bool) {
	l := g.layouts[class]
	if l == nil {
		return nil, false
	}
	if l.known {
		return l, true
	}
	size := int32(0)
	var at []int32
	for c, depth := l, 0; ; depth++ {
		for _, kind := range c.own {
			if kind == 2 {
				at = append(at, size)
				size += int32(ids)
			} else {
				size += int32(primitives[kind].size)
			}
			if size > maxInstance {
				return nil, false
			}
		}
		if c.super == 0 {
			break
		}
		if c = g.layouts[c.super]; c == nil || depth == maxSupers {
			return nil, false
		}
	}
	l.at, l.size, l.known = at, size, true
	return l, true
}

// resolveEdges turns references into indexes of objects: those of object i are
// to[from[i]:from[i+1]]. References to objects outside the dump are left out. Each object refers to
// its class, too, if that has a loader, and each loader to its classes.
func (g *graph) resolveEdges() (from []uint32, to []int32, index *table) {
	index = newTable(len(g.ids))
	for i, id := range g.ids {
		index.put(id, int32(i))
	}
	from = make([]uint32, len(g.ids)+1)
	to = make([]int32, 0, len(g.refs))
	loaded := make([]int32, len(g.kinds)) // the object of each class that has a loader, + 1
	for _, classes := range g.defined {
		for _, id := range classes {
			if k, ok := g.kindOf[id]; ok {
				if j, ok := index.get(id); ok {
					loaded[k] = j + 1
				}
			}
		}
	}
	add := func(i int, id uint64) {
		if j, ok := index.get(id); ok && int(j) != i {
			to = append(to, j)
		}
	}
	for i, own := range g.ids {
		end := len(g.refs)
		if i+1 < len(g.ids) {
			end = int(g.first[i+1])
		}
		for _, id := range g.refs[g.first[i]:end] {
			add(i, id)
		}
		if j := loaded[g.class[i]]; j > 0 {
			to = append(to, j-1)
		}
		for _, id := range g.defined[own] {
			add(i, id)
		}
		from[i+1] = uint32(len(to))
	}
	return from, to, index
}

// table finds objects by identifier in less memory than a map.
type table struct {
	keys []uint64
	at   []int32 // index + 1, 0 free
	mask uint64
}

func newTable(n int) *table {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return &table{make([]uint64, size), make([]int32, size), uint64(size - 1)}
}

func (t *table) findSlot(key uint64) uint64 {
	h := key * 0x9e3779b97f4a7c15
	for i := (h ^ h>>29) & t.mask; ; i = (i + 1) & t.mask {
		if t.at[i] == 0 || t.keys[i] == key {
			return i
		}
	}
}

func (t *table) put(key uint64, i int32) {
	if s := t.findSlot(key); t.at[s] == 0 {
		t.keys[s], t.at[s] = key, i+1
	}
}

func (t *table) get(key uint64) (int32, bool) {
	s := t.findSlot(key)
	return t.at[s] - 1, t.at[s] != 0
}
