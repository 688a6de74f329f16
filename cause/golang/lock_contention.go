package golang

import (
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/reading"
)

// LockContention is requests waiting for a mutex that others hold.
var LockContention = cause.Cause{
	ID:    "go.lock-contention",
	Title: "requests wait for a mutex",
	Step:  cause.StepLocks,
	Doc: `Goroutines queue for one sync.Mutex or sync.RWMutex. The lock shows as time blocked in
sync.(*Mutex).Lock; what its holder did meanwhile says what to change: if it ran, the
critical section is too long or entered too often; if it waited for a dependency, the
lock is held across a call; if it waited for a CPU or for GC, the lock only passes on
somebody else's delay.

How to tell it from similar problems: a pool or semaphore is not a lock, its holders are
supposed to hold it (service.pool-exhausted). Mutex profiles count the waiting of all
goroutines, background work included; only a trace shows what of it made requests slow.

What helps: less work under the lock, no calls under it, one lock per key (sharding), an
atomic snapshot (copy on write) for what is mostly read. RWMutex helps only where
readers hold it for long: its own counter is shared by all CPUs.`,
	Needs:   "what goroutines waited for: an execution trace; a mutex profile shows only where",
	Applies: isGo,
	Judge:   judgeLock,
}

func judgeLock(c *cause.Case) cause.Verdict {
	if !c.Traced() {
		return judgeLockByProfile(c)
	}
	l := c.Ledger
	share := c.Share(ledger.Lock)
	v := cause.Verdict{State: cause.RuledOut, Summary: cause.SlowWait("for locks", l.Charges[ledger.Lock], share)}
	v.Evidence = append(v.Evidence, c.Figure("slow time waiting for locks", float64(l.Charges[ledger.Lock])/1e6, "ms", cause.From(l.Source)))
	if share < cause.Material || !c.Slow() {
		return v
	}
	details := c.Details(ledger.Lock)
	top := details[0]
	site := c.Bundle.Names.Text(top.Detail)
	v.State = cause.Supported
	v.Title = fmt.Sprintf("Requests wait for one lock: %s.", site)
	v.Saves = c.SaveMechanism(ledger.Lock)
	for _, d := range details[:min(3, len(details))] {
		v.Evidence = append(v.Evidence, c.Figure("slow time waiting for: "+c.Bundle.Names.Text(d.Detail), float64(d.Ns)/1e6, "ms", cause.From(l.Source)))
	}
	holders, most := holderStates(c, evidence.LockWait)
	v.Evidence = append(v.Evidence, holders...)
	switch most {
	case evidence.NetWait:
		v.Fix = append(v.Fix, cause.Fix{Text: "the lock is held during a call to a dependency: make the call before taking the lock, or after releasing it", Code: site})
	default:
		v.Fix = append(v.Fix, cause.Fix{Text: "do less under this lock, use one lock per key, or let readers use an atomic snapshot", Code: site})
	}
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { ch := l.Of(row); return ch[ledger.Lock] }))
	return v
}

// told is the share of what holders did from which on it is told.
const told = .05

// holderStates says what those did who held what slow requests waited for, and
// what most of it was.
func holderStates(c *cause.Case, kind evidence.Kind) (out []cause.Evidence, most evidence.Kind) {
	sums := make(map[evidence.Kind]int64)
	var total int64
	for _, row := range c.Ledger.Slow {
		for s := range c.Bundle.Requests.Path(row).All {
			if s.Kind == kind {
				sums[s.HolderKind] += s.Dur
				total += s.Dur
			}
		}
	}
	for k := evidence.KindUnknown; k <= evidence.Serves; k++ {
		if sums[k] > sums[most] {
			most = k
		}
	}
	for _, k := range []evidence.Kind{evidence.Running, evidence.NetWait, evidence.Runnable, evidence.Syscall, evidence.SleepWait, evidence.SyncWait} {
		if total > 0 && float64(sums[k]) >= told*float64(total) {
			out = append(out, c.Figure("share of that time in which the holder was in: "+k.String(), float64(sums[k])/float64(total), "1", cause.From(c.Ledger.Source)))
		}
	}
	return out, most
}

func judgeLockByProfile(c *cause.Case) cause.Verdict {
	p, ok := reading.LockProfileOf(c.Bundle, c.Subject)
	v := c.NoStates()
	if !ok {
		return v
	}
	v.Summary = fmt.Sprintf("%.3g s of waiting for locks and channels in the profiles, but not how much of it by requests", float64(p.Waited)/1e9)
	v.Evidence = append(v.Evidence, c.Figure("time waited for locks and channels since the process started", float64(p.Waited)/1e9, "s", p.Origin))
	for _, f := range c.Bundle.Stacks.Frames(p.At) {
		if name := c.Bundle.Names.Text(f.Func); name != "" && !internalFrame(name) {
			v.Evidence = append(v.Evidence, c.Figure("most of it at "+name, float64(p.There)/1e9, "s", p.Origin))
			break
		}
	}
	return v
}
