package gotrace

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// oldTrace gives the events of traces up to Go 1.21, which x/exp/trace decodes, the form of
// those of later ones.
type oldTrace struct {
	r      *trace.Reader
	tables *wire.Growing
	stacks map[trace.Stack]uint32
	err    error
}

func newOldTrace(r io.Reader) (*oldTrace, error) {
	d, err := trace.NewReader(r)
	return &oldTrace{r: d, tables: wire.NewGrowing(), stacks: make(map[trace.Stack]uint32)}, err
}

// Read fills a batch as wire.Reader does.
func (o *oldTrace) Read(b *wire.Batch) error {
	b.Events = b.Events[:0]
	for o.err == nil && len(b.Events) < cap(b.Events) {
		o.err = catchPanic(func() error {
			ev, err := o.r.ReadEvent()
			if err != nil {
				return err
			}
			var e wire.Event
			o.convertEvent(&e, &ev)
			b.Events = append(b.Events, e)
			return nil
		})
	}
	b.Generation = o.tables.Now()
	if len(b.Events) == 0 {
		return o.err
	}
	return nil
}

// convertEvent copies what is of interest; an event of another kind keeps a type that is ignored.
func (o *oldTrace) convertEvent(e *wire.Event, ev *trace.Event) {
	*e = wire.Event{Time: int64(ev.Time()), Goroutine: int64(ev.Goroutine()), Thread: int64(ev.Thread()), Proc: int32(ev.Proc())}
	switch kind := ev.Kind(); kind {
	case trace.EventMetric:
		m := ev.Metric()
		switch e.Value = m.Value.Uint64(); m.Name {
		case evidence.SeriesGoHeap:
			e.Type = wire.EvHeapAlloc
		case evidence.SeriesGoGoal:
			e.Type = wire.EvHeapGoal
		case evidence.SeriesGoProcs:
			e.Type = wire.EvProcsChange
		}
	case trace.EventStateTransition:
		st := ev.StateTransition()
		switch st.Resource.Kind {
		case trace.ResourceGoroutine:
			from, to := st.Goroutine()
			e.Type, e.On, e.From, e.To = wire.EvGoStatus, int64(st.Resource.Goroutine()), uint8(from), uint8(to)
			e.Stack, e.Text = o.stackIndex(st.Stack), o.tables.Text(st.Reason)
			if from == trace.GoNotExist || from == trace.GoWaiting {
				e.By = o.stackIndex(ev.Stack())
			}
		case trace.ResourceProc:
			from, to := st.Proc()
			e.Type, e.On, e.From, e.To = wire.EvProcStatus, int64(st.Resource.Proc()), uint8(from), uint8(to)
		}
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		o.takeRange(e, ev, kind)
	case trace.EventLabel:
		if l := ev.Label(); l.Resource.Kind == trace.ResourceGoroutine {
			e.Type, e.On, e.Text = wire.EvGoLabel, int64(l.Resource.Goroutine()), o.tables.Text(l.Label)
		}
	case trace.EventSync:
		e.Type = wire.EvSync
	case trace.EventStackSample:
		e.Type, e.Stack = wire.EvCPUSample, o.stackIndex(ev.Stack())
	case trace.EventTaskBegin, trace.EventTaskEnd:
		t := ev.Task()
		e.Type, e.Value, e.Text = wire.EvUserTaskBegin, uint64(t.ID), o.tables.Text(t.Type)
		if kind == trace.EventTaskEnd {
			e.Type = wire.EvUserTaskEnd
		}
	case trace.EventRegionBegin:
		e.Type = wire.EvUserRegionBegin
	}
}

// takeRange chooses of three types, by how a range begins and ends.
func (o *oldTrace) takeRange(e *wire.Event, ev *trace.Event, kind trace.EventKind) {
	choose := func(begins, active, ends wire.Type) {
		switch kind {
		case trace.EventRangeBegin:
			e.Type, e.Stack = begins, o.stackIndex(ev.Stack())
		case trace.EventRangeActive:
			e.Type = active
		default:
			e.Type = ends
		}
	}
	r := ev.Range()
	switch r.Name {
	case "GC mark assist":
		choose(wire.EvGCMarkAssistBegin, wire.EvGCMarkAssistActive, wire.EvGCMarkAssistEnd)
		e.On = int64(r.Scope.Goroutine())
	case "GC incremental sweep":
		choose(wire.EvGCSweepBegin, wire.EvGCSweepActive, wire.EvGCSweepEnd)
		e.Proc = int32(r.Scope.Proc())
		e.On = int64(e.Proc)
	case "GC concurrent mark phase":
		choose(wire.EvGCBegin, wire.EvGCActive, wire.EvGCEnd)
	default:
		if reason, ok := strings.CutPrefix(r.Name, "stop-the-world"); ok {
			choose(wire.EvSTWBegin, wire.EvSTWBegin, wire.EvSTWEnd)
			e.On, e.Text = int64(r.Scope.Goroutine()), o.tables.Text(strings.Trim(reason, " ()"))
		}
	}
}

func (o *oldTrace) stackIndex(s trace.Stack) uint32 {
	if s == trace.NoStack {
		return 0
	}
	i, ok := o.stacks[s]
	if !ok {
		var frames []uint32
		for f := range s.Frames() {
			frames = append(frames, o.tables.Frame(wire.Frame{PC: f.PC, Line: f.Line, Func: o.tables.Text(f.Func), File: o.tables.Text(f.File)}))
		}
		i = o.tables.Stack(frames)
		o.stacks[s] = i
	}
	return i
}

// catchPanic turns a panic of f into an error: the accessors of x/exp/trace panic on traces that
// are not well formed.
func catchPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot be decoded: %v", p)
		}
	}()
	return f()
}

// oneLine keeps the first line of the errors of x/exp/trace; the rest is its state.
func oneLine(err error) error {
	if text, _, more := strings.Cut(err.Error(), "\n"); more {
		return errors.New(strings.TrimRight(text, ": "))
	}
	return err
}
