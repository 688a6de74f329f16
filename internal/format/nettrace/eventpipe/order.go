package eventpipe

import (
	"math"
	"unsafe"
)

// record is a waiting event, without pointers, so that GC need not
// scan waiting events and writing one needs no write barrier.
type record struct {
	time      int64 // ns
	n         int64
	thread    int64
	offset    uint32 // of the payload in the block
	size      uint32
	stack     StackID
	meta      uint32 // in types.all
	processor uint32
	context   uint32 // in the block's
	block     uint32 // in Reader.slots
}

// chunkEvents is small, since a thread with one waiting event holds a whole chunk.
const chunkEvents = 64

type chunk struct {
	next    *chunk
	records [chunkEvents]record
}

const chunkBytes = int(unsafe.Sizeof(chunk{}))

// run is events of one thread in order of time, oldest first. A thread has one run,
// except in streams that break the promise that a thread's events come in order.
type run struct {
	head, tail  *chunk
	first, next int // in head and tail
	last        int64
	owner       *thread
}

func (q *run) front() *record { return &q.head.records[q.first] }
func (q *run) isEmpty() bool  { return q.head == q.tail && q.first == q.next }

// order merges runs.
type order struct {
	heap   []entry // by time, then by position in the stream
	runs   []*run  // to be reused
	chunks *chunk  // likewise
	spare  int     // how many chunks
	fresh  []chunk // never used
	inUse  int     // bytes of chunks that hold events

	// The run at the top may be delivered up to here without the heap.
	limit  int64
	limitN int64

	// Of that run: the records of its first chunk that can be taken without checks, all except
	// the last one. If threads alternate with each event there are none.
	aimed   bool
	now     *chunk
	at, end int
}

type entry struct {
	time, n int64
	run     *run
}

func (a entry) isBefore(b entry) bool { return a.time < b.time || a.time == b.time && a.n < b.n }

func (o *order) isEmpty() bool { return len(o.heap) == 0 }

// nextSlot returns where to write the next event of t, for the given time.
func (o *order) nextSlot(t *thread, time, n int64) *record {
	q := t.run
	if q == nil || time < q.last || q.next == chunkEvents {
		q = o.ensureRoom(t, time, n)
	}
	q.last = time
	q.next++
	return &q.tail.records[q.next-1]
}

// ensureRoom returns a run of t with room for an event of that time.
func (o *order) ensureRoom(t *thread, time, n int64) *run {
	q := t.run
	if q == nil || time < q.last {
		q = o.newRun(t)
		o.pushEntry(entry{time, n, q})
		return q
	}
	c := o.takeChunk()
	q.tail.next, q.tail, q.next = c, c, 0
	return q
}

func (o *order) newRun(t *thread) *run {
	var q *run
	if n := len(o.runs); n > 0 {
		q, o.runs = o.runs[n-1], o.runs[:n-1]
	} else {
		q = new(run)
	}
	if t.run != nil {
		t.run.owner = nil
	}
	c := o.takeChunk()
	*q = run{head: c, tail: c, owner: t}
	t.run = q
	return q
}

func (o *order) takeChunk() *chunk {
	o.inUse += chunkBytes
	c := o.chunks
	if c == nil {
		if len(o.fresh) == 0 {
			o.fresh = make([]chunk, freshChunks)
		}
		c, o.fresh = &o.fresh[0], o.fresh[1:]
		return c
	}
	o.chunks, c.next = c.next, nil
	o.spare--
	return c
}

// freshChunks is how many chunks are allocated at once.
const freshChunks = 8

// maxSpare is how many chunks are kept for reuse: 32 MB.
const maxSpare = 32 << 20 / chunkBytes

func (o *order) recycleChunk(c *chunk) {
	o.inUse -= chunkBytes
	if o.spare < maxSpare {
		c.next, o.chunks = o.chunks, c
		o.spare++
	}
}

// beginTaking must be called before takeOldest once events were added.
func (o *order) beginTaking(until int64) {
	o.aimed, o.at, o.end = false, 0, 0
	if len(o.heap) == 0 {
		return
	}
	o.updateLimit(until)
	o.aimAtTop()
}

// updateLimit sets the time up to which the run at the top may be delivered.
func (o *order) updateLimit(until int64) {
	o.limit, o.limitN = until, math.MaxInt64
	for i := 1; i <= 2 && i < len(o.heap); i++ {
		if e := o.heap[i]; e.time < o.limit || e.time == o.limit && e.n < o.limitN {
			o.limit, o.limitN = e.time, e.n
		}
	}
}

// aimAtTop selects the first chunk of the run at the top.
func (o *order) aimAtTop() {
	q := o.heap[0].run
	if o.now != q.head {
		o.now = q.head
	}
	o.aimed, o.at, o.end = true, q.first, chunkEvents-1
	if q.head == q.tail {
		o.end = q.next - 1
	}
}

// stopTaking must be called before events are added.
func (o *order) stopTaking() {
	if o.aimed {
		o.heap[0].run.first = o.at
		o.aimed, o.at, o.end = false, 0, 0
	}
}

// takeOldest removes the oldest event if it is not younger than until. The event is valid until another
// is added.
func (o *order) takeOldest(until int64) *record {
	if o.at < o.end {
		if e := &o.now.records[o.at]; e.time < o.limit {
			o.at++
			return e
		}
	}
	return o.popOldest(until)
}

// popOldest is takeOldest at the end of a chunk or a run. The keys of the heap are lower bounds:
// the key of the run that events are taken from is only corrected once its turn may be over.
func (o *order) popOldest(until int64) *record {
	o.stopTaking()
	if len(o.heap) == 0 {
		return nil
	}
	q := o.heap[0].run
	e := q.front()
	for e.time > o.limit || e.time == o.limit && e.n > o.limitN {
		if o.heap[0].n == e.n {
			return nil
		}
		o.heap[0].time, o.heap[0].n = e.time, e.n
		o.siftDown()
		o.updateLimit(until)
		q = o.heap[0].run
		e = q.front()
	}
	q.first++
	switch {
	case q.isEmpty():
		o.removeTop(q)
		o.beginTaking(until)
		return e
	case q.first == chunkEvents:
		c := q.head
		q.head, q.first = c.next, 0
		o.recycleChunk(c)
	}
	if q.front().time < o.limit {
		o.aimAtTop()
	}
	return e
}

// removeTop takes the run at the top out, once it is empty.
func (o *order) removeTop(q *run) {
	o.recycleChunk(q.head)
	if q.owner != nil {
		q.owner.run = nil
	}
	*q = run{}
	o.runs = append(o.runs, q)
	last := len(o.heap) - 1
	o.heap[0] = o.heap[last]
	o.heap[last] = entry{}
	o.heap = o.heap[:last]
	o.siftDown()
}

func (o *order) pushEntry(e entry) {
	o.heap = append(o.heap, e)
	for i := len(o.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !o.heap[i].isBefore(o.heap[up]) {
			return
		}
		o.heap[i], o.heap[up] = o.heap[up], o.heap[i]
		i = up
	}
}

func (o *order) siftDown() {
	if len(o.heap) == 0 {
		return
	}
	i, sinks := 0, o.heap[0]
	for least := 1; least < len(o.heap); least = 2*i + 1 {
		if right := least + 1; right < len(o.heap) && o.heap[right].isBefore(o.heap[least]) {
			least = right
		}
		if !o.heap[least].isBefore(sinks) {
			break
		}
		o.heap[i] = o.heap[least]
		i = least
	}
	if i > 0 {
		o.heap[i] = sinks
	}
}
