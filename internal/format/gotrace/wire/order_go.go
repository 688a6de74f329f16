package wire

import (
	"errors"
	"fmt"
	"math"
)

var errGone = errors.New("happens on a goroutine that is not known")

// userGoroutine returns the goroutine that runs on a thread; it is an error if there is none, or
// if it has another status.
func (r *Reader) userGoroutine(m *thread, status uint8) (*goroutine, error) {
	if err := m.checkUser(); err != nil {
		return nil, err
	}
	g := r.runningGoroutine(m)
	if g == nil {
		return nil, errGone
	}
	if g.status != status {
		return nil, fmt.Errorf("happens on goroutine %d, which is %d, not %d", g.id, g.status, status)
	}
	return g, nil
}

func (m *thread) setGoroutine(g *goroutine) { m.g, m.gid = g, g.id }
func (m *thread) clearGoroutine()           { m.g, m.gid = nil, None }

func (r *Reader) goStatus(c *cursor, m *thread) (bool, error) {
	id, mid := int64(c.args[0]), int64(c.args[1])
	status := uint8(min(c.args[2], math.MaxUint8))
	if int(status) >= len(goStates) {
		return false, fmt.Errorf("status %d of goroutine %d", status, id)
	}
	from := goStates[status]
	g := r.gs.find(id)
	switch {
	case g != nil && g.status != status:
		return false, fmt.Errorf("goroutine %d is told to have status %d and has %d", id, status, g.status)
	case g != nil:
		g.seq = seq{r.gen.Number, 0}
	case r.gen.Number == r.first:
		g = r.gs.add(id, status, r.gen.Number)
		from = GoUndetermined
	default:
		return false, fmt.Errorf("goroutine %d is told of without having been created", id)
	}
	here, onThread, onG := status == gRunning, m.id, m.gid
	switch {
	case status != gSyscall: // it is on no thread
	case mid == None:
		return false, fmt.Errorf("goroutine %d is in a system call on no thread", id)
	case mid == m.id:
		if r.gen.Number != r.first && m.gid != id {
			return false, fmt.Errorf("goroutine %d is in a system call on thread %d, which runs %d", id, mid, m.gid)
		}
		here = true
	default: // it has been in the system call since before this generation
		if other := r.knownThread(mid); other == nil {
			other = r.ensureThread(mid)
			other.seen = true
			other.setGoroutine(g)
		} else if other.gid != id {
			return false, fmt.Errorf("goroutine %d is in a system call on thread %d, which runs %d", id, mid, other.gid)
		} else {
			onG = id
		}
		onThread = mid
	}
	e := r.emitEvent(c, m)
	e.Thread, e.Goroutine = onThread, onG
	e.On, e.From, e.To = id, from, goStates[status]
	if c.typ == EvGoStatusStack {
		e.Stack = r.stackIndex(c.args[3])
	}
	if here {
		m.setGoroutine(g)
	}
	return true, nil
}

func (r *Reader) goCreate(c *cursor, m *thread) (bool, error) {
	if err := m.onProc(); err != nil {
		return false, err
	}
	if g := r.runningGoroutine(m); g != nil && g.status != gRunning {
		return false, fmt.Errorf("happens on goroutine %d, which does not run", g.id)
	}
	id := int64(c.args[0])
	if r.gs.find(id) != nil {
		return false, fmt.Errorf("goroutine %d is there already", id)
	}
	status := uint8(gRunnable)
	if c.typ == EvGoCreateBlocked {
		status = gWaiting
	}
	r.gs.add(id, status, r.gen.Number)
	e := r.emitEvent(c, m)
	e.On, e.From, e.To, e.Stack, e.By = id, GoNotExist, goStates[status], r.stackIndex(c.args[1]), r.stackIndex(c.args[2])
	return true, nil
}

func (r *Reader) goStart(c *cursor, m *thread) (bool, error) {
	id := int64(c.args[0])
	g := r.gs.find(id)
	if g == nil || g.status != gRunnable || !g.seq.isBefore(r.gen.Number, c.args[1]) {
		return false, nil // not its turn yet: another thread has yet to tell of it, or to wake it
	}
	if err := m.onProc(); err != nil {
		return false, err
	}
	if m.gid != None {
		return false, errG
	}
	g.status, g.seq.n = gRunning, c.args[1]
	e := r.emitEvent(c, m)
	e.On, e.From, e.To = id, GoRunnable, GoRunning
	m.setGoroutine(g)
	return true, nil
}

