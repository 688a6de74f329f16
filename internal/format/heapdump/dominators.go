package heapdump

import (
	"fmt"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/classhisto"
)

// tree is the dominator tree of the objects that the roots reach, numbered in the order of a walk from
// node 0, which stands above all roots: an object is alive only because of its dominator. The algorithm is Semi-NCA
// (L. Georgiadis, Linear-Time Algorithms for Dominators and Related Problems, 2005, section 2.4).
type tree struct {
	node     []int32 // objects by number; number 0 has none
	idom     []int32
	retained []int64 // bytes
}

// buildDominatorTree walks the graph and finds for each reached object the one that keeps it
// alive.
func (g *graph) buildDominatorTree() *tree {
	from, to, index := g.resolveEdges()
	n := len(g.ids)
	number := make([]int32, n) // 0: not reached
	t := &tree{node: make([]int32, 1, n+1)}
	t.node[0] = -1
	parent := make([]int32, 1, n+1)
	type frame struct {
		number int32
		next   uint32
	}
	var stack []frame
	visit := func(object, above int32) {
		number[object] = int32(len(t.node))
		t.node = append(t.node, object)
		parent = append(parent, above)
		stack = append(stack, frame{number[object], from[object]})
	}
	isRoot := make([]bool, n)
	for _, id := range g.roots {
		if i, ok := index.get(id); ok {
			isRoot[i] = true
		}
	}
	for loader, classes := range g.defined { // a loader that is not in the dump may be alive: its classes count as roots
		if _, ok := index.get(loader); ok {
			continue
		}
		for _, id := range classes {
			if i, ok := index.get(id); ok {
				isRoot[i] = true
			}
		}
	}
	for i := range n {
		if !isRoot[i] || number[i] != 0 {
			continue
		}
		visit(int32(i), 0)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			object := t.node[f.number]
			if f.next == from[object+1] {
				stack = stack[:len(stack)-1]
				continue
			}
			child, above := to[f.next], f.number
			f.next++
			if number[child] == 0 {
				visit(child, above)
			}
		}
	}
	count := len(t.node)
	// Which nodes refer to each, by number.
	starts := make([]uint32, count+1)
	for i := 1; i < count; i++ {
		o := t.node[i]
		for _, c := range to[from[o]:from[o+1]] {
			starts[number[c]+1]++
		}
		if isRoot[o] {
			starts[i+1]++
		}
	}
	for i := range count {
		starts[i+1] += starts[i]
	}
	before := make([]int32, starts[count])
	fill := append([]uint32(nil), starts[:count]...)
	put := func(i, by int32) {
		before[fill[i]] = by
		fill[i]++
	}
	for i := 1; i < count; i++ {
		o := t.node[i]
		if isRoot[o] {
			put(int32(i), 0)
		}
		for _, c := range to[from[o]:from[o+1]] {
			put(number[c], int32(i))
		}
	}
	semi, label, above := make([]int32, count), make([]int32, count), append([]int32(nil), parent...)
	for i := range count {
		semi[i], label[i] = int32(i), int32(i)
	}
	var path []int32
	least := func(v, last int32) int32 { // of the linked nodes above v, the one with the smallest semidominator
		if above[v] < last {
			return label[v]
		}
		path = path[:0]
		for above[v] >= last {
			path = append(path, v)
			v = above[v]
		}
		p := v
		for len(path) > 0 {
			v = path[len(path)-1]
			path = path[:len(path)-1]
			above[v] = above[p]
			if semi[label[p]] < semi[label[v]] {
				label[v] = label[p]
			}
			p = v
		}
		return label[v]
	}
	for i := int32(count) - 1; i >= 1; i-- {
		semi[i] = parent[i]
		for _, p := range before[starts[i]:starts[i+1]] {
			if s := semi[least(p, i+1)]; s < semi[i] {
				semi[i] = s
			}
		}
	}
	t.idom = parent
	for i := 1; i < count; i++ {
		for t.idom[i] > semi[i] {
			t.idom[i] = t.idom[t.idom[i]]
		}
	}
	t.retained = make([]int64, count)
	for i := count - 1; i >= 1; i-- {
		t.retained[i] += int64(g.own[t.node[i]])
		t.retained[t.idom[i]] += t.retained[i]
	}
	return t
}

// ofClass is the memory that a class's objects keep alive; an object within another of its class counts once.
type ofClass struct {
	kind          int32
	objects       int64
	own, retained int64
}

// byClass walks the tree from the top. Classes of one name, each of a loader of its own, count
// together: first has for each the first of its name.
func (t *tree) byClass(g *graph, first []int32) []ofClass {
	all := make([]ofClass, len(g.kinds))
	count := len(t.node)
	starts := make([]uint32, count+1)
	for i := 1; i < count; i++ {
		starts[t.idom[i]+1]++
	}
	for i := range count {
		starts[i+1] += starts[i]
	}
	children := make([]int32, count)
	fill := append([]uint32(nil), starts[:count]...)
	for i := 1; i < count; i++ {
		children[fill[t.idom[i]]] = int32(i)
		fill[t.idom[i]]++
	}
	within := make([]int32, len(g.kinds)) // objects of a class on the way down
	type frame struct {
		at   int32
		next uint32
	}
	stack := []frame{{0, starts[0]}}
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.next < starts[f.at+1] {
			child := children[f.next]
			f.next++
			k := first[g.class[t.node[child]]]
			c := &all[k]
			c.kind = k
			c.objects++
			c.own += int64(g.own[t.node[child]])
			if within[k]++; within[k] == 1 {
				c.retained += t.retained[child]
			}
			stack = append(stack, frame{child, starts[child]})
			continue
		}
		if f.at > 0 {
			within[first[g.class[t.node[f.at]]]]--
		}
		stack = stack[:len(stack)-1]
	}
	return all
}

