package service

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Thresholds for a single thread dump, used when no requests are known.
var (
	fewAwaiting = check.Threshold{Name: "threads that wait for the network at one place, at one look", Value: 3, Unit: "threads",
		Why: "one or two may be calls that are always made", Source: "Poisson: where 1 is usual, 3 or more come by chance in 8 % of recordings"}
	mostAwaiting = check.Threshold{Name: "share of the threads at work that wait so", Value: .5, Unit: "1",
		Why: "more of them wait than work", Source: "arithmetic: half"}
)

// blockedLoop returns where a single thread dump shows an event loop in a blocking call.
func blockedLoop(c *check.Case) (evidence.Fact, bool) {
	f, ok := c.Fact(evidence.FactLoopBlocked)
	return f, ok && c.Ledger == nil
}

// judgeBlockedLoopDump judges an event loop that a thread dump shows in a blocking call, during which everything else on
// the loop waits.
func judgeBlockedLoopDump(c *check.Case, f evidence.Fact) check.Verdict {
	what, where, _ := strings.Cut(f.Value, evidence.Link)
	v := check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("Probably: the event loop is blocked in %s, in a call that blocks: it is to %s there, and all other requests of it wait.", where, what),
		Summary: "an event loop in a call that blocks: " + where}
	v.Evidence = append(v.Evidence, c.Figure("loop.standing_threads", "event loops in a call that blocks, at one look: "+where, f.Number, "count", f.Origin))
	v.Fix = []check.Fix{{Text: "make this call with a client that awaits, or on a pool of threads (asyncio: run_in_executor, or a handler that is not async)", Code: where}}
	v.Needs = []check.Need{{What: "how long it stands there: a second look, or when requests arrive and are read", Command: "unstall record PID"}}
	return v
}

// heldPart is the share of the time for which work must hold an event loop, by the program's own warnings.
var heldPart = check.Threshold{Name: "share of the time in which work held an event loop for so long that the program told of it", Value: .1, Unit: "1",
	Why: "one request in ten comes while it is held", Source: "PASTA: what comes at random meets a state as often as the state lasts"}

// judgeLoopHeld judges an event loop by the program's own warnings about work that held it.
func judgeLoopHeld(c *check.Case) (v check.Verdict, ok bool) {
	n, told := c.Fact(evidence.FactLoopHeld)
	if !told || c.Ledger != nil {
		return v, false
	}
	most, _ := c.Fact(evidence.FactLoopHeldMost)
	share, timed := c.Fact(evidence.FactLoopHeldShare)
	v = check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("work held the event loop %s, for up to %s", units.Plural(int(n.Number), "time"), units.Time(most.Number))}
	v.Evidence = append(v.Evidence, c.Figure("loop.held_times", "times that work held the event loop for so long that the program told of it", n.Number, "count", n.Origin),
		c.Figure("loop.held_longest_ms", "longest of them", most.Number/1e6, "ms", most.Origin))
	if timed {
		v.Evidence = append(v.Evidence, c.Figure("loop.held_share", "share of the time between the first and the last", share.Number, "1", share.Origin))
	}
	often := n.Number >= fewCollections.Value && share.Number >= heldPart.Value
	if !often && most.Number < tenSeconds.Value && (most.Number < aSecond.Value || n.Number < fewStatement.Value) {
		v.Rule, v.Needs = check.TooFew, []check.Need{{What: "requests from the same time, to show what it costs them: an access log with durations"}}
		v.Counted(n.Number, fewCollections)
		if n.Number >= fewCollections.Value {
			v.Rule = check.Happens
			v.Weigh(share.Number, heldPart)
		}
		return v, true
	}
	v.Rule, v.Weight = check.StandsAlone, max(share.Number, check.Material.Value)
	at := ""
	if most.Value != "" {
		at = " in " + most.Value
	}
	v.Title = fmt.Sprintf("Work holds the event loop, up to %s%s: all other requests of it wait for that long.", units.Time(most.Number), at)
	v.Fix = []check.Fix{{Text: "take this work off the loop: to a pool of threads or another process (asyncio: run_in_executor; Vert.x: executeBlocking), or make the call with a client that awaits", Code: most.Value}}
	v.Needs = []check.Need{{What: "requests from the same time, to show what it costs them: an access log with durations"}}
	return v, true
}

// fewCollections is how many collections must have been logged for their share of the time to mean something.
var fewCollections = check.Threshold{Name: "collections on an event loop's thread that were logged", Value: 5, Unit: "count",
	Why: "of five, a rate is known within a half", Source: "Poisson error: 1/√5"}

