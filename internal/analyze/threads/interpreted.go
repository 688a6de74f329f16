package threads

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// mostApart is how far (ns) a look into an interpreter may be from a moment for the thread to have been in the same function: a little more than the usual
// time between two looks.
const mostApart = int64(25e6)

// NameInterpreted gives stacks of a process whose code runs in an interpreter the functions of its language. On them the kernel sees the
// interpreter's own functions only; looks into the process's memory at nearly the same time tell the language's. What is further inside stays:
// functions of the kernel, of the C library and of native modules. It changes the bundle's rows and not what was read.
func NameInterpreted(b *evidence.Bundle) {
	typ := b.Names.Lookup(evidence.SampleInterpreted)
	if typ == 0 {
		return
	}
	n := &interpreted{b: b, stands: make(map[laneOf][]stand), files: make(map[evidence.SubjectID]string), made: make(map[spliced]evidence.StackID), inner: make(map[innerOf][]evidence.Frame), waits: make(map[evidence.StackID]bool)}
	n.index(typ)
	x, v := &b.Samples, &b.Intervals
	x.Stack, v.Stack = slices.Clone(x.Stack), v.Stack.Clone() // the bundle that was read shares the columns
	on, off, call := b.Names.Lookup(evidence.SampleOnCPU), b.Names.Lookup(evidence.SampleOffCPU), b.Names.Lookup(evidence.SampleSyscall)
	for i := range x.Len() {
		switch k := (laneOf{x.Subject[i], x.Lane[i]}); x.Type[i] {
		case 0:
		case on:
			x.Stack[i] = n.nameStack(k, x.Stack[i], x.Time[i], true)
		case call:
			x.Stack[i] = n.nameStack(k, x.Stack[i], x.Time[i], b.Stacks.Info(x.Stack[i]).Call == evidence.CallRunning)
		case off: // it is dated by its end
			x.Stack[i] = n.nameStack(k, x.Stack[i], x.Time[i]-x.Value[i]/2, false)
		}
	}
	for i := range v.Len() {
		k, middle := laneOf{v.Subject.At(i), v.Lane.At(i)}, v.Start[i]+(v.End[i]-v.Start[i])/2
		switch {
		case v.Kind[i] == evidence.InKernel && v.Stack.At(i) != 0:
			v.Stack.Set(i, n.nameStack(k, v.Stack.At(i), middle, false))
		case v.Kind[i] == evidence.Call && n.waitsForCall(k, middle):
			v.Stack.Set(i, n.nameStack(k, v.Stack.At(i), middle, false))
		}
	}
}

// waitsForCall reports whether the thread that made a call waits in one of the program's own functions in its middle. The thread of an event loop
// does not: it is in the loop, or serves another request.
func (n *interpreted) waitsForCall(k laneOf, middle int64) bool {
	s := n.nearest(n.stands[k], middle, false)
	if s == nil || s.runs || s.from > middle || s.until < middle {
		return false
	}
	waits, known := n.waits[s.stack]
	if !known {
		var functions []string
		for _, f := range n.b.Stacks.Frames(s.stack) {
			functions = append(functions, n.b.Names.Text(f.Func))
		}
		owner, library := nativeOwner(functions)
		waits = owner != "" && !library && !slices.ContainsFunc(functions, isLoopFrame)
		n.waits[s.stack] = waits
	}
	return waits
}

// isLoopFrame reports whether a function is one in which an event loop of a language's library calls what it handles.
func isLoopFrame(function string) bool {
	return strings.Contains(function, "/asyncio/") || strings.Contains(function, "/tornado/ioloop") || strings.Contains(function, "/twisted/internet/")
}

// stand is a time in which looks saw a thread in the same functions.
type stand struct {
	from, until int64
	stack       evidence.StackID
	runs        bool
}

type spliced struct {
	subject     evidence.SubjectID
	outer, with evidence.StackID
}

type innerOf struct {
	subject evidence.SubjectID
	stack   evidence.StackID
}

type interpreted struct {
	b      *evidence.Bundle
	stands map[laneOf][]stand            // by time
	files  map[evidence.SubjectID]string // that have the interpreter
	made   map[spliced]evidence.StackID
	inner  map[innerOf][]evidence.Frame
	waits  map[evidence.StackID]bool // by stack of a look: a thread that waits there waits for its own function
}

