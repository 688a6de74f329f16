package service

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// AcceptQueue is connections that wait for a service to accept them.
var AcceptQueue = check.Check{
	ID:    "service.accept-queue",
	Title: "connections wait before the service accepts them",
	Step:  check.StepEntrance,
	Doc: `The kernel completes connections on behalf of a program that listens and keeps them in a queue, the
accept queue of the socket, until the program takes them out. Clients have connected by then and
send their requests, which the program does not read yet. The program's own figures, its log and its traces begin after that
wait: a service can be quick by all of them while its clients wait for seconds.

The queue grows when the service takes connections more slowly than they come: a limit of
connections (Tomcat maxConnections, Kestrel MaxConcurrentConnections, netutil.LimitListener, nginx
worker_connections), workers that each serve one connection at a time, an accept loop that does
other work in between. An event loop that a handler blocks accepts and does not read: its connections wait with
unread bytes. When the queue is full, the kernel drops what comes, and clients try again after 1 s,
then 3 s, then 7 s.

How to tell it from similar problems: if the CPUs are busy or GC pauses the program, the program cannot
accept either; those causes come with evidence of their own. A pool within the service
(service.pool-exhausted) queues requests that the service has accepted.

A proxy in front of the service connects at once unless that queue is full: where its log tells how long connecting took
(nginx $upstream_connect_time, HAProxy's Tc) and that is long, connections were dropped and tried again, or packets are lost between both.

Workers that a master replaces after so many requests or because they die serve nothing until the new ones have loaded
their program: where several go at about the same time, connections wait for them.

What helps: a higher limit, or more workers, if what they do can take it; shorter requests; a shorter
keep-alive timeout where idle connections hold the places. A longer queue (net.core.somaxconn and the backlog
that the program gives to listen) prevents drops, and makes no request faster.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time, waited in an accept queue; without requests, 1 connection on average that waits %v",
		check.SomeSlow, check.SlowShare, check.Material, check.Noticeable),
	Thresholds: []check.Threshold{failedEach, failedPart, fewOverflows, fewWorkerStarts, givenUp, leastConnect, leastConnects, leastQueued, leastRequests, manyAtOnce, nearlyAll, workerReady, check.Arguable, check.FewClocked, check.Material,
		check.Noticeable, check.SlowShare, check.SomeSlow},

	Needs: "the accept queues of its sockets (unstall record PID, or the output of ss -ltn over time), or a proxy's log with the time it took to connect",
	Applies: func(c *check.Case) bool {
		return len(metrics.ListenQueues(c.Bundle, c.Subject)) > 0 || c.Slow() && c.Share(ledger.Queued) >= check.Material.Value
	},
	Judge:     judgeAcceptQueue,
	JudgeHost: judgeQueueOverflow,
}

var leastQueued = check.Threshold{Name: "connections in an accept queue on average", Value: 1, Unit: "count",
	Why: "a queue stands where one always waits", Source: "Little's law, L = λW: connections wait for a second in each second"}

var manyAtOnce = check.Threshold{Name: "connections in an accept queue that was read once, unless it was full", Value: 10, Unit: "count",
	Why: "so many wait at a random moment only where a queue often stands", Source: "PASTA: a look at a random moment meets a state as often as it lasts; judgement: weighs one burst against a queue that stands"}

var nearlyAll = check.Threshold{Name: "part of the time before the service that is in its sockets' queues", Value: .8, Unit: "1",
	Why: "the rest lies between two readings", Source: "judgement: weighs what readings of the queue miss between them against another reason why requests begin late"}

var fewOverflows = check.Threshold{Name: "connections that the kernel's log says were dropped at a full accept queue", Value: 10, Unit: "count",
	Why: "fewer may be one scan of ports", Source: "judgement: weighs a burst of strangers against clients; the kernel logs this at most a few times per 5 s (net_ratelimit)"}

// judgeQueueOverflow judges a host by its kernel's log: connections were dropped because the accept queue of a socket
// was full.
func judgeQueueOverflow(c *check.Case) (v check.Verdict, ok bool) {
	if used, found := c.Fact(evidence.FactPlacesUsedUp); found && used.Number > 0 && isOfAcceptQueue(used) {
		return judgeRefused(c, used), true
	}
	var f evidence.Fact
	for _, x := range c.Bundle.Facts {
		if x.Subject == c.Subject && x.Key == evidence.FactKernelSaid && x.Value == "listen-queue" && x.Number > f.Number {
			f = x
		}
	}
	if f.Number < fewOverflows.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("The accept queue of a socket was full, and the kernel dropped connections: %s.", units.Times(int(f.Number))),
		Summary: fmt.Sprintf("%.0f connections dropped at a full accept queue, by the kernel's log", f.Number)}
	v.Evidence = append(v.Evidence, c.Figure("listen.dropped_told", "connections dropped at a full accept queue, by the kernel's log", f.Number, "count", f.Origin))
	v.Fix = []check.Fix{acceptMore, {Text: "a longer accept queue lets a burst wait instead: raise the backlog that the program gives to listen, and the system's limit (kern.ipc.soacceptqueue, net.core.somaxconn)"}}
	v.Needs = []check.Need{{What: "how long connections wait while it is slow", Command: "unstall record PID"}}
	return v, true
}

// isOfAcceptQueue says whether the places that were used up are those of an accept queue, as a proxy says that could not connect at once.
func isOfAcceptQueue(used evidence.Fact) bool {
	what, _, _ := strings.Cut(used.Value, evidence.Link)
	return what == "places in the accept queue" // package serverlog
}

// judgeRefused judges a server by what the proxy before it says: its accept queue was full.
func judgeRefused(c *check.Case, used evidence.Fact) (v check.Verdict) {
	s := c.Bundle.Subjects[c.Subject]
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("The accept queue of %s is full at times: further connections fail at once.", s.Name),
		Summary: fmt.Sprintf("the accept queue of %s was full, by %s of the log before it", s.Name, units.Plural(int(used.Number), "line"))}
	v.Evidence = append(v.Evidence, c.Figure("listen.refused_lines", "lines of a proxy's log that say so", used.Number, "count", used.Origin))
	v.Fix = []check.Fix{acceptMore}
	if _, setting, _ := strings.Cut(used.Value, evidence.Link); setting != "" {
		v.Fix = append(v.Fix, check.Fix{Text: "a longer accept queue lets a burst wait instead: " + setting})
	}
	v.Needs = []check.Need{{What: "what its workers did at the same time", Command: "unstall record PID"}}
	return v
}

// What helps where connections wait to be accepted, and where they wait to be read.
var (
	acceptMore = check.Fix{Text: "let the service take more connections at a time (its connection limit, or the number of its workers) if what they do can take it, or close idle connections sooner so that they hold no place"}
	freeReader = check.Fix{Text: "the threads that read these connections are busy with something else, as an event loop is that a handler blocks: move long work to other threads or processes, or run more of them (THREADS shows what they run)"}
)

func judgeAcceptQueue(c *check.Case) check.Verdict {
	all := metrics.ListenQueues(c.Bundle, c.Subject)
	if v, slow := judgeConnecting(c); slow {
		return v
	}
	if len(all) == 0 {
		return check.Verdict{Rule: check.NotRecorded, Summary: check.OfSlow(c.Share(ledger.Queued)) + " passed before the service saw the request; the accept queues of its sockets were not recorded",
			Needs: []check.Need{{What: "the accept queues of its sockets", Command: "unstall record PID"}, {What: "or, while it happens", Command: "ss -ltn"}}}
	}
	q := waitedAt(c, all)
	mean, unread := meanOrOnly(q.Waiting), meanOrOnly(q.Unread)
	when, once := "on average", q.Waiting.Span() == 0
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("%s connections waited to be accepted on average, %s at most", units.Num(mean.Number), units.Num(q.Most()))}
	if once {
		when = "when it was read"
		v = check.Verdict{Rule: check.OneLook, Summary: fmt.Sprintf("%s connections waited to be accepted when the queue was read, once", units.Num(mean.Number)),
			Needs: []check.Need{{What: "a longer recording", Command: "unstall record PID"}}}
	}
	v.Evidence = append(v.Evidence, c.Figure("listen.queue_mean", "connections waiting in the accept queue of "+q.Address+", "+when, mean.Number, "count", mean.Origin))
	if !once {
		v.Evidence = append(v.Evidence, c.Figure("listen.queue_most", "the same, at most", q.Most(), "count", mean.Origin))
	}
	if unread.Known() {
		at := len(v.Evidence)
		if unread.Number > mean.Number { // these are what the verdict is about
			at = 0
		}
		v.Evidence = slices.Insert(v.Evidence, at, c.Figure("listen.unread_mean", "accepted connections with a request that the service has not read, "+when, unread.Number, "count", unread.Origin))
	}
	full := false
	if limit := meanOrOnly(q.Backlog); limit.Known() {
		full = q.Most() >= limit.Number
		v.Evidence = append(v.Evidence, c.Figure("listen.backlog", "places in the accept queue", limit.Number, "count", limit.Origin))
	}
	dropped := metrics.Mean(c.Bundle, c.Subject, evidence.SeriesListenDrops, metrics.Whole)
	if dropped.Known() {
		v.Evidence = append(v.Evidence, c.Figure("tcp.listen_drops_per_s", "connections dropped at full accept queues, in its network namespace", dropped.Number, "1/s", dropped.Origin))
	}
	where, held, fix := "in the "+evidence.Wait{Kind: evidence.AcceptQueueOf, Of: q.Address}.String(), "wait to be accepted", acceptMore
	if unread.Number > mean.Number {
		where, held, fix = "at "+q.Address, "are accepted and wait to be read", freeReader
	}
	l := c.Ledger
	rows := l != nil && len(l.Rows) >= ledger.MinRequests
	switch waits := mean.Number + unread.OrZero(); {
	case once && !full && waits < manyAtOnce.Value:
		v.Weigh(waits, manyAtOnce)
		return v
	case rows && l.FromOutside() && c.Slow():
		each := eachSlow(c, entranceWait)
		var sum int64
		for _, ns := range each {
			sum += ns
		}
		share := float64(sum) / float64(max(1, l.Total))
		v.Summary = check.SlowWait("at the service's sockets", sum, share)
		v.Weigh(share, check.Material)
		v.Evidence = slices.Insert(v.Evidence, 0, c.Figure("slow.queue_ms", "slow time waiting at the service's sockets", float64(sum)/1e6, "ms", check.From(l.StatesFrom())))
		if by := stopsReading(c, share); by != "" {
			v.Rule = check.Explained
			v.Summary = by + " keeps the service from taking requests up: " + v.Summary
			return v
		}
		brief := l.Rule != ledger.RuleSLO && l.Rule != ledger.RuleBaseline && l.Total < check.Noticeable.Int64()*int64(len(l.Slow)) // on average
		if share >= check.Material.Value && (brief || !c.UserVisible(check.Noticeable)) {
			v.Rule = check.Unnoticed
			v.Summary += ", but slow requests take only milliseconds"
			v.Needs = []check.Need{{What: "a limit for request latency", Command: "unstall PID --slo 300ms"}}
			return v
		}
		if share < check.Material.Value {
			return judgeHeldInside(c, v, share)
		}
		if accepted := sumOf(waitsFor(c, evidence.AcceptQueueOf)); 2*accepted < sum {
			where, held, fix = "at "+q.Address, "are accepted and wait to be read", freeReader
			if called := calledMeanwhile(c); called != "" {
				fix = check.Fix{Text: "the threads that read these connections serve requests at that time, most of which wait for a call: give the service more threads or workers if what they call can take more at a time (needed = requests per second × seconds each takes), or make that wait shorter", Code: called}
			} else if waits := waitOfServing(c); waits != nil {
				v.Evidence = append(v.Evidence, c.Figure("requests.waiting_share", "share of the looks at threads that serve requests, "+waits.what, waits.share, "1", waits.origin))
				fix = waits.shortenFix()
			} else {
				fix.Code = loopRuns(c, &v)
			}
		}
		if instead, replaced := replaceLess(c, &v, q.Waiting.T[0], q.Waiting.T[len(q.Waiting.T)-1]); replaced {
			fix = instead
		}
		v.Saves = c.Save(each, -1, -1)
		less := func(row int) int64 { return entranceWait(c, row) }
		if float64(sum) >= nearlyAll.Value*float64(l.Charges[ledger.Queued]) { // between two readings of the queue the rest is no other wait
			less = func(row int) int64 { ch := l.Of(row); return ch[ledger.Queued] }
		}
		v.Prediction = append(v.Prediction, c.PredictP99(less))
		v.Title = fmt.Sprintf("Connections %s: %s of slow time passes %s, before the service sees the request.", held, units.Percent(share), where)
	case waits < leastQueued.Value:
		v.Weigh(waits, leastQueued)
		return v
	case len(c.Found) > 0: // what keeps the service from taking requests up is found
		v.Rule = check.Explained
		return v
	case rows && readAtOnce(c): // what is unread belongs to requests that are under way, as the end of one over FastCGI does
		return v
	case rows && (waits/l.Requests.Rate < check.Noticeable.Duration().Seconds() || l.FromOutside() && l.Rule == ledger.RuleSLO):
		return v
	case c.ObjectiveMet:
		v.Rule = check.NotSlow
		v.Summary += ", and clients' requests meet the objective"
		return v
	default: // the service's own figures begin after the wait, and clients that all wait alike are not slow for one another
		v.Weight = waits
		v.Weigh(waits, leastQueued)
		v.Title = fmt.Sprintf("Connections %s: %s %s %s, before the service sees their requests.", held, units.Num(max(mean.Number, unread.OrZero())), when, where)
	}
	v.Rule, v.Needs = check.Matters, nil
	if full || dropped.Known() && dropped.Number > 0 {
		what := "the kernel dropped connections"
		if full && strings.HasPrefix(q.Address, "unix:") {
			what = "further connections were refused (EAGAIN) or had to wait"
		}
		v.Title = strings.TrimSuffix(v.Title, ".") + "; the queue was full at times, and " + what + "."
	}
	v.Fix = append(v.Fix, fix)
	if full {
		v.Fix = append(v.Fix, check.Fix{Text: "a longer accept queue prevents drops, not waits: raise the backlog that the program gives to listen, and net.core.somaxconn"})
	}
	return v
}

// meanOrOnly returns the mean of a curve, of one with a single reading that reading.
func meanOrOnly(k *metrics.Curve) metrics.Value {
	if k.Known() && k.Span() == 0 {
		return metrics.Value{Number: k.Last(), Origin: k.Origin}
	}
	return k.Over(metrics.Whole)
}

// readAtOnce says whether the kernel recorded when requests arrived and when they were read, and
// they were read at once.
func readAtOnce(c *check.Case) bool {
	if len(c.Bundle.Covered(c.Subject, evidence.CoverExchanges)) == 0 {
		return false
	}
	rows := c.Ledger.KnownRows()
	every := max(1, len(rows)/mostAsked)
	n, sum := 0, int64(0)
	for i := 0; i < len(rows); i += every {
		sum += entranceWait(c, rows[i])
		n++
	}
	return n > 0 && float64(sum) < check.Noticeable.Value*float64(n)
}

// mostAsked requests or twice as many tell how long they all waited.
const mostAsked = 1 << 13

// waitedAt returns the socket's queue that slow requests waited in most, as far as they show it,
// else the first.
func waitedAt(c *check.Case, all []metrics.ListenQueue) *metrics.ListenQueue {
	sums := make(map[string]int64)
	if c.Ledger != nil {
		for _, row := range c.Ledger.Slow {
			c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
				if w := c.Bundle.Names.Wait(s.Cause); ch[ledger.Queued] > 0 && (w.Kind == evidence.AcceptQueueOf || w.Kind == evidence.UnreadAt || w.Kind == evidence.ArrivedAt) {
					sums[w.Of] += ch[ledger.Queued]
				}
			})
		}
	}
	best, most := &all[0], int64(0)
	for i := range all {
		address, port := all[i].Address, all[i].Address[strings.LastIndexByte(all[i].Address, ':')+1:]
		if sum := sums[address] + sums["port "+port]; sum > most {
			best, most = &all[i], sum
		}
	}
	return best
}

// keepsThreads says whether a cause keeps the threads of the runtime's pool, so that requests wait for one.
func keepsThreads(f *check.Found) bool {
	behindThread := ledger.Place{Linked: ledger.Charges{ledger.PoolThread: 1}, Ns: 1}
	return f.Step == check.StepPool && f.ID != PoolExhausted.ID || f.Explains != nil && f.Explains(&behindThread)
}

// stopsReading returns the cause found that keeps the whole process, or the thread that reads,
// from taking requests up; "" if there is none, or if they hardly wait for that: a share of slow time.
func stopsReading(c *check.Case, share float64) string {
	if share < check.Arguable.Value {
		return ""
	}
	for _, f := range c.Found {
		if f.Step == check.StepProcessors || f.Step == check.StepCollector || f.StopsAll || f.ID == BlockedLoop.ID ||
			f.ID == PoolExhausted.ID && readByPool(c) || f.ID == RetryStorm.ID && check.Once(c, findStorm).holdsWorkers(c) ||
			keepsThreads(&f) && platform.ByID(c.Runtime()).Accepts && c.Share(ledger.PoolThread) >= check.Arguable.Value {
			return f.ID
		}
	}
	return ""
}

// readByPool says whether the threads that read the connections are of the pool that slow requests queue for: while all of them serve, none takes up another. The kernel
// keeps the beginning of a thread's name.
func readByPool(c *check.Case) bool {
	var readers, pools []string
	for _, row := range c.Ledger.Slow {
		c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
			switch w := c.Bundle.Names.Wait(s.Cause); {
			case ch[ledger.PoolThread] == 0:
			case w.Kind == evidence.EventLoop:
				reader := strings.TrimSuffix(w.Of[strings.LastIndexByte(w.Of, ' ')+1:], "…")
				// The kernel cuts names of threads: a shorter beginning does not tell a pool from others.
				if len(reader) > 7 && !slices.Contains(readers, reader) {
					readers = append(readers, reader)
				}
			case w.Kind == evidence.PoolThread && !slices.Contains(pools, w.Of):
				pools = append(pools, w.Of)
			}
		})
	}
	return slices.ContainsFunc(readers, func(reader string) bool {
		return slices.ContainsFunc(pools, func(pool string) bool { return strings.HasPrefix(pool, reader) })
	})
}

// connectMore is what helps where a proxy waits until it is connected with the service.
var connectMore = check.Fix{Text: "on the service's host, nstat -az TcpExtListenOverflows TcpExtListenDrops counts connections that its full accept queue dropped; without any, look for loss of packets between the proxy and it. Connections that the proxy keeps open to the service (keepalive of an upstream) save the wait"}

// judgeConnecting judges by how long a proxy took to connect with the service: the kernel connects
// at once unless the socket's queue is full, or packets are lost.
func judgeConnecting(c *check.Case) (v check.Verdict, slow bool) {
	if c.Ledger == nil || !c.Slow() {
		return v, false
	}
	each := waitsFor(c, evidence.ConnectingTo)
	var sum int64
	n := 0
	for _, ns := range each {
		if sum += ns; ns >= leastConnect.Int64() {
			n++
		}
	}
	share := float64(sum) / float64(max(1, c.Ledger.Total))
	if n < leastConnects.Int() || share < check.Material.Value || !c.UserVisible(check.Noticeable) || len(c.Found) > 0 { // found: what keeps the service from taking connections
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Summary: check.SlowWait("to be connected", sum, share), Saves: c.Save(each, -1, -1)}
	v.Title = fmt.Sprintf("Connections wait before the service accepts them: %s of slow time passes while a proxy connects with it.", units.Percent(share))
	v.Evidence = append(v.Evidence, c.Figure("slow.connect_ms", "slow time in which the proxy connected with the service", float64(sum)/1e6, "ms", check.From(c.Ledger.Source)))
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return waitFor(c, row, evidence.ConnectingTo) }))
	v.Fix = append(v.Fix, acceptMore, connectMore)
	return v, true
}

// A connection within a host or a network takes less than leastConnect; a dropped one is tried again after a second.
var (
	leastConnect = check.Threshold{Name: "time to connect", Value: float64(10 * time.Millisecond), Unit: "ns",
		Why: "within a host or a network it takes less; a dropped connection is tried again after a second", Source: "RFC 6298: the first retry after 1 s"}
	leastConnects = check.Threshold{Name: "slow requests that waited to be connected", Value: 5, Unit: "count",
		Why: "one or two are a lost packet", Source: "Poisson: where 2 are usual, 5 or more come by chance in 5 % of recordings"}
)

// waitsFor returns how long (ns) each slow request had a wait of a kind before the service.
func waitsFor(c *check.Case, kind evidence.WaitKind) []int64 {
	return eachSlow(c, func(c *check.Case, row int) int64 { return waitFor(c, row, kind) })
}

// eachSlow returns a figure (ns) of each slow request, in the order of [ledger.Ledger.Slow].
func eachSlow(c *check.Case, of func(c *check.Case, row int) int64) []int64 {
	out := make([]int64, len(c.Ledger.Slow))
	for n, row := range c.Ledger.Slow {
		out[n] = of(c, row)
	}
	return out
}

func sumOf(each []int64) (sum int64) {
	for _, ns := range each {
		sum += ns
	}
	return sum
}

func waitFor(c *check.Case, row int, kind evidence.WaitKind) (ns int64) {
	c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
		if ch[ledger.Queued] > 0 && c.Bundle.Names.Wait(s.Cause).Kind == kind {
			ns += ch[ledger.Queued]
		}
	})
	return ns
}

// loopRuns adds the function that the service's threads run most, and returns its name; "" unknown.
func loopRuns(c *check.Case, v *check.Verdict) string {
	for _, x := range c.Worked() {
		if x.Function == "" || c.Bundle.Names.Wait(c.Bundle.Names.Lookup(x.Function)).Kind != evidence.OtherWait { // a wait has a name, too
			continue
		}
		v.Evidence = append(v.Evidence, c.Figure("requests.function_share", "share of what its threads run: "+x.Name(), x.Share, "1", x.Origin))
		return x.Name()
	}
	return ""
}

// calledMeanwhile returns the dependency that slow requests wait for most of the time after they were read; "" if they do something else, or if that is so little
// of slow time that it does not show what the threads did before.
func calledMeanwhile(c *check.Case) string {
	l := c.Ledger
	details := c.Details(ledger.Dependency)
	if len(details) == 0 || c.Share(ledger.Dependency) < check.Arguable.Value || 2*l.Charges[ledger.Dependency] < l.Total-l.Charges[ledger.Queued] {
		return ""
	}
	return c.Bundle.Names.Text(details[0].Detail)
}

// judgeHeldInside judges requests that wait before their handlers begin while the kernel's queues
// of the service's sockets are empty: the process has them, and starts only so many at a time.
// Other causes that keep it from starting them would have been found.
func judgeHeldInside(c *check.Case, v check.Verdict, atSockets float64) check.Verdict {
	each := eachSlow(c, heldFor)
	share := float64(sumOf(each)) / float64(max(1, c.Ledger.Total))
	if way := c.Share(ledger.Queued) - share; way >= check.Material.Value {
		v.Rule = check.Untold
		v.Summary = check.OfSlow(way) + " before the requests arrived: on the way, or in their clients"
		v.Needs = []check.Need{{What: "a load from another host, or with CPUs to spare on this one"}}
		return v
	}
	if share-atSockets < check.Material.Value || !c.UserVisible(check.Noticeable) || len(c.Found) > 0 {
		return v
	}
	if inProxy := float64(sumOf(waitsFor(c, evidence.InProxy))) / float64(max(1, c.Ledger.Total)); share-atSockets-inProxy < check.Material.Value {
		v.Rule = check.Untold
		v.Summary = check.OfSlow(inProxy) + " in the proxy before the service"
		return v
	}
	v.Rule = check.Matters
	v.Summary = check.OfSlow(share) + " before handlers begin, while its sockets hold no backlog"
	v.Title = fmt.Sprintf("Requests wait before their handlers begin: %s of slow time. The service has accepted their connections and read them, so it holds them itself.", units.Percent(share))
	v.Evidence = append(v.Evidence, c.Figure("slow.queue_ms", "slow time between the client's sending and the start of the handler", float64(sumOf(each))/1e6, "ms", check.From(c.Ledger.StatesFrom())))
	v.Saves = c.Save(each, -1, -1)
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return heldFor(c, row) }))
	v.Fix = append(v.Fix, check.Fix{Text: "look for a limit of connections or of requests at a time in the server's settings or in a middleware, and raise it if what the handlers do can take it; if a proxy or another network lies between, look there, too"})
	return v
}

// heldFor returns how long (ns) a request waited before its handler began, as far as that may be
// within the service. Where the kernel recorded when requests arrived, the time before that is on
// the way or in the client.
func heldFor(c *check.Case, row int) (ns int64) {
	arrivals := len(c.Bundle.Covered(c.Subject, evidence.CoverExchanges)) > 0
	first := true
	c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
		if !arrivals || !first || s.Cause != 0 {
			ns += ch[ledger.Queued]
		}
		first = first && ch[ledger.GeneratorLag] > 0
	})
	return ns
}

// entranceWait returns how long (ns) a request waited at the service's sockets.
func entranceWait(c *check.Case, row int) (ns int64) {
	return waitFor(c, row, evidence.AcceptQueueOf) + waitFor(c, row, evidence.UnreadAt) + waitFor(c, row, evidence.ArrivedAt)
}
