package evidence

import "encoding/binary"

// Segment is one state of a [Path].
type Segment struct {
	Kind  Kind
	Dur   int64   // ns
	Lane  LaneID  // 0: the lane that serves the request; else the lane it waited for and whose state this is
	Stack StackID // where, 0 unknown
	Cause NameID  // what for: the runtime's own reason, a dependency, a lock
	// Of waits for a lock or a pool: who held it, and what that one did.
	Holder     LaneID
	HolderKind Kind
	// Of Runnable: who held the processors; all zero if it is not known.
	Held Shares
}

// Path is the time of one request, packed: segments in order, without gaps,
// whose durations sum to End − Start exactly.
//
// Encoding (all numbers uvarint): kind and flags in one number (kind<<5 |
// flags), duration, then for each flag set, lowest bit first: lane, stack,
// cause, holder and holder kind, and the shares as a bit mask of non-zero
// holders followed by their values.
type Path []byte

const (
	hasLane = 1 << iota
	hasStack
	hasCause
	hasHolder
	hasHeld
	flagBits = iota
)

// Append adds a segment. Segments without duration are left out; one that only
// continues the last one is still a segment of its own.
func (p Path) Append(s Segment) Path {
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
	if s.Holder != 0 || s.HolderKind != 0 {
		head |= hasHolder
	}
	var mask uint64
	for h, v := range s.Held {
		if v > 0 {
			mask |= 1 << h
		}
	}
	if mask != 0 {
		head |= hasHeld
	}
	p = binary.AppendUvarint(p, head)
	p = binary.AppendUvarint(p, uint64(s.Dur))
	if head&hasLane != 0 {
		p = binary.AppendUvarint(p, uint64(s.Lane))
	}
	if head&hasStack != 0 {
		p = binary.AppendUvarint(p, uint64(s.Stack))
	}
	if head&hasCause != 0 {
		p = binary.AppendUvarint(p, uint64(s.Cause))
	}
	if head&hasHolder != 0 {
		p = binary.AppendUvarint(p, uint64(s.Holder))
		p = binary.AppendUvarint(p, uint64(s.HolderKind))
	}
	if mask != 0 {
		p = binary.AppendUvarint(p, mask)
		for _, v := range s.Held {
			if v > 0 {
				p = binary.AppendUvarint(p, uint64(v))
			}
		}
	}
	return p
}

// All yields the segments in order. A path that is not well formed ends early.
func (p Path) All(yield func(Segment) bool) {
	p.Rest(func(s Segment, _ Path) bool { return yield(s) })
}

// Rest yields the segments in order, each with the path that follows it.
func (p Path) Rest(yield func(Segment, Path) bool) {
	for len(p) > 0 {
		var s Segment
		head := p.uvarint()
		s.Kind = Kind(head >> flagBits)
		s.Dur = int64(p.uvarint())
		if head&hasLane != 0 {
			s.Lane = LaneID(p.uvarint())
		}
		if head&hasStack != 0 {
			s.Stack = StackID(p.uvarint())
		}
		if head&hasCause != 0 {
			s.Cause = NameID(p.uvarint())
		}
		if head&hasHolder != 0 {
			s.Holder = LaneID(p.uvarint())
			s.HolderKind = Kind(p.uvarint())
		}
		if head&hasHeld != 0 {
			mask := p.uvarint()
			for h := range s.Held {
				if mask&(1<<h) != 0 {
					s.Held[h] = int64(p.uvarint())
				}
			}
		}
		if !yield(s, p) {
			return
		}
	}
}

func (p *Path) uvarint() uint64 {
	v, n := binary.Uvarint(*p)
	if n <= 0 {
		*p = nil
		return 0
	}
	*p = (*p)[n:]
	return v
}
