package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Outcomes of a [Diagnosis].
const (
	Found        = "found"         // at least one cause is supported
	NothingFound = "nothing_found" // requests are normal, as far as the evidence shows
	NotExplained = "not_explained" // many are slow, and no cause explains it
	NotJudged    = "not_judged"    // too little was watched, or of the wrong seconds
)

// Without an objective, a service is unwell if this many of its requests are slow and take long enough to be noticed, or if this much of
// all requests' time passes in such ones. An objective is missed if more than one request in a hundred misses it.
const (
	unwellRequests = .05
	unwellTime     = .25
	missed         = .01
)

// rarely is a part of the requests so small that one pause per minute explains it: it counts against a service only if a twentieth of
// arriving clients would meet such requests.
const rarely = .001

// decideOutcome returns the overall result of the diagnosis.
func (r *run) decideOutcome() string {
	open, ruledOut, unknown := 0, 0, false
	for _, v := range r.d.Verdicts {
		switch v.Verdict {
		case check.Supported:
			return Found
		case check.Inconclusive:
			open++
			unknown = unknown || r.ofItself(v)
		default:
			ruledOut++
		}
	}
	for _, l := range r.incident.Ledgers() {
		if isUnwell(r.b, l) || waitsBeforeService(r.b, l) {
			return NotExplained
		}
	}
	r.d.AtRequests, r.d.AtRequestsDid = r.atRequests()
	r.d.Unasked = r.noRequests()
	switch {
	case r.unseen, unknown, r.d.AtRequests != nil, r.d.Unasked:
		return NotJudged
	case (r.outside >= ledger.MinRequests || r.isMostlyUnrecorded() || open > ruledOut || ruledOut == 0) && !r.areRequestsQuick():
		return NotJudged
	}
	return NothingFound
}

// isMostlyUnrecorded says whether more slow requests came before or after what was recorded than during it: what was recorded does not speak for them.
func (r *run) isMostlyUnrecorded() bool {
	during, apart := 0, 0
	for _, l := range r.incident.Ledgers() {
		during, apart = during+len(l.Slow), apart+len(l.Apart)
	}
	return apart >= ledger.MinRequests && apart > during
}

// noRequests says whether a process was recorded that may serve requests while hardly any request
// was seen, so that nothing shows whether it is quick.
func (r *run) noRequests() bool {
	for _, l := range r.incident.Ledgers() {
		if len(l.All.Rows) >= ledger.MinRequests {
			return false
		}
	}
	process := false
	for s := range r.name {
		if platform.ByID(r.b.Subjects[s].Runtime).Tells {
			return false
		}
		process = process || r.b.Subjects[s].Kind == evidence.Process
	}
	return process && slices.ContainsFunc(r.b.Coverage, func(c evidence.Coverage) bool { return c.Kind == evidence.CoverHostCPU })
}

// ofItself says whether a verdict is about a server that reports on itself: its requests are not
// recorded, so no other evidence shows that it is well.
func (r *run) ofItself(v Verdict) bool {
	for id, name := range r.name {
		if x := platform.ByID(r.b.Subjects[id].Runtime); name == v.Subject && x.Tells && strings.HasPrefix(v.Cause, x.ID+".") {
			return true
		}
	}
	return false
}

// atRequests returns the mean number of threads of a process that worked on a request or waited
// with one, and what they did, where none of its requests was recorded and their latency is
// unknown. Nil where requests were recorded, stacks were not, or the process idled.
func (r *run) atRequests() (at *float64, did []Doing) {
	t := r.incident.Threads()
	most := 0.
	for _, s := range slices.Sorted(maps.Keys(r.name)) {
		if l := r.incident.Ledger(s); l != nil && len(l.Rows) > 0 || platform.ByID(r.b.Subjects[s].Runtime).Tells {
			continue
		}
		moments := slices.Concat(t.Moments(s)...)
		seen := make(map[string]int)
		sum := 0
		for _, looks := range moments {
			for i := range looks {
				if v := &looks[i].View; v.Request && v.State != evidence.Idle {
					sum++
					what := v.Doing()
					if v.Owner != "" {
						what += " in " + threadstack.Bare(v.Owner)
					}
					seen[what]++
				}
			}
		}
		mean := float64(sum) / float64(max(1, len(moments)))
		if mean <= most {
			continue
		}
		most, did = mean, nil
		for what, n := range seen {
			if share := float64(n) / float64(sum); share >= mostly {
				did = append(did, Doing{what, share})
			}
		}
	}
	if most < someone {
		return nil, nil
	}
	return &most, did
}

// someone is the mean number of threads at requests from which a service does not idle: with fewer, not even one request in two seconds takes long
// enough to be noticed (Little's law).
const someone = .01

// mostly is the part of the time of threads at requests from which their activity is reported.
const mostly = .5

