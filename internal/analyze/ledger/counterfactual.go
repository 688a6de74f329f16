package ledger

import (
	"slices"
	"strings"
)

// Stops are stop-the-world pauses, [from, to) in ns, sorted and disjoint.
type Stops [][2]int64

// Savings is how much less slow requests would have waited without some of the pauses. It is counterfactual, so that the
// savings of several causes do not add up.
type Savings struct {
	// Direct is the time (ns) that those pauses stopped each slow request (in the order of [Ledger.Slow]) itself; Low and
	// High are bounds on the sum, where the clocks leave room.
	Direct    []int64
	Low, High int64
	// Behind is the further time that each request waited in the backlog of the pauses; nil where it is not known. Method
	// says how it is known: from the replay or, where that did not reproduce what was observed (Why says so), from the
	// answers of busy processors ([MethodBacklog]).
	Behind                []int64
	BehindLow, BehindHigh int64
	Method                string
	Why                   string
}

// SavingsWithout returns how much less slow requests would have waited without some of the pauses while the others stay.
// Pauses that are not on the requests' timeline cost nothing.
func (l *Ledger) SavingsWithout(without Stops) Savings {
	k := *l
	k.charged = nil
	k.left = l.stops.withoutTimes(without)
	gone := l.stops.withoutTimes(k.left.toStops())
	s := Savings{Direct: make([]int64, len(l.Slow)), Why: l.Replay.Why}
	r := &l.b.Requests
	for n, row := range l.Slow {
		from, to := r.End.At(row)-r.Latency(row), r.End.At(row)
		all := l.stops.meanStopped(from, to)
		if all == 0 {
			continue
		}
		charged := l.Of(row)[StopTheWorld] - l.moved[row].ns
		share := float64(gone.meanStopped(from, to)) / float64(all)
		s.Direct[n] = int64(share * float64(max(0, charged)))
		least, most := gone.stoppedExtremes(from, to)
		s.Low += min(least, s.Direct[n])
		s.High += max(most, s.Direct[n])
	}
	if !l.Replay.Used {
		return l.spareBacklog(s, gone)
	}
	k.moved, k.Replay = nil, Replay{}
	if k.runReplay(); !k.Replay.Used {
		s.Why = k.Replay.Why
		return l.spareBacklog(s, gone)
	}
	s.Method = MethodReplay
	s.Behind = make([]int64, len(l.Slow))
	for n, row := range l.Slow {
		s.Behind[n] = min(k.moved[row].ns, max(0, r.Latency(row)-s.Direct[n]))
	}
	low, high := k.movedBounds()
	s.BehindLow, s.BehindHigh = int64(low), int64(high)
	return s
}

func (l *Ledger) spareBacklog(s Savings, gone stops) Savings {
	if l.Replay.Splits != Unobserved || l.Replay.Servers == 0 || s.High == 0 || len(l.Slow) == 0 {
		return s // no model of processors that requests queue for
	}
	behind, low, high, why := l.estimateBacklog(gone)
	if why != "" {
		if !strings.Contains(s.Why, why) { // the replay may fail for the same reason
			s.Why += "; " + why
		}
		return s
	}
	s.Behind, s.BehindLow, s.BehindHigh, s.Method = behind, low, high, MethodBacklog
	return s
}

// withoutTimes returns pauses with some times cut out.
func (s *stops) withoutTimes(without Stops) (out stops) {
	out.lo, out.hi = s.lo, s.hi
	for _, p := range s.pauses {
		at := p.from
		i, _ := slices.BinarySearchFunc(without, at, func(w [2]int64, t int64) int {
			if w[1] <= t {
				return -1
			}
			return 1
		})
		for ; i < len(without) && without[i][0] < p.to; i++ {
			if without[i][0] > at {
				out.pauses = append(out.pauses, pause{from: at, to: without[i][0]})
			}
			at = max(at, without[i][1])
		}
		if at < p.to {
			out.pauses = append(out.pauses, pause{from: at, to: p.to})
		}
	}
	out.mergePauses()
	return out
}

func (s *stops) toStops() (out Stops) {
	for _, p := range s.pauses {
		out = append(out, [2]int64{p.from, p.to})
	}
	return out
}
