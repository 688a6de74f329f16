package jvm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/threads"
)

// LockContention is threads that queue for a lock that another holds.
var LockContention = cause.Cause{
	ID:    "jvm.lock-contention",
	Title: "threads wait for a lock",
	Step:  cause.StepLocks,
	Doc: `Threads queue for one lock (synchronized, ReentrantLock, ReentrantReadWriteLock,
StampedLock): each stands still until the one that holds it lets go. If that is what most
threads of a server's pool do, none is left for other requests either.

Thread dumps tell it: who is BLOCKED, or parked below ReentrantLock.lock; of a monitor the
dump also says who holds it, and what that thread does meanwhile. If it runs, too much is
done under the lock; if it waits, the lock is held across a call, a query or a sleep. Of the
locks of java.util.concurrent a dump names the holder only with jstack -l, which walks the
whole heap while the world is stopped: there, who is in the same code without waiting is
taken for it.

Told from its look-alikes: threads that wait for a connection pool, a future or a socket are
parked, too, but below other calls; a collection stops all threads, not those that come to
one place; and where the processors are busy, a holder that is not run keeps its lock, so
that few wait at a time and no one place stands out.

What helps: less work under the lock, nothing under it that waits, a lock for each key
(ConcurrentHashMap.compute), a snapshot that is replaced as a whole for what is mostly read
(CopyOnWrite…, a volatile reference). What does not help: more threads.`,
	Needs:   "what threads do, over some seconds under load: unstall record PID, or jcmd PID Thread.print some ten times a second apart",
	Applies: isJVM,
	Judge:   judgeLock,
}

// dumps asks for looks at the threads, which show what.
func dumps(what string) []cause.Need {
	return []cause.Need{{What: what, Command: "unstall record PID"},
		{What: "or thread dumps a second apart", Command: "for i in $(seq 10); do jcmd PID Thread.print >threads-$i.txt; sleep 1; done"}}
}

// queueing is how many threads must wait for locks, in the mean, for that to be worth
// naming where no requests show what it costs: one always does.
const queueing = 1.0

// fewLooks is from how many looks on they say how much of the time something is so.
const fewLooks = 5

func judgeLock(c *cause.Case) cause.Verdict {
	w := reading.LockDumps(c.Bundle, threads.Of(c.Bundle), c.Subject)
	if !w.Waiting.Known() {
		return cause.Verdict{State: cause.Inconclusive, Summary: "nobody looked at its threads", Needs: dumps("who waits for locks, and for whom")}
	}
	v := cause.Verdict{State: cause.RuledOut, Summary: "no thread waited for a lock"}
	v.Evidence = append(v.Evidence,
		c.Figure(fmt.Sprintf("threads that waited for a lock, in the mean of %d looks", w.Looks), w.Waiting.Number, "count", w.Waiting.Origin))
	if w.Waiting.Number > 0 {
		v.Summary = fmt.Sprintf("%s threads waited for a lock, in the mean", cause.Digits(2, w.Waiting.Number))
	}
	if f, ok := c.Fact(evidence.FactDeadlock); ok {
		return deadlock(c, w, v, f)
	}
	l := c.Ledger
	charged := l != nil && l.Sampled
	share := 0.0
	if charged {
		share = c.Share(ledger.Lock) + w.Behind*c.Share(ledger.PoolThread)
		v.Evidence = append(v.Evidence, c.Figure("slow time waiting for locks", float64(l.Charges[ledger.Lock])/1e6, "ms", cause.From(l.Source)))
	}
	switch {
	case l != nil && len(l.Rows) >= ledger.MinRequests && !c.Slow():
		v.Summary += ", and hardly a request was slow"
		return v
	case charged && c.Slow():
		v.Summary = fmt.Sprintf("%.1f %% of slow time", 100*share)
		if share < cause.Material {
			return v
		}
		v.Saves = lockSaves(c, w)
		v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
			ch := l.Of(row)
			return ch[ledger.Lock] + int64(w.Behind*float64(ch[ledger.PoolThread]))
		}))
	case w.Looks < fewLooks && w.Waiting.Number >= queueing:
		v.State = cause.Inconclusive
		v.Summary = fmt.Sprintf("%s threads waited for a lock at once: %d looks do not say for how much of the time", cause.Digits(2, w.Waiting.Number), w.Looks)
		v.Needs = dumps("more looks")
		found(c, w, &v)
		v.Title = ""
		return v
	case w.Waiting.Number < queueing:
		return v
	}
	v.State = cause.Supported
	v.Weight = min(1, w.Waiting.Number/max(1, float64(c.Bundle.Subjects[c.Subject].CPUs)))
	found(c, w, &v)
	return v
}

