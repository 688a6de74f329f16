package check

import (
	"cmp"
	"fmt"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/units"
)

// Contention is what is known of the locks of a runtime whose requests run on threads, in the runtime's terms.
// [Case.Contended] judges it in the same way for all runtimes.
type Contention struct {
	*metrics.Locks
	Charged bool      // the ledger has the time that slow requests waited for locks
	Cores   float64   // processors the threads run on, 0 unknown
	Few     Threshold // looks that a mean needs
	Excused bool      // busy processors explain the waiting threads: a holder that does not run keeps its lock
	More    []Need    // what to record where there were too few looks for a mean; nil: there were enough

	Figures []Evidence // how many threads waited
	Title   string     // names the lock by the code that waits for it
	At      []Evidence // which code waits
	Held    []Evidence // what the holder did during the waits

	Shorten string // fix for a holder that ran: do less under the lock
	Outside string // fix for a holder that waited itself: do that outside the lock
}

// Queueing is the mean number of threads waiting for locks from which contention is reported where no requests show its cost:
// one waiting thread is usual.
var Queueing = Threshold{Name: "threads that wait for locks on average", Value: 1.0, Unit: "threads",
	Why: "without requests nothing tells the cost; one thread always waits", Source: "Little's law, L = λW: at 1, requests lose a second in each second"}

// Crowd is the number of threads waiting for one lock in a single dump from which that dump is enough.
var Crowd = Threshold{Name: "threads that wait for one lock in a single dump", Value: 3, Unit: "threads",
	Why: "chance rarely shows so many where the lock is free most of the time", Source: "M/M/1: at a lock that is free half of the time, 3 or more wait in 6 % of dumps (ρ⁴ at ρ = ½)"}

// Stuck is the same number for a lock whose holder itself waits for other threads.
var Stuck = Threshold{Name: "threads that wait for one lock in a single dump whose holder waits for other threads", Value: 2, Unit: "threads",
	Why: "its holder keeps the lock for as long as others let it wait", Source: "M/M/1: at a lock that is free half of the time, 2 or more wait in 12 % of dumps (ρ³ at ρ = ½), and in few of these its holder waits, too"}

// HardlyWaiting is the mean number of waiting threads below which waits are negligible.
var HardlyWaiting = Threshold{Name: "waiting threads on average below which none waits to speak of", Value: .01, Unit: "threads",
	Why: "one thread for a hundredth of the time", Source: "Little's law, L = λW: 10 ms of waiting in each second"}

// Contended judges threads that queue for a lock.
func (c *Case) Contended(k Contention) Verdict { return c.UnlessUnseen(c.judgeContention(k)) }

func (c *Case) judgeContention(k Contention) Verdict {
	v := Verdict{Rule: TooLittle, Summary: "no thread waited for a lock", Evidence: k.Figures}
	switch {
	case k.Waiting.Number > 0:
		v.Summary = "almost no thread waited for a lock"
	case k.Waits > 0: // waits between looks
		v.Summary = fmt.Sprintf("no thread sample showed a lock wait; %s recorded, %s in total", units.Plural(k.Waits, "wait"), units.Time(float64(k.Waited)))
	}
	if k.Waiting.Number >= HardlyWaiting.Value {
		v.Summary = fmt.Sprintf("on average %s threads waited for a lock", units.Num(k.Waiting.Number))
	}
	l := c.Ledger
	if k.Waiting.Known() {
		v.Weigh(k.Waiting.Number, Queueing)
	}
	if k.Charged {
		v.Evidence = append(v.Evidence, c.Figure("slow.lock_ms", "slow time waiting for locks", float64(l.Charges[ledger.Lock])/1e6, "ms", From(l.StatesFrom())))
	}
	switch {
	case l != nil && len(l.Rows) >= ledger.MinRequests && !c.Slow():
		v.Rule = NotSlow
		v.Summary += ", and almost no requests were slow"
		return v
	case k.Charged && c.Slow() && c.lockedInStep() >= Material.Value:
		share := c.lockedInStep()
		v.Weigh(share, Material)
		v.Summary = fmt.Sprintf("%s was not observed while about as many threads waited for locks as slow requests were in flight", OfSlow(share))
		v.Evidence = append(v.Evidence, c.Figure("slow.locked_share", "share of slow time that was not observed while a thread waited for a lock for each request in flight, the more threads the more requests", share, "1", From(l.StatesFrom())))
		v.Saves = c.Bound(share*float64(l.Total), 0, c.Share(ledger.Unobserved)*float64(l.Total))
	case k.Charged && c.Slow():
		share := c.Share(ledger.Lock) + k.Behind*float64(c.waitsForThread(&l.Charges))/float64(max(1, l.Total))
		v.Weigh(share, Material)
		v.Summary = SlowWait("for locks", int64(share*float64(l.Total)), share)
		switch {
		case share >= Material.Value:
		case share >= Arguable.Value && k.Owner != "":
			v.Rule = OnTheEdge
			v.Summary += ": just below the threshold"
			v.Evidence = append(append(v.Evidence, k.At...), k.Held...)
			v.Needs = []Need{c.Trace("a longer recording under load", "")}
			return v
		case c.Share(ledger.Unobserved) >= Material.Value && k.Waiting.Number >= HardlyWaiting.Value:
			v.Rule = Unseen
			v.Summary += fmt.Sprintf(", but %s of slow time was not observed", units.Percent(c.Share(ledger.Unobserved)))
			v.Needs = []Need{c.Trace("a longer recording under load", "")}
			return v
		default:
			return v
		}
		v.Saves = c.SaveLocks(k.Locks)
		if 2*k.Behind >= 1 { // what most threads of the pool wait for, and what the lock's holder waits for, is reached by waiting for a thread
			v.Explains = func(p *ledger.Place) bool { return 2*p.Linked[ledger.PoolThread] >= p.Ns }
		}
		v.Prediction = append(v.Prediction, c.PredictFreed(func(row int) int64 {
			ch := l.Of(row)
			return ch[ledger.Lock] + int64(k.Behind*float64(c.waitsForThread(&ch)))
		}))
	case k.Holder.Idle:
		v.Rule = TakeTurns
		v.Summary += ", but the holder waits for work: the threads take turns, so nothing is delayed"
		return v
	case k.More != nil && (k.Waiting.Number < Queueing.Value || !k.Waiting.Known()) && !k.Charged:
		v.Counted(float64(k.Looks), k.Few)
		v.Rule, v.Needs = TooFew, k.More
		v.Summary += fmt.Sprintf(" in %s, too few to say that none does", units.Plural(k.Looks, "thread dump"))
		return v
	case !k.Waiting.Known() || k.Waiting.Number < Queueing.Value:
		return v
	case k.Excused:
		v.Rule = Explained
		return v
	case k.Apart:
		v.Rule = NotServing
		v.Summary += ", but none of them serves requests, and the threads that do were not waiting"
		v.Evidence = append(append(v.Evidence, k.At...), k.Held...)
		v.Needs = []Need{{What: "requests, to see whether they wait for these threads: an access log or a load generator's results from the same period", Command: "unstall FILE... --requests access.log"}}
		return v
	case k.More != nil && len(k.Groups) > 0 && k.isCrowded():
		v.Rule, v.Needs, v.Weight = StandsAlone, k.More, min(1, k.Waiting.Number/max(1, k.Cores))
		v.Title = "Probably: " + k.Title
		v.Summary = fmt.Sprintf("%d threads waited for one lock at the same time", max(k.Groups[0].Count, k.AtOne))
		if k.Queue > max(k.Groups[0].Count, k.AtOne) {
			v.Summary = fmt.Sprintf("%d threads waited for the locks of one, directly or behind others", k.Queue)
		}
		c.addFinding(&k, &v)
		return v
	case k.More != nil:
		v.Rule, v.Needs = OneLook, k.More
		v.Summary = fmt.Sprintf("%s waited for a lock at the same time, but %s cannot say how often", formatMeanCount(k.Waiting.Number, "thread"), units.Plural(k.Looks, "thread dump"))
		c.addFinding(&k, &v)
		return v
	}
	v.Rule, v.Title = Matters, k.Title
	if k.Waiting.Known() {
		v.Weight = min(1, k.Waiting.Number/max(1, k.Cores))
	}
	c.addFinding(&k, &v)
	return v
}

