package spans

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// wait is a part of a request that is not local: a call, or a wait for a connection of a pool.
type wait struct {
	from, to int64
	cause    evidence.NameID
	pool     bool
}

// trace is the spans of one trace as a tree.
type trace struct {
	spans    []span
	parent   []int32 // by span, −1 none
	children []int32 // the first of each, −1 none
	next     []int32 // the next child of the same parent
	byID     map[uint64][2]int32
}

// half of those with one id: Zipkin's client and server share it.
const (
	caller = iota
	callee
)

// linkParents finds the parent of each span of a trace; spans of the same id, service and kind are
// one span, sent twice. It returns how many were.
func (t *trace) linkParents(spans []span) (twice int) {
	clear(t.byID)
	kept := spans[:0]
	for _, s := range spans {
		h := caller
		if s.kind.isServing() {
			h = callee
		}
		x, ok := t.byID[s.id]
		if !ok {
			x = [2]int32{-1, -1}
		}
		if x[h] >= 0 {
			twice++
			continue
		}
		x[h] = int32(len(kept))
		t.byID[s.id] = x
		kept = append(kept, s)
	}
	t.spans = kept
	n := len(kept)
	t.parent, t.children, t.next = fillUnset(t.parent, n), fillUnset(t.children, n), fillUnset(t.next, n)
	for i := n - 1; i >= 0; i-- { // so that children are listed in order
		p := t.parentOf(int32(i))
		t.parent[i] = p
		if p >= 0 {
			t.next[i], t.children[p] = t.children[p], int32(i)
		}
	}
	return twice
}

func fillUnset(s []int32, n int) []int32 {
	s = slices.Grow(s[:0], n)[:n]
	for i := range s {
		s[i] = -1
	}
	return s
}

func (t *trace) parentOf(i int32) int32 {
	s := &t.spans[i]
	if own := t.byID[s.id]; s.kind.isServing() && own[caller] >= 0 {
		return own[caller]
	}
	x, ok := t.byID[s.parent]
	switch {
	case s.parent == 0 || !ok || s.parent == s.id:
		return -1
	case x[caller] < 0 || x[callee] >= 0 && t.spans[x[callee]].service == s.service:
		return x[callee]
	}
	return x[caller]
}

// isRequest says whether a span is a request of its service: no other span of the service is
// around it, except a call to itself.
func (t *trace) isRequest(i int32, alone bool) bool {
	s := &t.spans[i]
	p := t.parent[i]
	if s.kind.isServing() {
		return p < 0 || t.spans[p].service != s.service || t.spans[p].kind.isCall()
	}
	return alone && p < 0 && s.parent == 0 && !s.kind.isCall()
}

// emitRequests makes requests of the spans.
func (p *parser) emitRequests() {
	slices.SortStableFunc(p.spans, func(a, b span) int {
		if a.trace != b.trace { // as nearly always
			return cmp.Compare(a.trace, b.trace)
		}
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.id, b.id), cmp.Compare(a.kind, b.kind), cmp.Compare(a.line, b.line))
	})
	serves := make([]bool, len(p.services)+1) // whether the service has spans of requests
	e := emitter{p: p, serves: serves, subjects: make(map[int32]evidence.SubjectID), calls: make(map[evidence.NameID]*dependency), routes: make(map[evidence.NameID]*route)}
	same := p.sameServices()
	for i := range p.spans {
		s := &p.spans[i]
		if s.service >= 0 {
			s.service = same[s.service]
		}
		if s.kind.isServing() {
			serves[s.service+1] = true
		}
	}
	t := trace{byID: make(map[uint64][2]int32)}
	for i := 0; i < len(p.spans); {
		n := i + 1
		for n < len(p.spans) && p.spans[n].trace == p.spans[i].trace {
			n++
		}
		e.twice += t.linkParents(p.spans[i:n])
		e.emitTrace(&t)
		i = n
	}
	e.finish()
}

type emitter struct {
	p        *parser
	serves   []bool
	subjects map[int32]evidence.SubjectID // by service
	path     evidence.Path
	waits    []wait
	stack    []int32
	within   []bool // of the trace's spans: in some request
	found    []call

	calls          map[evidence.NameID]*dependency
	routes         map[evidence.NameID]*route
	twice, nobodys int
}

