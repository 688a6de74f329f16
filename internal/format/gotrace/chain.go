package gotrace

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// maxLinks is how many holders of a chain are named. Beyond, the root is still
// told: every goroutine's memory holds the root of its own waits, so a chain is
// followed by copying it from one to the next.
const maxLinks = 6

// links joins the names of what the holders of a chain waited for. They repeat with
// every request.
type links map[[2]evidence.NameID]evidence.NameID

// joinChain returns the name of a chain that begins with first and goes on with rest. A name that
// is in it already is not repeated: all that queue for one lock wait for it.
func (w *world) joinChain(first, rest evidence.NameID) evidence.NameID {
	if first == 0 || rest == 0 || first == rest {
		return max(first, rest)
	}
	key := [2]evidence.NameID{first, rest}
	if id, ok := w.links[key]; ok {
		return id
	}
	a, b := w.b.Text(first), w.b.Text(rest)
	id := rest
	if parts := strings.Split(b, evidence.Link); len(parts) < maxLinks && !slices.Contains(parts, a) {
		id = w.b.Name(a + evidence.Link + b)
	}
	if w.links == nil {
		w.links = make(links)
	}
	w.links[key] = id
	return id
}

// fillRoot fills in what the holder of s did in its state h, which begins where s does. Where the
// holder itself waited for a lock or pool, the root of that wait is taken over. At is where the
// holder was when it let go.
func (w *world) fillRoot(s, h *evidence.Segment, at evidence.StackID) {
	s.HolderKind, s.HolderCause, s.HolderStack, s.Via, s.Held = h.Kind, h.Cause, h.HolderStack, h.Via, h.Held
	if h.Lane == 0 && s.HolderStack == 0 {
		s.HolderStack = h.Stack
	}
	if (h.Kind == evidence.LockWait || h.Kind == evidence.PoolWait || h.Kind == evidence.Unobserved) && h.HolderKind != evidence.KindUnknown {
		s.HolderKind, s.HolderCause, s.HolderStack = h.HolderKind, h.HolderCause, h.HolderStack
		if h.Cause != s.Cause && h.Cause != 0 {
			s.Via = w.joinChain(h.Cause, h.Via)
		}
	}
	if s.HolderStack == 0 {
		s.HolderStack = at
	}
}

// maxPieces bounds the states of its holder into which a wait is split in order. If there are more, equal states are merged: in a queue
// each wait contains those of all waits before it, and what a holder did must fit into its memory.
const maxPieces = 96

