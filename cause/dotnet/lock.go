package dotnet

import (
	"cmp"
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/reading"
)

// LockContention is threads that queue for a lock that another holds.
var LockContention = cause.Cause{
	ID:    "dotnet.lock-contention",
	Title: "threads wait for a lock",
	Step:  cause.StepLocks,
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

func judgeLock(c *cause.Case) cause.Verdict {
	p := poolOf(c)
	w := reading.LockEvents(c.Bundle, p.seen.of, c.Subject, p.ThreadPool)
	v := cause.Verdict{State: cause.RuledOut, Summary: "next to no thread waited for a lock"}
	if w.Waiting.Known() {
		v.Evidence = append(v.Evidence, c.Figure("threads that waited for a lock, in the mean", w.Waiting.Number, "count", w.Waiting.Origin))
	}
	if w.Waiting.Number >= .01 {
		v.Summary = fmt.Sprintf("%.2g threads waited for a lock, in the mean", w.Waiting.Number)
	}
	if k := counter(c, evidence.SeriesContentions); k.Known() {
		v.Evidence = append(v.Evidence, c.Figure("contended locks, however short the wait", k.Mean(), "1/s", k.Origin))
	}
	l := c.Ledger
	charged := l != nil && (l.Traced || l.Sampled)
	behind := w.Behind
	share := c.Share(ledger.Lock) + behind*c.Share(ledger.PoolThread)
	if charged {
		v.Evidence = append(v.Evidence, c.Figure("slow time waiting for locks", float64(l.Charges[ledger.Lock])/1e6, "ms", cause.From(l.Source)))
	}
	switch {
	case !w.Waiting.Known() && !charged:
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
	case !w.Waiting.Known() || w.Waiting.Number < queueing || p.busyBy(w.Waiting.Number):
		return v
	}
	v.State = cause.Supported
	if w.Waiting.Known() {
		v.Weight = min(1, w.Waiting.Number/max(1, p.cores))
	}
	found(c, w, &v)
	return v
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
	case !k.Known():
		v.State, v.Summary, v.Needs = cause.Inconclusive, "locks were not watched", []cause.Need{{What: "who waits for locks, and for how long", Command: record}}
	case k.Mean() < queueing:
		v.Summary = fmt.Sprintf("%.2g contended locks a second", k.Mean())
	default:
		v.State = cause.Inconclusive
		v.Summary = fmt.Sprintf("%.0f contended locks a second: how long each wait took is not in the counter", k.Mean())
		v.Needs = []cause.Need{{What: "who waits for locks, and for how long", Command: record}}
	}
	return v
}

// busyBy says whether threads that queue for a lock, n of them, are no more than what
// busy processors leave behind: a holder that is not run keeps its lock.
func (p *pool) busyBy(n float64) bool { return p.busy() && p.cores > 0 && n < p.cores }

// found names the lock by the code that waits for it, and who holds it.
func found(c *cause.Case, w *reading.Locks, v *cause.Verdict) {
	who := cmp.Or(w.Owner, nameless)
	v.Title = fmt.Sprintf("Threads wait for a lock in %s.", bare(who))
	groups := w.Groups
	if len(groups) > 0 {
		v.Title = fmt.Sprintf("%d of %d pool threads wait for a lock in %s.", count(groups), w.Worst.Pool, bare(who))
		for _, g := range groups[:min(3, len(groups))] {
			v.Evidence = append(v.Evidence, c.Figure("pool threads waiting for a lock in "+place(g.View), float64(g.Pool), "count", g.Origin))
		}
	}
	if w.Waits > 0 {
		v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("waited in all, %d times", w.Waits), float64(w.Waited)/1e9, "s", w.Waiting.Origin))
	}
	fix := cause.Fix{Text: "do less under this lock, take one for each key, or let readers use a snapshot that is replaced as a whole", Code: who}
	if w.Holder.Owner != "" {
		v.Evidence = append(v.Evidence, c.Seen("meanwhile its holder was in "+w.Holder.Owner+", "+w.Holder.Doing, w.Looked))
		if w.Holder.Stands {
			fix.Text = "the lock is held by code that waits: do that before taking the lock or after, or use SemaphoreSlim.WaitAsync() where it must be held"
			fix.Code = w.Holder.Owner
		}
	}
	v.Fix = append(v.Fix, fix)
}
