package nettrace

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/nettrace/eventpipe"
)

// looks are the sample profiler's: what every managed thread did at some moment.
// A starving server has hundreds of threads that all do the same for seconds, so
// beyond maxLooks looks at one thread with one stack are joined within a quantum,
// which grows until they fit. In the end that is a row for each thread and stack.
type looks struct {
	rows    []look
	lanes   map[int64]*laneLooks
	lately  [64]*laneLooks // of lanes, by the lowest bits of the thread
	within  joining
	limit   int   // of rows
	quantum int64 // ns, 0: every look is a row
	count   int64
	managed int64 // of them in managed code
	left    int64 // of them not in rows

	first, last int64
}

type look struct {
	time   int64
	lane   int64
	stack  eventpipe.StackID
	native bool
	count  int32
	n      int64 // the event's number
}

type laneLooks struct {
	id          int64
	count       int64
	first, last int64
}

// Beyond maxLooks rows (10 MiB until the stream ends) looks are joined. Where even
// those within usefulQuantum are too many, as of hundreds of threads with hundreds
// of stacks each, there may be up to mostLooks.
const (
	maxLooks      = 256 << 10
	mostLooks     = 4 * maxLooks
	leastQuantum  = 5e6
	usefulQuantum = 1e9 // by then requests are not told apart
)

func (l *looks) init() {
	l.lanes = make(map[int64]*laneLooks)
	l.limit = maxLooks
}

// What a sample says of its thread.
const sampleManaged = 2 // 1: in native code, 0: its stack could not be taken

// sampled reads a sample of the sample profiler.
func (q *process) sampled(e *eventpipe.Event) {
	if len(e.Payload) < 4 {
		q.bad(e)
		return
	}
	l := &q.looks
	lane := l.of(e.Thread, e.Time)
	native := e.Payload[0] != sampleManaged
	if l.count++; l.count == 1 {
		l.first = e.Time
	}
	if !native {
		l.managed++
	}
	l.last = e.Time
	lane.count++
	lane.last = e.Time
	r := look{e.Time, e.Thread, e.Stack, native, 1, e.N}
	if len(l.rows) == l.limit {
		l.coarsen()
	}
	if l.quantum > 0 && l.within.has(l.rows, &r) {
		return
	}
	if len(l.rows) == cap(l.rows) { // append alone would copy them more often
		l.rows = append(make([]look, 0, min(l.limit, max(256, 2*len(l.rows)))), l.rows...)
	}
	l.rows = append(l.rows, r)
}

// of is the lane of a thread.
func (l *looks) of(thread, time int64) *laneLooks {
	lately := &l.lately[uint64(thread)%uint64(len(l.lately))]
	if lane := *lately; lane != nil && lane.id == thread {
		return lane
	}
	lane := l.lanes[thread]
	if lane == nil {
		lane = &laneLooks{id: thread, first: time}
		l.lanes[thread] = lane
	}
	*lately = lane
	return lane
}

// coarsen joins rows until half of the limit is free.
func (l *looks) coarsen() {
	for len(l.rows) > l.limit/2 {
		switch {
		case l.quantum < usefulQuantum || l.limit == mostLooks && l.quantum <= l.last-l.first:
			l.quantum = max(leastQuantum, 4*l.quantum)
			l.join()
		case l.limit < mostLooks:
			l.limit *= 2
		default:
			n := len(l.rows) / 2
			for _, r := range l.rows[:n] {
				l.left += int64(r.count)
			}
			l.rows = append(l.rows[:0], l.rows[n:]...)
			l.join()
		}
	}
}

func (l *looks) join() {
	l.within.begin(l.quantum)
	kept := l.rows[:0]
	for i := range l.rows {
		if r := &l.rows[i]; !l.within.has(kept, r) {
			kept = append(kept, *r)
		}
	}
	l.rows = kept
}

// every is how many ns lie between two looks at a thread, by the one that was
// looked at most.
func (l *looks) every() int64 {
	var most *laneLooks
	for _, lane := range l.lanes {
		if most == nil || lane.count > most.count {
			most = lane
		}
	}
	if most == nil || most.count < 2 {
		return 0
	}
	return (most.last - most.first) / (most.count - 1)
}

func (l *looks) emit(q *process) {
	if l.count == 0 {
		return
	}
	kind, unit := q.b.Name("thread"), q.b.Name("count")
	q.b.RoomForSamples(len(l.rows))
	for i := range l.rows {
		r := &l.rows[i]
		q.b.Sample(evidence.Sample{Subject: q.id, Time: r.time, Lane: evidence.LaneID(r.lane), Stack: q.stack(r.stack, r.native, r.time),
			Type: kind, Unit: unit, Value: int64(r.count), Origin: q.b.Origin(r.n)})
	}
	if l.left > 0 {
		q.b.Warnf(0, "threads have more than %d combinations with stacks: the first %d samples are counted only", mostLooks, l.left)
	}
	q.cover(evidence.CoverThreads, l.first, l.last, max(l.every(), l.quantum))
}

// busiest are the threads by how often they were looked at in managed code and
// at all.
func (l *looks) threads() []int64 {
	var ids []int64
	for id := range l.lanes {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int {
		return cmp.Or(-cmp.Compare(l.lanes[a].count, l.lanes[b].count), cmp.Compare(a, b))
	})
	return ids
}
