package threads

import (
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Summary is a group's stack in as few frames as tell what happens, innermost first and
// readable: the call that waits, the user's code below it with who called that, where
// the framework called the user's code, and how the thread began; "…" stands for what is left out.
func (g *Group) Summary() []string {
	if g.View.Kernel {
		return g.kernelBrief()
	}
	first := max(0, g.View.Wait)
	for first < len(g.Frames) && !threadstack.IsFunction(g.Frames[first]) {
		first++
	}
	last := len(g.Frames) - 1
	if g.View.Began >= 0 {
		last = g.View.Began
	}
	var out []string
	left := false
	for i := first; i <= last; i++ {
		near := g.View.User >= 0 && (i >= g.View.User && i <= g.View.User+2 || i == g.View.Outer)
		if i != first && i != last && !near || !threadstack.IsFunction(g.Frames[i]) {
			left = true
			continue
		}
		if left {
			out = append(out, "…")
		}
		out, left = append(out, threadstack.Short(g.Frames[i])), false
	}
	return out
}

// mostKernelFrames bounds a stack of what the kernel said.
const mostKernelFrames = 8

// kernelBrief is the kernel's function in which a thread waits, and the program's by which it came there;
// nil where none of these is known.
func (g *Group) kernelBrief() (out []string) {
	if g.Kernel != "" && g.View.Owner != "" {
		out = append(out, g.Kernel+" (kernel)")
	}
	for _, f := range g.Frames {
		switch name, _ := nativeFunction(f); {
		case name == "":
		case len(out) == mostKernelFrames:
			return append(out, "…")
		default:
			out = append(out, name)
		}
	}
	return out
}
