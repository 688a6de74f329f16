package dotnet

import (
	"cmp"
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// ThreadPoolStarvation is code that blocks the pool's threads, so that no thread is left for the work that would release them.
var ThreadPoolStarvation = check.Check{
	ID:    "dotnet.threadpool-starvation",
	Title: "blocking code uses up the thread pool",
	Step:  check.StepPool,
	Doc: `Everything in ASP.NET Core runs on the threads of one pool: requests, and the code of an
async method after its await. Code that waits on such a thread for something to complete
(task.Result, Wait(), GetAwaiter().GetResult(), Thread.Sleep, synchronous I/O) holds the
thread without using it. The pool starts with one thread per CPU, so a few such requests
take all of them; the work they wait for often needs a pool thread to complete, and gets
none. The service stops responding while CPUs are idle.

The pool adds threads, slowly: one or two a second, and since .NET 6 faster where the
wait is one of Task's own (as many at once as there are CPUs, then one every 25 to 250
ms; the runtime calls it cooperative blocking). Two signs decide: the number of pool
threads grows, and the CPUs are not busy. A long queue and few completed items are
common, but not always seen. Growth ends when every blocked request has a thread, at the
pool's maximum (32,767), or when the CPUs are busy. Then the service may look healthy: a
count that stays above three times the CPUs still means that extra threads make up for
blocked ones; after the next restart or burst the pool starves again.

How to tell it from similar problems: with busy CPUs the pool grows too, as it tries
whether more threads help (service.over-capacity, linux.cpu-saturation). A slow
dependency that is awaited holds no thread: the count stays low. Where the threads wait
for one lock, the lock is the cause (dotnet.lock-contention). During a GC pause nothing
runs, but threads are not blocked in the program's code.

What helps: await instead of blocking, from the blocking call up to the handler. What
helps until then: a higher minimum of threads (System.Threading.ThreadPool.MinThreads,
or the environment's DOTNET_ThreadPool_ForceMinWorkerThreads, in hexadecimal): each
thread costs memory, and the code still blocks. What does not help: more CPUs, a larger
maximum.`,
	Least: fmt.Sprintf("thread samples with half of the busy pool threads blocked, and more than three blocked threads per CPU, or a queue that does not drain, or %v of slow time in it; without thread samples, a pool that grows one thread at a time beyond the number of CPUs, or such a queue, while CPUs are idle; at one look alone, %v blocked threads of the pool where the number of CPUs is not known, %v work items in the queue where CPU use is not known, or three times the minimum of threads busy when the Redis client gave up",
		check.Material, onAnyHost, longQueue),
	Thresholds: []check.Threshold{atRest, beyondLeast, beyondMinimum, blocking, collecting, drained, fewHeartbeats, idleEnough, long, longQueue, manyBlocked, manyQueued,
		manyWaiting, moreThanCome, mostlyUnseen, onAnyHost, someBlocking, someQueued, check.Arguable, check.Crowd, check.HardlyWaiting, check.Material, check.MinRequests, check.Noticeable, check.ProfiledLocks,
		check.Queueing, check.SlowShare, check.SomeSlow, check.StepAlike, check.StepRounds, check.Stuck},

	Needs: "the pool's threads over time and their stacks: " + record + "; or the output of dotnet-counters and dotnet-stack",

	Applies: isDotnet,
	Judge:   judgeStarvation,
}

// record is the command that records all that the causes of this package read.
const record = "unstall record PID"

var (
	countersEvidence = check.Need{What: "the number of pool threads and CPU use over time", Command: "dotnet-counters collect -p PID --format csv"}
	stacksEvidence   = check.Need{What: "thread stacks, to show which code blocks the threads", Command: "dotnet-stack report -p PID > stacks.txt"}
	allEvidence      = check.Need{What: "pool threads, their stacks and CPU use at the same time", Command: record}
)

var blocking = check.Threshold{Name: "share of busy pool threads that are blocked", Value: .5, Unit: "1",
	Why: "it is their standing still that uses up the pool, not their work", Source: "arithmetic: half"}

var (
	manyBlocked = check.Threshold{Name: "threads of the pool, or blocked ones, for each CPU", Value: metrics.ManyThreads, Unit: "times",
		Why: "what runs needs one for each CPU", Source: "judgement: weighs the few threads beyond one for each CPU that a pool always has against a pool that makes up for blocked ones"}
	onAnyHost = check.Threshold{Name: "blocked threads of the pool in one dump, where the number of CPUs is not known", Value: 200, Unit: "count",
		Why: "they are more than three for each CPU on nearly every host", Source: "judgement: three for each of 64 CPUs are 192; hosts of services rarely have more"}
	someQueued = check.Threshold{Name: "work items that wait for a thread, on average", Value: 1, Unit: "count",
		Why: "a pool with a free thread takes each at once", Source: "arithmetic: one waits all the time"}
)

// Thresholds for a pool whose threads are blocked.
const (
	starves   = "the pool starves"
	madeUpFor = "extra threads compensate for it"
	oneLook   = "the pool starves, or has added threads to compensate"
)

func judgeStarvation(c *check.Case) check.Verdict {
	p := threadpool.ProcessOf(c.Bundle, c.Subject, c.Ledger, c.Threads())
	s := &starving{c: c, pool: p, work: p.Work()}
	v := check.Verdict{Rule: check.TooLittle, Evidence: s.listFigures()}
	if late, ok := judgeHeartbeats(c); ok && !p.Watched() && !p.Queue.Known() {
		return late
	}
	switch {
	case !p.Watched() && p.Queue.Known():
		s.byQueue(&v)
	case !p.Watched():
		v.Rule, v.Summary, v.Needs = check.NotRecorded, "the pool's threads were not recorded", []check.Need{allEvidence}
	case p.Busy() && p.CPU < p.Then:
		v.Rule = check.Explained
		v.Summary = fmt.Sprintf("the CPUs are %s busy whenever work waits for a thread, so the work waits for CPU", units.Percent(p.Then))
	case p.Busy():
		v.Rule = check.Explained
		v.Summary = fmt.Sprintf("the CPUs are %s busy, so work waits for CPU", units.Percent(p.CPU))
	case p.Worst != nil && !s.grewUnseen() && !s.sawFew():
		if s.byStacks(&v); v.RuledOut() && isExcerpt(p.Worst) {
			v.Rule, v.Needs = check.NotRecorded, []check.Need{allEvidence}
			v.Summary = "the stack of one thread does not show what the others of the pool did"
		}
	default:
		s.byCount(&v)
	}
	return v
}

// fewHeartbeats is how many heartbeats must be late for a server's log alone to support the cause.
var fewHeartbeats = check.Threshold{Name: "late heartbeats of Kestrel", Value: 2, Unit: "count",
	Why: "one may be a start or a long collection; probes and timers of Orleans count alike", Source: "arithmetic: the least number that repeats itself"}

// judgeHeartbeats judges by a log of work that a pool thread is to do each second, and did late: heartbeats of Kestrel, probes
// of Orleans.
func judgeHeartbeats(c *check.Case) (v check.Verdict, ok bool) {
	n, told := c.Fact(evidence.FactHeartbeatsLate)
	most, _ := c.Fact(evidence.FactHeartbeatMost)
	what := cmp.Or(n.Value, "Kestrel heartbeat")
	if !told || n.Number < fewHeartbeats.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("The thread pool probably has too few threads: %s came late, by up to %s.", units.Plural(int(n.Number), what), units.Time(most.Number)),
		Summary: fmt.Sprintf("late: %s", units.Plural(int(n.Number), what))}
	v.Evidence = append(v.Evidence, c.Figure("threadpool.late_heartbeats", "heartbeats of Kestrel, or probes and timers of Orleans, that no thread of the pool ran in time", n.Number, "count", n.Origin),
		c.Figure("threadpool.heartbeat_longest_ms", "longest of them", most.Number/1e6, "ms", most.Origin))
	v.Fix = []check.Fix{{Text: "find the code that blocks threads of the pool (.Result, .Wait(), synchronous I/O) and make it asynchronous"}}
	v.Needs = []check.Need{stacksEvidence, countersEvidence}
	return v, true
}

