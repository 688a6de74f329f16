package gotrace

import (
	"math/bits"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/gotrace/wire"
)

// memory is what a goroutine did lately, so that those it wakes can be told what
// they waited for: gapless, in two halves. When the later is full, the earlier is
// forgotten. At most maxMemories goroutines have one, and all but the first of them a short
// one: memory stays bounded with any number of them.
type memory struct {
	earlier, later       half
	upto                 int64
	mostStates, mostRest int // in a half
}

// half is states in order.
type half struct {
	states []state
	rest   []int64
}

// state is a [evidence.Segment] as it is remembered: it ends where the next begins. What not
// every one has is in rest.
type state struct {
	at    int64
	stack evidence.StackID
	cause evidence.NameID
	lane  uint32
	rest  uint16 // where that begins
	kind  evidence.Kind
	has   uint8 // of the rest: what follows each other there, lowest bit first
}

const (
	hasLane   = 1 << iota // the lane, which is too large for the state
	hasHolder             // the holder, its cause and stack, via and its kind: three numbers
	hasHeld               // a mask of shares, and those of them that are not 0
)

const (
	longStates, longRest   = 256, 512
	shortStates, shortRest = 64, 128
	longMemories           = 1 << 10
	maxMemories            = 8 << 10
)

func (h *half) empty() { h.states, h.rest = h.states[:0], h.rest[:0] }

// begins is when the first state begins, else if there is none.
func (h *half) begins(otherwise int64) int64 {
	if len(h.states) == 0 {
		return otherwise
	}
	return h.states[0].at
}

func (h *half) add(s *evidence.Segment, at int64) {
	x := state{at: at, stack: s.Stack, cause: s.Cause, lane: uint32(s.Lane), kind: s.Kind}
	begins := len(h.rest)
	if s.Lane != evidence.LaneID(x.lane) {
		x.has |= hasLane
		h.rest = append(h.rest, int64(s.Lane))
	}
	if s.Holder != 0 || s.HolderKind != 0 || s.HolderStack != 0 {
		x.has |= hasHolder
		h.rest = append(h.rest, int64(s.Holder), int64(s.HolderCause)<<32|int64(s.HolderStack), int64(s.Via)<<8|int64(s.HolderKind))
	}
	if s.Kind == evidence.Runnable || s.HolderKind == evidence.Runnable {
		mask := len(h.rest)
		h.rest = append(h.rest, 0)
		for i, v := range &s.Held {
			if v != 0 {
				h.rest[mask] |= 1 << i
				h.rest = append(h.rest, v)
			}
		}
		if h.rest[mask] == 0 {
			h.rest = h.rest[:mask]
		} else {
			x.has |= hasHeld
		}
	}
	x.rest = uint16(begins)
	h.states = append(h.states, x)
}

// fill reads the rest of a state.
func (h *half) fill(s *evidence.Segment, x *state) {
	rest := h.rest[x.rest:]
	if x.has&hasLane != 0 {
		s.Lane, rest = evidence.LaneID(rest[0]), rest[1:]
	}
	if x.has&hasHolder != 0 {
		s.Holder = evidence.LaneID(rest[0])
		s.HolderCause, s.HolderStack = evidence.NameID(rest[1]>>32), evidence.StackID(uint32(rest[1]))
		s.Via, s.HolderKind = evidence.NameID(rest[2]>>8), evidence.Kind(rest[2])
		rest = rest[3:]
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

// within appends the states of [from, to), clipped to it. The last ends at upto.
func (h *half) within(from, to, upto int64, spells []spell) []spell {
	first := len(h.states) - 1
	for first > 0 && h.states[first].at > from {
		first--
	}
	for i := max(first, 0); i < len(h.states); i++ {
		x := &h.states[i]
		ends := upto
		if i+1 < len(h.states) {
			ends = h.states[i+1].at
		}
		begin, end := max(x.at, from), min(ends, to)
		if end > begin {
			spells = append(spells, spell{at: begin})
			s := &spells[len(spells)-1].Segment
			s.Kind, s.Dur, s.Lane, s.Stack, s.Cause = x.kind, ends-x.at, evidence.LaneID(x.lane), x.stack, x.cause
			if x.has != 0 {
				h.fill(s, x)
			}
			clip(s, end-begin)
		}
		if ends >= to {
			break
		}
	}
	return spells
}

type memories struct {
	free []*memory
	used int
}

func (p *memories) take() *memory {
	if n := len(p.free); n > 0 {
		m := p.free[n-1]
		p.free = p.free[:n-1]
		m.earlier.empty()
		m.later.empty()
		return m
	}
	if p.used >= maxMemories {
		return nil
	}
	p.used++
	if p.used > longMemories {
		return &memory{mostStates: shortStates, mostRest: shortRest}
	}
	return &memory{mostStates: longStates, mostRest: longRest}
}

func (p *memories) give(m *memory) {
	if m != nil {
		p.free = append(p.free, m)
	}
}

// remembers is where a state of g from at to upto is to be added, nil if too many goroutines
// have a memory already.
func (w *world) remembers(g *goroutine, at, upto int64) *half {
	m := g.memory
	if m == nil {
		if m = w.memories.take(); m == nil {
			return nil
		}
		g.memory = m
		m.upto = at
	}
	h := &m.later
	if len(h.states)+1 >= m.mostStates || len(h.rest) >= m.mostRest {
		m.earlier, m.later = m.later, m.earlier
		h.empty()
	}
	if at > m.upto {
		h.states = append(h.states, state{at: m.upto, kind: evidence.Unobserved})
	}
	m.upto = upto
	return h
}

// did says what g did within [from, to), oldest first and gapless as far back
// as is remembered, clipped to the window, the present state included. The
// answer is good until the next question.
func (w *world) did(g *goroutine, from, to int64) []spell {
	spells := w.spells[:0]
	if m := g.memory; m != nil && m.upto > from {
		if begins := m.later.begins(m.upto); begins > from {
			spells = m.earlier.within(from, to, begins, spells)
		}
		spells = m.later.within(from, to, m.upto, spells)
	}
	if begin := max(g.since, from); begin < to {
		s := evidence.Segment{Kind: evidence.Running, Dur: to - begin}
		switch g.state {
		case wire.GoRunning:
			s.Kind = g.runningKind()
		case wire.GoSyscall:
			s.Kind = evidence.Syscall
		case wire.GoRunnable:
			s.Kind = evidence.Runnable
		case wire.GoWaiting:
			s.Kind, s.Cause = w.awaits(g)
			s.Stack = g.where.id()
		}
		spells = append(spells, spell{begin, s})
	}
	w.spells = spells
	return spells
}

// clip shortens a segment and its shares in proportion.
func clip(s *evidence.Segment, dur int64) {
	if dur == s.Dur {
		return
	}
	if s.Held != (evidence.Shares{}) {
		for i, v := range &s.Held {
			if v != 0 { // most are, and a division takes long
				s.Held[i] = int64(float64(v) * float64(dur) / float64(s.Dur))
			}
		}
		fit(&s.Held, dur)
	}
	s.Dur = dur
}
