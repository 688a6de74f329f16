package nettrace

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// Events of Microsoft-Diagnostics-DiagnosticSource have three fields: a source, an
// event and a list of names and values, which the session selects in
// FilterAndPayloadSpecs. Their types do not describe that list before version 5 of the
// container, so it is read as written: a 16-bit count, then pairs of strings.

// arguments are the arguments of one event, decoded to UTF-8 in one buffer.
type arguments struct {
	text          []byte
	source, event span
	pairs         []pair
}

type span struct{ from, to int }

type pair struct{ name, value span }

func (a *arguments) textOf(s span) []byte { return a.text[s.from:s.to] }

func (a *arguments) readFrom(c *eventpipe.Cursor) bool {
	a.text, a.pairs = a.text[:0], a.pairs[:0]
	next := func() span {
		from := len(a.text)
		a.text = c.AppendUTF16(a.text)
		return span{from, len(a.text)}
	}
	a.source, a.event = next(), next()
	for n := c.U16(); n > 0 && c.OK(); n-- {
		p := pair{name: next()}
		p.value = next()
		a.pairs = append(a.pairs, p)
	}
	return c.OK()
}

// findValue finds a value by any of its names: those that dotnet-monitor and the runtime's own
// shortcuts use, which by default are the last part of a property's path.
func (a *arguments) findValue(names ...string) []byte {
	for _, name := range names {
		for _, p := range a.pairs {
			if string(a.textOf(p.name)) == name {
				return a.textOf(p.value)
			}
		}
	}
	return nil
}

// findTag finds a tag of an activity: "[http.route, /play/{id}],[…]".
func (a *arguments) findTag(name string) []byte {
	tags := a.findValue("Tags")
	i := bytes.Index(tags, []byte("["+name+", "))
	if i < 0 {
		return nil
	}
	value, _, _ := bytes.Cut(tags[i+len(name)+3:], []byte("]"))
	return value
}

// parseTicks parses a number of 100 ns as ns; 0 if there is none.
func (a *arguments) parseTicks(names ...string) int64 {
	v, err := strconv.ParseInt(string(a.findValue(names...)), 10, 64)
	if err != nil || v <= 0 || v > 1<<62/100 {
		return 0
	}
	return v * 100
}

// The subject of an event.
type about uint8

const (
	aboutNothing about = iota
	aboutRequest       // of the server
	aboutCall          // of a client
)

// Sources and events about requests, by the end of the event's name. The
// second of each is of ASP.NET Core 2 and the AspNetCoreHosting shortcut keyword.
var requestEvents = [][]byte{[]byte("Hosting.HttpRequestIn"), []byte("Hosting.HttpRequestIn.Start"), []byte("Hosting.HttpRequestIn.Stop"),
	[]byte("Hosting.BeginRequest"), []byte("Hosting.EndRequest")}

var callEvents = [][]byte{[]byte("Http.HttpRequestOut"), []byte("Http.HttpRequestOut.Start"), []byte("Http.HttpRequestOut.Stop")}

func (a *arguments) classifyEvent() about {
	event := a.textOf(a.event)
	for _, s := range requestEvents {
		if bytes.HasSuffix(event, s) {
			return aboutRequest
		}
	}
	for _, s := range callEvents {
		if bytes.HasSuffix(event, s) {
			return aboutCall
		}
	}
	return aboutNothing
}

// activityName returns what a start and its stop share beside their event
// source's activity id.
func (a *arguments) activityName() []byte {
	return a.findValue("ActivityId", "Id", "SpanId", "ActivitySpanId")
}

// Calls that libraries report by two events with a common key, which are no activities: by
// the end of the event's name.
var callBegins = [][]byte{[]byte("System.Net.Http.Request"), []byte(".WriteCommandBefore"), []byte(".WriteConnectionOpenBefore"), []byte(".Command.CommandExecuting")}

var callEnds = [][]byte{[]byte("System.Net.Http.Response"), []byte(".WriteCommandAfter"), []byte(".WriteCommandError"), []byte(".WriteConnectionOpenAfter"), []byte(".WriteConnectionOpenError"),
	[]byte(".Command.CommandExecuted"), []byte(".Command.CommandError")}

// callKey returns the common key of the two events of such a call.
func (a *arguments) callKey() []byte {
	return a.findValue("LoggingRequestId", "OperationId", "CommandId")
}

// callEvent reads an event that begins or ends such a call.
func (q *process) callEvent(e *eventpipe.Event, a *arguments) bool {
	key := a.callKey()
	if len(key) == 0 {
		return false
	}
	ends := func(s []byte) bool { return bytes.HasSuffix(a.textOf(a.event), s) }
	switch {
	case slices.ContainsFunc(callBegins, ends):
		if source := a.findValue("DataSource"); len(source) > 0 {
			q.callStart(e, key, "db ", source, nil)
			return true
		}
		q.callStart(e, key, "http ", a.targetHost(), nil).noteRoute(q, a.findValue("AbsolutePath"))
	case slices.ContainsFunc(callEnds, ends):
		q.callStop(e, key)
	default:
		return false
	}
	return true
}