var someBlocking = check.Threshold{Name: "share of busy pool threads that may use up the pool", Value: .35, Unit: "1",
	Why: "below the share that is named chance decides what samples show", Source: "binomial error of 20 samples"}

var idleEnough = check.Threshold{Name: "share of CPUs in use up to which queued work waits for threads, not for CPUs", Value: .75, Unit: "1",
	Why: "above it work queues for CPUs", Source: "M/M/1: ρ/(1−ρ) is 3 at 75 %"}

// starving is a case with what is known of its pool.
type starving struct {
	c    *check.Case
	pool *threadpool.Process
	work threadpool.Work
}

// isExhausted says whether requests wait for pool threads while CPUs are free: its queue does not
// empty, or much of the slow time was spent in it. The number of threads does not matter: where
// blocked threads become free again, the runtime sees work completed and adds hardly any.
func (s *starving) isExhausted() bool {
	p := s.pool
	if p.CPU > idleEnough.Value {
		return false
	}
	items := max(1, p.Cores)
	if p.Cores == 0 && p.Worst == nil { // the pool has at least a thread for each CPU
		items = manyQueued.Value
	}
	return p.Short(items) || s.c.Slow() && s.c.Share(ledger.PoolThread) >= check.Material.Value
}

// grewUnseen says whether the pool got most of its threads after the last stack samples, in which
// no thread was blocked: the number of threads then shows more than the stacks.
func (s *starving) grewUnseen() bool {
	p := s.pool
	return p.Threads.Known() && !p.Loose && p.Climbs() && p.Standing() == 0 && p.Threads.Last() >= 2*float64(p.Worst.Pool)
}

