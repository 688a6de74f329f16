package gotrace

import (
	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/evidence"
)

// world is the process as the trace has told it so far.
type world struct {
	b       *evidence.Builder
	subject evidence.SubjectID
	minor   int

	events     int64
	first, now int64 // ns of the trace's clock

	gs       map[trace.GoID]*goroutine
	spare    []*goroutine // ended, to be used again
	paths    []*request   // emitted, to be used again
	ps       map[trace.ProcID]*processor
	held     holders
	stacks   stackTable
	gc       collector
	serve    server
	tasks    tasks
	host     plausibility
	memories memories
	procs    evidence.Series // GOMAXPROCS over time
}

// processor is a P.
type processor struct {
	running bool
	g       *goroutine // nil: idle, or its thread looks for work
}

// role is on whose behalf a goroutine works.
type role uint8

const (
	roleUnknown role = iota // serves no request as far as is known
	roleRequests
	roleRuntime
	roleWorker // a mark worker; goroutine.worker says of which kind
)

// goroutine is a G.
type goroutine struct {
	id     evidence.LaneID
	state  trace.GoState
	since  int64 // when the present state, or the present part of it, began
	role   role
	worker evidence.Holder
	proc   *processor

	where  *stack // where it waits or was last seen
	reason string // of the present wait, as the runtime says

	assist, sweep, stopping bool

	heldAt  integrals // of the holders when it became runnable
	ranFrom int64     // when it last began to run
	born    int64     // when it was created, 0: before the trace
	request *request
	task    bool // a task refers to it
	memory  *memory
	conn    connState
}

func newWorld(b *evidence.Builder, minor int) *world {
	w := &world{b: b, minor: minor, gs: make(map[trace.GoID]*goroutine), ps: make(map[trace.ProcID]*processor)}
	w.subject = b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go"})
	c := b.Clock()
	c.Name, c.Error, c.Resolution = "trace", evidence.Unanchored, 1
	w.stacks.b = b
	w.gc.init()
	w.tasks.open = make(map[trace.TaskID]*task)
	return w
}

func (w *world) event(ev *event) {
	t := int64(ev.Time())
	if w.events == 0 {
		w.first = t
		w.held.last = t
	}
	w.events++
	w.now = t
	switch ev.Kind() {
	case trace.EventMetric:
		w.metric(ev, t)
	case trace.EventStateTransition:
		st := ev.StateTransition()
		switch st.Resource.Kind {
		case trace.ResourceGoroutine:
			w.goroutine(ev, &st, t)
		case trace.ResourceProc:
			w.processor(&st, t)
		}
	case trace.EventRangeBegin, trace.EventRangeActive:
		w.rangeBegin(ev, t)
	case trace.EventRangeEnd:
		w.rangeEnd(ev, t)
	case trace.EventLabel:
		w.label(ev, t)
	case trace.EventSync:
		w.sync(ev)
	case trace.EventStackSample:
		w.host.samples++
	case trace.EventTaskBegin, trace.EventTaskEnd, trace.EventRegionBegin:
		w.annotation(ev, t)
	}
}

func (w *world) sync(ev *event) {
	w.stacks.generation()
	s := ev.Sync()
	if s.ClockSnapshot == nil {
		return
	}
	c := w.b.Clock()
	if !c.Anchored() {
		// The runtime reads both clocks one after the other without stopping.
		c.Name, c.Error = "unix", 100e3
		c.Offset = s.ClockSnapshot.Wall.UnixNano() - int64(s.ClockSnapshot.Trace)
	}
}

func (w *world) get(id trace.GoID, t int64) *goroutine {
	g := w.gs[id]
	if g == nil {
		if n := len(w.spare); n > 0 {
			g, w.spare = w.spare[n-1], w.spare[:n-1]
		} else {
			g = new(goroutine)
		}
		*g = goroutine{id: evidence.LaneID(id), since: t}
		w.gs[id] = g
	}
	return g
}

func (w *world) proc(id trace.ProcID) *processor {
	p := w.ps[id]
	if p == nil {
		p = &processor{}
		w.ps[id] = p
	}
	return p
}

func (w *world) processor(st *trace.StateTransition, t int64) {
	from, to := st.Proc()
	if from == to {
		return
	}
	p := w.proc(st.Resource.Proc())
	w.held.advance(t)
	running := to == trace.ProcRunning
	if p.running != running {
		p.running = running
		if running {
			w.held.procs++
		} else {
			w.held.procs--
		}
	}
	if !running && p.g != nil {
		w.held.count[p.g.holder()]--
		p.g.proc = nil
		p.g = nil
	}
}

// occupy puts g on p; free takes it off.
func (w *world) occupy(p *processor, g *goroutine, t int64) {
	w.held.advance(t)
	if p.g != nil {
		w.held.count[p.g.holder()]--
		p.g.proc = nil
	}
	if !p.running {
		p.running = true
		w.held.procs++
	}
	p.g, g.proc = g, p
	w.held.count[g.holder()]++
}

func (w *world) free(g *goroutine, t int64) {
	if g.proc == nil {
		return
	}
	w.held.advance(t)
	w.held.count[g.holder()]--
	g.proc.g = nil
	g.proc = nil
}

// setRole changes on whose behalf g works.
func (w *world) setRole(g *goroutine, r role, t int64) {
	if g.role == r {
		return
	}
	if g.proc != nil {
		w.held.advance(t)
		w.held.count[g.holder()]--
		g.role = r
		w.held.count[g.holder()]++
		return
	}
	g.role = r
}

func (g *goroutine) holder() evidence.Holder {
	switch g.role {
	case roleRequests:
		return evidence.HeldByRequests
	case roleRuntime:
		return evidence.HeldByRuntime
	case roleWorker:
		return g.worker
	}
	return evidence.HeldByBackground
}

func (w *world) metric(ev *event, t int64) {
	m := ev.Metric()
	if m.Value.Kind() != trace.ValueUint64 {
		return
	}
	v := m.Value.Uint64()
	switch m.Name {
	case "/memory/classes/heap/objects:bytes":
		w.gc.heap(t, v)
	case "/gc/heap/goal:bytes":
		w.gc.setGoal(t, v)
	case "/sched/gomaxprocs:threads":
		if n := len(w.procs.V); n == 0 || w.procs.V[n-1] != float64(v) {
			w.procs.T = append(w.procs.T, t)
			w.procs.V = append(w.procs.V, float64(v))
		}
		w.held.total = int(v)
	}
}

func (w *world) label(ev *event, t int64) {
	l := ev.Label()
	if l.Resource.Kind != trace.ResourceGoroutine {
		return
	}
	var kind evidence.Holder
	switch l.Label {
	case "GC (dedicated)", "GC (fractional)":
		kind = evidence.HeldByCollector
	case "GC (idle)":
		kind = evidence.HeldByIdleMark
	default:
		return
	}
	g := w.get(l.Resource.Goroutine(), t)
	w.held.advance(t)
	if g.proc != nil {
		w.held.count[g.holder()]--
	}
	g.role, g.worker = roleWorker, kind
	if g.proc != nil {
		w.held.count[g.holder()]++
	}
}
