package ledger

import "slices"

// findSlowOfAll finds the slow ones of all requests that were seen, where those charged are only
// the few whose states are known: those who made requests, and access logs, saw the seconds
// between traces, too. It charges none of them.
func (l *Ledger) findSlowOfAll(rows []int, opt Options) *Ledger {
	if l.Source == l.Requests.Source {
		return l
	}
	all := &Ledger{Subject: l.Subject, Requests: l.Requests, Source: l.Requests.Source, From: l.Requests.From, To: l.Requests.To, b: l.b, holds: l.holds}
	all.Rows = slices.Clone(rows)
	all.byEnd()
	all.findSlow(opt.SLO, opt.Baseline)
	all.onlyRecorded()
	all.All = all
	return all
}
