package nettrace

import "github.com/unstall/unstall/internal/base/evidence"

// Sessions themselves delay requests: recording costs most at its beginning and at its
// end, and that cost is not the service's.
//
// The sample profiler suspends all threads for each sample. If a session beside it has GC events, they show
// these suspensions with another reason (SuspendOther, 0). At the
// end of a session the names of all methods are written: during that, the lock of the code heaps is held
// (MethodDescs of jitted code are walked), and no thread that needs code compiled goes on.

type hold struct{ from, to int64 } // ns

// addHold keeps a suspension of the sample profiler.
func (g *collector) addHold(p *pause) {
	if g.holds.n < maxCycles {
		*g.holds.add() = hold{p.start, p.end}
	}
}

func (q *process) emitHolds() {
	emit := func(from, to int64, by evidence.NameID) {
		q.b.Interval(evidence.Interval{Subject: q.id, Lane: evidence.AllLanes, Kind: evidence.RecorderHold, Start: from, End: max(from, to),
			Cause: by, Origin: q.b.Origin(q.p.before + q.p.events)})
	}
	if n := q.gc.holds.n; n > 0 {
		q.b.RoomForIntervals(n)
		by := q.b.Name("look at all threads")
		for i := range n {
			h := q.gc.holds.at(i)
			emit(h.from, h.to, by)
		}
	}
	if q.stopped != 0 {
		emit(q.stopped, q.told, q.b.Name("names of methods"))
	}
}
