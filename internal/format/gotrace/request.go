package gotrace

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// request is one being served.
type request struct {
	serial  int64 // tells it from others that were served before
	start   int64
	upto    int64 // the path covers start to upto
	path    evidence.Path
	end     int64 // when the response was last written to, 0 not yet
	endLen  int   // how much of the path lies before end
	writes  int   // to the response
	before  int   // how much of the path lies before the first of them was done; -1: its order was given up
	cut     bool  // began before the trace
	fresh   bool  // the connection's first: it may not have sent anything yet
	unsure  bool  // its goroutine has not shown a stack yet
	handled bool  // the handler began
	over    bool  // the server finished it
	pprof   bool  // a function it went through is called after net/http/pprof

	seen     *stack   // the last of those below
	handling [6]int32 // stacks it was handled on
	stacks   int
}

// maxPath bounds the states kept of one request, 64 KiB packed. A request with
// more is kept merged by kind.
const maxPath = 64 << 10

// addState appends a state that began at `at`.
func (r *request) addState(s *evidence.Segment, at int64) {
	if at != r.upto {
		if at < r.upto {
			if at+s.Dur <= r.upto {
				return
			}
			part := *s
			clipSegment(&part, at+s.Dur-r.upto)
			s, at = &part, r.upto
		} else {
			r.path = r.path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: at - r.upto})
		}
	}
	r.path = r.path.Add(s)
	r.upto = at + s.Dur
	if len(r.path) > maxPath {
		r.mergeStates()
	}
}

// mergeStates gives up the order of the states for their sums; those up to the last write of the
// response stay apart from those after it.
func (r *request) mergeStates() {
	head, tail := mergeByKind(r.path[:r.endLen]), mergeByKind(r.path[r.endLen:])
	r.endLen, r.before = len(head), -1
	r.path = append(head, tail...)
}

func mergeByKind(p evidence.Path) (out evidence.Path) {
	type key struct {
		kind, holder            evidence.Kind
		cause, holderCause, via evidence.NameID
		held                    bool
	}
	sums := make(map[key]*evidence.Segment)
	var order []key
	for s := range p.All {
		k := key{s.Kind, s.HolderKind, s.Cause, s.HolderCause, s.Via, s.Held != (evidence.Shares{})}
		m := sums[k]
		if m == nil {
			first := s
			first.Dur, first.Lane, first.Held = 0, 0, evidence.Shares{}
			m = &first
			sums[k] = m
			order = append(order, k)
		}
		m.Dur += s.Dur
		for i, v := range s.Held {
			m.Held[i] += v
		}
	}
	for _, k := range order {
		out = out.Append(*sums[k])
	}
	return out
}

// connState is what is known of a goroutine that serves.
type connState struct {
	server  *serverKind
	custom  *customServer // not nil: server is one that was recognised by what it does
	learnt  bool          // it has read before
	idle    bool          // waits for a request
	writing bool          // in a system call that writes the response
}

// server counts how requests were recovered, for the cross-check.
type server struct {
	serial      int64 // requests begun
	recovered   int64 // requests emitted complete
	unfinished  int64
	background  int64 // background reads begun: one per request without a body
	streams     int64 // connections that were hijacked
	probes      int64 // requests for profiles
	beforeTrace int64
	kinds       map[string]int64
}

func (w *world) newRequest(t int64) *request {
	var r *request
	if n := len(w.paths); n > 0 {
		r, w.paths = w.paths[n-1], w.paths[:n-1]
	} else {
		r = &request{path: make(evidence.Path, 0, 256)}
	}
	w.serve.serial++
	path := r.path[:0]
	*r = request{}
	r.serial, r.start, r.upto, r.path = w.serve.serial, t, t, path
	return r
}

func (w *world) beginRequest(g *goroutine, t int64) *request {
	r := w.newRequest(t)
	g.request = r
	g.owner.helpers, g.owner.newest = 0, nil
	g.conn.idle = false
	w.setRole(g, roleRequests, t)
	return r
}

// noteServing is called when a goroutine first shows a serving stack.
func (w *world) noteServing(g *goroutine, s *stack, t int64) {
	g.conn.server = s.server
	w.revealRole(g, roleRequests, t)
	if r := g.request; r != nil {
		r.unsure = false
		return
	}
	if g.born == 0 && (s.stage == stageHandler || s.stage == stageWrite) && g.state != wire.GoNotExist {
		// It was at work when the trace began.
		r := w.beginRequest(g, w.first)
		r.cut, r.handled = true, true
	}
}

