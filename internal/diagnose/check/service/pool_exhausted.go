package service

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// PoolExhausted is requests waiting for a connection, token or slot that other
// requests hold.
var PoolExhausted = check.Check{
	ID:    "service.pool-exhausted",
	Title: "requests wait for an exhausted pool (connections, semaphore)",
	Step:  check.StepPool,
	Doc: `A pool of connections, a semaphore or a channel of tokens limits how many requests may
do something at once. When all are in use, requests queue for one before any call is
made: the dependency sees short calls and looks healthy.

unstall recognises the pool by the waiting library (database/sql, pgx, go-redis, …) or,
for the program's own pool, by the event that ends the wait: another request returns a
slot. The holders show why it is exhausted: waiting for the dependency (it is slow, or
the pool is small for the rate: needed = rate × hold time), or doing other work while
they hold a connection that they do not need at that moment. Where only the kernel was
asked, connections show it that are all busy, with a call or an open transaction, and
taken again as soon as one is free; or that requests hold without a call until they are answered,
such as requests that wait for a second connection of the same pool while they hold one: all
wait until a time-out ends one of them. A limiter of calls per second shows in calls that
begin in equal distances, whatever they take.

Without a recording of the process the pool's own gauges show it: if it was never
exhausted and no request waited, it is not the pool.

How to tell it from similar problems: a lock has one holder and its time is work
(go.lock-contention); waiting for a wait group or a shared call (singleflight) is
waiting for work, not for a slot.

What helps: a larger pool, if the dependency can handle more; holding for less time;
rejecting excess requests at the entrance instead of queueing them inside.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time, waited for the pool, with a p99 of %v unless --slo is given; or a gauge that shows it full with requests waiting, at one reading at least %v and half as many as it has places, or at least as many goroutines that wait for it at one look; or a log line of its library about a request that gave up, or of a server that has no place left, or %v of whose workers are blocked at once",
		check.SomeSlow, check.SlowShare, check.Material, check.Noticeable, longQueue, fewBlocked),
	Thresholds: []check.Threshold{again, allInUse, alsoWaited, atOnce, comfortable, fewBlocked, fewReadings, fewUnanswered, full, heldBySelf, longQueue, mostlyFree, mostlyPinned, oftenReached, saturated,
		tellers, twiceReached, check.Arguable, check.FarLonger, check.Material, check.MaterialBeyond, check.MaterialUnseen, check.TwoKinds, check.MinRequests, check.MostlyUnseen, check.Noticeable,
		check.Queueing, check.SlowShare, check.SomeSlow, check.WorthTelling, givenUp},

	Needs:     "what requests waited for (Go: an execution trace; others: a recording of their threads with unstall record PID); or the pool's gauges (CSV, JSON, Prometheus text), or spans of getting a connection",
	Applies:   (*check.Case).Serves,
	Judge:     judgePool,
	JudgeHost: judgePlaces,
}

func judgePool(c *check.Case) check.Verdict {
	if v, ok := judgeQueued(c); ok {
		return v
	}
	all, spans := listGauges(c), spansOf(c)
	if len(all) > 0 && all[0].UsedUp() {
		// The gauges count each that waits; looks at threads know a pool of the program's
		// own only by its name, and what queues behind as waiting for something else.
		if v := judgeGauges(c, all); v.Supported() && (!c.HasRequestStates() || c.Share(ledger.Pool) < check.Material.Value) {
			return v
		}
	}
	switch {
	case c.HasRequestStates():
	case spans != nil && c.Ledger != nil && (spans.pooled > 0 || len(all) == 0 && showsTaking(c, spans)):
		v := judgeTaken(c, spans)
		for i := range all {
			all[i].addFigures(c, &v)
		}
		return v
	case len(all) > 0:
		v := judgeGauges(c, all)
		if w, ok := judgeReached(c, all); ok && !v.Supported() {
			return w
		}
		return v
	case spans != nil:
		return check.Verdict{Rule: check.NotRecorded, Summary: "the recorded calls do not show waits for a connection, which would be part of the time outside them", Needs: []check.Need{readPool}}
	default:
		if v, ok := judgeLimits(c); ok && c.Ledger == nil {
			return v
		}
		if v, ok := judgeReached(c, nil); ok {
			return v
		}
		if v, ok := judgePoolDump(c); ok {
			return v
		}
		return c.NoStates()
	}
	v := judgeWaits(c, all)
	if len(all) == 0 && c.Ledger.Sampled {
		return c.UnlessUnseen(v)
	}
	return v
}

// poolWaits returns the waits for a pool, for a place that lets only so many in, or for a thread
// of a pool that serves requests. Three waits are not for a pool: one for a single goroutine or
// thread that serves all others in turn ([Waiting] looks at what it does); one for a pool whose
// threads wait for a lock, where more threads would wait as well; and one for carriers that pinned
// threads occupy (jvm.pinned-thread).
func poolWaits(c *check.Case) check.Wait {
	one, told, locks, pinned := serialServers(c), eventWaits(c), locksOf(c), pinnedNames(c)
	full := busyProcessors(c) >= saturated.Value
	return func(s *evidence.Segment, ch *ledger.Charges) (ledger.Mechanism, int64) {
		switch {
		case one[s.Cause], told[s.Cause], pinned[s.Cause]:
			return ledger.Pool, 0
		case s.Kind == evidence.ThreadWait && s.Cause != 0:
			if full && s.HolderKind == evidence.Running { // more threads would wait for the same processors
				return ledger.PoolThread, 0
			}
			if locks.holdWait(c, s) {
				return ledger.PoolThread, 0
			}
			return ledger.PoolThread, ch[ledger.PoolThread]
		}
		return ledger.Pool, ch[ledger.Pool]
	}
}

// serialServers returns the names of waits for a single goroutine or thread that serves all
// others.
func serialServers(c *check.Case) map[evidence.NameID]bool {
	one := make(map[evidence.NameID]bool)
	holders := make(map[evidence.NameID]map[evidence.LaneID]bool)
	for _, row := range c.Ledger.Slow {
		for s := range c.Bundle.Requests.Path(row).All {
			if s.Kind == evidence.ThreadWait && c.Bundle.Names.Wait(s.Cause).Kind == evidence.EventLoop {
				one[s.Cause] = true
			}
			if s.Kind != evidence.PoolWait || s.Holder == 0 {
				continue
			}
			if holders[s.Cause] == nil {
				holders[s.Cause] = make(map[evidence.LaneID]bool)
			}
			holders[s.Cause][s.Holder] = true
		}
	}
	for name, lanes := range holders {
		one[name] = len(lanes) == 1
	}
	for _, x := range threadLimits(c) {
		switch name := c.Bundle.Names.Lookup(x.Words()); {
		case x.Workers && x.Most == 1:
			one[name] = true
		case x.Most > 1: // the few requests whose holder is known had the same one
			delete(one, name)
		}
	}
	delete(one, 0)
	return one
}

// threadLimits returns the places that thread samples show to let only so many in.
func threadLimits(c *check.Case) []threads.Limit {
	if !c.OnThreads() {
		return nil
	}
	return c.Threads().Limits(c.Subject)
}

var heldBySelf = check.Threshold{Name: "share of slow time in which the holders of a pool did not wait for something else", Value: check.Material.Value, Unit: "1",
	Why: "what the holders wait for is the cause otherwise", Source: check.Material.Source}

func judgeWaits(c *check.Case, all []gauged) check.Verdict {
	l := c.Ledger
	wait := poolWaits(c)
	behind := c.BehindOf(wait)
	share := float64(behind.Total) / float64(max(1, l.Total))
	v := check.Verdict{Rule: check.TooLittle, Summary: check.SlowWait("for pools", behind.Total, share)}
	if others := othersWaits(c, wait, share); others != "" && share < check.WorthTelling.Value {
		v.Summary = others
	} else if others != "" {
		v.Summary += "; " + others
	}
	v.Weigh(share, check.Material)
	waited := c.Figure("slow.pool_ms", "slow time waiting for pools", float64(behind.Total)/1e6, "ms", check.From(l.StatesFrom()))
	if len(eventWaits(c)) > 0 {
		waited.Text += ", without waits for what other requests hand over"
	}
	v.Evidence = append(v.Evidence, waited)
	for i := range all {
		all[i].addFigures(c, &v)
		if i == 0 {
			v.Summary = all[i].formatUse() + "; " + v.Summary
		}
	}
	switch {
	case c.Slow() && share < check.Material.Value && c.Share(ledger.Pool)-share >= check.Material.Value && len(eventWaits(c)) > 0:
		v.Rule = check.ByDesign
		v.Weigh(c.Share(ledger.Pool), check.Material)
		v.Summary = fmt.Sprintf("%s for what other requests hand over, as long polls wait for events", check.OfSlow(c.Share(ledger.Pool)))
		v.Needs = []check.Need{{What: "a limit for request latency", Command: "unstall PID --slo 300ms"}}
		return v
	case share < check.Material.Value || !c.Slow():
		v.Rule = c.Cleared(share)
		return v
	case !c.UserVisible(check.Noticeable):
		v.Rule = check.Brief
		v.Summary += c.ButBrief()
		return v
	}
	chain := c.Chain(wait, &behind)
	if mine := float64(behind.Mine()) / float64(l.Total); mine < check.Material.Value {
		v.Evidence = append(v.Evidence, chain...)
		v.Rule = check.HoldersWait
		v.Weigh(mine, heldBySelf)
		v.Summary += behind.Root()
		return v
	}
	names := waitedFor(c, wait)
	name, what := c.Bundle.Names.Text(names[0].id), c.Bundle.Names.Wait(names[0].id)
	if x, known := sampledLoadOf(c); known && l.Sampled && what.Kind == evidence.PoolThread && 2*x.onCPU >= 1 {
		explained := v
		explained.Rule, explained.Evidence = check.Explained, append(slices.Clip(v.Evidence), chain...)
		if x.isSaturated(c) {
			explained.Summary += fmt.Sprintf(", whose threads run or wait for a CPU: more of them would wait for the same CPUs (%s)", OverCapacity.ID)
			return explained
		}
		if _, enough := estimateNeeded(c, &explained, names[0].id, wait); enough {
			explained.Summary += fmt.Sprintf(", whose threads run or wait for a CPU: there are enough of them for this load, and what they compute makes the wait (%s)", OwnWork.ID)
			return explained
		}
	}
	own := what.Kind == evidence.GoroutineLimit
	busy := workersOf(c, what)
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Requests queue for a pool: %s.", name)
	if what.Kind == evidence.OneAtATime {
		v.Title = fmt.Sprintf("Requests wait for one another: calls to %s are made one at a time, under a lock or on the one connection of a pool.", what.Of)
	}
	switch what.Kind {
	case evidence.PoolThread:
		v.Title = fmt.Sprintf("Requests wait for a free thread of %s.", what.Of)
	case evidence.Carrier:
		v.Title = "Requests wait for a carrier of virtual threads, while others compute on all of them."
	case evidence.HeldPool:
		v.Title = fmt.Sprintf("Requests queue for a pool: %s. Requests hold all of its connections and make no call on them.", name)
	case evidence.LeakedPool:
		v.Title = fmt.Sprintf("Requests queue for a pool: %s. Its connections are kept by transactions that stay open until they are closed.", name)
	case evidence.LostPool:
		v.Title = fmt.Sprintf("Requests queue for a pool: %s. Some of its connections carry nothing more after an answer, and yet are not given back.", name)
	}
	if what.Kind == evidence.RequestLimit {
		v.Title = fmt.Sprintf("Requests wait until others are answered: the service lets only %d through at a time (%s).", what.Places, name)
	}
	if what.Kind == evidence.RateLimit {
		v.Title = fmt.Sprintf("Requests wait for their turn to make a call: the service lets only so many through (%s).", name)
	}
	if own {
		v.Title = fmt.Sprintf("Requests wait for goroutines they start themselves, whose number is limited: %s.", name)
	}
	v.Saves = c.Save(behind.Own, -1, -1)
	told := names[:min(3, len(names))]
	if 200*(behind.Total-names[0].ns) <= behind.Total && len(eventWaits(c)) == 0 { // one figure of one thing: shown as 100 % of it
		v.Evidence[0].Text, told = "slow time waiting for: "+name, nil
	}
	for i, x := range told {
		if i > 0 && float64(x.ns) < check.WorthTelling.Value*float64(behind.Total) {
			break
		}
		v.Evidence = append(v.Evidence, c.Figure("slow.pool_at_ms", "slow time waiting for: "+c.Bundle.Names.Text(x.id), float64(x.ns)/1e6, "ms", check.From(l.StatesFrom())))
	}
	v.Evidence = append(v.Evidence, chain...)
	if what.Of != "" {
		if site := c.CallSite(c.Bundle.Names.Lookup(what.Of)); site != "" {
			v.Evidence = append(v.Evidence, c.Seen("its calls come from "+site, check.From(l.StatesFrom())))
		}
	}
	var at *check.WaitingCode
	if what.Of != "" || what.Places > 0 {
		at = c.WaitingCode(poolStack(c, names[0].id, wait))
	}
	if at != nil {
		seen := ""
		if at.Count > 0 {
			seen = fmt.Sprintf(" (%d of %d goroutines that served requests and waited)", at.Count, at.Of)
		}
		v.Evidence = append(v.Evidence, c.Seen("requests wait for it in "+at.String()+seen, check.From(l.StatesFrom())))
	}
	tasks := ""
	if at == nil && what.Of != "" {
		if tasks = tasksBehind(c, names[0].id); tasks != "" {
			v.Evidence = append(v.Evidence, c.Seen("others of these requests wait for what they have handed over, in "+tasks, check.From(l.StatesFrom())))
		}
	}
	if x := carriersNamed(c, name); x != nil {
		keptCarriers(c, &v, x)
	}
	switch {
	case busy != nil:
		busy.addEvidence(c, &v)
		estimateNeeded(c, &v, names[0].id, wait)
		busy.addFix(c, &v, names[0].id, wait)
	case what.Kind == evidence.RateLimit: // how long a call takes says nothing
		v.Fix = append(v.Fix, check.Fix{Text: "raise the limit of the limiter if " + what.Of + " may be asked more often, or let it pass bursts; else ask less often: keep answers for a while, or ask for several things in one call", Code: name})
	case what.Kind == evidence.Carrier: // how long each request is under way says nothing of how long it computes
		v.Fix = append(v.Fix, computeElsewhere(c.HolderPlace(wait, ledger.PoolThread)))
	case own: // each request has one of its own, so that how many requests come says nothing
		v.Fix = append(v.Fix, check.Fix{Text: "raise this limit (errgroup.SetLimit, or the size of the channel) if the service these goroutines call can take more, or combine several calls into one", Code: name})
	default:
		needed, _ := estimateNeeded(c, &v, names[0].id, wait)
		fix := enlargeFix(c, name)
		fix.Text = formatPlaces(needed) + fix.Text
		if at != nil && (what.Places > 0 || what.Kind == evidence.OneAtATime) && fix.Code == name {
			fix.Code = at.String()
		} else if tasks != "" && fix.Code == name {
			fix.Code = tasks
		} else if what.Kind == evidence.OneAtATime && fix.Code == name { // it is no code
			fix.Code = ""
		}
		v.Fix = append(v.Fix, fix)
	}
	waits := func(row int, inside bool) (ns int64) {
		l.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
			if _, w := wait(&s, ch); !inside || s.Kind != evidence.BeforeService {
				ns += w
			}
		})
		return ns
	}
	freed := l.FreeServers(func(row int) int64 { return waits(row, true) }) // they hold what serves them while they wait
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
		all := waits(row, false)
		before := l.BeforeService(row) - (all - waits(row, true)) // less what is such a wait itself
		return all + min(freed(row), max(0, before))
	}))
	return v
}

// tasksBehind returns where the threads of slow requests wait for tasks, if most of these requests are of the routes whose requests wait for a pool: the calls of
// their tasks are linked to none of them, and wait for the same pool. It returns "" if there is no such place.
func tasksBehind(c *check.Case, name evidence.NameID) string {
	l := c.Ledger
	waits := make(map[evidence.NameID]bool) // routes
	for _, row := range l.Slow {
		for s := range c.Bundle.Requests.Path(row).All {
			if s.Kind == evidence.PoolWait && s.Cause == name {
				waits[c.Bundle.Requests.Route.At(row)] = true
			}
		}
		for in := range l.Inside(row) { // a client's row
			for s := range c.Bundle.Requests.Path(in).All {
				if s.Kind == evidence.PoolWait && s.Cause == name {
					waits[c.Bundle.Requests.Route.At(row)] = true
				}
			}
		}
	}
	var claimed ledger.Claimed
	claimed[ledger.Pool] = true
	for _, p := range l.Places(c.Sites(), claimed) {
		if p.Mechanism != ledger.TaskWait || float64(p.Ns) < check.WorthTelling.Value*float64(l.Total) {
			continue
		}
		var same int64
		for n, row := range l.Slow {
			if waits[c.Bundle.Requests.Route.At(row)] {
				same += p.Per[n]
			}
		}
		if 2*same >= p.Ns {
			return placeName(c, &p)
		}
	}
	return ""
}

// poolStack returns the stack on which most slow requests waited for a pool; 0 where that is not known.
func poolStack(c *check.Case, name evidence.NameID, wait check.Wait) (top evidence.StackID) {
	sums := make(map[evidence.StackID]int64)
	for _, row := range c.Ledger.Slow {
		c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
			if _, ns := wait(&s, ch); s.Cause == name && s.Stack != 0 {
				sums[s.Stack] += ns
			}
		})
	}
	for stack, ns := range sums {
		if ns > sums[top] || ns == sums[top] && stack < top {
			top = stack
		}
	}
	return top
}

// othersWaits says, as a sentence's end, what requests wait for that looks like a pool and is judged by another cause: one
// worker that serves them in turn, or what other requests hand over. "" where that is next to nothing.
func othersWaits(c *check.Case, wait check.Wait, share float64) string {
	if c.Share(ledger.Pool)-share < check.WorthTelling.Value {
		return ""
	}
	left := func(s *evidence.Segment, ch *ledger.Charges) (ledger.Mechanism, int64) {
		if _, ns := wait(s, ch); ns > 0 {
			return ledger.Pool, 0
		}
		return ledger.Pool, ch[ledger.Pool]
	}
	names, behind := waitedFor(c, left), c.BehindOf(left)
	if len(names) == 0 {
		return ""
	}
	what := ""
	switch id := names[0].id; {
	case pinnedNames(c)[id]:
		what = ", which threads keep that cannot give it back while they wait"
	case eventWaits(c)[id]:
		what = ", which other requests hand over"
	case serialServers(c)[id]:
		what = ", which serves one after the other"
	}
	return fmt.Sprintf("%s is waiting for %s%s%s", check.OfSlow(float64(behind.Total)/float64(max(1, c.Ledger.Total))), c.Bundle.Names.Text(names[0].id), what, behind.Root())
}

// named is slow time waiting for one thing.
type named struct {
	id evidence.NameID
	ns int64
}

// waitedFor returns what slow requests waited for, the longest first.
func waitedFor(c *check.Case, wait check.Wait) (out []named) {
	sums := make(map[evidence.NameID]int64)
	for _, row := range c.Ledger.Slow {
		c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
			if _, ns := wait(&s, ch); ns > 0 {
				sums[s.Cause] += ns
			}
		})
	}
	for id, ns := range sums {
		out = append(out, named{id, ns})
	}
	sorting.Short(out, func(a, b named) int { return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.id, b.id)) })
	return out
}

// judgeLimits judges without requests, by the threads seen waiting at a place that lets only so
// many in.
func judgeLimits(c *check.Case) (v check.Verdict, ok bool) {
	for _, x := range threadLimits(c) {
		if x.Workers && x.Most == 1 || x.Carriers && x.Pinned >= mostlyPinned.Value || x.Waiting < check.Queueing.Value || 2*x.Waiting < float64(x.Most) {
			continue
		}
		v = check.Verdict{Rule: check.Matters, Weight: min(1, x.Waiting/float64(max(1, x.Most))),
			Title:   fmt.Sprintf("Requests queue for a pool: %s.", x.Words()),
			Summary: fmt.Sprintf("on average %s threads waited for it", units.Num(x.Waiting))}
		v.Weigh(x.Waiting, check.Queueing)
		v.Evidence = append(v.Evidence,
			c.Figure("pool.waiting", fmt.Sprintf("threads waiting there, average of %d samples", x.Looks), x.Waiting, "count", x.Origin),
			c.Figure("pool.beyond_most", "most threads inside at the same time", float64(x.Most), "count", x.Origin))
		for _, d := range x.Doing[:min(3, len(x.Doing))] {
			v.Evidence = append(v.Evidence, c.Figure("pool.doing_share", "share of the samples in which threads inside were "+d.Words, d.Share, "1", x.Origin))
		}
		v.Fix = append(v.Fix, enlargePool(x.Words()))
		v.Needs = []check.Need{{What: "an access log from the same time, to show what it costs requests"}}
		return v, true
	}
	return v, false
}

// showsTaking says whether spans show the taking of connections at all, so that the lack of long
// ones means something.
func showsTaking(c *check.Case, s *spanned) bool {
	for _, row := range s.rows {
		if timeInState(c, row, evidence.PoolWait) > 0 {
			return true
		}
	}
	return false
}

// estimateNeeded estimates how many places a pool would need: the request rate of the routes that
// wait for it (requests that find one free do not wait), times the time each is under way without
// waiting for it, which is the longest it can hold one (Little's law, J. Little, Operations
// Research 9, 1961). It returns 0 where a quarter of that time was not observed, as waits may be
// in it, and where a pool of known size would have made requests wait longer than they did. It is enough where the pool is known to have as many.
func estimateNeeded(c *check.Case, v *check.Verdict, name evidence.NameID, wait check.Wait) (needed float64, enough bool) {
	l, r := c.Ledger, &c.Bundle.Requests
	rows := l.KnownRows()
	waited, unseen := make([]int64, len(rows)), make([]int64, len(rows))
	outside := make([]int64, len(rows)) // ns before the service and after it, in which nothing is held
	through := make(map[evidence.NameID]bool)
	waiters := 0
	for i, row := range rows {
		l.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
			if _, ns := wait(&s, ch); s.Cause == name {
				waited[i] += ns
			}
			outside[i] += ch[ledger.Queued] + ch[ledger.Delivery] + ch[ledger.GeneratorLag]
			unseen[i] += ch[ledger.Unobserved]
		})
		if waited[i] > 0 {
			through[r.Route.At(row)] = true
			waiters++
		}
	}
	if waiters == 0 || l.To <= l.From {
		return 0, false
	}
	var n, held, unknown int64
	for i, row := range rows {
		if through[r.Route.At(row)] {
			n++
			held += r.Latency(row) - waited[i] - outside[i]
			unknown += unseen[i]
		}
	}
	seconds := float64(l.To-l.From) / 1e9 * float64(len(rows)) / float64(len(l.Rows)) // in which their states were known
	rate, mean := float64(n)/seconds, float64(held)/float64(n)/1e9
	v.Evidence = append(v.Evidence,
		c.Figure("pool.waits_per_s", "requests that waited for it", float64(waiters)/seconds, "1/s", check.From(l.StatesFrom())),
		c.Figure("pool.requests_per_s", "requests of the routes that need it", rate, "1/s", check.From(l.StatesFrom())))
	what := c.Bundle.Names.Wait(name)
	if unknown*4 < held {
		each := ""
		if needed = rate * mean; what.Processes > 1 {
			needed /= float64(what.Processes)
			each = fmt.Sprintf(", in each of %d processes", what.Processes)
		}
		v.Evidence = append(v.Evidence,
			c.Figure("pool.held_ms", "time each held it, upper bound: all time not spent waiting for it", mean*1e3, "ms", check.From(l.StatesFrom())),
			c.Figure("pool.needed", "most needed at the same time (requests per second × seconds held)"+each, needed, "count", check.From(l.StatesFrom())))
	}
	outgrown := func(places int) bool { // waits would have grown longer in this time, had so many been needed
		return needed*(1-float64(slices.Max(waited))/float64(l.To-l.From)) > float64(places)
	}
	switch what.Kind {
	case evidence.HeldPool, evidence.LeakedPool, evidence.LostPool: // its connections are kept without a request that uses them
		return 0, false
	}
	has := what.Places
	if what.Kind == evidence.PoolThread && c.OnThreads() {
		has = max(has, c.Threads().PoolThreads(c.Subject, what.Of))
	}
	if has > 0 && (float64(has) >= needed/comfortable.Value || outgrown(has)) {
		enough = needed > 0 && !outgrown(has)
		needed = 0 // not all that requests hold is known
	}
	if has, limited := awaitedLimit(c, name); limited && (float64(has) >= needed/comfortable.Value || outgrown(has)) {
		needed = 0
	}
	for _, x := range threadLimits(c) {
		if x.Words() == c.Bundle.Names.Text(name) {
			v.Evidence = append(v.Evidence, c.Figure("pool.seen_at_once", "most seen at the same time in thread samples", float64(x.Most), "count", x.Origin))
			if float64(x.Most) >= needed/comfortable.Value {
				needed = 0 // it has as many: bursts are no matter of the mean
			}
		}
	}
	return needed, enough
}
