// Package stacktest writes stacks of threads as lines of text, for tests: functions, innermost first, and beside them,
// on lines that begin with "- " or are in brackets, what is said of the thread:
//
//   - waiting to lock (a shop.Cart)
//     shop.Cart.add
//     [http-nio-8080-exec]
package stacktest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Of returns the stack of a thread of a managed runtime.
func Of(lines ...string) (s threadstack.Stack) {
	for _, l := range lines {
		said, is := strings.CutPrefix(l, "- ")
		switch {
		case !is && strings.HasPrefix(l, "[") && strings.HasSuffix(l, "]") && l != "[Native Frames]":
			s.Name = strings.Trim(l, "[]")
		case !is:
			s.Frames = append(s.Frames, l)
		default:
			setInfo(&s.ThreadInfo, said)
		}
	}
	return s
}

// Kernel returns the stack of a thread with a call from the kernel, which is the first line.
func Kernel(lines ...string) threadstack.Stack {
	s := Of(lines[1:]...)
	s.Call = lines[0]
	return s
}

// setInfo sets the fact of one line of a test about a thread.
func setInfo(t *evidence.ThreadInfo, said string) {
	word, rest, _ := strings.Cut(said, " ")
	switch word {
	case "of":
		t.On = evidence.ObjectOf(rest)
	case "kernel":
		t.Kernel = rest
	case "sp":
		t.SP, _ = strconv.ParseUint(rest, 0, 64)
	case "ready":
		t.Ready = true
	case "not":
		t.Unmounted = rest == "mounted yet"
	}
	for use := evidence.ToLock; use <= evidence.ToPark; use++ {
		if class, is := strings.CutPrefix(said, use.String()+" (a "); is {
			t.Lock, t.Class = use, strings.TrimSuffix(class, ")")
		}
	}
}

// Real checks that each frame of a bundle is a function: facts about a thread belong to its [evidence.ThreadInfo].
func Real(t testing.TB, b *evidence.Bundle) {
	t.Helper()
	for id := range b.Stacks.All {
		for _, f := range b.Stacks.Frames(id) {
			if name := b.Names.Text(f.Func); strings.HasPrefix(name, "- ") {
				t.Errorf("a stack has the frame %q, which is no function", name)
			}
		}
	}
}

// Intern adds a stack to a bundle.
func Intern(p *evidence.Builder, s threadstack.Stack) evidence.StackID {
	var frames []evidence.Frame
	for _, f := range s.Frames {
		frames = append(frames, evidence.Frame{Func: p.Name(f)})
	}
	return p.ThreadStack(frames, s.ThreadInfo)
}
