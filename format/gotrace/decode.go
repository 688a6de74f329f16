package gotrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/evidence"
)

// op is what happened, as far as the world cares.
type op uint8

const (
	opOther op = iota // known to the decoder, of no interest here
	opHeap
	opGoal
	opProcs
	opGoroutine
	opProcessor
	opAssist
	opSweep
	opMark
	opMarkActive // like opMark begun, but before the trace
	opStop
	opWorker
	opIdleWorker
	opSync
	opClock // a sync that tells the wall clock
	opSample
	opTaskBegin
	opTaskEnd
	opRegion
)

// event is what the world needs of one event. The decoder's own is larger, is
// copied by each of its accessors, and reads tables that grow while decoding
// goes on. Only the fields named for its op are set; the others are of an event
// before it.
type event struct {
	op       op
	begin    bool         // of ranges: it begins
	from, to uint8        // opGoroutine: trace.GoState; opProcessor: trace.ProcState
	time     int64        // always
	lane     trace.GoID   // opGoroutine, workers: whom it is about; ranges: their owner, NoGoroutine: who runs on proc
	actor    trace.GoID   // opGoroutine, ranges, tasks: who did it
	proc     trace.ProcID // opGoroutine, opProcessor, ranges
	value    uint64       // metrics; opClock: wall clock − trace clock in ns; tasks: their ID; opWorker: 1 if fractional
	stack    trace.Stack  // opGoroutine: of lane; opAssist, opSweep: of actor
	doer     trace.Stack  // opGoroutine: of actor, where it creates or wakes lane
	text     string       // opGoroutine to GoWaiting: reason; opStop: reason; opTaskBegin: type
}

// batch is what the decoder hands over at once. Reading the events' details
// takes a quarter of the work; the side that is ahead does it: the decoder if
// batches pile up, else the interpreter. But a task's name is in a table that
// grows while decoding goes on: tasks are always the decoder's.
type batch struct {
	raw   []trace.Event
	taken []event // all events, if raw is empty; else those that begin or end a task
}

// batchSize is how many events are decoded before they are handed over: enough
// that waking the other side is rare, few enough to stay in a core's cache.
const batchSize = 1024

// read feeds every event to the world. Decoding goes on while the events before
// are interpreted, where there is a second processor.
func (w *world) read(ctx context.Context, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	full, empty := make(chan *batch, 6), make(chan *batch, 8)
	for range cap(empty) {
		empty <- &batch{raw: make([]trace.Event, 0, batchSize), taken: make([]event, 0, batchSize)}
	}
	decoded := make(chan error, 1)
	go func() {
		defer close(full)
		decoded <- guard(func() error { return decode(ctx, r, full, empty) })
	}()
	err := guard(func() error {
		for b := range full {
			w.interpret(b)
			empty <- b
		}
		return nil
	})
	cancel()
	if e := <-decoded; err == nil {
		err = e
	}
	return err
}

func (w *world) interpret(b *batch) {
	if len(b.raw) == 0 {
		for i := range b.taken {
			w.event(&b.taken[i])
		}
		return
	}
	var e event
	tasks := b.taken
	for i := range b.raw {
		ev := &b.raw[i]
		if isTask(ev.Kind()) {
			w.event(&tasks[0])
			tasks = tasks[1:]
			continue
		}
		e.take(ev)
		w.event(&e)
	}
}

func isTask(k trace.EventKind) bool { return k == trace.EventTaskBegin || k == trace.EventTaskEnd }

