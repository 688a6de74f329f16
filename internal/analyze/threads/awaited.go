package threads

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Awaited names what a method awaits while it holds no thread: a pool or a limit, and the network,
// by the method, too. A client's pool of connections has the name of what it calls.
func (t *Threads) Awaited(s evidence.SubjectID, kind evidence.Kind, what evidence.NameID, stack evidence.StackID) evidence.NameID {
	text := t.b.Names.Text(what)
	owner := t.View(s, stack).Owner
	switch {
	case owner == "":
	case kind == evidence.PoolWait && strings.HasPrefix(text, "limit of ") && t.disagreeAbout(s, stack):
		text = "limit at " + threadstack.Bare(owner)
	case kind == evidence.PoolWait && strings.HasSuffix(text, " at"):
		text += " " + threadstack.Bare(owner)
	case kind == evidence.NetWait:
		text += " in " + threadstack.Bare(owner)
	}
	return t.b.Names.ID(text)
}

// awaitPlace is where a method of a process awaits: its innermost function.
type awaitPlace struct {
	subject evidence.SubjectID
	method  evidence.NameID
}

// disagreeAbout reports whether the pieces of a recording found different limits where a method awaits: then none of them is
// known to be the limit.
func (t *Threads) disagreeAbout(s evidence.SubjectID, stack evidence.StackID) bool {
	if t.disagree == nil {
		t.disagree = make(map[awaitPlace]bool)
		x, typ, limits := &t.b.Samples, t.b.Names.Lookup(evidence.SampleAwaitPool), make(map[awaitPlace]evidence.NameID)
		for i := range x.Len() {
			if typ == 0 || x.Type[i] != typ || !strings.HasPrefix(t.b.Names.Text(x.Class[i]), "limit of ") {
				continue
			}
			at := awaitPlace{x.Subject[i], t.methodOf(x.Stack[i])}
			if limits[at] != 0 && limits[at] != x.Class[i] {
				t.disagree[at] = true
			}
			limits[at] = x.Class[i]
		}
	}
	return t.disagree[awaitPlace{s, t.methodOf(stack)}]
}

// methodOf returns the innermost function of a stack.
func (t *Threads) methodOf(stack evidence.StackID) evidence.NameID {
	if frames := t.b.Stacks.Frames(stack); len(frames) > 0 {
		return frames[0].Func
	}
	return 0
}
