package gotrace

import (
	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/evidence"
)

// ring is what a goroutine did lately, so that those it wakes can be told what
// they waited for. The newest ringSize states are kept, of at most maxRings
// goroutines: memory stays bounded with any number of them.
type ring struct {
	next int
	n    int
	at   [ringSize]int64
	seg  [ringSize]evidence.Segment
}

const (
	ringSize = 16
	maxRings = 16 << 10
)

type ringPool struct {
	free []*ring
	used int
}

func (p *ringPool) take() *ring {
	if n := len(p.free); n > 0 {
		r := p.free[n-1]
		p.free = p.free[:n-1]
		r.next, r.n = 0, 0
		return r
	}
	if p.used >= maxRings {
		return nil
	}
	p.used++
	return &ring{}
}

func (p *ringPool) give(r *ring) {
	if r != nil {
		p.free = append(p.free, r)
	}
}

// remember notes a state of g. Neighbours of the same kind and place are one.
func (w *world) remember(g *goroutine, s evidence.Segment, at int64) {
	if g.ring == nil {
		if g.ring = w.rings.take(); g.ring == nil {
			return
		}
	}
	r := g.ring
	r.at[r.next] = at
	r.seg[r.next] = s
	r.next = (r.next + 1) % ringSize
	r.n = min(r.n+1, ringSize)
}

// states yields what g did within [from, to), oldest first and gapless as far
// back as is remembered, clipped to the window, the present state included.
func (g *goroutine) states(from, to int64, yield func(at int64, s evidence.Segment)) {
	if r := g.ring; r != nil {
		for i := r.n; i > 0; i-- {
			j := (r.next - i + ringSize) % ringSize
			at, s := r.at[j], r.seg[j]
			begin, end := max(at, from), min(at+s.Dur, to)
			if end <= begin {
				continue
			}
			clip(&s, end-begin)
			yield(begin, s)
		}
	}
	if begin := max(g.since, from); begin < to {
		s := evidence.Segment{Kind: evidence.Running, Dur: to - begin}
		switch g.state {
		case trace.GoRunning:
			s.Kind = g.runningKind()
		case trace.GoSyscall:
			s.Kind = evidence.Syscall
		case trace.GoRunnable:
			s.Kind = evidence.Runnable
		case trace.GoWaiting:
			s.Kind = evidence.SyncWait
		}
		yield(begin, s)
	}
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

// chargeHolder charges a wait for a lock or pool to what its holder did: the
// goroutine that let go. If that one had been waiting for the same thing
// itself, its own holder counts.
func (w *world) chargeHolder(g, by *goroutine, s evidence.Segment, t int64) {
	from := g.since
	s.Holder = by.id
	emit := func(kind evidence.Kind, dur int64) {
		x := s
		x.HolderKind, x.Dur = kind, dur
		w.append(g, x, g.since)
		g.since += dur
	}
	if by.born > from {
		from = by.born
	}
	by.states(from, t, func(at int64, h evidence.Segment) {
		if at > g.since {
			emit(evidence.KindUnknown, at-g.since)
		}
		kind := h.Kind
		if (kind == evidence.LockWait || kind == evidence.PoolWait) && h.HolderKind != evidence.KindUnknown {
			kind = h.HolderKind
		}
		emit(kind, h.Dur)
	})
	if g.since < t {
		emit(evidence.KindUnknown, t-g.since)
	}
	g.since = t
}

// chargeHop charges a wait for another goroutine to what that one did: its time
// is the request's.
func (w *world) chargeHop(g, by *goroutine, s evidence.Segment, t int64) {
	by.states(g.since, t, func(at int64, h evidence.Segment) {
		if at > g.since {
			x := s
			x.Dur = at - g.since
			w.append(g, x, g.since)
			g.since = at
		}
		if h.Lane == 0 {
			h.Lane = by.id
		}
		if s.Stack != 0 {
			h.Stack = s.Stack
		}
		w.append(g, h, g.since)
		g.since += h.Dur
	})
	if g.since < t {
		s.Dur = t - g.since
		w.append(g, s, g.since)
	}
	g.since = t
}
