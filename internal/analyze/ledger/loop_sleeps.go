package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// loopSleeps tells what requests of an event loop wait for while the loop sleeps and no call of theirs is under way, by what ends its sleeps. A loop
// in epoll_wait(2) or poll(2) wakes for its next timer after whole milliseconds, which is what these calls take as time-out; and when
// another thread of the program has done what the loop gave it, such as one of libuv's that reads files.
type loopSleeps struct {
	b      *evidence.Bundle
	sleeps map[evidence.LaneID][]int    // rows of the loops' sleeps, by start
	works  []int                        // rows of other threads' waits in the kernel, by end
	names  map[int]evidence.NameID      // of these
	routes map[evidence.NameID]loopWait // what their requests wait for
	timer  evidence.NameID
}

// loopWait is what requests wait for while their event loop sleeps.
type loopWait uint8

const (
	loopWaitUnknown loopWait = iota
	loopWaitsTimer
	loopWaitsThread // another one, to which the loop gave work
)

// Signs that requests of a route wait for a timer, or for another thread.
const (
	loopStretch = int64(2e6) // ns of a stretch in which nothing is known of a request but its loop, at least
	loopLong    = .1         // of the ninth tenth of a route's stretches: shorter ones do not count
	loopTick    = int64(1e6) // ns: the time-outs of loops are multiples of it
	loopLate    = int64(3e5) // ns by which a sleep ends after its time-out, at most: the kernel's timer slack and a wake-up
	loopAsleep  = .5         // part of a stretch in which the loop sleeps, at least, and in which the other thread is in the kernel
	loopAfter   = .1         // part of it that follows when that thread has come out of the kernel, at most, or loopStretch
	loopTimes   = 20         // such stretches of a route
	loopPart    = .7         // of its stretches: that end so; by chance loopLate of loopTick end after a time-out
	mostWorks   = 64         // waits of other threads that are looked through for the longest
)

// loopSleepsOf returns what the kernel recorded of the loops' sleeps; nil where it tells of no route what its requests wait for.
func (l *Ledger) loopSleepsOf() *loopSleeps {
	v := &l.b.Intervals
	poll := l.b.Names.Lookup(evidence.KernelPoll)
	if poll == 0 {
		return nil
	}
	t := &loopSleeps{b: l.b, sleeps: make(map[evidence.LaneID][]int), names: make(map[int]evidence.NameID), routes: make(map[evidence.NameID]loopWait)}
	kept := threads.NewKept(l.b, l.Subject)
	for _, i := range v.Select(evidence.InKernel, l.Subject) {
		switch class := v.Cause.At(i); {
		case class == poll:
			t.sleeps[v.Lane.At(i)] = append(t.sleeps[v.Lane.At(i)], i)
		case v.Stack.At(i) != 0 && threads.KeptByKernel(l.b.Names.Text(class)):
			t.works = append(t.works, i)
			t.names[i] = l.b.Names.TellWait(kept.Of(i))
		}
	}
	for _, rows := range t.sleeps {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(v.Start[a], v.Start[b]) })
	}
	slices.SortStableFunc(t.works, func(a, b int) int { return cmp.Compare(v.End[a], v.End[b]) })
	type stretch struct {
		took          int64
		timed, worked bool
	}
	of := make(map[evidence.NameID][]stretch)
	l.eachLoopStretch(func(route evidence.NameID, loop evidence.LaneID, from, to int64) {
		slept, last := t.lastSleep(loop, from, to)
		if float64(slept) < loopAsleep*float64(to-from) {
			return
		}
		took := v.End[last] - v.Start[last]
		of[route] = append(of[route], stretch{took: to - from, timed: took >= loopTick && took%loopTick <= loopLate, worked: t.endsWithWork(from, to)})
	})
	for route, stretches := range of {
		took := make([]int64, len(stretches))
		for n := range stretches {
			took[n] = stretches[n].took
		}
		least := max(loopStretch, int64(loopLong*float64(stats.QuantileOf(took, .9))))
		all, timed, worked := 0, 0, 0
		for _, x := range stretches {
			if x.took < least {
				continue
			}
			all++
			if x.worked {
				worked++
			} else if x.timed {
				timed++
			}
		}
		switch {
		case all < loopTimes:
		case float64(worked) >= loopPart*float64(all):
			t.routes[route] = loopWaitsThread
		case float64(timed) >= loopPart*float64(all):
			t.routes[route] = loopWaitsTimer
		}
	}
	if len(t.routes) == 0 {
		return nil
	}
	t.timer = l.b.Names.TellWait("one of the program, until which its event loop sleeps", evidence.Wait{Kind: evidence.LoopTimer})
	return t
}

