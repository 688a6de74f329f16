package threads

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Node is a part of their stacks that threads have in common, as a box of Visual
// Studio's Parallel Stacks.
type Node struct {
	Frames   []string // readable, outermost first
	Count    int      // threads that go through here
	Children []*Node  // by Count
	Lanes    []evidence.LaneID
	View     threadstack.View // of the first thread that ends here; of a node where none does, zero

	child map[string]*Node
}

// buildTree merges stacks from where threads begin. What a thread was caught in native code by is
// no call of the program's and is left out.
func (t *Threads) buildTree(rows []Sample) *Node {
	root := &Node{}
	for i := range rows {
		l := &rows[i]
		frames := t.framesOf(l.Stack)
		at := root
		at.Count++
		for k := len(frames) - 1; k >= 0; k-- {
			if f := frames[k]; threadstack.IsFunction(f) {
				at = at.enterChild(f)
			}
		}
		if len(at.Lanes) == 0 {
			at.View = l.View
		}
		at.Lanes = append(at.Lanes, l.Lane)
	}
	root.joinChains()
	return root
}

func (n *Node) enterChild(function string) *Node {
	c := n.child[function]
	if c == nil {
		c = &Node{Frames: []string{threadstack.Readable(function)}}
		if n.child == nil {
			n.child = make(map[string]*Node)
		}
		n.child[function] = c
		n.Children = append(n.Children, c)
	}
	c.Count++
	return c
}

// joinChains makes one box of those that all the same threads go through.
func (n *Node) joinChains() {
	n.child = nil
	for i, c := range n.Children {
		for len(c.Children) == 1 && len(c.Lanes) == 0 {
			next := c.Children[0]
			next.Frames = append(c.Frames, next.Frames...)
			c = next
		}
		n.Children[i] = c
		c.joinChains()
	}
	slices.SortStableFunc(n.Children, func(a, b *Node) int { return cmp.Compare(b.Count, a.Count) })
}
