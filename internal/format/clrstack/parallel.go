package clrstack

import (
	"bytes"

	"github.com/unstall/unstall/internal/format"
)

// parallelstacks of dotnet-dump (pstacks, ParallelStacks.Runtime) prints threads that are in the same place together: a tree, its root last, innermost
// frames first, and before each frame how many threads are in it:
//
//	           ~~~~ 4f21,4f30,4f3a,...(434 more)
//	            437 System.Threading.Monitor.Wait(Object, Int32, Boolean)
//	            437 shop.Prices.Tick(Object)
//	           ~~~~ 5101,5108
//	              2 shop.Cache.Look()
//	       439 System.Threading.ThreadPoolWorkQueue.Dispatch()
//
// A frame takes in the trees above it that are further to the right, or as far if it has as many threads, until it has its number. Only a few of the
// threads' numbers are told, so that they are numbered anew.
// https://github.com/dotnet/diagnostics/tree/main/src/Microsoft.Diagnostics.ExtensionCommands/ParallelStacks.Runtime

// Bounds of what is read of one such output.
const (
	mostThreads = 50_000
	mostNodes   = 100_000
)

var leafMark = []byte("~~~~ ")

// leafLine says whether a line stands above the innermost frame of some threads.
func leafLine(l []byte) bool { return bytes.HasPrefix(l, leafMark) }

// countedLine reads "  437 System.Threading.Monitor.Wait(Object, Int32, Boolean)"; end is the column at which the number ends.
func countedLine(l []byte) (n, end int, method []byte, ok bool) {
	text := bytes.TrimLeft(l, " ")
	digits, method, ok := bytes.Cut(text, []byte(" "))
	v, isNumber := format.ParseDigits(digits)
	if !ok || !isNumber || v < 1 || v > mostThreads || len(method) < 3 || bytes.IndexByte(method, '.') <= 0 && bytes.IndexByte(method, '(') <= 0 {
		return 0, 0, nil, false
	}
	return int(v), len(l) - len(text) + len(digits), method, true
}

// isParallel says whether text begins with the innermost frame of some threads, and its first frame.
func isParallel(head []byte) bool {
	leaf := false
	for l := range bytes.Lines(head) {
		l = bytes.TrimRight(l[:min(len(l), mostLine)], " \t\r\n")
		if leaf {
			if _, _, _, ok := countedLine(l); ok {
				return true
			}
		}
		leaf = leafLine(bytes.TrimLeft(l, " "))
	}
	return false
}

// node is a frame with the threads that are in it.
type node struct {
	threads, end int
	outer        int // the frame that called it, -1 none
	within       int // threads that are in the frames it called
	text         []byte
	line         format.Line
}

// tree is the frames of one root, or of several.
type tree struct {
	nodes   []node
	open    []int // roots so far
	leaf    bool
	threads int // of all trees
	more    int // threads that were not kept
}

// readLine takes a line of such output; false of others.
func (t *tree) readLine(l format.Line) bool {
	text := bytes.TrimRight(l.Text[:min(len(l.Text), mostLine)], " \t")
	if leafLine(bytes.TrimLeft(text, " ")) {
		t.leaf = true
		return true
	}
	n, end, method, ok := countedLine(text)
	if !ok || !t.leaf && len(t.open) == 0 || len(t.nodes) == mostNodes {
		return false
	}
	x := node{threads: n, end: end, outer: -1, text: []byte("  " + qualifyMethod(cutSource(method))), line: format.Line{Number: l.Number, Stamp: l.Stamp}}
	at := len(t.nodes)
	for !t.leaf && len(t.open) > 0 {
		inner := &t.nodes[t.open[len(t.open)-1]]
		if x.within+inner.threads > n || inner.end < end || inner.end == end && inner.threads != n {
			break
		}
		inner.outer = at
		x.within += inner.threads
		t.open = t.open[:len(t.open)-1]
	}
	t.leaf = false
	t.nodes = append(t.nodes, x)
	t.open = append(t.open, at)
	return true
}

// emitThreads gives the threads of the trees, each with its stack, as lines of dotnet-stack.
func (t *tree) emitThreads(put func(l format.Line, text []byte)) {
	for i := range t.nodes {
		x := &t.nodes[i]
		for range x.threads - x.within {
			if t.threads == mostThreads {
				t.more++
				continue
			}
			t.threads++
			put(x.line, nil)
			put(x.line, threadText(t.threads))
			if bytes.HasPrefix(x.text, []byte("  System.Private.CoreLib!")) { // frames of the runtime are not printed: it waits, or called the system
				put(x.line, []byte("  [Native Frames]"))
			}
			for j := i; j >= 0; j = t.nodes[j].outer {
				put(t.nodes[j].line, t.nodes[j].text)
			}
		}
	}
	t.nodes, t.open, t.leaf = t.nodes[:0], t.open[:0], false
}
