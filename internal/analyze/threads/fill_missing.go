package threads

import (
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Other looks supply what a look lacks: a wait that ended while its stack was read has no function, and a page fault has its file only
// where its wait was recorded. If nearly all looks at a process in the same call on the same object are in one function, the others are,
// too; and if nearly all in the same call in one function are on one file, the others are, too.
const leastSame = 3 // looks that are enough

// likeness is what looks have in common.
type likeness struct {
	subject evidence.SubjectID
	call    string
	on      evidence.Object
	owner   string
}

// said is what one stack of a look says.
type said struct {
	call  string
	on    evidence.Object
	owner string
}

// fillMissing fills in what looks lack from other looks.
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
			stack := threadstack.Of(b, x.Stack[i])
			l.call, l.on = nativeCall(&stack)
			var library bool
			if l.owner, library = nativeOwner(stack.Frames); library {
				l.owner = ""
			}
			known[x.Stack[i]] = l
		}
		s := x.Subject[i]
		if l.owner == "" {
			continue
		}
		count(owners, likeness{subject: s, call: l.call, on: l.on}, l.owner)
		if k := (likeness{subject: s, call: l.call, owner: l.owner}); stacks[k] == 0 || x.Stack[i] < stacks[k] {
			stacks[k] = x.Stack[i]
		}
		if l.on.Kind == evidence.File {
			count(files, likeness{subject: s, call: l.call, owner: l.owner}, l.on.Name)
		}
	}
	if len(owners) == 0 {
		return
	}
	x.Stack = slices.Clone(x.Stack)
	for _, i := range rows {
		s, l := x.Subject[i], known[x.Stack[i]]
		if l.call == "" || l.call == evidence.CallRunning {
			continue
		}
		owner, on := l.owner, l.on
		var like evidence.StackID
		if owner == "" {
			if owner = nearlyOne(owners[likeness{subject: s, call: l.call, on: l.on}]); owner != "" {
				like = stacks[likeness{subject: s, call: l.call, owner: owner}]
			}
		}
		if on == (evidence.Object{}) && owner != "" {
			on = evidence.ObjectOf(nearlyOne(files[likeness{subject: s, call: l.call, owner: owner}]))
		}
		if like == 0 && on == l.on {
			continue
		}
		info := b.Stacks.Info(x.Stack[i])
		if on != l.on {
			info.On = on
		}
		x.Stack[i] = stackWith(b, x.Stack[i], info, b.Stacks.Frames(like))
	}
}

// nearlyOne returns the value of nearly all looks, "" if they differ, or are few.
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

// stackWith returns the stack of a look with added facts, and with other functions of the program where these are given.
func stackWith(b *evidence.Bundle, look evidence.StackID, info evidence.ThreadInfo, functions []evidence.Frame) evidence.StackID {
	if len(functions) == 0 {
		functions = b.Stacks.Frames(look)
	}
	return b.Stacks.Of(functions, info)
}
