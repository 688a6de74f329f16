package ledger

import "github.com/unstall/unstall/internal/base/evidence"

// Pass is one step by which a stretch of a request's time is charged. Passes run in the order of their list: each charges
// only what earlier ones left free, and none changes the ledger.
type Pass struct {
	Name    string
	About   string      // what the pass charges, and why
	Needs   string      // what must be known for the pass; "": nothing
	Charges []Mechanism // what the pass charges; nil: whatever its evidence says

	charge func(w *walker, f *freeTime)
}

// freeTime is a part of a request's time that no pass has charged yet.
type freeTime struct {
	at      int64             // ns: where the free time begins
	s       *evidence.Segment // what is known of the free time; Dur is how long it is
	stopped int64             // stop-the-world ns within a free time without a state

	began, took       int64 // ns: beginning and length of the time that outside queues share
	from, dur         int64 // ns: beginning and length of the time that thread samples share
	seenRun, seenWait int64 // ns that these samples show threads running, and the part waiting for a CPU
}

// runPasses charges a stretch by passes.
func (w *walker) runPasses(passes []Pass, f *freeTime) {
	f.began, f.took = f.at, f.s.Dur
	for i := range passes {
		if audit != nil {
			audit(w, &passes[i], f)
		} else {
			passes[i].charge(w, f)
		}
		if f.s.Dur == 0 {
			return
		}
	}
}

// audit, if set by a test, is called in place of each pass; it calls the pass.
var audit func(w *walker, p *Pass, f *freeTime)

// takeAll charges all free time as c says.
func (w *walker) takeAll(f *freeTime) {
	w.yield(f.at, f.s, &w.c, fromStates)
	f.markCharged(f.s.Dur)
}

// markCharged removes the first ns, which have been charged, from the free time.
func (f *freeTime) markCharged(ns int64) { f.at, f.s.Dur = f.at+ns, f.s.Dur-ns }

// chargeBeginning charges the beginning of the free time, less its stop-the-world time, to one mechanism, as a state.
func (w *walker) chargeBeginning(f *freeTime, part evidence.Segment, ns int64, m Mechanism) {
	if part.Dur = min(f.s.Dur-f.stopped, ns); part.Dur <= 0 {
		return
	}
	w.c = Charges{}
	w.c[m] = part.Dur
	w.yieldState(f.at, part, fromStates)
	f.markCharged(part.Dur)
}

// Passes returns the passes for time with a known state and those for other time; the first list hands over to the second.
func Passes() (seen, unseen []Pass) { return seenPasses, unseenPasses }

var seenPasses, unseenPasses []Pass