// The number of rows, and the part of the heap from which an object is named.
const (
	mostShown  = 20
	worthShare = .05
	mostChain  = 5
)

// addRetainedTables writes the memory that objects and classes keep alive.
func (x *reader) addRetainedTables(b *evidence.Builder) {
	g := x.graph
	if len(g.ids) == 0 || len(g.roots) == 0 {
		return
	}
	t := g.buildDominatorTree()
	total := t.retained[0]
	if total == 0 {
		return
	}
	name := func(object int32) string { return x.className(g, g.class[object], g.ids[object]) }
	mib := func(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/(1<<20)) }
	share := func(bytes int64) string { return fmt.Sprintf("%.1f %%", 100*float64(bytes)/float64(total)) }
	classes := t.byClass(g, x.groupByName(g))
	sort.SliceStable(classes, func(i, j int) bool {
		return classes[i].retained > classes[j].retained || classes[i].retained == classes[j].retained && classes[i].kind < classes[j].kind
	})
	byClass := evidence.Table{Title: "kept alive by class", Columns: []string{"class", "objects", "own MiB", "kept alive MiB", "of all"}}
	for _, c := range classes {
		if c.objects == 0 || len(byClass.Rows) == mostShown {
			continue
		}
		byClass.Rows = append(byClass.Rows, []string{x.className(g, c.kind, 0), fmt.Sprint(c.objects), mib(c.own), mib(c.retained), share(c.retained)})
	}
	b.Table(byClass)
	var most []int32
	for i := 1; i < len(t.node); i++ {
		if float64(t.retained[i]) >= worthShare*float64(total) {
			most = append(most, int32(i))
		}
	}
	sort.SliceStable(most, func(i, j int) bool { return t.retained[most[i]] > t.retained[most[j]] })
	byObject := evidence.Table{Title: "objects that keep most alive", Columns: []string{"object", "kept alive MiB", "of all", "kept by"}}
	for _, i := range most[:min(len(most), mostShown)] {
		var above []string
		for d := t.idom[i]; d > 0 && len(above) < mostChain; d = t.idom[d] {
			above = append(above, name(t.node[d]))
		}
		by := strings.Join(above, " ← ")
		if by == "" {
			by = "a root: a thread's stack, a static field or the JVM"
		}
		byObject.Rows = append(byObject.Rows, []string{name(t.node[i]), mib(t.retained[i]), share(t.retained[i]), by})
	}
	if len(byObject.Rows) > 0 {
		b.Table(byObject)
	}
	if left := len(g.ids) - (len(t.node) - 1); left > 0 {
		b.Warnf(0, "%d of %d objects are not reached from any root: garbage that was not collected yet", left, len(g.ids))
	}
	if class, n := x.mostLoaded(g, t); n >= manyLoaders {
		b.Warnf(0, "%d class loaders hold a class %s each: something still refers to what was loaded before, as after deployments that were not freed", n, class)
	}
	last := int32(0) // the lowest one that still keeps nearly all of what those above it keep
	for i := 1; i < len(t.node); i++ {
		if t.idom[i] == last && float64(t.retained[i]) >= largeShare*float64(total) && (last == 0 || float64(t.retained[i]) >= mostlyKept*float64(t.retained[last])) {
			last = int32(i)
		}
	}
	if last > 0 {
		b.Warnf(0, "one object keeps %s of the heap alive (%s of %s MiB): %s", share(t.retained[last]), mib(t.retained[last]), mib(total), name(t.node[last]))
	}
}

// manyLoaders is the number of class loaders that have a class of the same name each from which they are reported: an application server has a few
// applications with the same library.
const manyLoaders = 8

// groupByName returns for each class the first of its name.
func (x *reader) groupByName(g *graph) []int32 {
	first := make([]int32, len(g.kinds))
	byName := make(map[uint64]int32)
	for k, class := range g.kinds {
		first[k] = int32(k)
		name, ok := x.classes[class]
		if class <= classOfClasses || !ok {
			continue
		}
		if f, ok := byName[name]; ok {
			first[k] = f
		} else {
			byName[name] = int32(k)
		}
	}
	return first
}

// mostLoaded returns the name that most of the classes have which are alive, and how many.
func (x *reader) mostLoaded(g *graph, t *tree) (class string, count int) {
	counts := make(map[uint64]int)
	for _, o := range t.node[1:] {
		if g.kinds[g.class[o]] != classOfClasses {
			continue
		}
		name, ok := x.classes[g.ids[o]]
		if !ok || strings.HasPrefix(x.names[name], "[") {
			continue
		}
		if counts[name]++; counts[name] > count {
			class, count = x.readableName(g.ids[o]), counts[name]
		}
	}
	return class, count
}

// mostlyKept is the part of an object's retained memory from which the object below that keeps it is named instead.
const mostlyKept = .8

// largeShare is the part of the heap from which a single object that keeps it is reported.
const largeShare = .25

// className returns the name of a class, or for a class object the class that it represents.
func (x *reader) className(g *graph, kind int32, id uint64) string {
	class := g.kinds[kind]
	switch {
	case class == classOfClasses && id != 0:
		return "class " + x.readableName(id)
	case class == classOfClasses:
		return "static fields of classes"
	case class <= maxPrimitive:
		return classhisto.Readable(primitives[byte(class)].name)
	}
	return x.readableName(class)
}

func (x *reader) readableName(class uint64) string {
	name := strings.ReplaceAll(x.names[x.classes[class]], "/", ".")
	if name == "" || strings.ContainsAny(name, " \t\r\n") {
		return "unknown"
	}
	return classhisto.Readable(name)
}
