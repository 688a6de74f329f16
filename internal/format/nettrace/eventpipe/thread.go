package eventpipe

import "math"

// maxThreads is how many threads are known at a time. A process has thousands at
// most; a version 4 stream collects more thread IDs over hours, as it never
// says that a thread has ended.
const maxThreads = 1 << 16

// thread is a thread that captures events. Before version 6 it is identified by its OS
// thread ID, in version 6 by an index that a thread block declares.
type thread struct {
	id, pid  int64 // OS
	sequence uint32
	run      *run // of its waiting events, nil: none
}

type threads struct {
	by      map[uint64]*thread
	last    *thread // the one looked up last, by lastKey
	lastKey uint64
	nobody  *thread // captures the events of undeclared threads
	evicted bool    // a new thread may be one that was forgotten
}

func (ts *threads) init() {
	ts.by = map[uint64]*thread{}
	ts.nobody = &thread{}
}

func (ts *threads) find(key uint64) *thread {
	if ts.last != nil && ts.lastKey == key {
		return ts.last
	}
	t := ts.by[key]
	if t != nil {
		ts.last, ts.lastKey = t, key
	}
	return t
}

// capturingThread returns the thread that captured the event numbered sequence.
func (ts *threads) capturingThread(key uint64, sequence uint32, r *Reader) *thread {
	if t := ts.find(key); t != nil {
		return t
	}
	if r.decoder.v6 {
		r.unknown.Events++
		ts.nobody.sequence = sequence - 1
		return ts.nobody
	}
	t := &thread{id: int64(key)}
	if ts.evicted {
		t.sequence = sequence - 1
	}
	ts.add(key, t)
	return t
}

func (ts *threads) add(key uint64, t *thread) {
	if len(ts.by) >= maxThreads {
		clear(ts.by)
		ts.evicted = true
	}
	ts.by[key] = t
	ts.last, ts.lastKey = t, key
}

// osThread returns the OS thread and process of the thread an event is about.
func (ts *threads) osThread(key uint64, r *Reader) (id int64, pid int32) {
	if !r.decoder.v6 {
		return int64(key), int32(r.head.PID)
	}
	if t := ts.find(key); t != nil {
		return t.id, int32(t.pid)
	}
	return 0, int32(r.head.PID)
}

// noteSequence takes the number of an event, or of a thread at a sequence point,
// and counts the missing numbers before it. Before version 6 a number of 1 is a new thread with
// an old ID.
func (t *thread) noteSequence(sequence uint32, r *Reader) {
	if gap := sequence - t.sequence - 1; gap != 0 {
		r.countGap(t, int32(gap), sequence)
	}
	t.sequence = sequence
}

func (r *Reader) countGap(t *thread, gap int32, sequence uint32) {
	switch {
	case gap > 0:
		r.lost += int64(gap)
	case sequence == 1 && !r.decoder.v6:
	case t == r.threads.nobody:
	default:
		r.unknown.Sequence++
	}
}

// sequencePoint separates older events from younger ones, gives each
// thread's last number, and frees the numbers of stacks and labels.
func (r *Reader) sequencePoint(data []byte) bool {
	c := Cursor{data: data}
	c.Skip(8) // its time
	flags := uint32(0)
	if r.decoder.v6 {
		flags = c.U32()
	}
	alive := make(map[uint64]*thread, len(r.threads.by))
	for n := c.U32(); n > 0 && c.OK(); n-- {
		var key uint64
		var sequence uint32
		if r.decoder.v6 {
			key, sequence = c.Uvarint(), uint32(c.Uvarint())
		} else {
			key, sequence = c.U64(), c.U32()
		}
		if !c.OK() {
			break
		}
		if t := r.noteReached(key, sequence); t != nil && len(alive) < maxThreads {
			alive[key] = t
		}
	}
	switch {
	case r.decoder.v6 && flags&flushThreads != 0:
		clear(r.threads.by)
		r.threads.last = nil
	case !r.decoder.v6 && c.OK() && len(alive) > 0:
		// It lists every thread that lives, so the others have ended.
		r.threads.by, r.threads.last, r.threads.evicted = alive, nil, false
	}
	if r.decoder.v6 && flags&flushMetadata != 0 {
		r.types.flush()
	}
	r.stacks.flush()
	r.dropLabels(r.labels.bytes)
	r.labels.flush()
	r.deliverUntil(math.MaxInt64)
	return c.OK()
}

// What a sequence point of version 6 flushes besides stacks and labels.
const (
	flushThreads  = 1
	flushMetadata = 2
)

// noteReached takes the least number that a thread had reached and counts the missing numbers up to it. A
// number below a known one is fine: it is a lower bound.
func (r *Reader) noteReached(key uint64, sequence uint32) *thread {
	t := r.threads.find(key)
	if t == nil {
		if r.decoder.v6 {
			r.unknown.Tags++
			return nil
		}
		t = &thread{id: int64(key)}
		if r.threads.evicted {
			t.sequence = sequence
		}
	}
	if gap := int32(sequence - t.sequence); gap > 0 {
		r.lost += int64(gap)
		t.sequence = sequence
	}
	return t
}

// What is told of a thread.
const (
	threadName = 1 + iota
	threadProcess
	threadID
	threadText
)

// declareThreads takes in a thread block.
func (r *Reader) declareThreads(data []byte) bool {
	c := Cursor{data: data}
	for c.Len() > 0 {
		row := Cursor{data: c.Bytes(int(c.U16()))}
		if !c.OK() {
			return false
		}
		key := row.Uvarint()
		t := &thread{pid: int64(r.head.PID)}
		for row.Len() > 0 && row.OK() {
			switch row.U8() {
			case threadName:
				row.readCounted()
			case threadProcess:
				t.pid = int64(row.Uvarint())
			case threadID:
				t.id = int64(row.Uvarint())
			case threadText:
				row.readCounted()
				row.readCounted()
			default:
				r.unknown.Tags++
				row.at = len(row.data)
			}
		}
		if !row.OK() {
			return false
		}
		r.threads.add(key, t)
	}
	return true
}

// removeThreads takes in a remove thread block.
func (r *Reader) removeThreads(data []byte) bool {
	c := Cursor{data: data}
	for c.Len() > 0 {
		key, sequence := c.Uvarint(), uint32(c.Uvarint())
		if !c.OK() {
			return false
		}
		r.noteReached(key, sequence)
		delete(r.threads.by, key)
		r.threads.last = nil
	}
	return true
}
