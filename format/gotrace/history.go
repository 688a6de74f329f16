package gotrace

import (
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/gotrace/wire"
)

// memory is what a goroutine did lately, so that those it wakes can be told what
// they waited for: gapless, in two halves. When the later is full, the earlier is
// forgotten. At most maxMemories goroutines have one, and all but the first of them a short
// one: memory stays bounded with any number of them.
type memory struct {
	earlier, later half
	upto           int64
	most, mostMore int // of states in a half, and of those that are long
}

// half is states in order.
type half struct {
	states []state
	more   []more
}

// state is a [evidence.Segment] as it is remembered: it ends where the next begins. What few
// have is apart.
type state struct {
	at    int64
	stack evidence.StackID
	cause evidence.NameID
	lane  uint32
	more  uint16 // one more than the index of the rest
	kind  evidence.Kind
}

type more struct {
	lane, holder     evidence.LaneID
	held             evidence.Shares
	holderCause, via evidence.NameID
	holderStack      evidence.StackID
	holderKind       evidence.Kind
}

const (
	memoryStates, memoryMore = 512, 128
	shortStates, shortMore   = 128, 32
	longMemories             = 1 << 10
	maxMemories              = 8 << 10
)

func (h *half) empty() { h.states, h.more = h.states[:0], h.more[:0] }

// begins is when the first state begins, else if there is none.
func (h *half) begins(otherwise int64) int64 {
	if len(h.states) == 0 {
		return otherwise
	}
	return h.states[0].at
}

func (h *half) add(s *evidence.Segment, at int64) {
	x := state{at: at, stack: s.Stack, cause: s.Cause, lane: uint32(s.Lane), kind: s.Kind}
	if s.HolderKind != 0 || s.Holder != 0 || s.HolderStack != 0 || s.Kind == evidence.Runnable && s.Held != (evidence.Shares{}) || s.Lane != evidence.LaneID(x.lane) {
		h.more = append(h.more, more{s.Lane, s.Holder, s.Held, s.HolderCause, s.Via, s.HolderStack, s.HolderKind})
		x.more = uint16(len(h.more))
	}
	h.states = append(h.states, x)
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
			if x.more != 0 {
				m := &h.more[x.more-1]
				s.Lane, s.Holder, s.HolderKind, s.HolderCause, s.HolderStack, s.Via, s.Held = m.lane, m.holder, m.holderKind, m.holderCause, m.holderStack, m.via, m.held
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
		return &memory{most: shortStates, mostMore: shortMore}
	}
	return &memory{most: memoryStates, mostMore: memoryMore}
}

func (p *memories) give(m *memory) {
	if m != nil {
		p.free = append(p.free, m)
	}
}

// remember notes a state of g, unless too many goroutines have a memory already.
func (w *world) remember(g *goroutine, s *evidence.Segment, at int64) {
	m := g.memory
	if m == nil {
		if m = w.memories.take(); m == nil {
			return
		}
		g.memory = m
		m.upto = at
	}
	if len(m.later.states)+1 >= m.most || len(m.later.more) >= m.mostMore {
		m.earlier, m.later = m.later, m.earlier
		m.later.empty()
	}
	if at > m.upto {
		m.later.states = append(m.later.states, state{at: m.upto, kind: evidence.Unobserved})
	}
	m.later.add(s, at)
	m.upto = at + s.Dur
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
		for i := range s.Held {
			s.Held[i] = int64(float64(s.Held[i]) * float64(dur) / float64(s.Dur))
		}
		fit(&s.Held, dur)
	}
	s.Dur = dur
}
