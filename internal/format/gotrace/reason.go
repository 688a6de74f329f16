package gotrace

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// reason is why a goroutine waits, as the runtime says (waitReasonStrings in runtime/runtime2.go,
// traceBlockReasonStrings in runtime/traceruntime.go).
type reason struct {
	text string
	kind reasonKind
	name evidence.NameID // once asked for
}

// reasonKind tells those apart that say by themselves what is waited for.
type reasonKind uint8

const (
	isOther reasonKind = iota
	isNetwork
	isSleep
	isAssist
	isPreempted
	isCollector
)

var noReason reason

func newReason(text string) *reason {
	r := &reason{text: text}
	switch {
	case text == "network":
		r.kind = isNetwork
	case text == "sleep":
		r.kind = isSleep
	case text == "GC mark assist wait for work":
		r.kind = isAssist
	case text == "preempted":
		r.kind = isPreempted
	case strings.HasPrefix(text, "GC "), text == "wait for GC cycle":
		r.kind = isCollector
	}
	return r
}

// causeName returns the reason as the name of a cause.
func (r *reason) causeName(b *evidence.Builder) evidence.NameID {
	if r == nil {
		return 0
	}
	if r.name == 0 {
		r.name = b.Name(r.text)
	}
	return r.name
}

// textOrEmpty returns what the runtime says, "" if that is not known.
func (r *reason) textOrEmpty() string {
	if r == nil {
		return ""
	}
	return r.text
}

// isChannelWait says whether a goroutine waits to receive from a channel, or from one of several.
func (r *reason) isChannelWait() bool {
	return r != nil && (r.text == "select" || r.text == "chan receive")
}

// reasonTable is the reasons by the index of their text in the present generation.
type reasonTable struct {
	now   *wire.Generation
	known []*reason
	all   map[string]*reason
}

// maxReasons bounds the reasons that are remembered; the runtime has some 40.
const maxReasons = 1 << 10

// setGeneration sets the generation that indices are of from now on.
func (t *reasonTable) setGeneration(g *wire.Generation) {
	if g == nil || g == t.now {
		return
	}
	if t.now == nil || !g.Continues(t.now) {
		clear(t.known)
		t.known = t.known[:0]
	}
	t.now = g
}

// reasonAt returns the reason that an event refers to by index i.
func (t *reasonTable) reasonAt(w *world, i uint32) *reason {
	if int(i) < len(t.known) && t.known[i] != nil {
		return t.known[i]
	}
	text := w.batch.Text(i)
	r := t.all[text]
	if r == nil {
		if t.all == nil || len(t.all) >= maxReasons {
			t.all = make(map[string]*reason)
		}
		text = strings.Clone(text) // not of the generation, which would be kept for it
		r = newReason(text)
		t.all[text] = r
	}
	if int(i) < maxReasonIndex {
		for int(i) >= len(t.known) {
			t.known = append(t.known, nil)
		}
		t.known[i] = r
	}
	return r
}

// maxReasonIndex bounds the table by index.
const maxReasonIndex = 1 << 16
