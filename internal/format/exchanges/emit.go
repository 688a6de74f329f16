package exchanges

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/base/urlpath"
)

// A stream is an answer that lasts at least this long (ns) in pieces that are smaller on average than this many bytes: its request is
// answered when it begins.
const (
	streamLeast = int64(1e9)
	streamSends = 3
	streamPiece = 8 << 10
)

// nextPiece × the mean distance of the pieces of an answer is how long its next piece may take.
const nextPiece = 5 // of distances that vary exponentially one in 150 is longer (e⁻⁵)

// isBeingSent says whether the recording ended while the answer to a request was sent piece by piece: its last piece may not be its end.
func (p *parser) isBeingSent(x *exchange) bool {
	return x.ends && x.first > 0 && x.sends > 2 && !x.isStreamed() && p.until-x.last <= nextPiece*((x.last-x.first)/(x.sends-1))
}

// profiles is the path at which programs in Go serve profiles and traces of themselves.
const profiles = " /debug/pprof/"

func (x *exchange) isStreamed() bool {
	return x.first > 0 && x.last-x.first >= streamLeast && x.sends >= streamSends && x.out < streamPiece*x.sends
}

// endOf returns when a request was answered, or its connection was closed.
func (p *parser) endOf(x *exchange) int64 {
	switch {
	case x.isStreamed():
		return x.first
	case x.last > 0:
		return x.last
	}
	return max(p.until, x.begun)
}

// linkAndEmit links calls to their requests and emits both.
func (p *parser) linkAndEmit() {
	b := p.b
	b.SeenFrom(evidence.FromKernel)
	p.dropOneWay()
	upgraded := 0
	p.requests = slices.DeleteFunc(p.requests, func(x exchange) bool {
		switch {
		case !x.http && p.http[x.port] > 0:
			upgraded++
		case strings.Contains(b.Text(x.what), profiles): // a profile is answered when it is done, as its client wants
		default:
			return false
		}
		return true
	})
	slices.SortStableFunc(p.requests, func(x, y exchange) int { return cmp.Compare(p.endOf(&x), p.endOf(&y)) })
	p.groupRoutes()
	p.nameUnnamed()
	p.unifyPeers(false)
	p.started = p.collectStarted()
	p.linkCalls()
	p.followOwnCalls()
	loops := p.findLoops()
	unlinked := p.linkLookups()
	p.findPools(loops)
	p.findStreamLimits()
	p.findLimiters()
	p.findShared()
	p.findSharedChains()
	p.findSharedLookups()
	loops.findBusy()
	p.findAdmissionLimits(loops)
	p.findTimers()
	p.findPipelined(loops)
	p.linkDelegated()
	p.findAwaited(loops)
	p.findSharedCalls(loops)
	p.findTurns(loops)
	p.findWorkers()
	p.findServingThreads(loops)
	p.unifyPeers(true)
	p.nameByCalls()
	for i := range p.calls {
		if x := &p.calls[i]; x.isClosing() { // the request does not wait for it
			x.request = -1
		}
	}
	slices.SortStableFunc(p.calls, func(x, y exchange) int {
		return cmp.Or(cmp.Compare(x.request, y.request), cmp.Compare(x.begun, y.begun))
	})
	loops.collectTurns()
	unread := make(map[int64]evidence.NameID) // by port
	next, _ := slices.BinarySearchFunc(p.calls, 0, func(x exchange, _ int) int { return cmp.Compare(x.request, 0) })
	alone := next
	looked := p.collectLooks()
	looked.nameSites()
	turn := b.TellWait("the requests before them, as one at a time is served", evidence.Wait{Kind: evidence.Turn})
	var path evidence.Path
	for i := range p.requests {
		x := &p.requests[i]
		from := next
		for next < len(p.calls) && p.calls[next].request == int32(i) {
			next++
		}
		end := p.endOf(x)
		at, named := unread[x.port]
		if !named {
			at = b.Wait(evidence.ArrivedAt, p.listenerText(x.port))
			unread[x.port] = at
		}
		path = appendStates(path[:0], x, int32(i), end, p.calls[from:next], at, turn, loops, looked)
		r := evidence.Request{Subject: p.subject, Route: x.what, Start: x.came, End: end, Path: path, Origin: b.Origin(x.line)}
		if x.byThread {
			r.Thread = evidence.LaneID(x.thread)
		}
		switch {
		case x.open, p.isBeingSent(x):
			r.Outcome = evidence.Unfinished
		case x.first == 0:
			r.Outcome = evidence.TimedOut
		case x.failed:
			r.Outcome = evidence.Failed
		}
		id := b.Request(r)
		for k := range p.calls[from:next] {
			p.emitCall(&p.calls[from+k], id)
		}
	}
	for k := range p.calls[:alone] {
		p.emitCall(&p.calls[k], evidence.NoRequest)
	}
	b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverExchanges, From: p.from, Until: p.until, Sampled: looked.meanGap(), Lost: p.lost, Origin: b.Origin(1)})
	p.emitSplitAnswers()
	if p.lost > 0 {
		b.Warnf(1, "%s of requests and calls were not recorded, as there were too many at once", units.Plural(int(p.lost), "line"))
	}
	if unlinked > 0 {
		b.Warnf(1, "for which requests %s of names were made is not known: other threads made them, at no moment that shows it", units.Plural(unlinked, "lookup"))
	}
	if p.of > 1 {
		b.Warnf(1, "of %d connections one was recorded, as there were too many transfers: rates of requests are that of this part", p.of)
	}
	if upgraded > 0 {
		b.Warnf(1, "not counted as requests: %s on connections that were upgraded from HTTP/1", units.Plural(upgraded, "message"))
	}
	if p.multiplexed > 0 {
		b.Warnf(1, "not counted as requests: %s of protocols in which several are under way on one connection", units.Plural(p.multiplexed, "exchange"))
	}
	if p.untold > 0 {
		b.Warnf(1, "not counted: %s over HTTP/2 that could not be distinguished; %s had HTTP/2", units.Plural(int(p.untold), "request"), units.Plural(int(p.spoke), "connection"))
	}
	if p.nameless > 0 {
		b.Warnf(1, "%s over HTTP/2 without a route: the client sent its name before the recording began, and only a number for it since", units.Plural(p.nameless, "request"))
	}
	if p.sealed > 0 {
		b.Warnf(1, "%s over TLS, which cannot be read: their routes are not known, and where several are under way on one connection (HTTP/2) they count as one", units.Plural(p.sealed, "request"))
	}
	if p.dropped > 0 {
		b.Warnf(1, "more than %d requests and calls: the last %d are left out", mostRows, p.dropped)
	}
}

