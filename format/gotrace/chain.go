package gotrace

import (
	"strings"

	"github.com/unstall/unstall/evidence"
)

// maxLinks is how many holders of a chain are named. Beyond, the root is still
// told: every goroutine's memory holds the root of its own waits, so a chain is
// followed by copying it from one to the next.
const maxLinks = 6

// links joins the names of what the holders of a chain waited for. They repeat with
// every request.
type links map[[2]evidence.NameID]evidence.NameID

// link is a chain that begins with first and goes on with rest. A name that is in it
// already is not named again: of those who queue for a lock, each waited for it.
func (w *world) link(first, rest evidence.NameID) evidence.NameID {
	if first == 0 || rest == 0 || first == rest {
		return max(first, rest)
	}
	key := [2]evidence.NameID{first, rest}
	if id, ok := w.links[key]; ok {
		return id
	}
	a, b := w.b.Text(first), w.b.Text(rest)
	id := rest
	if parts := strings.Split(b, evidence.Link); len(parts) < maxLinks && !contains(parts, a) {
		id = w.b.Name(a + evidence.Link + b)
	}
	if w.links == nil {
		w.links = make(links)
	}
	w.links[key] = id
	return id
}

func contains(parts []string, part string) bool {
	for _, p := range parts {
		if p == part {
			return true
		}
	}
	return false
}

// root fills in what the holder of s did in its state h, which begins where s does. Where
// the holder waited for somebody's lock or pool itself, that one's root is taken over.
// At is where the holder was when it let go.
func (w *world) root(s, h *evidence.Segment, at evidence.StackID) {
	s.HolderKind, s.HolderCause, s.HolderStack, s.Via, s.Held = h.Kind, h.Cause, h.HolderStack, h.Via, h.Held
	if h.Lane == 0 && s.HolderStack == 0 {
		s.HolderStack = h.Stack
	}
	if (h.Kind == evidence.LockWait || h.Kind == evidence.PoolWait || h.Kind == evidence.Unobserved) && h.HolderKind != evidence.KindUnknown {
		s.HolderKind, s.HolderCause, s.HolderStack = h.HolderKind, h.HolderCause, h.HolderStack
		if h.Cause != s.Cause && h.Cause != 0 {
			s.Via = w.link(h.Cause, h.Via)
		}
	}
	if s.HolderStack == 0 {
		s.HolderStack = at
	}
}

// maxPieces is into how many states of its holder a wait is split in their order. Of more,
// those alike are drawn together: in a queue, each wait holds those of all before it, and
// what a holder did must fit into its memory.
const maxPieces = 96

// chargeHolder charges a wait for a lock or pool to what its holder did until t: the
// goroutine that let go. If that one had been waiting itself for what somebody holds, its
// own holder counts.
func (w *world) chargeHolder(g, by *goroutine, s evidence.Segment, at *stack, t int64) {
	s.Holder = by.id
	pieces := w.pieces[:0]
	add := func(x evidence.Segment) {
		if len(pieces) >= maxPieces {
			pieces = together(pieces)
		}
		pieces = append(pieces, x)
	}
	upto := g.since
	unknown := func(until int64) {
		if until > upto {
			x := s
			x.Dur = until - upto
			add(x)
			upto = until
		}
	}
	spells := w.did(by, max(g.since, by.born), t)
	for i := range spells {
		h := &spells[i].Segment
		unknown(spells[i].at)
		x := s
		x.Dur = h.Dur
		w.root(&x, h, at.id())
		add(x)
		upto += h.Dur
	}
	unknown(t)
	for i := range pieces {
		w.append(g, &pieces[i], g.since)
		g.since += pieces[i].Dur
	}
	g.since = t
	w.pieces = pieces
}

// together draws those together that differ in nothing but how long they took.
func together(pieces []evidence.Segment) []evidence.Segment {
	n := 0
next:
	for _, x := range pieces {
		for i := range pieces[:n] {
			p := &pieces[i]
			if p.HolderKind != x.HolderKind || p.HolderCause != x.HolderCause || p.Via != x.Via || (p.Held == evidence.Shares{}) != (x.Held == evidence.Shares{}) {
				continue
			}
			p.Dur += x.Dur
			for h, v := range x.Held {
				p.Held[h] += v
			}
			continue next
		}
		pieces[n] = x
		n++
	}
	return pieces[:n]
}

// chargeHop charges a wait for another goroutine to what that one did: its time
// is the request's.
func (w *world) chargeHop(g, by *goroutine, s evidence.Segment, at *stack, t int64) {
	spells := w.did(by, g.since, t)
	for i := range spells {
		begins, h := spells[i].at, &spells[i].Segment
		if begins > g.since {
			x := s
			x.Dur = begins - g.since
			w.append(g, &x, g.since)
			g.since = begins
		}
		if h.HolderStack == 0 {
			if h.HolderStack = h.Stack; h.Stack == 0 {
				h.HolderStack = at.id()
			}
		}
		if h.Lane == 0 {
			h.Lane = by.id
		}
		if s.Stack != 0 {
			h.Stack = s.Stack
		}
		w.append(g, h, g.since)
		g.since += h.Dur
	}
	if g.since < t {
		s.Dur = t - g.since
		w.append(g, &s, g.since)
	}
	g.since = t
}
