// Package wiretest is what the tests of package wire, and a longer run of them, have in common:
// it holds the decoder against golang.org/x/exp/trace, and records small programs.
package wiretest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// Same holds the events of a trace against those of x/exp/trace: one for one, in the same order,
// equal in all that either tells. Where one breaks off, the other must, after the same events. It returns
// how many there were.
func Same(data []byte, damaged bool) (events int, _ error) {
	theirs, err := trace.NewReader(bytes.NewReader(data))
	ours, err2 := wire.NewReader(bytes.NewReader(data))
	if err != nil || err2 != nil {
		if (err == nil || err2 == nil) && !damaged { // it takes numbers with zeros before them
			return 0, fmt.Errorf("the header: %w", errors.Join(err, err2))
		}
		return 0, nil
	}
	b := wire.NewBatch(wire.Few)
	next := 0
	var known stacks
	for {
		ev, err := readEvent(theirs)
		if next == len(b.Events) {
			if err2 = ours.Read(b); err2 != nil {
				b.Events = b.Events[:0]
			} else if len(b.Events) == 0 {
				return events, errors.New("a batch without events")
			}
			next = 0
		}
		if err != nil || len(b.Events) == 0 {
			stricter := damaged && err == io.EOF && err2 != nil // it takes some breaks for the end
			if (err == nil) != (err2 == nil) || (err == io.EOF) != (err2 == io.EOF) && !stricter {
				return events, fmt.Errorf("after %d events x/exp/trace says %v, and this %w", events, oneLine(err), err2)
			}
			if again := ours.Read(b); again != err2 {
				return events, fmt.Errorf("asked again: %w after %w", again, err2)
			}
			return events, nil
		}
		e := &b.Events[next]
		next++
		if err := known.compareEvent(b, e, &ev); err != nil {
			return events, fmt.Errorf("event %d, %s at %d: %w\nx/exp/trace: %v", events, e.Type.Name(), e.Time, err, ev)
		}
		events++
	}
}

func oneLine(err error) string {
	s, _, _ := strings.Cut(fmt.Sprint(err), "\n")
	return s
}

// readEvent turns a panic of x/exp/trace's into an error.
func readEvent(r *trace.Reader) (ev trace.Event, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panics: %v", p)
		}
	}()
	return r.ReadEvent()
}

// stacks remembers which stacks were compared.
type stacks struct {
	generation *wire.Generation
	equal      map[uint32]trace.Stack
}

func (k *stacks) compareStack(g *wire.Generation, ours uint32, theirs trace.Stack) error {
	if g == nil {
		return nil
	}
	if k.generation != g {
		k.generation, k.equal = g, make(map[uint32]trace.Stack)
	}
	if s, ok := k.equal[ours]; ok && s == theirs {
		return nil
	}
	var want, got []trace.StackFrame
	for f := range theirs.Frames() {
		want = append(want, f)
	}
	for _, i := range g.Stack(ours) {
		f := g.Frame(i)
		got = append(got, trace.StackFrame{PC: f.PC, Func: g.Text(f.Func), File: g.Text(f.File), Line: f.Line})
	}
	if !slices.Equal(want, got) {
		return fmt.Errorf("stack %v, want %v", got, want)
	}
	k.equal[ours] = theirs
	return nil
}

