package evidence

import (
	"cmp"
	"slices"
)

// ProcessorLog collects what processors did, in bounded memory. While there is room it keeps every span as observed, in some 8 bytes.
// When the room is used up it joins neighbours shorter than a quantum, which keeps the time of each kind of work but not their order,
// and it raises the quantum as needed: no time is lost, and long spans stay as observed.
//
// The zero value is ready; spans of a lane are added in order of time.
type ProcessorLog struct {
	lanes   []*LaneLog
	late    map[LaneID]lateLane
	blocks  int // in use
	limit   int // 0: maxProcessorBlocks
	quantum int64
	free    [][]byte // blocks that were rewritten
	omitted map[int]bool
}

// LaneLog is the log of one processor.
type LaneLog struct {
	log    *ProcessorLog
	number int
	blocks []processorBlock
	w      spanWriter
	coarse struct { // the part that was joined already
		quantum int64
		blocks  int
	}
}

// The packed spans of a log take 16 MiB at most, in blocks that no span crosses: growing never copies, and a lane that is rewritten
// returns its blocks one by one for reuse. With what became known of goroutines late it is some 20 MiB.
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

// Learn records what became known of a goroutine after its spans were added: that it always served requests (WorkRequest) or belonged
// to the runtime (WorkRuntime), and its function. Zeros change nothing.
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

// Add appends a span. A span that does not begin at the lane's end leaves a gap.
func (n *LaneLog) Add(s *ProcessorSpan) {
	if s.To <= s.From {
		return
	}
	if len(n.blocks) == 0 || len(n.blocks[len(n.blocks)-1].data) > processorBlockSize-maxSpanSize {
		n.nextBlock()
	}
	b := &n.blocks[len(n.blocks)-1]
	b.data = n.w.appendSpan(b.data, s)
}

func (n *LaneLog) nextBlock() {
	l := n.log
	if l.limit == 0 {
		l.limit = maxProcessorBlocks
	}
	if l.blocks >= l.limit && l.blocks > len(l.lanes) {
		l.coarsenLanes()
		if k := len(n.blocks); k > 0 && len(n.blocks[k-1].data) <= processorBlockSize-maxSpanSize {
			return
		}
	}
	n.blocks = append(n.blocks, n.beginBlock())
}

// beginBlock takes a block for writing.
func (n *LaneLog) beginBlock() processorBlock {
	l := n.log
	var data []byte
	if k := len(l.free); k > 0 {
		data, l.free = l.free[k-1], l.free[:k-1]
	} else {
		data = make([]byte, 0, processorBlockSize)
	}
	l.blocks++
	n.w.beginBlock()
	return processorBlock{from: n.w.at, data: data}
}

// coarsenLanes joins short spans until a quarter of the room is free.
func (l *ProcessorLog) coarsenLanes() {
	enough := max(l.limit*3/4, len(l.lanes))
	if l.quantum == 0 {
		l.quantum = l.firstQuantum()
	}
	for {
		longest := int64(0)
		for _, n := range l.lanes {
			n.coarsenTo(l.quantum)
			longest = max(longest, n.w.at-n.startTime())
		}
		if l.blocks <= enough || l.quantum > longest { // at this quantum each lane is one span
			break
		}
		l.quantum *= 2
	}
}

// firstQuantum returns the initial quantum, some times a typical span: a joined span of two takes more room than both.
func (l *ProcessorLog) firstQuantum() int64 {
	var time int64
	for _, n := range l.lanes {
		time += n.w.at - n.startTime()
	}
	const typical = 9 // bytes of a span
	return max(1, 4*time/int64(l.limit*processorBlockSize/typical))
}

func (n *LaneLog) startTime() int64 {
	if len(n.blocks) == 0 {
		return 0
	}
	return n.blocks[0].from
}

// coarsenTo rewrites the part of the lane that is not yet joined with this quantum. A run of spans and gaps that are all shorter than
// the quantum becomes spans just longer than it, so that at most three per quantum of time are left.
func (n *LaneLog) coarsenTo(quantum int64) {
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
			n.blocks = append(n.blocks, n.beginBlock())
		}
		b := &n.blocks[len(n.blocks)-1]
		b.data = n.w.appendSpan(b.data, s)
	}
	flush := func() {
		if open.To > open.From {
			put(&open)
			open = ProcessorSpan{}
		}
	}
	for i := range old {
		for s := range old[i].eachSpan {
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
				open.joinSpan(&s)
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
	n.coarse.quantum, n.coarse.blocks = quantum, len(n.blocks)-1 // writing continues in the last one
}

// joinSpan joins two spans and the gap between them.
func (s *ProcessorSpan) joinSpan(o *ProcessorSpan) {
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
	s.Work = s.Mix.largestWork()
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

// fitBlocks joins as needed to use no more than a number of blocks, or one for each lane.
func (l *ProcessorLog) fitBlocks(blocks int) {
	if blocks = max(blocks, len(l.lanes)); l.blocks > blocks {
		l.limit = blocks
		l.coarsenLanes()
	}
}

// A recording may hold a trace every minute: all traces share maxBundleBlocks (64 MiB), and when these are used up each has leastBlocks
// (1 MiB).
const (
	maxBundleBlocks = 4 * maxProcessorBlocks
	leastBlocks     = maxProcessorBlocks / 16
)

// processorBlocks returns how many more blocks a trace may use.
func (b *Bundle) processorBlocks() int {
	used := 0
	for i := range b.Processors {
		for _, n := range b.Processors[i].Lanes {
			used += len(n.blocks)
		}
	}
	return max(maxBundleBlocks-used, leastBlocks)
}

// Processors adds the part of a log within [from, until); the log must not be used afterwards.
func (p *Builder) Processors(subject SubjectID, l *ProcessorLog, from, until int64) {
	l.fitBlocks(p.bundle.processorBlocks())
	x := Occupancy{Subject: subject, Clock: p.clock, Origin: p.Origin(0), From: from, Until: until, Quantum: l.quantum, Omitted: len(l.omitted), late: l.late}
	for _, n := range l.lanes {
		x.Lanes = append(x.Lanes, ProcessorLane{n.number, n.blocks})
	}
	slices.SortFunc(x.Lanes, func(a, b ProcessorLane) int { return cmp.Compare(a.Number, b.Number) })
	p.processors = append(p.processors, len(p.bundle.Processors))
	p.bundle.Processors = append(p.bundle.Processors, x)
}
