package export

import (
	"iter"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Request is a request as tables have it.
type Request struct {
	Source, Origin string // the file it is from, and where in it
	Process        string
	Route          string // "" unknown
	Began          int64  // ns since the epoch, or since the recording's own beginning; 0 unknown
	Dated          bool   // Began is since the epoch
	Slack          int64  // ns: how far off Began may be; -1 unknown
	Latency        int64  // ns
	Outcome        evidence.Outcome

	Charged bool           // a ledger charges it: what follows is known
	Slow    bool           // it took longer than its threshold
	Method  string         // how its time was measured: trace, overlap
	Charges ledger.Charges // ns; they sum to Latency
}

// Requests yields every request that has a latency, in the bundle's order. The yielded request is
// overwritten by the next.
//
// Only requests that a ledger charges have mechanisms. Method is trace where the request was
// traced, sample where requests like it were, and overlap where only the pauses of the process and
// what the log itself says are known. Slack is the error of the source's clock: a log in whole
// seconds is off by up to one.
func (s *Source) Requests() iter.Seq[*Request] {
	b, r := s.Bundle, &s.Bundle.Requests
	slow := evidence.NewRows(r.Len())
	for _, l := range s.Ledgers {
		for _, i := range l.Slow {
			slow.Add(i)
		}
	}
	return func(yield func(*Request) bool) {
		var q Request
		for i := range r.Len() {
			if !r.Timed(i) {
				continue // the ledger leaves it out, too
			}
			o, latency := r.Origin.At(i), r.Latency(i)
			q = Request{Source: s.artifactName(o), Origin: b.OriginText(o), Process: s.subjectTitle(r.Subject.At(i)), Route: b.Names.Text(r.Route.At(i)),
				Began: r.End.At(i) - latency, Dated: s.isAnchored(r.Clock.At(i)), Slack: -1, Latency: latency, Outcome: r.Outcome.At(i)}
			if q.Dated {
				q.Slack = b.Clocks[r.Clock.At(i)].Slack()
			}
			if l := s.ledgerOf(i); l != nil {
				q.Charged, q.Slow, q.Method, q.Charges = true, slow.Has(i), ledger.MethodOverlap, l.Of(i)
				switch {
				case l.Traced && l.Known(i):
					q.Method = ledger.MethodTrace
				case l.Traced:
					q.Method = ledger.MethodSample
				}
			}
			if !yield(&q) {
				return
			}
		}
	}
}
