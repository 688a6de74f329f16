package threads

import (
	"hash/maphash"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// callPath is a stack as ways from where its thread began: two threads with the same way to
// a frame were called alike so far.
type callPath struct {
	frames []string // innermost first
	ways   []way    // to each of them
}

// way stands for the functions from where a thread began up to a frame.
type way uint64

var pathSeed = maphash.MakeSeed()

// pathOf is the call path of a stack; frames that stand for no function, and what the
// compiler names anew for each lambda, belong to no way.
func (t *Threads) pathOf(stack evidence.StackID) *callPath {
	if p := t.paths[stack]; p != nil {
		return p
	}
	p := &callPath{frames: t.framesOf(stack)}
	p.ways = make([]way, len(p.frames))
	var at way
	for i := len(p.frames) - 1; i >= 0; i-- {
		if f := p.frames[i]; threadstack.IsFunction(f) {
			at = way(maphash.Comparable(pathSeed, [2]any{at, f}))
		}
		p.ways[i] = at
	}
	if t.paths == nil {
		t.paths = make(map[evidence.StackID]*callPath)
	}
	t.paths[stack] = p
	return p
}

// leadsThrough says whether a stack leads through one of the ways.
func (p *callPath) leadsThrough(ways map[way]bool) bool {
	for _, w := range p.ways {
		if ways[w] {
			return true
		}
	}
	return false
}

// userFunction returns the function in whose code a thread is, "" if no code of the user's, nor a
// library's, is on its stack.
func (t *Threads) userFunction(l *Sample) string {
	if l.View.User < 0 {
		return ""
	}
	return t.pathOf(l.Stack).frames[l.View.User]
}

// rootFunction returns the outermost function of the user's own, or a library's: what its thread
// is for.
func (t *Threads) rootFunction(s evidence.SubjectID, l *Sample) string {
	if l.View.User < 0 {
		return ""
	}
	frames := t.pathOf(l.Stack).frames
	framework := t.of[t.b.Subjects[s].Runtime].Framework
	for i := len(frames) - 1; i >= l.View.User; i-- {
		if threadstack.IsFunction(frames[i]) && !framework(frames[i]) {
			return frames[i]
		}
	}
	return ""
}

// Outermost is the outermost function of the user's own, or a library's, on the stack of a look, as views name code; "" of none.
func (t *Threads) Outermost(s evidence.SubjectID, l *Sample) string {
	frame := t.rootFunction(s, l)
	if frame == "" {
		return ""
	}
	return t.of.readStack(t.b.Subjects[s].Runtime, threadstack.Stack{Frames: []string{frame}}, t.programs[s]).Owner
}
