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
	case kind == evidence.PoolWait && strings.HasSuffix(text, " at"):
		text += " " + threadstack.Bare(owner)
	case kind == evidence.NetWait:
		text += " in " + threadstack.Bare(owner)
	}
	return t.b.Names.ID(text)
}