func (k *stacks) compareEvent(b *wire.Batch, e *wire.Event, ev *trace.Event) (err error) {
	var text, text2 string
	if b.Generation != nil {
		text, text2 = b.Text(e.Text), b.Text(e.Text2)
	}
	g := b.Generation
	check := func(what string, got, want any) {
		if err == nil && got != want {
			err = fmt.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	check("time", e.Time, int64(ev.Time()))
	check("goroutine", e.Goroutine, int64(ev.Goroutine()))
	check("thread", e.Thread, int64(ev.Thread()))
	check("processor", int64(e.Proc), int64(ev.Proc()))
	mine := e.Stack
	kind := ev.Kind()
	if err != nil {
		return err
	}
	switch kind {
	case trace.EventSync:
		s := ev.Sync()
		check("type", e.Type, wire.EvSync)
		check("count", int(e.Value), s.N)
		check("anchored", g != nil && g.Anchored, s.ClockSnapshot != nil)
		if c := s.ClockSnapshot; c != nil && err == nil {
			check("clock", g.Trace, int64(c.Trace))
			check("wall clock", g.Wall, c.Wall.UnixNano())
		}
		n := 0
		for _, b := range s.ExperimentalBatches {
			n += len(b)
		}
		if g != nil {
			check("experimental batches", g.Skipped, n)
		}
	case trace.EventMetric:
		m := ev.Metric()
		check("metric", map[wire.Type]string{wire.EvProcsChange: evidence.SeriesGoProcs, wire.EvHeapAlloc: evidence.SeriesGoHeap, wire.EvHeapGoal: evidence.SeriesGoGoal}[e.Type], m.Name)
		check("value", e.Value, m.Value.Uint64())
	case trace.EventLabel:
		check("type", e.Type, wire.EvGoLabel)
		check("label", text, ev.Label().Label)
		check("of", e.On, int64(ev.Label().Resource.Goroutine()))
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		r := ev.Range()
		type of struct {
			kind trace.EventKind
			name string
		}
		check("range", map[wire.Type]of{
			wire.EvSTWBegin: {trace.EventRangeBegin, "stop-the-world (" + text + ")"}, wire.EvSTWEnd: {trace.EventRangeEnd, "stop-the-world (" + text + ")"},
			wire.EvGCBegin: {trace.EventRangeBegin, "GC concurrent mark phase"}, wire.EvGCActive: {trace.EventRangeActive, "GC concurrent mark phase"}, wire.EvGCEnd: {trace.EventRangeEnd, "GC concurrent mark phase"},
			wire.EvGCSweepBegin: {trace.EventRangeBegin, "GC incremental sweep"}, wire.EvGCSweepActive: {trace.EventRangeActive, "GC incremental sweep"}, wire.EvGCSweepEnd: {trace.EventRangeEnd, "GC incremental sweep"},
			wire.EvGCMarkAssistBegin: {trace.EventRangeBegin, "GC mark assist"}, wire.EvGCMarkAssistActive: {trace.EventRangeActive, "GC mark assist"}, wire.EvGCMarkAssistEnd: {trace.EventRangeEnd, "GC mark assist"},
		}[e.Type], of{kind, r.Name})
		switch r.Scope.Kind {
		case trace.ResourceGoroutine:
			check("scope", e.On, int64(r.Scope.Goroutine()))
		case trace.ResourceProc:
			on := int64(e.Proc)
			if e.Type == wire.EvGCSweepActive {
				on = e.On
			}
			check("scope", on, int64(r.Scope.Proc()))
		}
		if kind == trace.EventRangeEnd {
			for i, a := range ev.RangeAttributes() {
				check(a.Name, [2]uint64{e.Value, uint64(e.On)}[i], a.Value.Uint64())
			}
		}
	case trace.EventTaskBegin, trace.EventTaskEnd:
		task := ev.Task()
		check("type", e.Type, map[trace.EventKind]wire.Type{trace.EventTaskBegin: wire.EvUserTaskBegin, trace.EventTaskEnd: wire.EvUserTaskEnd}[kind])
		check("task", trace.Task{ID: trace.TaskID(e.Value), Parent: trace.TaskID(e.On), Type: text}, task)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		check("type", e.Type, map[trace.EventKind]wire.Type{trace.EventRegionBegin: wire.EvUserRegionBegin, trace.EventRegionEnd: wire.EvUserRegionEnd}[kind])
		check("region", trace.Region{Task: trace.TaskID(e.Value), Type: text}, ev.Region())
	case trace.EventLog:
		check("type", e.Type, wire.EvUserLog)
		check("log", trace.Log{Task: trace.TaskID(e.Value), Category: text, Message: text2}, ev.Log())
	case trace.EventStackSample:
		check("type", e.Type, wire.EvCPUSample)
	case trace.EventExperimental:
		check("type", e.Type.Name(), ev.Experimental().Name)
	case trace.EventStateTransition:
		st := ev.StateTransition()
		check("reason", text, st.Reason)
		switch st.Resource.Kind {
		case trace.ResourceGoroutine:
			from, to := st.Goroutine()
			check("of goroutines", e.Type.OfGoroutine(), true)
			check("of", e.On, int64(st.Resource.Goroutine()))
			check("from", trace.GoState(e.From), from)
			check("to", trace.GoState(e.To), to)
			if err == nil {
				err = k.compareStack(g, e.Stack, st.Stack)
			}
			if from == trace.GoNotExist || from == trace.GoWaiting && to == trace.GoRunnable {
				mine = e.By
			}
		case trace.ResourceProc:
			from, to := st.Proc()
			check("of processors", e.Type.OfProc(), true)
			check("of", e.On, int64(st.Resource.Proc()))
			check("from", trace.ProcState(e.From), from)
			check("to", trace.ProcState(e.To), to)
		}
	default:
		return fmt.Errorf("kind %s", kind)
	}
	if err == nil {
		err = k.compareStack(g, mine, ev.Stack())
	}
	return err
}