// sawFew says whether the stacks are of a small part of the pool, whose number of threads is known at one moment and shows more than they.
func (s *starving) sawFew() bool {
	p := s.pool
	return p.Threads.Known() && !p.Loose && p.Threads.Span() == 0 && p.Threads.Last() >= 2*float64(p.Worst.Pool) && (p.Standing() == 0 || isExcerpt(p.Worst))
}

// isExcerpt says whether one thread was seen: a process has more, so that somebody chose it.
func isExcerpt(w *threads.Summary) bool { return w != nil && w.Threads == 1 && w.Samples == 1 }

// byStacks judges by what the threads do.
func (s *starving) byStacks(v *check.Verdict) {
	p, w := s.pool, s.pool.Worst
	n, cores := p.Standing(), p.Cores
	blocked := float64(n)
	many := p.Above(blocked) || cores == 0 && blocked >= onAnyHost.Value
	locks := 0
	for _, g := range p.Waiting() {
		if g.View.State == evidence.LockWait {
			locks += g.Pool
		}
	}
	if v.Summary = fmt.Sprintf("at most %d of %d pool threads were blocked at the same time", n, w.Pool); n == 0 {
		v.Summary = fmt.Sprintf("none of %d pool threads was blocked", w.Pool)
	}
	if cores > 0 {
		v.Summary += fmt.Sprintf(", on %.0f CPUs", cores)
	}
	switch most := max(blocked/float64(max(w.Busy, 1)), s.work.Blocked/max(s.work.Busy, 1)); {
	case most == 0:
		v.Rule = check.Absent
	default:
		v.Weigh(most, blocking)
	}
	switch {
	case n == 0 && s.work.Blocked < blocking.Value*s.work.Busy, blocked < blocking.Value*float64(w.Busy) && s.work.Blocked < blocking.Value*s.work.Busy:
		if s.isExhausted() && s.work.Blocked >= someBlocking.Value*s.work.Busy {
			v.Rule = check.OnTheEdge
			v.Summary = fmt.Sprintf("on average %s of %s busy pool threads were blocked, while %s work items waited for a thread",
				units.Num(s.work.Blocked), units.Num(s.work.Busy), units.Num(p.Queue.Mean()))
			v.Needs = []check.Need{stacksEvidence}
		}
		return
	case cores == 0 && n > 1 && !p.Climbs() && !many:
		g := p.Waiting()[0]
		v.Rule, v.Needs = check.NotRecorded, []check.Need{countersEvidence}
		v.Summary = fmt.Sprintf("%s blocks %d of %d pool threads %s, but neither the number of CPUs nor their use is known", threadpool.Method(g.View), g.Pool, w.Pool, threadpool.On(g.View))
		return
	case !many && !(p.Climbs() && blocked >= cores) && !s.isExhausted():
		v.Weigh(blocked/max(cores, 1), manyBlocked)
		return
	case math.IsNaN(p.CPU) && cores > 0 && float64(w.Busy-n) >= cores:
		v.Rule, v.Needs = check.NotRecorded, []check.Need{countersEvidence}
		v.Summary += fmt.Sprintf(", while %d ran; CPU use is unknown", w.Busy-n)
		return
	case (2*locks > n || 2*s.work.Locked > s.work.Blocked && s.work.Blocked > 0) && s.lockNamed():
		v.Rule = check.Explained
		v.Summary = fmt.Sprintf("%d of %d pool threads wait for a lock: see dotnet.lock-contention", locks, w.Pool)
		return
	case s.behindLock() >= blocking.Value && s.lockNamed(): // by the runtime's events: more threads would only queue for the lock
		v.Rule = check.Explained
		v.Summary = fmt.Sprintf("%s of the pool's threads wait for a lock or hold it: see dotnet.lock-contention", units.Percent(s.behindLock()))
		return
	case math.IsNaN(p.CPU) && !many:
		v.Rule, v.Needs = check.NotRecorded, []check.Need{countersEvidence}
		v.Summary += "; CPU use is unknown"
		return
	}
	fares := starves
	switch {
	case p.Climbs() && (p.Climb.Still || p.Threads.Span() < metrics.Short):
	case p.Threads.Span() < metrics.Short:
		fares = oneLook
		v.Needs = append(v.Needs, check.Need{What: "to show whether it still starves: " + countersEvidence.What, Command: countersEvidence.Command})
	case p.Above(p.Size()) && !p.Short(1):
		if !p.Above(p.Held(s.work)) && !s.isExhausted() {
			s.ruleOutRoomy(v)
			return
		}
		if c := s.c; c.Ledger != nil && len(c.Ledger.Rows) >= check.MinRequests.Int() && !c.UserVisible(check.Noticeable) {
			v.Rule = c.Cleared(1)
			v.Summary += "; extra threads compensate for it, and requests are quick"
			return
		}
		fares = madeUpFor
	}
	s.fillSupported(v, fares)
}

