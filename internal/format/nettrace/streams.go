package nettrace

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// Some requests last as long as a client listens: WebSockets, the connections of SignalR, streams
// of gRPC, events of a server (text/event-stream). They are
// not slow, and their awaits do not explain slow requests.
//
// No event says that a response has begun, so the awaits of a request identify a stream: it awaits a
// library of those above, or always the same timer, channel or the request's own body
// over a time in which other requests end. A loop in the background
// may run in the activity of the request that began or woke it, which then awaits something else as well; where it goes on after its own
// timer it is in the activity of one request after another.
//
// What SignalR itself awaits for a client, a WebSocket, a stream of events or a long poll, is a stream however soon it is answered: it waits for a message.

// streamLibraries are libraries that only such requests use, by the beginnings of functions.
var streamLibraries = []struct{ prefix, what string }{
	{"System.Net.WebSockets.", "a WebSocket"},
	{"Microsoft.AspNetCore.SignalR.", "SignalR"},
	{"Microsoft.AspNetCore.Http.Connections.", "SignalR"},
	{"Grpc.AspNetCore.Server.Internal.CallHandlers.DuplexStreaming", "a gRPC stream"},
	{"Grpc.AspNetCore.Server.Internal.CallHandlers.ServerStreaming", "a gRPC stream"},
	{"Grpc.AspNetCore.Server.Internal.CallHandlers.ClientStreaming", "a gRPC stream"},
}

// transports is where SignalR awaits messages for a client.
const transports = "Microsoft.AspNetCore.Http.Connections.Internal."

// requestBody ends awaits of a request's own body.
const requestBody = "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpRequestStream"

const (
	longRequest  = float64(1e9) // ns: a request that lasts as long may be a stream
	repeatsOver  = 1e9          // ns: a stream awaits only the same timer for this long
	repeatsOften = 3
	mostLong     = 1000
)

// streams are the streaming requests of a process, from all sessions of a file.
type streams struct {
	methods    map[string]string // that await, and what
	activities map[eventpipe.GUID]bool
	within     map[eventpipe.GUID]bool // the activities around these: the request, if it awaits in an activity of its own
	messages   map[eventpipe.GUID]bool // of these, and of those around them, that wait for messages
}

// loop is a request that awaits again.
type loop struct {
	method      string
	pid         int32
	first, last int64
	n           int
	most        int64 // ns: the longest session that recorded it
	other       bool  // elsewhere, or something else
}

// isRepeating says whether a request always awaits the same: in two sessions, or for most
// of a long one.
func (l *loop) isRepeating() bool {
	over := l.last - l.first
	return !l.other && (over >= repeatsOver || l.n >= repeatsOften && l.most >= repeatsOver && 2*over >= l.most)
}

// findStreams finds the requests that are streams, once all methods have names.
func (s *nameTable) findStreams() *streams {
	if s.streams != nil {
		return s.streams
	}
	out := &streams{methods: make(map[string]string), activities: make(map[eventpipe.GUID]bool), within: make(map[eventpipe.GUID]bool), messages: make(map[eventpipe.GUID]bool)}
	s.streams = out
	libraries := make(map[string]bool) // methods that await such
	loops := make(map[eventpipe.GUID]*loop)
	told := make(map[string][2]int) // by method: how many awaits ended otherwise, and how many by a timer, channel or body
	for _, q := range s.processes {
		for _, x := range q.awaits.rows {
			q.locateAwait(x)
			method := x.serviceMethod()
			if what := q.streamLibrary(x); what != "" {
				out.methods[method], libraries[method] = what, true
			}
			if x.outer || x.activity == (eventpipe.GUID{}) {
				continue
			}
			l := loops[x.activity]
			if l == nil {
				l = &loop{method: method, pid: q.pid, first: x.start}
				loops[x.activity] = l
			}
			body := strings.HasPrefix(x.key[1], requestBody)
			l.n++
			l.most = max(l.most, q.watchedUntil()-q.watchedSince())
			l.last, l.other = max(l.last, x.start), l.other || method != l.method || method != x.key[1] && !body
			if x.end > 0 || body {
				n := told[method]
				n[oneIf(body || q.goesOn(x))]++
				told[method] = n
			}
		}
	}
	for g, l := range loops {
		if n := told[l.method]; n[1] < n[0] || !l.isRepeating() {
			continue
		}
		out.add(g, l.pid)
		if out.methods[l.method] == "" {
			out.methods[l.method] = "nothing but a timer, a channel or its own body again and again"
		}
	}
	for _, q := range s.processes {
		for _, method := range q.backgroundLoops() {
			out.methods[method] = "a timer of a loop in the background"
		}
		for _, x := range q.awaits.rows {
			if libraries[x.serviceMethod()] && x.activity != (eventpipe.GUID{}) {
				out.add(x.activity, q.pid)
			}
			if strings.HasPrefix(x.key[1], transports) && x.activity != (eventpipe.GUID{}) {
				out.messages[x.activity] = true
				visitAncestors(x.activity, q.pid, func(g eventpipe.GUID) bool { out.messages[g] = true; return false })
			}
		}
		for g := range q.requests.upgraded {
			out.activities[g] = true
		}
	}
	return out
}