// decode takes events out of the stream until it ends or ctx is done. What was
// decoded before an error is handed over, too.
func decode(ctx context.Context, r io.Reader, full chan<- *batch, empty <-chan *batch) error {
	d, err := trace.NewReader(r)
	for err == nil {
		var b *batch
		select {
		case b = <-empty:
		case <-ctx.Done():
			return ctx.Err()
		}
		behind := len(full) > cap(full)/2 // the interpreter is
		err = guard(func() error { return b.fill(d, behind) })
		select {
		case full <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// fill decodes a batch, reading the events' details if take is true.
func (b *batch) fill(d *trace.Reader, take bool) error {
	b.raw, b.taken = b.raw[:0], b.taken[:0]
	for range batchSize {
		ev, err := d.ReadEvent()
		if err != nil {
			return err
		}
		if take || isTask(ev.Kind()) {
			b.taken = b.taken[:len(b.taken)+1]
			b.taken[len(b.taken)-1].take(&ev)
		}
		if !take {
			b.raw = append(b.raw, ev)
		}
	}
	return nil
}

// take copies what is needed of ev.
func (e *event) take(ev *trace.Event) {
	e.time = int64(ev.Time())
	e.op = opOther
	switch kind := ev.Kind(); kind {
	case trace.EventMetric:
		switch m := ev.Metric(); m.Name {
		case evidence.SeriesGoHeap:
			e.op, e.value = opHeap, m.Value.Uint64()
		case evidence.SeriesGoGoal:
			e.op, e.value = opGoal, m.Value.Uint64()
		case evidence.SeriesGoProcs:
			e.op, e.value = opProcs, m.Value.Uint64()
		}
	case trace.EventStateTransition:
		st := ev.StateTransition()
		switch st.Resource.Kind {
		case trace.ResourceGoroutine:
			from, to := st.Goroutine()
			e.op, e.from, e.to = opGoroutine, uint8(from), uint8(to)
			e.lane, e.actor, e.proc = st.Resource.Goroutine(), ev.Goroutine(), ev.Proc()
			e.stack, e.text = st.Stack, st.Reason
			if from == trace.GoNotExist || from == trace.GoWaiting {
				e.doer = ev.Stack()
			}
		case trace.ResourceProc:
			from, to := st.Proc()
			e.op, e.from, e.to = opProcessor, uint8(from), uint8(to)
			e.proc = st.Resource.Proc()
		}
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		e.takeRange(ev, kind)
	case trace.EventLabel:
		e.takeLabel(ev.Label())
	case trace.EventSync:
		e.op = opSync
		if c := ev.Sync().ClockSnapshot; c != nil {
			e.op, e.value = opClock, uint64(c.Wall.UnixNano()-int64(c.Trace))
		}
	case trace.EventStackSample:
		e.op, e.lane, e.stack = opSample, ev.Goroutine(), ev.Stack()
	case trace.EventTaskBegin, trace.EventTaskEnd:
		t := ev.Task()
		e.op, e.actor, e.value, e.text = opTaskBegin, ev.Goroutine(), uint64(t.ID), t.Type
		if kind == trace.EventTaskEnd {
			e.op = opTaskEnd
		}
	case trace.EventRegionBegin:
		e.op = opRegion
	}
}

func (e *event) takeRange(ev *trace.Event, kind trace.EventKind) {
	r := ev.Range()
	e.begin = kind != trace.EventRangeEnd
	switch r.Name {
	case "GC mark assist":
		e.op = opAssist
	case "GC incremental sweep":
		e.op = opSweep
	case "GC concurrent mark phase":
		e.op = opMark
		switch kind {
		case trace.EventRangeBegin:
			e.stack = ev.Stack() // of whoever begins the cycle
		case trace.EventRangeActive:
			e.op = opMarkActive
		}
		return
	default:
		reason, ok := strings.CutPrefix(r.Name, "stop-the-world")
		if !ok {
			return
		}
		e.op, e.text = opStop, strings.Trim(reason, " ()")
	}
	e.actor, e.proc, e.stack = ev.Goroutine(), ev.Proc(), ev.Stack()
	e.lane = e.actor
	switch r.Scope.Kind {
	case trace.ResourceGoroutine:
		e.lane = r.Scope.Goroutine()
	case trace.ResourceProc:
		e.proc = r.Scope.Proc()
	}
}

func (e *event) takeLabel(l trace.Label) {
	if l.Resource.Kind != trace.ResourceGoroutine {
		return
	}
	switch l.Label {
	case "GC (dedicated)":
		e.op, e.value = opWorker, 0
	case "GC (fractional)":
		e.op, e.value = opWorker, 1
	case "GC (idle)":
		e.op = opIdleWorker
	default:
		return
	}
	e.lane = l.Resource.Goroutine()
}

// guard turns a panic into an error: the decoder's accessors panic on traces
// that are not well formed.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot be decoded: %v", p)
		}
	}()
	return f()
}

// oneLine keeps the first line of the decoder's errors; the rest is its state.
func oneLine(err error) error {
	if text, _, more := strings.Cut(err.Error(), "\n"); more {
		return errors.New(strings.TrimRight(text, ": "))
	}
	return err
}

// cutWithin says whether the decoder stopped for want of data rather than
// because of what it read.
func cutWithin(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "failed to advance"))
}
