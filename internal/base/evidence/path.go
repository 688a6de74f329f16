package evidence

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Segment is one state of a [Path].
type Segment struct {
	Kind  Kind
	Dur   int64   // ns
	Lane  LaneID  // 0: the lane that serves the request; else the awaited lane, whose state this is
	Stack StackID // where, 0 unknown
	Cause NameID  // the reason: the runtime's own word, a dependency, a lock
	// For waits for a lock, a pool, or a server of one request at a time: the holder that released it, and what the last in
	// the chain of holders, the root, did during the wait. For the state of another lane (Lane is not 0), HolderStack is
	// where that lane was, and Via how it was waited for. Of a state that is not observed, Holder is the event loop that serves the request.
	Holder      LaneID
	HolderKind  Kind
	HolderCause NameID  // what the last holder waited for: a dependency, a system call, a lock with an unknown holder
	HolderStack StackID // where the last holder was
	Via         NameID  // what the holders in between waited for, outermost first, joined by [Link]; 0: Holder is the root
	// For Runnable, and for waits whose HolderKind is Runnable: who held the processors; all zero if unknown.
	Held Shares
}

// Resize sets a state's duration (ns), and scales its shares in proportion.
func (s *Segment) Resize(dur int64) {
	if dur == s.Dur {
		return
	}
	whole, left, most := s.Dur, dur, 0
	for h, v := range s.Held {
		s.Held[h] = int64(float64(v) * (float64(dur) / float64(whole)))
		left -= s.Held[h]
		if s.Held[h] > s.Held[most] {
			most = h
		}
	}
	if s.Held != (Shares{}) {
		s.Held[most] += left
	}
	s.Dur = dur
}

// Link joins the parts of [Segment].Via, and of any chain of waits in words: the holder of what is on its left waited for what is on
// its right.
const Link = " ← "

// Path is the packed time of one request: segments in order, without gaps, whose durations sum to End − Start exactly.
//
// Encoding (all numbers uvarint): kind and flags in one number (kind<<5 |
// flags), duration (see packDuration), then for each flag set, lowest bit first: lane, stack,
// cause, holder, and the shares as a bit mask of non-zero holders followed by
// their values. A holder is its lane, its kind and flags in one number (kind<<3
// | flags), and for each flag set, lowest bit first: its cause, its stack, via.
type Path []byte

const (
	hasLane = 1 << iota
	hasStack
	hasCause
	hasHolder
	hasHeld
	flagBits = iota
)

const (
	holderHasCause = 1 << iota
	holderHasStack
	holderHasVia
	holderFlagBits = iota
)

// Append adds a segment. It omits segments without a duration; a segment that only continues the last one stays separate.
func (p Path) Append(s Segment) Path { return p.Add(&s) }

// Add appends the segment's present content.
func (p Path) Add(s *Segment) Path {
	if s.Dur <= 0 {
		return p
	}
	head := uint64(s.Kind) << flagBits
	if s.Lane != 0 {
		head |= hasLane
	}
	if s.Stack != 0 {
		head |= hasStack
	}
	if s.Cause != 0 {
		head |= hasCause
	}
	holder := s.holderHead()
	if s.Holder != 0 || holder != 0 {
		head |= hasHolder
	}
	mask := s.Held.holderMask()
	if mask != 0 {
		head |= hasHeld
	}
	p = appendUvarint(p, head)
	p = appendUvarint(p, packDuration(s.Dur))
	if head&hasLane != 0 {
		p = appendUvarint(p, uint64(s.Lane))
	}
	if head&hasStack != 0 {
		p = appendUvarint(p, uint64(s.Stack))
	}
	if head&hasCause != 0 {
		p = appendUvarint(p, uint64(s.Cause))
	}
	if head&hasHolder != 0 {
		p = appendUvarint(p, uint64(s.Holder))
		p = appendUvarint(p, holder)
		if holder&holderHasCause != 0 {
			p = appendUvarint(p, uint64(s.HolderCause))
		}
		if holder&holderHasStack != 0 {
			p = appendUvarint(p, uint64(s.HolderStack))
		}
		if holder&holderHasVia != 0 {
			p = appendUvarint(p, uint64(s.Via))
		}
	}
	if mask != 0 {
		p = s.Held.appendShares(p, mask)
	}
	return p
}

// Plain adds a segment with only a kind and a duration, which is positive.
func (p Path) Plain(kind Kind, dur int64, stack StackID, cause NameID) Path {
	head := uint64(kind) << flagBits
	if stack != 0 {
		head |= hasStack
	}
	if cause != 0 {
		head |= hasCause
	}
	p = slices.Grow(p, 4*binary.MaxVarintLen64)
	n := len(p)
	room := p[n:cap(p)]
	k := putUvarint(room, head)
	k += putUvarint(room[k:], packDuration(dur))
	if stack != 0 {
		k += putUvarint(room[k:], uint64(stack))
	}
	if cause != 0 {
		k += putUvarint(room[k:], uint64(cause))
	}
	return p[:n+k]
}

