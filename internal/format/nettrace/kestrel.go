package nettrace

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// connections are those that Kestrel accepted and put into the thread pool's queue:
// their wait there is how long a starving pool lets clients wait before
// their data is read. Requests over HTTP/2 are queued one by one. The events exist from
// .NET 5 on; previews had other names for them.
type connections struct {
	queued        map[string]queued
	id            []byte // reused
	waited        int64
	longest, time int64
}

type queued struct {
	at, n int64
	what  string
}

func (c *connections) init() { c.queued = make(map[string]queued) }

// connectionQueued reads ConnectionQueuedStart(id, local, remote).
func (q *process) connectionQueued(e *eventpipe.Event) { q.kestrelQueued(e, 1) }

// connectionDequeued reads ConnectionQueuedStop: a thread of the pool has it now.
func (q *process) connectionDequeued(e *eventpipe.Event) { q.kestrelDequeued(e, 1) }

// requestQueued reads RequestQueuedStart(connection, request, version).
func (q *process) requestQueued(e *eventpipe.Event) { q.kestrelQueued(e, 2) }

// requestDequeued reads RequestQueuedStop.
func (q *process) requestDequeued(e *eventpipe.Event) { q.kestrelDequeued(e, 2) }

// queuedID reads that many texts, which identify a queued item.
func (q *process) queuedID(e *eventpipe.Event, texts int) bool {
	k := &q.kestrel
	c := q.p.r.Cursor(e.Payload())
	k.id = k.id[:0]
	for range texts {
		k.id = append(c.AppendUTF16(k.id), 0)
	}
	if !c.OK() {
		q.countMalformed(e)
	}
	return c.OK()
}

func (q *process) kestrelQueued(e *eventpipe.Event, texts int) {
	k := &q.kestrel
	if q.queuedID(e, texts) && len(k.queued) < maxOpen {
		k.queued[string(k.id)] = queued{e.Time, e.N, queuedWhat[texts-1]}
	}
}

func (q *process) kestrelDequeued(e *eventpipe.Event, texts int) {
	k := &q.kestrel
	if !q.queuedID(e, texts) {
		return
	}
	if w, ok := k.queued[string(k.id)]; ok {
		delete(k.queued, string(k.id))
		q.connectionWaited(w, e.Time)
	}
}

// queuedWhat is what waited for a thread, by the number of texts that identify it.
var queuedWhat = [...]string{"new connection", "new request over HTTP/2"}

func (q *process) connectionWaited(w queued, until int64) {
	k := &q.kestrel
	k.waited++
	k.time += until - w.at
	k.longest = max(k.longest, until-w.at)
	q.b.Interval(evidence.Interval{Subject: q.id, Kind: evidence.ThreadWait, Start: w.at, End: max(w.at, until),
		Cause: q.b.Name(w.what), Origin: q.b.Origin(w.n)})
}

// emit emits those still queued: their known wait is a lower bound.
func (c *connections) emit(q *process) {
	for _, id := range slices.SortedFunc(maps.Keys(c.queued), func(a, b string) int { return cmp.Compare(c.queued[a].n, c.queued[b].n) }) {
		q.connectionWaited(c.queued[id], q.watchedUntil())
	}
}