// backgroundLoops returns the service's methods that await one time after another in different requests, each time right after their own timer: a loop that
// wakes requests goes on in the activity of the last of them.
func (q *process) backgroundLoops() (methods []string) {
	before, switches := make(map[string]*await), make(map[string]int)
	for _, x := range q.awaits.rows {
		method := x.serviceMethod()
		if method == "" || x.outer {
			continue
		}
		if y := before[method]; y != nil && y.end > 0 && x.threads[0] == y.threads[1] && x.start >= y.end && x.start-y.end <= suspending && x.of != y.of && q.goesRound(x) {
			if switches[method]++; switches[method] == repeatsOften {
				methods = append(methods, method)
			}
		}
		before[method] = x
	}
	return methods
}

// goesRound says whether a method awaits while it goes on after a timer of its own: nothing but what resumes methods is between.
func (q *process) goesRound(x *await) bool {
	inside := false
	for _, at := range q.p.r.Addresses(x.stack) {
		name := q.functionAt(at, x.start)
		switch {
		case name == "":
		case name == x.key[1]:
			inside = true
		case !inside:
		case slices.ContainsFunc(awaitEnds, func(e struct{ prefix, kind, what string }) bool {
			return e.kind == evidence.SampleAwaitTimer && strings.HasPrefix(name, e.prefix)
		}):
			return true
		case !hasAny(name, awaitPlumbing):
			return false
		}
	}
	return false
}

// add marks an activity as a stream.
func (s *streams) add(g eventpipe.GUID, pid int32) {
	if s.activities[g] {
		return
	}
	s.activities[g] = true
	visitAncestors(g, pid, func(g eventpipe.GUID) bool { s.within[g] = true; return false })
}

