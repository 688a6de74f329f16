package gotrace

import (
	"math/bits"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// memory is what a goroutine did last, without gaps. A goroutine that it wakes waited for that. The memory has two halves: when the later
// one is full, the earlier one is dropped. At most maxMemories goroutines have a memory, most of them a short one, so that all together stay
// bounded.
type memory struct {
	upto           int64
	later, earlier half
}

// half is states in order.
type half struct {
	states               []state
	rest                 []int64
	numbers              int32 // that bound it: of a holder three, whether it takes them or not
	mostStates, mostRest int16
}

// state is a [evidence.Segment] as it is remembered: it ends where the next begins. What not
// every one has is in rest.
type state struct {
	at          int64
	stack       evidence.StackID
	cause       evidence.NameID
	lane        uint32
	holderStack evidence.StackID
	rest        uint16 // where that begins
	kind        evidence.Kind
	has         uint8 // of the rest: what follows each other there, lowest bit first
}

const (
	hasLane   = 1 << iota // the lane, which is too large for the state
	hasHolder             // the holder, its cause, via and its kind: three numbers
	hasHeld               // a mask of shares, and those of them that are not 0
	hasHop                // nothing: it is a wait for the lane, whose states are to be looked up; alone
)

const (
	longStates, longRest   = 256, 512
	shortStates, shortRest = 64, 128
	longMemories           = 1 << 10
	maxMemories            = 8 << 10
)

const holderNumbers = 3

// maxHops bounds the chain of goroutines that each waited for the next.
const maxHops = 8

func (h *half) clearStates() { h.states, h.rest, h.numbers = h.states[:0], h.rest[:0], 0 }

// firstBegin returns when the first state begins, otherwise if there is none.
func (h *half) firstBegin(otherwise int64) int64 {
	if len(h.states) == 0 {
		return otherwise
	}
	return h.states[0].at
}

// addState appends an empty state and returns it, to be filled in where it is: the CPU waits for a
// literal to be copied in larger pieces than it was written in.
func (h *half) addState() *state {
	h.states = append(h.states, state{})
	return &h.states[len(h.states)-1]
}

func (h *half) addSegment(s *evidence.Segment, at int64) {
	x := h.addState()
	x.at, x.stack, x.cause, x.lane, x.holderStack, x.rest, x.kind = at, s.Stack, s.Cause, uint32(s.Lane), s.HolderStack, uint16(len(h.rest)), s.Kind
	if s.Lane != evidence.LaneID(x.lane) {
		x.has |= hasLane
		h.rest = append(h.rest, int64(s.Lane))
		h.numbers++
	}
	if s.Holder != 0 || s.HolderKind != 0 || s.HolderStack != 0 {
		h.numbers += holderNumbers
		if s.Holder != 0 || s.HolderKind != 0 || s.HolderCause != 0 || s.Via != 0 {
			x.has |= hasHolder
			h.rest = append(h.rest, int64(s.Holder), int64(s.HolderCause), int64(s.Via)<<8|int64(s.HolderKind))
		}
	}
	if s.Kind == evidence.Runnable || s.HolderKind == evidence.Runnable {
		h.addHeld(x, (*integrals)(&s.Held), &integrals{})
	}
}

// growRest makes room for the next numbers of the rest, as many as shares take at most, and
// returns it.
func (h *half) growRest() *[1 + evidence.NumHolders]int64 {
	h.rest = slices.Grow(h.rest, 1+int(evidence.NumHolders))
	n := len(h.rest)
	return (*[1 + evidence.NumHolders]int64)(h.rest[n : n+1+int(evidence.NumHolders)])
}

// addHeld adds to the last state the shares that are the difference of two snapshots. It returns the
// numbers it wrote for them, none if nothing differs.
func (h *half) addHeld(x *state, now, before *integrals) []int64 {
	room := h.growRest()
	n := writeDifference(room, now, before)
	if n > 0 {
		x.has |= hasHeld
		h.rest = h.rest[:len(h.rest)+n]
		h.numbers += int32(n)
	}
	return room[:n]
}

// writeDifference writes a bit for each holder of which two snapshots differ, lowest first, and by how much
// they differ. It returns how many numbers these are, 0 if nothing differs.
func writeDifference(to *[1 + evidence.NumHolders]int64, now, before *integrals) int {
	mask, n := int64(0), 1
	for i := range now { // which are 0 follows no pattern: without a branch
		v := now[i] - before[i]
		to[n] = v
		some := 0
		if v != 0 {
			some = 1
		}
		mask |= int64(some) << i
		n += some
	}
	if mask == 0 {
		return 0
	}
	to[0] = mask
	return n
}

// copyHeld adds the shares of a state to the last state of h.
func (h *half) copyHeld(to *state, from *half, x *state) {
	all := (*[1 + evidence.NumHolders]int64)(from.rest[x.rest : int(x.rest)+1+int(evidence.NumHolders)]) // beyond its own there is room
	n := 1 + bits.OnesCount64(uint64(all[0]))
	*h.growRest() = *all
	to.has |= hasHeld
	h.rest = h.rest[:len(h.rest)+n]
	h.numbers += int32(n)
}

// partShares returns the shares of a state of which only dur of its duration counts.
func (h *half) partShares(x *state, dur, of int64) (s evidence.Shares) {
	at := int(x.rest)
	for mask := uint64(h.rest[at]); mask != 0; mask &= mask - 1 {
		at++
		s[bits.TrailingZeros64(mask)] = int64(float64(h.rest[at]) * float64(dur) / float64(of))
	}
	fitShares(&s, dur)
	return s
}

// fillSegment reads a state into a segment that is empty.
func (h *half) fillSegment(s *evidence.Segment, x *state, dur int64) {
	s.Kind, s.Dur, s.Lane, s.Stack, s.Cause, s.HolderStack = x.kind, dur, evidence.LaneID(x.lane), x.stack, x.cause, x.holderStack
	if x.has == 0 {
		return
	}
	if x.has == hasHop { // that nothing more is known of
		s.Lane, s.HolderStack = 0, 0
		return
	}
	rest := h.rest[x.rest:]
	if x.has&hasLane != 0 {
		s.Lane, rest = evidence.LaneID(rest[0]), rest[1:]
	}
	if x.has&hasHolder != 0 {
		s.Holder = evidence.LaneID(rest[0])
		s.HolderCause = evidence.NameID(rest[1])
		s.Via, s.HolderKind = evidence.NameID(rest[2]>>8), evidence.Kind(rest[2])
		rest = rest[holderNumbers:]
	}
	if x.has&hasHeld != 0 {
		for mask := uint64(rest[0]); mask != 0; mask &= mask - 1 {
			rest = rest[1:]
			s.Held[bits.TrailingZeros64(mask)] = rest[0]
		}
	}
}

// spell is a state and when it began.
type spell struct {
	at int64
	evidence.Segment
}

// findState returns the index of the state that from lies in, or of the first.
func (h *half) findState(from int64) int {
	i := len(h.states) - 1
	for i > 0 && h.states[i].at > from {
		i--
	}
	return max(i, 0)
}

// appendStates appends the states of [from, to), clipped to it. The last ends at upto.
func (w *world) appendStates(h *half, from, to, upto int64, spells []spell, depth int) []spell {
	for i := h.findState(from); i < len(h.states); i++ {
		x := &h.states[i]
		ends := upto
		if i+1 < len(h.states) {
			ends = h.states[i+1].at
		}
		begin, end := max(x.at, from), min(ends, to)
		switch {
		case end <= begin:
		case x.has == hasHop && depth < maxHops:
			spells = w.appendFollowed(x, begin, end, spells, depth+1)
		default:
			spells = append(spells, spell{})
			k := &spells[len(spells)-1]
			k.at = begin
			s := &k.Segment
			h.fillSegment(s, x, ends-x.at)
			clipSegment(s, end-begin)
		}
		if ends >= to {
			break
		}
	}
	return spells
}

// appendFollowed appends what the goroutine that another one waited for in state x did within
// [from, to), as states of the waiting one.
func (w *world) appendFollowed(x *state, from, to int64, spells []spell, depth int) []spell {
	p := hop{wait: wait{x.kind, x.cause, x.stack}, at: x.holderStack}
	at, n := from, len(spells)
	if by := w.gs.Find(int64(x.lane)); by != nil {
		spells = w.appendRecalled(by, from, to, spells, depth)
	} else {
		spells = w.appendRecorded(w.memories.ended[evidence.LaneID(x.lane)], from, to, spells, depth)
	}
	for i := n; i < len(spells); i++ {
		s := &spells[i]
		if s.at > at { // not known
			spells = slices.Insert(spells, i, spell{at, p.wait.toSegment(s.at - at)})
			at += spells[i].Dur
			continue
		}
		s.Stack, s.HolderStack = p.waitPlaces(s.Stack, s.HolderStack)
		if s.Lane == 0 {
			s.Lane = evidence.LaneID(x.lane)
		}
		at += s.Dur
	}
	if at < to {
		spells = append(spells, spell{at, p.wait.toSegment(to - at)})
	}
	return spells
}

type memories struct {
	free  []*memory
	used  int
	ended map[evidence.LaneID]*memory // of goroutines that have ended and that others waited for
	order [maxEnded]evidence.LaneID   // of these, in turn
	next  int
}

// maxEnded is how many of those that have ended are remembered.
const maxEnded = 256

// keepEnded keeps the memory of a goroutine that has ended.
func (p *memories) keepEnded(id evidence.LaneID, m *memory) {
	if p.ended == nil {
		p.ended = make(map[evidence.LaneID]*memory)
	}
	oldest := p.order[p.next]
	p.releaseMemory(p.ended[oldest])
	delete(p.ended, oldest)
	p.order[p.next], p.ended[id] = id, m
	p.next = (p.next + 1) % maxEnded
}

func (p *memories) takeMemory() *memory {
	if n := len(p.free); n > 0 {
		m := p.free[n-1]
		p.free = p.free[:n-1]
		m.earlier.clearStates()
		m.later.clearStates()
		return m
	}
	if p.used >= maxMemories {
		return nil
	}
	p.used++
	if p.used > longMemories {
		return newMemory(shortStates, shortRest)
	}
	return newMemory(longStates, longRest)
}

func newMemory(states, rest int16) *memory {
	h := half{mostStates: states, mostRest: rest}
	return &memory{later: h, earlier: h}
}

func (p *memories) releaseMemory(m *memory) {
	if m != nil {
		p.free = append(p.free, m)
	}
}

// prepareMemory returns the half that a state of g from at to upto is to be added to; nil if too
// many goroutines have a memory already.
func (w *world) prepareMemory(g *goroutine, at, upto int64) *half {
	m := g.memory
	if m == nil {
		if m = w.memories.takeMemory(); m == nil {
			return nil
		}
		g.memory = m
		m.upto = at
	}
	h := &m.later
	if len(h.states)+1 >= int(h.mostStates) || h.numbers >= int32(h.mostRest) {
		m.earlier, m.later = m.later, m.earlier
		h.clearStates()
	}
	if at > m.upto {
		h.states = append(h.states, state{at: m.upto, kind: evidence.Unobserved})
	}
	m.upto = upto
	return h
}

// recallStates returns what g did within [from, to), oldest first and gapless as far back as is
// remembered, clipped to the window, the present state included. The next call overwrites it.
func (w *world) recallStates(g *goroutine, from, to int64) []spell {
	w.spells = w.appendRecalled(g, from, to, w.spells[:0], 0)
	return w.spells
}

func (w *world) appendRecalled(g *goroutine, from, to int64, spells []spell, depth int) []spell {
	spells = w.appendRecorded(g.memory, from, to, spells, depth)
	if begin := max(g.since, from); begin < to {
		spells = append(spells, spell{})
		s := &spells[len(spells)-1]
		s.at, s.Dur = begin, to-begin
		x := w.presentState(g)
		s.Kind, s.Cause, s.Stack = x.kind, x.cause, x.stack
	}
	return spells
}

// appendRecorded appends what a memory holds of [from, to).
func (w *world) appendRecorded(m *memory, from, to int64, spells []spell, depth int) []spell {
	if m != nil && m.upto > from {
		if begins := m.later.firstBegin(m.upto); begins > from {
			spells = w.appendStates(&m.earlier, from, to, begins, spells, depth)
		}
		spells = w.appendStates(&m.later, from, to, m.upto, spells, depth)
	}
	return spells
}

// presentState returns the state that g is in.
func (w *world) presentState(g *goroutine) (x state) {
	x.at, x.kind = g.since, evidence.Running
	switch g.state {
	case wire.GoRunning:
		x.kind = g.runningKind()
	case wire.GoSyscall:
		x.kind = evidence.Syscall
	case wire.GoRunnable:
		x.kind = evidence.Runnable
	case wire.GoWaiting:
		x.kind, x.cause = w.presentWait(g)
		x.stack = g.where.stackID()
	}
	return x
}

// clipSegment shortens a segment to dur and its shares in proportion.
func clipSegment(s *evidence.Segment, dur int64) {
	if dur == s.Dur {
		return
	}
	if s.Held != (evidence.Shares{}) {
		for i, v := range &s.Held {
			if v != 0 { // most are, and a division takes long
				s.Held[i] = int64(float64(v) * float64(dur) / float64(s.Dur))
			}
		}
		fitShares(&s.Held, dur)
	}
	s.Dur = dur
}
