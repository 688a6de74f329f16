package heapdump

import (
	"math/rand/v2"
	"testing"
)

// build makes a graph of objects 1, 2, … with 10 bytes each, from the references of each, and roots.
func build(refs [][]uint64, roots ...uint64) *graph {
	g := newGraph()
	for i, to := range refs {
		g.addObject(uint64(i+1), 100, 10)
		for _, id := range to {
			g.addReference(id)
		}
	}
	g.roots = roots
	return g
}

// kept computes what each object keeps alive: it removes the object and finds the nodes that are no longer reached.
func kept(refs [][]uint64, roots []uint64, object uint64) int64 {
	reached := func(without uint64) (n int64) {
		seen := make([]bool, len(refs)+1)
		var walk func(uint64)
		walk = func(id uint64) {
			if id == without || id == 0 || int(id) > len(refs) || seen[id] {
				return
			}
			seen[id] = true
			n++
			for _, to := range refs[id-1] {
				walk(to)
			}
		}
		for _, r := range roots {
			walk(r)
		}
		return n
	}
	return 10 * (reached(0) - reached(object))
}

// What the tree says that an object keeps is what is not reached without it.
func TestDominators(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + r.IntN(14)
		refs := make([][]uint64, n)
		for i := range refs {
			for range r.IntN(4) {
				refs[i] = append(refs[i], uint64(1+r.IntN(n+1))) // the number beyond them is not in the dump
			}
		}
		roots := []uint64{uint64(1 + r.IntN(n)), uint64(1 + r.IntN(n))}
		tree := build(refs, roots...).buildDominatorTree()
		for i := 1; i < len(tree.node); i++ {
			id := uint64(tree.node[i] + 1)
			if want := kept(refs, roots, id); tree.retained[i] != want {
				t.Fatalf("object %d of %v, roots %v, keeps %d, want %d", id, refs, roots, tree.retained[i], want)
			}
		}
	}
}

// Of a class what lies within what another of it keeps counts once.
func TestByClass(t *testing.T) {
	g := build([][]uint64{{2}, {3}, {4}, nil}, 1)
	c := g.buildDominatorTree().byClass(g, make([]int32, len(g.kinds)))
	if len(c) != 1 || c[0].objects != 4 || c[0].own != 40 || c[0].retained != 40 {
		t.Fatalf("%+v", c)
	}
}
