package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/evidence"
)

// stalled shares out the time in which threads waited for memory among the requests under
// way, where nothing says which thread works for which: of ten requests while two threads
// wait, each waits for a fifth of that time (Little's law). It says nothing of a single
// request, and what it gives is a share.
type stalled struct {
	t     []int64   // ns, ascending
	share []float64 // from then on, 0…1
	sum   []float64 // ns until then
}

// stalling is nil where no thread is known to have waited, or at no time of day that the
// requests know.
func (l *Ledger) stalling() *stalled {
	type turn struct {
		at             int64
		stall, request int
	}
	var turns []turn
	v := &l.b.Intervals
	clock := l.b.Requests.Clock[l.Rows[0]]
	own := l.b.Clocks[clock]
	for _, i := range v.Select(evidence.AllocStall, l.Subject) {
		of := l.b.Clocks[v.Clock[i]]
		if v.End[i] > v.Start[i] && (v.Clock[i] == clock || own.Anchored() && of.Anchored()) {
			turns = append(turns, turn{v.Start[i], 1, 0}, turn{v.End[i], -1, 0})
		}
	}
	if len(turns) == 0 {
		return nil
	}
	for _, i := range l.Rows {
		turns = append(turns, turn{l.came(i), 0, 1}, turn{l.b.Requests.End[i], 0, -1})
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	s := &stalled{}
	var threads, requests int
	var sum float64
	for _, x := range turns {
		if n := len(s.t); n > 0 {
			sum = s.sum[n-1] + s.share[n-1]*float64(x.at-s.t[n-1])
		}
		threads, requests = threads+x.stall, requests+x.request
		share := 0.
		if threads > 0 && requests > 0 {
			share = min(1, float64(threads)/float64(requests))
		}
		if n := len(s.t); n > 0 && s.t[n-1] == x.at {
			s.share[n-1] = share
			continue
		}
		s.t, s.share, s.sum = append(s.t, x.at), append(s.share, share), append(s.sum, sum)
	}
	return s
}

// over is the time (ns) of [from, from+dur) that a request under way waited for memory.
func (s *stalled) over(from, dur int64) int64 {
	if s == nil {
		return 0
	}
	return min(dur, max(0, int64(s.until(from+dur)-s.until(from))))
}

func (s *stalled) until(t int64) float64 {
	i, found := slices.BinarySearch(s.t, t)
	if found {
		return s.sum[i]
	}
	if i == 0 {
		return 0
	}
	return s.sum[i-1] + s.share[i-1]*float64(t-s.t[i-1])
}