// goLeaves is a goroutine that blocks, yields or ends.
func (r *Reader) goLeaves(c *cursor, m *thread) (bool, error) {
	g, err := r.userGoroutine(m, gRunning)
	if err != nil {
		return false, err
	}
	e := r.emitEvent(c, m)
	e.On, e.From = g.id, GoRunning
	switch c.typ {
	case EvGoBlock:
		g.status, e.To = gWaiting, GoWaiting
	case EvGoStop:
		g.status, e.To = gRunnable, GoRunnable
	default:
		r.gs.remove(g)
		e.To = GoNotExist
		m.clearGoroutine()
		return true, nil
	}
	e.Text, e.Stack = r.textIndex(c.args[0]), r.stackIndex(c.args[1])
	m.clearGoroutine()
	return true, nil
}

func (r *Reader) goUnblock(c *cursor, m *thread) (bool, error) {
	id := int64(c.args[0])
	g := r.gs.find(id)
	if g == nil || g.status != gWaiting || !g.seq.isBefore(r.gen.Number, c.args[1]) {
		return false, nil
	}
	g.status, g.seq.n = gRunnable, c.args[1]
	e := r.emitEvent(c, m) // anybody may do so, also no goroutine
	e.On, e.From, e.To, e.By = id, GoWaiting, GoRunnable, r.stackIndex(c.args[2])
	return true, nil
}

// goSwitch is a coroutine that hands over to another: it wakes that, blocks or ends, and that
// one runs; three events.
func (r *Reader) goSwitch(c *cursor, m *thread) (bool, error) {
	g, err := r.userGoroutine(m, gRunning)
	if err != nil {
		return false, err
	}
	id := int64(c.args[0])
	next := r.gs.find(id)
	if next == nil || next.status != gWaiting || !next.seq.isBefore(r.gen.Number, c.args[1]) {
		return false, nil
	}
	e := r.emitEvent(c, m)
	e.On, e.From, e.To = id, GoWaiting, GoRunnable
	e = r.emitEvent(c, m)
	e.On, e.From = g.id, GoRunning
	if c.typ == EvGoSwitch {
		g.status = gWaiting
		e.Type, e.To = EvGoBlock, GoWaiting
	} else {
		r.gs.remove(g)
		e.Type, e.To = EvGoDestroy, GoNotExist
	}
	m.clearGoroutine()
	e = r.emitEvent(c, m)
	e.Type, e.On, e.From, e.To = EvGoStart, id, GoRunnable, GoRunning
	next.status, next.seq.n = gRunning, c.args[1]
	m.setGoroutine(next)
	return true, nil
}

func (r *Reader) syscallBegin(c *cursor, m *thread) (bool, error) {
	g, err := r.userGoroutine(m, gRunning)
	if err != nil {
		return false, err
	}
	// The number of the processor's changes tells system calls apart that it may be taken
	// away in; it runs here, so that it must be the next.
	if !m.p.seq.isBefore(r.gen.Number, c.args[0]) {
		return false, fmt.Errorf("number %d of processor %d follows %d", c.args[0], m.p.id, m.p.seq.n)
	}
	g.status = gSyscall
	m.p.status, m.p.seq.n = pSyscall, c.args[0]
	e := r.emitEvent(c, m)
	e.On, e.From, e.To, e.Stack = g.id, GoRunning, GoSyscall, r.stackIndex(c.args[1])
	return true, nil
}

func (r *Reader) syscallEnd(c *cursor, m *thread) (bool, error) {
	g, err := r.userGoroutine(m, gSyscall)
	if err != nil {
		return false, err
	}
	if m.p.status != pSyscall {
		return false, fmt.Errorf("processor %d is in no system call", m.p.id)
	}
	g.status, m.p.status = gRunning, pRunning
	e := r.emitEvent(c, m)
	e.On, e.From, e.To = g.id, GoSyscall, GoRunning
	return true, nil
}

