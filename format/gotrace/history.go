package gotrace

import (
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/gotrace/wire"
)

// memory is what a goroutine did lately, so that those it wakes can be told what
// they waited for: gapless, in two halves. When the later is full, the earlier is
// forgotten. At most maxMemories goroutines have one: memory stays bounded with
// any number of them.
type memory struct {
	earlier, later half
	upto           int64
}

// half is states in order. Most questions are about the last few of many, so
// every eighth is marked.
type half struct {
	path  evidence.Path
	n     int
	marks []mark
}

type mark struct {
	at     int64 // when the state begins
	offset int   // where in path
}

const (
	memoryHalf  = 1 << 12
	maxMemories = 8 << 10
)

func (h *half) empty() { h.path, h.n, h.marks = h.path[:0], 0, h.marks[:0] }

func (h *half) add(s *evidence.Segment, at int64) {
	if h.n%8 == 0 {
		h.marks = append(h.marks, mark{at, len(h.path)})
	}
	h.n++
	h.path = h.path.Append(*s)
}

// spell is a state and when it began.
type spell struct {
	at int64
	evidence.Segment
}

// within appends the states of [from, to), clipped to it.
func (h *half) within(from, to int64, spells []spell) []spell {
	i := len(h.marks) - 1
	for i > 0 && h.marks[i].at > from {
		i--
	}
	if i < 0 {
		return spells
	}
	at := h.marks[i].at
	for s := range h.path[h.marks[i].offset:].Rest {
		begin, end := max(at, from), min(at+s.Dur, to)
		at += s.Dur
		if end > begin {
			spells = append(spells, spell{begin, s})
			clip(&spells[len(spells)-1].Segment, end-begin)
		}
		if at >= to {
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
	return &memory{}
}

func (p *memories) give(m *memory) {
	if m != nil {
		p.free = append(p.free, m)
	}
}

// remember notes a state of g and returns it packed, nil if g has no memory.
func (w *world) remember(g *goroutine, s *evidence.Segment, at int64) evidence.Path {
	m := g.memory
	if m == nil {
		if m = w.memories.take(); m == nil {
			return nil
		}
		g.memory = m
		m.upto = at
	}
	if len(m.later.path) >= memoryHalf {
		m.earlier, m.later = m.later, m.earlier
		m.later.empty()
	}
	if at > m.upto {
		m.later.add(&evidence.Segment{Kind: evidence.Unobserved, Dur: at - m.upto}, m.upto)
	}
	n := len(m.later.path)
	m.later.add(s, at)
	m.upto = at + s.Dur
	return m.later.path[n:]
}

// did says what g did within [from, to), oldest first and gapless as far back
// as is remembered, clipped to the window, the present state included. The
// answer is good until the next question.
func (w *world) did(g *goroutine, from, to int64) []spell {
	spells := w.spells[:0]
	if m := g.memory; m != nil && m.upto > from {
		if len(m.later.marks) == 0 || m.later.marks[0].at > from {
			spells = m.earlier.within(from, to, spells)
		}
		spells = m.later.within(from, to, spells)
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
