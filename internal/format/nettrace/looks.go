package nettrace

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// looks are the sample profiler's samples of every managed thread.
// A starving server has hundreds of threads that all do the same for seconds, so
// beyond maxLooks samples of one thread with one stack are joined within a quantum,
// which grows until they fit. In the end that is a row for each thread and stack.
type looks struct {
	rows    rowBlocks[look]
	lanes   map[int64]*laneLooks
	order   []*laneLooks        // by their number
	lately  [1 << 10]*laneLooks // of lanes, by the thread's hash; a starving pool has hundreds
	within  joining
	limit   int   // of rows
	quantum int64 // ns, 0: every look is a row
	count   int64
	managed int64 // of them in managed code
	left    int64 // of them not in rows

	first, last int64
}

type laneLooks struct {
	id          int64
	number      uint32
	count       int64
	first, last int64
}

// Beyond maxLooks rows (8 MiB until the stream ends) samples are joined. If even
// those within usefulQuantum are too many, for example with hundreds of threads and hundreds
// of stacks each, there may be up to mostLooks.
const (
	maxLooks      = 256 << 10
	mostLooks     = 4 * maxLooks
	leastQuantum  = 5e6
	usefulQuantum = 1e9 // beyond it requests cannot be told apart
)

func (l *looks) init() {
	l.lanes = make(map[int64]*laneLooks)
	l.limit = maxLooks
}

// The kinds of a sample.
const sampleManaged = 2 // 1: in native code, 0: its stack could not be taken

// threadSample reads a sample of the sample profiler.
func (q *process) threadSample(e *eventpipe.Event) {
	payload := e.Payload()
	if len(payload) < 4 {
		q.countMalformed(e)
		return
	}
	q.addLook(e, payload[0] != sampleManaged)
}

// addLook adds a sample.
func (q *process) addLook(e *eventpipe.Event, native bool) {
	l := &q.looks
	lane := l.laneOf(e.Thread, e.Time)
	if l.count++; l.count == 1 {
		l.first = e.Time
	}
	if !native {
		l.managed++
	}
	l.last = e.Time
	lane.count++
	lane.last = e.Time
	if l.rows.n == l.limit {
		l.coarsen()
	}
	what := whatSeen(lane.number, e.Stack, native)
	if l.quantum > 0 {
		if row, ok := l.within.findRow(what, e.Time, l.rows.n); ok {
			l.rows.at(row).count++
			return
		}
	}
	*l.rows.add() = look{e.Time, e.N, what, 1}
}

// laneOf returns the lane of a thread, making it if it is new.
func (l *looks) laneOf(thread, time int64) *laneLooks {
	lately := &l.lately[uint64(thread)*0x9e3779b97f4a7c15>>54]
	if lane := *lately; lane != nil && lane.id == thread {
		return lane
	}
	lane := l.lanes[thread]
	if lane == nil {
		lane = &laneLooks{id: thread, number: uint32(len(l.order)), first: time}
		l.lanes[thread] = lane
		l.order = append(l.order, lane)
	}
	*lately = lane
	return lane
}

// coarsen joins rows until half of the limit is free.
func (l *looks) coarsen() {
	for l.rows.n > l.limit/2 {
		switch {
		case l.quantum < usefulQuantum || l.limit == mostLooks && l.quantum <= l.last-l.first:
			l.quantum = max(leastQuantum, 4*l.quantum)
			l.joinRows(0)
		case l.limit < mostLooks:
			l.limit *= 2
		default:
			n := l.rows.n / 2
			for i := range n {
				l.left += int64(l.rows.at(i).count)
			}
			l.joinRows(n)
		}
	}
}

// joinRows joins the rows from one on. Those before are gone.
func (l *looks) joinRows(from int) {
	l.within.beginQuantum(l.quantum)
	kept := 0
	for i := from; i < l.rows.n; i++ {
		r := l.rows.at(i)
		if row, ok := l.within.findRow(r.what, r.time, kept); ok {
			l.rows.at(row).count += r.count
			continue
		}
		*l.rows.at(kept) = *r
		kept++
	}
	l.rows.n = kept
}

// sampleInterval returns the ns between two samples of a thread, from the thread with
// most.
func (l *looks) sampleInterval() int64 {
	var most *laneLooks
	for _, lane := range l.order { // of several, the first that was seen
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
	told := q.tellsNative()
	q.b.RoomForSamples(l.rows.n)
	for i := range l.rows.n {
		r := l.rows.at(i)
		stack, native := r.what.stackID()
		native = native && told
		q.b.Sample(evidence.Sample{Subject: q.id, Time: r.time, Lane: evidence.LaneID(l.order[r.what.laneNumber()].id), Stack: q.stackAt(stack, native, r.time),
			Type: kind, Unit: unit, Value: int64(r.count), Origin: q.b.Origin(r.n)})
	}
	if l.left > 0 {
		q.b.Warnf(0, "threads have more than %d combinations with stacks: the first %d samples are counted without their stacks", mostLooks, l.left)
	}
	q.addCoverage(evidence.CoverThreads, l.first, l.last, max(l.sampleInterval(), l.quantum))
}

// tellsNative says whether samples distinguish native code from managed code. From .NET 9 on, until a fix
// in a later build of .NET 10, nearly all of them say native
// (https://github.com/dotnet/runtime/pull/124019): then only the innermost frames decide.
func (q *process) tellsNative() bool {
	return q.majorVersion() < 9 || float64(q.looks.managed) >= leastManaged*float64(q.looks.count)
}

// leastManaged is the part of managed samples from which a runtime counts as distinguishing
// them: a runtime that does not has some of threads that were just coming back.
const leastManaged = .05

// sortedByLooks returns the threads' ids, those that were looked at most often first.
func (l *looks) sortedByLooks() []int64 {
	var ids []int64
	for id := range l.lanes {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int {
		return cmp.Or(-cmp.Compare(l.lanes[a].count, l.lanes[b].count), cmp.Compare(a, b))
	})
	return ids
}
