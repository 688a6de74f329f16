package jvm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
)

// LockContention is threads that queue for a lock that another holds.
var LockContention = cause.Cause{
	ID:    "jvm.lock-contention",
	Title: "threads wait for a lock",
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
	Needs:   "what threads do, over some seconds under load: " + dumps,
	Applies: isJVM,
	Judge:   judgeLock,
}

// dumps is how looks at the threads of a JVM are had.
const dumps = "unstall record PID, or jcmd PID Thread.print some ten times a second apart"

// queueing is how many threads must wait for locks, in the mean, for that to be worth
// naming where no requests show what it costs: one always does.
const queueing = 1.0

// fewLooks is from how many looks on they say how much of the time something is so.
const fewLooks = 5

func judgeLock(c *cause.Case) cause.Verdict {
	w := locksOf(c)
	if w == nil {
		return cause.Verdict{State: cause.Inconclusive, Summary: "nobody looked at its threads", Needs: []string{"who waits for locks, and for whom: " + dumps}}
	}
	v := cause.Verdict{State: cause.RuledOut, Summary: "no thread waited for a lock"}
	v.Evidence = append(v.Evidence,
		c.Figure(fmt.Sprintf("threads that waited for a lock, in the mean of %d looks", w.looks), w.mean, "count", w.origin))
	if w.mean > 0 {
		v.Summary = fmt.Sprintf("%s threads waited for a lock, in the mean", cause.Digits(2, w.mean))
	}
	if f, ok := c.Fact(evidence.FactDeadlock); ok {
		return w.deadlock(c, v, f)
	}
	l := c.Ledger
	charged := l != nil && l.Sampled
	share := 0.0
	if charged {
		share = c.Share(ledger.Lock) + w.behind*c.Share(ledger.PoolThread)
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
		v.Saves = w.saves(c)
		v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
			ch := l.Of(row)
			return ch[ledger.Lock] + int64(w.behind*float64(ch[ledger.PoolThread]))
		}))
	case w.looks < fewLooks && w.mean >= queueing:
		v.State = cause.Inconclusive
		v.Summary = fmt.Sprintf("%s threads waited for a lock at once: %d looks do not say for how much of the time", cause.Digits(2, w.mean), w.looks)
		v.Needs = []string{"more looks: " + dumps}
		w.found(c, &v)
		v.Title = ""
		return v
	case w.mean < queueing:
		return v
	}
	v.State = cause.Supported
	v.Weight = min(1, w.mean/max(1, float64(c.Bundle.Subjects[c.Subject].CPUs)))
	w.found(c, &v)
	return v
}

// deadlock answers where threads wait for each other: they will for ever, whatever it costs.
func (w *locks) deadlock(c *cause.Case, v cause.Verdict, f evidence.Fact) cause.Verdict {
	v.State = cause.Supported
	v.Weight = 1
	v.Title = "Deadlock: threads wait for each other for ever."
	v.Summary = fmt.Sprintf("%.0f threads wait for each other", f.Number)
	v.Evidence = append(v.Evidence, cause.Evidence{Text: "the JVM found a deadlock: " + f.Value, Origin: c.Bundle.OriginText(f.Origin)})
	if l := c.Ledger; l != nil && l.Sampled && c.Slow() {
		v.Saves = w.saves(c)
	}
	if len(w.circle) > 0 {
		v.Evidence = append(v.Evidence, cause.Evidence{Text: "they wait for each other in " + strings.Join(w.circle, ", "), Origin: c.Bundle.OriginText(f.Origin)})
	}
	v.Fix = []cause.Fix{{Text: "take these locks in one order everywhere, or one of them with tryLock and a timeout; until then only a restart frees the threads", Code: strings.Join(w.circle, ", ")}}
	return v
}

// saves is the slow time spent waiting for locks, and for threads that do.
func (w *locks) saves(c *cause.Case) *cause.Saves {
	l := c.Ledger
	lock, thread := float64(l.Charges[ledger.Lock]), float64(l.Charges[ledger.PoolThread])
	if w.behind == 0 || thread == 0 {
		return c.SaveMechanism(ledger.Lock)
	}
	return c.Bound(lock+w.behind*thread, lock, lock+thread)
}

// found names the lock by the code that waits for it and its class, and who holds it.
func (w *locks) found(c *cause.Case, v *cause.Verdict) {
	who := cmp.Or(w.owner, "code that its stack does not name")
	class := ""
	if w.class != "" {
		class = " (" + w.class + ")"
	}
	v.Title = fmt.Sprintf("Threads wait for a lock%s in %s.", class, bare(who))
	for i, g := range w.groups {
		if i == 0 && g.View.Pool != "" && g.Pool > 1 {
			v.Title = fmt.Sprintf("%d of %d %s threads wait for a lock%s in %s.", g.Count, w.worst.InPool(g.View.Pool), g.View.Pool, class, bare(cmp.Or(g.View.Owner, who)))
		}
		if i < 3 {
			v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("at worst: %s that waited for a lock (%s) in %s", g.Who(w.worst), g.View.Pattern, cmp.Or(g.View.Owner, "code that its stack does not name")), float64(g.Count), "count", g.Origin))
		}
	}
	fix := cause.Fix{Text: "do less under this lock, take one for each key (ConcurrentHashMap.compute), or let readers use a snapshot that is replaced as a whole", Code: who}
	if w.holder != "" {
		known := "meanwhile its holder was in "
		if !w.told {
			known = "meanwhile another thread was in the same code, "
		}
		v.Evidence = append(v.Evidence, cause.Evidence{Text: fmt.Sprintf("%s%s, %s: %d of %d looks", known, w.holder, w.doing, w.times, w.looks), Origin: c.Bundle.OriginText(w.origin)})
		if w.stands {
			fix.Text = fmt.Sprintf("the lock is held by code that waits (%s): do that before taking the lock or after", w.doing)
			fix.Code = w.holder
		}
	}
	v.Fix = append(v.Fix, fix)
}

// bare is a frame's method without its parameters.
func bare(frame string) string {
	name, _, _ := strings.Cut(frame, "(")
	return name
}
