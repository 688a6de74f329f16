package dotnet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/threads"
)

// LockContention is threads that queue for a lock that another holds.
var LockContention = cause.Cause{
	ID:    "dotnet.lock-contention",
	Title: "threads wait for a lock",
	Doc: `Threads queue for one lock (the lock statement, Monitor, System.Threading.Lock,
ReaderWriterLock): each stands still until the one that holds it lets go. If that is what
most threads of the pool do, the pool is used up too and gains threads, which only join
the queue.

The runtime tells of each wait that was longer than a spin (Contention events, with the
place, since .NET 8 also with who held the lock); monitor-lock-contention-count only
counts them, which says nothing of how long they took. Stacks show who waits
(Monitor.Enter on top) and, where the holder is in the same code, what it does
meanwhile: if it runs, too much is done under the lock; if it waits, the lock is held
across a call, a task or a sleep.

Told from its look-alikes: threads that wait for tasks or for the network starve the pool
in the same way (dotnet.threadpool-starvation), but no other thread holds what they need;
a semaphore or a pool of connections is meant to be held (service.pool-exhausted).

What helps: less work under the lock, nothing under it that waits, a lock for each key, a
snapshot that is replaced as a whole for what is mostly read
(System.Collections.Concurrent and .Immutable). What does not help: more threads.`,
	Needs:   "contention events and the threads' stacks: " + record,
	Applies: isDotnet,
	Judge:   judgeLock,
}

// queueing is how many threads must wait for locks, in the mean, for that to be worth
// naming where no requests show what it costs: one always does.
const queueing = 1.0

// waits is what is known of a process's locks.
type waits struct {
	mean   float64 // threads that waited for one, in the mean
	known  bool
	waited int64 // ns, in contention events
	events int
	owner  string // code that waits most
	holder string // code that held the lock meanwhile, "" unknown
	doing  string // what the holder did
	stands bool   // it waited itself
	origin evidence.Origin
}

func judgeLock(c *cause.Case) cause.Verdict {
	p := poolOf(c)
	w := waitsOf(c, p)
	v := cause.Verdict{State: cause.RuledOut, Summary: "next to no thread waited for a lock"}
	if w.known {
		v.Evidence = append(v.Evidence, c.Figure("threads that waited for a lock, in the mean", w.mean, "count", w.origin))
	}
	if w.mean >= .01 {
		v.Summary = fmt.Sprintf("%.2g threads waited for a lock, in the mean", w.mean)
	}
	if k := counter(c, evidence.SeriesContentions); k.known() {
		v.Evidence = append(v.Evidence, c.Figure("contended locks, however short the wait", k.mean(), "1/s", k.origin))
	}
	l := c.Ledger
	charged := l != nil && (l.Traced || l.Sampled)
	behind := w.behind(p)
	share := c.Share(ledger.Lock) + behind*c.Share(ledger.PoolThread)
	if charged {
		v.Evidence = append(v.Evidence, c.Figure("slow time waiting for locks", float64(l.Charges[ledger.Lock])/1e6, "ms", cause.From(l.Source)))
	}
	switch {
	case !w.known && !charged:
		return untimed(c, v)
	case l != nil && len(l.Rows) >= ledger.MinRequests && !c.Slow():
		v.Summary += ", and hardly a request was slow"
		return v
	case charged && c.Slow():
		v.Summary = fmt.Sprintf("%.1f %% of slow time", 100*share)
		if share < cause.Material {
			return v
		}
		v.Saves = waited(c, behind)
		v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
			ch := l.Of(row)
			return ch[ledger.Lock] + int64(behind*float64(ch[ledger.PoolThread]))
		}))
	case !w.known || w.mean < queueing || p.busyBy(w.mean):
		return v
	}
	v.State = cause.Supported
	v.Weight = min(1, w.mean/max(1, p.cores))
	w.found(c, p, &v)
	return v
}

// behind is which part of those that wait for a thread of the pool wait because its
// threads wait for a lock.
func (w *waits) behind(p *pool) float64 {
	if n := p.level(); n > 1 { // one of them holds it
		return min(1, w.mean/(n-1))
	}
	return 0
}

// waited is the slow time spent waiting for locks, and for threads that do.
func waited(c *cause.Case, behind float64) *cause.Saves {
	l := c.Ledger
	if behind == 0 || l.Charges[ledger.PoolThread] == 0 {
		return c.SaveMechanism(ledger.Lock)
	}
	lock, thread := float64(l.Charges[ledger.Lock]), float64(l.Charges[ledger.PoolThread])
	return c.Bound(lock+behind*thread, lock, lock+thread)
}

