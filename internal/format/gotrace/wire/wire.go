// Package wire decodes Go execution traces of Go 1.22 to 1.27: the second version of the
// format, from bytes to events in the order in which they happened.
//
// A trace is a header and generations of about a second, each of batches that single threads
// wrote, with the strings and stacks that their events refer to at its end
// (https://go.dev/issue/60773, internal/trace/tracev2/events.go and internal/trace/order.go in
// Go's source). Versions 1.22, 1.23, 1.25 and 1.26 of the format differ in what they add; Go
// 1.24 writes that of 1.23, and Go 1.27 that of 1.26.
//
// The events are those of golang.org/x/exp/trace, one for one and in the same order, which
// the tests hold them against. What differs is the cost: an event is 64 bytes in a slice that
// is used again, its stacks and strings are numbers of tables that are read once, and only
// what is asked for is looked up in them.
//
// Its opinion: what is not well formed ends the trace; what was decoded before counts.
// Memory is bounded by a generation, however long the trace is.
package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Supported says whether traces of Go 1.minor's format are decoded here.
func Supported(minor int) bool { return minor == 22 || minor == 23 || minor == 25 || minor == 26 }

// HeaderSize is the length of "go 1.26 trace\x00\x00\x00".
const HeaderSize = 16

// Batch is events that follow each other, all of one generation.
type Batch struct {
	Generation *Generation // nil: there is none; of the last EvSync, or of a trace's that breaks off
	Events     []Event

	texts []string // of what may have begun in a generation before: their Text is from kept on
}

// Few is how many events are decoded before they are handed over to what reads them on the same core:
// so few that they stay in its first cache.
const Few = 128

// NewBatch returns a batch of up to so many events, at least [Few], to give to Read.
func NewBatch(events int) *Batch { return &Batch{Events: make([]Event, 0, max(events, Few))} }

// Text is the text that an event refers to; 0 is none.
func (b *Batch) Text(i uint32) string {
	if i >= kept {
		return b.texts[i-kept]
	}
	return b.Generation.texts[i]
}

const kept = 1 << 31

func (b *Batch) keepText(s string) uint32 {
	b.texts = append(b.texts, s)
	return kept + uint32(len(b.texts)-1)
}

// Reader decodes a trace.
type Reader struct {
	source source
	ahead  *prefetch // nil: what is decoded is read when it is asked for
	gen    *stretch
	ended  error // of the source, once gen was taken out of it
	order
	frontier frontier
	samples  []sample // of the generation, that are still to come
	cursors  []cursor

	batch *Batch // that is being filled
	last  int64  // time of the event before
	syncs uint64
	bad   error // an event refers to something that is not there
	err   error // ends the trace, once what was decoded before is handed over
}

// NewReader reads a trace's header.
func NewReader(r io.Reader) (*Reader, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var head [HeaderSize]byte
	var minor int
	if _, err := io.ReadFull(br, head[:]); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	if _, err := fmt.Sscanf(string(head[:]), "go 1.%d trace\x00\x00\x00", &minor); err != nil || !Supported(minor) {
		return nil, errors.New("not a trace of Go 1.22 to 1.27")
	}
	d := &Reader{source: source{r: br, version: minor}}
	d.order.init()
	return d, nil
}

// Read fills a batch with the next events, at least one. It returns io.EOF where the trace ends
// as it should, and any other error where it breaks off, after all events before.
func (r *Reader) Read(b *Batch) error {
	b.Events, b.texts = b.Events[:0], b.texts[:0]
	r.batch = b
	defer func() { r.batch = nil }()
	if r.err == nil && len(r.frontier) == 0 && len(r.samples) == 0 {
		r.nextGeneration()
	}
	b.Generation = nil
	if r.gen != nil {
		b.Generation = r.gen.Generation
	}
	for r.err == nil && len(b.Events) <= cap(b.Events)-perStep && (len(r.frontier) > 0 || len(r.samples) > 0) {
		n := len(b.Events)
		var err error
		if len(r.samples) > 0 && (len(r.frontier) == 0 || r.samples[0].time < r.frontier[0].time) {
			r.emitSample(&r.samples[0])
			r.samples = r.samples[1:]
		} else {
			var ok bool
			if ok, err = r.tryCursor(0); !ok && err == nil {
				err = r.takeOther()
			}
		}
		if r.bad != nil {
			err = r.bad
		}
		if err != nil {
			b.Events, r.err = b.Events[:n], explainCut(err, r.ended)
		}
	}
	if len(b.Events) == 0 {
		return r.err
	}
	return nil
}

