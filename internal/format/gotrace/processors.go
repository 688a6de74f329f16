package gotrace

import (
	"github.com/unstall/unstall/internal/base/evidence"
)

// processor is a P.
type processor struct {
	running bool
	g       *goroutine // nil: idle, or its thread looks for work

	known bool // it is in lanes
	ran   bool // what was on it when the trace began is past
	lane  *evidence.LaneLog
	work  evidence.Work // since when it does what; WorkIdle: nothing
	since int64
}

// occupancy is what the processors did, as it is told by the goroutines on them.
type occupancy struct {
	log evidence.ProcessorLog
	all []*processor
}

func (w *world) ensureProcessor(id int32) *processor {
	var p *processor
	if uint(id) < uint(len(w.first64)) {
		if p = &w.first64[id]; p.known {
			return p
		}
	} else if p = w.ps[id]; p != nil {
		return p
	} else {
		p = &processor{}
		w.ps[id] = p
	}
	p.known, p.since = true, w.first
	if w.held.stop > 0 {
		p.since, p.work = w.now, evidence.WorkStopped
	}
	w.out.flush() // the log is being written to
	p.lane = w.use.log.Lane(int(id), w.first)
	w.use.all = append(w.use.all, p)
	return p
}

// logWork logs what a processor did until t.
func (w *world) logWork(p *processor, t int64) {
	if t <= p.since {
		return // clocks of other processors may be behind
	}
	if p.work != evidence.WorkIdle && p.lane != nil {
		s := w.out.addSpan()
		s.on, s.from, s.to, s.work = p.lane, p.since, t, p.work
		s.lane, s.name, s.serves = 0, 0, 0
		if g := p.g; g != nil {
			s.lane, s.name = g.id, g.name
			if g.name == 0 || g.role == roleUnknown {
				g.ranUnknown = true
			}
			if p.work == evidence.WorkRequest || p.work == evidence.WorkRequestAssist {
				s.serves = g.servedLane()
			}
		}
	}
	p.since = t
}

// updateWork sets what p does, after that may have changed.
func (w *world) updateWork(p *processor) {
	g := p.g
	switch {
	case g == nil && w.held.stop > 0, g != nil && g.stopping:
		p.work = evidence.WorkStopped
	case g == nil:
		p.work = evidence.WorkIdle
	default:
		p.work = g.processorWork()
	}
}

// processorWork returns what a goroutine's processor is used for.
func (g *goroutine) processorWork() evidence.Work {
	k := evidence.WorkBackground
	switch g.role {
	case roleRuntime:
		if !g.assist {
			return evidence.WorkRuntime
		}
	case roleWorker:
		switch {
		case g.worker == evidence.HeldByIdleMark:
			return evidence.WorkIdleMark
		case g.fractional:
			return evidence.WorkFractional
		}
		return evidence.WorkDedicated
	case roleRequests:
		k = evidence.WorkRequest
	}
	if g.assist {
		k++ // each has its assist beside it
	}
	return k
}

// helps says whose request a goroutine was started for, or handed something to.
type helps struct {
	whom   *goroutine
	lane   evidence.LaneID
	serial int64
}

// noteHelper notes that g works for the request that whom serves, if any.
func (w *world) noteHelper(g, whom *goroutine) {
	if whom.request != nil && g.request == nil {
		g.helps = helps{whom, whom.id, whom.request.serial}
	}
}

// servedLane returns the lane whose request g works for, its own if it works for none.
func (g *goroutine) servedLane() evidence.LaneID {
	h := &g.helps
	if h.whom == nil {
		return g.id
	}
	if h.whom.id == h.lane && h.whom.request != nil && h.whom.request.serial == h.serial {
		return h.lane
	}
	h.whom = nil // that request is over
	return g.id
}

// beforeChange is called before g becomes or does something else, afterChange after it.
func (w *world) beforeChange(g *goroutine, t int64) {
	if p := g.proc; p != nil && p.g == g {
		w.logWork(p, t)
	}
}

func (w *world) afterChange(g *goroutine) {
	if p := g.proc; p != nil && p.g == g {
		w.updateWork(p)
	}
}

// stopChanged is told that a stop of the world began or ended.
func (w *world) stopChanged(t int64) {
	for _, p := range w.use.all {
		if p.g == nil {
			w.logWork(p, t)
			w.updateWork(p)
		}
	}
}

// learnName notes the function of a goroutine that had run without it being known.
func (w *world) learnName(g *goroutine) {
	if g.ranUnknown {
		w.use.log.Learn(g.id, evidence.WorkIdle, g.name)
	}
}

// learnRole notes what a goroutine has been since it began.
func (w *world) learnRole(g *goroutine) {
	switch {
	case !g.ranUnknown:
	case g.role == roleRequests:
		w.use.log.Learn(g.id, evidence.WorkRequest, g.name)
	case g.role == roleRuntime:
		w.use.log.Learn(g.id, evidence.WorkRuntime, g.name)
	}
}

// processorsEnd writes what the processors did.
func (w *world) processorsEnd() {
	until := w.now
	for _, p := range w.use.all {
		w.logWork(p, w.now)
		until = max(until, p.since)
	}
	w.out.flush()
	w.b.Processors(w.subject, &w.use.log, w.first, until)
}