// noteCreated follows `go` statements: those of servers begin a request or its handler, those of
// requests work for them.
func (w *world) noteCreated(g, by *goroutine, ev *wire.Event, t int64) {
	if k := g.conn.server; k != nil {
		r := w.beginRequest(g, t)
		if k.perRequest {
			r.handled = true
		} else {
			r.fresh = true
		}
		return
	}
	if by == nil {
		return
	}
	if by.io.has(ioAccept) {
		if w.noteAccepted(g); g.conn.server != nil {
			w.beginRequest(g, t).fresh = true
			return
		}
	}
	if s := w.stacks.stackAt(ev.By); s != nil && by.request != nil {
		w.noteStack(by, s, t)
	}
	if g.where != nil && g.where.root == "net/http.(*connReader).backgroundRead" {
		g.role = roleRequests
		w.noteHelper(g, by)
		if by.conn.server != nil {
			w.serve.background++
			w.handlerBegins(by, t)
		}
		return
	}
	if by.request != nil {
		g.role = roleRequests
		g.owner.started = true
		by.owner.helpers++
		by.owner.newest = g
		w.noteHelper(g, by)
	}
}

// handlerBegins notes that a request's handler has begun. The sign is the background read that net/http starts once the request's body has
// been read to its end, which is mostly before the handler.
func (w *world) handlerBegins(g *goroutine, t int64) {
	if g.request != nil && g.request.over {
		w.completeRequest(g, t)
	}
	if g.request == nil {
		w.chargePlain(g, g.runningKind(), 0, 0, t)
		w.beginRequest(g, t) // pipelined: it was in the buffer already
	}
	g.request.handled = true
	g.request.fresh = false
}

// noteBlocked looks at where a goroutine blocks.
func (w *world) noteBlocked(g *goroutine, t int64) {
	if r := g.request; r != nil && r.unsure && g.conn.server == nil {
		w.dropRequest(g) // its first stack shows that it serves no requests
	}
	if g.conn.server == nil || g.where == nil {
		return
	}
	if c := g.conn.custom; c != nil {
		c.learnIdleRead(g)
	}
	switch g.serverStage() {
	case stageIdle:
		w.completeRequest(g, t)
		g.conn.idle = true
	case stageHead:
		if r := g.request; r == nil || r.fresh {
			w.dropRequest(g)
			g.conn.idle = true
		}
	case stageAfter:
		if g.request != nil {
			g.request.over = true
		}
	case stageStream:
		if g.request != nil {
			w.serve.streams++
			w.dropRequest(g)
		}
	}
}

// noteAwake begins a request where the network made an idle connection's goroutine ready.
func (w *world) noteAwake(g *goroutine, t int64) {
	switch {
	case g.conn.idle:
		w.beginRequest(g, t)
	case g.conn.server == nil && g.where == nil && g.born == 0 && g.request == nil && g.role == roleUnknown:
		// Asleep since before the trace: perhaps a connection's goroutine.
		g.request = w.newRequest(t)
		g.request.unsure = true
	}
}

func (w *world) syscallBegins(g *goroutine, t int64) {
	if g.conn.server == nil || g.where == nil {
		return
	}
	if c := g.conn.custom; c != nil {
		c.learnIdleRead(g)
	}
	switch g.serverStage() {
	case stageIdle:
		if r := g.request; r == nil || r.end != 0 || r.over {
			// It reads on at once: the next request may be there already. When it
			// came is not known; from here on it is being worked on.
			w.completeRequest(g, t)
			w.beginRequest(g, t)
		}
	case stageHead:
		if g.request == nil {
			w.beginRequest(g, t)
		}
	case stageWrite:
		g.conn.writing = g.request != nil
	}
}

func (w *world) syscallEnds(g *goroutine, t int64) {
	if !g.conn.writing {
		return
	}
	g.conn.writing = false
	if r := g.request; r != nil {
		r.noteWrite(t)
	}
}

// noteWrite notes that a part of the response is written.
func (r *request) noteWrite(t int64) {
	r.end, r.endLen = t, len(r.path)
	r.handled, r.fresh = true, false
	if r.writes++; r.writes == 1 {
		r.before = len(r.path)
	}
}

