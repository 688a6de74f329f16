package threads

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// callPath is a stack with a hash for each frame of the call chain from the thread's start to that frame. Threads with the same
// hash have the same chain up to there.
type callPath struct {
	frames []string // innermost first
	ways   []way    // to each frame
}

// way is the hash of the functions from a thread's start to a frame.
type way uint64

var pathSeed = maphash.MakeSeed()

// pathOf returns the call path of a stack. Its hashes leave out frames that are no functions, and names that the compiler makes up
// for each lambda.
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

// leadsThrough says whether a stack contains one of the chains.
func (p *callPath) leadsThrough(ways map[way]bool) bool {
	for _, w := range p.ways {
		if ways[w] {
			return true
		}
	}
	return false
}

// userFunction returns the innermost function of the user's code or a library's on a thread's stack, "" if there is none.
func (t *Threads) userFunction(l *Sample) string {
	if l.View.User < 0 {
		return ""
	}
	return t.pathOf(l.Stack).frames[l.View.User]
}

// rootFunction returns the outermost function of the user's code or a library's: what the thread is for.
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

// PathTo returns the user's function with its callers, as [threadstack.View.Path] does, by which sampled threads of a process came to it most
// often. An owner that no sample has is returned as it is.
func (t *Threads) PathTo(s evidence.SubjectID, owner string) string {
	seen := make(map[string]int64)
	looks := t.Samples(s)
	for i := range looks {
		if v := &looks[i].View; v.Owner == owner && owner != "" {
			seen[v.Path(t.pathOf(looks[i].Stack).frames)]++
		}
	}
	for _, path := range slices.Sorted(maps.Keys(seen)) {
		if seen[path] > seen[owner] || seen[owner] == 0 {
			owner = path
		}
	}
	return owner
}

// Outermost returns the outermost function of the user's code or a library's on a sampled stack, named as in views; "" if there is
// none.
func (t *Threads) Outermost(s evidence.SubjectID, l *Sample) string {
	frame := t.rootFunction(s, l)
	if frame == "" {
		return ""
	}
	return t.of.readStack(t.b.Subjects[s].Runtime, threadstack.Stack{Frames: []string{frame}}, t.programs[s]).Owner
}
