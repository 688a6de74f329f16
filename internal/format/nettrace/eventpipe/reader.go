package eventpipe

import (
	"bufio"
	"errors"
	"io"
	"math"
	"math/bits"
)

// maxPending is how many bytes of events may wait for older ones:
// blocks and their decoded events. A stream whose writer marks no point of
// order for longer than that is sorted as well as this much memory allows.
const maxPending = 128 << 20

// Reader delivers the events of one stream in order of time.
//
// A writer writes the events of a thread in order, threads one after the other.
// It marks events after which no older one follows, and sequence points that separate
// older events from younger ones. A Reader holds events until such a mark proves
// their order, then merges those of all threads. What it holds is bounded: 128 MB of
// events beside one block of up to 64 MB; beyond that it delivers the older half at once,
// delivers later events that are too old late, and counts them in Unknown.OutOfOrder.
// It also keeps each distinct stack, each type of event and each thread.
type Reader struct {
	in      source
	head    Header
	clock   clock
	frame   func() error // reads and takes the next block
	scratch [maxName]byte

	order     order
	until     int64 // events up to here are being delivered
	relief    bool  // deliver only until half of most is left
	most      int   // bytes that may wait: maxPending
	merging   bool
	fileOrder bool
	lately    []delivered // by type: a reused event each, so that its type is not set each time
	last      *block      // of the event delivered last
	gone      int         // events delivered of last, but not yet released
	lastTime  int64

	decoder decoder
	current *block           // being decoded
	slots   []*block         // those with waiting events
	vacant  []uint32         // in slots
	free    map[int][][]byte // buffers of blocks, by their size
	freed   int              // bytes of them
	dropped int              // bytes of labels that events in lately may still hold
	blocks  int              // bytes in slots

	types   types
	threads threads
	stacks  stacks
	labels  labelLists

	delivered int64
	lost      int64
	unknown   Unknown
	err       error
}

// readAhead is how much is read at once between blocks. The content of a block that is larger is read to its place, and what was read ahead of
// it is copied.
const readAhead = 4 << 10

// NewReader reads the header of a stream. Its error is an ErrNotNettrace, an
// ErrVersion or a *Cut.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: source{in: bufio.NewReaderSize(in, readAhead)}, lastTime: math.MinInt64, most: maxPending}
	r.takeMemory()
	r.types.init()
	r.threads.init()
	r.stacks.init()
	if err := r.readHeader(); err != nil {
		return nil, err
	}
	return r, nil
}

// Another returns a Reader of the stream that follows this one in the same input, nil if there is
// none: recorders may put consecutive sessions into one file. Call it after the
// end of this stream; it releases the memory for reading it, except the stacks.
func (r *Reader) Another() (*Reader, error) {
	if r.err != io.EOF {
		return nil, nil
	}
	next, err := r.in.in.Peek(len(magic))
	if err != nil || string(next) != magic {
		return nil, nil //nolint:nilerr // the input ends, or something else follows
	}
	return NewReader(r.in.in)
}

// Header returns the stream's header.
func (r *Reader) Header() Header { return r.head }

// FileOrder, called before the first Next, makes the Reader deliver every event as soon as it
// was read, in the stream's order: for callers that follow a live stream and want the
// last events before the next ones prove their order.
func (r *Reader) FileOrder() { r.fileOrder = true }

// Delivered returns how many events Next has returned.
func (r *Reader) Delivered() int64 { return r.delivered }

// Lost returns how many events their writer numbered but never wrote because its buffers were full:
// the gaps in the numbers of each thread.
func (r *Reader) Lost() int64 { return r.lost }

// Unknown returns the counts of skipped data so far.
func (r *Reader) Unknown() Unknown { return r.unknown }

// Stacks returns how many distinct stacks there are so far, numbered from 1.
func (r *Reader) Stacks() int { return len(r.stacks.of) - 1 }

// Addresses returns the instruction pointers of a stack, the innermost first. They stay
// valid and must not be changed.
func (r *Reader) Addresses(id StackID) []uint64 {
	if int64(id) >= int64(len(r.stacks.of)) {
		return nil
	}
	return r.stacks.of[id]
}

// Next returns the next event by time. Its error is io.EOF at the end of the stream and
// a *Cut, after all events before it were delivered, if the stream ends too early.
func (r *Reader) Next() (*Event, error) {
	for {
		if r.merging {
			if e := r.mergeNext(); e != nil {
				return e, nil
			}
			r.releaseLast()
		}
		if r.current != nil {
			r.decodeEvents()
			continue
		}
		if r.err == nil {
			r.err = r.frame()
			continue
		}
		if !r.order.isEmpty() {
			r.deliverUntil(math.MaxInt64)
			continue
		}
		if cut := (*Cut)(nil); errors.As(r.err, &cut) {
			cut.Events = r.delivered
		}
		r.leaveMemory()
		return nil, r.err
	}
}

