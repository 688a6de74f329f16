package dotnet

import (
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

const needEvidence = "a recording under light load as the baseline: unstall PID --baseline light.unstall"

// alone is how many requests that had the pool to themselves tell what one needs.
const alone = 3

// needed finds it among the requests that ended while no more of them were there than
// the pool has threads from the beginning.
func (s *starving) needed() need {
	l := s.c.Ledger
	if l == nil {
		return need{}
	}
	if l.Rule == ledger.RuleBaseline {
		return need{float64(l.Threshold) / 1e9, "the baseline"}
	}
	r := &s.c.Bundle.Requests
	var starts, ends []int64
	for _, i := range l.Rows {
		ends = append(ends, r.End[i])
		starts = append(starts, r.End[i]-r.Latency(i))
	}
	slices.Sort(starts)
	slices.Sort(ends)
	before := func(at []int64, t int64) int { n, _ := slices.BinarySearch(at, t); return n }
	var took []int64
	for _, i := range l.Rows {
		from, to := r.End[i]-r.Latency(i), r.End[i]
		if beside := before(starts, to) - before(ends, from); r.Outcome[i] == evidence.OK && float64(beside) <= max(1, s.pool.cores) {
			took = append(took, r.Latency(i))
		}
	}
	if len(took) < alone {
		return need{}
	}
	return need{stats.Median(took) / 1e9, "requests of this recording that came one by one"}
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