// emitCall emits a call that ended. It has no answer if its connection was closed. A message that only ends the connection is no call.
func (p *parser) emitCall(c *exchange, request evidence.RequestID) {
	until := max(c.first, c.last)
	if until == 0 || c.behind || c.isClosing() {
		return
	}
	extra := p.extra[:0]
	if !c.multiplexed { // else the connection carries other calls, too
		extra = append(extra, evidence.Extra{Key: evidence.Connection, Value: float64(c.port)})
	}
	extra = append(extra, evidence.Extra{Key: evidence.SentBytes, Value: float64(c.out)})
	if c.sends > 1 && !c.multiplexed && !c.lookup {
		extra = append(extra, evidence.Extra{Key: evidence.SentParts, Value: float64(c.sends)})
	}
	if c.operation != 0 {
		extra = append(extra, evidence.Extra{Key: evidence.Operation, Value: float64(c.operation)})
	}
	if c.transaction != transactionUnknown {
		open := 0.
		if c.transaction == transactionOpen {
			open = 1
		}
		extra = append(extra, evidence.Extra{Key: evidence.Transaction, Value: open})
	}
	if c.status > 0 {
		extra = append(extra, evidence.Extra{Key: evidence.CallStatus, Value: float64(c.status)})
	}
	if c.failed {
		how := evidence.FailedUnanswered
		if c.first > 0 && c.status == 0 {
			how = evidence.FailedByAnswer
		}
		extra = append(extra, evidence.Extra{Key: evidence.CallFailed, Value: how})
	}
	if c.lookup && c.sends > 1 {
		extra = append(extra, evidence.Extra{Key: evidence.SentAgain, Value: float64(c.sends - 1)})
	}
	if c.unknownName {
		extra = append(extra, evidence.Extra{Key: evidence.UnknownName, Value: 1})
	}
	if c.ready > 0 {
		extra = append(extra, evidence.Extra{Key: evidence.UnreadTime, Value: float64(c.ready)})
	}
	p.extra = extra
	lane := evidence.LaneID(0)
	if c.goroutines[0] == 0 { // else its lane is not a thread
		lane = evidence.LaneID(c.thread)
	}
	p.b.Interval(evidence.Interval{Subject: p.subject, Lane: lane, Kind: evidence.Call, Start: c.begun, End: until, Request: request, Stack: c.stack, Cause: c.what, Origin: p.b.Origin(c.line), Extra: extra})
}