// eachLoopStretch yields the stretches of requests of which only the event loop that serves them is known. What the loop does for others
// meanwhile does not end one.
func (l *Ledger) eachLoopStretch(yield func(route evidence.NameID, loop evidence.LaneID, from, to int64)) {
	r := &l.b.Requests
	for _, row := range l.Rows {
		at := cmp.Or(r.Start.At(row), r.End.At(row)-r.Latency(row))
		path := r.Path(row)
		var loop evidence.LaneID
		var from, to int64
		end := func() {
			if loop != 0 && to-from >= loopStretch {
				yield(r.Route.At(row), loop, from, to)
			}
			loop = 0
		}
		var s evidence.Segment
		for path.Next(&s) {
			switch {
			case s.Kind == evidence.Unobserved && s.Holder != 0:
				if loop == 0 {
					loop, from = s.Holder, at
				}
				to = at + s.Dur
			case s.Kind != evidence.Unobserved && s.Kind != evidence.ThreadWait:
				end()
			}
			at += s.Dur
		}
		end()
	}
}

func (t *loopSleeps) byEnd(row int, at int64) int { return cmp.Compare(t.b.Intervals.End[row], at) }

// eachSleep yields the parts of a loop's sleeps between two moments (ns), in order of time, and the row of each.
func (t *loopSleeps) eachSleep(loop evidence.LaneID, from, to int64, yield func(from, to int64, row int)) {
	v, rows := &t.b.Intervals, t.sleeps[loop]
	n, _ := slices.BinarySearchFunc(rows, from+1, t.byEnd)
	for ; n < len(rows) && v.Start[rows[n]] < to; n++ {
		yield(max(from, v.Start[rows[n]]), min(to, v.End[rows[n]]), rows[n])
	}
}

// lastSleep returns for how long (ns) a loop slept between two moments, and the row of its last sleep.
func (t *loopSleeps) lastSleep(loop evidence.LaneID, from, to int64) (slept int64, last int) {
	t.eachSleep(loop, from, to, func(x, y int64, row int) { slept, last = slept+y-x, row })
	return slept, last
}

// endsWithWork says whether another thread was in the kernel for most of the time between two moments, until shortly before the second.
func (t *loopSleeps) endsWithWork(from, to int64) bool {
	v := &t.b.Intervals
	n, _ := slices.BinarySearchFunc(t.works, to-max(loopStretch, int64(loopAfter*float64(to-from))), t.byEnd)
	for ; n < len(t.works) && v.End[t.works[n]] <= to; n++ {
		if i := t.works[n]; float64(v.End[i]-max(from, v.Start[i])) >= loopAsleep*float64(to-from) {
			return true
		}
	}
	return false
}

// longestWork returns the part between two moments in which the other thread was in the kernel that was there longest, and its row; -1 none.
func (t *loopSleeps) longestWork(from, to int64) (x, y int64, row int) {
	v := &t.b.Intervals
	row = -1
	n, _ := slices.BinarySearchFunc(t.works, from+1, t.byEnd)
	for _, i := range t.works[n:min(n+mostWorks, len(t.works))] {
		if a, b := max(from, v.Start[i]), min(to, v.End[i]); b-a > y-x {
			x, y, row = a, b, i
		}
		if v.End[i] >= to && row >= 0 {
			break
		}
	}
	return x, y, row
}

// programStack returns where in the program a thread went into the kernel; 0 where only the kernel's functions are known.
func (t *loopSleeps) programStack(row int) evidence.StackID {
	stack := t.b.Intervals.Stack.At(row)
	if slices.ContainsFunc(t.b.Stacks.Frames(stack), func(f evidence.Frame) bool { return t.b.Names.Text(f.File) != evidence.KernelFile }) {
		return stack
	}
	return 0
}

// chargeLoopSleeps charges the sleeps of the loop within a stretch of a request's time to what requests of its route wait for meanwhile, and
// hands over the rest.
func (w *walker) chargeLoopSleeps(f *freeTime) {
	t, at, end := w.l.sleeps, f.at, f.at+f.s.Dur
	wait := t.routes[w.l.b.Requests.Route.At(w.row)]
	charge := func(from, to int64, m Mechanism, s evidence.Segment) {
		if from > at {
			w.chargeUnobserved(at, evidence.Segment{Kind: evidence.Unobserved, Dur: from - at}, w.l.stops.meanStopped(at, from))
		}
		if at = to; to > from && m != Unobserved {
			w.c = Charges{}
			w.c[m], s.Dur = to-from, to-from
			w.yieldState(from, s, fromStates)
		}
	}
	t.eachSleep(f.s.Holder, at, end, func(from, to int64, _ int) {
		if wait == loopWaitsTimer {
			charge(from, to, Timer, evidence.Segment{Kind: evidence.SleepWait, Cause: t.timer})
		} else if x, y, row := t.longestWork(from, to); row >= 0 {
			charge(x, y, Kernel, evidence.Segment{Kind: evidence.Syscall, Cause: t.names[row], Stack: t.programStack(row)})
		}
	})
	charge(end, end, Unobserved, evidence.Segment{})
	f.markCharged(f.s.Dur)
}

// knowsLoopSleeps says whether the loop's sleeps tell what a request waits for in a stretch without a state.
func (w *walker) knowsLoopSleeps(s *evidence.Segment) bool {
	t := w.l.sleeps
	return t != nil && s.Kind == evidence.Unobserved && s.Holder != 0 && s.Dur >= loopStretch &&
		t.routes[w.l.b.Requests.Route.At(w.row)] != loopWaitUnknown
}
