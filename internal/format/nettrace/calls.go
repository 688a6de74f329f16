package nettrace

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// calls are outgoing HTTP requests in progress: of System.Net.Http's event source
// (.NET 5+), whose activities are within their request's, or of its DiagnosticSource.
type calls struct {
	byActivity map[eventpipe.GUID]*call
	byName     map[string]*call
	target     []byte // reused, as path
	path       []byte
	any        bool
	sites      map[evidence.NameID]map[eventpipe.StackID]*site // by target: where it was called
	routes     map[evidence.NameID]map[evidence.NameID]int64   // by target: time (ns) of its calls by route
}

// site is a stack on which calls began.
type site struct {
	count int
	at    int64 // the last of them
}

// maxSites bounds the stacks that are kept of a target.
const maxSites = 100

func (c *calls) init() {
	c.byActivity = make(map[eventpipe.GUID]*call)
	c.byName = make(map[string]*call)
	c.sites = make(map[evidence.NameID]map[eventpipe.StackID]*site)
	c.routes = make(map[evidence.NameID]map[evidence.NameID]int64)
}

// clientStart reads RequestStart(scheme, host, port, path …) of System.Net.Http.
func (q *process) clientStart(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	c.SkipUTF16()
	t := c.AppendUTF16(q.calls.target[:0])
	t = append(t, ':')
	t = strconv.AppendInt(t, int64(c.I32()), 10)
	q.calls.target = t
	q.calls.path = c.AppendUTF16(q.calls.path[:0])
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	q.callStart(e, nil, "http ", t, nil).noteRoute(q, q.calls.path)
}

// lookupStart reads ResolutionStart(host) of System.Net.NameResolution.
func (q *process) lookupStart(e *eventpipe.Event) { q.stepStart(e, "dns ", 0) }

// connectStart reads ConnectStart(address) of System.Net.Sockets. The address is a SocketAddress
// in the form of its ToString: "InterNetwork:16:{35,40,127,0,0,1,0,0,0,0,0,0,0,0}".
func (q *process) connectStart(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	q.calls.target = c.AppendUTF16(q.calls.target[:0])
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	q.callStart(e, nil, "connect ", socketAddress(q.calls.target), nil)
}

// socketAddress returns the address and port in a SocketAddress of IPv4, and other addresses unchanged.
func socketAddress(text []byte) []byte {
	family, rest, ok := bytes.Cut(text, []byte(":{"))
	if !ok {
		_, rest, ok = bytes.Cut(text, []byte("{"))
	}
	if !ok || !bytes.HasPrefix(family, []byte("InterNetwork:")) {
		return text
	}
	var n [6]int
	for i, part := range bytes.SplitN(rest, []byte(","), 7) {
		if i == len(n) {
			break
		}
		v, err := strconv.Atoi(string(part))
		if err != nil {
			return text
		}
		n[i] = v
	}
	return fmt.Appendf(nil, "%d.%d.%d.%d:%d", n[2], n[3], n[4], n[5], n[0]<<8+n[1])
}

// handshakeStart reads HandshakeStart(isServer, targetHost) of System.Net.Security.
func (q *process) handshakeStart(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	if c.U32() == 0 {
		q.stepStart(e, "tls ", 4)
	}
}

// stepStart begins a step of a call: its target is a text at this offset in the event.
func (q *process) stepStart(e *eventpipe.Event, what string, skip int) {
	c := q.p.r.Cursor(e.Payload())
	c.Skip(skip)
	q.calls.target = c.AppendUTF16(q.calls.target[:0])
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	q.callStart(e, nil, what, q.calls.target, nil)
}

// leftQueue reads RequestLeftQueue(milliseconds …) of System.Net.Http: how long a request waited
// for a connection of its client's pool (.NET 5+).
func (q *process) leftQueue(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	waited := c.F64() * 1e6
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	x := q.calls.byActivity[e.Activity]
	if x == nil {
		visitAncestors(e.Activity, q.pid, func(g eventpipe.GUID) bool {
			x = q.calls.byActivity[g]
			return x != nil
		})
	}
	if x == nil || x.of == nil || x.of.gone || !(waited >= leastQueued && waited <= float64(e.Time-x.start)) || len(x.of.calls) == maxCalls {
		return
	}
	x.of.calls = append(x.of.calls, call{start: e.Time - int64(waited), end: e.Time, lane: e.Thread, n: e.N, of: x.of, pool: true,
		target: q.b.Name(evidence.ConnectionsFor + x.text)})
}

// leastQueued (ns) is the shortest wait for a connection that is more than its handing over.
const leastQueued = 1e6

// clientStop reads RequestStop and RequestFailed; for a failed one both come, the
// failure first.
func (q *process) clientStop(e *eventpipe.Event) { q.callStop(e, nil) }

// targetHost returns the host that an outgoing request goes to, with its port.
func (a *arguments) targetHost() []byte {
	host := firstNonEmpty(a.findValue("Host"), a.findTag("server.address"))
	if port := firstNonEmpty(a.findValue("Port"), a.findTag("server.port")); len(port) > 0 {
		return append(append(append([]byte(nil), host...), ':'), port...)
	}
	return host
}

// noteRoute records which route of its target a call asks for; c may be nil.
func (c *call) noteRoute(q *process, path []byte) {
	if c != nil && len(path) > 0 {
		c.route = q.requests.routeOf(nil, path)
	}
}

