package ledger

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// allocStalls shares out the time in which threads waited for memory among the requests under way, where the evidence
// does not say which thread works for which request: of ten requests while two threads wait, each waits for a fifth of
// that time (Little's law). For waits of which only a surrounding span is known, such as Shenandoah's delays within a
// cycle, each request gets a part in proportion to its time under way in that span. The result is a share and says
// nothing of a single request.
type allocStalls struct {
	t     []int64   // ns, ascending
	share []float64 // from then on, 0…1
	sum   []float64 // ns until that moment
}

// buildAllocStalls returns nil where no thread is known to have waited for memory, or the time of the waits cannot be
// placed on the requests' clock.
func (l *Ledger) buildAllocStalls() *allocStalls {
	type turn struct {
		at             int64
		stall, request int
		spread         float64 // share of the requests
	}
	var turns []turn
	spans := make(map[[2]int64]int64) // ns that threads waited within each span, at an unknown moment
	v := &l.b.Intervals
	clock := l.b.Requests.Clock.At(l.Rows[0])
	own := l.b.Clocks[clock]
	for _, i := range v.Select(evidence.AllocStall, l.Subject) {
		of := l.b.Clocks[v.Clock.At(i)]
		if v.End[i] <= v.Start[i] || v.Clock.At(i) != clock && !(own.Anchored() && of.Anchored()) {
			continue
		}
		if within, ok := v.Get(i, evidence.WaitedWithin); ok {
			spans[[2]int64{v.End[i] - int64(within), v.End[i]}] += v.End[i] - v.Start[i]
			continue
		}
		turns = append(turns, turn{v.Start[i], 1, 0, 0}, turn{v.End[i], -1, 0, 0})
	}
	if len(turns)+len(spans) == 0 {
		return nil
	}
	until := l.underWayUntil()
	for span, waited := range spans {
		if all := until(span[1]) - until(span[0]); all > 0 {
			part := min(1, float64(waited)/all)
			turns = append(turns, turn{span[0], 0, 0, part}, turn{span[1], 0, 0, -part})
		}
	}
	for _, i := range l.Rows {
		turns = append(turns, turn{l.sentAt(i), 0, 1, 0}, turn{l.b.Requests.End.At(i), 0, -1, 0})
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	s := &allocStalls{}
	var threads, requests int
	var spread, sum float64
	for _, x := range turns {
		if n := len(s.t); n > 0 {
			sum = s.sum[n-1] + s.share[n-1]*float64(x.at-s.t[n-1])
		}
		threads, requests, spread = threads+x.stall, requests+x.request, spread+x.spread
		share := 0.
		if requests > 0 {
			share = min(1, max(0, spread)+float64(threads)/float64(requests))
		}
		if n := len(s.t); n > 0 && s.t[n-1] == x.at {
			s.share[n-1] = share
			continue
		}
		s.t, s.share, s.sum = append(s.t, x.at), append(s.share, share), append(s.sum, sum)
	}
	return s
}

// underWayUntil returns the time (ns) that all requests together were under way before a moment.
func (l *Ledger) underWayUntil() func(t int64) float64 {
	starts, ends := l.allUnderWay()
	sums := func(v []int64) []float64 {
		out := make([]float64, len(v)+1)
		for i, t := range v {
			out[i+1] = out[i] + float64(t-v[0])
		}
		return out
	}
	began, ended := sums(starts), sums(ends)
	// passed sums the time since each of the moments.
	passed := func(v []int64, sums []float64, t int64) float64 {
		n := countBefore(v, t)
		if n == 0 {
			return 0
		}
		return math.Max(0, float64(n)*float64(t-v[0])-sums[n])
	}
	return func(t int64) float64 { return passed(starts, began, t) - passed(ends, ended, t) }
}

// waitWithin returns the time (ns) of [from, from+dur) that a request under way waited for memory.
func (s *allocStalls) waitWithin(from, dur int64) int64 {
	if s == nil {
		return 0
	}
	return min(dur, max(0, int64(s.waitBefore(from+dur)-s.waitBefore(from))))
}

func (s *allocStalls) waitBefore(t int64) float64 {
	i, found := slices.BinarySearch(s.t, t)
	if found {
		return s.sum[i]
	}
	if i == 0 {
		return 0
	}
	return s.sum[i-1] + s.share[i-1]*float64(t-s.t[i-1])
}

// AllocStalls returns how long (ns) each slow request waited for memory, in the order of [Ledger.Slow], as the share of
// the threads' waits.
func (l *Ledger) AllocStalls() []int64 {
	s := l.stalled
	if s == nil {
		s = l.buildAllocStalls()
	}
	out := make([]int64, len(l.Slow))
	for n, row := range l.Slow {
		out[n] = s.waitWithin(l.sentAt(row), l.b.Requests.End.At(row)-l.sentAt(row))
	}
	return out
}
