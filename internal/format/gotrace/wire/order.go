package wire

import (
	"errors"
	"fmt"
)

// Statuses as they are written (GoStatus, ProcStatus in internal/trace/tracev2/events.go).
const (
	gRunnable = 1 + iota
	gRunning
	gSyscall
	gWaiting
)

const (
	pRunning = 1 + iota
	pIdle
	pSyscall
	pAbandoned // in a system call, of a thread that is not known any more
)

var goStates = [...]GoState{gRunnable: GoRunnable, gRunning: GoRunning, gSyscall: GoSyscall, gWaiting: GoWaiting}

var procStates = [...]ProcState{pRunning: ProcRunning, pIdle: ProcIdle, pSyscall: ProcRunning, pAbandoned: ProcIdle}

// goroutine is what the order of a goroutine's events is kept by.
type goroutine struct {
	id      int64
	status  uint8
	gone    bool
	seq     seq
	ranges  ranges
	regions []region
}

// proc is a processor, as goroutine is.
type proc struct {
	id     int32
	status uint8
	seq    seq
	ranges ranges
}

// thread is what runs on a thread.
type thread struct {
	id   int64
	seen bool // an event told of it
	gid  int64
	g    *goroutine // of gid, unless it ended; see order.runningGoroutine
	p    *proc
}

// seq counts the changes of a goroutine or processor that can happen on any thread. It
// begins anew with each generation.
type seq struct{ generation, n uint64 }

// isBefore says whether the change numbered n is the next one.
func (s seq) isBefore(generation, n uint64) bool { return s.generation == generation && s.n+1 == n }

type region struct {
	task uint64
	text string // its number may be another in the next generation
}

// ranges are stretches of time a goroutine or processor is in, of at most a few kinds.
type ranges struct{ in []span }

type span struct {
	begun Type
	why   uint64
	text  string // of why
}

func (r *ranges) hasSpan(s span) bool {
	for _, x := range r.in {
		if x.begun == s.begun && x.why == s.why {
			return true
		}
	}
	return false
}

func (r *ranges) beginSpan(s span) error {
	if r.hasSpan(s) {
		return fmt.Errorf("%s within %[1]s", s.begun.Name())
	}
	r.in = append(r.in, s)
	return nil
}

// confirmSpan notes a range that began before the trace, or confirms one.
func (r *ranges) confirmSpan(s span, first bool) error {
	switch has := r.hasSpan(s); {
	case first && has:
		return fmt.Errorf("%s is told twice", s.begun.Name())
	case first:
		r.in = append(r.in, s)
	case !has:
		return fmt.Errorf("%s goes on that has not begun", s.begun.Name())
	}
	return nil
}

func (r *ranges) endSpan(begun Type) (s span, err error) {
	for i, x := range r.in {
		if x.begun == begun {
			last := len(r.in) - 1
			r.in[i] = r.in[last]
			r.in = r.in[:last]
			return x, nil
		}
	}
	return s, fmt.Errorf("%s ends that has not begun", begun.Name())
}

type task struct {
	text   string
	parent int64
	own    bool // text is a copy
}

// order puts the events of all threads into the one order in which they can have happened.
// Clocks of processors differ by more than what happens on them takes: an event is taken when
// what must come before it has been, not when its time comes.
type order struct {
	first   uint64 // number of the first generation
	gs      goroutines
	ps      map[int32]*proc
	ms      map[int64]*thread
	nobody  thread // writes what no thread does
	tasks   map[uint64]task
	gcSeq   uint64
	gcState uint8
}

const (
	gcUnknown uint8 = iota
	gcOff
	gcOn
)

// maxTasks bounds the tasks that are under way at once; the names of more are not known when
// they end.
const maxTasks = 1 << 20

func (o *order) init() {
	o.ps = make(map[int32]*proc)
	o.ms = make(map[int64]*thread)
	o.tasks = make(map[uint64]task)
	o.nobody = thread{id: None, gid: None}
}

// ensureThread finds a thread, making it if it is new.
func (o *order) ensureThread(id int64) *thread {
	if id == None {
		return &o.nobody
	}
	m := o.ms[id]
	if m == nil {
		m = &thread{id: id, gid: None}
		o.ms[id] = m
	}
	return m
}

// knownThread finds a thread that an event told of; nil if there is none.
func (o *order) knownThread(id int64) *thread {
	if m := o.ms[id]; m != nil && m.seen {
		return m
	}
	return nil
}

