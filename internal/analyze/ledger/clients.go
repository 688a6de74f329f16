package ledger

import (
	"iter"
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

// Inside yields the rows of other sources that saw the same request as a row from further inside, the next one first.
func (l *Ledger) Inside(row int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range l.Seen {
			if in, ok := l.Seen[i].InnerOf(row); ok {
				if !yield(in) {
					return
				}
				row = in
			}
		}
	}
}

// othersServed returns the requests that the service was seen to serve, of routes from which the charged ones, which come from clients, have none:
// those of other clients. They take its threads, too.
func (l *Ledger) othersServed() (rows []int) {
	if len(l.Rows) == 0 || sightings.SideOf(l.b, l.Rows[0]) != sightings.ByLoad {
		return nil
	}
	r := &l.b.Requests
	for i := range l.Seen {
		j := &l.Seen[i]
		if j.Side != sightings.ByLoad || j.Inner != sightings.ByKernel {
			continue
		}
		charged := make(map[evidence.NameID]bool)
		for _, row := range l.Rows {
			if in, ok := j.InnerOf(row); ok {
				charged[r.Route.At(in)] = true
			}
		}
		for row := range r.Len() {
			if a, ok := r.Origin.At(row).Artifact(); ok && r.Subject.At(row) == l.Subject && slices.Contains(j.Traces, a) && r.Timed(row) && !charged[r.Route.At(row)] {
				rows = append(rows, row)
			}
		}
	}
	return rows
}
