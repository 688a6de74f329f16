package evidence

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// ProcessorLog collects what processors did, in bounded memory. While there is
// room every span is kept as it was observed, in some 8 bytes. When there is
// none, neighbours shorter than a quantum are joined, which keeps the time of
// each kind of work but not their order, and the quantum grows as it must:
// nothing is forgotten, and what lasted long stays what it was.
//
// The zero value is ready; spans of a lane are added in order of time.
type ProcessorLog struct {
	lanes   []*LaneLog
	late    map[LaneID]lateLane
	blocks  int // in use
	limit   int // 0: maxProcessorBlocks
	quantum int64
	free    [][]byte // blocks that were read anew
	omitted map[int]bool
}

// LaneLog is the log of one processor.
type LaneLog struct {
	log    *ProcessorLog
	number int
	blocks []processorBlock
	w      spanWriter
	coarse struct { // what was joined already
		quantum int64
		blocks  int
	}
}

// The packed spans of a log are 16 MiB at most, in blocks that no span crosses:
// growing never copies, and a lane that is read anew hands its blocks back one
// by one, to be written to again. With what became known of goroutines late it is
// some 20 MiB.
const (
	processorBlockSize = 8 << 10
	maxProcessorBlocks = 16 << 20 / processorBlockSize
	maxProcessors      = 1 << 10
	maxLateLanes       = 1 << 16
)

// Lane begins the log of a processor; nil if there are too many of them.
func (l *ProcessorLog) Lane(number int, from int64) *LaneLog {
	if len(l.lanes) >= maxProcessors {
		if l.omitted == nil {
			l.omitted = make(map[int]bool)
		}
		if len(l.omitted) < maxLateLanes {
			l.omitted[number] = true
		}
		return nil
	}
	n := &LaneLog{log: l, number: number, w: spanWriter{at: from}}
	l.lanes = append(l.lanes, n)
	return n
}

// Learn says what became known of a goroutine after spans of it were added:
// that it always served requests (WorkRequest) or was the runtime's
// (WorkRuntime), and its function. Zeros change nothing.
func (l *ProcessorLog) Learn(lane LaneID, work Work, name NameID) {
	k, ok := l.late[lane]
	if !ok && len(l.late) >= maxLateLanes {
		return
	}
	if l.late == nil {
		l.late = make(map[LaneID]lateLane)
	}
	if work != WorkIdle {
		k.work = work
	}
	if name != 0 {
		k.name = name
	}
	l.late[lane] = k
}

// Add appends a span. One that does not begin where the lane ends leaves a gap.
func (n *LaneLog) Add(s *ProcessorSpan) {
	if s.To <= s.From {
		return
	}
	if len(n.blocks) == 0 || len(n.blocks[len(n.blocks)-1].data) > processorBlockSize-maxSpanSize {
		n.block()
	}
	b := &n.blocks[len(n.blocks)-1]
	b.data = n.w.append(b.data, s)
}

func (n *LaneLog) block() {
	l := n.log
	if l.limit == 0 {
		l.limit = maxProcessorBlocks
	}
	if l.blocks >= l.limit && l.blocks > len(l.lanes) {
		l.coarsen()
		if k := len(n.blocks); k > 0 && len(n.blocks[k-1].data) <= processorBlockSize-maxSpanSize {
			return
		}
	}
	n.blocks = append(n.blocks, n.begin())
}

// begin takes a block to write to.
func (n *LaneLog) begin() processorBlock {
	l := n.log
	var data []byte
	if k := len(l.free); k > 0 {
		data, l.free = l.free[k-1], l.free[:k-1]
	} else {
		data = make([]byte, 0, processorBlockSize)
	}
	l.blocks++
	n.w.begin()
	return processorBlock{from: n.w.at, data: data}
}

// coarsen joins what is short until a quarter of the room is free.
func (l *ProcessorLog) coarsen() {
	enough := max(l.limit*3/4, len(l.lanes))
	if l.quantum == 0 {
		l.quantum = l.least()
	}
	for {
		longest := int64(0)
		for _, n := range l.lanes {
			n.coarsen(l.quantum)
			longest = max(longest, n.w.at-n.from())
		}
		if l.blocks <= enough || l.quantum > longest { // then each lane is one span
			break
		}
		l.quantum *= 2
	}
}

// least is the quantum to begin with, some times a typical span: one that stands
// for two takes more room than both.
func (l *ProcessorLog) least() int64 {
	var time int64
	for _, n := range l.lanes {
		time += n.w.at - n.from()
	}
	const typical = 9 // bytes of a span
	return max(1, 4*time/int64(l.limit*processorBlockSize/typical))
}

func (n *LaneLog) from() int64 {
	if len(n.blocks) == 0 {
		return 0
	}
	return n.blocks[0].from
}

