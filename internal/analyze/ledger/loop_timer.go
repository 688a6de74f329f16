package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// loopTimers tells where requests of an event loop wait for a timer, by what ends the loop's sleeps: one in epoll_wait(2) or poll(2) wakes for an event at any time,
// and for its next timer after whole milliseconds, which is what these calls take as time-out.
type loopTimers struct {
	b      *evidence.Bundle
	sleeps map[evidence.LaneID][]int // rows of the loops' sleeps, by start
	routes map[evidence.NameID]bool  // whose requests wait for a timer
	name   evidence.NameID
}

// Signs that requests of a route wait for a timer.
const (
	loopStretch = int64(2e6) // ns of a stretch in which nothing is known of a request but its loop, at least
	loopLong    = .1         // of the ninth tenth of a route's stretches: shorter ones do not count
	loopTick    = int64(1e6) // ns: the time-outs of loops are multiples of it
	loopLeast   = 2          // ticks that such a sleep takes: one tick is how a program goes on as soon as its loop is free (setTimeout 0)
	loopLate    = int64(3e5) // ns by which a sleep ends after its time-out, at most: the kernel's timer slack and a wake-up
	loopAsleep  = .5         // part of a stretch in which the loop sleeps, at least
	loopTimes   = 20         // such stretches of a route
	loopPart    = .7         // of its stretches: that end after a time-out; by chance loopLate of loopTick do
)

// loopTimersOf returns the routes whose requests wait for a timer; nil if there are none, or the kernel recorded no sleeps of event loops.
func (l *Ledger) loopTimersOf() *loopTimers {
	v := &l.b.Intervals
	poll := l.b.Names.Lookup(evidence.KernelPoll)
	if poll == 0 {
		return nil
	}
	t := &loopTimers{b: l.b, sleeps: make(map[evidence.LaneID][]int), routes: make(map[evidence.NameID]bool)}
	for _, i := range v.Select(evidence.InKernel, l.Subject) {
		if v.Cause.At(i) == poll {
			t.sleeps[v.Lane.At(i)] = append(t.sleeps[v.Lane.At(i)], i)
		}
	}
	for _, rows := range t.sleeps {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(v.Start[a], v.Start[b]) })
	}
	type stretch struct {
		took  int64
		timed bool
	}
	of := make(map[evidence.NameID][]stretch)
	l.eachLoopStretch(func(route evidence.NameID, loop evidence.LaneID, from, to int64) {
		slept, last := int64(0), 0
		t.eachSleep(loop, from, to, func(x, y int64, row int) { slept, last = slept+y-x, row })
		if float64(slept) >= loopAsleep*float64(to-from) {
			took := v.End[last] - v.Start[last]
			of[route] = append(of[route], stretch{to - from, took >= loopLeast*loopTick && took%loopTick <= loopLate})
		}
	})
	for route, stretches := range of {
		took := make([]int64, len(stretches))
		for n := range stretches {
			took[n] = stretches[n].took
		}
		least := int64(loopLong * float64(stats.QuantileOf(took, .9)))
		all, timed := 0, 0
		for _, x := range stretches {
			if x.took >= least {
				all++
				if x.timed {
					timed++
				}
			}
		}
		if all >= loopTimes && float64(timed) >= loopPart*float64(all) {
			t.routes[route] = true
		}
	}
	if len(t.routes) == 0 {
		return nil
	}
	t.name = l.b.Names.TellWait("one of the program, until which its event loop sleeps", evidence.Wait{Kind: evidence.LoopTimer})
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

// eachSleep yields the parts of a loop's sleeps between two moments (ns), in order of time, and the row of each.
func (t *loopTimers) eachSleep(loop evidence.LaneID, from, to int64, yield func(from, to int64, row int)) {
	v, rows := &t.b.Intervals, t.sleeps[loop]
	n, _ := slices.BinarySearchFunc(rows, from+1, func(row int, at int64) int { return cmp.Compare(v.End[row], at) })
	for ; n < len(rows) && v.Start[rows[n]] < to; n++ {
		yield(max(from, v.Start[rows[n]]), min(to, v.End[rows[n]]), rows[n])
	}
}

// waitsForLoopTimer says whether a request waits for a timer in a stretch without a state, while its event loop sleeps.
func (w *walker) waitsForLoopTimer(s *evidence.Segment) bool {
	t := w.l.timers
	return t != nil && s.Kind == evidence.Unobserved && s.Holder != 0 && s.Dur >= loopStretch && t.routes[w.l.b.Requests.Route.At(w.row)]
}

// chargeLoopTimer charges the sleeps of the loop within a stretch of a request's time to the timer, and hands over the rest.
func (w *walker) chargeLoopTimer(f *freeTime) {
	t, at, end := w.l.timers, f.at, f.at+f.s.Dur
	handOver := func(until int64) {
		if until > at {
			w.chargeUnobserved(at, evidence.Segment{Kind: evidence.Unobserved, Dur: until - at}, w.l.stops.meanStopped(at, until))
		}
	}
	t.eachSleep(f.s.Holder, at, end, func(from, to int64, _ int) {
		handOver(from)
		w.c = Charges{Timer: to - from}
		w.yieldState(from, evidence.Segment{Kind: evidence.SleepWait, Dur: to - from, Cause: t.name}, fromStates)
		at = to
	})
	handOver(end)
	f.markCharged(f.s.Dur)
}
