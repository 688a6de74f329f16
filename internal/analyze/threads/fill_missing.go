package threads

import (
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// What one look at a thread lacks others tell: a wait that ended while its stack was read has no
// function, and a page fault has its file only where its wait was recorded. Where nearly all looks at a
// process in the same call on the same thing are of one function, the others are, too; and where nearly
// all in the same call in one function are on one file.
const leastSame = 3 // looks that tell

// likeness is what looks have in common.
type likeness struct {
	subject    evidence.SubjectID
	call, with string
}

// said is what one stack of a look says.
type said struct {
	call, on, owner string
}

// fillMissing fills in what looks lack by others.
func fillMissing(b *evidence.Bundle, rows []int) {
	x := &b.Samples
	known := make(map[evidence.StackID]said)
	owners, files := make(map[likeness]map[string]int), make(map[likeness]map[string]int)
	stacks := make(map[likeness]evidence.StackID) // one in each function
	count := func(m map[likeness]map[string]int, k likeness, what string) {
		if m[k] == nil {
			m[k] = make(map[string]int)
		}
		m[k][what]++
	}
	for _, i := range rows {
		l, ok := known[x.Stack[i]]
		if !ok {
			frames := texts(b, x.Stack[i])
			l.call, l.on, _ = nativeCall(frames)
			var library bool
			if l.owner, library = nativeOwner(frames); library {
				l.owner = ""
			}
			known[x.Stack[i]] = l
		}
		s := x.Subject[i]
		if l.owner == "" {
			continue
		}
		count(owners, likeness{s, l.call, l.on}, l.owner)
		if k := (likeness{s, l.call, l.owner}); stacks[k] == 0 || x.Stack[i] < stacks[k] {
			stacks[k] = x.Stack[i]
		}
		if strings.HasPrefix(l.on, "/") {
			count(files, likeness{s, l.call, l.owner}, l.on)
		}
	}
	if len(owners) == 0 {
		return
	}
	x.Stack = slices.Clone(x.Stack)
	made := make(map[[2]int64]evidence.StackID)
	for _, i := range rows {
		s, l := x.Subject[i], known[x.Stack[i]]
		if l.call == "" || l.call == "running" {
			continue
		}
		owner, on := l.owner, l.on
		var with evidence.StackID
		if owner == "" {
			if owner = nearlyOne(owners[likeness{s, l.call, l.on}]); owner != "" {
				with = stacks[likeness{s, l.call, owner}]
			}
		}
		if on == "" && owner != "" {
			on = nearlyOne(files[likeness{s, l.call, owner}])
		}
		if with == 0 && on == l.on {
			continue
		}
		k := [2]int64{int64(x.Stack[i])<<32 | int64(with), int64(b.Names.ID(on))}
		id, ok := made[k]
		if !ok {
			file := ""
			if on != l.on {
				file = on
			}
			said := ""
			if file != "" {
				said = isOn + file
			}
			id = joined(b, x.Stack[i], "", said, ownFrames(b, with))
			made[k] = id
		}
		x.Stack[i] = id
	}
}

// nearlyOne is what nearly all looks say, "" if they differ, or are few.
func nearlyOne(by map[string]int) string {
	all, best := 0, ""
	for _, what := range slices.Sorted(maps.Keys(by)) {
		all += by[what]
		if best == "" || by[what] > by[best] {
			best = what
		}
	}
	if all < leastSame || float64(by[best]) < nearlyAll*float64(all) {
		return ""
	}
	return best
}

// ownFrames are the functions of the program on the stack of a look.
func ownFrames(b *evidence.Bundle, stack evidence.StackID) (out []string) {
	for n, f := range texts(b, stack) {
		if n > 0 && threadstack.IsFunction(f) {
			out = append(out, f)
		}
	}
	return out
}

// What may be said of a look beside its call.
const (
	isOn    = "- of "   // what the call is on
	isReady = "- ready" // it waits for a processor
)

// joined is the stack of a look with another call, more that is said of it, and functions, where these are given.
func joined(b *evidence.Bundle, look evidence.StackID, call, said string, functions []string) evidence.StackID {
	old := b.Stacks.Frames(look)
	var frames []evidence.Frame
	var thread []evidence.Frame
	for n, f := range old {
		text := b.Names.Text(f.Func)
		switch {
		case n == 0 && call != "":
			f.Func = b.Names.ID(call)
		case n > 0 && strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"):
			thread = append(thread, f)
			continue
		case n > 0 && len(functions) > 0 && threadstack.IsFunction(text):
			continue // they take its place
		}
		if frames = append(frames, f); n == 0 && said != "" {
			frames = append(frames, evidence.Frame{Func: b.Names.ID(said)})
		}
	}
	for _, f := range functions {
		frames = append(frames, evidence.Frame{Func: b.Names.ID(f)})
	}
	return b.Stacks.ID(append(frames, thread...))
}