// ruleOutRoomy rules out a pool in which no work waits, and no more threads are blocked at a time
// than is normal for this many CPUs: threads that wait for work keep no request waiting.
func (s *starving) ruleOutRoomy(v *check.Verdict) {
	w := s.work
	v.Weigh(s.pool.Held(w)/max(s.pool.Cores, 1), manyBlocked)
	v.Summary = fmt.Sprintf("on average %s busy pool threads were blocked, on %.0f CPUs", units.Num(s.pool.Held(w)), s.pool.Cores)
	if w.Parked > 0 {
		v.Summary += fmt.Sprintf(", and %s idle consumers", units.Num(w.Parked))
	}
	v.Summary += "; no work waited for a thread"
}

// behindLock returns the part of the pool that waits for a lock, or holds it meanwhile, by the
// runtime's events.
func (s *starving) behindLock() float64 {
	return metrics.LockEvents(s.c.Bundle, s.pool.Stacks, s.c.Subject, s.pool.ThreadPool).Behind
}

// lockNamed says whether dotnet.lock-contention reports the lock that the pool's threads wait for,
// or leaves it open. It does not where no request waits for it: timers or other work keep the
// threads at it, and requests wait for a thread before they begin.
func (s *starving) lockNamed() bool { return !judgeLock(s.c).RuledOut() }

// grewByProbing says whether the pool grew because the runtime tested whether more threads do more
// work, not because threads were missing.
func (s *starving) grewByProbing() bool {
	return len(s.pool.Raised) > 0 && s.pool.Blocked() == 0 && s.pool.Grows() && !s.pool.Above(s.pool.Climb.From)
}