// serviceMethod returns the service's method that awaits, else the library's.
func (x *await) serviceMethod() string {
	if x.key[0] != "" {
		return x.key[0]
	}
	return x.key[1]
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isStreamAwait says whether an await is a stream's.
func (s *streams) isStreamAwait(x *await) bool {
	return s.methods[x.serviceMethod()] != "" || s.activities[x.activity]
}

// allActivities returns all activities that are streams or what these are within.
func (s *streams) allActivities() map[eventpipe.GUID]bool {
	all := maps.Clone(s.activities)
	maps.Copy(all, s.within)
	return all
}

// locateAwait finds where an await is.
func (q *process) locateAwait(x *await) {
	if x.located {
		return
	}
	x.located = true
	function, stack := q.awaitingMethod(x)
	x.key, x.frames = [2]string{q.userMethod(x), function}, stack
}

// streamLibrary returns the one of [streamLibraries] that an await is in, or is ended by; "" if there is none.
// Functions that resumed the awaiting method do not count.
func (q *process) streamLibrary(x *await) string {
	for _, at := range q.p.r.Addresses(x.stack) {
		name := q.functionAt(at, x.start)
		if hasAny(name, resumed) {
			break
		}
		if what := libraryOf(name); what != "" {
			return what
		}
	}
	if x.end > 0 {
		return libraryOf(q.completingFunction(x))
	}
	return ""
}

// resumed are functions within which a method continues after an await.
var resumed = []string{"System.Threading.Tasks.Task.RunContinuations", "System.Threading.Tasks.AwaitTaskContinuation.", "System.Threading.ExecutionContext.Run"}

func libraryOf(function string) string {
	for _, l := range streamLibraries {
		if strings.HasPrefix(function, l.prefix) {
			return l.what
		}
	}
	return ""
}

// completingFunction returns the function that completed the task an await was for.
func (q *process) completingFunction(x *await) string {
	for _, at := range q.p.r.Addresses(x.by) {
		if name := q.functionAt(at, x.end); name != "" && !hasAny(name, awaitPlumbing) {
			return name
		}
	}
	return ""
}

// goesOn says whether a timer, a channel or the request's own body ended an await.
func (q *process) goesOn(x *await) bool {
	if strings.HasPrefix(q.completingFunction(x), requestBody) {
		return true
	}
	for _, at := range q.p.r.Addresses(x.by) {
		name := q.functionAt(at, x.end)
		for _, e := range awaitEnds {
			if strings.HasPrefix(name, e.prefix) {
				return e.kind == evidence.SampleAwaitTimer || e.what == "a channel"
			}
		}
	}
	return false
}

// emitStreams emits which activities are streams, and for long requests their activity
// and route: requests and awaits may be in different files.
func (q *process) emitStreams() {
	s := q.symbols.findStreams()
	if q.symbols.processes[0] == q {
		ids := slices.SortedFunc(maps.Keys(s.allActivities()), func(a, b eventpipe.GUID) int { return strings.Compare(string(a[:]), string(b[:])) })
		for _, g := range ids[:min(len(ids), mostLong)] {
			least := longRequest
			if s.messages[g] {
				least = 0
			}
			q.addFact(evidence.FactStream, hex.EncodeToString(g[:]), least, 0)
		}
		what := make(map[string]bool)
		for _, w := range s.methods {
			what[w] = true
		}
		if n := len(s.activities); n > 0 {
			about := "upgraded connections"
			if len(what) > 0 {
				about = strings.Join(slices.Sorted(maps.Keys(what)), ", ")
			}
			q.b.Warnf(0, "not counted: streams for which %s: they last as long as a client listens, or run in the background (%s)", format.Count(n, "activity awaits", "activities await"), about)
		}
	}
	for _, x := range q.requests.long {
		q.b.Fact(evidence.Fact{Subject: q.id, Key: evidence.FactLongRequest, Value: fmt.Sprintf("%s %s", hex.EncodeToString(x.activity[:]), q.b.Text(x.route)), Number: longRequest, Origin: q.b.Origin(x.n)})
	}
}

// lastsLong keeps a request that may be a stream.
func (r *requests) lastsLong(x *request, at int64) {
	if float64(at-x.start) >= longRequest && x.activity != (eventpipe.GUID{}) && len(r.long) < mostLong {
		r.long = append(r.long, longOne{x.activity, x.route, x.n})
	}
}

type longOne struct {
	activity eventpipe.GUID
	route    evidence.NameID
	n        int64
}

// requestUpgraded reads RequestUpgradedStart of Kestrel (.NET 5+): a WebSocket, mostly.
func (q *process) requestUpgraded(e *eventpipe.Event) {
	x := q.findCaller(e, nil)
	if x == nil || x.activity == (eventpipe.GUID{}) {
		return
	}
	r := &q.requests
	if r.upgraded == nil {
		r.upgraded = make(map[eventpipe.GUID]bool)
	}
	if len(r.upgraded) < mostLong {
		r.upgraded[x.activity] = true
	}
}
