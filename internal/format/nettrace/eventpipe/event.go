package eventpipe

import (
	"encoding/binary"
	"math"
)

// Parts that a compressed header may omit. The fifth bit is the activity before
// version 6, and the label list in it.
const (
	hasMetadata = 1 << iota
	hasCapture  // sequence number, capturing thread and its processor
	hasThread
	hasStack
	hasActivity
	hasRelated
	isSorted
	hasSize

	hasLabels = hasActivity
	hasAll    = 0xff &^ isSorted
)

// decoder is the state of decoding a block of events: the values of the previous header,
// and the objects that they refer to.
type decoder struct {
	v6         bool
	compressed bool
	first      bool // nothing of this block was looked up yet
	data       []byte
	at         int // in data
	n          int64

	metadata  uint32
	sequence  uint32
	capture   uint64
	processor uint32
	thread    uint64
	stack     uint32
	ticks     uint64
	activity  GUID
	related   GUID
	labels    uint32
	size      uint32

	captured *thread // capture looked up
	record   record  // parts that are equal in all events until a header changes them
}

// beginBlock begins a block of events and tells whether it has a header.
func (d *decoder) beginBlock(data []byte) bool {
	if len(data) < 4 {
		return false
	}
	size := int(binary.LittleEndian.Uint16(data))
	if size < 4 || size > len(data) {
		return false
	}
	*d = decoder{v6: d.v6, n: d.n, compressed: data[2]&1 != 0, data: data, at: size, first: true}
	return true
}

// beginEvents begins an event block.
func (r *Reader) beginEvents(data []byte) bool {
	if !r.decoder.beginBlock(data) {
		return false
	}
	r.holdBlock(data)
	r.decoder.record.block = r.current.slot
	return true
}

// decodeEvents decodes events of the current block up to one that proves the order of those
// before, or up to its end.
func (r *Reader) decodeEvents() {
	d := &r.decoder
	b := r.current
	size := len(d.data)
	if b.held == 1 && len(b.contexts) >= maxContexts {
		b.contexts = append(b.contexts[:1], b.contexts[d.record.context])
		d.record.context = 1
	}
	for d.at < size {
		var flags byte
		var n int
		if d.compressed {
			flags, n = d.decodeCompressed()
		} else {
			flags, n = d.decodePlain()
		}
		if n == 0 || uint64(d.size) > uint64(size-n) {
			r.countDamaged()
			break
		}
		d.skipPayload(n)
		d.n++
		if d.first || flags&(hasAll&^(hasSize|hasThread|hasStack)) != 0 || d.v6 {
			r.lookUp(flags, b)
		} else if flags&hasStack != 0 {
			r.lookUpStack()
		}
		if !d.v6 {
			d.record.thread = int64(d.thread)
		}
		d.captured.noteSequence(d.sequence, r)
		if d.record.meta == 0 {
			r.unknown.Events++
			continue
		}
		at := r.clock.toNanoseconds(d.ticks)
		q := r.order.nextSlot(d.captured, at, d.n)
		*q = d.record
		q.time, q.n, q.offset, q.size = at, d.n, uint32(n), d.size
		b.held++
		switch {
		case flags&isSorted != 0:
			r.deliverUntil(at)
			return
		case r.fileOrder:
			r.deliverUntil(math.MaxInt64)
			return
		case len(b.contexts) >= maxContexts:
			r.deliverUntil(math.MaxInt64)
			return
		case d.n%chunkEvents == 0 && r.order.inUse+r.blocks > r.most:
			r.relief = true
			r.deliverUntil(math.MaxInt64)
			return
		}
	}
	r.current, d.data = nil, nil
	r.blocks += contextBytes * len(b.contexts)
	r.releaseBlock(b, 1)
}

// maxContexts is how many contexts a block may have before waiting events are delivered: a
// runtime's 100 KB have at most some thousands.
const maxContexts = 1 << 16

// countDamaged counts a block whose next event is incomplete. If the stream itself ends there,
// Next reports it once.
func (r *Reader) countDamaged() {
	if r.err == nil {
		r.unknown.Blocks++
	}
}

// lookUp resolves the numbers in a header again.
func (r *Reader) lookUp(flags byte, b *block) {
	d := &r.decoder
	if d.first {
		d.first = false
		flags |= hasAll
	}
	if flags&hasCapture != 0 {
		d.captured = r.threads.capturingThread(d.capture, d.sequence, r)
		d.record.processor = d.processor
	}
	if flags&hasMetadata != 0 {
		d.record.meta = r.types.get(d.metadata)
	}
	if flags&hasStack != 0 {
		r.lookUpStack()
	}
	if !d.v6 {
		if flags&(hasActivity|hasRelated) != 0 {
			d.record.context = b.contextIndex(context{activity: d.activity, related: d.related, pid: int32(r.head.PID)})
		}
		return
	}
	c := b.contexts[d.record.context]
	if flags&hasThread != 0 {
		d.record.thread, c.pid = r.threads.osThread(d.thread, r)
	}
	if flags&(hasLabels|hasMetadata) != 0 {
		r.applyLabels(&c)
	}
	d.record.context = b.contextIndex(c)
}

func (r *Reader) lookUpStack() {
	d := &r.decoder
	id, known := r.stacks.find(d.stack)
	if d.record.stack = id; !known && d.stack != 0 {
		r.unknown.Stacks++
	}
}

// applyLabels applies a label list, which may override what the type says.
func (r *Reader) applyLabels(c *context) {
	d := &r.decoder
	l := r.labels.get(d.labels)
	if l == nil {
		if d.labels != 0 {
			r.unknown.Tags++
		}
		*c = context{pid: c.pid}
		return
	}
	*c = context{activity: l.Activity, related: l.Related, labels: l, pid: c.pid}
	if l.override != nil && d.record.meta != 0 {
		d.record.meta = r.types.overrideType(r.types.get(d.metadata), *l.override)
	}
}

// contextIndex returns the index of c in the block's contexts, and adds c if it differs from the
// last.
func (b *block) contextIndex(c context) uint32 {
	if last := len(b.contexts) - 1; b.contexts[last] != c {
		b.contexts = append(b.contexts, c)
	}
	return uint32(len(b.contexts) - 1)
}
