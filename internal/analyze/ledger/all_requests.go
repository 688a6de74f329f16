package ledger

import "slices"

// findSlowOfAll finds the slow requests among all that were seen, where the ledger charges only the few whose states are
// known: load generators and access logs also cover the seconds between traces. It charges no request.
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
