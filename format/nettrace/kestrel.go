package nettrace

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/nettrace/eventpipe"
)

// connections are those that Kestrel accepted and put into the thread pool's queue:
// how long they waited there is how long a starving pool lets clients wait before
// anything of theirs is read.
type connections struct {
	queued        map[string]queued
	id            []byte // reused
	waited        int64
	longest, time int64
}

type queued struct{ at, n int64 }

func (c *connections) init() { c.queued = make(map[string]queued) }

// connectionQueued reads ConnectionQueued(id, local, remote).
func (q *process) connectionQueued(e *eventpipe.Event) {
	k := &q.kestrel
	c := q.p.r.Cursor(e.Payload)
	k.id = c.AppendUTF16(k.id[:0])
	if !c.OK() {
		q.bad(e)
		return
	}
	if len(k.queued) == maxOpen {
		return
	}
	k.queued[string(k.id)] = queued{e.Time, e.N}
}

// connectionDequeued reads ConnectionDequeued: a thread of the pool has it now.
func (q *process) connectionDequeued(e *eventpipe.Event) {
	k := &q.kestrel
	c := q.p.r.Cursor(e.Payload)
	k.id = c.AppendUTF16(k.id[:0])
	if !c.OK() {
		q.bad(e)
		return
	}
	if w, ok := k.queued[string(k.id)]; ok {
		delete(k.queued, string(k.id))
		q.connectionWaited(w, e.Time)
	}
}

func (q *process) connectionWaited(w queued, until int64) {
	k := &q.kestrel
	k.waited++
	k.time += until - w.at
	k.longest = max(k.longest, until-w.at)
	q.b.Interval(evidence.Interval{Subject: q.id, Kind: evidence.ThreadWait, Start: w.at, End: max(w.at, until),
		Cause: q.b.Name("new connection"), Origin: q.b.Origin(w.n)})
}

// emit writes those still queued: what is known of their wait is a lower bound.
func (c *connections) emit(q *process) {
	for _, id := range slices.SortedFunc(maps.Keys(c.queued), func(a, b string) int { return cmp.Compare(c.queued[a].n, c.queued[b].n) }) {
		q.connectionWaited(c.queued[id], q.until())
	}
}
