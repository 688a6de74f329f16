package nettrace

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// If a session has requests and awaits, an await belongs to its request: activity ids flow with async code. Then
// the time, the reason and the length of each request's waits are known.

// awaitingRequest returns the request that awaits, which may have begun in the previous stream; nil
// unknown.
func (q *process) awaitingRequest(e *eventpipe.Event) *request {
	if e.Activity == (eventpipe.GUID{}) {
		return nil
	}
	if x := q.findCaller(e, nil); x != nil || q.p.prior == nil {
		return x
	}
	if before := q.p.prior.processes[e.PID]; before != nil {
		return before.requests.byActivity[e.Activity]
	}
	return nil
}

// awaitedBy writes the awaits of a place whose requests are known.
func (q *process) awaitedBy(p *awaitPlace, kind, what string) {
	cause := q.b.Name(what)
	for _, x := range p.rows {
		q.awaitRow(x, evidence.AwaitKinds[kind], p.stack, cause)
	}
}

// awaitRow writes an await of a known request; an unfinished one lasts at least until the session
// ends.
func (q *process) awaitRow(x *await, kind evidence.Kind, stack evidence.StackID, cause evidence.NameID) {
	if x.of == nil || x.of.id == evidence.NoRequest {
		return
	}
	end := x.end
	if end == 0 {
		end = q.watchedUntil()
	}
	q.b.Interval(evidence.Interval{Subject: q.id, Kind: kind, Start: x.start, End: max(x.start, end), Request: x.of.id, Stack: stack, Cause: cause,
		Origin: q.b.Origin(x.n)})
}

// HttpClient before .NET 5 has no events for the queue of its connections; its await is
// one of System.Net.Http.TaskCompletionSourceWithCancellation, in the pool's own method
// (https://github.com/dotnet/corefx/blob/v3.1.2/src/System.Net.Http/src/System/Net/Http/SocketsHttpHandler/HttpConnectionPool.cs,
// HttpConnectionWaiter).
const (
	connectionAwait = "System.Net.Http.TaskCompletionSourceWithCancellation"
	connectionPool  = "System.Net.Http.HttpConnectionPool+"
)

// forConnection writes an await of a connection of a client's pool. It is part of the call that
// needs the connection.
func (q *process) forConnection(x *await, function string) bool {
	if !strings.HasPrefix(function, connectionAwait) {
		return false
	}
	inPool := false
	for _, at := range q.p.r.Addresses(x.stack) {
		inPool = inPool || strings.HasPrefix(q.functionAt(at, x.start), connectionPool)
	}
	if !inPool {
		return false
	}
	what := "connections of HttpClient"
	if c := x.call; c != nil && (c.end == 0 || c.end >= x.start) {
		what = evidence.ConnectionsFor + c.text
	}
	_, stack := q.awaitingMethod(x)
	q.awaitRow(x, evidence.PoolWait, stack, q.b.Name(what))
	return true
}

// coverAwaits says from when to when all awaits of requests are known.
func (q *process) coverAwaits() {
	for _, x := range q.awaits.rows {
		if x.of != nil && x.of.id != evidence.NoRequest {
			q.addCoverage(evidence.CoverAwaits, q.watchedSince(), q.watchedUntil(), 0)
			return
		}
	}
}
