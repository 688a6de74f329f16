package nettrace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// awaits are the waits of async methods while they hold no thread, from the events of the task library
// (System.Threading.Tasks.TplEventSource, keywords TaskTransfer and Tasks): an await of a task
// that has not completed, with the stack of the method that awaits, and its end, with the stack of
// the code that completed the task (TaskAwaiter.OutputWaitEtwEvents in dotnet/runtime).
//
// When a method suspends, its caller, which awaits it, suspends too: only the innermost await of such a
// chain shows the reason. Sessions are short, since each await costs. A wait that the
// session's end cut off counts with the mean length of waits at its place, if each moment of
// a wait is equally likely to end it.
type awaits struct {
	open    map[int32]*await
	last    map[int64]*await // by thread, if no later event of the thread but that await's beginning was read
	rows    []*await
	dropped int64
}

type await struct {
	start, end int64    // end 0: not recorded
	threads    [2]int64 // on which it began and ended
	stack, by  eventpipe.StackID
	activity   eventpipe.GUID
	outer      bool     // it awaits a method that awaits
	of         *request // nil: not known
	call       *call    // the last call that its request had begun
	n          int64

	located bool
	key     [2]string        // the service's method, and the method that awaits
	frames  evidence.StackID // from there on
}

const maxAwaits = 256 << 10

func (a *awaits) init() {
	a.open = make(map[int32]*await)
	a.last = make(map[int64]*await)
}

// awaitBegin reads TaskWaitBegin(scheduler, originating task, task, behavior, …).
func (q *process) awaitBegin(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	c.Skip(8)
	task, behavior := c.I32(), c.I32()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	a := &q.awaits
	if behavior != asynchronous {
		return // a thread waits for it: Task.Wait
	}
	if len(a.rows) == maxAwaits {
		a.dropped++
		return
	}
	before := a.last[e.Thread]
	x := &await{start: e.Time, threads: [2]int64{e.Thread}, stack: e.Stack, activity: e.Activity, of: q.awaitingRequest(e), n: e.N,
		outer: before != nil && before.activity == e.Activity && e.Time-before.start < suspending}
	if x.of != nil {
		x.call = x.of.latest
	}
	a.open[task], a.last[e.Thread] = x, x
	a.rows = append(a.rows, x)
}

const asynchronous = 2

// suspending is how long (ns) after a method its caller suspends at most.
const suspending = 1e6

// awaitEnd reads TaskWaitEnd(scheduler, originating task, task).
func (q *process) awaitEnd(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	c.Skip(8)
	task := c.I32()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	a := &q.awaits
	delete(a.last, e.Thread)
	if x := a.open[task]; x != nil {
		x.end, x.by, x.threads[1] = e.Time, e.Stack, e.Thread
		delete(a.open, task)
	}
}

// awaitPlace is a place of awaits, and the code that ended them.
type awaitPlace struct {
	function     string
	stack        evidence.StackID
	seen         float64 // ns
	count, ended int
	rows         []*await
	n            int64
}

func (q *process) emitAwaits() {
	a := &q.awaits
	until := q.watchedUntil()
	places := make(map[[2]string]*awaitPlace)
	told := q.calls.any || !q.requests.watched
	requests := slices.ContainsFunc(a.rows, func(x *await) bool { return x.activity != eventpipe.GUID{} })
	streams := q.symbols.findStreams()
	ended := make(map[eventpipe.GUID]int64) // of the outermost await of an activity
	for _, x := range a.rows {
		if x.end == 0 {
			ended[x.activity] = until
		} else {
			ended[x.activity] = max(ended[x.activity], x.end)
		}
	}
	within := make(map[string][]*await) // awaits of methods that a place's method awaits
	for _, x := range a.rows {
		if requests && x.activity == (eventpipe.GUID{}) {
			continue
		}
		q.locateAwait(x)
		function, stack := x.key[1], x.frames
		if streams.isStreamAwait(x) || hasAny(function, ofConnections) {
			continue
		}
		if x.outer {
			within[function] = append(within[function], x)
			continue
		}
		if x.of != nil && q.forConnection(x, function) {
			continue
		}
		if function == "" || told && hasAny(function, toldByCalls) {
			continue
		}
		key := x.key
		p := places[key]
		if p == nil {
			p = &awaitPlace{function: function, stack: stack, n: x.n}
			places[key] = p
		}
		p.rows = append(p.rows, x)
		p.count++
		if x.end > 0 {
			p.ended++
			p.seen += float64(x.end - x.start)
		} else {
			p.seen += float64(until - x.start)
		}
	}
	if requests && len(places) > 0 {
		n := 0
		for _, p := range places {
			n += p.count
		}
		q.addFact(evidence.FactRequestsAwait, "", float64(n), 0)
	}
	unit := q.b.Name("ns")
	for _, key := range slices.SortedFunc(maps.Keys(places), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) }) {
		p := places[key]
		if told && q.isEndedByCalls(p) {
			continue
		}
		kind, what := q.endedBy(p)
		if kind == evidence.SampleAwaitOther {
			if k := limitAt(p, ended, within[key[1]], q.watchedSince(), until); k > 0 {
				kind, what = evidence.SampleAwaitPool, fmt.Sprintf("limit of %d at", k)
			}
		}
		q.awaitedBy(p, kind, what)
		mean := min(p.seen/float64(max(1, p.ended)), mostLasting*float64(until-q.watchedSince()))
		q.b.Sample(evidence.Sample{Subject: q.id, Time: p.rows[0].start, Stack: p.stack, Type: q.b.Name(kind), Unit: unit, Class: q.b.Name(what),
			Value: int64(mean * float64(p.count)), Origin: q.b.Origin(p.n)})
	}
	q.coverAwaits()
	if a.dropped > 0 {
		q.b.Warnf(0, "there are more than %d awaits: later ones left out: %d", maxAwaits, a.dropped)
	}
}

