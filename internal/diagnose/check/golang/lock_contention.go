package golang

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// LockContention is requests waiting for a mutex that others hold.
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
	Thresholds: "5 slow requests with 1 % of all request time, and 25 % of slow time, waited for locks in a trace",
	Needs:      "what goroutines waited for: an execution trace; a mutex profile shows only where",
	Applies:    isGo,
	Judge:      judgeLock,
}

func judgeLock(c *check.Case) check.Verdict {
	if !c.Traced() {
		return judgeLockByProfile(c)
	}
	l := c.Ledger
	share := c.Share(ledger.Lock)
	v := check.Verdict{State: check.RuledOut, Summary: check.SlowWait("for locks", l.Charges[ledger.Lock], share)}
	v.Evidence = append(v.Evidence, c.Figure("slow.lock_ms", "slow time waiting for locks", float64(l.Charges[ledger.Lock])/1e6, "ms", check.From(l.StatesFrom())))
	if share < check.Material || !c.Slow() {
		return v
	}
	behind := c.BehindFor(ledger.Lock)
	chain := c.Chain(check.BehindMechanism(ledger.Lock), &behind)
	if mine := float64(behind.Mine()) / float64(l.Total); mine < check.Material {
		v.Evidence = append(v.Evidence, chain...)
		v.Summary += behind.Root()
		return v
	}
	details := c.Details(ledger.Lock)
	site := c.Bundle.Names.Text(details[0].Detail)
	v.State = check.Supported
	v.Title = fmt.Sprintf("Requests wait for one lock: %s.", site)
	v.Saves = c.Save(behind.Own, -1, -1)
	for _, d := range details[:min(3, len(details))] {
		v.Evidence = append(v.Evidence, c.Figure("slow.lock_at_ms", "slow time waiting for: "+c.Bundle.Names.Text(d.Detail), float64(d.Ns)/1e6, "ms", check.From(l.StatesFrom())))
	}
	v.Evidence = append(v.Evidence, chain...)
	fix := "do less under this lock, use one lock per key, or let readers use an atomic snapshot"
	for m, what := range outside {
		if 2*behind.Roots[m] >= behind.Total {
			v.Title = fmt.Sprintf("Requests wait for one lock, which is held during %s: %s.", what, site)
			fix = fmt.Sprintf("the lock is held during %s: do that before taking the lock, or after releasing it", what)
		}
	}
	v.Fix = append(v.Fix, check.Fix{Text: fix, Code: site})
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { ch := l.Of(row); return ch[ledger.Lock] }))
	return v
}

// outside is what need not be done under a lock.
var outside = map[ledger.Mechanism]string{ledger.Dependency: "a call to a dependency", ledger.Kernel: "a system call", ledger.Timer: "a delay", ledger.Pool: "a wait for a pool"}

func judgeLockByProfile(c *check.Case) check.Verdict {
	p, ok := metrics.LockProfileOf(c.Bundle, c.Subject)
	v := c.NoStates()
	if !ok {
		return v
	}
	v.Summary = fmt.Sprintf("%s s of waiting for locks and channels in the profiles; how much of it requests waited is unknown", units.Num(float64(p.Waited)/1e9))
	v.Evidence = append(v.Evidence, c.Figure("lock.profile_waited_s", "time waited for locks and channels since the process started", float64(p.Waited)/1e9, "s", p.Origin))
	for _, f := range c.Bundle.Stacks.Frames(p.At) {
		if name := c.Bundle.Names.Text(f.Func); name != "" && !internalFrame(name) {
			v.Evidence = append(v.Evidence, c.Figure("lock.profile_waited_at_s", "most of it at "+name, float64(p.There)/1e9, "s", p.Origin))
			break
		}
	}
	return v
}
