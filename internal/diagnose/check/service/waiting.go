package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/gostack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Waiting is slow requests that wait at one place of the program which no other cause explains.
var Waiting = check.Check{
	ID:    "service.waiting",
	Title: "slow requests wait at one place",
	Step:  check.StepRest,
	Doc: `Slow requests spend much of their time in one function of the program, waiting for something that no
other cause names (no lock, pool or dependency): a timer, a system call such as fsync, a goroutine
or thread that serves all requests one after the other, a queue. This cause names the place, the
wait and its share of the slow time. unstall checks it last, and only for time that no other cause
explains. GC pauses also belong here if no other cause explains them. Of Go programs that serve HTTP/2 it
is not observed what a request waits for; then the place is where profiles of all goroutines show those
that serve requests.

Only the wait above that of other requests counts. A wait that all requests of a route have, fast
ones included, is by design: a long poll, an intended delay. It is not where one call at equal
distances answers all requests that came since the one before: then a timer takes up what they
hand over.
With --slo all of it counts.

How to tell it from similar problems: if other requests hold a limit there, it is a pool
(service.pool-exhausted); if all of them call another service, that service is slow
(service.dependency-slow).

Without requests, if only the kernel's view of a process is known, unstall samples its threads: if
half of the busy ones wait in one function for one lock or in one call, it names that place.

Minimum evidence: 5 slow requests with known states, and 25 % of the slow time at the place; without
--slo, a p99 of 20 ms. Without requests: half of the samples of busy threads.

What helps: depends on the place. The named code shows what it waits for.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time at one place that no other cause explains, 20 ms each on average unless --slo is given; by a profile alone, half of %v or more asleep; by one look at a native program's threads, %v that wait for a mutex, half of all; of a log of slow requests, as many that wait for a lock; in one goroutine dump, %v that wait until the other end reads, half of all; or the word of Go's runtime that all goroutines wait",
		check.SomeSlow, check.SlowShare, check.Material, aSecond, fewAwaiting, longQueue),
	Thresholds: []check.Threshold{ofOthers, aSecond, alsoWaited, alwaysLong, alwaysStands, clockAnswered, clockMost, clockNear, clockTicks, clockWaits, fewAwaiting, fewMoments, givenUp, leastFailed, mostLocked, leastMoments, leastStands, longHold, longQueue, longTurn, manyCalls, mostFlow, mostHeld, mostly, mostlyCall, shortCall, timesLonger, mostlyStands, tellers, typical, check.ASecond, check.CrowdedBy,
		check.CrowdedHost, check.FarLonger, check.FewClocked, check.FewPauses, check.FullCPUs, check.LongPause, check.Material, check.MaterialBeyond, check.TwoKinds, check.MaterialUnseen,
		check.MinRequests, check.MostOfSlow, check.Noticeable, check.OftenPaused, check.OftenStopped, check.ParkedLeast, check.ParkedMost, check.ParkedTimes, check.SlowShare, check.SomeSlow, check.WorthTelling},

	Needs:   "what requests waited for (Go: an execution trace; others: a recording of their threads)",
	Applies: (*check.Case).Serves,
	Judge:   judgeWaiting,
}

// hasStates says whether the states of enough requests are known to look for a place.
func hasStates(c *check.Case) bool {
	l := c.Ledger
	return l != nil && (l.Traced || l.Sampled || l.Looked) && len(l.Rows) >= ledger.MinRequests
}

// speaksFor are the mechanisms that the supported causes of a step explain.
var speaksFor = map[check.Step][]ledger.Mechanism{
	check.StepDependency: {ledger.Dependency, ledger.Awaiting},
	check.StepPool:       {ledger.Pool, ledger.PoolThread, ledger.TaskWait, ledger.Awaiting},
	check.StepProcessors: {ledger.RequestsCPU, ledger.BackgroundCPU, ledger.HostCPU, ledger.Wakeup},
	check.StepCollector:  {ledger.StopTheWorld, ledger.MarkAssist, ledger.AllocationStall, ledger.CollectorCPU},
	check.StepLocks:      {ledger.Lock},
	check.StepTraffic:    {ledger.RequestsCPU, ledger.BackgroundCPU},
}

// claimedMechanisms returns the mechanisms that supported causes account for.
func claimedMechanisms(c *check.Case) (m ledger.Claimed) {
	for _, f := range c.Found {
		for _, of := range speaksFor[f.Step] {
			m[of] = true
		}
	}
	if m[ledger.Lock] && !m[ledger.PoolThread] {
		m[ledger.PoolThread] = locksOf(c).ofThreads(c)
	}
	return m
}

// spokenFor says whether a supported cause explains a place.
func spokenFor(c *check.Case, p *ledger.Place) bool {
	return slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.Explains != nil && f.Explains(p) })
}

// waitsSomewhere are the mechanisms that are a wait at a place of the program.
var waitsSomewhere = []ledger.Mechanism{ledger.Lock, ledger.TaskWait, ledger.Pool, ledger.Dependency, ledger.Goroutine, ledger.Timer, ledger.Kernel}

func judgeWaiting(c *check.Case) check.Verdict {
	if v, ok := judgeStanding(c); ok {
		return v
	}
	if v, ok := judgeLockedThreads(c); ok {
		return v
	}
	if v, ok := judgeSlowLocked(c); ok {
		return v
	}
	if v, ok := judgeProfiledSleep(c); ok {
		return v
	}
	if v, ok := judgeGoroutineLook(c); ok {
		return v
	}
	if !hasStates(c) {
		return c.NoStates()
	}
	l := c.Ledger
	if v, ok := judgePauses(c); ok && !pausesExplained(c) {
		return v
	}
	if !c.Slow() {
		return check.Verdict{Rule: check.NotSlow, Summary: "almost no requests were slow"}
	}
	claimed := claimedMechanisms(c)
	one, sites := serialServers(c), c.Sites()
	largest := 0.
	var not *check.Verdict // of the largest place that is not the cause, an open verdict first
	for _, p := range l.Places(sites, claimed) {
		alone := p.Mechanism == ledger.PoolThread && one[c.Bundle.Names.Lookup(p.What)]
		if !alone && !slices.Contains(waitsSomewhere, p.Mechanism) || spokenFor(c, &p) {
			continue
		}
		if float64(p.Ns) < check.Material.Value*float64(l.Total) {
			largest = float64(p.Ns) / float64(max(1, l.Total))
			break
		}
		if c.Bundle.Names.Wait(c.Bundle.Names.Lookup(p.What)).Kind == evidence.EventLoop && (loopsHoldBriefly(c) || loopsKeptByCalls(c)) {
			continue
		}
		v := judgePlace(c, &p, sites)
		if v.Supported() {
			return v
		}
		if not == nil || not.RuledOut() && v.LeftOpen() {
			not = &v
		}
	}
	if v, ok := judgeParkedHandlers(c); ok {
		return v
	}
	if not != nil {
		return unlessUnseen(c, *not)
	}
	v := check.Verdict{Rule: check.TooLittle, Summary: "no single place has 25 % of the slow time that other causes leave unexplained"}
	v.Weigh(largest, check.Material)
	return unlessUnseen(c, v)
}

// judgeParkedHandlers judges requests of Go programs of which was not observed what they do, by where the goroutines that serve requests are parked in profiles
// of all goroutines.
func judgeParkedHandlers(c *check.Case) (v check.Verdict, ok bool) {
	l := c.Ledger
	share := c.Share(ledger.Unobserved)
	if l.Traced || share < check.Material.Value || !c.UserVisible(check.Noticeable) { // a trace knows what requests do, as far as it lasts
		return v, false
	}
	wait := func(row int) int64 {
		charges := l.Of(row)
		return charges[ledger.Unobserved]
	}
	per, usual, over := c.Excess(l.UsualRows(), l.Slow, wait)
	var unseen int64
	for _, row := range l.Slow {
		unseen += wait(row)
	}
	at := c.ParkedHandlers(unseen)
	if at == nil || over < check.Material.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Title: fmt.Sprintf("Slow requests wait at one place: %s: for %s of slow time requests were not looked at, and that is where profiles show the goroutines that serve them.", at, units.Percent(share))}
	v.Summary = fmt.Sprintf("%s, not observed; goroutines that serve requests are parked at %s", check.OfSlow(share), at)
	v.Weigh(share, check.Material)
	v.Evidence = append(v.Evidence,
		c.Figure("goroutines.parked_there", fmt.Sprintf("goroutines parked there, of %s that served requests in the same server and waited, in profiles of all goroutines", units.Count(int(at.Of))), float64(at.Count), "count", at.Origin),
		c.Figure("requests.usual_unobserved_ms", "usual time of a request that was not observed (median of the most affected route)", float64(usual)/1e6, "ms", check.From(l.StatesFrom())))
	v.Saves = c.Save(per, -1, -1)
	v.Fix = append(v.Fix, check.Fix{Text: "this code lets requests wait: a limit, a queue or a lock: raise the limit if what is behind it can take more, do less work in what it protects, or answer early that the limit is reached", Code: at.Site.String()})
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return max(0, wait(row)-usual) }))
	return v, true
}

// unlessUnseen makes a verdict that rules out inconclusive where a material part of the slow time
// was not observed.
func unlessUnseen(c *check.Case, v check.Verdict) check.Verdict {
	unseen := c.Share(ledger.Unobserved)
	v.Missed(unseen, check.MaterialUnseen)
	if !v.RuledOut() || unseen < check.MaterialUnseen.Value {
		return v
	}
	if c.WaitsUnseen() {
		return c.UnlessUnseen(v)
	}
	v.Rule, v.Summary = check.Unseen, fmt.Sprintf("%s of slow time was not observed", units.Percent(unseen))
	v.Needs = []check.Need{c.Trace("a longer recording under load", "")}
	return v
}

func judgePlace(c *check.Case, p *ledger.Place, sites ledger.Site) check.Verdict {
	l := c.Ledger
	share := float64(p.Ns) / float64(l.Total)
	at := check.From(l.StatesFrom())
	name := placeName(c, p)
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("%s at %s", check.OfSlow(share), name)}
	v.Weigh(share, check.Material)
	v.Evidence = append(v.Evidence,
		c.Figure("slow.wait_ms", "slow time "+p.Mechanism.TitleAt(platform.ByID(c.Runtime()).Lane, p.Wait)+": "+name, float64(p.Ns)/1e6, "ms", at))
	if !l.Sampled { // else it is known how much of the time of all was there, and not which of them
		v.Evidence = append(v.Evidence, c.Figure("slow.wait_requests", "slow requests that waited there, of "+units.Count(len(l.Slow)), float64(p.Requests), "count", at))
	}
	wait := func(row int) int64 { return l.At(row, p, sites) }
	if p.From != "" && p.From != p.Where {
		v.Evidence = append(v.Evidence, c.Seen("requests wait for it in "+p.From, at))
	}
	if call := c.SiteOf(p.Stack).Callee; p.Mechanism == ledger.Kernel && c.OnThreads() && call != "" && !strings.Contains(name, call) {
		v.Evidence = append(v.Evidence, c.Seen("call site: "+call, at))
	}
	for _, link := range p.Through {
		v.Evidence = append(v.Evidence, c.Seen("requests reach it by waiting for "+link, at))
	}
	if p.Mechanism == ledger.Goroutine && p.From == "" {
		addBackgroundThreads(c, &v)
	}
	wholly := check.BehindMechanism(p.Mechanism)
	behind := c.BehindOf(wholly)
	v.Evidence = append(v.Evidence, c.Chain(wholly, &behind)...)
	gathers := gatheringAt(c, p)
	started := startedFor(c, p.Stack)
	if started != nil {
		v.Evidence = append(v.Evidence, c.Seen(fmt.Sprintf("the goroutines started to serve it wait in %s (%d of %d seen)", started, started.Count, started.Of), started.Origin))
		name = started.Site.String()
	}
	per, usual, over := beyondUsual(c, p.Mechanism, wait)
	if 2*p.Linked.Sum() >= p.Ns { // most of the wait is for holders: requests without calls show what is usual, too
		per, usual, over = c.Excess(l.UsualRows(), l.Slow, wait)
	}
	if usual > 0 || c.ShowsUsual() {
		v.Evidence = append(v.Evidence, c.Figure("requests.usual_wait_ms", "usual wait there per request (median of the most affected route)", float64(usual)/1e6, "ms", at))
	}
	v.Weigh(over, check.MaterialBeyond)
	switch {
	case over < check.Material.Value:
		v.Rule = check.Usual
		v.Summary += ", as in requests that were not slow"
		return v
	case p.Mechanism != ledger.Dependency && waitsWithoutSlow(c, p, &v):
		v.Rule = check.Usual
		v.Summary += ", where as many threads wait while no request is slow"
		return v
	case p.Mechanism == ledger.Dependency && readLate(c, per) != "":
		v.Rule = check.Withheld
		v.Summary += readLate(c, per)
		return v
	case lacksCPU(c, p, over):
		v.Rule = check.Explained
		v.Summary += ", which lacks a CPU as others use them (linux.noisy-neighbour)"
		return v
	case gathers == nil && l.Rule != ledger.RuleSLO && l.Rule != ledger.RuleBaseline && byDesign(c, p, wait):
		v.Rule = check.ByDesign
		v.Summary = fmt.Sprintf("requests wait at %s, fast ones too: this may be by design", name)
		v.Needs = []check.Need{{What: "a limit for request latency", Command: "unstall PID --slo 300ms"}}
		return v
	case !c.UserVisible(check.Noticeable):
		v.Rule = check.Brief
		v.Summary += c.ButBrief()
		return v
	case p.Mechanism == ledger.Dependency && !c.AddsNoticeably(per, check.Noticeable):
		v.Rule = check.Unnoticed
		v.Summary += ", but only milliseconds in each"
		v.Needs = []check.Need{{What: "a limit for request latency", Command: "unstall PID --slo 300ms"}}
		return v
	}
	v.Rule = check.Matters
	fix, one := p.Mechanism, serialServers(c)
	if p.Mechanism == ledger.Goroutine && one[c.Bundle.Names.Lookup(p.What)] {
		fix = ledger.Pool
	}
	title := placeTitle(fix, p.Wait, name)
	if after, waits := strings.CutPrefix(title, "Slow requests wait"); waits && len(p.Through) == 1 && 2*p.Linked[ledger.Goroutine] >= p.Ns { // as the ledger has it
		title = "Slow requests wait for " + p.Through[0] + ", which waits" + after
	} else {
		for i := len(p.Through) - 1; i >= 0; i-- {
			title += ", through " + p.Through[i]
		}
	}
	if gathers != nil {
		title = "Slow requests wait for " + gathers.describeWait(c)
		gathers.addEvidence(c, &v)
	}
	v.Title = fmt.Sprintf("%s: %s of slow time.", title, units.Percent(share))
	v.Saves = c.Save(per, -1, -1)
	if p.Linked[ledger.PoolThread] > 0 && slices.ContainsFunc(p.Through, func(link string) bool { return one[c.Bundle.Names.Lookup(link)] }) {
		fix = ledger.PoolThread // the holder does it on the one thread that others wait for
	}
	code := c.SiteOf(p.Stack).Path()
	if started != nil {
		code = started.String()
	}
	if code == "" && p.Wait.Kind == evidence.Turn {
		code = turnRuns(c, &v)
	}
	what := p.Wait
	if gathers != nil {
		what = evidence.Wait{Kind: evidence.TimedStart}
	}
	v.Fix = append(v.Fix, check.Fix{Text: fixOf(fix, what), Code: code})
	if p.Mechanism == ledger.Timer {
		if failed := findFailedLocks(c); failed != nil {
			failed.addTo(c, &v)
		}
	}
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return max(0, wait(row)-usual) }))
	return v
}

// startedFor returns where the goroutines wait that serve requests which wait for them on a stack of libraries only; nil where that is not known.
func startedFor(c *check.Case, stack evidence.StackID) *check.WaitingCode {
	if stack == 0 {
		return nil
	}
	at := c.WaitingCode(stack)
	if at == nil || at.Count == 0 {
		return nil
	}
	return at
}

// gatheringAt returns the calls at equal distances with which the requests are answered that wait at a place, as far as nothing else is known of that wait; nil if
// there are none.
func gatheringAt(c *check.Case, p *ledger.Place) *gathering {
	if p.Mechanism != ledger.Goroutine || p.Wait.Kind != evidence.OtherWait || 2*p.Linked.Sum() >= p.Ns {
		return nil
	}
	return findGathering(c, routeAt(c, p))
}

// routeAt returns the route whose slow requests wait longest at a place.
func routeAt(c *check.Case, p *ledger.Place) evidence.NameID {
	lost := make(map[evidence.NameID]int64)
	for n, row := range c.Ledger.Slow {
		lost[c.Bundle.Requests.Route.At(row)] += p.Per[n]
	}
	return largestName(lost)
}

// turnRuns adds the function that the process runs most while requests wait for their turn, and returns its name. It returns "" if that is
// unknown, or if the process hardly uses a CPU, so that the one that is served waits, too.
func turnRuns(c *check.Case, v *check.Verdict) string {
	l := c.Ledger
	used := metrics.ProcessOf(c.Bundle, c.Subject, metrics.Window{From: l.From, Until: l.To}).CPU
	where, _ := c.RanWhileSlow()
	if len(where) == 0 || !used.MostlyKnown() || used.Number < check.Material.Value {
		return ""
	}
	v.Evidence = append(v.Evidence, c.Figure("requests.ran_share", "share of what the process ran while slow requests were under way: "+where[0].Name(), where[0].Share, "1", where[0].Origin))
	return where[0].Name()
}

// lacksCPU says whether what requests wait for at a place is slow because other processes fill the
// host's CPUs.
func lacksCPU(c *check.Case, p *ledger.Place, over float64) bool {
	switch x := c.Crowding(); {
	case x == nil:
		return false
	case p.Mechanism == ledger.PoolThread:
		return p.Wait.Kind == evidence.EventLoop && x.Denied >= check.CrowdedBy.Value
	case p.Mechanism == ledger.Dependency:
		return over*(1-x.LackOf(c)) < check.Material.Value
	}
	return false
}

// addBackgroundThreads adds the threads that the program started itself and that are busy nearly
// all the time: requests may wait for their work.
func addBackgroundThreads(c *check.Case, v *check.Verdict) {
	if !c.OnThreads() {
		return
	}
	for i, t := range c.Threads().BackgroundThreads(c.Subject) {
		if i == 2 {
			break
		}
		what := units.Plural(len(t.Lanes), "thread") + " of " + t.Root
		if len(t.Names) > 0 {
			what += " (" + strings.Join(t.Names[:min(len(t.Names), 3)], ", ") + ")"
		}
		if len(t.Doing) > 0 {
			what += ", mostly " + t.Doing[0].Words
		}
		v.Evidence = append(v.Evidence, c.Figure("wait.background_share", "share of the samples in which other threads, which serve no request, are busy: "+what, t.Part, "1", t.Origin))
	}
}

var mostly = check.Threshold{Name: "part of its time that a request spends at a place", Value: .5, Unit: "1",
	Why: "that is then what it does", Source: "arithmetic: half"}

var typical = check.Threshold{Name: "part of a route's requests that wait at a place", Value: .6, Unit: "1",
	Why: "that is then what the route is for; with long polls come those who post", Source: "judgement: weighs routes that are there to wait (long polls, streams), with those who post to them, against routes that wait now and then"}

// byDesign says whether most requests of the route, also quick ones, spend most of their time at
// the place, in a select, a receive or a wait of the program's own, or for a timer of its event loop,
// while nothing is known to work for them: a long poll waits for events. A sleep is not by design,
// nor is a wait within a library.
func byDesign(c *check.Case, p *ledger.Place, wait func(row int) int64) bool {
	switch {
	case p.Wait.Kind == evidence.ForcedCycle, p.Wait.Kind == evidence.TimedStart: // the work is done for each
		return false
	case p.Mechanism == ledger.Pool && eventWaits(c)[c.Bundle.Names.Lookup(p.What)]:
	case p.Mechanism != ledger.Goroutine && p.Mechanism != ledger.Timer, 2*p.Linked.Sum() >= p.Ns:
		return false
	}
	callee := c.SiteOf(p.Stack).Callee
	if p.Wait.Kind != evidence.LoopTimer && !strings.HasPrefix(callee, "runtime.") && !strings.HasPrefix(callee, "sync.") {
		return false
	}
	l, r := c.Ledger, &c.Bundle.Requests
	route := routeAt(c, p)
	n, there := 0, 0
	for _, row := range l.KnownRows() {
		if r.Route.At(row) != route {
			continue
		}
		n++
		if events := waitsForEvents(c, row); float64(wait(row)+events) >= mostly.Value*float64(r.Latency(row)) {
			there++
		}
	}
	return n >= ledger.MinRequests && float64(there) >= typical.Value*float64(n)
}

// placeName returns what was waited for, and where: "fsync in main.(*Journal).Append".
func placeName(c *check.Case, p *ledger.Place) string {
	s := c.SiteOf(p.Stack)
	what := p.What
	if what == "" {
		what = s.Callee
	}
	switch {
	case p.Where == "" || strings.Contains(what, p.Where):
		return what
	case what == "":
		return p.Where
	}
	return what + " in " + p.Where
}

func placeTitle(m ledger.Mechanism, what evidence.Wait, name string) string {
	if name == "" {
		return "Slow requests spend their time " + m.Title()
	}
	switch m {
	case ledger.Pool, ledger.PoolThread:
		return "Requests wait for a worker that serves them one after the other: " + name
	case ledger.Timer:
		return "Slow requests wait for a timer: " + name
	case ledger.Kernel:
		if title := m.TitleAt("", what); title == ledger.InKernel {
			return "Slow requests wait " + title + ": " + name
		}
		return "Slow requests wait in a system call: " + name
	case ledger.Goroutine:
		if what.Kind == evidence.ForcedCycle || what.Kind == evidence.Turn {
			return "Slow requests wait for " + name
		}
		if strings.HasPrefix(name, gostack.ParkedForSelect+" in ") { // one of its channels may be that of a timer, or of a client that leaves
			return "Slow requests wait for another goroutine or for a timer: " + name
		}
		return "Slow requests wait for other requests: " + name
	}
	return "Slow requests wait at one place: " + name
}

// fixOf returns what helps against waiting at a place, by the kind of the wait, else by its
// mechanism.
func fixOf(m ledger.Mechanism, w evidence.Wait) string {
	if m == ledger.Kernel && (w.Call == "flock" || w.Call == "fcntl" && w.File) { // of fcntl's commands only F_SETLKW and F_OFD_SETLKW, which wait for a lock, take long
		w.Class = evidence.KernelFileLock
	}
	for _, f := range waitFix {
		if w.Kind == f.kind && f.kind != evidence.OtherWait || m == ledger.Kernel && w.Class == f.class && f.class != "" {
			return f.text
		}
	}
	return placeFix[m]
}

// waitFix is what helps against waits of a kind, or in a mechanism of the kernel.
var waitFix = []struct {
	kind  evidence.WaitKind
	class string
	text  string
}{
	{kind: evidence.ForcedCycle, text: "do not call runtime.GC or debug.FreeOSMemory in a request: GC starts a cycle when the heap has grown; if memory must stay below a limit, set GOMEMLIMIT"},
	{kind: evidence.Turn, text: "one request at a time is served here: behind a lock, in a queue with one worker, or by a limit of one: do long work before the lock is taken, or split what it protects, by key or by shard"},
	{kind: evidence.TimedStart, text: "the work that requests hand over begins when a timer fires, however early it comes: let the code that hands it over wake the worker (LISTEN and NOTIFY, a blocking read of the queue, a channel), or look more often"},
	{kind: evidence.LoopTimer, text: "find the timer that these requests wait for (setTimeout, asyncio.sleep, the delay of a batch, a debounce or a retry): shorten it, or go on when what it waits for has happened"},
	{kind: evidence.RoomToWrite, text: "the reader of the other end is slower than the writer, and the buffer between them is full: make the reader faster, write less, or add a queue that drops, with O_NONBLOCK"},
	{class: evidence.KernelDiskFault, text: "the file's pages are not in memory when requests access them: give the host memory for them, read them ahead (madvise MADV_WILLNEED, MAP_POPULATE), or access them outside requests"},
	{class: evidence.KernelThreads, text: "the program starts a thread for each piece of work: each start needs stack memory and the lock of the process's memory map, for which other thread starts and page faults wait: use a pool of threads"},
	{class: evidence.KernelFork, text: "a fork copies the page tables of the whole process, which takes longer with more memory, and forks of one process wait for each other: start programs with posix_spawn or vfork, or from a small helper process started early"},
	{class: evidence.KernelReclaim, text: noMemory},
	{class: evidence.KernelCompaction, text: noMemory},
	{class: evidence.KernelThrottled, text: "the process writes more than the disk can take, so the kernel throttles it: write less, write to a faster disk, or flush earlier and in the background"},
	{class: evidence.KernelFileLock, text: "another process, or another open file of this one, holds the lock of this file: hold it for less time there, lock a part or a separate file, or try without waiting (LOCK_NB, F_SETLK) and answer without the lock"},
}

const noMemory = "there was no free memory, or no large free block, so this thread had to free some: give the process or its cgroup more memory, or use less"

// placeFix is what helps where nothing more is known of a wait.
var placeFix = map[ledger.Mechanism]string{
	ledger.Timer:      "the code sleeps here: shorten the delay, end it when the awaited event happens, or move it out of the request",
	ledger.Kernel:     "take this call off the request path: do it once for many requests (group commit), in the background, or on a faster device",
	ledger.Goroutine:  "the work that requests hand over here is done one after the other, or late: do it in parallel, in the request itself, or in batches, or do not wait for it",
	ledger.Lock:       "do less while this lock is held, or use one lock per key",
	ledger.Pool:       "the worker serves one request after the other: use several workers, do less work per request, or process requests in batches",
	ledger.PoolThread: "requests wait for this one thread in turn: move long and blocking work off it to a pool of threads, let several threads do it, or let requests go on without it, by a queue that they only fill",
	ledger.TaskWait:   "await the task instead of blocking a thread for it",
	ledger.Dependency: boundWait.Text,
}