// judgeLoopCollected judges an event loop by a log of the collections that stop it: V8 collects on the thread that
// runs the program.
func judgeLoopCollected(c *check.Case) check.Verdict {
	share, _ := c.Fact(evidence.FactLoopCollected)
	n, _ := c.Fact(evidence.FactLoopCollections)
	most, _ := c.Fact(evidence.FactLoopCollectionMost)
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("GC stops the event loop for %s of the time", units.Percent(share.Number))}
	v.Weigh(share.Number, check.Material)
	v.Evidence = append(v.Evidence, c.Figure("loop.collected_share", "share of the time in which GC stopped the event loop", share.Number, "1", share.Origin),
		c.Figure("loop.logged_collections", "collections that were logged", n.Number, "count", n.Origin),
		c.Figure("loop.collection_longest_ms", "longest of them", most.Number/1e6, "ms", most.Origin))
	v.Counted(n.Number, fewCollections)
	switch {
	case share.Number < check.Material.Value:
		return v
	case n.Number < fewCollections.Value && (n.Number < fewStatement.Value || most.Number < aSecond.Value):
		v.Rule, v.Needs = check.TooFew, []check.Need{{What: "a longer log of node --trace-gc: some minutes under load"}}
		return v
	}
	v.Rule, v.Weight = check.StandsAlone, share.Number
	v.Title = fmt.Sprintf("GC stops the event loop for %s of the time: %s of up to %s, during which no request goes on.", units.Percent(share.Number), units.Plural(int(n.Number), "collection"), units.Time(most.Number))
	v.Fix = []check.Fix{{Text: "find what fills the heap, or what allocates beside it (buffers: \"external memory pressure\"): a heap snapshot, or --heap-prof", Setting: "--heap-prof"},
		{Text: "give V8 room where the heap is at its limit", Setting: "--max-old-space-size=MEGABYTES"}}
	v.Needs = []check.Need{{What: "requests from the same period, to show what it costs them: an access log"}}
	return v
}

// judgeSlowSeen judges by a server's log of requests that took too long: most of them were in a call that
// waits for the network, at one place. One that has waited for ten seconds and more is enough.
func judgeSlowSeen(c *check.Case) (v check.Verdict, ok bool) {
	all, _ := c.Fact(evidence.FactSlowSeen)
	f, told := c.Fact(evidence.FactSlowAwait)
	most, timed := c.Fact(evidence.FactSlowMost)
	if !told || c.Ledger != nil || f.Number < fewAwaiting.Value && most.Number < tenSeconds.Value || f.Number < mostAwaiting.Value*all.Number {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: min(1, f.Number/max(1, all.Number)),
		Title:   fmt.Sprintf("A dependency answers slowly: %.0f of %s that took too long were waiting for it in %s.", f.Number, units.Plural(int(all.Number), "request"), f.Value),
		Summary: fmt.Sprintf("%.0f slow requests waited for the network in %s", f.Number, f.Value)}
	if all.Number == 1 {
		v.Title = fmt.Sprintf("A dependency answers slowly: a request that took too long was waiting for it in %s.", f.Value)
		v.Summary = "a slow request waited for the network in " + f.Value
	}
	v.Evidence = append(v.Evidence, c.Figure("requests.await_network", "requests in the slow log that waited for the network there", f.Number, "count", f.Origin))
	if timed {
		v.Summary += ", for " + units.Time(most.Number)
		v.Evidence = append(v.Evidence, c.Figure("requests.await_network_ms", "longest that one of them has taken", most.Number/1e6, "ms", most.Origin))
	}
	v.Fix = []check.Fix{{Text: "look at what this code calls, and give the call a timeout", Code: f.Value}}
	v.Needs = []check.Need{{What: "how many requests were not slow: the access log from the same period"}}
	return v, true
}

// judgeAwaiting judges by a single thread dump in which most threads wait for the network at one
// place.
func judgeAwaiting(c *check.Case) (v check.Verdict, ok bool) {
	busy, _ := c.Fact(evidence.FactThreadsBusy)
	f, told := c.Fact(evidence.FactThreadsAwait)
	if !told || c.Ledger != nil || f.Number < fewAwaiting.Value || f.Number < mostAwaiting.Value*busy.Number {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: min(1, f.Number/max(1, busy.Number)),
		Title:   fmt.Sprintf("Probably: a dependency answers slowly: %.0f of %s at work wait for the network in %s.", f.Number, units.Plural(int(busy.Number), "thread"), f.Value),
		Summary: fmt.Sprintf("%.0f threads wait for the network in %s", f.Number, f.Value)}
	v.Evidence = append(v.Evidence, c.Figure("threads.await_network", "threads that wait for the network there, at one look", f.Number, "count", f.Origin))
	v.Fix = []check.Fix{{Text: "look at what this code calls, and give the call a timeout", Code: f.Value}}
	v.Needs = []check.Need{{What: "how long these calls take: more looks, or the calls of each request", Command: "unstall record PID"}}
	return v, true
}