// isCrowded says whether one dump is enough to tell that threads queue for a lock: many of them
// wait for it, or its holder waits itself, or all threads of the dump wait, as in an excerpt.
func (k *Contention) isCrowded() bool {
	n := max(k.Groups[0].Count, k.AtOne, k.Queue)
	switch {
	case k.Holder.Told && (n >= Crowd.Int() || n >= Stuck.Int() && (k.Holder.Upon || k.All)):
		return true
	}
	return !k.Holder.Told && k.All && k.Groups[0].Count >= Crowd.Int()
}

// waitsForThread returns the time (ns) in which requests wait for a thread of the runtime's pool, also to be accepted or read where such a thread does that.
func (c *Case) waitsForThread(ch *ledger.Charges) int64 {
	if platform.ByID(c.Runtime()).Accepts {
		return ch[ledger.PoolThread] + ch[ledger.Queued]
	}
	return ch[ledger.PoolThread]
}

// SaveLocks returns the slow time spent waiting for locks, and for pool threads that wait for
// locks.
func (c *Case) SaveLocks(w *metrics.Locks) *Saves {
	lock, thread := float64(c.Ledger.Charges[ledger.Lock]), float64(c.waitsForThread(&c.Ledger.Charges))
	if w.Behind == 0 || thread == 0 {
		return c.SaveMechanism(ledger.Lock)
	}
	return c.Bound(lock+w.Behind*thread, lock, lock+thread)
}

// addFinding adds to a verdict which code waits, what the holder of the lock did, and what to
// change.
func (c *Case) addFinding(k *Contention, v *Verdict) {
	v.Evidence = append(append(v.Evidence, k.At...), k.Held...)
	fix := Fix{Text: k.Shorten, Code: cmp.Or(c.Threads().PathTo(c.Subject, k.Owner), k.Within, threads.Nameless)}
	holder := c.Threads().PathTo(c.Subject, k.Holder.Owner)
	switch {
	case k.Holder.Stands:
		fix = Fix{Text: k.Outside, Code: holder}
	case k.Holder.Beside && holder != "":
		fix.Code = holder
	}
	v.Fix = append(v.Fix, fix)
}

// HeldBy says in words how it is known what holds a lock, and what that is.
func HeldBy(h *metrics.Holder) string {
	known := "its holder was in "
	switch {
	case h.Beside:
		known = "probably its holder: a thread that is there when others wait, and rarely otherwise, "
	case !h.Told:
		known = "probably its holder: a thread in the same code, "
	}
	return known + h.Owner + ", " + h.Doing
}

// formatMeanCount writes a mean count with its noun: "1 thread", "2.5 threads".
func formatMeanCount(n float64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return units.Num(n) + " " + what + "s"
}
