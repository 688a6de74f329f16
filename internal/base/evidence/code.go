package evidence

import (
	"slices"
	"strconv"
	"strings"
)

// Code resolves the addresses of a process's functions that were made at run time, which samples from outside the runtime contain.
// It resolves only addresses that were seen, because a large program has 200,000 functions and samples meet few of them.
type Code struct {
	Subject SubjectID
	// At returns the function at an address at a time (ns), as the runtime's own stacks name it; "" unknown.
	At func(address uint64, time int64) string
}

// UnknownFunction stands for code of which neither the name nor the file is known.
const UnknownFunction = "an unknown function"

// MadeCode stands for a function that was made at run time and has no known name.
const MadeCode = "code made at run time"

// Address is the name of a function that is known only by its address, until [Bundle.NameCode].
func Address(address uint64) string { return addressMark + strconv.FormatUint(address, 16) }

const addressMark = "address 0x"

// Code adds a resolver of functions made at run time.
func (p *Builder) Code(c Code) { p.bundle.Code = append(p.bundle.Code, c) }

// NameCode names functions that samples and intervals know only by address, from other artifacts of the same process. Call it after
// [Bundle.Unify] and [Bundle.Align].
func (b *Bundle) NameCode() {
	n := &namer{b: b, made: b.Names.ID(MadeCode), stacks: make(map[namedStack]StackID), addresses: make(map[NameID]uint64)}
	for id := NameID(1); int(id) <= b.Names.Len(); id++ {
		if hex, is := strings.CutPrefix(b.Names.Text(id), addressMark); is {
			if at, err := strconv.ParseUint(hex, 16, 64); err == nil {
				n.addresses[id] = at
			}
		}
	}
	if len(n.addresses) == 0 {
		return
	}
	x, v := &b.Samples, &b.Intervals
	x.Stack, v.Stack = slices.Clone(x.Stack), v.Stack.Clone() // do not change what was read
	for i := range x.Len() {
		x.Stack[i] = n.nameStack(x.Subject[i], x.Stack[i], x.Time[i])
	}
	for i := range v.Len() {
		v.Stack.Set(i, n.nameStack(v.Subject.At(i), v.Stack.At(i), v.Start[i]))
	}
}

type namer struct {
	b         *Bundle
	made      NameID
	addresses map[NameID]uint64
	stacks    map[namedStack]StackID // code seldom moves, so a stack is resolved when it is first seen
	frames    []Frame
}

type namedStack struct {
	subject SubjectID
	stack   StackID
}

func (n *namer) nameStack(s SubjectID, stack StackID, time int64) StackID {
	if stack == 0 {
		return 0
	}
	k := namedStack{s, stack}
	if id, known := n.stacks[k]; known {
		return id
	}
	n.frames = append(n.frames[:0], n.b.Stacks.Frames(stack)...)
	for i := range n.frames {
		if at, is := n.addresses[n.frames[i].Func]; is {
			n.frames[i] = Frame{Func: n.nameFunction(s, at, time)}
		}
	}
	id := n.b.Stacks.Of(n.frames, n.b.Stacks.Info(stack))
	n.stacks[k] = id
	return id
}

func (n *namer) nameFunction(s SubjectID, address uint64, time int64) NameID {
	for _, c := range n.b.Code {
		if c.Subject == s {
			if name := c.At(address, time); name != "" {
				return n.b.Names.ID(name)
			}
		}
	}
	return n.made
}