// chargeHolder charges a wait for a lock or pool to what its holder, the goroutine that let go, did until t. If the holder itself waited
// for a lock or pool, the holder of that counts.
func (w *world) chargeHolder(g, by *goroutine, x wait, at *stack, t int64) {
	s := x.toSegment(0)
	s.Holder = by.id
	pieces := w.pieces[:0]
	add := func(x evidence.Segment) {
		if len(pieces) >= maxPieces {
			pieces = mergeAlike(pieces)
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
	spells := w.recallStates(by, max(g.since, by.born), t)
	for i := range spells {
		h := &spells[i].Segment
		unknown(spells[i].at)
		x := s
		x.Dur = h.Dur
		w.fillRoot(&x, h, at.stackID())
		add(x)
		upto += h.Dur
	}
	unknown(t)
	for i := range pieces {
		w.noteSegment(g, &pieces[i], g.since)
		g.since += pieces[i].Dur
	}
	g.since = t
	w.pieces = pieces
}

// mergeAlike merges the pieces that differ in nothing but how long they took.
func mergeAlike(pieces []evidence.Segment) []evidence.Segment {
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
func (w *world) chargeHop(g, by *goroutine, x wait, at *stack, t int64) {
	if g.onlyRemembered() && by.id == evidence.LaneID(uint32(by.id)) {
		w.noteHop(g, by, x, at, t)
		return
	}
	p := hop{g, by, x, at.stackID()}
	from := g.since
	if m := by.memory; m != nil && m.upto > from {
		if begins := m.later.firstBegin(m.upto); begins > from {
			w.passAll(&p, &m.earlier, from, t, begins)
		}
		w.passAll(&p, &m.later, from, t, m.upto)
	}
	if begin := max(by.since, from); begin < t {
		now := w.presentState(by)
		w.passState(&p, nil, &now, begin, t, t)
	}
	w.unknownUntil(&p, t)
	g.since = t
}

// onlyRemembered says whether a goroutine has worked for no request so far, so that what it does is only remembered in case requests turn
// out to wait for it.
func (g *goroutine) onlyRemembered() bool { return g.role == roleUnknown && g.request == nil }

// noteHop remembers only for which goroutine another one waits. What that one did is looked up if a request turns out to wait for this
// one, which is rare: most goroutines that wait like this never work for a request.
func (w *world) noteHop(g, by *goroutine, x wait, at *stack, t int64) {
	if t > g.since {
		if h := w.prepareMemory(g, g.since, t); h != nil {
			by.noted = true
			y := h.addState()
			y.at, y.stack, y.cause, y.lane, y.holderStack, y.kind, y.has = g.since, x.stack, x.cause, uint32(by.id), at.stackID(), x.kind, hasHop
		}
	}
	g.since = t
}

// hop is a wait of g for by.
type hop struct {
	g, by *goroutine
	wait  wait
	at    evidence.StackID // where by was when it ended the wait
}

// passAll is pass for the states of a half within [from, to), of which the last ends at upto.
func (w *world) passAll(p *hop, h *half, from, to, upto int64) {
	for i := h.findState(from); i < len(h.states); i++ {
		x := &h.states[i]
		ends := upto
		if i+1 < len(h.states) {
			ends = h.states[i+1].at
		}
		if begin, end := max(x.at, from), min(ends, to); end > begin {
			if x.has == hasHop {
				w.passHop(p, x, begin, end)
			} else {
				w.passState(p, h, x, begin, end, ends)
			}
		}
		if ends >= to {
			break
		}
	}
}

// passHop is pass for a state that says no more than for whom by waited.
func (w *world) passHop(p *hop, x *state, begin, end int64) {
	w.spells = w.appendFollowed(x, begin, end, w.spells[:0], 0)
	for i := range w.spells {
		s := &w.spells[i]
		w.passSegment(p, &s.Segment, s.at)
	}
}

// passState makes what p.by did from begin to end, in a state that lasts until ends, a state of
// p.g. It is most of the work for a wait, and waits for goroutines that wait hold ever more of
// them. So what is remembered is not unpacked where its lane and holder need no room of their own.
func (w *world) passState(p *hop, from *half, x *state, begin, end, ends int64) {
	g, dur := p.g, end-begin
	w.unknownUntil(p, begin)
	var h *half
	if x.has&^hasHeld == 0 && p.by.id == evidence.LaneID(uint32(p.by.id)) && g.isRemembered() {
		h = w.prepareMemory(g, g.since, g.since+dur)
	}
	if h == nil {
		var s evidence.Segment
		from.fillSegment(&s, x, ends-x.at)
		clipSegment(&s, dur)
		w.passSegment(p, &s, begin)
		return
	}
	stack, holder := p.waitPlaces(x.stack, x.holderStack)
	y := h.addState()
	y.at, y.stack, y.cause, y.lane, y.holderStack, y.rest, y.kind = g.since, stack, x.cause, x.lane, holder, uint16(len(h.rest)), x.kind
	if y.lane == 0 {
		y.lane = uint32(p.by.id)
	}
	if holder != 0 {
		h.numbers += holderNumbers
	}
	switch {
	case x.has == 0:
	case dur == ends-x.at:
		h.copyHeld(y, from, x)
	default:
		held := from.partShares(x, dur, ends-x.at)
		h.addHeld(y, (*integrals)(&held), &integrals{})
	}
	if r := g.request; r != nil {
		var s evidence.Segment
		h.fillSegment(&s, y, dur)
		r.addState(&s, g.since)
	}
	g.since += dur
}

// unknownUntil charges what is not known of by to the wait itself.
func (w *world) unknownUntil(p *hop, t int64) {
	if g := p.g; t > g.since {
		s := p.wait.toSegment(t - g.since)
		w.noteSegment(g, &s, g.since)
		g.since = t
	}
}

// waitPlaces returns where the waiting goroutine is, and where the one is that it waits for, while
// that one is in a state.
func (p *hop) waitPlaces(stack, holderStack evidence.StackID) (own, holder evidence.StackID) {
	switch holder = holderStack; {
	case holder != 0:
	case stack != 0:
		holder = stack
	default:
		holder = p.at
	}
	if own = stack; p.wait.stack != 0 {
		own = p.wait.stack
	}
	return own, holder
}

// passSegment is pass for a state that is unpacked already.
func (w *world) passSegment(p *hop, s *evidence.Segment, begin int64) {
	w.unknownUntil(p, begin)
	s.Stack, s.HolderStack = p.waitPlaces(s.Stack, s.HolderStack)
	if s.Lane == 0 {
		s.Lane = p.by.id
	}
	w.noteSegment(p.g, s, p.g.since)
	p.g.since += s.Dur
}
