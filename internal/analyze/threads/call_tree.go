package threads

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Node is a part that threads' stacks have in common, like a box of Visual Studio's Parallel Stacks.
type Node struct {
	Frames   []string // readable, outermost first
	Count    int      // threads whose stacks contain this part
	Children []*Node  // by Count
	Lanes    []evidence.LaneID
	View     threadstack.View // of the first thread that ends here; zero if none does

	child map[string]*Node
}

// buildTree merges stacks from where threads begin. It leaves out frames by which native code caught a thread, because they are no call of the
// program.
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

// joinChains merges nodes that all the same threads pass.
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