// byCount judges by how many threads the pool has, which shows that they are blocked but not by
// what.
func (s *starving) byCount(v *check.Verdict) {
	p := s.pool
	what, level := "pool", p.Threads.Last()
	if p.Loose {
		what = "process"
	}
	v.Rule = check.Absent // until something tells that they are blocked
	v.Summary = fmt.Sprintf("the %s has %.0f threads", what, level)
	if p.Cores > 0 {
		v.Summary += fmt.Sprintf(" on %.0f CPUs", p.Cores)
	}
	paused, _ := s.gcPausedShare()
	queued := s.isExhausted() && p.Worst == nil && p.Short(1)
	if s.byClient(v) {
		return
	}
	climbs := p.Climbs() && (p.Climb.Steps > 1 || p.Blocked() > 0) && !s.drainsAtOnce() && (p.Above(level) || p.Cores == 0 && (p.Queued() || p.Climb.To-p.Climb.From >= long.Value))
	switch {
	case p.Loose && p.Grows():
		v.Rule, v.Needs = check.Untold, []check.Need{allEvidence}
		v.Summary += fmt.Sprintf(" and adds %s per second; whether they are blocked pool threads was not recorded", units.Num(p.Climb.Rate))
	case p.Loose:
		v.Rule, v.Needs = check.Untold, []check.Need{allEvidence}
		v.Summary += "; how many of them are pool threads was not recorded"
	case climbs && math.IsNaN(p.CPU):
		v.Rule, v.Needs = check.NotRecorded, []check.Need{countersEvidence}
		v.Summary += fmt.Sprintf(" and adds %s per second; CPU use was not recorded", units.Num(p.Climb.Rate))
	case climbs && paused >= collecting.Value:
		v.Rule, v.Needs = check.PartlyExplained, []check.Need{stacksEvidence}
		v.Summary += fmt.Sprintf(" and adds %s per second, but GC pauses the program for %s of the time", units.Num(p.Climb.Rate), units.Percent(paused))
	case (climbs || queued) && p.Starved():
		v.Rule, v.Needs = check.Withheld, []check.Need{{What: "the same while the host has CPUs to spare", Command: record}}
		v.Summary += ", while other processes use the host's CPUs: runnable threads wait for a CPU, and work waits for these threads"
	case queued && !climbs && s.behindLock() >= blocking.Value && s.lockNamed():
		v.Rule = check.Explained
		v.Summary += ", and most of them wait for a lock: see dotnet.lock-contention"
	case climbs, queued && paused < collecting.Value && !math.IsNaN(p.CPU):
		s.weighCount(v, climbs)
		s.fillSupported(v, starves)
		v.Needs = append([]check.Need{stacksEvidence}, v.Needs...)
	case s.grewByProbing():
		v.Rule = check.Explained
		v.Summary += ", some of them added by the runtime to test whether more increase throughput"
	case p.Above(level):
		v.Rule, v.Needs = check.Untold, []check.Need{stacksEvidence}
		v.Summary += ", more than the running work needs: some are or were blocked"
	case p.Cores == 0:
		v.Rule, v.Needs = check.NotRecorded, []check.Need{allEvidence}
		v.Summary += "; the number of CPUs is unknown"
	case p.Threads.Span() < metrics.Short:
		v.Rule, v.Needs = check.TooFew, []check.Need{countersEvidence}
		v.Summary += "; whether the number grows was not recorded"
	}
}

// weighCount records the figures of a pool that grows, or whose queue does not empty, while CPUs are idle.
func (s *starving) weighCount(v *check.Verdict, climbs bool) {
	p := s.pool
	if !math.IsNaN(p.CPU) {
		v.WeighBelow(p.CPU, idleEnough)
	}
	switch {
	case climbs && p.Cores > 0:
		v.Weigh(p.Threads.Last()/p.Cores, manyBlocked)
	case climbs && !p.Queued():
		v.Weigh(p.Climb.To-p.Climb.From, long)
	default:
		v.Weigh(p.Queue.Mean(), someQueued)
	}
}

