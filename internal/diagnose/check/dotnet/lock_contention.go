package dotnet

import (
	"cmp"
	"fmt"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// LockContention judges whether threads queue for a lock that another thread holds.
var LockContention = check.Check{
	ID:    "dotnet.lock-contention",
	Title: "threads wait for a lock",
	Step:  check.StepLocks,
	Doc: `Threads queue for one lock (the lock statement, Monitor, System.Threading.Lock,
ReaderWriterLock): each waits until the holder releases it. If most threads of the pool
wait, the pool is exhausted too and adds threads, which only join the queue.

The runtime reports each wait that outlasts spinning (Contention events with the code;
since .NET 8 also with the lock's holder); monitor-lock-contention-count counts waits
but not their duration. Stacks show the waiting threads (Monitor.Enter on top) and, if
the holder is in the same code, what the holder does: if it runs, the code does too much
under the lock; if it waits, the lock is held during a call, a task or a sleep.

How to tell it from similar problems: threads that wait for tasks or for the network
starve the pool in the same way (dotnet.threadpool-starvation), but no other thread
holds what they need; a semaphore or a connection pool is meant to be held for a while
(service.pool-exhausted).

What helps: less work under the lock, no waiting under it, one lock per key, a snapshot
that is replaced as a whole for data that is mostly read (System.Collections.Concurrent
and .Immutable). What does not help: more threads.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time; without requests, on average one waiting thread in five samples or by the runtime's events, or %v of a CPU profile in entering monitors",
		check.SomeSlow, check.SlowShare, check.Material, check.ProfiledLocks),
	Thresholds: []check.Threshold{manyWaiting, mostlyUnseen, check.Arguable, check.Crowd, check.HardlyWaiting, check.Material, check.Noticeable,
		check.ProfiledLocks, check.Queueing, check.SlowShare, check.SomeSlow, check.StepAlike, check.StepRounds, check.Stuck},

	Needs:   "contention events and the threads' stacks: " + record,
	Applies: isDotnet,
	Judge:   judgeLock,
}

func judgeLock(c *check.Case) check.Verdict {
	v := judgeLocks(c)
	if w := c.Threads().Summary(c.Subject); v.RuledOut() && c.Ledger == nil && isExcerpt(w) {
		v.Rule, v.Needs = check.NotRecorded, []check.Need{{What: "the stacks of all threads", Command: "dotnet-stack report -p PID > stacks.txt"}}
		v.Summary = "the stack of one thread does not show whether others waited for a lock"
	}
	return v
}

func judgeLocks(c *check.Case) check.Verdict {
	p := threadpool.ProcessOf(c.Bundle, c.Subject, c.Ledger, c.Threads())
	w := metrics.LockEvents(c.Bundle, p.Stacks, c.Subject, p.ThreadPool)
	k := check.Contention{
		Locks: w, Charged: c.Ledger != nil && (c.Ledger.Traced || c.Ledger.Sampled), Cores: p.Cores,
		Excused: p.Busy() && p.Cores > 0 && w.Waiting.Number < p.Cores,
		Title:   fmt.Sprintf("Threads wait for a lock in %s.", threadstack.Bare(cmp.Or(w.Owner, w.Within, threads.Nameless))),
		Shorten: "do less under this lock, use one lock per key, or let readers use a snapshot that is replaced as a whole",
		Outside: "the lock is held by code that waits: wait before taking the lock or after releasing it, or use SemaphoreSlim.WaitAsync() where it must be held",
	}
	if w.Waiting.Known() {
		k.Figures = append(k.Figures, c.Figure("lock.waiting_threads", "threads waiting for a lock, on average", w.Waiting.Number, "count", w.Waiting.Origin))
	}
	contended := p.Counter(evidence.SeriesContentions)
	if contended.Known() {
		k.Figures = append(k.Figures, c.Figure("lock.contentions_per_s", "lock contentions, including very short waits", contended.Mean(), "1/s", contended.Origin))
	}
	if !w.Waiting.Known() && !k.Charged {
		v, told := judgeMonitors(c)
		if told && v.Supported() {
			return v
		}
		if byStacks, ok := judgeStacks(c); ok && (!told || byStacks.Supported()) {
			return byStacks
		}
		if told {
			return v
		}
		if v, ok := check.JudgeProfiledLocks(c, stacksEvidence); ok && !contended.Known() {
			return v
		}
		return untimedVerdict(contended, k.Figures)
	}
	if len(w.Groups) > 0 {
		k.Title = fmt.Sprintf("%d of %d pool threads wait for a lock in %s.", threadpool.Count(w.Groups), w.Worst.Pool, threadstack.Bare(cmp.Or(w.Owner, w.Within, threads.Nameless)))
		for _, g := range w.Groups[:min(3, len(w.Groups))] {
			k.At = append(k.At, c.Figure("lock.waiting_threads_at", "pool threads waiting for a lock in "+frameToChange(g.View), float64(g.Pool), "count", g.Origin))
		}
	}
	if w.Waits > 0 {
		k.At = append(k.At, c.Figure("lock.waited_s", fmt.Sprintf("total time waited for it (%s)", units.Plural(w.Waits, "wait")), float64(w.Waited)/1e9, "s", w.Waiting.Origin))
	}
	if w.Holder.Owner != "" {
		k.Held = append(k.Held, c.Seen(check.HeldBy(&w.Holder), w.Looked))
	}
	return withholdUnseen(c, c.Contended(k))
}

// withholdUnseen makes a verdict that rules locks out inconclusive if hardly any slow time was seen. The runtime's events
// report waits for the lock statement only; other locks, such as ReaderWriterLockSlim, show in thread samples only.
func withholdUnseen(c *check.Case, v check.Verdict) check.Verdict {
	if unseen := c.Share(ledger.Unobserved); v.RuledOut() && unseen >= mostlyUnseen.Value && c.UserVisible(check.Noticeable) {
		v.Rule = check.Unseen
		v.Summary = fmt.Sprintf("no slow request waited for a lock statement, but %s of slow time was not observed, and the runtime does not report waits for ReaderWriterLockSlim", units.Percent(unseen))
		v.Needs = []check.Need{{What: "thread samples while requests are slow, in a longer recording", Command: record}}
	}
	return v
}

var mostlyUnseen = check.Threshold{Name: "share of slow time not observed, from which what was seen is too little", Value: .5, Unit: "1",
	Why: "the larger part decides", Source: "arithmetic: half"}

// untimedVerdict returns the verdict if no wait was timed: at most the number of contentions is known.
func untimedVerdict(contended *metrics.Curve, figures []check.Evidence) check.Verdict {
	v := check.Verdict{Rule: check.NotRecorded, Evidence: figures, Needs: []check.Need{{What: "a recording, to show which threads wait for locks and for how long", Command: record}}}
	switch {
	case !contended.Known():
		v.Summary = "lock waits were not recorded"
	case contended.Mean() < check.Queueing.Value:
		v.Rule, v.Needs = check.TooLittle, nil
		v.Weigh(contended.Mean(), check.Queueing)
		v.Summary = fmt.Sprintf("only %s lock contentions per second", units.Num(contended.Mean()))
	default:
		v.Summary = fmt.Sprintf("%s lock contentions per second, but the counter does not show how long each wait took", units.Num(contended.Mean()))
	}
	return v
}
