package evidence

import "encoding/binary"

// processorBlock is packed spans. Times are relative to earlier ones; the first counts from `from`, so that a block can be read alone.
//
// Encoding of a span: a byte of work<<4 | flags, then as uvarints the gap before
// it if flagged, its duration, and what its flags say.
type processorBlock struct {
	from int64
	data []byte
}

const (
	spanGap    = 1 << iota // a gap precedes it
	spanOther              // lane or name differ from the previous span: the lane's difference (zigzag) and the name follow
	spanServes             // it serves another lane: that lane's difference to its own (zigzag) follows
	spanJoined             // the number of joined spans, a mask of the kinds of work and their durations follow
)

// maxSpanSize is the largest size of a span: a byte, 7 numbers, all works.
const maxSpanSize = 1 + (7+int(NumWorks))*binary.MaxVarintLen64

// spanWriter is the state that the next span is written relative to.
type spanWriter struct {
	at   int64
	lane LaneID
	name NameID
}

func (w *spanWriter) beginBlock() { w.lane, w.name = 0, 0 }

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// ownServes returns the lane that a span serves by default.
func (s *ProcessorSpan) ownServes() LaneID {
	if s.Number <= 1 && (s.Work == WorkRequest || s.Work == WorkRequestAssist) {
		return s.Lane
	}
	return 0
}

// appendSpan packs a span into a block with enough room.
func (w *spanWriter) appendSpan(to []byte, s *ProcessorSpan) []byte {
	head := byte(s.Work) << 4
	gap := s.From - w.at
	if gap > 0 {
		head |= spanGap
	}
	other := s.Lane != w.lane || s.Name != w.name
	if other {
		head |= spanOther
	}
	serves := s.Serves != s.ownServes()
	if serves {
		head |= spanServes
	}
	if s.Number > 1 {
		head |= spanJoined
	}
	// Blocks have room for the whole span, so nothing needs a check in between.
	n := len(to)
	room := to[n:cap(to)]
	room[0] = head
	k := 1
	if gap > 0 {
		k += putUvarint(room[k:], uint64(gap))
	}
	k += putUvarint(room[k:], uint64(s.To-s.From))
	if other {
		k += putUvarint(room[k:], zigzag(int64(s.Lane-w.lane)))
		k += putUvarint(room[k:], uint64(s.Name))
		w.lane, w.name = s.Lane, s.Name
	}
	to = to[:n+k]
	if serves {
		to = binary.AppendUvarint(to, zigzag(int64(s.Serves-s.Lane)))
	}
	if s.Number > 1 {
		to = binary.AppendUvarint(to, uint64(s.Number))
		var mask uint64
		for i, v := range s.Mix {
			if v > 0 {
				mask |= 1 << i
			}
		}
		to = binary.AppendUvarint(to, mask)
		for _, v := range s.Mix {
			if v > 0 {
				to = binary.AppendUvarint(to, uint64(v))
			}
		}
	}
	w.at = s.To
	return to
}

// putUvarint is binary.PutUvarint for at least four bytes of room; most numbers take one to three.
func putUvarint(to []byte, v uint64) int {
	_ = to[3]
	switch {
	case v < 1<<7:
		to[0] = byte(v)
		return 1
	case v < 1<<14:
		to[0], to[1] = byte(v)|0x80, byte(v>>7)
		return 2
	case v < 1<<21:
		to[0], to[1], to[2] = byte(v)|0x80, byte(v>>7)|0x80, byte(v>>14)
		return 3
	}
	return binary.PutUvarint(to, v)
}

// eachSpan yields the spans of a block, with times as they were packed.
func (b *processorBlock) eachSpan(yield func(ProcessorSpan) bool) {
	p := Path(b.data) // for its numbers
	w := spanWriter{at: b.from}
	for len(p) > 0 {
		head := p[0]
		p = p[1:]
		s := ProcessorSpan{Work: Work(head >> 4), From: w.at, Number: 1}
		if head&spanGap != 0 {
			s.From += int64(p.nextUvarint())
		}
		s.To = s.From + int64(p.nextUvarint())
		if head&spanOther != 0 {
			w.lane += LaneID(unzigzag(p.nextUvarint()))
			w.name = NameID(p.nextUvarint())
		}
		s.Lane, s.Name = w.lane, w.name
		var serves int64
		if head&spanServes != 0 {
			serves = unzigzag(p.nextUvarint())
		}
		if head&spanJoined != 0 {
			s.Number = int64(p.nextUvarint())
			mask := p.nextUvarint()
			for i := range s.Mix {
				if mask&(1<<i) != 0 {
					s.Mix[i] = int64(p.nextUvarint())
				}
			}
		}
		s.Serves = s.ownServes()
		if head&spanServes != 0 {
			s.Serves = s.Lane + LaneID(serves)
		}
		w.at = s.To
		if !yield(s) {
			return
		}
	}
}