// init makes the lists because passes refer to them to hand over.
func init() {
	seenPasses = []Pass{
		{"timer of a loop", "The event loop that serves the request slept until a timer that the request waits for.", "the kernel's record of waits", nil, func(w *walker, f *freeTime) {
			if w.waitsForLoopTimer(f.s) {
				w.chargeLoopTimer(f)
			}
		}},
		{"no state", "Nothing is known: the other list charges it.", "", nil, func(w *walker, f *freeTime) {
			if f.s.Kind == evidence.Unobserved {
				f.s.Holder = 0 // of the loop no more is known
				w.handOver(f)
			}
		}},
		{"replay outside", "The beginning of time before the service was a wait behind pauses, as the replay of the queue says.", "a replay", []Mechanism{StopTheWorld}, func(w *walker, f *freeTime) {
			if w.moved > 0 && f.s.Kind == evidence.BeforeService && f.s.Cause == 0 {
				w.chargeReplayed(f)
			}
		}},
		{"event loop", "A wait for an event loop is what keeps the loop from running, then what it runs.", "the kernel's view of connections", []Mechanism{Queued, StopTheWorld, HostCPU, RequestsCPU, PoolThread}, func(w *walker, f *freeTime) {
			if f.s.Kind == evidence.ThreadWait && w.l.isWaitOf(f.s.Cause, evidence.EventLoop) {
				w.chargeEventLoop(f)
			}
		}},
		{"one at a time", "Which lock lets one call at a time through, samples of threads tell: the other list charges it.", "threads that wait for locks", nil, func(w *walker, f *freeTime) {
			if w.l.isOneAtATime(f.s) {
				w.askThreads(f)
			}
		}},
		{"another's call", "Which lock is held over another request's call, samples of threads tell: the other list charges it.", "threads that wait for locks", nil, func(w *walker, f *freeTime) {
			if w.l.isBehindCall(f.s) {
				w.askThreads(f)
			}
		}},
		{"turns", "What serves one request at a time, threads tell that were seen to wait, or full CPUs: the other list charges it.", "samples of threads", nil, func(w *walker, f *freeTime) {
			if w.l.isTurn(f.s) {
				w.askThreads(f)
			}
		}},
		{"entrance", "Of the requests outside, as many wait in the accept queue, or are accepted and unread, as these hold (Little's law).", "queues of sockets", []Mechanism{Queued}, func(w *walker, f *freeTime) {
			unread := w.isUnread(f)
			read := w.l.byKernel && f.s.Cause == 0 // the kernel shows when the request was read
			if e := w.l.entrance; e != nil && f.s.Kind == evidence.BeforeService && (f.s.Cause == 0 || unread) && !read {
				w.chargeEntrance(e.queues, f)
				if !unread {
					w.chargeEntrance(e.unread, f)
				}
			}
		}},
		{"unread, by threads", "What kept the threads from reading a request that has arrived, samples of them tell: the other list charges it.", "samples of threads", nil, func(w *walker, f *freeTime) {
			if w.isUnread(f) && w.l.occupancy.hasPoolWaits(w.row, f.at, f.s.Dur) {
				w.handOver(f)
			}
		}},
		{"unread, paused", "The world was stopped before the request was read.", "pauses", []Mechanism{StopTheWorld, HostCPU}, func(w *walker, f *freeTime) {
			if w.isUnread(f) {
				w.pausedFor(f)
			}
		}},
		{"unread, ready", "A thread of a Go program was ready to read the request and had no CPU, by the kernel's account.", "run-queue times", []Mechanism{RequestsCPU, HostCPU, Queued}, func(w *walker, f *freeTime) {
			if w.l.denied != nil && w.l.Unread == nil && w.isUnread(f) && f.s.Dur >= shortUnread {
				w.chargeDeniedReading(f)
			}
		}},
		{"unread, busy", "The process kept the CPUs busy until the request was read.", "CPU samples", []Mechanism{RequestsCPU, Queued}, func(w *walker, f *freeTime) {
			if busy := w.l.Unread; busy != nil && w.isUnread(f) && f.s.Dur >= shortUnread {
				w.c = Charges{RequestsCPU: int64(busy.Part * float64(f.s.Dur))}
				w.c[Queued] = f.s.Dur - w.c[RequestsCPU]
				w.takeAll(f)
			}
		}},
		{"pool's queue", "Of the requests outside, as many wait for a thread of the runtime's pool as its queue holds: one that reads them, or runs their handler.", "the pool's queue", []Mechanism{PoolThread, Queued}, func(w *walker, f *freeTime) {
			if q := w.l.queued; q != nil && f.s.Kind == evidence.BeforeService && (f.s.Cause == 0 || w.isUnread(f)) {
				w.c = Charges{PoolThread: int64(q.meanShare(f.at, f.s.Dur) * float64(f.s.Dur))}
				w.c[Queued] = f.s.Dur - w.c[PoolThread]
				w.takeAll(f)
			}
		}},
		{"looks", "Looks met the request's goroutine running or ready: its work, less what the host and other threads kept from it.", "looks at goroutines", []Mechanism{Own, RequestsCPU, HostCPU}, func(w *walker, f *freeTime) {
			if w.l.denied != nil && (f.s.Kind == evidence.Running || f.s.Kind == evidence.Runnable) {
				w.chargeLooked(f)
			}
		}},
		{"awaits", "A request that holds no thread waits for one, or for what it awaits.", "what requests await", nil, func(w *walker, f *freeTime) {
			if f.s.Kind == evidence.Awaiting && (w.l.awaiteds != nil || w.l.alike != nil) {
				w.chargeAwaited(f.at, *f.s)
				f.markCharged(f.s.Dur)
			}
		}},
		{"calls", "Parts of a call are something else, as in requests whose awaits are known.", "awaits of similar requests", nil, (*walker).chargeConnectionWaits},
		{"state", "The state says what it is; a CPU's time that the host did not give is the host's.", "", nil, func(w *walker, f *freeTime) {
			w.l.kernel.nameSyscalls(w.l.b, f.at, f.s)
			chargeSegment(f.s, &w.c)
			if q := w.l.queued; q != nil && f.s.Kind == evidence.Awaiting {
				w.c[PoolThread] = int64(q.meanShare(f.at, f.s.Dur) * float64(f.s.Dur))
				w.c[Awaiting] -= w.c[PoolThread]
			}
			w.l.Host.moveToHost(&w.c)
			w.takeAll(f)
		}},
	}
	unseenPasses = []Pass{
		{"replay", "The beginning was a wait behind pauses, as the replay of the queue says.", "a replay", []Mechanism{StopTheWorld}, func(w *walker, f *freeTime) {
			if w.moved > 0 {
				w.moved = min(w.moved, f.s.Dur-f.stopped)
				w.chargeReplayed(f)
			}
		}},
		{"accept queue", "Of the requests outside, as many wait in the accept queue as it holds.", "queues of sockets", []Mechanism{Queued}, func(w *walker, f *freeTime) {
			if w.mayBeOutside() {
				w.chargeEntrance(w.l.entrance.queues, f)
			}
		}},
		{"allocation stalls", "Threads waited for GC to free memory.", "stalls of threads", []Mechanism{AllocationStall}, func(w *walker, f *freeTime) {
			w.chargeBeginning(f, *f.s, w.l.stalled.waitWithin(f.at, f.s.Dur), AllocationStall) // the world's stops also stop a stalled thread
		}},
		{"threads", "The thread that serves the request was seen doing this, or those of requests like it; where that thread is not known: the service's threads at that time, each for as many requests as there are to a thread.", "samples of threads", nil, (*walker).chargeThreads},
		{"run queue", "Threads that run by these samples waited for a CPU, by the kernel's account.", "run-queue times", []Mechanism{RequestsCPU, HostCPU, Own}, (*walker).chargeRunQueue},
		{"awaits", "Requests like it awaited this.", "what requests await", nil, (*walker).chargeSimilarAwaits},
		{"traced requests", "Traced requests of its route that took about as long did this.", "traced requests", nil, (*walker).chargeTracedSample},
		{"unread connections", "Of the requests outside, as many are accepted and unread as there are such connections.", "queues of sockets", []Mechanism{Queued}, func(w *walker, f *freeTime) {
			if w.mayBeOutside() {
				w.chargeEntrance(w.l.entrance.unread, f)
			}
		}},
		{"pauses", "The world was stopped, or the recorder held the process; the rest was not observed.", "", []Mechanism{StopTheWorld, HostCPU, Recorder, Unobserved, Queued}, (*walker).chargeRest},
	}
}

