package service

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// DependencySlow is requests waiting for the answer of something they call.
var DependencySlow = check.Check{
	ID:    "service.dependency-slow",
	Title: "a dependency answers slowly",
	Step:  check.StepDependency,
	Doc: `Slow requests spend their extra time waiting for the network: a database, a cache,
another service, or a name server (DNS) that says which address the other has. Only the
wait above the usual counts: a call that always takes 20 ms makes no request slower than
the others.

How to tell it from similar problems: a pool that is exhausted makes requests wait
before the call (service.pool-exhausted), often because the dependency is slow: then
both apply. A wait that ends while the process has no CPU is charged to the CPU, not to
the dependency. On a starved host both ends of a local connection wait.

By elimination, if nothing was recorded inside the process: the duration of a call in
the dependency's own monitoring, times the calls per request, is the most that the
dependency can have cost. 40 queries of 0.3 ms are 12 ms of 2.3 s: it is not the
database. Spans show the rest as time outside calls.

A client that opens a connection for each call pays for its set-up (TLS, a login) each time, and
each request of the route does: then the dependency is well, and kept connections help.

What helps: diagnosing the dependency itself; a timeout with a budget per request; fewer
calls in sequence; a cache where answers repeat. Of a name server: a cache on the host and
connections that stay open, a shorter timeout of the resolver where queries are sent again,
full names where search domains are tried first.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time, waited for calls with late responses; without slow requests, a statement of 50 ms that most requests of a route wait for, while the same database answers others in a tenth of that and no clock ends it, or connections opened for single calls, whose set-up is half of the time of requests of %v or more; by a database's own log alone, a statement, a wait for a lock or a sync of one file of %v, or two statements of %v; by a proxy's log alone, %v calls without an answer within a minute; by a profile alone, half of %v or more; by what its client measured, a phase before the answer of %v; by a storage's own words, an operation that has waited for %v",
		check.SomeSlow, check.SlowShare, check.Material, check.NoticeableCall, tenSeconds, aSecond, fewUnanswered, aSecond, aSecond, tenSeconds),
	Thresholds: []check.Threshold{aSecond, aboveChance, alignedEnd, alwaysLong, aside, askedAgain, fewAwaiting, fewPerConnection, fewStatement, fewSyncs, fewUnanswered, givenUp, leastLongCalls, longCall, longConnect, longTimes, mostAligned, mostAlways, mostAwaiting,
		mostly, mostOfCalls, ackLate, check.BehindCall, delayedAck, mostOfTime, mostSetUp, mostTogether, quickerOthers, releasedWithin, sentAgain, tenSeconds, timedSpread, unknownNames, wayBack, check.CrowdedBy, check.CrowdedHost, check.FarLonger, check.FullCPUs, check.Material,
		check.MaterialBeyond, check.TwoKinds, check.MinRequests, check.MostlyUnseen, check.Noticeable, check.NoticeableCall, check.OftenStopped, check.SlowShare,
		check.SomeSlow, check.WorthTelling},

	Needs:     "what requests waited for (Go: an execution trace; others: a recording of their threads), spans (OTLP, Zipkin or Jaeger JSON), an access log with the upstream's time, or the dependency's own monitoring (CSV)",
	Applies:   (*check.Case).Serves,
	Judge:     judgeDependency,
	JudgeHost: judgeByLog,
}

func judgeDependency(c *check.Case) check.Verdict {
	v := judgeCalls(c)
	if c.Ledger == nil {
		return v
	}
	if held := delayedAcks(c, v); held.Supported() && !v.Supported() { // by requests that are not slower than others
		return held
	}
	always := alwaysSlow(c, v)
	if always.Answer == check.ByDesign.Answer { // a fault counts more than what may be wanted
		if each := connectsEach(c, v); each.Supported() {
			return each
		}
	}
	return connectsEach(c, always)
}

// judgeCalls judges how much longer than usual slow requests wait for dependencies.
func judgeCalls(c *check.Case) check.Verdict {
	l := c.Ledger
	spans := spansOf(c)
	all := listMonitors(c, spans)
	known := l != nil && (c.HasRequestStates() || l.Charges[ledger.Dependency] > 0 || spans != nil && spans.own)
	switch {
	case !known && spans != nil:
		return judgeBeside(c, spans, all)
	case !known && len(all) > 0:
		return judgeMonitored(c, all)
	case !known:
		if v, ok := judgeSlowSeen(c); ok {
			return v
		}
		if v, ok := judgeProfiledNetwork(c); ok {
			return v
		}
		if v, ok := judgeConnect(c); ok {
			return v
		}
		if v, ok := judgeUnansweredLookups(c); ok {
			return v
		}
		if v, ok := judgeAwaiting(c); ok {
			return v
		}
		if x := exchangedOf(c); x != nil && l != nil {
			if v, ok := judgeAligned(c, x); ok {
				return v
			}
		}
		return c.NoStates()
	}
	wait := func(row int) int64 { ch := l.Of(row); return ch[ledger.Dependency] }
	if c.AnswersLate() { // those who hold locks and pools wait for it, too
		wait = func(row int) int64 { ch := l.OfRoots(row); return ch[ledger.Dependency] }
	}
	per, usual, share := beyondUsual(c, ledger.Dependency, wait)
	v := check.Verdict{Rule: check.TooLittle, Summary: formatBeyondUsual(l.Charges[ledger.Dependency], sumInts(per), share)}
	v.Weigh(share, check.MaterialBeyond)
	v.Evidence = append(v.Evidence,
		c.Figure("slow.dependency_ms", "slow time waiting for dependencies", float64(l.Charges[ledger.Dependency])/1e6, "ms", check.From(l.StatesFrom())))
	if usual > 0 || c.ShowsUsual() {
		v.Evidence = append(v.Evidence, c.Figure("requests.usual_dependency_ms", "usual wait for dependencies per request (median of the most affected route)", float64(usual)/1e6, "ms", check.From(l.StatesFrom())))
	}
	addSpansAndMonitors(c, &v, spans, all)
	if !c.Slow() {
		v.Rule = check.NotSlow
		if part := partOfAll(c, wait); len(l.Rows) < ledger.MinRequests && part >= check.Material.Value {
			v.Rule = check.TooFew
			v.Counted(float64(len(l.Rows)), check.MinRequests)
			v.Summary = fmt.Sprintf("%s of the time of %s is waiting for dependencies, but these are too few to tell whether that is usual", units.Percent(part), units.Plural(len(l.Rows), "request"))
			v.Needs = []check.Need{{What: "more requests: spans or an access log of some minutes"}}
		}
		return v
	}
	if share < check.Material.Value {
		if ever := check.Once(c, readUsualCalls).asEver; share+ever >= check.Material.Value {
			v.Rule = check.ByDesign
			v.Weigh(share+ever, check.Material)
			v.Summary += fmt.Sprintf("; %s is calls that take as long as ever, %s or more, beside requests that make none", check.OfSlow(ever), units.Time(alwaysLong.Value))
			v.Needs = []check.Need{{What: "a limit for request latency", Command: "unstall PID --slo 100ms"}}
			return v
		}
		if heldOverCalls(c) {
			v.Rule = check.HoldersWait
			v.Summary += ": slow requests wait for a resource that others hold during calls of the usual length"
		}
		if spans == nil {
			addAwaiting(c, &v)
		}
		if spans == nil && len(all) == 0 && l.Sampled {
			return c.UnlessUnseen(v)
		}
		return v
	}
	if late := readLate(c, per); late != "" {
		v.Rule = check.Withheld
		v.Summary += late
		v.Needs = []check.Need{{What: "the duration of the calls in the dependency: its own log"}}
		return v
	}
	if lack := c.Crowding().LackOf(c); lack > 0 && share*(1-lack) < check.Material.Value {
		v.Rule = check.Explained
		v.Summary += fmt.Sprintf("; for %s of that time those it called on this host were ready and did not run, as others use the CPUs (linux.noisy-neighbour)", units.Percent(lack))
		return v
	}
	notice := check.NoticeableCall
	if !l.Traced || c.Crowding() != nil { // shares of all requests' time tell of no call that it took longer than usual
		notice = check.Noticeable
	}
	if !c.UserVisible(notice) {
		v.Rule = check.Brief
		v.Summary += c.ButBrief()
		return v
	}
	if !c.AddsNoticeably(per, notice) {
		v.Rule = check.Unnoticed
		v.Summary += ", but only milliseconds in each"
		v.Needs = []check.Need{{What: "a limit for request latency", Command: "unstall PID --slo 300ms"}}
		return v
	}
	if _, others := c.BehindCalls(); others >= share/2 && slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.ID == goLock }) {
		v.Rule = check.Explained
		v.Summary += fmt.Sprintf(": most of it for calls of the usual length that other requests make (%s)", goLock)
		return v
	}
	for _, why := range []struct{ id, words string }{
		{ChattyCalls.ID, "their number makes them long"},
		{RowLock.ID, "most of it for locks of other transactions"},
		{CacheStampede.ID, "most of it while the same call runs many times"},
		{RetryStorm.ID, "most of it while failed calls are repeated"},
	} {
		if slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.ID == why.id }) {
			v.Rule = check.Explained
			v.Summary += ": " + why.words + " (" + why.id + ")"
			return v
		}
	}
	v.Rule = check.Matters
	name := "a dependency that the recording does not name"
	details := c.Details(ledger.Dependency)
	if len(details) > 0 && details[0].Detail != 0 {
		name = strings.TrimPrefix(c.Bundle.Names.Text(details[0].Detail), "sync I/O: ")
	} else if most := calledMost(c); most != "" {
		name = most
	}
	whom := nameDependency(c, name)
	from := ""
	if address := addressOf(c, spans); whom == name && address != "" && len(details) > 0 && 2*details[0].Ns > l.Charges[ledger.Dependency] && !hasPort(name) {
		whom, from = address, ", called from "+name
	} else if len(details) > 0 && details[0].Detail != 0 && !strings.Contains(whom, name) { // the ledger has that name
		from = ", called from " + name
	}
	v.Title = fmt.Sprintf("Slow requests wait for %s%s.", withArticle(whom), from)
	if route := calledRoute(c, name); route != "" {
		v.Title = fmt.Sprintf("Slow requests wait for %s, most of it at %s.", withArticle(whom), route)
	}
	_, others := c.BehindCalls()
	if others >= check.BehindCall.Value {
		v.Title = fmt.Sprintf("%s: %s of slow time is waiting for a call that another request makes.", strings.TrimSuffix(v.Title, "."), units.Percent(others))
		v.Evidence = append(v.Evidence, c.Figure("slow.others_call_share", "share of slow time in which requests without a call of their own waited for another request's call, and went on right after it", others, "1", check.From(l.StatesFrom())))
		v.Fix = append(v.Fix, check.Fix{Text: "one request calls, and the others wait for it: behind a lock that is held over the call, or for its result. Make the call without the lock, or before its result is needed, in the background, and use the old result until then"})
	}
	v.Saves = c.Save(per, -1, -1)
	for _, d := range check.ToldDetails(details, l.Charges[ledger.Dependency]) {
		v.Evidence = append(v.Evidence, c.Figure("slow.dependency_at_ms", "slow time waiting for: "+c.Bundle.Names.Text(d.Detail), float64(d.Ns)/1e6, "ms", check.From(l.StatesFrom())))
	}
	if c.AnswersLate() {
		addHolders(c, &v)
	}
	where := cmp.Or(callSite(c, details), calledFrom(c, name), callingCode(c, whom))
	if where != "" {
		v.Evidence = append(v.Evidence, c.Seen("called from "+where, check.From(l.StatesFrom())))
	}
	fix := boundFor(c, &v, whom)
	fix.Code = where
	if len(details) > 0 && c.Bundle.Names.Wait(details[0].Detail).Kind == evidence.UnreadPeer {
		fix = check.Fix{Text: "the other end of this connection does not read: find out why; until then, put a bounded queue that drops, with its own goroutine, between the requests and this write", Code: c.Bundle.Names.Wait(details[0].Detail).Of}
	}
	if looked := lookedUpAt(c, whom); looked != nil {
		looked.addEvidence(c, &v)
	} else {
		v.Fix = append(v.Fix, fix)
	}
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return max(0, wait(row)-usual) }))
	return v
}

// goLock is the cause that such waits are in programs that hide their locks from the kernel.
const goLock = "go.lock-contention"

// addressOf returns the address that calls spent most of their time at; "" where no one has most of it.
func addressOf(c *check.Case, spans *spanned) string {
	if most := calledMost(c); hasPort(most) {
		return most
	}
	if spans != nil && hasPort(spans.name) {
		return spans.name
	}
	return ""
}

// hasPort says whether a name ends with an address: "127.0.0.1:5432", "PostgreSQL at db:5432".
func hasPort(name string) bool {
	i := strings.LastIndexByte(name, ':')
	if i <= 0 {
		return false
	}
	_, err := strconv.ParseUint(name[i+1:], 10, 16)
	return err == nil
}

// withArticle returns a dependency's name for use within a sentence.
func withArticle(whom string) string {
	if strings.HasPrefix(whom, nameServer) {
		return "the " + whom
	}
	return whom
}

// readLate says, as a clause, that slow requests' calls took longer than usual (per, ns of each)
// because a quota stops the process: it reads answers only when it goes on. "" if that does not
// explain it.
func readLate(c *check.Case, per []int64) string {
	stop := c.StopLength()
	if stop == 0 {
		return ""
	}
	var longer int64
	for _, ns := range per {
		longer += max(0, ns-stop)
	}
	if float64(longer) >= check.Material.Value*float64(c.Ledger.Total) {
		return ""
	}
	return fmt.Sprintf(", but a CPU quota throttles the process for %s at a time, so it reads responses late", units.Time(float64(stop)))
}

// beyondUsual returns by how much slow requests exceed what is usual in a mechanism.
func beyondUsual(c *check.Case, m ledger.Mechanism, wait func(row int) int64) (per []int64, usual int64, share float64) {
	if m == ledger.Dependency && !c.AnswersLate() && heldOverCalls(c) {
		return beyondCallers(c, wait)
	}
	per, usual, share = c.Excess(c.Ledger.UsualRows(), c.Ledger.Slow, wait)
	if m == ledger.Dependency {
		share = forgiveUsualCalls(c, wait, per, share)
	}
	return per, usual, share
}

// heldOverCalls says whether requests queue for a lock or a pool that others hold during their
// calls. Then most requests are slow, and those that are not may make no call: they do not show
// how long a call usually takes.
func heldOverCalls(c *check.Case) bool {
	var behind int64
	for _, m := range []ledger.Mechanism{ledger.Lock, ledger.Pool} {
		b := c.BehindFor(m)
		behind += b.Roots[ledger.Dependency]
	}
	return float64(behind) >= check.Material.Value*float64(c.Ledger.Total)
}

// beyondCallers returns how much longer slow requests waited than is usual among all requests that
// call.
func beyondCallers(c *check.Case, wait func(row int) int64) (per []int64, usual int64, share float64) {
	l := c.Ledger
	var calls []int64
	for _, row := range l.KnownRows() {
		if ns := wait(row); ns > 0 {
			calls = append(calls, ns)
		}
	}
	slices.Sort(calls)
	if len(calls) > 0 {
		usual = stats.Quantile(calls, .5)
	}
	for _, row := range l.Slow {
		per = append(per, max(0, wait(row)-usual))
	}
	return per, usual, float64(sumInts(per)) / float64(max(1, l.Total))
}

// addHolders adds through which lock or pool requests wait for a dependency that they do not call
// themselves: its holders call the dependency meanwhile.
func addHolders(c *check.Case, v *check.Verdict) {
	for _, m := range []ledger.Mechanism{ledger.Lock, ledger.Pool} {
		b := c.BehindFor(m)
		if share := float64(b.Roots[ledger.Dependency]) / float64(max(1, c.Ledger.Total)); share >= check.Material.Value {
			names := waitedFor(c, check.BehindMechanism(m))
			name := c.Bundle.Names.Text(names[0].id)
			v.Title = fmt.Sprintf("%s, through %s, which is held during that wait.", strings.TrimSuffix(v.Title, "."), name)
			v.Evidence = append(v.Evidence, c.Figure("slow.dependency_of_holder_share", fmt.Sprintf("share of slow time in which requests waited for %s while its holder waited for a dependency", name), share, "1", check.From(c.Ledger.StatesFrom())))
		}
	}
}

var boundWait = check.Fix{Text: "diagnose the dependency with its own logs and metrics; until then, limit the wait with a timeout within the request's budget, and run independent calls in parallel"}

// boundOf returns what helps where the slow dependency is known.
func boundOf(whom string) check.Fix {
	if isDatabase(whom) {
		return check.Fix{Text: fmt.Sprintf("look at the plan of what is asked of %s (EXPLAIN ANALYZE) and at its log of slow statements: an index, fewer rows, or the result kept; until then, limit the wait with a timeout within the request's budget", whom)}
	}
	if slices.ContainsFunc(blockingCommands, func(command string) bool { return strings.HasSuffix(whom, "("+command+")") }) {
		return check.Fix{Text: fmt.Sprintf("%s waits until there is something, and keeps its connection until then, so that what other requests send on it waits, too: give commands that block connections of their own", whom)}
	}
	if strings.HasPrefix(whom, "Redis") {
		return check.Fix{Text: fmt.Sprintf("look at what occupies %s (SLOWLOG GET, LATENCY LATEST): a command on all of a large key, or one after another; until then, limit the wait with a timeout within the request's budget", whom)}
	}
	return boundWait
}

// formatBeyondUsual writes how much longer than usual (ns) slow requests waited for dependencies, which they did for a time (all, ns).
func formatBeyondUsual(all, ns int64, share float64) string {
	if all == 0 {
		return "no slow request waited for a dependency"
	}
	if ns <= 0 {
		return "requests wait no longer than usual for dependencies"
	}
	if share < check.Material.Value {
		return fmt.Sprintf("waiting longer than usual for dependencies is %s (%s)", check.OfSlow(share), units.Time(float64(ns)))
	}
	return fmt.Sprintf("slow requests waited %s longer than usual for dependencies, %s", units.Time(float64(ns)), check.OfSlow(share))
}

func sumInts(v []int64) (s int64) {
	for _, x := range v {
		s += x
	}
	return s
}

// addInts returns the sums of two lists of the same length.
func addInts(a, b []int64) []int64 {
	sums := slices.Clone(a)
	for n := range b {
		sums[n] += b[n]
	}
	return sums
}

// addSpansAndMonitors adds what spans and monitors show, and writes the summary in their terms.
func addSpansAndMonitors(c *check.Case, v *check.Verdict, spans *spanned, all []monitored) {
	if spans != nil {
		v.Summary = spans.formatCalls()
		// A caller that is stopped, or has no processor, sees long calls.
		if len(all) > 0 && all[0].mean < spans.call/2 {
			v.Summary += fmt.Sprintf("; a call takes %s, measured by %s itself", units.Time(all[0].mean), all[0].name)
		}
		spans.addFigures(c, v)
	}
	for i := range all {
		all[i].addFigures(c, v)
	}
	if l := c.Ledger; spans == nil && len(all) > 0 && all[0].calls > 0 && len(l.Slow) > 0 {
		m := &all[0]
		v.Summary = formatProduct(m.calls, m.mean, m.calls*m.mean, float64(l.Total)/float64(len(l.Slow))) + "; " + v.Summary
	}
}

// judgeBeside judges by spans of other requests than those that are charged: a sample of the same
// service and time.
func judgeBeside(c *check.Case, spans *spanned, all []monitored) check.Verdict {
	v := check.Verdict{Rule: check.TooLittle}
	addSpansAndMonitors(c, &v, spans, all)
	if !c.Slow() {
		return v
	}
	_, _, share := c.Excess(spans.rows, spans.slow, func(row int) int64 { return timeInState(c, row, evidence.NetWait) })
	v.Weigh(share, check.MaterialBeyond)
	if share < check.Material.Value {
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Slow requests wait for %s.", spans.name)
	v.Saves = c.Bound(share*float64(c.Ledger.Total), 0, float64(c.Ledger.Total))
	v.Fix = append(v.Fix, boundWait)
	return v
}

// callSite returns the program's own function from which most of the wait for the first dependency
// was entered.
func callSite(c *check.Case, details []ledger.Entry) string {
	if len(details) == 0 {
		return ""
	}
	sums := make(map[evidence.StackID]int64)
	for _, row := range c.Ledger.Slow {
		for s := range c.Bundle.Requests.Path(row).All {
			if s.Kind == evidence.NetWait && s.Cause == details[0].Detail && s.Stack != 0 && c.SiteOf(s.Stack).Function != "" {
				sums[s.Stack] += s.Dur
			}
		}
	}
	var top evidence.StackID
	for s, v := range sums {
		if v > sums[top] || v == sums[top] && s < top {
			top = s
		}
	}
	return c.SiteOf(top).Path()
}

// calledFrom returns the method of the program in which most calls of a dependency begin; "" where
// the runtime does not report it.
func calledFrom(c *check.Case, dependency string) string {
	return threadstack.Short(ofCalls(c, dependency, evidence.FactCalledFrom))
}

// calledRoute returns the route of a dependency at which most of the time of its calls passed; ""
// where it has none, or the runtime does not report it.
func calledRoute(c *check.Case, dependency string) string {
	return ofCalls(c, dependency, evidence.FactCalledRoute)
}

// ofCalls returns what a fact says of the calls of a dependency.
func ofCalls(c *check.Case, dependency, key string) string {
	for _, f := range c.Bundle.Facts {
		if target, what, _ := strings.Cut(f.Value, evidence.Link); f.Subject == c.Subject && f.Key == key && target == dependency {
			return what
		}
	}
	return ""
}

// addAwaiting leaves the verdict open where requests await something without holding a thread:
// mostly a dependency, but no stack shows which.
func addAwaiting(c *check.Case, v *check.Verdict) {
	l := c.Ledger
	if l.Charges[ledger.Awaiting] == 0 {
		return
	}
	per, usual, share := c.Excess(l.UsualRows(), l.Slow, func(row int) int64 { ch := l.Of(row); return ch[ledger.Awaiting] })
	if share < check.Material.Value {
		return
	}
	v.Rule = check.Untold
	v.Summary = fmt.Sprintf("%s of slow time is awaiting something, above the usual %s ms; its target was not recorded", units.Percent(share), units.Num(float64(usual)/1e6))
	v.Evidence = append(v.Evidence, c.Figure("slow.awaiting_ms", "slow time awaiting without a thread, above the usual", float64(sumInts(per))/1e6, "ms", check.From(l.StatesFrom())))
	v.Needs = []check.Need{{What: "the duration of the awaited calls: the dependency's own log, or an access log with the upstream's time"}}
}

// partOfAll returns the part of all requests' time that a wait takes.
func partOfAll(c *check.Case, wait func(row int) int64) float64 {
	var waited, all int64
	for _, row := range c.Ledger.Rows {
		waited += wait(row)
		all += c.Bundle.Requests.Latency(row)
	}
	return float64(waited) / float64(max(all, 1))
}

// blockingCommands are commands of Redis that wait for data (https://redis.io/docs/latest/commands/?group=list, sorted-set and stream).
var blockingCommands = []string{"BLPOP", "BRPOP", "BLMOVE", "BLMPOP", "BRPOPLPUSH", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "XREAD", "XREADGROUP"}
