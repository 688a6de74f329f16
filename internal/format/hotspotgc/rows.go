package hotspotgc

import (
	"runtime"

	"github.com/unstall/unstall/internal/base/evidence"
)

// rows writes events as the bundle's intervals, a quarter of the work of reading. If a processor
// is free, a goroutine does it in parallel; then no other code touches the
// bundle's intervals and names.
type rows struct {
	b     *evidence.Builder
	extra []evidence.Extra // of the event being written, reused

	recent [16]struct { // names by a hash of them
		name string
		id   evidence.NameID
	}

	size, read int64 // bytes of the log: total, 0 unknown; read so far
	written    int64 // events
	room       int64 // events there is room for

	batch   *rowBatch // the one being filled
	full    chan *rowBatch
	empty   chan *rowBatch
	stopped chan any // the value of a panic while writing, nil without; the channel is nil: all is written here
}

// rowBatch is events in their order.
type rowBatch struct {
	events [rowsAtOnce]event
	of     [rowsAtOnce]evidence.SubjectID
	n      int
	read   int64
}

// rowsAtOnce is large enough to wake the writer rarely, and small enough for a core's cache.
const rowsAtOnce = 128

func newRows(b *evidence.Builder) rows { return rows{b: b, batch: new(rowBatch)} }

// addEvent adds an event of a process.
func (w *rows) addEvent(e *event, of evidence.SubjectID) {
	b := w.batch
	b.events[b.n], b.of[b.n] = *e, of
	if b.n++; b.n == rowsAtOnce {
		w.passBatch()
	}
}

// passBatch passes the batch to the writer, and begins another one.
func (w *rows) passBatch() {
	b := w.batch
	b.read = w.read
	if w.stopped == nil && runtime.GOMAXPROCS(0) > 1 {
		w.startWriting()
	}
	if w.stopped == nil {
		w.writeBatch(b)
		b.n = 0
		return
	}
	w.full <- b
	w.batch = <-w.empty
}

// startWriting starts a goroutine that writes from now on.
func (w *rows) startWriting() {
	w.full, w.empty, w.stopped = make(chan *rowBatch, 4), make(chan *rowBatch, 6), make(chan any, 1)
	for range cap(w.empty) - 1 {
		w.empty <- new(rowBatch)
	}
	go func() {
		var panicked any
		for b := range w.full {
			if panicked == nil {
				panicked = w.writeSafely(b)
			}
			b.n = 0
			w.empty <- b
		}
		w.stopped <- panicked
	}()
}

func (w *rows) writeSafely(b *rowBatch) (panicked any) {
	defer func() { panicked = recover() }()
	w.writeBatch(b)
	return nil
}

// close writes the rest. It is called once, however the reading ends.
func (w *rows) close() {
	if w.stopped == nil {
		w.batch.read = w.read
		w.writeBatch(w.batch)
		w.batch.n = 0
		return
	}
	w.batch.read = w.read
	w.full <- w.batch
	close(w.full)
	if panicked := <-w.stopped; panicked != nil {
		panic(panicked)
	}
}

func (w *rows) writeBatch(b *rowBatch) {
	for i := range b.events[:b.n] {
		if w.written++; w.written >= w.room {
			w.makeRoom(b.read)
		}
		w.writeEvent(&b.events[i], b.of[i])
	}
}

// writeEvent writes an event as a row.
func (w *rows) writeEvent(e *event, of evidence.SubjectID) {
	x := evidence.Interval{Subject: of, Lane: evidence.AllLanes, Kind: e.kind, Start: e.start, End: max(e.start, e.end),
		Request: evidence.NoRequest, Cause: w.nameID(e.name), Origin: w.b.Origin(e.line)}
	switch e.kind {
	case evidence.AllocStall:
		x.Lane = e.lane
	case evidence.GCConcurrent:
		x.Lane = 0
	}
	w.extra = w.extra[:0]
	if e.kind == evidence.StopTheWorld {
		w.extra = append(w.extra, evidence.Extra{Key: evidence.PauseOf, Value: float64(e.pause)})
	}
	w.appendName(evidence.Trigger, e.trigger)
	w.appendName(evidence.Failure, e.failure)
	w.appendSizes(e.heap, evidence.HeapBefore, evidence.HeapAfter, evidence.HeapCapacity)
	w.appendSizes(e.young, evidence.YoungBefore, evidence.YoungAfter, evidence.YoungCapacity)
	w.appendSizes(e.old, evidence.OldBefore, evidence.OldAfter, evidence.OldCapacity)
	w.appendFigure(evidence.MetaBefore, e.meta.before)
	w.appendFigure(evidence.MetaAfter, e.meta.after)
	if e.perm && e.pause == evidence.PauseFull && e.trigger == "" { // why is not told: the generation may have been full
		w.appendFigure(evidence.MetaCapacity, e.meta.capacity)
	}
	w.appendFigure(evidence.CycleNumber, e.number)
	w.appendFigure(evidence.HumongousBefore, e.humongousBefore)
	w.appendFigure(evidence.HumongousAfter, e.humongousAfter)
	w.appendFigure(evidence.SurvivorTotal, e.survivors)
	w.appendFigure(evidence.TenuringThreshold, e.tenuring)
	w.appendFigure(evidence.UserCPU, e.user)
	w.appendFigure(evidence.SystemCPU, e.system)
	w.appendFigure(evidence.RealTime, e.real)
	w.appendFigure(evidence.ToSafepoint, e.toSafepoint)
	w.appendFigure(evidence.Resuming, e.leaving)
	w.appendFigure(evidence.YoungTime, e.youngTime)
	w.appendFigure(evidence.WaitedWithin, e.within)
	x.Extra = w.extra
	w.b.Interval(x)
}

func (w *rows) appendName(k evidence.Key, s string) {
	if s != "" {
		w.extra = append(w.extra, evidence.Extra{Key: k, Value: float64(w.nameID(s))})
	}
}

// nameID returns the number of a name. There are few names, and a map look-up took as long as
// the rest of an event.
func (w *rows) nameID(s string) evidence.NameID {
	if s == "" {
		return 0
	}
	r := &w.recent[(len(s)+int(s[0])+int(s[len(s)/2]))%len(w.recent)]
	if r.name != s {
		r.name, r.id = s, w.b.Name(s)
	}
	return r.id
}

func (w *rows) appendFigure(k evidence.Key, v int64) {
	if v != unknown {
		w.extra = append(w.extra, evidence.Extra{Key: k, Value: float64(v)})
	}
}

func (w *rows) appendSizes(s sizes, before, after, capacity evidence.Key) {
	w.appendFigure(before, s.before)
	w.appendFigure(after, s.after)
	w.appendFigure(capacity, s.capacity)
}

// makeRoom reserves as many rows as the rest of the log will give if it continues as
// before. A thousand rows suffice to judge; a log of unknown size grows by doubling.
func (w *rows) makeRoom(read int64) {
	const enough = 4096
	if w.size <= 0 || read <= 0 || w.written < enough {
		w.room = max(w.room*2, enough)
		return
	}
	rest := float64(max(0, w.size-read)) / float64(read) * float64(w.written)
	more := int64(min(rest*1.05, 1<<28)) + enough
	w.b.RoomForIntervals(int(more))
	w.room = w.written + more
}
