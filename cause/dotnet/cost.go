package dotnet

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/stats"
)

// need is what a request takes where it need not wait for a thread, which a starving
// service hardly ever shows.
type need struct {
	seconds float64 // 0 unknown
	from    string
}

// undisturbed is the quantile of what such requests took that one needs: others met something
// all the same.
const undisturbed = .25

// alone is how many requests that had the pool to themselves tell what one needs.
const alone = 2

// needed finds it among requests of the route that is slow which ended while no more of
// them were there than the pool has threads from the beginning, whoever saw them.
func (s *starving) needed() need {
	l := s.c.Ledger
	if l == nil {
		return need{}
	}
	if l.Rule == ledger.RuleBaseline {
		return need{float64(l.Threshold) / 1e9, "the baseline"}
	}
	r := &s.c.Bundle.Requests
	route := routeOf(r, l)
	seen := make(map[evidence.ArtifactID][]int)
	for i := range r.Len() {
		if a, ok := r.Origin[i].Artifact(); ok && r.Subject[i] == s.c.Subject && r.Timed(i) {
			seen[a] = append(seen[a], i)
		}
	}
	var best []int64
	for _, a := range slices.Sorted(maps.Keys(seen)) {
		if took := s.alone(seen[a], route); len(took) > len(best) {
			best = took
		}
	}
	if len(best) < alone {
		return need{}
	}
	slices.Sort(best)
	return need{float64(stats.Quantile(best, undisturbed)) / 1e9, "requests of this recording that came one by one"}
}

// served is what requests take where each has a thread, blocked as that is.
func (s *starving) served() need {
	l := s.c.Ledger
	if l == nil {
		return need{}
	}
	r := &s.c.Bundle.Requests
	route := routeOf(r, l)
	var took []int64
	for _, i := range l.Rows {
		if r.Route[i] == route && r.Outcome[i] == evidence.OK {
			took = append(took, r.Latency(i))
		}
	}
	if len(took) < ledger.MinRequests {
		return need{}
	}
	return need{stats.Median(took) / 1e9, "requests of this recording, none of which waited for a thread"}
}

// routeOf is the route of most slow requests, else of most.
func routeOf(r *evidence.Requests, l *ledger.Ledger) evidence.NameID {
	rows := l.Slow
	if len(rows) == 0 {
		rows = l.Rows
	}
	n := make(map[evidence.NameID]int64)
	for _, i := range rows {
		n[r.Route[i]]++
	}
	return most(n)
}

// alone is what the requests of a route took beside which there were hardly others.
func (s *starving) alone(rows []int, route evidence.NameID) (took []int64) {
	r := &s.c.Bundle.Requests
	var starts, ends []int64
	for _, i := range rows {
		starts, ends = append(starts, r.End[i]-r.Latency(i)), append(ends, r.End[i])
	}
	slices.Sort(starts)
	slices.Sort(ends)
	before := func(at []int64, t int64) int { n, _ := slices.BinarySearch(at, t); return n }
	for _, i := range rows {
		from, to := r.End[i]-r.Latency(i), r.End[i]
		if beside := before(starts, to) - before(ends, from); r.Route[i] == route && r.Outcome[i] == evidence.OK && float64(beside) <= max(1, s.pool.cores) {
			took = append(took, r.Latency(i))
		}
	}
	return took
}

// saves is what slow requests would not have taken had nothing blocked: all but what
// they need. Where that is not known it lies between what they waited for a thread and
// all but their own work: how long the tasks they block on would take in a pool that
// has threads cannot be seen in one that has none.
func (s *starving) saves(n need) *cause.Saves {
	l := s.c.Ledger
	if l == nil || len(l.Slow) == 0 {
		return nil
	}
	r := &s.c.Bundle.Requests
	per := make([]int64, len(l.Slow))
	var sum, least int64
	for i, row := range l.Slow {
		ch := l.Of(row)
		own := ch[ledger.Own] + ch[ledger.Kernel] + ch[ledger.StopTheWorld] + ch[ledger.Client] + ch[ledger.GeneratorLag]
		if n.seconds > 0 {
			own = max(own, int64(n.seconds*1e9))
		}
		per[i] = max(0, r.Latency(row)-own)
		sum += per[i]
		least += min(per[i], ch[ledger.PoolThread]+ch[ledger.Queued])
	}
	if n.seconds > 0 {
		return s.c.Save(per, -1, -1)
	}
	return s.c.Bound(float64(sum), float64(least), float64(sum))
}

// waitedForThreads is what is left of it where the pool has made up for what is blocked.
func (s *starving) waitedForThreads() *cause.Saves {
	l := s.c.Ledger
	if l == nil || len(l.Slow) == 0 {
		return nil
	}
	return s.c.SaveMechanism(ledger.PoolThread)
}

// most is the key with the largest sum, of equals the first; the zero key of none.
func most[K cmp.Ordered](sums map[K]int64) (best K) {
	for _, k := range slices.Sorted(maps.Keys(sums)) {
		if sums[k] > sums[best] {
			best = k
		}
	}
	return best
}
