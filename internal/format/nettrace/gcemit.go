package nettrace

import (
	"github.com/unstall/unstall/internal/base/evidence"
)

func (g *collector) emit(q *process) {
	if q.b.Beside() {
		return // this session is for allocation ticks, which come with GC events; the long session has these, too
	}
	g.waits.emit(q)
	if q.b.Recorded() { // the recorder ended the session: cycles that ran then are kept without their end
		last := int64(0)
		if g.watched {
			last = q.watchedUntil()
		}
		g.endUnseen(func(*cycle) bool { return true }, last)
	}
	for _, y := range g.done {
		row := evidence.Interval{Subject: q.id, Kind: evidence.GCCycle, Start: y.start, End: max(y.start, y.end),
			Cause: q.b.Name(y.describeCycle()), Extra: y.cycleFigures(q), Origin: q.b.Origin(y.n)}
		if y.trigger != 0 {
			in := q
			if y.since != nil {
				in = y.since
			}
			row.Stack = in.stackAt(y.trigger, false, y.triggered)
		}
		q.b.Interval(row)
	}
	if !g.watched {
		return
	}
	for i := range g.pauses {
		p := &g.pauses[i]
		q.b.Interval(evidence.Interval{Subject: q.id, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: p.start, End: max(p.start, p.end),
			Cause: q.b.Name(p.describePause()), Extra: p.pauseFigures(), Origin: q.b.Origin(p.n)})
	}
	q.addCoverage(evidence.CoverGC, q.watchedSince(), q.watchedUntil(), 0)
	g.emitWarnings(q)
}

// emitWarnings warns of missing parts of the collections.
func (g *collector) emitWarnings(q *process) {
	if g.dropped > 0 {
		q.b.Warnf(0, "more than %d collections or pauses: later ones left out: %d", maxCycles, g.dropped)
	}
	if g.plain > 0 {
		q.b.Warnf(0, "more than %d collections: of later ones only times, reasons and sizes after are kept: %d", maxHistories, g.plain)
	}
	if q.b.Recorded() || q.p.r.Lost() > 0 {
		return // the recorder chose beginning and end; lost events may be ends of cycles
	}
	if g.headless > 0 {
		q.b.Warnf(0, "the recording began during GC %d, which is left out", g.headless)
	}
	for _, y := range g.open {
		q.b.Warnf(y.n, "the recording ended during GC %d (%s), which is left out", y.number, y.describeCycle())
	}
}

// cycleFigures returns the figures of a collection, valid until the next call.
func (y *cycle) cycleFigures(q *process) []evidence.Extra {
	x := append(q.gc.figures[:0], figures{{Key: evidence.Generation, Value: float64(y.generation)}, {Key: evidence.CycleNumber, Value: float64(y.number)},
		{Key: evidence.CollectionKind, Value: float64(y.kind)}}...)
	if y.after >= 0 {
		x.add(evidence.HeapAfter, float64(y.after))
	}
	if induced[y.reason] {
		x.add(evidence.Forced, 1)
	}
	if int(y.reason) < len(reasonWords) {
		x.add(evidence.Trigger, float64(q.b.Name(reasonWords[y.reason])))
	}
	if y.paused > 0 {
		x.add(evidence.PauseTime, float64(y.paused))
	}
	if y.suspended > 0 {
		x.add(evidence.ToSafepoint, float64(y.suspended))
	}
	if y.history != nil {
		y.history.addFigures(&x)
	}
	q.gc.figures = x
	return x
}

// pauseFigures returns the collection of a pause, and its parts. Its name has the rest.
func (p *pause) pauseFigures() []evidence.Extra {
	var x figures
	if p.number > 0 {
		x.add(evidence.CycleNumber, float64(p.number))
	}
	if p.stopped > p.start {
		x.add(evidence.ToSafepoint, float64(p.stopped-p.start))
	}
	if p.resumed > p.start && p.end > p.resumed {
		x.add(evidence.Resuming, float64(p.end-p.resumed))
	}
	return x
}

// figures of a row.
type figures []evidence.Extra

func (x *figures) add(k evidence.Key, v float64) { *x = append(*x, evidence.Extra{Key: k, Value: v}) }