// call is a span of one, and how its callee saw it.
type call struct {
	span     int32
	cause    evidence.NameID
	serverNs int64 // −1 not told
}

// sameServices gives for each service the first of its name: instances of one service are
// taken together.
func (p *parser) sameServices() []int32 {
	first := make(map[string]int32)
	same := make([]int32, len(p.services))
	for n, s := range p.services {
		if _, ok := first[s.name]; !ok {
			first[s.name] = int32(n)
		}
		same[n] = first[s.name]
	}
	return same
}

func (e *emitter) subjectOf(n int32) evidence.SubjectID {
	if id, ok := e.subjects[n]; ok {
		return id
	}
	x := evidence.Subject{Kind: evidence.Process}
	if n >= 0 {
		x.Service, x.Runtime = e.p.services[n].name, e.p.services[n].runtime
	}
	id := e.p.b.Subject(x)
	e.subjects[n] = id
	return id
}

func (e *emitter) emitTrace(t *trace) {
	e.within = append(e.within[:0], make([]bool, len(t.spans))...)
	for i := range t.spans {
		if t.isRequest(int32(i), !e.serves[t.spans[i].service+1]) {
			e.emitRequest(t, int32(i))
		}
	}
	for i := range t.spans {
		if s := &t.spans[i]; s.kind.isCall() && !e.within[i] {
			e.nobodys++
		}
	}
}

// emitRequest emits one request with its calls.
func (e *emitter) emitRequest(t *trace, root int32) {
	s := &t.spans[root]
	e.collectWaits(t, root)
	subject := e.subjectOf(s.service)
	b := e.p.b
	id := b.Request(evidence.Request{Subject: subject, Route: s.name, Start: s.start, End: s.end, Outcome: s.outcome,
		Path: e.buildPath(s.start, s.end), Key: evidence.RequestKey(s.trace), Origin: b.Origin(s.line)})
	r := e.ensureRoute(s)
	r.took = append(r.took, s.end-s.start)
	for _, c := range e.found {
		of := &t.spans[c.span]
		v := evidence.Interval{Subject: subject, Kind: evidence.Call, Start: of.start, End: of.end, Request: id, Cause: c.cause, Origin: b.Origin(of.line)}
		if of.operation != 0 {
			v.Extra = append(v.Extra, evidence.Extra{Key: evidence.Operation, Value: float64(of.operation)})
		}
		if c.serverNs >= 0 {
			v.Extra = append(v.Extra, evidence.Extra{Key: evidence.ServerTime, Value: float64(c.serverNs)})
		}
		b.Interval(v)
		e.ensureDependency(c.cause).addCall(of, c.serverNs)
	}
	r.calls += len(e.found)
	for x := range e.path.All {
		switch x.Kind {
		case evidence.NetWait:
			r.called += x.Dur
		case evidence.PoolWait:
			r.pooled += x.Dur
		}
	}
}

// collectWaits finds what a request waited for: the outermost calls beneath it, in its own
// service, and its waits for a pool.
func (e *emitter) collectWaits(t *trace, root int32) {
	e.waits, e.found = e.waits[:0], e.found[:0]
	own := t.spans[root].service
	e.stack = append(e.stack[:0], root)
	e.within[root] = true
	for len(e.stack) > 0 {
		at := e.stack[len(e.stack)-1]
		e.stack = e.stack[:len(e.stack)-1]
		for c := t.children[at]; c >= 0; c = t.next[c] {
			s := &t.spans[c]
			if e.within[c] {
				continue
			}
			switch {
			case s.service == own && s.kind.isCall():
				e.addCall(t, c)
				e.markInside(t, c)
			case s.service != own && s.kind.isCall(): // a proxy beside the service makes the call, under its own name
				e.addCall(t, c)
				e.markInside(t, c)
			case s.service != own && s.kind.isServing(): // the caller's own span is missing
				e.addCall(t, c)
			case s.service == own:
				e.within[c] = true
				if s.pool {
					e.waits = append(e.waits, wait{s.start, s.end, s.name, true})
				}
				e.stack = append(e.stack, c)
			}
		}
	}
}

