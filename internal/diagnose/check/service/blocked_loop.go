package service

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// BlockedLoop is an event loop on which one request delays the others.
var BlockedLoop = check.Check{
	ID:    "service.blocked-loop",
	Title: "requests wait for an event loop that others block",
	Step:  check.StepPool,
	Doc: `An event loop is one thread that reads the requests of many connections and handles each before it
reads the next: the main thread of Node.js, an asyncio loop, an event-loop or I/O thread of Vert.x, Netty or Undertow, a
program around epoll. A handler that computes for 50 ms on it, or waits for a database by a blocking call,
makes every other request of that loop wait for 50 ms. Those wait as data that has arrived and is not read: the program's own
figures and log begin after that.

unstall sees when the data of a request arrived, when a thread read it, and what that thread sent and read
in between. A thread is taken for an event loop if it reads several connections in turns and none of
them is read by another thread, or if a few threads share all connections, and each reads requests before others that it
has read are answered (the workers of tokio).

How to tell it from similar problems: if connections are not accepted, or each worker serves one
connection at a time, there are too few workers (service.accept-queue). If GC pauses or a CPU quota stop the
whole process, those causes explain the wait. A loop that is busy with many short requests has more to do than one CPU
can: then no single route keeps it for long.

What helps: take the long work off the loop, to a pool of threads or another process, or replace the
blocking call by one that does not block. More loops or processes share the wait and do not end it.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time, waited for an event loop; without --slo, a p99 of %v, and of %v for the wait alone, in turns of %v and more, unless one function keeps it busy in %v; or %v of it waited, and %v with what requests compute on the loop; or one look at its thread in a call that blocks, where requests are not recorded; or, by the program's own warnings, %v of the time in %v times or more, %v for %v, or once for %v",
		check.SomeSlow, check.SlowShare, check.Material, check.Noticeable, longHold, longTurn, mostHeld, someLoopWait, mostlyLoop, heldPart, fewCollections, fewStatement, aSecond, tenSeconds),
	Thresholds: []check.Threshold{ofOthers, aSecond, fewCollections, fewStatement, heldPart, longHold, longTurn, manyCalls, mostHeld, mostlyCall, mostlyLoop, shortCall, someLoopWait, tenSeconds, timesLonger, full, check.Arguable, check.CrowdedBy, check.CrowdedHost, check.FullCPUs, check.Material, check.MinRequests, check.Noticeable, check.SlowShare, check.SomeSlow, check.WorthTelling},

	Needs: "when requests arrived and which threads read them (unstall record PID, on Linux 6.3 or later as root)",
	Applies: func(c *check.Case) bool {
		if _, stands := blockedLoop(c); stands {
			return true
		}
		_, told := c.Fact(evidence.FactLoopCollected)
		_, held := c.Fact(evidence.FactLoopHeld)
		if (told || held) && c.Ledger == nil {
			return true
		}
		return len(c.Bundle.Covered(c.Subject, evidence.CoverExchanges)) > 0 && c.Ledger != nil && platform.ByID(c.Runtime()).OnThreads()
	},
	Judge: judgeBlockedLoop,
}

// An event loop that serves many requests in turns keeps each of them for some ms, which is no fault.
var (
	longHold = check.Threshold{Name: "p99 of the waits of all requests for an event loop, with 0 for those that are not slow, from which it is named whatever keeps it busy (asked unless --slo is given)", Value: 50e6, Unit: "ns",
		Why: "below it a single function must keep it busy", Source: "judgement: half of the 0.1 s that people take for immediate (J. Nielsen, Usability Engineering, 1993, chapter 5)"}
	longTurn = check.Threshold{Name: "time for which a loop works for one request while others wait, of half of their wait that or longer, from which it is named whatever keeps it busy (asked unless --slo is given)", Value: check.Noticeable.Value, Unit: "ns",
		Why: "what keeps it for less is one of many short requests, which wait for each other as for any one CPU", Source: check.Noticeable.Source}
	someLoopWait = check.Threshold{Name: "share of slow time in waits for an event loop, from which what requests compute on it counts, too", Value: .1, Unit: "1",
		Why: "others wait while one computes: both are what the loop's one thread does", Source: "judgement: weighs a loop that keeps others waiting against requests that merely compute"}
	mostlyLoop = check.Threshold{Name: "share of slow time in waits for an event loop and in computing on it", Value: .5, Unit: "1",
		Why: "one thread, the loop's, then takes most of it", Source: "arithmetic: half"}
	mostHeld = check.Threshold{Name: "share of the looks at a loop that is busy in one function, from which short waits are named", Value: check.Material.Value, Unit: "1",
		Why: "mending what keeps it busy for less leaves most of the wait", Source: check.Material.Source}
)

func judgeBlockedLoop(c *check.Case) check.Verdict {
	if f, stands := blockedLoop(c); stands {
		return judgeBlockedLoopDump(c, f)
	}
	if v, ok := judgeLoopHeld(c); ok {
		return v
	}
	if c.Ledger == nil {
		return judgeLoopCollected(c)
	}
	l := c.Ledger
	if len(l.Rows) < ledger.MinRequests {
		v := check.Verdict{Rule: check.TooFew, Summary: "too few requests finished during the recording", Needs: []check.Need{{What: "a longer recording", Command: "unstall record PID --for 5m"}}}
		v.Counted(float64(len(l.Rows)), check.MinRequests)
		return v
	}
	w := loopWaitsOf(c)
	share, per := w.slowShare(w.sum), w.each
	v := check.Verdict{Rule: check.TooLittle, Summary: check.SlowWait("for an event loop", w.sum, share)}
	v.Weigh(share, check.Material)
	accepts := share < check.Material.Value && w.alwaysBusy()
	if accepts {
		per = addInts(w.each, eachSlow(c, entranceWait))
		share = w.slowShare(sumInts(per))
		v.Weigh(share, check.Material)
		v.Summary += fmt.Sprintf(", and with what waits until the loop takes it up %s", units.Percent(share))
	}
	if of := w.slowShare(w.sum + sumInts(w.work)); share < check.Material.Value && share >= someLoopWait.Value && of >= mostlyLoop.Value {
		v.Weigh(of, mostlyLoop)
		v.Summary += fmt.Sprintf(", and with what these requests compute on it %s", units.Percent(of))
		share, per = of, addInts(w.each, w.work)
	}
	if !c.Slow() || share < check.Material.Value || !c.UserVisible(check.Noticeable) {
		v.Rule = c.Cleared(share)
		return v
	}
	crowded, waits := "", per
	if x := c.Crowding(); x != nil && x.Denied >= check.CrowdedBy.Value {
		denied := fmt.Sprintf("; for %s of the time in which the process's threads had work, they waited for a CPU that others use (linux.noisy-neighbour)", units.Percent(x.Denied))
		v.Summary += denied
		left := 1 - x.Denied
		if share *= left; share < check.Arguable.Value || left*float64(medianByTime(w.holds)) < longTurn.Value {
			v.Rule = check.Explained
			return v
		}
		v.Weigh(share, check.Arguable)
		per = slices.Clone(per)
		for n := range per {
			per[n] = int64(left * float64(per[n]))
		}
		crowded = ", without the part in which others use the CPUs"
	}
	h := w.holders[0]
	site := w.findSite(h.blocked != "")
	if w.keptByCalls() {
		v.Rule = check.Explained
		v.Summary += fmt.Sprintf("; in %s of that it handled the many short calls of %s (%s)", units.Percent(w.waitShare(h.ns)), h.route, ChattyCalls.ID)
		return v
	}
	if w.holdBriefly(waits, &v, &site) {
		v.Rule = check.Unnoticed
		v.Summary += ", but for some ms each, and no single function keeps it busy"
		v.Needs = []check.Need{check.NeedLimit}
		return v
	}
	at := c.Bundle.Covered(c.Subject, evidence.CoverExchanges)[0].Origin
	v.Rule = check.Matters
	loops, are := w.describeLoops()
	v.Title = fmt.Sprintf("Requests wait for the %s, which %s busy with others: %s of slow time%s.", loops, are, units.Percent(share), crowded)
	if crowded == "" && !accepts && share > w.slowShare(w.sum) {
		v.Title = fmt.Sprintf("Requests compute on the %s, or wait while it works for others: %s of slow time.", loops, units.Percent(share))
	}
	if part := w.waitShare(h.ns); h.route != "" && part >= check.Material.Value {
		it := "it"
		if len(w.loops) > 1 {
			it = "their loop"
		}
		v.Title += fmt.Sprintf(" In %s of that %s %s.", units.Percent(part), it, h.activityText())
	}
	v.Evidence = append(v.Evidence,
		c.Figure("slow.loop_ms", "slow time in which data had arrived and its event loop was busy", float64(w.sum)/1e6, "ms", at),
		c.Figure("loop.longest_wait_ms", "longest wait for it", float64(w.longest)/1e6, "ms", at),
		c.Figure("slow.wait_requests", "slow requests that waited for it, of "+units.Count(len(l.Slow)), float64(w.requests), "count", at))
	for i, h := range w.holders[:min(len(w.holders), 3)] {
		if what := h.activityText(); i > 0 && w.waitShare(h.ns) >= check.WorthTelling.Value || i == 0 && what != "" {
			v.Evidence = append(v.Evidence, c.Figure("loop.holder_share", "share of that wait in which the loop "+cmp.Or(what, "did what is not known"), w.waitShare(h.ns), "1", at))
		}
	}
	v.Saves = c.Save(per, -1, -1)
	if site.Function != "" {
		does := "in " + site.Name()
		if site.waits != "" {
			does = site.waits + " " + does
		}
		v.Evidence = append(v.Evidence, c.Figure("loop.function_share", "share of the looks at the loop's thread, while it had work, "+does, site.Share, "1", site.Origin))
	}
	v.Fix = append(v.Fix, offLoop(c, h, &site, w.lanes))
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
		if accepts {
			return loopWait(c, row) + entranceWait(c, row)
		}
		return loopWait(c, row)
	}))
	return v
}

// holdBriefly reports whether the loops keep requests for some ms each (per: ns of each slow one), or for some ms at a time while they serve many others in turns, and no single function
// keeps the loops busy. It records in v what decides.
func (w *loopWaits) holdBriefly(per []int64, v *check.Verdict, site *loopSite) bool {
	if w.c.AddsNoticeably(per, longHold) {
		if w.c.Ledger.Rule != ledger.RuleFloor {
			return false
		}
		usual := medianByTime(w.holds)
		v.Weigh(float64(usual), longTurn)
		if usual >= longTurn.Int64() {
			return false
		}
	}
	v.Weigh(site.Share, mostHeld)
	return site.Share < mostHeld.Value
}

// briefLoops is whether [loopWaits.holdBriefly].
type briefLoops bool

// loopsHoldBriefly is [loopWaits.holdBriefly] for checks of other causes.
func loopsHoldBriefly(c *check.Case) bool {
	return bool(check.Once(c, func(c *check.Case) briefLoops {
		w := loopWaitsOf(c)
		if len(w.holders) == 0 {
			return false
		}
		site := w.findSite(w.holders[0].blocked != "")
		return briefLoops(w.holdBriefly(w.each, &check.Verdict{}, &site))
	}))
}

// loopsTakeShortTurns says whether slow requests wait for event loops for a material part of their time, and these hold each of them briefly.
func loopsTakeShortTurns(c *check.Case) bool {
	return loopsHoldBriefly(c) && loopWaitsOf(c).loopShare() >= check.Material.Value
}

// alwaysBusy says whether the loops' threads always run or wait for a CPU, so that what waits to be accepted or read waits for them. Other threads of the
// process must have next to nothing to do.
func (w *loopWaits) alwaysBusy() bool {
	own := metrics.ProcessOf(w.c.Bundle, w.c.Subject, ledgerWindow(w.c))
	n := float64(len(w.lanes))
	return n > 0 && own.CPU.MostlyKnown() && own.RunDelay.MostlyKnown() && own.CPU.Number+own.RunDelay.Number >= full.Value*n && own.CPU.Number <= n
}

// loopShare returns the part of slow time that is waiting for event loops.
func (w *loopWaits) loopShare() float64 { return w.slowShare(w.sum) }

// keptByCalls reports whether the loops are mostly busy with the many short calls that requests of one route make.
func (w *loopWaits) keptByCalls() bool {
	return w.waitShare(w.holders[0].ns) >= mostlyCall.Value && keptByCalls(w.c, w.holders[0].route)
}

// callingLoops is whether [loopWaits.keptByCalls].
type callingLoops bool

// loopsKeptByCalls is [loopWaits.keptByCalls] for checks of other causes.
func loopsKeptByCalls(c *check.Case) bool {
	return bool(check.Once(c, func(c *check.Case) callingLoops {
		w := loopWaitsOf(c)
		return callingLoops(len(w.holders) > 0 && w.keptByCalls())
	}))
}

// offLoop returns what helps against a blocked event loop.
func offLoop(c *check.Case, h *loopHolder, site *loopSite, lanes map[evidence.LaneID]bool) check.Fix {
	fix := check.Fix{Code: site.Name()}
	if site.logs {
		fix.Text = "what is written to the log waits on the event loop until its reader has taken more (pino's sonic-boom sleeps until then): find why the reader of standard output or of the file is slow, or write without blocking (pino.destination with sync: false, or a transport in a thread of its own)"
		return fix
	}
	if strings.HasPrefix(site.Function, privateToLoop) && site.waits != "" { // the call is told, and what made it has no name
		fix.Code = ""
	}
	switch {
	case h.blocked != "":
		fix.Text = "do not wait for " + h.blocked + " on the event loop: use a client that does not block, or make this call"
	case site.waits != "":
		fix.Text = "do not wait on the event loop, as it does here (" + strings.NewReplacer("(", "", ")", "").Replace(site.waits) + "): use the form of the call that does not block, or make it"
	default:
		fix.Text = "do not compute this on the event loop: split it, use the asynchronous form of the call, or make it"
	}
	fix.Text += " on a pool of threads or in another process"
	if how := loopAdvice(c, lanes); how != "" {
		fix.Text += " (" + how + ")"
	}
	return fix
}

// privateToLoop is the prefix of libuv's internal functions (https://docs.libuv.org).
const privateToLoop = "uv__"

// loopLibraries are libraries with event loops, by parts of the names of their functions, and what each has for long work.
var loopLibraries = []struct {
	signs []string
	how   string
}{
	{[]string{"uv_run", "uv__io_poll", "node::"}, "Node.js: worker_threads"},
	{[]string{"_PyEval", "PyEval_", ".py:", "asyncio"}, "asyncio: run_in_executor, or a handler that is not async"},
	{[]string{"io.vertx.core.http.impl.", "io.vertx.ext.web."}, "Vert.x: executeBlocking"}, // its clients run on the loops of other servers, too
	{[]string{"io.micronaut.http.server."}, "Micronaut: @ExecuteOn(TaskExecutors.BLOCKING)"},
	{[]string{"io.undertow."}, "Undertow: dispatch"},
	{[]string{"reactor.core.", "reactor.netty."}, "Reactor: subscribeOn(Schedulers.boundedElastic())"},
	{[]string{"tokio::"}, "tokio: spawn_blocking"},
}

// loopAdvice returns what the libraries on the stacks of the loops' threads have for long work, "" if none of them is known.
func loopAdvice(c *check.Case, lanes map[evidence.LaneID]bool) string {
	var found []string
	seen := make(map[evidence.StackID]bool)
	looks := c.Threads().Samples(c.Subject)
	for i := range looks {
		if seen[looks[i].Stack] || len(lanes) > 0 && !lanes[looks[i].Lane] {
			continue
		}
		seen[looks[i].Stack] = true
		for _, f := range threadstack.Of(c.Bundle, looks[i].Stack).Frames {
			for _, l := range loopLibraries {
				if !slices.Contains(found, l.how) && slices.ContainsFunc(l.signs, func(sign string) bool { return strings.Contains(f, sign) }) {
					found = append(found, l.how)
				}
			}
		}
	}
	slices.Sort(found)
	return strings.Join(found, "; ")
}

// loopWaits are the waits of slow requests for event loops.
type loopWaits struct {
	c        *check.Case
	each     []int64 // ns, in the order of [ledger.Ledger.Slow]
	work     []int64 // ns that these requests computed, or waited for a CPU of the process, in the same order
	sum      int64
	holds    []int64 // ns for which a loop worked for one route at a time while a request waited
	longest  int64   // ns that one request waited without a break
	requests int
	loops    map[string]int64
	holders  []*loopHolder // that with most first
	lanes    map[evidence.LaneID]bool
}

// loopHolder is what a loop did while requests waited.
type loopHolder struct {
	route   string // "" unknown
	blocked string // whose answer it waited for; "": it ran
	ns      int64
}

func loopWaitsOf(c *check.Case) *loopWaits {
	l, names := c.Ledger, c.Bundle.Names
	w := &loopWaits{c: c, each: make([]int64, len(l.Slow)), work: make([]int64, len(l.Slow)), loops: make(map[string]int64), lanes: make(map[evidence.LaneID]bool)}
	type key struct{ route, blocked evidence.NameID }
	by := make(map[key]*loopHolder)
	for n, row := range l.Slow {
		unbroken, last := int64(0), int64(0)
		var worked evidence.NameID // the route that the loop worked for
		walkLoopWaits(c, row, func(at int64, s *evidence.Segment, ns int64) {
			if at > last || s.Via != worked || len(w.holds) == 0 {
				w.holds = append(w.holds, 0)
			}
			w.holds[len(w.holds)-1] += s.Dur
			worked = s.Via
			if w.each[n] += ns; at > last {
				unbroken = 0
			}
			unbroken, last = unbroken+s.Dur, at+s.Dur
			w.longest = max(w.longest, unbroken)
			w.loops[names.Text(s.Cause)] += ns
			w.lanes[s.Holder] = true
			k := key{route: s.Via}
			if s.HolderKind == evidence.NetWait {
				k.blocked = s.HolderCause
			}
			h := by[k]
			if h == nil {
				h = &loopHolder{blocked: names.Text(k.blocked)}
				if k.route != 0 {
					h.route = routeName(w.c, k.route)
				}
				by[k] = h
				w.holders = append(w.holders, h)
			}
			h.ns += ns
		})
		ch := l.Of(row)
		w.work[n] = ch[ledger.Own] + ch[ledger.RequestsCPU]
		if w.sum += w.each[n]; w.each[n] > 0 {
			w.requests++
		}
	}
	sorting.Short(w.holders, func(a, b *loopHolder) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.route, b.route), cmp.Compare(a.blocked, b.blocked))
	})
	return w
}

// medianByTime returns the time (ns) of which so many as long or longer make up half of the sum; 0 of none.
func medianByTime(times []int64) int64 {
	sorted := slices.Sorted(slices.Values(times))
	all, before := sumInts(sorted), int64(0)
	for _, ns := range sorted {
		if before += ns; 2*before >= all {
			return ns
		}
	}
	return 0
}

// walkLoopWaits yields the waits of a request for an event loop, with the part (ns) of each that
// nothing else explains.
func walkLoopWaits(c *check.Case, row int, yield func(at int64, s *evidence.Segment, ns int64)) {
	c.Ledger.Walk(row, func(at int64, s evidence.Segment, ch *ledger.Charges) {
		if ns := ch[ledger.PoolThread]; ns > 0 && s.Cause != 0 && c.Bundle.Names.Wait(s.Cause).Kind == evidence.EventLoop {
			yield(at, &s, ns)
		}
	})
}

// loopWait returns how long (ns) a request waited for an event loop.
func loopWait(c *check.Case, row int) (sum int64) {
	walkLoopWaits(c, row, func(_ int64, _ *evidence.Segment, ns int64) { sum += ns })
	return sum
}

// slowShare returns a time as a part of slow time.
func (w *loopWaits) slowShare(ns int64) float64 {
	return float64(ns) / float64(max(1, w.c.Ledger.Total))
}

func (w *loopWaits) waitShare(ns int64) float64 { return float64(ns) / float64(max(1, w.sum)) }

// describeLoops says which loop was waited for, or how many, and which verb goes with them.
func (w *loopWaits) describeLoops() (loops, are string) {
	if len(w.loops) == 1 {
		for name := range w.loops {
			if !strings.HasPrefix(name, evidence.Wait{Kind: evidence.EventLoop}.String()) { // carriers of virtual threads
				return name, "are"
			}
			return name, "is"
		}
	}
	return units.Plural(len(w.loops), "event loop"), "are" // of one process, or of its workers
}

// activityText says what the loop did, "" if unknown.
func (h *loopHolder) activityText() string {
	switch {
	case h.route == "":
		return ""
	case h.blocked != "":
		return "waited for " + h.blocked + " in " + h.route
	}
	return "handled " + h.route
}

// loopSite is where the loops' threads were seen most while they had work.
type loopSite struct {
	check.Effort
	waits string // what they waited for there, as the end of a sentence: "sleeping (nanosleep)"; "": they ran
	logs  bool   // most of these waits are in a library that sleeps while what it writes to is full
}

// blockingLoggers are parts of the names of frames of libraries that write a log and sleep on their caller's thread while a pipe or a file takes
// no more (https://github.com/pinojs/sonic-boom, retryEAGAIN).
var blockingLoggers = []string{"sonic-boom"}

// logsThere says whether most of the looks at a place, by stack, are within a library that writes a log.
func logsThere(b *evidence.Bundle, looks map[evidence.StackID]float64) bool {
	var all, logs float64
	for stack, n := range looks {
		all += n
		if slices.ContainsFunc(threadstack.Of(b, stack).Frames, func(f string) bool {
			return slices.ContainsFunc(blockingLoggers, func(l string) bool { return strings.Contains(f, l) })
		}) {
			logs += n
		}
	}
	return logs > all/2
}

// findSite finds the place where the loops' threads were seen most while they had work; with
// blocked, only among samples of threads that waited.
func (w *loopWaits) findSite(blocked bool) (most loopSite) {
	type where struct {
		check.Site
		waits string
	}
	seen := make(map[where]int)
	stacks := make(map[string]map[evidence.StackID]float64) // by what they waited for
	all := 0
	looks := w.c.Threads().Samples(w.c.Subject)
	for i := range looks {
		s := &looks[i]
		if !w.lanes[s.Lane] || s.View.State == evidence.Idle || standsInPoll(&s.View) || blocked && s.View.State == evidence.Running {
			continue
		}
		at := where{Site: w.c.SiteOf(s.Stack)}
		if at.Line = 0; s.View.Waiting() {
			at.waits = threadstack.WithoutFutex(s.View.Doing()) // as the ledger has it
		}
		if stacks[at.waits] == nil {
			stacks[at.waits] = make(map[evidence.StackID]float64)
		}
		stacks[at.waits][s.Stack] += float64(s.Count)
		all += s.Count
		if seen[at] += s.Count; at.Function != "" && (most.Function == "" || seen[at] > seen[where{most.Site, most.waits}]) {
			most.Site, most.Origin, most.waits = at.Site, s.Origin, at.waits
		}
	}
	if threadstack.RunsAny(most.Function) {
		return loopSite{}
	}
	most.Inner = w.c.InnerOf(most.Site, stacks[most.waits])
	most.logs = most.waits != "" && logsThere(w.c.Bundle, stacks[most.waits])
	if all > 0 {
		most.Share = float64(seen[where{most.Site, most.waits}]) / float64(all)
	}
	return most
}

// standsInPoll says whether the thread of a loop waits in its own poll, while a request that it began waits for another thread: it takes
// up whatever arrives then, and blocks nothing.
func standsInPoll(v *threadstack.View) bool {
	return v.State == evidence.SyncWait && slices.Contains([]string{"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect", "io_uring_enter"}, v.Pattern)
}
