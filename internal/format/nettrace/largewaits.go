package nettrace

import (
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// largeWaits are threads that wait to allocate while a background collection runs
// (BGCAllocWaitStart and Stop, 23 and 24, of the runtime's private provider): mostly for large
// objects, whose budget is too small during it.
type largeWaits struct {
	watched bool
	open    map[int64]largeWait // by thread
	done    []largeWait
	dropped int64
}

type largeWait struct {
	thread     int64
	start, end int64
	reason     uint32
	stack      eventpipe.StackID
	n          int64
}

// largeReasons are the reasons of the wait (alloc_wait_reason in gcpriv.h).
var largeReasons = [...]string{"low memory", "little space for young objects", "allocation in generation 0", "large object", "large object, low memory",
	"no space for a large object", "no space for a small object", "no space for a large object", "collection to begin", "segment for large objects",
	"large object, while the collection plans", "large objects beyond their budget"}

// privateEvent records that the runtime's private provider has GC events.
func (q *process) privateEvent(*eventpipe.Event) { q.gc.waits.watched = true }

func (q *process) largeWaitStart(e *eventpipe.Event) {
	w := &q.gc.waits
	w.watched = true
	c := q.p.r.Cursor(e.Payload())
	reason := c.U32()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	if w.open == nil {
		w.open = make(map[int64]largeWait)
	}
	if len(w.open) < maxWaits {
		w.open[e.Thread] = largeWait{thread: e.Thread, start: e.Time, reason: reason, stack: e.Stack, n: e.N}
	}
}

func (q *process) largeWaitStop(e *eventpipe.Event) {
	w := &q.gc.waits
	w.watched = true
	v, ok := w.open[e.Thread]
	if !ok {
		return
	}
	delete(w.open, e.Thread)
	if len(w.done) == maxWaits {
		w.dropped++
		return
	}
	v.end = e.Time
	w.done = append(w.done, v)
}

func (w *largeWaits) emit(q *process) {
	if !w.watched {
		return
	}
	for i := range w.done {
		v := &w.done[i]
		why := "background collection"
		if int(v.reason) < len(largeReasons) {
			why += ": " + largeReasons[v.reason]
		}
		row := evidence.Interval{Subject: q.id, Lane: evidence.LaneID(v.thread), Kind: evidence.AllocStall, Start: v.start, End: max(v.start, v.end),
			Cause: q.b.Name(why), Origin: q.b.Origin(v.n)}
		if v.stack != 0 {
			row.Stack = q.stackAt(v.stack, false, v.start)
		}
		q.b.Interval(row)
	}
	q.addCoverage(evidence.CoverLargeWaits, q.watchedSince(), q.watchedUntil(), 0)
	if w.dropped > 0 {
		q.b.Warnf(0, "more than %d waits to allocate: later ones left out: %d", maxWaits, w.dropped)
	}
}
