package eventpipe

import (
	"encoding/binary"
	"math"
)

// What a compressed header may leave out. The fifth bit is the activity before
// version 6 and the label list in it.
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

// decoder is where an event block is being decoded: what the header before said, and
// what that stands for.
type decoder struct {
	v6         bool
	compressed bool
	rest       []byte
	first      bool // nothing of this block was looked up yet
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

	event    Event   // what all events like the last have in common
	captured *thread // capture looked up
}

// events begins an event block.
func (r *Reader) events(data []byte) bool {
	body, compressed, ok := eventsIn(data)
	if !ok {
		return false
	}
	d := &r.decoder
	*d = decoder{v6: d.v6, n: d.n, compressed: compressed, rest: body, first: true}
	r.hold(data)
	return true
}

// eventsIn passes over the header of an event block.
func eventsIn(data []byte) (body []byte, compressed, ok bool) {
	if len(data) < 4 {
		return nil, false, false
	}
	size := int(binary.LittleEndian.Uint16(data))
	if size < 4 || size > len(data) {
		return nil, false, false
	}
	return data[size:], data[2]&1 != 0, true
}

// decode decodes events of the current block up to one that proves the order of those
// before, or up to its end.
func (r *Reader) decode() {
	d := &r.decoder
	b := r.current
	for len(d.rest) > 0 {
		flags, n := d.header()
		if n == 0 || uint64(d.size) > uint64(len(d.rest)-n) {
			r.damaged()
			break
		}
		payload := d.rest[n : n+int(d.size) : n+int(d.size)]
		if d.compressed {
			d.rest = d.rest[n+int(d.size):]
		} else {
			d.rest = d.rest[d.aligned(n):]
		}
		d.n++
		r.lookUp(flags)
		if d.event.Meta == nil {
			r.unknown.Events++
			continue
		}
		at := r.clock.ns(d.ticks)
		e := r.order.slot(d.captured, at, d.n)
		*e = d.event
		e.Time, e.N, e.Payload, e.block = at, d.n, payload, b
		b.held++
		switch {
		case r.fileOrder:
			r.proven(math.MaxInt64)
			return
		case flags&isSorted != 0:
			r.proven(at)
			return
		case r.order.inUse+r.blocks > maxPending:
			r.relief = true
			r.proven(math.MaxInt64)
			return
		}
	}
	r.current, d.rest = nil, nil
	r.release(b)
}

// damaged ends a block whose next event is not whole. Where the stream itself ends
// there that is told once, by Next.
func (r *Reader) damaged() {
	if r.err == nil {
		r.unknown.Blocks++
	}
}

// lookUp resolves what a header names anew.
func (r *Reader) lookUp(flags byte) {
	d := &r.decoder
	if d.first {
		d.first = false
		flags |= hasAll
	}
	if flags&hasCapture != 0 {
		d.captured = r.threads.capture(d.capture, d.sequence, r)
		d.event.Processor = int32(d.processor)
	}
	d.captured.follow(d.sequence, r)
	if flags&hasAll&^(hasSize|hasCapture) == 0 {
		return
	}
	if flags&hasMetadata != 0 {
		d.event.Meta = r.types.get(d.metadata)
	}
	if flags&hasThread != 0 {
		d.event.Thread, d.event.PID = r.threads.name(d.thread, r)
	}
	if flags&hasStack != 0 {
		d.event.Stack = r.stacks.get(d.stack)
	}
	if d.event.Stack == 0 && d.stack != 0 && flags&hasStack != 0 && !r.stacks.has(d.stack) {
		r.unknown.Stacks++
	}
	if !d.v6 {
		d.event.Activity, d.event.Related = d.activity, d.related
	} else if flags&(hasLabels|hasMetadata) != 0 {
		r.label()
	}
}

// label applies a label list, which may override what the type says.
func (r *Reader) label() {
	d := &r.decoder
	l := r.labels.get(d.labels)
	if l == nil && d.labels != 0 {
		r.unknown.Tags++
	}
	d.event.Labels = l
	d.event.Activity, d.event.Related = GUID{}, GUID{}
	if l == nil {
		return
	}
	d.event.Activity, d.event.Related = l.Activity, l.Related
	if l.override != nil {
		if m := r.types.get(d.metadata); m != nil {
			d.event.Meta = r.types.overridden(m, *l.override)
		}
	}
}