// markInside marks the calls within a call, of the same service: they are part of it.
func (e *emitter) markInside(t *trace, call int32) {
	own, base := t.spans[call].service, len(e.stack)
	e.stack = append(e.stack, call)
	for len(e.stack) > base {
		at := e.stack[len(e.stack)-1]
		e.stack = e.stack[:len(e.stack)-1]
		for c := t.children[at]; c >= 0; c = t.next[c] {
			if t.spans[c].service == own && !t.spans[c].kind.isServing() && !e.within[c] {
				e.within[c] = true
				e.stack = append(e.stack, c)
			}
		}
	}
}

func (e *emitter) addCall(t *trace, i int32) {
	s := &t.spans[i]
	x := call{span: i, cause: s.peer, serverNs: -1}
	if s.kind.isServing() {
		x.cause, x.serverNs = e.serviceName(s.service), s.end-s.start
	} else {
		e.within[i] = true
		for c := t.children[i]; c >= 0; c = t.next[c] {
			if a := &t.spans[c]; a.kind == server {
				x.serverNs = min(a.end-a.start, s.end-s.start) // of two clocks, the nearer
				if x.cause == 0 {
					x.cause = e.serviceName(a.service)
				}
			}
		}
	}
	if x.cause == 0 {
		x.cause = e.p.b.Name("(not named)")
	}
	e.found = append(e.found, x)
	if s.kind != producer || x.serverNs < 0 { // a request does not wait for the consumer of a message
		e.waits = append(e.waits, wait{s.start, s.end, x.cause, false})
	}
}

func (e *emitter) serviceName(n int32) evidence.NameID {
	if n < 0 {
		return 0
	}
	return e.p.b.Name(e.p.services[n].name)
}

// buildPath lays the waits over a request. Where several run at once, the one that ends last is
// waited for; a call counts before the wait for a pool around it.
func (e *emitter) buildPath(start, end int64) evidence.Path {
	slices.SortStableFunc(e.waits, func(a, b wait) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.cause, b.cause))
	})
	calls := mergeWaits(e.waits, false, start, end)
	pools := mergeWaits(e.waits, true, start, end)
	e.path = e.path[:0]
	at := start
	// A path that begins with a wait is read as one whose waits have no place.
	local := func(until int64) {
		for len(pools) > 0 && at < until {
			w := pools[0]
			if w.to <= at {
				pools = pools[1:]
				continue
			}
			if w.from >= until {
				break
			}
			from := max(w.from, at)
			if len(e.path) == 0 {
				from = max(from, at+1)
			}
			to := min(w.to, until)
			e.addSegment(evidence.Unobserved, from-at, 0)
			e.addSegment(evidence.PoolWait, to-from, w.cause)
			at = max(to, from)
		}
		e.addSegment(evidence.Unobserved, until-at, 0)
		at = max(at, until)
	}
	for _, c := range calls {
		from := c.from
		if len(e.path) == 0 {
			from = max(from, start+1)
		}
		if from >= c.to {
			continue
		}
		local(from)
		e.addSegment(evidence.NetWait, c.to-from, c.cause)
		at = c.to
	}
	local(end)
	return e.path
}

func (e *emitter) addSegment(k evidence.Kind, dur int64, cause evidence.NameID) {
	e.path = e.path.Append(evidence.Segment{Kind: k, Dur: dur, Cause: cause})
}

// mergeWaits returns the waits of one sort without overlap, in order, within [start, end): of
// those at once the one that ends last. The waits must come in order of their beginning.
func mergeWaits(waits []wait, pool bool, start, end int64) (out []wait) {
	for _, w := range waits {
		w.from, w.to = max(w.from, start), min(w.to, end)
		if w.pool != pool || w.to <= w.from {
			continue
		}
		if n := len(out); n > 0 && out[n-1].to > w.from {
			last := &out[n-1]
			if w.to <= last.to {
				continue
			}
			last.to = w.from
			if last.from == last.to {
				out = out[:n-1]
			}
		}
		out = append(out, w)
	}
	return out
}