// Thresholds for the message of a client of the pool that gave up waiting: this many times the minimum of threads at work, and
// this many more than it, are more than a first burst, which gets threads at once.
var (
	beyondMinimum = check.Threshold{Name: "busy threads over the minimum when a client of the pool gave up", Value: 3, Unit: "times",
		Why: "the first burst is given threads at once", Source: "judgement: weighs a first burst, for which the pool makes threads at once, against one that it must follow thread by thread"}
	beyondLeast = check.Threshold{Name: "busy threads more than the minimum when a client of the pool gave up", Value: 8, Unit: "threads",
		Why: "the first burst is given threads at once", Source: "judgement: weighs a first burst, for which the pool makes threads at once, against one that it must follow thread by thread, which is 4 s for eight (PortableThreadPool.GateThread.cs of dotnet/runtime: every 500 ms)"}
)

var longQueue = check.Threshold{Name: "work items that wait in a single reading", Value: 100, Unit: "count",
	Why: "a pool works off as many of the usual length in a tenth of a second", Source: "judgement: weighs a burst that is worked off before the next reading against a queue that stands; of items of 1 ms a pool of ten takes 10 ms"}

// byClient judges by what a client in the process logged about the pool when it gave up waiting
// for an answer, or by a long queue that was read once, while CPU use is not known.
func (s *starving) byClient(v *check.Verdict) bool {
	p := s.pool
	if p.CPU > idleEnough.Value {
		return false
	}
	busy, told := s.c.Fact(evidence.FactPoolBusy)
	least, known := s.c.Fact(evidence.FactPoolMinimum)
	ioBusy, _ := s.c.Fact(evidence.FactPoolIOBusy)
	ioLeast, ioKnown := s.c.Fact(evidence.FactPoolIOMinimum)
	over := func(busy, least float64) bool {
		return busy >= beyondMinimum.Value*least && busy-least >= beyondLeast.Value
	}
	queued := p.Queue.Known() && p.Queue.Last() >= longQueue.Value
	switch {
	case told && (known && over(busy.Number, least.Number) || ioKnown && over(ioBusy.Number, ioLeast.Number)):
		n, of, kind := busy.Number, least.Number, "worker threads"
		if !known || !over(n, of) {
			n, of, kind = ioBusy.Number, ioLeast.Number, "threads for completed I/O"
		}
		v.Title = fmt.Sprintf("Pool threads are probably blocked: %.0f %s are busy, where the pool creates %.0f without delay.", n, kind, of)
		if _, gave := s.c.Fact(evidence.FactRedisTimeouts); gave {
			v.Title = fmt.Sprintf("Pool threads are probably blocked: when the Redis client gave up, %.0f %s were busy, where the pool creates %.0f without delay.", n, kind, of)
		}
		v.Summary = fmt.Sprintf("%.0f busy %s, minimum %.0f", n, kind, of)
		v.Evidence = append(v.Evidence, s.c.Figure("pool.busy_threads", kind+" of the pool with work", n, "count", busy.Origin),
			s.c.Figure("pool.minimum_threads", "threads the pool creates without delay", of, "count", busy.Origin))
	case told && (!queued || busy.Number < least.Number), !told && (!queued || !math.IsNaN(p.CPU)): // below its minimum a pool creates threads at once
		return false
	default:
		v.Title = fmt.Sprintf("Pool threads are probably blocked: %.0f work items wait for one.", p.Queue.Last())
		if p.Threads.Known() {
			v.Title = fmt.Sprintf("Pool threads are probably blocked: %.0f work items wait for one of %.0f.", p.Queue.Last(), p.Threads.Last())
		}
		v.Summary = fmt.Sprintf("%.0f work items wait for a pool thread", p.Queue.Last())
	}
	if queued {
		v.Evidence = append(v.Evidence, s.c.Figure("pool.queued_items_most", "most work items waiting for a pool thread", p.Queue.Last(), "count", p.Queue.Origin))
	}
	if f, ok := s.c.Fact(evidence.FactRedisTimeouts); ok {
		v.Evidence = append(v.Evidence, s.c.Figure("redis.client_timeouts", "answers of Redis that came too late for the client", f.Number, "count", f.Origin))
	}
	v.Rule, v.Weight = check.StandsAlone, 1
	v.Fix = []check.Fix{{Text: "await instead of blocking, from the blocking call up to the handler; the thread stacks show where"},
		{Text: "until then, let the pool create more threads without delay, by ThreadPool.SetMinThreads or by the setting", Setting: "System.Threading.ThreadPool.MinThreads"}}
	v.Needs = []check.Need{stacksEvidence, countersEvidence}
	return true
}