// Runnable adds a wait for a processor of which no more is known than who held them; the duration is
// positive. Held is a bit for each holder that has a share, lowest first, and their shares; empty, it is not known.
func (p Path) Runnable(dur int64, held []int64) Path {
	head := uint64(Runnable) << flagBits
	if len(held) > 0 {
		head |= hasHeld
	}
	p = slices.Grow(p, (2+len(held))*binary.MaxVarintLen64)
	n := len(p)
	room := p[n:cap(p)]
	k := putUvarint(room, head)
	k += putUvarint(room[k:], packDuration(dur))
	for _, v := range held {
		k += putUvarint(room[k:], uint64(v))
	}
	return p[:n+k]
}

// Logs give durations in ms, which as ns take two bytes more each. So the lowest bit of a packed duration says which of both it counts.
const ms = 1_000_000 // ns

func packDuration(ns int64) uint64 {
	if ns%64 == 0 && ns%ms == 0 { // the first is quick, and false for most others
		return uint64(ns)/ms<<1 | 1
	}
	return uint64(ns) << 1
}

func unpackDuration(v uint64) int64 {
	if v&1 != 0 {
		return int64(v >> 1 * ms)
	}
	return int64(v >> 1)
}

// holderMask returns a mask with a bit for each holder with a share.
func (s *Shares) holderMask() (mask uint64) {
	for h, v := range s {
		some := uint64(0)
		if v > 0 {
			some = 1
		}
		mask |= some << h
	}
	return mask
}

// appendShares appends the mask and its shares.
func (s *Shares) appendShares(p Path, mask uint64) Path {
	p = appendUvarint(p, mask)
	for ; mask != 0; mask &= mask - 1 {
		p = appendUvarint(p, uint64(s[bits.TrailingZeros64(mask)]))
	}
	return p
}

// appendUvarint is binary.AppendUvarint; most numbers take a byte or two.
func appendUvarint(p Path, v uint64) Path {
	switch {
	case v < 1<<7:
		return append(p, byte(v))
	case v < 1<<14:
		return append(p, byte(v)|0x80, byte(v>>7))
	case v < 1<<21:
		return append(p, byte(v)|0x80, byte(v>>7)|0x80, byte(v>>14))
	}
	return binary.AppendUvarint(p, v)
}

func (s *Segment) holderHead() uint64 {
	head := uint64(s.HolderKind) << holderFlagBits
	if s.HolderCause != 0 {
		head |= holderHasCause
	}
	if s.HolderStack != 0 {
		head |= holderHasStack
	}
	if s.Via != 0 {
		head |= holderHasVia
	}
	return head
}

// All yields the segments in order. A malformed path ends early.
func (p Path) All(yield func(Segment) bool) {
	var s Segment
	for p.Next(&s) {
		if !yield(s) {
			return
		}
	}
}

// Followed reports whether a path holds states of the server of the request: more than an access log knows of an upstream, of the queue
// before it and of its client, a client of its own delay, or the kernel of the thread or the turn that the request waits for.
func (p Path) Followed() bool {
	var s Segment
	for p.Next(&s) {
		switch s.Kind {
		case Unobserved, NetWait, PoolWait, SyncWait, ClientWait, KindUnknown, SentLate, BeforeService, AfterService, ThreadWait:
		default:
			return true
		}
	}
	return false
}

// Rest yields the segments in order, each with the path that follows it.
func (p Path) Rest(yield func(Segment, Path) bool) {
	var s Segment
	for p.Next(&s) {
		if !yield(s, p) {
			return
		}
	}
}

// Next removes the first segment of the path and returns it in s; false if there is none.
func (p *Path) Next(s *Segment) bool {
	if len(*p) == 0 {
		return false
	}
	*s = Segment{}
	head := p.nextUvarint()
	s.Kind = Kind(head >> flagBits)
	s.Dur = unpackDuration(p.nextUvarint())
	if head&hasLane != 0 {
		s.Lane = LaneID(p.nextUvarint())
	}
	if head&hasStack != 0 {
		s.Stack = StackID(p.nextUvarint())
	}
	if head&hasCause != 0 {
		s.Cause = NameID(p.nextUvarint())
	}
	if head&hasHolder != 0 {
		s.Holder = LaneID(p.nextUvarint())
		holder := p.nextUvarint()
		s.HolderKind = Kind(holder >> holderFlagBits)
		if holder&holderHasCause != 0 {
			s.HolderCause = NameID(p.nextUvarint())
		}
		if holder&holderHasStack != 0 {
			s.HolderStack = StackID(p.nextUvarint())
		}
		if holder&holderHasVia != 0 {
			s.Via = NameID(p.nextUvarint())
		}
	}
	if head&hasHeld != 0 {
		mask := p.nextUvarint()
		for h := range s.Held {
			if mask&(1<<h) != 0 {
				s.Held[h] = int64(p.nextUvarint())
			}
		}
	}
	return true
}

func (p *Path) nextUvarint() uint64 {
	if b := *p; len(b) > 0 && b[0] < 0x80 {
		*p = b[1:]
		return uint64(b[0])
	}
	v, n := binary.Uvarint(*p)
	if n <= 0 {
		*p = nil
		return 0
	}
	*p = (*p)[n:]
	return v
}
