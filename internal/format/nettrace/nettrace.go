// Package nettrace reads the recordings of .NET's EventPipe: the .nettrace files of
// dotnet-trace, dotnet-monitor and PerfView, and the streams of the diagnostic
// protocol, of .NET Core 3.0 to .NET 10.
//
// The container is decoded by [eventpipe]; this package says what the events mean.
// Sources: the runtime's manifest
// (https://github.com/dotnet/runtime/blob/main/src/coreclr/vm/ClrEtwAll.man) for its
// own events, which carry no names; HostingEventSource.cs and KestrelEventSource.cs in
// https://github.com/dotnet/aspnetcore, MetricsEventSource.cs and
// DiagnosticSourceEventSource.cs in dotnet/runtime for those that do.
//
// Its opinion: a server's events decide when a request begins and ends, on any
// thread; an unfinished request is evidence and not noise; suspensions count as GC's
// only if the runtime says so (reasons 1 and 6), because the sample
// profiler suspends a thousand times a second on the recorder's behalf; a frame without a known method is
// "?!?" and stays in its stack.
//
// A file may hold several streams one after the other, from sessions recorded in
// turn. Each is read by itself, except that one session may have the names of methods
// for all of them, and that requests may end in a later session.
//
// Memory grows with distinct stacks, methods and open requests, and not
// with events: thread samples are joined beyond maxLooks, allocation ticks are summed
// by stack and type, series coarsen beyond maxPoints.
package nettrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// Format reads .nettrace files.
var Format = format.Format{
	Name:  "nettrace",
	About: "EventPipe traces of .NET (.nettrace: dotnet-trace, dotnet-monitor), .NET Core 3.0 to .NET 10",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		return format.SureIf(bytes.HasPrefix(head, []byte("Nettrace")) || bytes.HasPrefix(head, []byte("\x14\x00\x00\x00!FastSerialization.1")))
	},
	Parse: parseArtifact,
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	s, err := a.BlockReader()
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := eventpipe.NewReader(s)
	if err != nil {
		if cut := (*eventpipe.Cut)(nil); errors.As(err, &cut) {
			return errors.New("is truncated within its header: nothing was recorded; the process may have ended, or its diagnostics port was closed at once")
		}
		return err
	}
	var all []*parser // of streams one after the other
	for r != nil && err == nil {
		p := newParser(r, b, all)
		err = p.readEvents(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.broken = err != nil
		if all = append(all, p); err == nil {
			r, err = r.Another()
		}
	}
	return finishFile(all, err)
}

// finishFile emits the results of all streams of a file, once all methods have names. The last stream may
// have broken off.
func finishFile(all []*parser, broken error) error {
	var events, at, length int64
	for _, p := range all {
		events += p.events
		length += p.last - p.first
	}
	b, last := all[0].b, all[len(all)-1]
	if events == 0 {
		b.Cut()
		return errors.New("holds no events: the session may have been stopped at once, or no provider was switched on")
	}
	at = last.before + last.events
	for _, p := range all {
		if p.events > 0 {
			p.finish()
		}
	}
	for _, p := range all {
		for _, q := range p.order {
			q.symbols.emitCoverage(b)
		}
	}
	emitTables(all)
	if broken != nil {
		b.Cut()
		b.Warnf(at, "the stream is incomplete after %.3f s, %s; the part before that is used%s", float64(length)/1e9, describeBreak(broken), last.namelessNote())
	}
	return nil
}

// describeBreak says where a stream breaks off, and how.
func describeBreak(err error) string {
	if cut := (*eventpipe.Cut)(nil); errors.As(err, &cut) {
		return fmt.Sprintf("at byte %d, in %s: %v", cut.Offset, cut.In, cut.Err)
	}
	return err.Error()
}

// checkEvery is how many events pass between two looks at the context.
const checkEvery = 1 << 16

