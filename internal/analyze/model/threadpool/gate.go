package threadpool

// gateThread is the thread of .NET's pool that adds threads if queued work makes no progress, and from .NET 6 on if threads
// report that they wait for a task:
// https://github.com/dotnet/coreclr/blob/release/3.1/src/vm/win32threadpool.cpp (GateThreadStart),
// https://github.com/dotnet/runtime/blob/main/src/libraries/System.Private.CoreLib/src/System/Threading/PortableThreadPool.GateThread.cs
// and PortableThreadPool.Blocking.cs. The latter's memory rule is left out: it
// matters only if 80 % of the memory is in use.
type gateThread struct {
	sleep      int32 // number of the current sleep: a wake-up for an earlier one is ignored
	signaled   bool  // woken before the sleep ended
	activities int64 // tick of the last periodic activities
	periodic   bool  // periodic activities are due after this sleep

	pending      pendingAdjustment
	waits        int   // threads that wait for a task
	added        int   // threads added to the goal for those waits
	delay, since int64 // time until one more thread may be added, and the tick it counts from; 0: no delay
	elapses      bool  // the delay ends with this sleep

	busy, measured int64 // CPU time and tick at the last measurement of the CPU in use
}

type pendingAdjustment uint8

const (
	pendingNone pendingAdjustment = iota
	pendingNow
	pendingDelayed
)

// The runtime's constants.
const (
	gatePeriod   = 500 * millisecond
	delayStep    = 25 * millisecond // for each added batch of as many threads as there are processors
	longestDelay = 250 * millisecond
	delayLate    = 4 * millisecond // how much longer a delay takes: 254 ms instead of 250 in a recording of .NET 10
)

func (r *run) sleepGate() {
	g := &r.gate
	g.sleep++
	g.signaled = false
	left := gatePeriod - (r.tickCount() - g.activities)
	if left <= 0 {
		left = millisecond
	}
	late := int64(gateLate)
	g.periodic, g.elapses = true, false
	if g.delay > 0 {
		d := g.delay - (r.tickCount() - g.since)
		if d <= 0 {
			d = millisecond
		}
		g.periodic, g.elapses = left <= d, d <= left
		left, late = min(left, d), delayLate
	}
	r.scheduleEvent(left+late, event{kind: eventGate, n: g.sleep})
}

func (r *run) signalGate() {
	g := &r.gate
	if g.signaled {
		return
	}
	g.sleep++
	g.signaled = true
	r.scheduleEvent(threadWake, event{kind: eventGate, n: g.sleep})
}

func (r *run) wakeGate(sleep int32) {
	g := &r.gate
	if sleep != g.sleep {
		return
	}
	now := r.tickCount()
	r.compensateWaits(now)
	if !g.signaled && g.periodic || now-g.activities >= gatePeriod {
		g.activities = now
		if d := r.now - g.measured; d > 0 {
			polls := float64(r.polling) * float64(d) / float64(sleepPoll) * pollCost
			r.cpu = min(1, (float64(r.busy-g.busy)+polls)/float64(d)/float64(r.c.Cores))
		}
		g.busy, g.measured = r.busy, r.now
		r.addIfStarved(now)
	}
	r.sleepGate()
}

// addIfStarved adds a thread if for too long no thread asked for work.
func (r *run) addIfStarved(now int64) {
	long := int64(gatePeriod)
	if r.cpu >= cpuLow {
		long = int64(r.goal) * 2 * gatePeriod
	}
	if r.gate.pending == pendingNone && r.countQueued() > 0 && now-r.dequeued > long && r.working >= r.goal && r.working < r.max {
		r.goal = r.working + 1
		r.climb.forceGoal(r.goal)
		r.wakeThread()
	}
}

// compensateWaits adds threads for those that wait for a task, if a delay has passed.
func (r *run) compensateWaits(now int64) {
	g := &r.gate
	if g.pending == pendingNone {
		g.delay = 0
		return
	}
	elapsed := g.delay > 0 && (!g.signaled && g.elapses || now-g.since >= g.delay)
	if g.delay > 0 && g.pending == pendingDelayed && !elapsed {
		return
	}
	g.pending = pendingNone
	g.delay, g.since = r.adjustForWaits(elapsed), now
}

// wantedGoal returns the goal that makes up for the threads that wait for a task.
func (r *run) wantedGoal() int { return min(r.min+max(0, r.gate.waits), r.max) }

func (r *run) adjustForWaits(elapsed bool) (delay int64) {
	g, wanted := &r.gate, r.wantedGoal()
	switch {
	case r.goal == wanted:
		return 0
	case r.goal > wanted:
		// Threads that were added for other reasons stay.
		d := min(r.goal-wanted, g.added)
		if d > 0 {
			g.added -= d
			r.goal -= d
			r.climb.forceGoal(r.goal)
		}
		return 0
	}
	free := min(r.min+r.c.Cores, r.max)
	to := min(wanted, max(free, min(r.existing, r.max)))
	switch {
	case r.goal < to:
	case elapsed:
		to = r.goal + 1
	default:
		to = r.goal
	}
	if to > r.goal {
		g.added += to - r.goal
		r.goal = to
		r.climb.forceGoal(r.goal)
		r.wakeThread()
	}
	if r.goal >= wanted {
		return 0
	}
	g.pending = pendingDelayed
	return min(int64(1+(r.goal-free)/r.c.Cores)*delayStep, longestDelay)
}

// threadBlocked is NotifyThreadBlocked: a thread begins to wait for a task.
func (r *run) threadBlocked() {
	g := &r.gate
	if !r.hasPortablePool() {
		return
	}
	g.waits++
	if g.pending != pendingDelayed && r.goal < r.wantedGoal() {
		if g.pending == pendingNone {
			r.signalGate()
		}
		g.pending = pendingDelayed
	}
}

// threadUnblocked is NotifyThreadUnblocked.
func (r *run) threadUnblocked() {
	g := &r.gate
	if !r.hasPortablePool() {
		return
	}
	g.waits--
	if g.pending != pendingNow && g.added > 0 && r.goal > r.wantedGoal() {
		g.pending = pendingNow
		r.signalGate()
	}
}

// sampleClimb lets hill climbing take a sample if one is due.
func (r *run) sampleClimb() {
	now := r.tickCount()
	if now-r.climbed < r.climbNext || r.working > r.goal || r.gate.pending != pendingNone {
		return
	}
	seconds := float64(r.now-r.climbFrom) / 1e9
	if seconds*1000 < float64(r.climbNext/millisecond/2) || seconds <= 0 {
		return
	}
	goal, interval := r.climb.takeSample(r.goal, seconds, r.completed-r.climbItems, r.cpu)
	more := goal > r.goal
	r.goal = goal
	if more {
		r.wakeThread()
	}
	r.climbItems, r.climbed, r.climbFrom, r.climbNext = r.completed, now, r.now, int64(interval)*millisecond
}