// areRequestsQuick reports whether clients' requests show that all is well, whatever was not recorded: half of them end before users
// notice, and hardly any is noticeably slow.
func (r *run) areRequestsQuick() bool {
	some := false
	for _, l := range r.incident.Ledgers() {
		if l = l.All; len(l.Rows) < wellRequests {
			continue
		}
		if !l.FromOutside() {
			return false
		}
		some = true
		took := make([]int64, 0, len(l.Rows))
		for _, i := range l.Rows {
			took = append(took, r.b.Requests.Latency(i))
		}
		slices.Sort(took)
		n, _ := countNoticeable(r.b, l)
		if atClientsPace(l) {
			n = 0
		}
		if stats.Quantile(took, .5) >= check.Noticeable.Int64() || float64(n) > missed*float64(len(l.Rows)) {
			return false
		}
	}
	return some
}

// isObjectiveMet reports whether an objective is set, and at most one in a hundred of all clients' requests misses it.
func (r *run) isObjectiveMet() bool {
	some := false
	for _, l := range r.incident.Ledgers() {
		if l = l.All; !l.FromOutside() || len(l.Rows) < wellRequests {
			continue
		}
		if l.Rule != ledger.RuleSLO || float64(len(l.Slow)) > missed*float64(len(l.Rows)) {
			return false
		}
		some = true
	}
	return some
}

// wellRequests is the number of requests needed to say that fewer than one in a hundred is slow.
const wellRequests = 300

// countNoticeable returns how many slow requests take long enough to be noticed, and their total
// latency (ns).
func countNoticeable(b *evidence.Bundle, l *ledger.Ledger) (n int, ns int64) {
	for _, i := range l.Slow {
		if took := b.Requests.Latency(i); took >= check.Noticeable.Int64() {
			n++
			ns += took
		}
	}
	return n, ns
}

func isUnwell(b *evidence.Bundle, l *ledger.Ledger) bool {
	if len(l.Rows) < ledger.MinRequests || len(l.Slow) == 0 {
		return false
	}
	slow := float64(len(l.Slow)) / float64(len(l.Rows))
	if l.Rule == ledger.RuleSLO || l.Rule == ledger.RuleBaseline {
		return slow > missed
	}
	if atClientsPace(l) {
		return false
	}
	var all int64
	for _, i := range l.Rows {
		all += b.Requests.Latency(i)
	}
	n, ns := countNoticeable(b, l)
	if float64(n) < rarely*float64(len(l.Rows)) && noticeablySlowShare(b, l) < unwellRequests {
		return false
	}
	return float64(n) >= unwellRequests*float64(len(l.Rows)) || float64(ns) >= unwellTime*float64(all)
}

// longerOutside is how many times as long requests must take for clients as for the service, where most of that time passes before the service sees
// them.
const longerOutside = 3

// waitsBeforeService says whether clients wait noticeably longer than the service works on their
// requests: most of what they wait for is then not in the ledger, which charges what the service
// saw.
func waitsBeforeService(b *evidence.Bundle, l *ledger.Ledger) bool {
	if l.All == l || len(l.Rows) < ledger.MinRequests || len(l.All.Rows) < ledger.MinRequests || !l.All.FromOutside() {
		return false
	}
	clients, service := medianLatency(b, l.All.Rows), medianLatency(b, l.Rows)
	return clients >= check.Noticeable.Int64() && clients >= longerOutside*service
}

// medianLatency returns the median latency (ns) of requests.
func medianLatency(b *evidence.Bundle, rows []int) int64 {
	took := make([]int64, 0, len(rows))
	for _, i := range rows {
		took = append(took, b.Requests.Latency(i))
	}
	return stats.QuantileOf(took, .5)
}

// atClientsPace says whether most of the slow time passes in clients, which the service cannot
// shorten.
func atClientsPace(l *ledger.Ledger) bool {
	return l.Total > 0 && float64(l.Charges[ledger.Client]) >= mostly*float64(l.Total)
}

// noticeablySlowShare returns the part of the time in which a noticeably slow request was under
// way.
func noticeablySlowShare(b *evidence.Bundle, l *ledger.Ledger) float64 {
	var at []metrics.Span
	for _, i := range l.Slow {
		if took := b.Requests.Latency(i); took >= check.Noticeable.Int64() {
			at = append(at, metrics.Span{From: b.Requests.End.At(i) - took, To: b.Requests.End.At(i)})
		}
	}
	sorting.Short(at, func(x, y metrics.Span) int { return cmp.Compare(x.From, y.From) })
	var spans metrics.Spans
	for _, x := range at {
		spans = spans.Add(x.From, x.To)
	}
	return float64(spans.Within(l.From, l.To)) / float64(max(1, l.To-l.From))
}
