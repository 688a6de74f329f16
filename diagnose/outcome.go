package diagnose

import (
	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
)

// Outcomes of a [Diagnosis].
const (
	Found        = "found"         // at least one cause is supported
	NothingFound = "nothing_found" // requests are as they should be, as far as can be seen
	NotExplained = "not_explained" // many are slow, and no cause explains it
	NotJudged    = "not_judged"    // too little was watched, or of the wrong seconds
)

// Requests are unwell, without anybody's word for it, if so many of them are slow, or so
// much of all their time passes in slow ones, and those take long enough to be noticed. An
// objective that is missed by more than one in a hundred is missed.
const (
	unwellRequests = .05
	unwellTime     = .25
	missed         = .01
)

// outcome says what it all comes to.
func (r *run) outcome() string {
	open, ruledOut := 0, 0
	for _, v := range r.d.Verdicts {
		switch v.Verdict {
		case cause.Supported:
			return Found
		case cause.Inconclusive:
			open++
		default:
			ruledOut++
		}
	}
	for _, l := range r.incident.Ledgers() {
		if unwell(r.b, l) {
			return NotExplained
		}
	}
	if q := r.d.Requests; q != nil && q.Outside > 0 || r.unseen || open > ruledOut || ruledOut == 0 {
		return NotJudged
	}
	return NothingFound
}

func unwell(b *evidence.Bundle, l *ledger.Ledger) bool {
	if len(l.Rows) < ledger.MinRequests || len(l.Slow) == 0 {
		return false
	}
	slow := float64(len(l.Slow)) / float64(len(l.Rows))
	if l.Rule == ledger.RuleSLO || l.Rule == ledger.RuleBaseline {
		return slow > missed
	}
	var all int64
	for _, i := range l.Rows {
		all += b.Requests.Latency(i)
	}
	many := slow >= unwellRequests || float64(l.Total) >= unwellTime*float64(all)
	return many && l.P99() >= float64(cause.Noticeable)
}
