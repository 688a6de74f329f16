package dotnet

import (
	"cmp"
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/model/threadpool"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/threads"
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

func judgeLock(c *cause.Case) cause.Verdict {
	p := threadpool.ProcessOf(c.Bundle, c.Subject, c.Ledger)
	w := reading.LockEvents(c.Bundle, p.Stacks, c.Subject, p.ThreadPool)
	k := cause.Contention{
		Locks: w, Charged: c.Ledger != nil && (c.Ledger.Traced || c.Ledger.Sampled), Cores: p.Cores,
		Excused: p.Busy() && p.Cores > 0 && w.Waiting.Number < p.Cores,
		Title:   fmt.Sprintf("Threads wait for a lock in %s.", threads.Bare(cmp.Or(w.Owner, threads.Nameless))),
		Shorten: "do less under this lock, take one for each key, or let readers use a snapshot that is replaced as a whole",
		Outside: "the lock is held by code that waits: do that before taking the lock or after, or use SemaphoreSlim.WaitAsync() where it must be held",
	}
	if w.Waiting.Known() {
		k.Figures = append(k.Figures, c.Figure("threads that waited for a lock, in the mean", w.Waiting.Number, "count", w.Waiting.Origin))
	}
	contended := p.Counter(evidence.SeriesContentions)
	if contended.Known() {
		k.Figures = append(k.Figures, c.Figure("contended locks, however short the wait", contended.Mean(), "1/s", contended.Origin))
	}
	if !w.Waiting.Known() && !k.Charged {
		return untimed(contended, k.Figures)
	}
	if len(w.Groups) > 0 {
		k.Title = fmt.Sprintf("%d of %d pool threads wait for a lock in %s.", threadpool.Count(w.Groups), w.Worst.Pool, threads.Bare(cmp.Or(w.Owner, threads.Nameless)))
		for _, g := range w.Groups[:min(3, len(w.Groups))] {
			k.At = append(k.At, c.Figure("pool threads waiting for a lock in "+place(g.View), float64(g.Pool), "count", g.Origin))
		}
	}
	if w.Waits > 0 {
		k.At = append(k.At, c.Figure(fmt.Sprintf("waited in all, %d times", w.Waits), float64(w.Waited)/1e9, "s", w.Waiting.Origin))
	}
	if w.Holder.Owner != "" {
		k.Held = append(k.Held, c.Seen("meanwhile its holder was in "+w.Holder.Owner+", "+w.Holder.Doing, w.Looked))
	}
	return c.Contended(k)
}

// untimed answers where at most the number of contended locks is known.
func untimed(contended *reading.Curve, figures []cause.Evidence) cause.Verdict {
	v := cause.Verdict{State: cause.Inconclusive, Evidence: figures, Needs: []cause.Need{{What: "who waits for locks, and for how long", Command: record}}}
	switch {
	case !contended.Known():
		v.Summary = "locks were not watched"
	case contended.Mean() < cause.Queueing:
		v.State, v.Needs = cause.RuledOut, nil
		v.Summary = fmt.Sprintf("%.2g contended locks a second", contended.Mean())
	default:
		v.Summary = fmt.Sprintf("%.0f contended locks a second: how long each wait took is not in the counter", contended.Mean())
	}
	return v
}