func (n *interpreted) index(typ evidence.NameID) {
	held, x := n.b.Names.Lookup(evidence.InterpreterHeld), &n.b.Samples
	for i := range x.Len() {
		if x.Type[i] == typ && x.Lane[i] > 0 {
			k := laneOf{x.Subject[i], x.Lane[i]}
			n.stands[k] = append(n.stands[k], stand{x.Time[i], x.Time[i] + x.Value[i], x.Stack[i], x.Class[i] == held})
		}
	}
	for _, all := range n.stands {
		slices.SortStableFunc(all, func(a, b stand) int { return cmp.Compare(a.from, b.from) })
	}
	for _, f := range n.b.Facts {
		if f.Key == evidence.FactInterpreterFile {
			n.files[f.Subject] = f.Value
		}
	}
}

// nameStack returns the stack of a thread at a moment with the functions of its language, where a look tells them. A thread that runs was most
// probably seen running in these.
func (n *interpreted) nameStack(k laneOf, stack evidence.StackID, at int64, runs bool) evidence.StackID {
	s := n.nearest(n.stands[k], at, runs)
	if s == nil {
		return stack
	}
	outer := n.b.Stacks.Frames(s.stack)
	whole := n.hasCompiled(k.subject, outer)
	if whole && s.runs != runs {
		return stack // an engine's thread that waits in its loop now has left the function in which it ran
	}
	made := spliced{k.subject, stack, s.stack}
	id, known := n.made[made]
	if !known {
		inner := n.innerFrames(k.subject, stack)
		if whole { // then the look has what is further inside, too
			inner = inner[:len(inner)-n.compiledFrames(inner)]
		}
		frames := append(slices.Clone(inner), outer...)
		id = n.b.Stacks.Of(frames, n.b.Stacks.Info(stack))
		n.made[made] = id
	}
	return id
}

// hasCompiled says whether the frames of a look have the interpreter's compiled code among them. Looks at engines that compile do: the language's
// functions and compiled ones call each other there.
func (n *interpreted) hasCompiled(s evidence.SubjectID, frames []evidence.Frame) bool {
	file := n.files[s]
	return file != "" && slices.ContainsFunc(frames, func(f evidence.Frame) bool { return n.b.Names.Text(f.File) == file })
}

// compiledFrames counts the outermost frames that are not the kernel's.
func (n *interpreted) compiledFrames(frames []evidence.Frame) (count int) {
	for _, f := range slices.Backward(frames) {
		if n.b.Names.Text(f.File) == evidence.KernelFile {
			break
		}
		count++
	}
	return count
}

// nearest returns the look at a moment, else the nearest; nil if none is near. Of two that are near, that counts in which the thread did what it does now.
func (n *interpreted) nearest(all []stand, at int64, runs bool) *stand {
	i := sort.Search(len(all), func(i int) bool { return all[i].from > at })
	var best *stand
	least := 2 * mostApart
	for j := max(0, i-2); j < min(len(all), i+2); j++ {
		s := &all[j]
		apart := max(0, s.from-at, at-s.until)
		if apart > mostApart {
			continue
		}
		if apart > 0 && s.runs != runs {
			apart += mostApart
		}
		if best == nil || apart < least {
			best, least = s, apart
		}
	}
	return best
}

// innerFrames returns the frames of a stack further inside than the interpreter. Beyond the interpreter's first function, or one whose place is not
// known, nothing is certain: interpreters are built without frame pointers. Waiting for the interpreter's lock stays.
func (n *interpreted) innerFrames(s evidence.SubjectID, stack evidence.StackID) []evidence.Frame {
	k := innerOf{s, stack}
	if inner, known := n.inner[k]; known {
		return inner
	}
	file := n.files[s]
	frames := n.b.Stacks.Frames(stack)
	until := len(frames)
	for i, f := range frames {
		in := n.b.Names.Text(f.File)
		if in == evidence.KernelFile {
			continue
		}
		name := n.b.Names.Text(f.Func)
		function, library := nativeFunction(name)
		if in = cmp.Or(library, in); in == "" {
			in = file // of looks, the program's own file is not told
		}
		if function == evidence.UnknownFunction || in == file || strings.HasPrefix(name, file+"+0x") {
			if until = i; slices.Contains(lockTakers, function) {
				until++
			}
			break
		}
	}
	inner := slices.Clone(frames[:until])
	for i, f := range inner {
		if in, name := n.b.Names.Text(f.File), n.b.Names.Text(f.Func); strings.Contains(in, ".so") && !strings.HasSuffix(name, ")") { // as looks have it
			inner[i] = evidence.Frame{Func: n.b.Names.ID(name + " (" + in + ")")}
		}
	}
	n.inner[k] = inner
	return inner
}
