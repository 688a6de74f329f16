package nettrace

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// requests are those that a server began and ended. Its hosting layer reports them twice:
// by events of its event source (Microsoft.AspNetCore.Hosting), and by activities of its
// DiagnosticSource, which also have status, duration and route. The session decides which
// of them exist; a request that both report is one.
//
// A start and its stop have the same activity id. Ids flow with async code if
// the session enabled that (System.Threading.Tasks.TplEventSource, keyword
// 0x80). Otherwise a stop ends what its thread began, and requests that began on another
// thread end in the order of their beginnings: single latencies may be wrong, their sum is not.
type requests struct {
	b *evidence.Builder

	watched    bool
	byActivity map[eventpipe.GUID]*request // event source
	byName     map[string]*request         // Activity.Id of a DiagnosticSource
	byThread   map[int64]*request          // the newest begun on a thread
	nameless   []*request                  // begun without an activity id, oldest first
	early      []early                     // stops of requests that began before the session
	open       int64

	routes map[string]evidence.NameID
	route  []byte // reused

	arguments arguments // reused

	finished, unfinished int64
	guessed              int64 // stops without an activity id
	beyond               int64 // starts beyond maxOpen

	long     []longOne               // that may be streams
	upgraded map[eventpipe.GUID]bool // activities of such
}

// request is a request in progress.
type request struct {
	activity eventpipe.GUID
	name     string
	start    int64
	lane     int64
	route    evidence.NameID
	known    bool // the route is the server's own template
	method   string
	outcome  evidence.Outcome
	n        int64
	source   [2]phase // of hosting, of diagnostics
	end      int64    // where one of them has ended
	id       evidence.RequestID
	calls    []call
	latest   *call // that it began
	gone     bool
}

type phase uint8

const (
	never phase = iota
	begun
	ended
)

const (
	hosting    = 0
	diagnostic = 1
)

type early struct{ at, lane, n int64 }

// call is an outgoing request.
type call struct {
	start, end, lane int64
	target           evidence.NameID
	text             string          // of target
	route            evidence.NameID // there; 0 not known
	n                int64
	of               *request
	pool             bool // a wait for a connection of the client's pool
}

const (
	maxOpen   = 256 << 10
	maxEarly  = 64 << 10
	maxRoutes = 1000
	maxCalls  = 1000 // of one request
)

func (r *requests) init(b *evidence.Builder) {
	r.b = b
	r.byActivity = make(map[eventpipe.GUID]*request)
	r.byName = make(map[string]*request)
	r.byThread = make(map[int64]*request)
	r.routes = make(map[string]evidence.NameID)
}

// beginRequest begins a request; nil if there are too many.
func (r *requests) beginRequest(e *eventpipe.Event) *request {
	if r.open == maxOpen {
		r.beyond++
		return nil
	}
	r.open++
	q := &request{start: e.Time, lane: e.Thread, n: e.N}
	r.byThread[e.Thread] = q
	return q
}

// hostingStart reads RequestStart(method, path).
func (q *process) hostingStart(e *eventpipe.Event) {
	r := &q.requests
	c := q.p.r.Cursor(e.Payload())
	r.route = c.AppendUTF16(r.route[:0])
	split := len(r.route)
	r.route = c.AppendUTF16(r.route)
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	r.watched = true
	x := r.beginRequest(e)
	if x == nil {
		return
	}
	x.source[hosting] = begun
	x.route = r.routeOf(r.route[:split], r.route[split:])
	if e.Activity == (eventpipe.GUID{}) {
		if len(r.nameless) > maxRoutes && int64(len(r.nameless)) > 2*r.open {
			r.nameless = slices.DeleteFunc(r.nameless, func(x *request) bool { return x.gone })
		}
		r.nameless = append(r.nameless, x)
		return
	}
	if old := r.byActivity[e.Activity]; old != nil { // its stop was lost
		q.closeRequest(old, evidence.Unfinished, e.Time)
	}
	x.activity = e.Activity
	r.byActivity[e.Activity] = x
}

// hostingStop reads RequestStop, which has no fields.
func (q *process) hostingStop(e *eventpipe.Event) {
	r := &q.requests
	r.watched = true
	in, x := q.findRequest(e.Activity)
	if x == nil && e.Activity == (eventpipe.GUID{}) {
		in, x = q, r.guessEnded(e.Thread)
	}
	if x == nil {
		if len(r.early) < maxEarly {
			r.early = append(r.early, early{e.Time, e.Thread, e.N})
		}
		return
	}
	x.source[hosting] = ended
	in.endRequest(x, e.Time)
}

// findRequest finds the request in progress with an activity, which goes on from session to session, and
// the session it began in.
func (q *process) findRequest(activity eventpipe.GUID) (in *process, x *request) {
	if activity == (eventpipe.GUID{}) {
		return nil, nil
	}
	for in = q; in != nil; in = in.prior {
		if x = in.requests.byActivity[activity]; x != nil {
			return in, x
		}
	}
	return nil, nil
}

// hostingFailed reads UnhandledException.
func (q *process) hostingFailed(e *eventpipe.Event) {
	if x := q.requests.byActivity[e.Activity]; x != nil {
		x.outcome = evidence.Failed
	}
}

