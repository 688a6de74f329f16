package threads

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// adoptFlight makes what flight recordings hold of threads ([evidence.SampleFlight]) looks at threads, of processes that
// nobody looked at: a dump shows every thread, a recording those of which it has a long wait or a sample.
func adoptFlight(b *evidence.Bundle) {
	from := b.Names.Lookup(evidence.SampleFlight)
	if from == 0 {
		return
	}
	to := b.Names.ID(evidence.SampleThread)
	x := &b.Samples
	own := make(map[evidence.SubjectID]bool)
	for i := range x.Len() {
		own[x.Subject[i]] = own[x.Subject[i]] || x.Type[i] == to
	}
	x.Type = slices.Clone(x.Type) // what was read stays as it was
	for i := range x.Len() {
		if x.Type[i] == from && !own[x.Subject[i]] {
			x.Type[i] = to
		}
	}
	for _, c := range b.Coverage {
		if c.Kind == evidence.CoverFlight && !own[c.Subject] {
			c.Kind = evidence.CoverThreads
			b.Coverage = append(b.Coverage, c)
		}
	}
}