func (r *Reader) mergeNext() *Event {
	var q *record
	if !r.relief || r.order.inUse+r.blocks > r.most/2 {
		q = r.order.takeOldest(r.until)
	}
	if q == nil {
		r.order.stopTaking()
		r.merging, r.relief = false, false
		return nil
	}
	if q.time < r.lastTime {
		r.unknown.OutOfOrder++
	} else {
		r.lastTime = q.time
	}
	r.delivered++
	if int(q.meta) >= len(r.lately) {
		r.addTypes()
	}
	e := &r.lately[q.meta]
	b := r.slots[q.block]
	if b != r.last {
		r.releaseLast()
		r.last = b
	}
	if q.context|e.context != 0 {
		e.enterContext(b, q.context)
	}
	r.gone++
	e.Time, e.N, e.Thread = q.time, q.n, q.thread
	e.Processor, e.Stack = int32(q.processor), q.stack
	e.from, e.size = q.offset, q.size
	if e.block != b {
		e.block = b
	}
	return &e.Event
}

// delivered is the last event of a type.
type delivered struct {
	Event
	context uint32
}

func (r *Reader) addTypes() {
	for i := len(r.lately); i < len(r.types.all); i++ {
		r.lately = append(r.lately, delivered{Event: Event{Meta: r.types.all[i], Type: uint32(i), PID: int32(r.head.PID)}})
	}
}

// enterContext switches to a context. The first is the same in all blocks.
func (e *delivered) enterContext(b *block, context uint32) {
	e.context = context
	c := &b.contexts[context]
	e.PID, e.Activity, e.Related, e.Labels = c.pid, c.activity, c.related, c.labels
}

// releaseLast releases the delivered events of the last block.
func (r *Reader) releaseLast() {
	if r.last != nil {
		r.releaseBlock(r.last, r.gone)
		r.last, r.gone = nil, 0
	}
}

// deliverUntil has all events up to a time delivered.
func (r *Reader) deliverUntil(until int64) {
	r.until, r.merging = until, true
	r.order.beginTaking(until)
}

// holdBlock makes data the block being decoded.
func (r *Reader) holdBlock(data []byte) {
	var b *block
	if n := len(r.vacant); n > 0 {
		b = r.slots[r.vacant[n-1]]
		r.vacant = r.vacant[:n-1]
	} else {
		b = &block{slot: uint32(len(r.slots))}
		r.slots = append(r.slots, b)
	}
	b.data, b.held = data, 1
	b.contexts = append(b.contexts[:0], context{pid: int32(r.head.PID)})
	r.current = b
	r.blocks += cap(data)
}

// releaseBlock removes that many holds from a block, and frees it after the last.
func (r *Reader) releaseBlock(b *block, times int) {
	if b.held -= times; b.held > 0 {
		return
	}
	r.blocks -= cap(b.data) + contextBytes*len(b.contexts)
	if !b.kept {
		r.keepBuffer(b.data)
	}
	b.data, b.kept = nil, false
	if cap(b.contexts) > 1<<10 {
		b.contexts = nil
	}
	r.vacant = append(r.vacant, b.slot)
}

// takeBuffer returns memory for a block of a size, empty.
func (r *Reader) takeBuffer(size int) []byte {
	size = roundSize(min(size, firstRead) + slack)
	class := r.free[size]
	if n := len(class); n > 0 {
		r.free[size] = class[:n-1]
		r.freed -= size
		return class[n-1]
	}
	return make([]byte, 0, size)
}

// roundSize rounds a size up, by at most a quarter, so that few sizes fit many blocks.
func roundSize(size int) int {
	step := 1 << max(0, bits.Len(uint(size-1))-3)
	return (size + step - 1) &^ (step - 1)
}

// dropLabels counts that many bytes of labels as dropped, and sometimes also drops those of
// delivered events.
func (r *Reader) dropLabels(bytes int) {
	if r.dropped += bytes; r.dropped <= maxReused {
		return
	}
	r.dropped = 0
	for i := range r.lately {
		r.lately[i].Labels = nil
	}
}

const maxReused = 1 << 20

// maxFreed is how many bytes of buffers are kept: between two sequence points all threads write
// blocks, which wait for each other and become free together.
const maxFreed = 16 << 20

// keepBuffer keeps a buffer of the usual size for reuse.
func (r *Reader) keepBuffer(b []byte) {
	if n := cap(b); n <= maxReused && n == roundSize(n) && r.freed+n <= maxFreed {
		r.free[n] = append(r.free[n], b[:0])
		r.freed += n
	}
}