// runningGoroutine returns the goroutine on a thread, nil if there is none or it is not known.
func (o *order) runningGoroutine(m *thread) *goroutine {
	if g := m.g; g != nil && !g.gone && g.id == m.gid {
		return g
	}
	if m.gid == None {
		return nil
	}
	return o.gs.find(m.gid) // another thread ended it, and it is there again: the trace is not well formed
}

// Errors of contexts: what an event needs on its thread.
var (
	errNoThread = errors.New("happens on no thread")
	errNoProc   = errors.New("happens on no processor")
	errNoG      = errors.New("happens on no goroutine")
	errG        = errors.New("happens on a thread that runs a goroutine")
)

// checkUser returns an error unless the thread runs a goroutine on a processor, as events of
// running goroutines need.
func (m *thread) checkUser() error {
	if m.gid == None {
		return errNoG
	}
	return m.onProc()
}

// onProc demands a thread and a processor.
func (m *thread) onProc() error {
	switch {
	case m.id == None:
		return errNoThread
	case m.p == nil:
		return errNoProc
	}
	return nil
}

// takeEvent takes the event that a thread is at, if all that must come before it has been. An
// error says that the trace is not well formed.
func (r *Reader) takeEvent(c *cursor, m *thread) (bool, error) {
	switch c.typ {
	case EvHeapAlloc, EvHeapGoal:
		if err := m.onProc(); err != nil {
			return false, err
		}
		r.emitEvent(c, m).Value = c.args[0]
		return true, nil
	case EvGoStart:
		return r.goStart(c, m)
	case EvGoUnblock:
		return r.goUnblock(c, m)
	case EvGoBlock, EvGoStop, EvGoDestroy:
		return r.goLeaves(c, m)
	case EvGoSyscallBegin:
		return r.syscallBegin(c, m)
	case EvGoSyscallEnd:
		return r.syscallEnd(c, m)
	case EvGoSyscallEndBlocked:
		return r.syscallEndBlocked(c, m)
	case EvProcStart:
		return r.procStart(c, m)
	case EvProcStop:
		return r.procStop(c, m)
	case EvProcSteal:
		return r.procSteal(c, m)
	case EvProcStatus:
		return r.procStatus(c, m)
	case EvGoCreate, EvGoCreateBlocked:
		return r.goCreate(c, m)
	case EvGoStatus, EvGoStatusStack:
		return r.goStatus(c, m)
	case EvGoSwitch, EvGoSwitchDestroy:
		return r.goSwitch(c, m)
	case EvGoCreateSyscall:
		return r.goCreateSyscall(c, m)
	case EvGoDestroySyscall:
		return r.goDestroySyscall(c, m)
	case EvSTWBegin, EvSTWEnd, EvGCMarkAssistBegin, EvGCMarkAssistEnd, EvGCMarkAssistActive:
		return r.goRange(c, m)
	case EvGCSweepBegin, EvGCSweepEnd, EvGCSweepActive:
		return r.sweepRange(c, m)
	case EvGCActive, EvGCBegin, EvGCEnd:
		return r.gcPhase(c, m)
	case EvProcsChange, EvGoLabel, EvUserTaskBegin, EvUserTaskEnd, EvUserRegionBegin, EvUserRegionEnd, EvUserLog:
		return r.userEvent(c, m)
	}
	if !c.typ.Experimental() {
		return false, errors.New("is no event of a thread")
	}
	if m.id == None {
		return false, errNoThread
	}
	r.emitEvent(c, m)
	return true, nil
}

// goroutines finds goroutines by their IDs, mostly those asked for lately.
type goroutines struct {
	lately [1 << 10]*goroutine
	all    ByID[goroutine]
	spare  []*goroutine
}

func (t *goroutines) find(id int64) *goroutine {
	slot := &t.lately[uint(id)%uint(len(t.lately))]
	if g := *slot; g != nil && g.id == id {
		return g
	}
	g := t.all.Find(id)
	if g != nil {
		*slot = g
	}
	return g
}

func (t *goroutines) add(id int64, status uint8, generation uint64) *goroutine {
	var g *goroutine
	if n := len(t.spare); n > 0 {
		g, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		g = new(goroutine)
	}
	*g = goroutine{id: id, status: status, seq: seq{generation, 0}, ranges: ranges{g.ranges.in[:0]}, regions: g.regions[:0]}
	t.all.Add(id, g)
	t.lately[uint(id)%uint(len(t.lately))] = g
	return g
}

func (t *goroutines) remove(g *goroutine) {
	t.all.Remove(g.id)
	if slot := &t.lately[uint(g.id)%uint(len(t.lately))]; *slot == g {
		*slot = nil
	}
	g.gone = true
	clear(g.regions)
	t.spare = append(t.spare, g)
}
