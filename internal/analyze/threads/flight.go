package threads

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// adoptFlight turns flight recordings' facts on threads ([evidence.SampleFlight]) into looks, for processes without looks: a dump shows
// every thread, a recording those with a long wait or a sample.
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

// farApart is the distance of looks (ns) from which a flight recording fills the time between them.
const farApart = int64(4e9)

// manyWaits is the part of a flight recording's looks at serving virtual threads from which waits in them matter: dumps show the running
// ones, and all at once.
const manyWaits = .25

// listFlightRows returns the rows from flight recordings on threads.
func (t *Threads) listFlightRows() map[evidence.SubjectID][]int {
	typ := t.b.Names.Lookup(evidence.SampleFlight)
	if typ == 0 {
		return nil
	}
	rows := make(map[evidence.SubjectID][]int)
	x := &t.b.Samples
	for i := range x.Len() {
		if x.Type[i] == typ {
			rows[x.Subject[i]] = append(rows[x.Subject[i]], i)
		}
	}
	return rows
}

// fillGaps adds looks from a flight recording to a process's looks where these leave out what matters: the runtime's own threads that serve
// requests and wait, which the JVM's dumps do not show, or the seconds between two looks. While the recording ran, dumps without those
// threads say nothing of requests.
func (t *Threads) fillGaps(s evidence.SubjectID, rows []int, complete bool) {
	if len(rows) == 0 {
		return
	}
	looks := t.looks[s]
	unseen := onlyRunning(looks, complete)
	if !unseen && !t.isSparse(s) {
		return
	}
	var flight []Sample
	requests, waits := 0, 0 // looks at virtual threads that serve
	for _, i := range rows {
		l := t.sampleAt(i)
		flight = append(flight, l)
		if l.View.Virtual && l.View.Request {
			requests++
			if l.View.State != evidence.Running {
				waits++
			}
		}
	}
	if unseen && (waits == 0 || float64(waits) < manyWaits*float64(requests)) {
		return // running threads are in the dumps
	}
	slices.SortStableFunc(flight, func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) })
	if unseen {
		from, until := flight[0].Time, flight[len(flight)-1].Time
		looks = slices.DeleteFunc(slices.Clone(looks), func(l Sample) bool { return l.Time >= from && l.Time <= until })
	}
	looks = append(looks, flight...)
	slices.SortStableFunc(looks, func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) })
	t.looks[s] = looks
}

// isSparse reports whether looks at a process are far apart.
func (t *Threads) isSparse(s evidence.SubjectID) bool {
	for _, c := range t.b.Covered(s, evidence.CoverThreads) {
		if c.Sampled > farApart {
			return true
		}
	}
	return false
}
