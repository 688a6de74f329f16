package ledger

import (
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/base/evidence"
)

// atOnce is the part of the shorter of two loads that must overlap the other for both to count as one load.
const atOnce = .5

// joinConcurrentLoads makes the rows of load generators that ran at the same time one source, named after the first of
// them: together they are the load on the service. Rows of loads that ran one after the other stay apart.
func joinConcurrentLoads(b *evidence.Bundle, sources map[evidence.ArtifactID][]int) {
	var first evidence.ArtifactID
	var from, until int64
	l := &Ledger{b: b}
	for _, a := range slices.Sorted(maps.Keys(sources)) {
		rows := sources[a]
		if !sightings.ByClients(b, rows[0]) || !b.Clocks[b.Requests.Clock.At(rows[0])].Anchored() {
			continue
		}
		began, ended := l.requestSpan(rows)
		shared := float64(min(ended, until) - max(began, from))
		if until == 0 || shared < atOnce*float64(min(ended-began, until-from)) {
			if until == 0 {
				first, from, until = a, began, ended
			}
			continue
		}
		sources[first] = append(sources[first], rows...)
		delete(sources, a)
		from, until = min(from, began), max(until, ended)
	}
}

// requestSpan returns the time (ns) from the first beginning to the last end of requests.
func (l *Ledger) requestSpan(rows []int) (from, until int64) {
	r := &l.b.Requests
	for _, i := range rows {
		if began := r.End.At(i) - r.Latency(i); from == 0 || began < from {
			from = began
		}
		until = max(until, r.End.At(i))
	}
	return from, until
}
