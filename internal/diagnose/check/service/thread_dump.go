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