// deadlock answers where threads wait for each other: they will for ever, whatever it costs.
func deadlock(c *cause.Case, w *reading.Locks, v cause.Verdict, f evidence.Fact) cause.Verdict {
	v.State = cause.Supported
	v.Weight = 1
	v.Title = "Deadlock: threads wait for each other for ever."
	v.Summary = fmt.Sprintf("%.0f threads wait for each other", f.Number)
	v.Evidence = append(v.Evidence, c.Seen("the JVM found a deadlock: "+f.Value, f.Origin))
	if l := c.Ledger; l != nil && l.Sampled && c.Slow() {
		v.Saves = lockSaves(c, w)
	}
	if len(w.Circle) > 0 {
		v.Evidence = append(v.Evidence, c.Seen("they wait for each other in "+strings.Join(w.Circle, ", "), f.Origin))
	}
	v.Fix = []cause.Fix{{Text: "take these locks in one order everywhere, or one of them with tryLock and a timeout; until then only a restart frees the threads", Code: strings.Join(w.Circle, ", ")}}
	return v
}

// lockSaves is the slow time spent waiting for locks, and for threads that do.
func lockSaves(c *cause.Case, w *reading.Locks) *cause.Saves {
	l := c.Ledger
	lock, thread := float64(l.Charges[ledger.Lock]), float64(l.Charges[ledger.PoolThread])
	if w.Behind == 0 || thread == 0 {
		return c.SaveMechanism(ledger.Lock)
	}
	return c.Bound(lock+w.Behind*thread, lock, lock+thread)
}

// found names the lock by the code that waits for it and its class, and who holds it.
func found(c *cause.Case, w *reading.Locks, v *cause.Verdict) {
	who := cmp.Or(w.Owner, "code that its stack does not name")
	class := ""
	if w.Class != "" {
		class = " (" + w.Class + ")"
	}
	v.Title = fmt.Sprintf("Threads wait for a lock%s in %s.", class, bare(who))
	for i, g := range w.Groups {
		if i == 0 && g.View.Pool != "" && g.Pool > 1 {
			v.Title = fmt.Sprintf("%d of %d %s threads wait for a lock%s in %s.", g.Count, w.Worst.InPool(g.View.Pool), g.View.Pool, class, bare(cmp.Or(g.View.Owner, who)))
		}
		if i < 3 {
			v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("at worst: %s that waited for a lock (%s) in %s", g.Who(w.Worst), g.View.Pattern, cmp.Or(g.View.Owner, "code that its stack does not name")), float64(g.Count), "count", g.Origin))
		}
	}
	fix := cause.Fix{Text: "do less under this lock, take one for each key (ConcurrentHashMap.compute), or let readers use a snapshot that is replaced as a whole", Code: who}
	if w.Holder.Owner != "" {
		known := "meanwhile its holder was in "
		if !w.Holder.Told {
			known = "meanwhile another thread was in the same code, "
		}
		v.Evidence = append(v.Evidence, c.Seen(fmt.Sprintf("%s%s, %s: %d of %d looks", known, w.Holder.Owner, w.Holder.Doing, w.Holder.Seen, w.Looks), w.Looked))
		if w.Holder.Stands {
			fix.Text = fmt.Sprintf("the lock is held by code that waits (%s): do that before taking the lock or after", w.Holder.Doing)
			fix.Code = w.Holder.Owner
		}
	}
	v.Fix = append(v.Fix, fix)
}

// bare is a frame's method without its parameters.
func bare(frame string) string {
	name, _, _ := strings.Cut(frame, "(")
	return name
}
