package nettrace

import (
	"strconv"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/nettrace/eventpipe"
)

// calls are outgoing HTTP requests under way: of System.Net.Http's event source
// (.NET 5+), which are within their request's activity, or of its DiagnosticSource.
type calls struct {
	byActivity map[eventpipe.GUID]*call
	byName     map[string]*call
	target     []byte // reused
}

func (c *calls) init() {
	c.byActivity = make(map[eventpipe.GUID]*call)
	c.byName = make(map[string]*call)
}

// clientStart reads RequestStart(scheme, host, port, path …) of System.Net.Http.
func (q *process) clientStart(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload)
	c.SkipUTF16()
	t := c.AppendUTF16(q.calls.target[:0])
	t = append(t, ':')
	t = strconv.AppendInt(t, int64(c.I32()), 10)
	q.calls.target = t
	if !c.OK() {
		q.bad(e)
		return
	}
	q.callStart(e, nil, t, nil)
}

// clientStop reads RequestStop and RequestFailed; of a failed one both come, the
// failure first.
func (q *process) clientStop(e *eventpipe.Event) { q.callStop(e, nil) }

// target is the host that an outgoing request goes to.
func (a *arguments) target() []byte {
	host := first(a.get("Host"), a.tag("server.address"))
	if port := first(a.get("Port"), a.tag("server.port")); len(port) > 0 {
		return append(append(append([]byte(nil), host...), ':'), port...)
	}
	return host
}

// callStart takes up an outgoing request; it has a name or an activity id.
func (q *process) callStart(e *eventpipe.Event, name, target, parent []byte) {
	c := &q.calls
	if len(c.byActivity)+len(c.byName) >= maxOpen {
		return
	}
	x := &call{start: e.Time, lane: e.Thread, target: q.b.Name(clean("http " + string(target))), n: e.N, of: q.caller(e, parent)}
	switch {
	case len(name) > 0:
		c.byName[string(name)] = x
	case e.Activity != (eventpipe.GUID{}):
		c.byActivity[e.Activity] = x
	}
}

// caller finds the request that something happens for.
func (q *process) caller(e *eventpipe.Event, parent []byte) *request {
	r := &q.requests
	if x := r.byName[string(parent)]; x != nil {
		return x
	}
	if x := r.byActivity[e.Related]; x != nil {
		return x
	}
	var found *request
	ancestors(e.Activity, q.pid, func(g eventpipe.GUID) bool {
		found = r.byActivity[g]
		return found != nil
	})
	return found
}

func (q *process) callStop(e *eventpipe.Event, name []byte) {
	c := &q.calls
	x := c.byName[string(name)]
	if x != nil {
		delete(c.byName, string(name))
	} else if x = c.byActivity[e.Activity]; x != nil {
		delete(c.byActivity, e.Activity)
	}
	if x == nil {
		return
	}
	x.end = e.Time
	if x.of != nil && !x.of.gone {
		if len(x.of.calls) < maxCalls {
			x.of.calls = append(x.of.calls, *x)
		}
		return
	}
	q.called(*x)
}

// called writes an outgoing request. No thread waits for it, unless it blocks.
func (q *process) called(c call) {
	row := evidence.Interval{Subject: q.id, Kind: evidence.NetWait, Start: c.start, End: max(c.start, c.end), Cause: c.target, Origin: q.b.Origin(c.n)}
	if c.of != nil {
		row.Request = c.of.id
	}
	q.b.Interval(row)
}