// parser distributes events to their processes. All streams except those
// of version 6 are of one process.
type parser struct {
	r *eventpipe.Reader
	b *evidence.Builder

	types     []*eventType // by Event.Type
	processes map[int32]*process
	order     []*process
	current   *process

	prior       *parser              // of the stream before this one; nil: it is the first
	names       map[int32]*nameTable // by process, of all streams of the file
	before      int64                // events of streams before this one
	events      int64
	first, last int64 // ns, of events
	broken      bool  // the stream ends before its end
}

// eventType is the interpretation of one type of event.
type eventType struct {
	provider, name string
	interpret      func(*process, *eventpipe.Event)
	rundown, stop  bool // it describes existing state; at the end of a session
	unknown        bool // the runtime's tables do not have it
	count          int64
}

// newParser begins a stream that follows others.
func newParser(r *eventpipe.Reader, b *evidence.Builder, earlier []*parser) *parser {
	*b.Clock() = evidence.Clock{Name: "unix", Error: 1e6, Resolution: 1} // its zero is told in ms
	p := &parser{r: r, b: b, processes: make(map[int32]*process)}
	if len(earlier) == 0 {
		p.names = make(map[int32]*nameTable)
		return p
	}
	last := earlier[len(earlier)-1]
	p.prior, p.names, p.before = last, last.names, last.before+last.events
	return p
}

func (p *parser) readEvents(ctx context.Context) error {
	for {
		e, err := p.r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if p.events++; p.events%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.N += p.before
		t := p.typeOf(e)
		t.count++
		if p.first == 0 || e.Time < p.first {
			p.first = e.Time
		}
		p.last = max(p.last, e.Time)
		q := p.current
		if q == nil || q.pid != e.PID {
			q = p.processOf(e.PID)
		}
		q.noteSeen(e, t)
		if t.interpret != nil {
			t.interpret(q, e)
		}
	}
}

func (p *parser) typeOf(e *eventpipe.Event) *eventType {
	at := int(e.Type)
	if at < len(p.types) && p.types[at] != nil {
		return p.types[at]
	}
	if at >= len(p.types) {
		p.types = append(p.types, make([]*eventType, at+1-len(p.types))...)
	}
	p.types[at] = newType(e.Meta)
	return p.types[at]
}

// maxProcesses of one stream are told apart; events of more are counted only.
const maxProcesses = 256

func (p *parser) processOf(pid int32) *process {
	q := p.processes[pid]
	if q == nil {
		if len(p.order) == maxProcesses {
			return p.order[0]
		}
		q = newProcess(p, pid)
		p.processes[pid] = q
		p.order = append(p.order, q)
	}
	p.current = q
	return q
}

func newType(m *eventpipe.Metadata) *eventType {
	t := &eventType{provider: m.Provider, name: m.Name}
	if names := runtimeNames[m.Provider]; names != nil && m.Name == "" {
		t.name, t.unknown = names[m.ID], names[m.ID] == ""
	}
	if t.name == "" {
		t.name = fmt.Sprintf("EventID(%d)", m.ID)
	}
	t.rundown = m.Provider == provRundown
	t.stop = t.rundown && strings.Contains(t.name, "DCStop")
	t.interpret = findHandler(m)
	return t
}

func (p *parser) finish() {
	for _, q := range p.order {
		q.finish()
		q.symbols.offerCode(p.b)
	}
	if n := p.r.Lost(); n > 0 {
		p.b.Warnf(0, "%s lost because the session's buffer was full: what began or ended in them is missing. Record with a larger buffer or fewer providers", format.Count(n, "event was", "events were"))
	}
	if u := p.r.Unknown(); u.OutOfOrder > 0 {
		p.b.Warnf(0, "%s too late to be put in order: pauses and requests around them may be wrong", format.Count(u.OutOfOrder, "event came", "events came"))
	}
}

// namelessNote explains that a stream broke off before its rundown; "" if method names
// were read.
func (p *parser) namelessNote() string {
	for _, q := range p.order {
		if q.symbols.lacksNames() {
			return "; method names come at the end of a stream, so frames are shown as ?!?"
		}
	}
	return ""
}
