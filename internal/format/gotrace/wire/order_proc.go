package wire

import (
	"fmt"
	"math"
)

func (r *Reader) procID(v uint64) (int32, error) {
	if v >= math.MaxInt32 {
		return 0, fmt.Errorf("there is no processor %d", v)
	}
	return int32(v), nil
}

func (r *Reader) procStatus(c *cursor, m *thread) (bool, error) {
	id, err := r.procID(c.args[0])
	if err != nil {
		return false, err
	}
	status := uint8(min(c.args[1], math.MaxUint8))
	if int(status) >= len(procStates) {
		return false, fmt.Errorf("status %d of processor %d", status, id)
	}
	from, to, on := procStates[status], procStates[status], m
	p := r.ps[id]
	switch {
	case p == nil:
		p = &proc{id: id, status: status}
		r.ps[id] = p
		from = ProcNotExist
		if r.gen.Number == r.first {
			from = ProcUndetermined
		}
	case status == pAbandoned && p.status == pSyscall:
		// It is about to be taken away, and which thread has it is still known: it runs there.
		if on = r.threadOf(p); on == nil {
			return false, fmt.Errorf("processor %d is in a system call on no thread", id)
		}
		from, to = ProcRunning, ProcRunning
	case status == pAbandoned && p.status == pAbandoned:
		from = ProcIdle
	case p.status != status:
		return false, fmt.Errorf("processor %d is told to have status %d and has %d", id, status, p.status)
	}
	p.seq = seq{r.gen.Number, 0}
	e := r.emitEvent(c, on)
	e.On, e.From, e.To = int64(id), from, to
	if status == pRunning || status == pSyscall {
		m.p = p
	}
	return true, nil
}

// threadOf finds the thread that has a processor; that is rarely asked.
func (r *Reader) threadOf(p *proc) *thread {
	for _, m := range r.ms {
		if m.p == p && m.seen {
			return m
		}
	}
	return nil
}

func (r *Reader) procStart(c *cursor, m *thread) (bool, error) {
	id, err := r.procID(c.args[0])
	if err != nil {
		return false, err
	}
	p := r.ps[id]
	if p == nil || p.status != pIdle || !p.seq.isBefore(r.gen.Number, c.args[1]) || m.p != nil {
		return false, nil // not its turn yet; or this thread's processor has not been taken away yet
	}
	if m.id == None {
		return false, errNoThread
	}
	p.status, p.seq.n = pRunning, c.args[1]
	e := r.emitEvent(c, m)
	e.On, e.From, e.To = int64(id), ProcIdle, ProcRunning
	m.p = p
	return true, nil
}

func (r *Reader) procStop(c *cursor, m *thread) (bool, error) {
	if err := m.onProc(); err != nil {
		return false, err
	}
	p := m.p
	if p.status != pRunning && p.status != pSyscall {
		return false, fmt.Errorf("processor %d does not run", p.id)
	}
	p.status = pIdle
	e := r.emitEvent(c, m)
	e.On, e.From, e.To = int64(p.id), ProcRunning, ProcIdle
	m.p = nil
	return true, nil
}

// procSteal takes a processor away from a thread that is in a system call.
func (r *Reader) procSteal(c *cursor, m *thread) (bool, error) {
	id, err := r.procID(c.args[0])
	if err != nil {
		return false, err
	}
	p := r.ps[id]
	if p == nil || p.status != pSyscall && p.status != pAbandoned || !p.seq.isBefore(r.gen.Number, c.args[1]) {
		return false, nil
	}
	if m.id == None {
		return false, errNoThread
	}
	was := p.status
	p.status, p.seq.n = pIdle, c.args[1]
	from := ProcRunning
	if was == pAbandoned {
		from = ProcIdle // as which it was told of
	} else {
		victim := r.knownThread(int64(c.args[2]))
		if victim == nil || victim.p != p {
			return false, fmt.Errorf("processor %d is taken from thread %d, which does not have it", id, int64(c.args[2]))
		}
		defer func() { victim.p = nil }() // which may be this one
	}
	e := r.emitEvent(c, m)
	e.On, e.From, e.To = int64(id), from, ProcIdle
	return true, nil
}

func (r *Reader) sweepRange(c *cursor, m *thread) (bool, error) {
	s := span{begun: EvGCSweepBegin}
	if c.typ == EvGCSweepActive {
		id, err := r.procID(c.args[0])
		if err != nil {
			return false, err
		}
		p := r.ps[id]
		if p == nil {
			return false, fmt.Errorf("processor %d is not known", id)
		}
		if err := p.ranges.confirmSpan(s, r.gen.Number == r.first); err != nil {
			return false, err
		}
		r.emitEvent(c, m).On = int64(id)
		return true, nil
	}
	if err := m.onProc(); err != nil {
		return false, err
	}
	if c.typ == EvGCSweepBegin {
		if err := m.p.ranges.beginSpan(s); err != nil {
			return false, err
		}
		r.emitEvent(c, m).Stack = r.stackIndex(c.args[0])
		return true, nil
	}
	if _, err := m.p.ranges.endSpan(EvGCSweepBegin); err != nil {
		return false, err
	}
	e := r.emitEvent(c, m)
	e.Value, e.On = c.args[0], int64(c.args[1])
	return true, nil
}
