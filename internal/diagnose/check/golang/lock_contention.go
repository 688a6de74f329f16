package golang

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// LockContention is requests that wait for a mutex that other goroutines hold.
var LockContention = check.Check{
	ID:    "go.lock-contention",
	Title: "requests wait for a mutex",
	Step:  check.StepLocks,
	Doc: `Goroutines queue for one sync.Mutex or sync.RWMutex. The lock shows as time blocked in
sync.(*Mutex).Lock; the holder's state shows what to change: if it ran, the
critical section is too long or entered too often; if it waited for a dependency, the
lock is held across a call; if it waited for a CPU or for GC, the lock only passes on
another delay.

How to tell it from similar problems: a pool or semaphore is not a lock, its holders are
supposed to hold it (service.pool-exhausted). Mutex profiles count the waiting of all
goroutines, background work included; only a trace shows which part made requests slow.

What helps: less work under the lock, no calls under it, one lock per key (sharding), an
atomic snapshot (copy on write) for mostly-read data. RWMutex helps only if readers hold
it for long: its own counter is shared by all CPUs.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time, waited for locks, in a trace or by samples of the goroutines that serve requests, or for calls that other requests make; in a goroutine dump, 2 goroutines waiting for one mutex, one of them for a minute, or 10 of them at the same time, or 3 that are all it shows, or one of ten minutes that is, or that is shown with up to 3 others which hang as long, or 2 that are, of several mutexes, and wait for a minute each; in a profile's excerpt of up to 4, one that waits and one in another method of the same type",
		check.SomeSlow, check.SlowShare, check.Material),
	Thresholds: []check.Threshold{manyAtOne, queuing, stuck, stuckAlone, mostBeside, check.BehindCall, check.Crowd, check.FarLonger, check.Material, check.MinRequests, check.NoticeableCall, check.SlowShare, check.SomeSlow, check.WorthTelling},

	Needs:   "what goroutines waited for: an execution trace, a recording as root, or a goroutine dump while they wait; a mutex profile shows only where",
	Applies: isGo,
	Judge:   judgeLock,
}

func judgeLock(c *check.Case) check.Verdict {
	if looked := c.Ledger != nil && c.Ledger.Charges[ledger.Lock] > 0; !c.Traced() && !looked {
		v := judgeLockByDump(c)
		if !v.Rule.Supported() {
			if held, ok := judgeLockOverCall(c); ok {
				return held
			}
		}
		return v
	}
	l := c.Ledger
	share := c.Share(ledger.Lock)
	v := check.Verdict{Rule: check.TooLittle, Summary: check.SlowWait("for locks", l.Charges[ledger.Lock], share)}
	v.Weigh(share, check.Material)
	v.Evidence = append(v.Evidence, c.Figure("slow.lock_ms", "slow time waiting for locks", float64(l.Charges[ledger.Lock])/1e6, "ms", check.From(l.StatesFrom())))
	if share < check.Material.Value || !c.Slow() {
		v.Rule = c.Cleared(share)
		return v
	}
	behind := c.BehindFor(ledger.Lock)
	chain := c.Chain(check.BehindMechanism(ledger.Lock), &behind)
	if mine := float64(behind.Mine()) / float64(l.Total); mine < check.Material.Value {
		v.Rule, v.Evidence = check.HoldersWait, append(v.Evidence, chain...)
		v.Summary += behind.Root()
		return v
	}
	details := c.Details(ledger.Lock)
	site := c.Bundle.Names.Text(details[0].Detail)
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Requests wait for one lock: %s.", site)
	v.Saves = c.Save(behind.Own, -1, -1)
	for _, d := range check.ToldDetails(details, l.Charges[ledger.Lock]) {
		v.Evidence = append(v.Evidence, c.Figure("slow.lock_at_ms", "slow time waiting for: "+c.Bundle.Names.Text(d.Detail), float64(d.Ns)/1e6, "ms", check.From(l.StatesFrom())))
	}
	v.Evidence = append(v.Evidence, chain...)
	fix, at := "do less under this lock, use one lock per key, or let readers use an atomic snapshot", site
	if holder := c.HolderPlace(check.BehindMechanism(ledger.Lock), largestRoot(&behind)); holder != "" {
		fix, at = "do less under this lock, which is mostly held by the code below, use one lock per key, or let readers use an atomic snapshot", holder
	}
	for m, what := range outside {
		if 2*behind.Roots[m] >= behind.Total {
			v.Title = fmt.Sprintf("Requests wait for one lock, which is held during %s: %s.", what, site)
			fix = fmt.Sprintf("the lock is held during %s: do that before taking the lock, or after releasing it", what)
			at = cmp.Or(c.HolderPlace(check.BehindMechanism(ledger.Lock), m), site)
		}
	}
	v.Fix = append(v.Fix, check.Fix{Text: fix, Code: at})
	v.Prediction = append(v.Prediction, c.PredictFreed(func(row int) int64 { ch := l.Of(row); return ch[ledger.Lock] }))
	return v
}

// largestRoot returns the mechanism in which most of the waits for holders end.
func largestRoot(b *check.Behind) (most ledger.Mechanism) {
	for k := range b.Roots {
		if b.Roots[k] > b.Roots[most] {
			most = ledger.Mechanism(k)
		}
	}
	return most
}

// judgeLockOverCall judges by requests that make no call and go on when another request's call is answered; ok is false where they do not. How
// Go's goroutines wait for a lock is not seen from outside, but calls are. A call that takes far longer than usual is the dependency's fault.
func judgeLockOverCall(c *check.Case) (v check.Verdict, ok bool) {
	if c.Ledger == nil || !c.Slow() || c.AnswersLate() {
		return v, false
	}
	l := c.Ledger
	per, share := c.BehindCalls()
	if share < check.BehindCall.Value || !c.UserVisible(check.NoticeableCall) {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Saves: c.Save(per, -1, -1)}
	v.Explains = func(p *ledger.Place) bool { return p.Mechanism == ledger.Dependency }
	v.Weigh(share, check.BehindCall)
	whom, site := "a dependency", ""
	if details := c.Details(ledger.Dependency); len(details) > 0 && details[0].Detail != 0 {
		whom, site = c.Bundle.Names.Text(details[0].Detail), c.CallSite(details[0].Detail)
	}
	v.Title = fmt.Sprintf("Requests wait while one of them calls %s: behind a lock that it holds over the call, or for its result.", whom)
	v.Summary = fmt.Sprintf("%s of slow time is waiting for calls that other requests make", units.Percent(share))
	v.Evidence = append(v.Evidence, c.Figure("slow.others_call_share", "share of slow time in which requests without a call of their own waited for another request's call, and went on right after it", share, "1", check.From(l.StatesFrom())))
	v.Fix = []check.Fix{{Text: "make the call without the lock, or before its result is needed, in the background, and use the old result until then", Code: cmp.Or(site, whom)}}
	if site != "" {
		v.Evidence = append(v.Evidence, c.Seen("called from "+site, check.From(l.StatesFrom())))
	}
	v.Needs = []check.Need{{What: "which lock it is: an execution trace, or a dump of all goroutines while they wait", Command: fullDump}}
	waited := make(map[int]int64, len(per))
	for n, row := range l.Slow {
		waited[row] = per[n]
	}
	v.Prediction = append(v.Prediction, c.PredictFreed(func(row int) int64 { return waited[row] }))
	return v, true
}

// outside lists work that need not be done under a lock.
var outside = map[ledger.Mechanism]string{ledger.Dependency: "a call to a dependency", ledger.Kernel: "a system call", ledger.Timer: "a delay", ledger.Pool: "a wait for a pool"}

// Requests should not wait for a critical section of a minute: dumps give waits in whole minutes, from one minute on. A single
// goroutine may wait for its turn by design.
var (
	stuck = check.Threshold{Name: "time that a goroutine waits for a mutex, by a dump", Value: 60e9, Unit: "ns",
		Why: "no critical section that requests wait for lasts so long; dumps tell whole minutes", Source: "https://pkg.go.dev/runtime#Stack: waits are printed from one minute"}
	queuing = check.Threshold{Name: "goroutines that wait for one mutex", Value: 2, Unit: "count",
		Why: "one alone may wait for its turn by design", Source: "M/M/1: at a mutex that is free half of the time, 2 or more wait in 12 % of dumps (ρ³ at ρ = ½); here each has waited for a minute"}
)

// manyAtOne is the number of goroutines waiting for one mutex at a moment from which the wait's length does not matter.
var manyAtOne = check.Threshold{Name: "goroutines that wait for one mutex at one moment", Value: 10, Unit: "count",
	Why: "a goroutine that comes waits for ten others", Source: "M/M/1: at a mutex that is free half of the time, 10 or more wait in 0.05 % of dumps (ρ¹¹ at ρ = ½)"}

// stuckAlone is how long a goroutine must have waited to be reported if it is all that is shown of a dump.
var stuckAlone = check.Threshold{Name: "time that the only goroutine of a dump waits for a mutex", Value: 600e9, Unit: "ns",
	Why: "a program that gives a mutex on by turns does so within minutes, and a goroutine is shown alone because it hangs", Source: "judgement: weighs goroutines that are meant to wait against one that hangs; Go hands a mutex to a goroutine that has waited for 1 ms (starvationThresholdNs in https://go.dev/src/internal/sync/mutex.go)"}

// isStuckAlone says whether a goroutine that waits for a mutex is all that a dump shows, and for so long that nothing may come of it. A program's main
// goroutine may wait so for ever on purpose. Others may be shown with it if each of them hangs for as long.
func isStuckAlone(q *metrics.MutexQueue) bool {
	return (q.All || float64(q.Shown) <= mostBeside.Value && q.Least >= stuckAlone.Int64()) && q.Waiting == 1 && q.Longest >= stuckAlone.Int64() && q.At[0] != "main.main"
}

var mostBeside = check.Threshold{Name: "goroutines shown with one that waits for a mutex, each of which hangs", Value: 4, Unit: "count",
	Why: "so few are shown to tell what one of them waits for", Source: "judgement: weighs excerpts of reports, of two to four goroutines, against whole dumps, in which others than the holder hang on purpose"}

// isBesideHolder says whether the few goroutines that a profile's excerpt shows are one that waits for a mutex and one that may hold it: it is in a method of the
// same type, and waits for something else or works.
func isBesideHolder(q *metrics.MutexQueue) bool {
	return q.Untimed && q.Beside != "" && float64(q.Shown) <= mostBeside.Value
}

// describeWaiting says that so many goroutines wait.
func describeWaiting(n int) string {
	if n == 1 {
		return "1 goroutine waits"
	}
	return units.Plural(n, "goroutine") + " wait"
}

// isStuckChain says whether all goroutines that a dump shows wait for mutexes, though not for the same one, and each for so long: whoever holds one waits for another.
func isStuckChain(queues []metrics.MutexQueue) bool {
	n := 0
	for i := range queues {
		if queues[i].Longest < stuck.Int64() || queues[i].Untimed {
			return false
		}
		n += queues[i].Waiting
	}
	return n >= queuing.Int() && n == queues[0].Shown // which is known if there is a queue
}

// judgeLockByDump judges by the waits for a mutex in goroutine dumps; where they show nothing, by
// the lock profiles.
func judgeLockByDump(c *check.Case) check.Verdict {
	queues := metrics.MutexQueuesOf(c.Bundle, c.Subject, internalFrame)
	v := judgeLockByProfile(c)
	chain := isStuckChain(queues)
	for _, q := range queues {
		long := q.Waiting >= queuing.Int() && q.Longest >= stuck.Int64()
		alone := isStuckAlone(&q)
		beside := isBesideHolder(&q)
		if !long && !alone && !chain && !beside && q.Waiting < manyAtOne.Int() && !(q.All && q.Waiting >= check.Crowd.Int()) {
			continue
		}
		v.Rule, v.Weight = check.StandsAlone, 1
		v.Title = fmt.Sprintf("%s wait for one mutex, for up to %s: %s.", units.Plural(q.Waiting, "goroutine"), units.Time(float64(q.Longest)), q.At[0])
		if !long {
			v.Title = fmt.Sprintf("Probably: %s wait for one mutex at the same time: %s.", units.Plural(q.Waiting, "goroutine"), q.At[0])
		}
		v.Summary = fmt.Sprintf("%s wait for one mutex in the dump", units.Plural(q.Waiting, "goroutine"))
		if chain && !long {
			v.Title = fmt.Sprintf("All %d goroutines shown wait for mutexes, each for a minute and more, the longest for %s: %s.", q.Shown, units.Time(float64(q.Longest)), q.At[0])
			v.Summary = fmt.Sprintf("all %d goroutines shown wait for mutexes", q.Shown)
		}
		if beside && q.Waiting < manyAtOne.Int() {
			v.Title = fmt.Sprintf("Probably: a goroutine waits for a mutex in %s, which one in %s may hold while it waits itself.", q.At[0], q.Beside)
			v.Summary = fmt.Sprintf("%s for a mutex, of %d that are shown", describeWaiting(q.Waiting), q.Shown)
		}
		if alone && !chain {
			v.Title = fmt.Sprintf("Probably: a goroutine waits in vain for a mutex, for %s so far: %s.", units.Time(float64(q.Longest)), q.At[0])
			v.Summary = fmt.Sprintf("1 goroutine waits for a mutex for %s", units.Time(float64(q.Longest)))
		}
		v.Evidence = append(v.Evidence,
			c.Figure("goroutines.waiting_for_mutex", "goroutines waiting for this mutex", float64(q.Waiting), "count", q.Origin))
		if !q.Untimed && q.Longest > 0 { // else it is shorter than a minute, or not told
			v.Evidence = append(v.Evidence, c.Figure("goroutines.longest_mutex_wait_s", "longest wait for it so far, in whole minutes", float64(q.Longest)/1e9, "s", q.Origin))
		}
		for _, at := range q.At[:min(3, len(q.At))] {
			v.Evidence = append(v.Evidence, c.Seen("locked in "+at, q.Origin))
		}
		if q.Beside != "" {
			v.Evidence = append(v.Evidence, c.Seen("another goroutine is in "+q.Beside+", of the same type", q.Origin))
		}
		v.Fix = []check.Fix{{Text: "find what holds the mutex and why it does not return: do not wait for calls, channels or other locks under it", Code: q.At[0]}}
		v.Needs = []check.Need{{What: "how long requests wait for it: an execution trace", Command: platform.GoTrace}}
		if h := q.Holder; h != nil {
			v.Evidence = append(v.Evidence, c.Seen(fmt.Sprintf("goroutine %d is in %s beyond the lock, so it may hold it: %s in %s%s", h.Goroutine, h.In, h.State, h.At, formatSince(h.Waiting)), h.Origin))
			v.Fix = []check.Fix{{Text: fmt.Sprintf("goroutine %d may hold the mutex while it waits (%s): do that before taking the lock, or after releasing it", h.Goroutine, h.State), Code: h.At}}
		} else {
			v.Needs = append([]check.Need{{What: "the goroutine that holds it: the complete dump", Command: fullDump}}, v.Needs...)
		}
		return v
	}
	if len(queues) > 0 && queues[0].Waiting > 0 {
		q := slices.MaxFunc(queues, func(x, y metrics.MutexQueue) int { return cmp.Compare(x.Waiting, y.Waiting) })
		v.Evidence = append(v.Evidence, c.Figure("goroutines.waiting_for_mutex", "goroutines waiting for one mutex, in "+q.At[0], float64(q.Waiting), "count", q.Origin))
	}
	return v
}

// fullDump takes a dump of all goroutines, with how long each has waited.
const fullDump = "curl -o goroutines.txt 'http://HOST:PORT/debug/pprof/goroutine?debug=2'"

// formatSince says how long a goroutine has been in its state.
func formatSince(ns int64) string {
	if ns == 0 {
		return ""
	}
	return " for " + units.Time(float64(ns))
}

func judgeLockByProfile(c *check.Case) check.Verdict {
	p, ok := metrics.LockProfileOf(c.Bundle, c.Subject)
	v := c.NoStates()
	if !ok {
		return v
	}
	v.Summary = fmt.Sprintf("%s s of waiting for locks and channels in the profiles; how much of it requests waited is unknown", units.Num(float64(p.Waited)/1e9))
	v.Evidence = append(v.Evidence, c.Figure("lock.profile_waited_s", "time waited for locks and channels since the process started", float64(p.Waited)/1e9, "s", p.Origin))
	for _, f := range c.Bundle.Stacks.Frames(p.LongestSite) {
		if name := c.Bundle.Names.Text(f.Func); name != "" && !internalFrame(name) {
			v.Evidence = append(v.Evidence, c.Figure("lock.profile_waited_at_s", "most of it at "+name, float64(p.LongestWait)/1e9, "s", p.Origin))
			break
		}
	}
	return v
}