// syscallEndBlocked is the end of a system call in which the thread lost its processor. It
// may have another by now.
func (r *Reader) syscallEndBlocked(c *cursor, m *thread) (bool, error) {
	if m.p != nil && m.p.status == pSyscall {
		return false, nil // it has not lost it yet
	}
	g, err := r.inSyscall(m)
	if err != nil {
		return false, err
	}
	g.status = gRunnable
	e := r.emitEvent(c, m)
	e.On, e.From, e.To = g.id, GoSyscall, GoRunnable
	m.clearGoroutine()
	return true, nil
}

func (r *Reader) inSyscall(m *thread) (*goroutine, error) {
	switch g := r.runningGoroutine(m); {
	case m.id == None:
		return nil, errNoThread
	case m.gid == None:
		return nil, errNoG
	case g == nil:
		return nil, errGone
	case g.status != gSyscall:
		return nil, fmt.Errorf("goroutine %d is in no system call", g.id)
	default:
		return g, nil
	}
}

// goCreateSyscall is a thread of C's that calls back into Go.
func (r *Reader) goCreateSyscall(c *cursor, m *thread) (bool, error) {
	switch {
	case m.id == None:
		return false, errNoThread
	case m.gid != None:
		return false, errG
	}
	id := int64(c.args[0])
	if r.gs.find(id) != nil {
		return false, fmt.Errorf("goroutine %d is there already", id)
	}
	g := r.gs.add(id, gSyscall, r.gen.Number)
	e := r.emitEvent(c, m)
	e.On, e.From, e.To = id, GoNotExist, GoSyscall
	m.setGoroutine(g)
	return true, nil
}

// goDestroySyscall is such a thread that returns to C. The processor it may still have is not
// its own any more: the number of the thread may be used again.
func (r *Reader) goDestroySyscall(c *cursor, m *thread) (bool, error) {
	g, err := r.inSyscall(m)
	if err != nil {
		return false, err
	}
	if p := m.p; p != nil {
		if p.status != pSyscall {
			return false, fmt.Errorf("processor %d is in no system call", p.id)
		}
		p.status = pAbandoned
		e := r.emitEvent(c, m)
		e.Type, e.On, e.From, e.To = EvProcSteal, int64(p.id), ProcRunning, ProcIdle
	}
	r.gs.remove(g)
	e := r.emitEvent(c, m)
	e.On, e.From, e.To = g.id, GoSyscall, GoNotExist
	m.clearGoroutine()
	m.p = nil
	return true, nil
}

// goRange is a goroutine that has the world stopped, or marks to pay for what it allocates.
func (r *Reader) goRange(c *cursor, m *thread) (bool, error) {
	if c.typ == EvGCMarkAssistActive {
		id := int64(c.args[0])
		g := r.gs.find(id)
		if g == nil {
			return false, fmt.Errorf("goroutine %d is not known", id)
		}
		if err := g.ranges.confirmSpan(span{begun: EvGCMarkAssistBegin}, r.gen.Number == r.first); err != nil {
			return false, err
		}
		r.emitEvent(c, m).On = id
		return true, nil
	}
	if err := m.checkUser(); err != nil {
		return false, err
	}
	g := r.runningGoroutine(m)
	if g == nil {
		return false, errGone
	}
	var text, stack uint32
	var err error
	switch c.typ {
	case EvSTWBegin:
		text, stack = r.textIndex(c.args[0]), r.stackIndex(c.args[1])
		err = g.ranges.beginSpan(span{EvSTWBegin, c.args[0], r.gen.Text(text)})
	case EvSTWEnd:
		var s span
		s, err = g.ranges.endSpan(EvSTWBegin)
		text = r.batch.keepText(s.text)
	case EvGCMarkAssistBegin:
		stack = r.stackIndex(c.args[0])
		err = g.ranges.beginSpan(span{begun: EvGCMarkAssistBegin})
	case EvGCMarkAssistEnd:
		_, err = g.ranges.endSpan(EvGCMarkAssistBegin)
	}
	if err != nil {
		return false, err
	}
	e := r.emitEvent(c, m)
	e.On, e.Text, e.Stack = g.id, text, stack
	return true, nil
}
