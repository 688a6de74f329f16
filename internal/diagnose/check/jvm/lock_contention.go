package jvm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// LockContention is threads that queue for a lock that another holds.
var LockContention = check.Check{
	ID:    "jvm.lock-contention",
	Title: "threads wait for a lock",
	Step:  check.StepLocks,
	Doc: `Threads queue for one lock (synchronized, ReentrantLock, ReentrantReadWriteLock,
StampedLock): each waits until the holder releases it. If most threads of a server's
pool wait, none is left for other requests either.

Thread dumps show it: threads are BLOCKED, or parked below ReentrantLock.lock; for a
monitor the dump also names the holder and its stack. If the holder runs, the code does
too much under the lock; if it waits, the lock is held during a call, a query or a
sleep. For the locks of java.util.concurrent a dump names the holder only with jstack
-l, which walks the whole heap in a stop-the-world pause: without it, unstall takes a
thread in the same code that does not wait for the holder.

How to tell it from similar problems: threads that wait for a connection pool, a future
or a socket are parked too, but below other calls; GC pauses all threads, not only those
at one place; and where the CPUs are busy, a holder that does not get a CPU keeps its
lock, so that few threads wait at a time and no single place stands out.

What helps: less work under the lock, no waiting under it, one lock per key
(ConcurrentHashMap.compute), a snapshot that is replaced as a whole for data that is
mostly read (CopyOnWrite…, a volatile reference). What does not help: more threads.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time; without requests, on average one waiting thread in five thread dumps, whose holder is busy; one dump for a deadlock, for three threads at one lock whose holder the dump names, or who are all that it shows, or for two whose holder waits for other threads, or who are all but the holder, or for one, in an excerpt, beside a thread that waits to be notified and keeps other monitors; by the text of a flight recording, %v of which one took %v; by a profile of the CPU, %v of it in entering monitors",
		check.SomeSlow, check.SlowShare, check.Material, fewEnters, longEnter, check.ProfiledLocks),
	Thresholds: []check.Threshold{fewEnters, fewLooks, longEnter, check.Arguable, check.Crowd, check.HardlyWaiting, check.Material, check.ProfiledLocks, check.Queueing, check.SlowShare,
		check.SomeSlow, check.StepAlike, check.StepRounds, check.Stuck},

	Needs:   "thread dumps over some seconds under load: unstall record PID, or jcmd PID Thread.print ten times, one second apart",
	Applies: isJVM,
	Judge:   judgeLock,
}

// needDumps asks for thread dumps, which show what.
func needDumps(what string) []check.Need {
	return []check.Need{{What: what, Command: "unstall record PID"},
		{What: "or take thread dumps one second apart", Command: "for i in $(seq 10); do jcmd PID Thread.print >threads-$i.txt; sleep 1; done"}}
}

var fewLooks = check.Threshold{Name: "thread dumps from which they say how much of the time something is so", Value: 5, Unit: "count",
	Why: "of five a share is known within a fifth", Source: "binomial error: √(0.5·0.5/5) is 22 %"}

func judgeLock(c *check.Case) check.Verdict {
	w := metrics.LockDumps(c.Bundle, c.Threads(), c.Subject)
	if f, ok := c.Fact(evidence.FactDeadlock); ok && !w.Waiting.Known() { // all that was copied of a dump
		return judgeDeadlock(c, w, f, nil)
	}
	if v, ok := judgeMonitorWaits(c); ok && !w.Waiting.Known() {
		return v
	}
	if v, ok := check.JudgeProfiledLocks(c, needDumps("thread dumps under load, to show which threads wait for locks and which hold them")...); ok && !w.Waiting.Known() {
		return v
	}
	if !w.Waiting.Known() {
		return check.Verdict{Rule: check.NotRecorded, Summary: "no thread dumps recorded", Needs: needDumps("thread dumps under load, to show which threads wait for locks and which hold them")}
	}
	figures := []check.Evidence{c.Figure("lock.waiting_threads", fmt.Sprintf("threads waiting for a lock, average of %s", units.Plural(w.Looks, "thread dump")), w.Waiting.Number, "count", w.Waiting.Origin)}
	if f, ok := c.Fact(evidence.FactDeadlock); ok {
		return judgeDeadlock(c, w, f, figures)
	}
	k := check.Contention{
		Locks: w, Charged: c.Ledger != nil && c.Ledger.Sampled, Cores: float64(c.Bundle.Subjects[c.Subject].CPUs), Figures: figures,
		Shorten: "do less under this lock, use one lock per key (ConcurrentHashMap.compute), or let readers use a snapshot that is replaced as a whole",
		Outside: fmt.Sprintf("the lock is held by code that waits (%s): do that before taking the lock or after releasing it", w.Holder.Doing),
	}
	if w.Looks < fewLooks.Int() {
		k.More, k.Few = needDumps("more thread dumps"), fewLooks
	}
	who, class := cmp.Or(w.Owner, threads.Nameless), ""
	if w.Class != "" {
		class = " (" + w.Class + ")"
	}
	k.Title = fmt.Sprintf("Threads wait for a lock%s in %s.", class, threadstack.Bare(who))
	for i, g := range w.Groups[:min(3, len(w.Groups))] {
		if i == 0 && g.View.Pool != "" && g.Pool > 1 {
			k.Title = fmt.Sprintf("%d of %d %s threads wait for a lock%s in %s.", g.Count, w.Worst.InPool(g.View.Pool), g.View.Pool, class, threadstack.Bare(cmp.Or(g.View.Owner, who)))
		}
		k.At = append(k.At, c.Figure("lock.waiting_threads_at", fmt.Sprintf("in the worst thread dump: %s waiting for a lock (%s) in %s", g.Who(w.Worst), g.View.Pattern, cmp.Or(g.View.Owner, threads.Nameless)), float64(g.Count), "count", g.Origin))
	}
	if log, method := loggedUnder(w); log != nil {
		log.describeContention(c, &k, method)
	}
	if w.Holder.Owner != "" {
		k.Held = append(k.Held, c.Seen(fmt.Sprintf("%s, in %d of %s", check.HeldBy(&w.Holder), w.Holder.Seen, units.Plural(w.Looks, "thread dump")), w.Looked))
	}
	v := c.Contended(k)
	if nested, ok := c.Fact(evidence.FactNestedWait); ok && v.Rule == check.OneLook && w.Alone && len(w.Groups) > 0 {
		return judgeNested(c, v, nested, w.Groups[0])
	}
	if f, ok := c.Fact(evidence.FactStateless); ok && v.RuledOut() && w.Waiting.Number == 0 && !k.Charged {
		v.Rule, v.Needs = check.Untold, needDumps("thread dumps with the states of threads")
		v.Summary, v.Evidence = "the thread dump does not tell which threads wait for a lock", []check.Evidence{c.Seen("it has no states of threads", f.Origin)}
	}
	return v
}

// judgeNested supports a wait for a lock in an excerpt of a dump whose other threads wait to be notified while they hold other monitors: these are most
// likely the threads that block each other, as who made the excerpt thought.
func judgeNested(c *check.Case, v check.Verdict, nested evidence.Fact, g threads.Group) check.Verdict {
	f := strings.SplitN(nested.Value, evidence.Link, 3)
	if len(f) != 3 {
		return v
	}
	v.Rule, v.Weight = check.StandsAlone, 1
	v.Title = fmt.Sprintf("Probably: threads block each other: one waits for a lock in %s, another waits to be notified in %s while it holds other locks.", threadstack.Bare(cmp.Or(g.View.Owner, threads.Nameless)), threadstack.Bare(f[1]))
	v.Summary = "threads that block each other, as far as an excerpt of a dump shows"
	v.Evidence = append(v.Evidence, c.Seen(fmt.Sprintf("%q waits in %s, without a timeout, and keeps the monitors of %s until then", f[0], f[1], f[2]), nested.Origin))
	v.Fix = []check.Fix{{Text: "wait to be notified only while no other lock is held: what notifies must never need one of these", Code: f[1]}}
	return v
}

// How long waits for locks must be to stand for themselves, where a recording's text has nothing but long ones.
var (
	longEnter = check.Threshold{Name: "length of a wait for a lock, by the text of a recording", Value: 1e9, Unit: "ns",
		Why: "after a second people lose their thought", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 1 s"}
	fewEnters = check.Threshold{Name: "waits for locks in the text of a recording", Value: 2, Unit: "count",
		Why: "one may be a start", Source: "arithmetic: the least number that repeats itself"}
)

// judgeMonitorWaits judges by the waits for locks in the text of a flight recording.
func judgeMonitorWaits(c *check.Case) (v check.Verdict, ok bool) {
	n, told := c.Fact(evidence.FactMonitorWaits)
	most, _ := c.Fact(evidence.FactMonitorWaitMost)
	if !told || c.Ledger != nil {
		return v, false
	}
	class, at, _ := strings.Cut(most.Value, evidence.Link)
	v = check.Verdict{Rule: check.TooFew, Summary: fmt.Sprintf("%s for a lock of up to %s", units.Plural(int(n.Number), "wait"), units.Time(most.Number))}
	v.Evidence = append(v.Evidence, c.Figure("lock.waits", "waits for locks in the text, most for "+n.Value, n.Number, "count", n.Origin),
		c.Figure("lock.wait_longest_ms", "longest of them", most.Number/1e6, "ms", most.Origin))
	v.Needs = needDumps("thread dumps under load, to show which threads wait for locks and which hold them")
	v.Counted(n.Number, fewEnters)
	if n.Number < fewEnters.Value || most.Number < longEnter.Value {
		if n.Number >= fewEnters.Value {
			v.Rule = check.Happens
		}
		v.Weigh(most.Number, longEnter)
		return v, true
	}
	v.Rule, v.Weight = check.StandsAlone, 1
	v.Title = fmt.Sprintf("Threads wait for a lock (%s) for up to %s%s.", class, units.Time(most.Number), formatPlace(at))
	v.Fix = []check.Fix{{Text: "do less under this lock, and wait for nothing there; use one lock per key (ConcurrentHashMap.compute), or let readers use a snapshot that is replaced as a whole", Code: at}}
	return v, true
}

func formatPlace(at string) string {
	if at == "" {
		return ""
	}
	return ", in " + at
}

// mostCircles is how much is told of deadlocks.
const mostCircles = 8

// inTitle is how long the names of threads may be to stand in a title.
const inTitle = 80

// formatThreadNames writes the names of threads in brackets; "" if they are too long for a title.
func formatThreadNames(names string) string {
	if names == "" || len(names) > inTitle {
		return ""
	}
	return " (" + names + ")"
}

// judgeDeadlock returns the verdict for threads that wait for each other: they will forever,
// whatever it costs.
func judgeDeadlock(c *check.Case, w *metrics.Locks, f evidence.Fact, figures []check.Evidence) check.Verdict {
	circle := strings.Join(w.Circle, ", ")
	v := check.Verdict{Rule: check.StandsAlone, Weight: 1, Title: fmt.Sprintf("Deadlock: %.0f threads wait for each other's locks forever%s.", f.Number, formatThreadNames(f.Value)), Summary: fmt.Sprintf("%.0f threads wait for each other", f.Number),
		Evidence: figures,
		Fix:      []check.Fix{{Text: "take these locks in the same order everywhere, or one of them with tryLock and a timeout; until then only a restart frees the threads", Code: circle}}}
	found := 0
	circles := make(map[string]bool) // the same in each dump from then on
	for _, x := range c.Bundle.Facts {
		if x.Subject != c.Subject || circles[x.Value] || len(v.Evidence) == mostCircles+len(figures) {
			continue
		}
		switch x.Key {
		case evidence.FactDeadlock:
			v.Evidence = append(v.Evidence, c.Seen("deadlock of "+x.Value, x.Origin))
		case evidence.FactDeadlockChain:
			who := "seen in the locks of the thread dump, and reported by the JVM: "
			if x.Number == 0 {
				who = "seen in the locks of the thread dump, not reported by the JVM: "
			}
			v.Evidence = append(v.Evidence, c.Seen(who+x.Value, x.Origin))
		default:
			continue
		}
		if circles[x.Value] = true; x.Key == evidence.FactDeadlock {
			found++
		}
	}
	if found > 1 {
		v.Title = fmt.Sprintf("%d deadlocks: threads wait for each other's locks forever.", found)
	}
	if circle != "" {
		v.Evidence = append(v.Evidence, c.Seen("they wait for each other in "+circle, f.Origin))
	}
	if l := c.Ledger; l != nil && l.Sampled && c.Slow() {
		v.Saves = c.SaveLocks(w)
	}
	return v
}