// mostLasting is how many sessions a wait counts if hardly any end was recorded.
const mostLasting = 4

// toldByCalls are libraries whose calls have events of their own, beside the awaits or in another
// session. If a session records requests but no call, they have none: before .NET 5 an
// HttpClient of a SocketsHttpHandler has no events.
var toldByCalls = []string{"System.Net.", "System.Data.", "Microsoft.Data.", "Microsoft.EntityFrameworkCore."}

// isEndedByCalls says whether most of the awaits of a place were ended by one of those libraries:
// newer ones await without events, so that the innermost await is that of their
// caller.
func (q *process) isEndedByCalls(p *awaitPlace) bool {
	n := 0
	for _, x := range p.rows {
		if x.end > 0 && hasAny(q.completingFunction(x), tellingCalls) {
			n++
		}
	}
	return p.ended > 0 && 2*n > p.ended
}

// tellingCalls complete the tasks of calls; a socket alone is no sign of calls.
var tellingCalls = append([]string{"System.Net.Http."}, toldByCalls[1:]...)

// ofConnections are methods of the server that await on behalf of a connection, which mostly waits for its
// next request: no request waits there.
var ofConnections = []string{"Microsoft.AspNetCore.Server.Kestrel.Transport.", "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol+<ProcessRequest",
	"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.HttpConnection", "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.ConnectionDispatcher",
	"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.KestrelConnection", "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http2.Http2Connection",
	"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http2.Http2FrameWriter", "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http2.Http2OutputProducer"}

// awaitPlumbing are functions between an await and its method.
var awaitPlumbing = []string{"System.Diagnostics.Tracing.", "System.Threading.Tasks.", "System.Runtime.CompilerServices.", "System.Threading."}

func hasAny(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// awaitingMethod returns the method that awaits, and the stack from it on.
func (q *process) awaitingMethod(x *await) (function string, stack evidence.StackID) {
	addresses := q.p.r.Addresses(x.stack)
	for i, at := range addresses {
		name := q.functionAt(at, x.start)
		if name == "" || hasAny(name, awaitPlumbing) {
			continue
		}
		var frames []evidence.Frame
		for _, at := range addresses[i:min(len(addresses), i+maxFrames)] {
			id, _ := q.frameAt(at, x.start)
			frames = append(frames, evidence.Frame{Func: id})
		}
		return name, q.b.Stack(frames)
	}
	return "", 0
}

// userMethod returns the innermost method around an await that is not of the class library or the
// server; "" if there is none, for example where a method continues after an await.
func (q *process) userMethod(x *await) string {
	for _, at := range q.p.r.Addresses(x.stack) {
		if name := q.functionAt(at, x.start); name != "" && !hasAny(name, libraries) {
			return name
		}
	}
	return ""
}

// libraries are those that services are built from, by their namespaces.
var libraries = []string{"System.", "Microsoft."}

// functionAt returns the method at an address, without its module; "" unknown.
func (q *process) functionAt(address uint64, time int64) string {
	s := q.symbols.nameTable
	index, _ := s.methodAt(address, time)
	if index < 0 {
		return ""
	}
	name, ok := s.functions[index]
	if !ok {
		_, name, _ = strings.Cut(string(s.text.formatFrame(&s.methods[index], s.modules)), "!")
		if s.functions == nil {
			s.functions = make(map[int32]string)
		}
		s.functions[index] = name
	}
	return name
}

// ofAnswers are methods of the server that await until a client has received enough of an answer that
// more of it fits into the buffers.
var ofAnswers = []string{"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.PipeWriterHelpers.TimingPipeFlusher",
	"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.Http1OutputProducer", "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http3.Http3OutputProducer"}

// Kinds of completion, by a function on the stack of the completing code.
var awaitEnds = []struct{ prefix, kind, what string }{
	{"System.Threading.Tasks.Task+DelayPromise.", evidence.SampleAwaitTimer, "Task.Delay"},
	{"System.Threading.PeriodicTimer", evidence.SampleAwaitTimer, "PeriodicTimer"},
	{"System.Net.Sockets.", evidence.SampleAwaitSocket, "a socket"},
	{"System.Threading.Channels.", evidence.SampleAwaitOther, "a channel"},
}

// endedBy returns what most often ended the awaits of a place.
func (q *process) endedBy(p *awaitPlace) (kind, what string) {
	if hasAny(p.function, ofAnswers) {
		return evidence.SampleAwaitClient, "client taking the answer"
	}
	counts := make(map[int]int)
	for _, x := range p.rows {
		if x.end == 0 {
			continue
		}
		by := -1
		for _, at := range q.p.r.Addresses(x.by) {
			name := q.functionAt(at, x.end)
			if by = slices.IndexFunc(awaitEnds, func(e struct{ prefix, kind, what string }) bool { return strings.HasPrefix(name, e.prefix) }); by >= 0 {
				break
			}
		}
		counts[by]++
	}
	best := -1
	for by, n := range counts {
		if n > counts[best] || n == counts[best] && by > best {
			best = by
		}
	}
	if best < 0 {
		return evidence.SampleAwaitOther, "await"
	}
	return awaitEnds[best].kind, awaitEnds[best].what
}
