package wire

import (
	"errors"
	"fmt"
	"strings"
)

// gcPhase takes the events of the mark phase, which begins and ends on any thread, in the order of
// its numbers.
func (r *Reader) gcPhase(c *cursor, m *thread) (bool, error) {
	seq := c.args[0]
	first := c.typ == EvGCActive && r.gen.Number == r.first || c.typ == EvGCBegin && r.gcState == gcUnknown
	if !first && seq != r.gcSeq+1 {
		return false, nil
	}
	var err error
	switch on := r.gcState == gcOn; {
	case first && r.gcState != gcUnknown:
		err = errors.New("is not the first of GC events")
	case first:
	case c.typ == EvGCBegin && on:
		err = errors.New("the collector marks already")
	case c.typ != EvGCBegin && !on:
		err = errors.New("the collector does not mark")
	default:
		err = m.checkUser()
	}
	if err != nil {
		return false, err
	}
	r.gcSeq, r.gcState = seq, gcOn
	if c.typ == EvGCEnd {
		r.gcState = gcOff
	}
	e := r.emitEvent(c, m)
	e.Value = seq
	if c.typ == EvGCBegin {
		e.Stack = r.stackIndex(c.args[1])
	}
	return true, nil
}

// userEvent takes what happens at a moment of a running goroutine, most of it told by the program.
func (r *Reader) userEvent(c *cursor, m *thread) (bool, error) {
	if err := m.checkUser(); err != nil {
		return false, err
	}
	e := r.emitEvent(c, m)
	switch c.typ {
	case EvProcsChange:
		e.Value, e.Stack = c.args[0], r.stackIndex(c.args[1])
		return true, nil
	case EvGoLabel:
		e.On, e.Text = m.gid, r.textIndex(c.args[0])
		return true, nil
	case EvUserLog:
		e.Value, e.Text, e.Text2, e.Stack = c.args[0], r.textIndex(c.args[1]), r.textIndex(c.args[2]), r.stackIndex(c.args[3])
		return true, nil
	case EvUserTaskBegin:
		return true, r.taskBegins(c, e)
	case EvUserTaskEnd:
		e.Value, e.Stack = c.args[0], r.stackIndex(c.args[1])
		t, ok := r.tasks[e.Value]
		if !ok {
			t.parent = None // it began before the trace
		}
		delete(r.tasks, e.Value)
		e.On, e.Text = t.parent, r.batch.keepText(t.text)
		return true, nil
	}
	e.Value, e.Text, e.Stack = c.args[0], r.textIndex(c.args[1]), r.stackIndex(c.args[2])
	g := r.runningGoroutine(m)
	if g == nil {
		return false, errGone
	}
	this := region{e.Value, r.gen.Text(e.Text)}
	if c.typ == EvUserRegionBegin {
		g.regions = append(g.regions, this)
		return true, nil
	}
	if n := len(g.regions); n > 0 { // else it began before the trace
		if g.regions[n-1] != this {
			return false, fmt.Errorf("region %q ends within %q", this.text, g.regions[n-1].text)
		}
		g.regions = g.regions[:n-1]
	}
	return true, nil
}

func (r *Reader) taskBegins(c *cursor, e *Event) error {
	id := c.args[0]
	if _, ok := r.tasks[id]; ok {
		return fmt.Errorf("task %d is under way already", id)
	}
	e.Value, e.On, e.Text, e.Stack = id, int64(c.args[1]), r.textIndex(c.args[2]), r.stackIndex(c.args[3])
	if e.On == 0 {
		e.On = None
	}
	if len(r.tasks) < maxTasks {
		r.tasks[id] = task{text: r.gen.Text(e.Text), parent: e.On}
	}
	return nil
}

// keepTasks takes copies of the names of tasks that go on after their generation, so that its
// strings are not kept for them.
func (r *Reader) keepTasks() {
	for id, t := range r.tasks {
		if !t.own {
			t.text, t.own = strings.Clone(t.text), true
			r.tasks[id] = t
		}
	}
}