// guessEnded finds the request that a stop without an activity id ends: the one that its thread began,
// else the oldest.
func (r *requests) guessEnded(thread int64) *request {
	x := r.byThread[thread]
	if x == nil || x.gone || x.source[hosting] != begun || x.activity != (eventpipe.GUID{}) {
		for len(r.nameless) > 0 && (r.nameless[0].gone || r.nameless[0].source[hosting] != begun) {
			r.nameless = r.nameless[1:]
		}
		if len(r.nameless) == 0 {
			return nil
		}
		x = r.nameless[0]
	}
	r.guessed++
	return x
}

// endRequest closes a request when all that told of its start have told of its end. Diagnostics
// end first.
func (q *process) endRequest(x *request, at int64) {
	if x.end == 0 || x.source[diagnostic] == never {
		x.end = at
	}
	if x.source[hosting] != begun && x.source[diagnostic] != begun {
		q.closeRequest(x, x.outcome, x.end)
	}
}

// closeRequest emits a request and what it called.
func (q *process) closeRequest(x *request, outcome evidence.Outcome, at int64) {
	r := &q.requests
	x.gone = true
	r.open--
	r.lastsLong(x, at)
	if r.byActivity[x.activity] == x {
		delete(r.byActivity, x.activity)
	}
	if x.name != "" && r.byName[x.name] == x {
		delete(r.byName, x.name)
	}
	if r.byThread[x.lane] == x {
		delete(r.byThread, x.lane)
	}
	if outcome == evidence.Unfinished {
		r.unfinished++
	} else {
		r.finished++
	}
	x.id = q.b.Request(evidence.Request{Subject: q.id, Route: x.route, Lane: evidence.LaneID(x.lane), Start: x.start, End: max(x.start, at),
		Outcome: outcome, Origin: q.b.Origin(x.n)})
	for _, c := range x.calls {
		q.emitCall(c)
	}
	x.calls = nil
}

// routeOf names a route by method and path; there are maxRoutes at most.
func (r *requests) routeOf(method, path []byte) evidence.NameID {
	var text [format.MaxRoute + 256]byte
	b := append(text[:0], method[:min(len(method), 32)]...)
	if len(b) > 0 {
		b = append(b, ' ')
	}
	b = format.AppendRoute(b, path)
	if id, ok := r.routes[string(b)]; ok {
		return id
	}
	if len(r.routes) >= maxRoutes {
		return r.b.Name(strings.TrimSpace(cleanText(string(method[:min(len(method), 32)])) + " …"))
	}
	id := r.b.Name(cleanText(string(b)))
	r.routes[string(b)] = id
	return id
}

func (r *requests) emit(q *process) {
	if !r.watched {
		return
	}
	until := q.watchedUntil()
	left := slices.Concat(slices.Collect(maps.Values(r.byActivity)), slices.Collect(maps.Values(r.byName)),
		slices.Collect(maps.Values(r.byThread)), r.nameless)
	slices.SortFunc(left, func(a, b *request) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.n, b.n)) })
	for _, x := range left {
		switch {
		case x.gone:
		case x.end != 0: // the other stop is not there
			q.closeRequest(x, x.outcome, x.end)
		default:
			q.closeRequest(x, evidence.Unfinished, until)
		}
	}
	if q.p.r.Lost() == 0 { // else the lost event may be the start
		since, gap := q.watchedSince(), q.unwatchedGap()
		for _, x := range r.early {
			outcome := evidence.Unfinished
			if gap > 0 { // it began in it
				if outcome = evidence.OK; x.at-since < gapTimes*gap {
					continue // how long it took is not known
				}
			}
			q.b.Request(evidence.Request{Subject: q.id, Lane: evidence.LaneID(x.lane), Start: since, End: max(x.at, since),
				Outcome: outcome, Origin: q.b.Origin(x.n)})
		}
	}
	q.addCoverage(evidence.CoverRequests, q.watchedSince(), until, 0)
	if r.guessed > 0 {
		q.b.Warnf(0, "%s no activity id: start and end were paired by thread and order, so the total is right but single latencies may be wrong. Switch on System.Threading.Tasks.TplEventSource with keyword 0x80", format.Count(r.guessed, "request has", "requests have"))
	}
	if r.beyond > 0 {
		q.b.Warnf(0, "more than %d requests were in progress at once: left out: %d", maxOpen, r.beyond)
	}
}

// gapTimes is how many times the gap between two sessions a request's time must be to have begun in the gap.
const gapTimes = 5

// unwatchedGap returns how long (ns) no session recorded requests before this one; 0 if no session did
// before.
func (q *process) unwatchedGap() int64 {
	for in := q.prior; in != nil; in = in.prior {
		if in.requests.watched {
			return max(0, q.watchedSince()-in.watchedUntil())
		}
	}
	return 0
}

// describeCounts returns the numbers of requests for the table.
func (r *requests) describeCounts() string {
	s := strconv.FormatInt(r.finished, 10) + " finished, " + strconv.FormatInt(r.unfinished, 10) + " unfinished"
	if n := int64(len(r.early)); n > 0 {
		s += ", " + strconv.FormatInt(n, 10) + " ends of earlier ones"
	}
	return s
}