func (q *process) readArguments(e *eventpipe.Event) (*arguments, bool) {
	a := &q.requests.arguments
	c := q.p.r.Cursor(e.Payload())
	if !a.readFrom(&c) {
		q.countMalformed(e)
		return nil, false
	}
	return a, true
}

// diagnosticStart reads Activity1Start, Activity2Start, ActivityStart …
func (q *process) diagnosticStart(e *eventpipe.Event) {
	a, ok := q.readArguments(e)
	if !ok {
		return
	}
	switch a.classifyEvent() {
	case aboutRequest:
		q.serverStart(e, a)
	case aboutCall:
		q.callStart(e, a.activityName(), "http ", a.targetHost(), a.findValue("ActivityParentId", "ParentId", "ParentSpanId"))
	}
}

// serverStart begins a request, unless hosting has just reported it on the same
// thread.
func (q *process) serverStart(e *eventpipe.Event, a *arguments) {
	r := &q.requests
	r.watched = true
	x := r.byActivity[e.Related]
	if x == nil || x.source[diagnostic] != never {
		x = r.byThread[e.Thread]
	}
	if x == nil || x.source[hosting] != begun || x.source[diagnostic] != never || e.Time-x.start > sameStart {
		if x = r.beginRequest(e); x == nil {
			return
		}
	}
	x.source[diagnostic] = begun
	q.addDetails(x, a)
	if name := a.activityName(); len(name) > 0 {
		if old := r.byName[string(name)]; old != nil && old != x {
			q.closeRequest(old, evidence.Unfinished, e.Time)
		}
		x.name = string(name)
		r.byName[x.name] = x
	} else if e.Activity != (eventpipe.GUID{}) && x.source[hosting] == never {
		x.activity = e.Activity
		r.byActivity[e.Activity] = x
	}
}

// sameStart is the greatest distance in ns of hosting's start and diagnostics': they
// are written one after the other, unless the thread is preempted in between.
const sameStart = 1e9

// addDetails takes the details of a request from a start or a stop.
func (q *process) addDetails(x *request, a *arguments) {
	r := &q.requests
	if method := a.findValue("Method"); len(method) > 0 {
		x.method = string(method[:min(len(method), 32)])
	} else if method := a.findTag("http.request.method"); len(method) > 0 {
		x.method = string(method[:min(len(method), 32)])
	}
	if route := firstNonEmpty(a.findValue("Route", "RouteTemplate", "Template", "RawText"), a.findTag("http.route")); len(route) > 0 {
		if route[0] != '/' { // attribute routes are written without
			route = append([]byte("/"), route...)
		}
		x.route, x.known = r.b.Name(cleanText(x.method+" "+string(route[:min(len(route), maxRouteText)]))), true
	} else if path := firstNonEmpty(a.findValue("Path"), a.findTag("url.path")); len(path) > 0 && !x.known && (x.route == 0 || x.method != "") {
		x.route = r.routeOf([]byte(x.method), path)
	}
	if status, err := strconv.Atoi(string(firstNonEmpty(a.findValue("StatusCode"), a.findTag("http.response.status_code")))); err == nil && status >= 500 {
		x.outcome = evidence.Failed
	}
	if string(a.findValue("Status")) == "Error" {
		x.outcome = evidence.Failed
	}
}

const maxRouteText = 200

func firstNonEmpty(texts ...[]byte) []byte {
	for _, t := range texts {
		if len(t) > 0 {
			return t
		}
	}
	return nil
}

// diagnosticStop reads Activity1Stop, Activity2Stop, ActivityStop …
func (q *process) diagnosticStop(e *eventpipe.Event) {
	a, ok := q.readArguments(e)
	if !ok {
		return
	}
	switch a.classifyEvent() {
	case aboutRequest:
		q.serverStop(e, a)
	case aboutCall:
		q.callStop(e, a.activityName())
	}
}

// serverStop ends a request. One that began before the session has its duration here,
// which gives its beginning.
func (q *process) serverStop(e *eventpipe.Event, a *arguments) {
	r := &q.requests
	r.watched = true
	x := r.byName[string(a.activityName())]
	if x == nil && len(a.activityName()) == 0 {
		x = r.byActivity[e.Activity]
	}
	if x == nil {
		took := a.parseTicks("ActivityDuration", "DurationTicks", "Duration")
		if took == 0 || took > e.Time {
			return
		}
		r.open++
		x = &request{start: e.Time - took, lane: e.Thread, n: e.N}
	}
	x.source[diagnostic] = ended
	q.addDetails(x, a)
	q.endRequest(x, e.Time)
}

// diagnosticEvent reads Event: what a session asks for between start and stop, such as the
// matched route (Microsoft.AspNetCore.Mvc.BeforeAction and similar).
func (q *process) diagnosticEvent(e *eventpipe.Event) {
	a, ok := q.readArguments(e)
	if !ok {
		return
	}
	if q.callEvent(e, a) {
		return
	}
	x := q.requests.byName[string(a.activityName())]
	if x == nil {
		x = q.requests.byActivity[e.Activity]
	}
	if x != nil {
		q.addDetails(x, a)
	}
}
