package ledger

import (
	"sync"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Of returns the charges of a request's whole time.
func (l *Ledger) Of(row int) Charges {
	if c, ok := l.charged.chargesOf(l, row); ok {
		return c
	}
	return l.chargeRequest(row)
}

func (l *Ledger) chargeRequest(row int) Charges {
	w := walkers.Get().(*walker)
	w.sum = Charges{}
	w.walkRequest(l, row, w.add)
	sum := w.sum
	walkers.Put(w)
	return sum
}

// Walk yields the states of a request in order with their charges. The sum is exactly the request's latency. The charges
// are valid until yield returns.
func (l *Ledger) Walk(row int, yield func(at int64, s evidence.Segment, c *Charges)) {
	l.walkStates(row, func(at int64, s *evidence.Segment, c *Charges, _ derivation) { yield(at, *s, c) })
}

// walkStates is [Ledger.Walk] with the origin of the charges. The state and its charges are valid until yield returns.
func (l *Ledger) walkStates(row int, yield func(at int64, s *evidence.Segment, c *Charges, by derivation)) {
	w := walkers.Get().(*walker)
	w.walkRequest(l, row, yield)
	walkers.Put(w)
}

// walkers pools idle walkers: millions of requests are walked through, one after the other.
var walkers = sync.Pool{New: func() any {
	w := new(walker)
	w.add = func(_ int64, _ *evidence.Segment, c *Charges, _ derivation) { w.sum.Add(c) }
	w.addRoots = func(_ int64, s *evidence.Segment, c *Charges, _ derivation) {
		if _, waits := heldBy(s.Kind); !waits { // most states
			w.sum.Add(c)
			return
		}
		r := Rooted(s, c)
		w.sum.Add(&r)
	}
	return w
}}

func (w *walker) walkRequest(l *Ledger, row int, yield func(at int64, s *evidence.Segment, c *Charges, by derivation)) {
	w.l, w.row, w.yield, w.moved = l, row, yield, l.moved[row].ns
	if l.Unread != nil || l.collector > 0 {
		w.yield = func(at int64, s *evidence.Segment, c *Charges, by derivation) {
			if l.Unread != nil {
				l.chargeCPUsWhileUnread(s, c)
			}
			l.moveToCollector(c)
			yield(at, s, c, by)
		}
	}
	defer func() { w.l, w.yield = nil, nil }() // an idle walker must not keep a ledger alive
	r := &l.b.Requests
	start, end := r.Start.At(row), r.End.At(row)
	began := end - r.Latency(row)
	if start == 0 {
		start = began
	}
	path := r.Path(row)
	w.nested = l.entrance != nil && (l.byKernel || outsideKnown(path))
	_, loose := l.hasUnplacedWaits(path)
	if began < start {
		w.chargeQueued(began, min(start, end)-began)
	}
	if loose {
		w.chargeUnplaced(path, max(start, began), end)
		return
	}
	at := start
	for path.Next(&w.s) {
		next := min(at+max(0, w.s.Dur), end)
		if from := max(at, began); next > from {
			w.s.Resize(next - from)
			w.chargeState(from, &w.s)
		}
		at = next
	}
	if from := max(at, began); from < end {
		w.s = evidence.Segment{Kind: evidence.Unobserved, Dur: end - from}
		w.chargeState(from, &w.s)
	}
}

// outsideKnown reports whether a path tells what happened before the service saw the request, or after it answered.
func outsideKnown(p evidence.Path) bool {
	var s evidence.Segment
	for p.Next(&s) {
		if s.Kind == evidence.BeforeService || s.Kind == evidence.AfterService {
			return true
		}
	}
	return false
}

// hasUnplacedWaits reports whether a path has durations without a place: an access log's waits for an upstream, and for
// the connection to it, come first in the path and the rest of the request follows. Labelled is the sum of the waits.
func (l *Ledger) hasUnplacedWaits(p evidence.Path) (labelled int64, loose bool) {
	if l.byKernel || l.Traced && (l.Joined == nil || p.Followed()) {
		return 0, false
	}
	rest := false
	var s evidence.Segment
	for p.Next(&s) {
		switch {
		case s.Kind == evidence.Unobserved && !rest:
			rest = true
		case rest || s.Kind != evidence.NetWait && s.Kind != evidence.PoolWait && s.Kind != evidence.BeforeService:
			return 0, false
		default:
			labelled += s.Dur
			loose = loose || s.Kind != evidence.BeforeService
		}
	}
	return labelled, loose
}

// derivation is the source of a charge: what the request itself was seen to do or its log says; a replay of the queue; or
// what similar requests did.
type derivation uint8

const (
	fromStates derivation = iota
	fromReplay
	fromSample
)

// walker charges the states of one request.
type walker struct {
	l      *Ledger
	row    int
	yield  func(at int64, s *evidence.Segment, c *Charges, by derivation)
	nested bool             // the time outside the service is known
	moved  int64            // ns that the replay still has to move to StopTheWorld
	s      evidence.Segment // the state as in the path
	part   evidence.Segment // the yielded part, where that is not the whole state
	c      Charges

	seen, unseen freeTime // being charged
	unseenState  evidence.Segment

	sum      Charges                                                        // of all charges given to add or addRoots
	add      func(at int64, s *evidence.Segment, c *Charges, by derivation) // adds charges to sum
	addRoots func(at int64, s *evidence.Segment, c *Charges, by derivation) // adds charges by roots to sum
}

// yieldState yields a state, or a part of one, with the charges of c.
func (w *walker) yieldState(at int64, s evidence.Segment, by derivation) {
	w.part = s
	w.yield(at, &w.part, &w.c, by)
}

// chargeQueued charges the time before the process began.
func (w *walker) chargeQueued(at, dur int64) {
	s := evidence.Segment{Kind: evidence.KindUnknown, Dur: dur}
	f := freeTime{at: at, s: &s}
	w.chargeReplayed(&f)
	if s.Dur > 0 {
		w.c = Charges{Queued: s.Dur}
		w.yieldState(f.at, s, fromStates)
	}
}

// chargeState charges one state, which it may change.
func (w *walker) chargeState(at int64, s *evidence.Segment) {
	w.seen = freeTime{at: at, s: s}
	w.runPasses(seenPasses, &w.seen)
}

// pausedFor charges the part of a wait for the process in which the world was stopped.
func (w *walker) pausedFor(f *freeTime) {
	part := *f.s
	if part.Dur = w.l.stops.meanStopped(f.at, f.at+f.s.Dur); part.Dur <= 0 {
		return
	}
	none := int64(w.l.withheld.Part(f.at, f.at+f.s.Dur) * float64(part.Dur))
	w.c = Charges{StopTheWorld: part.Dur - none, HostCPU: none}
	w.yieldState(f.at, part, fromStates)
	f.markCharged(part.Dur)
}

// chargeEventLoop charges a wait for an event loop. Delays that keep the loop from running come before what it runs.
func (w *walker) chargeEventLoop(f *freeTime) {
	if e := w.l.entrance; e != nil {
		w.chargeEntrance(e.queues, f)
	}
	if w.pausedFor(f); f.s.Dur <= 0 {
		return
	}
	w.c = Charges{PoolThread: f.s.Dur}
	switch {
	case !w.l.onThreads: // to the runtime's scheduler the thread is a processor on which ready work takes turns
		w.c = Charges{RequestsCPU: f.s.Dur}
		w.takeAll(f)
		return
	case f.s.HolderKind != evidence.NetWait:
		own, others := w.l.ready.deniedTime(f.at, f.s.Dur)
		w.c = Charges{RequestsCPU: own, HostCPU: others, PoolThread: f.s.Dur - own - others}
	}
	w.l.Host.moveToHost(&w.c)
	w.takeAll(f)
}

// chargeRest charges the time that no other pass charged to pauses and to the recorder. The rest is unobserved, or queued
// if it is time before the service.
func (w *walker) chargeRest(f *freeTime) {
	rest := f.s.Dur - f.stopped
	held := min(rest, w.l.holds.stoppedWithin(f.at, f.at+f.s.Dur))
	none := int64(0)
	if f.stopped > 0 {
		none = int64(w.l.withheld.Part(f.from, f.from+f.dur) * float64(f.stopped))
	}
	w.c = Charges{StopTheWorld: f.stopped - none, HostCPU: none, Recorder: held, Unobserved: rest - held}
	if f.s.Kind == evidence.BeforeService { // the request waits to be read, for an unknown reason
		w.c[Queued], w.c[Unobserved] = w.c[Unobserved], 0
	}
	w.l.Host.moveToHost(&w.c)
	w.takeAll(f)
}

// chargeThreads charges a time without states, less its stop-the-world part, by what the service's threads did then.
func (w *walker) chargeThreads(f *freeTime) {
	f.from, f.dur = f.at, f.s.Dur
	if w.l.occupancy == nil || f.s.Dur <= f.stopped {
		return
	}
	s := f.s
	runs := float64(s.Dur-f.stopped) / float64(s.Dur)
	var parts []share
	known := false
	if s.Kind == evidence.Unobserved {
		parts, known = w.l.occupancy.threadShares(&w.l.b.Requests, w.row, f.at, s.Dur)
	}
	if !known {
		parts = w.l.occupancy.sharesOver(w.row, f.at, s.Dur)
	}
	seen := 0.
	for i := range parts {
		if parts[i].mechanism == Own {
			seen += parts[i].part * runs
		}
	}
	behind, others := w.l.ready.splitRunning(f.at, s.Dur, int64(seen))
	parts, seen, waits := w.correctByClock(parts, f.at, s.Dur, 1-float64(f.stopped)/float64(s.Dur), seen)
	if waits >= 0 { // the CPU clock tells of this very request
		behind = int64(w.l.ready.ownShare(f.at, s.Dur) * float64(waits))
		others = waits - behind
	}
	for _, x := range w.l.ready.splitWoken(parts, f.at, s.Dur, runs, seen, behind+others) {
		part := x.Segment
		part.Dur = min(int64(x.part*runs), s.Dur-f.stopped)
		if part.Dur <= 0 {
			continue
		}
		w.c = Charges{}
		switch x.mechanism {
		case Own:
			f.seenRun += part.Dur
			of := float64(part.Dur) / seen
			w.c[RequestsCPU], w.c[HostCPU] = int64(of*float64(behind)), int64(of*float64(others))
			f.seenWait += w.c[RequestsCPU] + w.c[HostCPU]
			if s.Kind == evidence.BeforeService { // nothing of it is its own: the thread that would read it runs for others
				w.c[RequestsCPU] = part.Dur - w.c[HostCPU]
			}
		case HostCPU: // ready
			f.seenRun += part.Dur
			w.c[RequestsCPU] = int64(w.l.ready.ownShare(f.at, part.Dur) * float64(part.Dur))
			f.seenWait += part.Dur
		}
		w.c[x.mechanism] += part.Dur - w.c[RequestsCPU] - w.c[HostCPU]
		w.yieldState(f.at, part, fromStates)
		f.markCharged(part.Dur)
	}
}

// chargeReplayed charges the beginning of a state to the pauses it waited behind; the outside queues follow.
func (w *walker) chargeReplayed(f *freeTime) {
	if part := min(w.moved, f.s.Dur); part > 0 {
		first := *f.s
		first.Dur = part
		w.c = Charges{StopTheWorld: part}
		w.yieldState(f.at, first, fromReplay)
		w.moved -= part
		f.markCharged(part)
	}
	f.began, f.took = f.at, f.s.Dur
}

// chargeUnplaced charges waits with an unknown place within the request. A pause within a wait costs only the time by
// which it outlasts the wait, so that only the share of the pauses that meets the rest of the request is charged; every
// place of the waits is equally likely. [Ledger.stoppedBounds] gives the least and the most.
func (w *walker) chargeUnplaced(path evidence.Path, at, end int64) {
	from := at
	for path.Next(&w.s) && w.s.Kind != evidence.Unobserved {
		if dur := min(w.s.Dur, end-at); dur > 0 {
			w.s.Dur = dur
			w.chargeState(at, &w.s)
			at += dur
		}
	}
	if rest := end - at; rest > 0 {
		stopped := int64(float64(w.l.stops.meanStopped(from, end)) * (float64(rest) / float64(end-from)))
		w.chargeUnobserved(at, evidence.Segment{Kind: evidence.Unobserved, Dur: rest}, min(stopped, rest))
	}
}