// asksThreads reports whether samples of threads tell more of a state than it says itself.
func (l *Ledger) asksThreads(s *evidence.Segment) bool {
	return l.isOneAtATime(s) || l.isBehindCall(s) || l.isTurn(s)
}

// isOneAtATime reports whether a state is a wait for what one request at a time has, and looks saw a lock.
func (l *Ledger) isOneAtATime(s *evidence.Segment) bool {
	return s.Kind == evidence.PoolWait && l.occupancy.hasLockWaits() && l.isWaitOf(s.Cause, evidence.OneAtATime)
}

// isBehindCall reports whether a state is a wait for another request's call, and looks saw a lock that may be held over it.
func (l *Ledger) isBehindCall(s *evidence.Segment) bool {
	return s.Kind == evidence.NetWait && s.HolderKind == evidence.NetWait && l.occupancy.hasLockOverCall()
}

// isTurn reports whether a state is a wait for the request's turn, and looks, or full CPUs, show what serves one at a time.
func (l *Ledger) isTurn(s *evidence.Segment) bool {
	return s.Kind == evidence.SyncWait && l.isWaitOf(s.Cause, evidence.Turn) && (l.occupancy.hasWaits() || l.ownCPUs >= overloadedFrom)
}

// askThreads forgets the state of a stretch, of which samples of threads tell more, and hands it over.
func (w *walker) askThreads(f *freeTime) {
	*f.s = evidence.Segment{Kind: evidence.Unobserved, Dur: f.s.Dur}
	w.handOver(f)
}

// handOver charges a stretch by the passes for time without a state.
func (w *walker) handOver(f *freeTime) {
	w.chargeUnobserved(f.at, *f.s, w.l.stops.meanStopped(f.at, f.at+f.s.Dur))
	f.markCharged(f.s.Dur)
}

// chargeUnobserved charges time without a state, of which the world was stopped for some.
func (w *walker) chargeUnobserved(at int64, s evidence.Segment, stopped int64) {
	w.unseenState = s
	w.unseen = freeTime{at: at, s: &w.unseenState, stopped: stopped}
	w.runPasses(unseenPasses, &w.unseen)
}

// isUnread reports whether a request had arrived and was not read.
func (w *walker) isUnread(f *freeTime) bool {
	return f.s.Kind == evidence.BeforeService && w.l.isWaitOf(f.s.Cause, evidence.ArrivedAt)
}

// mayBeOutside reports whether time of which nothing is known may have passed outside the service.
func (w *walker) mayBeOutside() bool { return w.l.entrance != nil && !w.l.Traced && !w.nested }
