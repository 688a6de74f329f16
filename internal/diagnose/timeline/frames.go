package timeline

import (
	"fmt"
	"path"
	"strings"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// frames describes stacks, each once.
type frames struct {
	known  map[evidence.StackID]string
	stacks *threads.Reader // nil: threads' stacks tell nothing of requests
}

// mechanics are packages that only carry out a wait and do not show its purpose: they are left out where other code called them.
var mechanics = map[string]bool{"runtime": true, "internal": true, "syscall": true}

// standard are the first parts of the standard library's import paths. The caller of such code is more telling than the code itself.
var standard = func() map[string]bool {
	m := make(map[string]bool)
	for _, p := range strings.Fields(`archive bufio builtin bytes cmp compress container context crypto database debug embed encoding errors expvar
		flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime slices sort strconv
		strings structs sync syscall testing text time unicode unique unsafe vendor weak`) {
		m[p] = true
	}
	return m
}()

// packageRoot returns the first part of the import path of a function's package.
func packageRoot(function string) string {
	if i := strings.IndexAny(function, "(["); i >= 0 {
		function = function[:i] // a receiver or a type argument does not count
	}
	if i := strings.IndexByte(function, '/'); i >= 0 {
		return function[:i]
	}
	if i := strings.IndexByte(function, '.'); i >= 0 {
		return function[:i]
	}
	return function
}

// describeStack describes a stack by two or three frames, innermost first: the innermost that is
// not the runtime's, and the first of the program's own or of a library. Without one, the function
// that the goroutine's entry called names the stage.
func (f *frames) describeStack(b *evidence.Bundle, id evidence.StackID) string {
	if id == 0 {
		return ""
	}
	if text, ok := f.known[id]; ok {
		return text
	}
	if f.known == nil {
		f.known = make(map[evidence.StackID]string)
	}
	text := ""
	if f.stacks != nil {
		text = whereThread(threadstack.Of(b, id), f.stacks)
	} else {
		text = describeGoStack(b, b.Stacks.Frames(id))
	}
	f.known[id] = text
	return text
}

func describeGoStack(b *evidence.Bundle, stack []evidence.Frame) string {
	innermost, own := -1, -1
	for i, x := range stack {
		p := packageRoot(b.Names.Text(x.Func))
		if innermost < 0 && !mechanics[p] {
			innermost = i
		}
		if !standard[p] {
			own = i
			break
		}
	}
	var text []string
	add := func(i int) {
		x := stack[i]
		s := b.Names.Text(x.Func)
		if file := b.Names.Text(x.File); file != "" && x.Line > 0 {
			s += fmt.Sprintf(" %s:%d", path.Base(file), x.Line)
		}
		text = append(text, s)
	}
	switch {
	case len(stack) == 0:
		return ""
	case innermost < 0:
		add(0)
	case own < 0:
		add(innermost)
		if stage := len(stack) - 2; stage > innermost {
			add(stage)
		}
	default:
		if innermost < own {
			add(innermost)
		}
		add(own)
		if own+1 < len(stack) && !standard[packageRoot(b.Names.Text(stack[own+1].Func))] {
			add(own + 1)
		}
	}
	return strings.Join(text, " ← ")
}

// whereThread describes a thread's stack by the call that waits, or by the recorded reason where
// no frame shows it, and by the first frame of the user's own code below it.
func whereThread(stack threadstack.Stack, stacks *threads.Reader) string {
	v := stacks.Read(stack, "")
	var text []string
	if says := stack.Says(); says != "" && v.Wait < 0 && (v.Waiting() || v.User < 0) {
		text = append(text, says)
	}
	for _, i := range []int{v.Wait, v.User} {
		if i >= 0 && i < len(stack.Frames) && (len(text) == 0 || i != v.Wait) {
			text = append(text, threadstack.Readable(stack.Frames[i]))
		}
	}
	if len(text) == 0 && len(stack.Frames) > 0 {
		return threadstack.Readable(stack.Frames[0])
	}
	return strings.Join(text, " ← ")
}