// coarsen writes the lane anew, what came since it was last done with the same
// quantum. A run of spans and gaps that are all shorter than the quantum becomes
// spans just longer than it; so no more than three for each quantum of time are
// left.
func (n *LaneLog) coarsen(quantum int64) {
	keep := 0
	if n.coarse.quantum == quantum {
		keep = n.coarse.blocks
	}
	old := n.blocks[keep:]
	if len(old) == 0 {
		return
	}
	n.blocks = n.blocks[:keep:keep]
	n.w = spanWriter{at: old[0].from}
	var open ProcessorSpan
	put := func(s *ProcessorSpan) {
		if len(n.blocks) == 0 || len(n.blocks[len(n.blocks)-1].data) > processorBlockSize-maxSpanSize {
			n.blocks = append(n.blocks, n.begin())
		}
		b := &n.blocks[len(n.blocks)-1]
		b.data = n.w.append(b.data, s)
	}
	flush := func() {
		if open.To > open.From {
			put(&open)
			open = ProcessorSpan{}
		}
	}
	for i := range old {
		for s := range old[i].spans {
			if s.From-open.To >= quantum {
				flush()
			}
			switch {
			case s.To-s.From >= quantum:
				flush()
				put(&s)
				continue
			case open.To == open.From:
				open = s
			default:
				open.join(&s)
			}
			if open.To-open.From >= quantum {
				flush()
			}
		}
		n.log.free = append(n.log.free, old[i].data[:0])
		n.log.blocks--
		old[i].data = nil
	}
	flush()
	n.coarse.quantum, n.coarse.blocks = quantum, len(n.blocks)-1 // the last goes on being written to
}

// join makes one span of two and what lies between.
func (s *ProcessorSpan) join(o *ProcessorSpan) {
	if s.Number <= 1 {
		s.Mix = Works{}
		s.Mix[s.Work] = s.To - s.From
		s.Number = 1
	}
	s.Mix[WorkIdle] += o.From - s.To
	for w, v := range o.Each {
		s.Mix[w] += v
	}
	s.Number += max(o.Number, 1)
	s.To = o.To
	s.Work = s.Mix.top()
	if s.Lane != o.Lane {
		s.Lane = 0
	}
	if s.Name != o.Name {
		s.Name = 0
	}
	if s.Serves != o.Serves {
		s.Serves = 0
	}
}

// Processors adds what a log holds of [from, until); the log must not be used
// any more.
func (p *Builder) Processors(subject SubjectID, l *ProcessorLog, from, until int64) {
	x := Occupancy{Subject: subject, Clock: p.clock, Origin: p.Origin(0), From: from, Until: until, Quantum: l.quantum, Omitted: len(l.omitted), late: l.late}
	for _, n := range l.lanes {
		x.Lanes = append(x.Lanes, ProcessorLane{n.number, n.blocks})
	}
	slices.SortFunc(x.Lanes, func(a, b ProcessorLane) int { return cmp.Compare(a.Number, b.Number) })
	p.processors = append(p.processors, len(p.bundle.Processors))
	p.bundle.Processors = append(p.bundle.Processors, x)
}

// processorBlock is packed spans. Times are relative to those before; the first
// counts from `from`, and nothing else is needed to read a block.
//
// Encoding of a span: a byte of work<<4 | flags, then as uvarints the gap before
// it if flagged, its duration, and what its flags say.
type processorBlock struct {
	from int64
	data []byte
}

const (
	spanGap    = 1 << iota // a gap lies before it
	spanOther              // another lane or name than the span before: the lane's difference (zigzag) and the name follow
	spanServes             // it serves another lane than its own: that one's difference to its own (zigzag) follows
	spanJoined             // how many were joined, a mask of the kinds of work and their durations follow
)

// maxSpanSize is what a span takes at most: a byte, 7 numbers, all works.
const maxSpanSize = 1 + (7+int(NumWorks))*binary.MaxVarintLen64

// spanWriter is what the next span is written relative to.
type spanWriter struct {
	at   int64
	lane LaneID
	name NameID
}

func (w *spanWriter) begin() { w.lane, w.name = 0, 0 }

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// ownServes is whom a span serves if nothing else is said.
func (s *ProcessorSpan) ownServes() LaneID {
	if s.Number <= 1 && (s.Work == WorkRequest || s.Work == WorkRequestAssist) {
		return s.Lane
	}
	return 0
}

// append packs a span into a block that has room for it.
func (w *spanWriter) append(to []byte, s *ProcessorSpan) []byte {
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
	// Blocks have room for all of it, so nothing need be checked in between.
	n := len(to)
	room := to[n:cap(to)]
	room[0] = head
	k := 1
	if gap > 0 {
		k += binary.PutUvarint(room[k:], uint64(gap))
	}
	k += binary.PutUvarint(room[k:], uint64(s.To-s.From))
	if other {
		k += binary.PutUvarint(room[k:], zigzag(int64(s.Lane-w.lane)))
		k += binary.PutUvarint(room[k:], uint64(s.Name))
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

// spans yields the spans of a block, with times as they were packed.
func (b *processorBlock) spans(yield func(ProcessorSpan) bool) {
	p := Path(b.data) // for its numbers
	w := spanWriter{at: b.from}
	for len(p) > 0 {
		head := p[0]
		p = p[1:]
		s := ProcessorSpan{Work: Work(head >> 4), From: w.at, Number: 1}
		if head&spanGap != 0 {
			s.From += int64(p.uvarint())
		}
		s.To = s.From + int64(p.uvarint())
		if head&spanOther != 0 {
			w.lane += LaneID(unzigzag(p.uvarint()))
			w.name = NameID(p.uvarint())
		}
		s.Lane, s.Name = w.lane, w.name
		var serves int64
		if head&spanServes != 0 {
			serves = unzigzag(p.uvarint())
		}
		if head&spanJoined != 0 {
			s.Number = int64(p.uvarint())
			mask := p.uvarint()
			for i := range s.Mix {
				if mask&(1<<i) != 0 {
					s.Mix[i] = int64(p.uvarint())
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