// untimed answers where at most the number of contended locks is known.
func untimed(c *cause.Case, v cause.Verdict) cause.Verdict {
	k := counter(c, evidence.SeriesContentions)
	switch {
	case !k.known():
		v.State, v.Summary, v.Needs = cause.Inconclusive, "locks were not watched", []string{"who waits for locks, and for how long: " + record}
	case k.mean() < queueing:
		v.Summary = fmt.Sprintf("%.2g contended locks a second", k.mean())
	default:
		v.State = cause.Inconclusive
		v.Summary = fmt.Sprintf("%.0f contended locks a second: how long each wait took is not in the counter", k.mean())
		v.Needs = []string{"who waits for locks, and for how long: " + record}
	}
	return v
}

// busyBy says whether threads that queue for a lock, n of them, are no more than what
// busy processors leave behind: a holder that is not run keeps its lock.
func (p *pool) busyBy(n float64) bool { return p.busy() && p.cores > 0 && n < p.cores }

// found names the lock by the code that waits for it, and who holds it.
func (w *waits) found(c *cause.Case, p *pool, v *cause.Verdict) {
	who := cmp.Or(w.owner, nameless)
	v.Title = fmt.Sprintf("Threads wait for a lock in %s.", bare(who))
	groups := p.seen.waiting(atLock)
	if len(groups) > 0 {
		v.Title = fmt.Sprintf("%d of %d pool threads wait for a lock in %s.", count(groups), p.seen.worst.Pool, bare(who))
		for _, g := range groups[:min(3, len(groups))] {
			v.Evidence = append(v.Evidence, c.Figure("pool threads waiting for a lock in "+place(g.View), float64(g.Pool), "count", g.Origin))
		}
	}
	if w.events > 0 {
		v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("waited in all, %d times", w.events), float64(w.waited)/1e9, "s", w.origin))
	}
	fix := cause.Fix{Text: "do less under this lock, take one for each key, or let readers use a snapshot that is replaced as a whole", Code: who}
	if w.holder != "" {
		v.Evidence = append(v.Evidence, cause.Evidence{Text: "meanwhile its holder was in " + w.holder + ", " + w.doing, Origin: c.Bundle.OriginText(p.seen.origin)})
		if w.stands {
			fix.Text = "the lock is held by code that waits: do that before taking the lock or after, or use SemaphoreSlim.WaitAsync() where it must be held"
			fix.Code = w.holder
		}
	}
	v.Fix = append(v.Fix, fix)
}

// waitsOf reads contention events, else how many threads stacks show waiting.
func waitsOf(c *cause.Case, p *pool) (w waits) {
	v := &c.Bundle.Intervals
	owners := make(map[string]int64)
	holders := make(map[evidence.LaneID]int64)
	for _, i := range v.Select(evidence.LockWait, c.Subject) {
		if v.Lane[i] == evidence.AllLanes {
			continue
		}
		d := v.End[i] - v.Start[i]
		w.waited += d
		w.events++
		w.origin = v.Origin[i]
		owners[p.seen.of.View(c.Subject, v.Stack[i]).Owner] += d
		holders[v.Holder[i]] += d
	}
	var watched int64
	for _, s := range c.Bundle.Covered(c.Subject, evidence.CoverWaits) {
		if s.Until > s.From {
			watched += s.Until - s.From
			w.known, w.origin = true, s.Origin
		}
	}
	w.mean = float64(w.waited) / float64(max(1, watched))
	// A wait that had begun before and never ended is in no event.
	if p.seen.worst != nil && (p.seen.locked > w.mean || !w.known) {
		w.known, w.mean, w.origin = true, p.seen.locked, p.seen.origin
	}
	for _, g := range p.seen.waiting(atLock) {
		if g.View.Owner != "" || len(owners) == 0 {
			owners[g.View.Owner] += int64(g.Pool) * 1e9
		}
	}
	delete(owners, "")
	w.owner = most(owners)
	delete(holders, 0)
	w.heldBy(p.seen.of.Looks(c.Subject), most(holders))
	return w
}

// heldBy finds what the holder of the lock was seen doing: the thread that the runtime
// names, else one that is in the same code without waiting for it.
func (w *waits) heldBy(looks []threads.Look, lane evidence.LaneID) {
	type act struct {
		owner, doing string
		stands       bool
	}
	seen := make(map[act]int64)
	for i := range looks {
		l := &looks[i]
		if l.View.State == evidence.LockWait || l.View.State == evidence.Idle || l.View.Owner == "" {
			continue
		}
		if lane != 0 && l.Lane == lane || lane == 0 && l.View.Owner == w.owner {
			seen[act{l.View.Owner, l.View.Doing(), l.View.Waiting()}]++
		}
	}
	acts := slices.SortedFunc(maps.Keys(seen), func(a, b act) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a.owner, b.owner), cmp.Compare(a.doing, b.doing))
	})
	if len(acts) > 0 {
		w.holder, w.doing, w.stands = acts[0].owner, acts[0].doing, acts[0].stands
	}
}

// most is the key with the largest sum, of equals the first; the zero key of none.
func most[K cmp.Ordered](sums map[K]int64) (best K) {
	for _, k := range slices.Sorted(maps.Keys(sums)) {
		if sums[k] > sums[best] {
			best = k
		}
	}
	return best
}