// callStart begins an outgoing request; it has a name or an activity id. It returns nil if
// there are too many.
func (q *process) callStart(e *eventpipe.Event, name []byte, what string, target, parent []byte) *call {
	c := &q.calls
	if len(c.byActivity)+len(c.byName) >= maxOpen {
		return nil
	}
	c.any = true
	text := cleanText(what + string(target))
	x := &call{start: e.Time, lane: e.Thread, text: text, target: q.b.Name(text), n: e.N, of: q.findCaller(e, parent)}
	if x.of != nil {
		x.of.latest = x
		c.countBegun(x.target, e)
	}
	switch {
	case len(name) > 0:
		c.byName[string(name)] = x
	case e.Activity != (eventpipe.GUID{}):
		c.byActivity[e.Activity] = x
	}
	return x
}

// countEnded adds the time of a call to its route.
func (c *calls) countEnded(x *call) {
	if x.route == 0 {
		return
	}
	at := c.routes[x.target]
	if at == nil {
		at = make(map[evidence.NameID]int64)
		c.routes[x.target] = at
	}
	at[x.route] += max(0, x.end-x.start)
}

// emitRoutes reports for each target the route with most of its calls' time, if there is
// one.
func (c *calls) emitRoutes(q *process) {
	for _, target := range slices.Sorted(maps.Keys(c.routes)) {
		var most evidence.NameID
		var sum, top int64
		for route, ns := range c.routes[target] {
			sum += ns
			if ns > top || ns == top && route < most {
				most, top = route, ns
			}
		}
		if 2*top > sum {
			q.b.Fact(evidence.Fact{Subject: q.id, Key: evidence.FactCalledRoute, Value: q.b.Text(target) + evidence.Link + q.b.Text(most), Number: float64(top) / float64(sum), Origin: q.b.Origin(0)})
		}
	}
}

// countBegun counts where calls of a target begin.
func (c *calls) countBegun(target evidence.NameID, e *eventpipe.Event) {
	at := c.sites[target]
	if at == nil {
		at = make(map[eventpipe.StackID]*site)
		c.sites[target] = at
	}
	if at[e.Stack] == nil {
		if len(at) == maxSites {
			return
		}
		at[e.Stack] = &site{}
	}
	at[e.Stack].count++
	at[e.Stack].at = e.Time
}

// emitSites reports for each target the method of the service where most of its calls begin: the events
// name the target, and their stacks the place.
func (c *calls) emitSites(q *process) {
	for _, target := range slices.Sorted(maps.Keys(c.sites)) {
		count := make(map[string]int)
		for stack, x := range c.sites[target] {
			for _, at := range q.p.r.Addresses(stack) {
				if name := q.functionAt(at, x.at); name != "" && !hasAny(name, libraries) && !strings.HasPrefix(name, "Interop") {
					id, _ := q.frameAt(at, x.at)
					count[q.b.Text(id)] += x.count
					break
				}
			}
		}
		if len(count) == 0 {
			continue
		}
		most := slices.MinFunc(slices.Collect(maps.Keys(count)), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
		q.b.Fact(evidence.Fact{Subject: q.id, Key: evidence.FactCalledFrom, Value: q.b.Text(target) + evidence.Link + most, Number: float64(count[most]), Origin: q.b.Origin(0)})
	}
}

// findCaller finds the request that an event happens for; nil if there is none.
func (q *process) findCaller(e *eventpipe.Event, parent []byte) *request {
	r := &q.requests
	if x := r.byName[string(parent)]; x != nil {
		return x
	}
	if _, x := q.findRequest(e.Related); x != nil {
		return x
	}
	if _, x := q.findRequest(e.Activity); x != nil {
		return x
	}
	var found *request
	visitAncestors(e.Activity, q.pid, func(g eventpipe.GUID) bool {
		_, found = q.findRequest(g)
		return found != nil
	})
	return found
}

// callStop ends a call of this session or of one before it.
func (q *process) callStop(e *eventpipe.Event, name []byte) {
	var x *call
	for in := q; in != nil && x == nil; in = in.prior {
		c := &in.calls
		if x = c.byName[string(name)]; x != nil {
			delete(c.byName, string(name))
		} else if x = c.byActivity[e.Activity]; x != nil {
			delete(c.byActivity, e.Activity)
		}
	}
	if x == nil {
		return
	}
	x.end = e.Time
	q.calls.countEnded(x)
	if x.of != nil && !x.of.gone {
		if len(x.of.calls) < maxCalls {
			x.of.calls = append(x.of.calls, *x)
		}
		return
	}
	q.emitCall(*x)
}

// emit ends the calls that are still in progress: their known time is a lower bound.
func (c *calls) emit(q *process) {
	c.emitSites(q)
	open := slices.Concat(slices.Collect(maps.Values(c.byActivity)), slices.Collect(maps.Values(c.byName)))
	slices.SortFunc(open, func(a, b *call) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.n, b.n)) })
	for _, x := range open {
		x.end = q.watchedUntil()
		c.countEnded(x)
		if x.of != nil && !x.of.gone && len(x.of.calls) < maxCalls {
			x.of.calls = append(x.of.calls, *x)
		}
	}
	c.emitRoutes(q)
}

// emitCall emits an outgoing request. It has no lane, as threads do not wait for it unless they
// block.
func (q *process) emitCall(c call) {
	row := evidence.Interval{Subject: q.id, Kind: evidence.NetWait, Start: c.start, End: max(c.start, c.end), Cause: c.target, Origin: q.b.Origin(c.n)}
	if c.pool {
		row.Kind = evidence.PoolWait
	}
	if c.of != nil {
		row.Request = c.of.id
	}
	q.b.Interval(row)
}