var drained = check.Threshold{Name: "time in which a pool that is not short of threads works off its queue", Value: .01, Unit: "s",
	Why: "the pool adds a thread only after half a second", Source: "PortableThreadPool.GateThread.cs of dotnet/runtime: every 500 ms"}

// drainsAtOnce says whether the pool completes queued work at once.
func (s *starving) drainsAtOnce() bool {
	p := s.pool
	return p.Blocked() == 0 && p.Queue.Known() && p.Completed.Known() && p.Completed.Mean() > 0 && p.Queue.Mean() <= drained.Value*p.Completed.Mean()
}

var long = check.Threshold{Name: "threads that a pool must add one by one", Value: 10, Unit: "threads",
	Why: "on the way to one for each CPU they are given at once", Source: "arithmetic: one every 500 ms (PortableThreadPool.GateThread.cs of dotnet/runtime) takes 5 s"}

var collecting = check.Threshold{Name: "share of the time in GC from which it is GC that lets nothing run", Value: .3, Unit: "1",
	Why: "threads that are stopped look blocked", Source: "judgement: weighs stacks that pauses show as blocked against a pool that is short of threads while it also collects"}

// fillSupported fills in the verdict of a pool whose threads are blocked.
func (s *starving) fillSupported(v *check.Verdict, fares string) {
	p := s.pool
	v.Rule = check.Matters
	groups := p.Waiting()
	if len(groups) > 0 {
		g, w := groups[0], p.Worst
		v.Title = fmt.Sprintf("%s blocks %d of %d pool threads %s: %s.", threadpool.Method(g.View), g.Pool, w.Pool, threadpool.On(g.View), fares)
		v.Summary = fmt.Sprintf("%d of %d pool threads blocked", p.Standing(), w.Pool)
		if p.Queued() {
			v.Summary += fmt.Sprintf(", and on average %s work items wait for one", units.Num(p.Queue.Mean()))
		}
	} else if !p.Grows() {
		v.Title = fmt.Sprintf("Pool threads are blocked: %s work items wait for one on average, while the CPUs are only %s busy.", units.Num(p.Queue.Mean()), units.Percent(p.CPU))
		v.Summary = fmt.Sprintf("%.0f pool threads", p.Threads.Last())
	} else {
		v.Title = fmt.Sprintf("Pool threads are blocked: the pool adds %s per second and has %.0f, while the CPUs are only %s busy.", units.Num(p.Climb.Rate), p.Threads.Last(), units.Percent(p.CPU))
		v.Summary = fmt.Sprintf("%.0f → %.0f pool threads", p.Climb.From, p.Climb.To)
	}
	need := p.Needed()
	if fares != madeUpFor {
		v.Weight = 1 // as bad as stopped: blocked threads do nothing
		v.Saves = s.savedTime(need)
	} else {
		v.Weight = idleThread * p.Size()
		v.Saves = s.waitedForThreads()
		if need.Seconds == 0 {
			need = p.Served()
		}
	}
	v.Prediction = s.predictAwait(need)
	foreseeable := !s.isBlockedElsewhere()
	v.Fix = s.listFixes(groups, len(v.Prediction) > 0 || !foreseeable)
	if need.Seconds == 0 && fares != madeUpFor && foreseeable {
		v.Needs = append(v.Needs, check.Need{What: "to predict the effect of a fix: a recording under light load as the baseline", Command: "unstall PID --baseline light.unstall"})
	}
}

// idleThread is the weight of a thread that exists only because others are blocked, relative to a stopped service: its memory,
// and some of the scheduler's time.
const idleThread = 1e-4
