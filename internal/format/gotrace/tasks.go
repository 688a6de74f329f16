package gotrace

import (
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// tasks are the program's own annotations. A task that no recovered request
// contains is a request itself, because the program names it.
type tasks struct {
	open    map[uint64]*task
	count   int64
	ended   int64
	regions int64
}

type task struct {
	g       *goroutine
	request *request
	kind    evidence.NameID
}

// maxTasks bounds the tasks that are followed at once.
const maxTasks = 1 << 16

func (w *world) taskBegins(ev *wire.Event, t int64) {
	w.tasks.count++
	if ev.Goroutine == wire.None || len(w.tasks.open) >= maxTasks {
		return
	}
	g := w.ensureGoroutine(ev.Goroutine, t)
	if g.request != nil || g.conn.server != nil || g.role == roleRequests && !g.task {
		return // part of a request that was recovered, or of its helper
	}
	w.setRole(g, roleRequests, t)
	w.splitRun(g, t)
	k := &task{g: g, kind: w.b.Name(string(redact.Value([]byte(w.batch.Text(ev.Text))))), request: &request{start: t, upto: t, handled: true}}
	g.request = k.request
	g.task = true
	w.tasks.open[ev.Value] = k
}

func (w *world) taskEnded(id uint64, t int64) {
	if k := w.tasks.open[id]; k != nil {
		delete(w.tasks.open, id)
		w.taskEnds(k, t, evidence.OK)
	}
}

func (w *world) taskEnds(k *task, t int64, outcome evidence.Outcome) {
	r := k.request
	if k.g.request == r {
		w.chargeEnded(k.g, k.g.state, nil, 0, t)
		k.g.since = t
		k.g.request = nil
	}
	if t > r.upto { // its goroutine went on to something else
		r.addState(&evidence.Segment{Kind: evidence.Unobserved, Dur: t - r.upto}, r.upto)
	}
	w.out.addRequest(&evidence.Request{Subject: w.subject, Route: k.kind, Lane: k.g.id, Start: r.start, End: t, Outcome: outcome, Path: r.path, Origin: w.b.Origin(w.events)})
}