// completeRequest emits the request of a goroutine that goes on to the next.
func (w *world) completeRequest(g *goroutine, t int64) {
	r := g.request
	defer w.dropRequest(g)
	if r == nil || !r.handled || r.unsure {
		return // a connection that was closed, or a probe of the kernel's
	}
	if r.end == 0 {
		r.end, r.endLen = t, len(r.path)
	}
	if w.isStream(r) {
		return
	}
	outcome := evidence.OK
	if r.cut {
		outcome = evidence.Unfinished
	}
	w.emitRequest(g, r, r.end, r.path[:r.endLen], outcome)
}

// dropRequest takes its request from a goroutine, to be used again unless a task has it.
func (w *world) dropRequest(g *goroutine) {
	if r := g.request; r != nil && r.serial != 0 {
		w.paths = append(w.paths, r)
	}
	g.request = nil
}

// A response that is written at least streamWrites times, and in between waits for news for at least streamWaits of the time, is a stream,
// such as events or the tail of a log. It lasts as long as its client listens, so it is no request that could be slow.
const (
	streamWrites = 2
	streamWaits  = .5
)

func (w *world) isStream(r *request) bool {
	if r.writes < streamWrites || r.before < 0 || r.before > r.endLen {
		return false
	}
	var all, waits int64
	for s := range r.path[r.before:r.endLen].All {
		all += s.Dur
		if at := w.stacks.stackByID(s.Stack); at != nil && at.flushes {
			continue // it waits for the client to take what it has written
		}
		if s.Lane == 0 && (s.Kind == evidence.SyncWait || s.Kind == evidence.SleepWait || s.Kind == evidence.PoolWait) {
			waits += s.Dur
		}
	}
	return all > 0 && float64(waits) >= streamWaits*float64(all)
}

func (w *world) emitRequest(g *goroutine, r *request, end int64, path evidence.Path, outcome evidence.Outcome) {
	if w.isTraceRequest(g, r) {
		w.serve.probes++
		return
	}
	switch {
	case outcome == evidence.OK:
		w.serve.recovered++
	case r.end != 0:
		w.serve.beforeTrace++
	default:
		w.serve.unfinished++
	}
	if g.conn.server != nil {
		if w.serve.kinds == nil {
			w.serve.kinds = make(map[string]int64)
		}
		w.serve.kinds[g.conn.server.name]++
	}
	w.out.addRequest(&evidence.Request{Subject: w.subject, Lane: g.id, Start: r.start, End: end, Outcome: outcome, Path: path,
		Handling: w.b.Handling(r.handling[:r.stacks]), Origin: w.b.Origin(w.events)})
}

func (w *world) noteEnded(g *goroutine, t int64) {
	switch k := g.conn.server; {
	case k == nil && g.task:
		g.request = nil // the task goes on without it
	case k != nil && k.perRequest && g.request != nil:
		g.request.end = 0 // it lasts as long as its goroutine
		fallthrough
	default:
		w.completeRequest(g, t)
	}
	if h := &g.helps; g.owner.started && g.servedLane() != g.id && h.whom.owner.helpers > 0 {
		if h.whom.owner.helpers--; h.whom.owner.newest == g {
			h.whom.owner.newest = nil
		}
	}
	if g.noted && g.memory != nil {
		w.memories.keepEnded(g.id, g.memory)
	} else {
		w.memories.releaseMemory(g.memory)
	}
	g.memory = nil
}

// leftOver emits what was still being served, or waiting to be, when the trace
// ended. Their latency is a lower bound.
func (w *world) leftOver() {
	var all []*goroutine
	for g := range w.gs.All() {
		if g.request != nil && !g.request.unsure && g.conn.server != nil {
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b *goroutine) int { return cmp.Compare(a.id, b.id) })
	for _, g := range all {
		r := g.request
		if r.end != 0 {
			if !(g.state == wire.GoWaiting && g.where != nil && g.where.stage == stageHandler) { // else it streams, or goes on writing
				w.completeRequest(g, w.now)
			}
			continue
		}
		if !r.handled && (r.fresh || g.state != wire.GoRunnable) {
			continue
		}
		w.chargeEnded(g, g.state, nil, 0, w.now)
		g.since = w.now
		if g.request == nil {
			continue
		}
		w.emitRequest(g, r, w.now, r.path, evidence.Unfinished)
	}
}
