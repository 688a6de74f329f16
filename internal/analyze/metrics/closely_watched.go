package metrics

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// What is looked at by somebody who watches for as long as a process lives costs next to nothing; what tells
// why requests wait is switched on for seconds.
var closer = []string{
	evidence.CoverStates, evidence.CoverCPUProfile, evidence.CoverThreads, evidence.CoverFlight, evidence.CoverRunning, evidence.CoverOnCPU, evidence.CoverOffCPU,
	evidence.CoverAwaits, evidence.CoverWaits, evidence.CoverAllocation, evidence.CoverSyscalls,
}

// Where a part was looked at closely, that part is judged by itself if it is long enough to tell, and far
// shorter than all of it: what was before only tells what is usual.
const (
	leastClosely = 8e9 // ns
	mostClosely  = .5  // of all
)

// CloselyWatched is the part of evidence in which processes were looked at closely, as far as it is but a part of it.
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