// appendStates appends the states of a request to path: the wait until it was read, and its calls,
// of which some may run side by side. If a thread is an event loop, it also appends what the thread
// did before it read the data that had arrived. Where looks met the request's goroutine, they say what it waited for.
func appendStates(path evidence.Path, x *exchange, number int32, end int64, calls []exchange, unread, turn evidence.NameID, loops *loops, looked *goroutineLooks) evidence.Path {
	at := x.came
	until := func(to int64, s evidence.Segment) {
		if to = min(to, end); to > at {
			s.Dur = to - at
			path = path.Append(s)
			at = to
		}
	}
	looped := func(thread, to int64, s evidence.Segment) {
		if to = min(to, end); loops.isLoop(thread) && to-at >= shortWait {
			loops.eachWait(thread, at, to, number, until)
		}
		until(to, s)
	}
	var serves []*exchange // the request, and what the process calls itself for it, innermost last
	inferred := func(to int64, s evidence.Segment) {
		if to = min(to, end); to > at {
			looked.fillWithLooks(serves[len(serves)-1], at, to, s, until)
		}
	}
	idle := func(to int64) { // a wait for its turn, or nothing that is known
		x := serves[len(serves)-1]
		waits := evidence.Segment{Kind: evidence.SyncWait, Cause: turn}
		if x.worker != 0 {
			waits = evidence.Segment{Kind: evidence.ThreadWait, Cause: x.worker}
		}
		if x.timer != 0 {
			waits = evidence.Segment{Kind: evidence.SleepWait, Cause: x.timer}
		}
		inferred(min(to, x.turn), waits)
		unknown := evidence.Segment{Kind: evidence.Unobserved}
		if loops.isLoop(x.thread) {
			unknown.Holder = evidence.LaneID(x.thread)
		}
		inferred(to, unknown)
	}
	free := func(to int64) {
		for _, busy := range loops.busyWithin(serves[len(serves)-1].thread, at, to) {
			idle(busy[0])
			if at < busy[1] {
				loops.eachWait(serves[len(serves)-1].thread, at, min(to, busy[1]), number, until)
			}
		}
		idle(to)
	}
	inside := func(to int64) { // between reading and answering, without a call
		to = min(to, end)
		for len(serves) > 1 && serves[len(serves)-1].last <= to {
			free(serves[len(serves)-1].last)
			serves = serves[:len(serves)-1]
		}
		free(to)
	}
	serves = append(serves, x)
	looped(x.thread, x.begun, evidence.Segment{Kind: evidence.BeforeService, Cause: unread})
	for i := range calls {
		c := &calls[i]
		done := max(c.first, c.last)
		if done == 0 {
			done = end
		}
		inside(c.begun - c.pooled)
		if c.serves != nil {
			until(c.serves.begun, evidence.Segment{Kind: evidence.BeforeService, Cause: c.what})
			serves = append(serves, c.serves)
			continue
		}
		call := evidence.Segment{Kind: evidence.NetWait, Cause: c.what, Stack: c.stack}
		if c.awaited { // another request's call
			call.HolderKind, call.HolderCause, call.HolderStack, call.Stack = evidence.NetWait, c.what, c.stack, 0
		}
		pool := evidence.Segment{Kind: evidence.PoolWait, Cause: c.pool}
		if !c.paced && !c.idle { // a limiter is not held by a request, and these hold it without a call
			pool.HolderKind, pool.HolderCause, pool.HolderStack = evidence.NetWait, c.what, c.stack
			if c.held != 0 && c.held != c.what {
				pool.HolderCause, pool.HolderStack = c.held, 0
			}
		}
		inferred(c.begun, pool)
		if c.first > 0 && c.ready > 0 {
			until(c.first-c.ready, call)
			looped(c.other, c.first, evidence.Segment{Kind: evidence.Unobserved}) // its answer had arrived; what kept the process from reading it is unknown
		}
		if c.awaited {
			inferred(done, call)
		}
		until(done, call)
	}
	inside(end)
	return path
}

// groupRoutes gives one route to requests whose paths differ only in the name of a person or a thing.
func (p *parser) groupRoutes() {
	count := make(map[string]int)
	for i := range p.requests {
		if x := &p.requests[i]; x.what != 0 {
			count[p.b.Text(x.what)]++
		}
	}
	to := make(map[evidence.NameID]evidence.NameID)
	for from, route := range urlpath.Group(count) {
		to[p.b.Name(from)] = p.b.Name(route)
	}
	for i := range p.requests {
		if id, ok := to[p.requests[i].what]; ok {
			p.requests[i].what = id
		}
	}
}
