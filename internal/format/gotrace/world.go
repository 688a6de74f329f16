package gotrace

import (
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// world is the process as the trace has told it so far.
type world struct {
	b       *evidence.Builder
	batch   *wire.Batch // that is being interpreted
	subject evidence.SubjectID
	minor   int
	out     packer

	events     int64
	states     int64 // of events: changes of state
	first, now int64 // ns of the trace's clock

	gs       wire.ByID[goroutine]
	lately   [256]*goroutine // of gs, by ID: a guess that the CPU goes on with while it is checked
	spare    []*goroutine    // ended, to be used again
	paths    []*request      // let go of, to be used again
	first64  [64]processor   // Ps by ID; beyond, they are in ps
	ps       map[int32]*processor
	held     holders
	custom   map[string]*customServer
	stacks   stackTable
	gc       collector
	serve    server
	tasks    tasks
	host     plausibility
	memories memories
	spells   []spell            // of the last answer of did
	pieces   []evidence.Segment // of the last wait that was charged to a holder
	links    links
	reasons  reasonTable
	use      occupancy
	procs    evidence.Series // GOMAXPROCS over time
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
//
// Its fields are in the order in which they are asked for: those of every event are in the first two
// lines of the cache.
type goroutine struct {
	id      evidence.LaneID
	since   int64 // when the present state, or the present part of it, began
	ranFrom int64 // when it last began to run
	memory  *memory
	where   *stack // where it waits or was last seen
	request *request
	proc    *processor

	state                   wire.GoState
	role                    role
	worker                  evidence.Holder
	fractional              bool // of a worker that is not idle: it is not dedicated
	ranUnknown              bool // it ran when its role or name was not known
	assist, sweep, stopping bool

	name   evidence.NameID // its function, 0 not known yet
	io     inOuts          // accepts connections, has read from the network or written to it
	task   bool            // a task refers to it
	noted  bool            // another goroutine's memory has a wait for this one
	reason *reason         // of the present wait, nil not known
	conn   connState
	born   int64 // when it was created, 0: before the trace

	heldAll int64     // the sum of heldAt
	heldAt  integrals // of the holders when it became runnable
	owner   owner
	helps   helps
}

func newWorld(b *evidence.Builder, minor int) *world {
	w := &world{b: b, minor: minor, out: packer{b: b, rows: newRows(spansHere, requestsHere)}, ps: make(map[int32]*processor)}
	w.subject = b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go"})
	c := b.Clock()
	c.Name, c.Error, c.Resolution = "trace", evidence.Unanchored, 1
	w.stacks.b = b
	w.gc.init()
	w.tasks.open = make(map[uint64]*task)
	return w
}

func (w *world) interpretEvent(ev *wire.Event) {
	t := ev.Time
	w.events++
	w.now = t
	switch ev.Type {
	case wire.EvGoStart:
		w.states++
		w.goStart(ev, t)
	case wire.EvGoBlock, wire.EvGoStop:
		w.states++
		w.goStop(ev, t)
	case wire.EvGoUnblock:
		w.states++
		w.goUnblock(ev, t)
	case wire.EvGoSyscallBegin:
		w.states++
		w.goSyscallBegin(ev, t)
	case wire.EvGoSyscallEnd:
		w.states++
		w.goSyscallEnd(ev, t)
	case wire.EvHeapAlloc:
		w.gc.noteHeap(t, ev.Value)
	case wire.EvHeapGoal:
		w.gc.setGoal(t, ev.Value)
	case wire.EvProcsChange:
		w.setProcs(t, ev.Value)
	case wire.EvGCMarkAssistBegin, wire.EvGCMarkAssistActive, wire.EvGCMarkAssistEnd:
		w.followAssist(ev, t)
	case wire.EvGCSweepBegin, wire.EvGCSweepActive, wire.EvGCSweepEnd:
		w.followSweep(ev, t)
	case wire.EvGCBegin, wire.EvGCActive:
		w.gc.markBegins(t, ev.Type == wire.EvGCActive, w.stacks.stackAt(ev.Stack))
	case wire.EvGCEnd:
		w.gc.markEnds(w, t)
	case wire.EvSTWBegin, wire.EvSTWEnd:
		w.followStop(ev, t)
	case wire.EvGoLabel:
		w.noteLabel(ev, t)
	case wire.EvSync:
		if g := w.batch.Generation; g != nil && g.Anchored {
			w.anchorClock(g.Wall - g.Trace)
		}
	case wire.EvCPUSample:
		w.addSample(ev, t)
	case wire.EvUserTaskBegin:
		w.taskBegins(ev, t)
	case wire.EvUserTaskEnd:
		w.tasks.ended++
		w.taskEnded(ev.Value, t)
	case wire.EvUserRegionBegin:
		w.tasks.regions++
	default:
		switch {
		case ev.Type.OfGoroutine():
			w.states++
			w.goChange(ev, t)
		case ev.Type.OfProc():
			w.states++
			w.followProcessor(ev, t)
		}
	}
}

func (w *world) anchorClock(offset int64) {
	c := w.b.Clock()
	if !c.Anchored() {
		// The runtime reads both clocks one after the other without stopping.
		c.Name, c.Error, c.Offset = "unix", 100e3, offset
	}
}

// ensureGoroutine finds a goroutine, making it if it is new.
func (w *world) ensureGoroutine(id int64, t int64) *goroutine {
	slot := &w.lately[uint(id)%uint(len(w.lately))]
	if g := *slot; g != nil && g.id == evidence.LaneID(id) {
		return g
	}
	g := w.gs.Find(id)
	if g == nil {
		g = w.addGoroutine(id, t)
	}
	*slot = g
	return g
}

func (w *world) addGoroutine(id int64, t int64) *goroutine {
	var g *goroutine
	if n := len(w.spare); n > 0 {
		g, w.spare = w.spare[n-1], w.spare[:n-1]
	} else {
		g = new(goroutine)
	}
	*g = goroutine{}
	g.id, g.since = evidence.LaneID(id), t
	w.gs.Add(id, g)
	return g
}

func (w *world) forgetGoroutine(g *goroutine) {
	w.gs.Remove(int64(g.id))
	if slot := &w.lately[uint(g.id)%uint(len(w.lately))]; *slot == g {
		*slot = nil
	}
	if !g.task {
		w.spare = append(w.spare, g)
	}
}

func (w *world) followProcessor(ev *wire.Event, t int64) {
	if ev.From == ev.To {
		return
	}
	p := w.ensureProcessor(int32(ev.On))
	w.held.advanceTo(t)
	running := ev.To == wire.ProcRunning
	if p.running != running {
		p.running = running
		if running {
			w.held.procs++
		} else {
			w.held.procs--
		}
	}
	if !running && p.g != nil {
		w.logWork(p, t)
		w.held.removeHolder(p.g.asHolder())
		p.g.proc = nil
		p.g = nil
		w.updateWork(p)
	}
	if ev.From != wire.ProcUndetermined {
		p.ran = true
	}
}

// occupyProcessor puts g on p; freeProcessor takes it off. Before says that g has run since before
// the trace.
func (w *world) occupyProcessor(p *processor, g *goroutine, before bool, t int64) {
	w.held.advanceTo(t)
	if p.ran || !before || p.work != evidence.WorkIdle {
		w.logWork(p, t)
	}
	p.ran = true
	if p.g != nil {
		w.held.removeHolder(p.g.asHolder())
		p.g.proc = nil
	}
	if !p.running {
		p.running = true
		w.held.procs++
	}
	p.g, g.proc = g, p
	w.held.addHolder(g.asHolder())
	w.updateWork(p)
}

func (w *world) freeProcessor(g *goroutine, t int64) {
	if g.proc == nil {
		return
	}
	w.held.advanceTo(t)
	w.held.removeHolder(g.asHolder())
	p := g.proc
	if p.g == g {
		w.logWork(p, t)
	}
	p.g, g.proc = nil, nil
	p.work = evidence.WorkIdle
	if w.held.stop > 0 {
		p.work = evidence.WorkStopped
	}
}

// setRole changes on whose behalf g works.
func (w *world) setRole(g *goroutine, r role, t int64) {
	if g.role != r {
		w.beforeChange(g, t)
		w.changeRole(g, r, t)
	}
}

// revealRole sets on whose behalf g has worked since it began; it was not known.
func (w *world) revealRole(g *goroutine, r role, t int64) {
	if g.role != r {
		w.changeRole(g, r, t)
	}
	w.learnRole(g)
}

func (w *world) changeRole(g *goroutine, r role, t int64) {
	if g.proc == nil {
		g.role = r
		return
	}
	w.held.advanceTo(t)
	w.held.removeHolder(g.asHolder())
	g.role = r
	w.held.addHolder(g.asHolder())
	w.afterChange(g)
}

func (g *goroutine) asHolder() evidence.Holder {
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

func (w *world) setProcs(t int64, v uint64) {
	if n := len(w.procs.V); n == 0 || w.procs.V[n-1] != float64(v) {
		w.procs.T = append(w.procs.T, t)
		w.procs.V = append(w.procs.V, float64(v))
	}
	w.held.total = int(v)
}

// noteLabel learns from a label that a goroutine is a mark worker.
func (w *world) noteLabel(ev *wire.Event, t int64) {
	switch w.batch.Text(ev.Text) {
	case "GC (dedicated)":
		w.setWorker(ev.On, evidence.HeldByCollector, false, t)
	case "GC (fractional)":
		w.setWorker(ev.On, evidence.HeldByCollector, true, t)
	case "GC (idle)":
		w.setWorker(ev.On, evidence.HeldByIdleMark, false, t)
	}
}

// setWorker makes a goroutine a mark worker. Its label follows when it has begun to run.
func (w *world) setWorker(id int64, kind evidence.Holder, fractional bool, t int64) {
	g := w.ensureGoroutine(id, t)
	w.held.advanceTo(t)
	if g.proc != nil {
		w.held.removeHolder(g.asHolder())
	}
	g.role, g.worker, g.fractional = roleWorker, kind, fractional
	w.afterChange(g)
	if g.proc != nil {
		w.held.addHolder(g.asHolder())
	}
}
