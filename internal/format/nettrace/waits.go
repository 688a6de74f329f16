package nettrace

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// waits are threads that waited for a lock (Monitor, from .NET 9 Lock too) or, from
// .NET 9 on, for a wait handle.
type waits struct {
	watched bool // locks: a session may have only the events of wait handles
	open    map[waitKey]wait
	rows    []wait
	dropped int64
	locks   map[uint64]int64 // waits by lock, .NET 8+
	threads map[int64]bool   // threads that were seen to act: owners have several kinds of number
	native  int64            // contentions within the runtime itself
	byKind  [2]waitSum
}

type waitSum struct{ count, time, longest, open int64 }

// waitKey identifies a wait: a thread waits for one lock at a time, and perhaps also for a handle
// (locks of .NET 9 wait by one).
type waitKey struct {
	thread int64
	handle bool
}

type wait struct {
	start, end int64
	thread     int64
	owner      int64
	lock       uint64
	stack      eventpipe.StackID
	handle     bool
	monitor    bool // Monitor.Wait: for a pulse, not for the lock
	n          int64
}

const (
	maxWaits = 512 << 10
	maxLocks = 64 << 10
)

func (w *waits) init() {
	w.open = make(map[waitKey]wait)
	w.locks = make(map[uint64]int64)
	w.threads = make(map[int64]bool)
}

// contentionStart reads Contention/Start (81). From .NET 8 on it has the lock and
// its holder.
func (q *process) contentionStart(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	native := e.Meta.Version >= 1 && c.U8() != 0
	v := wait{start: e.Time, thread: e.Thread, stack: e.Stack, n: e.N}
	if e.Meta.Version >= 2 {
		c.Skip(2)
		v.lock = c.Pointer()
		c.Pointer() // the object
		v.owner = int64(c.U64())
	}
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	w := &q.waits
	w.watched = true
	if native {
		w.native++
		return
	}
	w.threads[e.Thread] = true
	if v.lock != 0 && (len(w.locks) < maxLocks || w.locks[v.lock] > 0) {
		w.locks[v.lock]++
	}
	w.open[waitKey{e.Thread, false}] = v
}

// contentionStop reads Contention/Stop (91). From .NET Core 3.0 on it has the length of
// the wait, also of waits that began before the session.
func (q *process) contentionStop(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	native := c.U8() != 0
	c.Skip(2)
	var told float64
	if e.Meta.Version >= 1 {
		told = c.F64()
	}
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	w := &q.waits
	w.watched = true
	if native {
		return
	}
	k := waitKey{e.Thread, false}
	v, ok := w.open[k]
	if !ok {
		if !(told > 0 && told < 1e15) { // NaN too
			return
		}
		v = wait{start: e.Time - int64(told), thread: e.Thread, stack: e.Stack, n: e.N}
	}
	delete(w.open, k)
	w.closeWait(v, e.Time)
}

// waitStart reads WaitHandleWait/Start (301).
func (q *process) waitStart(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	source := c.U8()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	w := &q.waits
	w.threads[e.Thread] = true
	w.open[waitKey{e.Thread, true}] = wait{start: e.Time, thread: e.Thread, stack: e.Stack, handle: true, monitor: source == 1, n: e.N}
}

// waitStop reads WaitHandleWait/Stop (302). For a wait that began before the session
// only its end is known.
func (q *process) waitStop(e *eventpipe.Event) {
	w := &q.waits
	k := waitKey{e.Thread, true}
	v, ok := w.open[k]
	switch {
	case ok:
	case w.threads[e.Thread]:
		return // its start was lost
	default:
		v = wait{start: q.watchedSince(), thread: e.Thread, stack: e.Stack, handle: true, n: e.N}
	}
	w.threads[e.Thread] = true
	delete(w.open, k)
	w.closeWait(v, e.Time)
}

func (w *waits) closeWait(v wait, at int64) {
	v.end = max(v.start, at)
	kind := 0
	if v.handle {
		kind = 1
	}
	s := &w.byKind[kind]
	s.count++
	s.time += v.end - v.start
	s.longest = max(s.longest, v.end-v.start)
	if len(w.rows) == maxWaits {
		w.dropped++
		return
	}
	w.rows = append(w.rows, v)
}

func (w *waits) emit(q *process) {
	for _, k := range sortedWaits(w.open) {
		v := w.open[k]
		if k.handle {
			w.byKind[1].open++
		} else {
			w.byKind[0].open++
		}
		w.closeWait(v, q.watchedUntil()) // it still waits: its known time is a lower bound
	}
	for i := range w.rows {
		v := &w.rows[i]
		row := evidence.Interval{Subject: q.id, Lane: evidence.LaneID(v.thread), Kind: evidence.LockWait, Start: v.start, End: v.end,
			Stack: q.stackAt(v.stack, false, v.start), Origin: q.b.Origin(v.n)}
		switch {
		case v.handle && v.monitor:
			row.Kind, row.Cause = evidence.SyncWait, q.b.Name("Monitor.Wait")
		case v.handle:
			row.Kind, row.Cause = evidence.SyncWait, q.b.Name("wait handle")
		case w.threads[v.owner] || q.looks.lanes[v.owner] != nil:
			row.Holder = evidence.LaneID(v.owner)
		}
		q.b.Interval(row)
	}
	if w.watched {
		q.addCoverage(evidence.CoverWaits, q.watchedSince(), q.watchedUntil(), 0)
	}
	if w.dropped > 0 {
		q.b.Warnf(0, "threads waited more than %d times: later waits, counted in the sums only: %d", maxWaits, w.dropped)
	}
}

// sortedWaits returns the waits in the order of their beginnings.
func sortedWaits(open map[waitKey]wait) []waitKey {
	return slices.SortedFunc(maps.Keys(open), func(a, b waitKey) int {
		return cmp.Or(cmp.Compare(open[a].start, open[b].start), cmp.Compare(open[a].n, open[b].n))
	})
}