// perStep is how many events one that is written stands for at most.
const perStep = 3

// nextGeneration goes on to the next generation, or ends the trace.
func (r *Reader) nextGeneration() {
	if r.gen != nil {
		r.keepTasks()
		r.releaseGeneration(r.gen)
		r.gen = nil
	}
	at := r.last
	next := r.takeGeneration()
	r.ended = next.ended
	if g := next.g; g == nil {
		r.err = next.err
	} else {
		at = g.toNanoseconds(g.from)
		r.gen, r.samples = g, g.samples
		if r.first == 0 {
			r.first = g.Number
		}
		if err := r.installThreads(); err != nil {
			r.err = explainCut(err, r.ended)
			return
		}
	}
	r.syncs++
	c := cursor{time: at, typ: EvSync}
	r.emitEvent(&c, &thread{id: None, gid: None}).Value = r.syncs
}

// installThreads puts the threads' first events into the frontier.
func (r *Reader) installThreads() error {
	g := r.gen
	r.cursors = slices.Grow(r.cursors[:0], len(g.lanes))[:len(g.lanes)]
	for i, l := range g.lanes {
		c := &r.cursors[i]
		*c = cursor{m: r.ensureThread(l.thread), batches: l.batches}
		ok, err := c.decodeNext(g.nsPerTick)
		if err != nil {
			return err
		}
		if ok {
			r.frontier.insert(c)
		}
	}
	return nil
}

// takeOther takes the earliest event that can come next, where that is not the earliest of all:
// something else must come before that one.
func (r *Reader) takeOther() error {
	slices.SortFunc(r.frontier, func(a, b ahead) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	for i := 1; i < len(r.frontier); i++ {
		if ok, err := r.tryCursor(i); ok || err != nil {
			return err
		}
	}
	return r.stuckError()
}

// tryCursor takes the event of the cursor at i in the frontier, if it can come next.
func (r *Reader) tryCursor(i int) (bool, error) {
	c := r.frontier[i].c
	m := c.m
	m.seen = true
	ok, err := r.takeEvent(c, m)
	if m.id == None { // it binds nothing
		*m = thread{id: None, gid: None}
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", c.typ.Name(), err)
	}
	if !ok {
		return false, nil
	}
	more, err := c.decodeNext(r.gen.nsPerTick)
	if more {
		r.frontier.fixAt(i)
		return true, nil
	}
	if err == nil {
		r.frontier.remove(i)
	}
	return true, err
}

// stuckError returns the error of a trace in which each thread waits for another.
func (r *Reader) stuckError() error {
	c := r.frontier[0].c
	return fmt.Errorf("of the next events of %d threads none can have happened, the first of them %s on thread %d", len(r.frontier), c.typ.Name(), c.m.id)
}

func (r *Reader) emitSample(s *sample) {
	c := cursor{time: s.time, typ: EvCPUSample}
	e := r.emitEvent(&c, &thread{id: s.thread, gid: s.goroutine})
	if id, err := r.procID(uint64(s.proc)); err == nil {
		e.Proc = id
	}
	e.Stack = r.stackIndex(s.stack)
}

// emitEvent appends the event of a cursor and returns it. Times are made to differ.
func (r *Reader) emitEvent(c *cursor, m *thread) *Event {
	r.last = max(c.time, r.last+1)
	b := r.batch
	n := len(b.Events)
	b.Events = b.Events[:n+1]
	e := &b.Events[n]
	// One field after the other: a literal is made elsewhere and copied in larger pieces than it was
	// written in, for which the CPU waits longer than all else here takes.
	*e = Event{}
	e.Time, e.Type, e.Goroutine, e.Thread, e.Proc = r.last, c.typ, m.gid, m.id, None
	if m.p != nil {
		e.Proc = m.p.id
	}
	return e
}

// stackIndex returns the index of a stack in the generation.
func (r *Reader) stackIndex(id uint64) uint32 {
	i, ok := r.gen.stackIDs.find(id)
	if !ok {
		r.bad = fmt.Errorf("stack %d is not there, as if the trace were cut short", id)
	}
	return i
}

// textIndex returns the index of a string in the generation.
func (r *Reader) textIndex(id uint64) uint32 {
	i, ok := r.gen.textIDs.find(id)
	if !ok {
		r.bad = fmt.Errorf("string %d is not there, as if the trace were cut short", id)
	}
	return i
}
