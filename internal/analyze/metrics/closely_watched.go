package metrics

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Observation that lasts as long as a process lives must cost next to nothing; what tells why requests wait is switched on
// only for seconds.
var closer = []string{
	evidence.CoverStates, evidence.CoverCPUProfile, evidence.CoverThreads, evidence.CoverFlight, evidence.CoverRunning, evidence.CoverOnCPU, evidence.CoverOffCPU,
	evidence.CoverAwaits, evidence.CoverWaits, evidence.CoverAllocation, evidence.CoverSyscalls,
}

// A closely watched part is judged by itself if it is long enough to tell and far shorter than the whole evidence: the time
// before only tells what is usual.
const (
	leastClosely = 8e9 // ns
	mostClosely  = .5  // of all
)

// CloselyWatched returns the part of evidence in which processes were watched closely, if it is only a part.
func CloselyWatched(b *evidence.Bundle) (w Window, ok bool) {
	if !b.Dated() {
		return w, false
	}
	from, until := b.Window()
	for _, c := range b.Coverage {
		k := &b.Clocks[c.Clock]
		if !k.Anchored() || c.Until <= c.From || !slices.Contains(closer, c.Kind) {
			continue
		}
		if !ok {
			w, ok = Window{c.From, c.Until}, true
		}
		w.From, w.Until = min(w.From, c.From), max(w.Until, c.Until)
	}
	w.From, w.Until = max(w.From, from), min(w.Until, until)
	return w, ok && w.Until-w.From >= leastClosely && float64(w.Until-w.From) <= mostClosely*float64(until-from)
}
