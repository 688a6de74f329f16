package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// pause is a stop-the-world interval. Before is the total time of all earlier pauses; area is twice the integral of the
// stopped time up to its beginning.
type pause struct {
	from, to, before int64
	area             uint128
}

// stops are a subject's pauses, in order, and how far (ns) a request may have to move to be aligned with them: lo ≤ 0 ≤ hi.
// Stamps are truncated: with a resolution of 1 s, hi is 1 s.
type stops struct {
	pauses []pause
	lo, hi int64
}

// watcher is an artifact that saw pauses.
type watcher struct {
	rows        []int
	clock       evidence.Clock
	own         bool // it has the requests' own clock
	from, until int64
}

// stopsOf returns the pauses that can be laid over the requests of a clock. Pauses of the same clock need no moving.
// Without any, pauses of the best clock count, and others add only what lies where better ones did not look: two files
// that place a pause some µs apart have not seen two. A JVM's safepoints are stops as well; they last longer than the
// pause within them by the time until all threads stopped: their union is the stop.
func stopsOf(b *evidence.Bundle, subject evidence.SubjectID, requests evidence.ClockID) (s stops) {
	own := b.Clocks[requests]
	for _, k := range []struct {
		kind  evidence.Kind
		cover string
	}{{evidence.StopTheWorld, evidence.CoverGC}, {evidence.Safepoint, evidence.CoverSafepoints}} {
		var used []*watcher
		for _, w := range listWatchers(b, subject, requests, k.kind, k.cover) {
			switch {
			case !w.own && (!w.clock.Anchored() || !own.Anchored()), len(used) > 0 && used[0].own:
				continue
			case !w.own:
				behind := w.clock.Error + own.Error
				s.lo = min(s.lo, -behind-max(0, w.clock.Resolution-1))
				s.hi = max(s.hi, behind+max(0, own.Resolution-1))
			}
			for _, i := range w.rows {
				from, to := b.Intervals.Start[i], b.Intervals.End[i]
				seen := slices.ContainsFunc(used, func(o *watcher) bool { return o.from <= from && from < o.until })
				if !seen && to > from {
					s.pauses = append(s.pauses, pause{from: from, to: to})
				}
			}
			used = append(used, w)
		}
	}
	s.mergePauses()
	return s
}

// listWatchers returns the artifacts that saw a subject's stops of a kind, the best clock first.
func listWatchers(b *evidence.Bundle, subject evidence.SubjectID, requests evidence.ClockID, kind evidence.Kind, cover string) (all []*watcher) {
	byArtifact := make(map[evidence.ArtifactID]*watcher)
	for _, i := range b.Intervals.Select(kind, subject) {
		a, _ := b.Intervals.Origin.At(i).Artifact()
		w := byArtifact[a]
		if w == nil {
			w = &watcher{from: b.Intervals.Start[i]}
			for _, c := range b.Covered(subject, cover) {
				if o, ok := c.Origin.Artifact(); ok && o == a {
					w.clock, w.own = b.Clocks[c.Clock], c.Clock == requests
					w.from, w.until = min(w.from, c.From), max(w.until, c.Until)
				}
			}
			byArtifact[a] = w
			all = append(all, w)
		}
		w.rows = append(w.rows, i)
		w.until = max(w.until, b.Intervals.End[i])
	}
	slices.SortStableFunc(all, func(x, y *watcher) int {
		if x.own != y.own {
			if x.own {
				return -1
			}
			return 1
		}
		return cmp.Compare(x.clock.Slack(), y.clock.Slack())
	})
	return all
}

// mergePauses sorts the pauses, joins those that overlap, and sums them up.
func (s *stops) mergePauses() {
	slices.SortStableFunc(s.pauses, func(x, y pause) int { return cmp.Compare(x.from, y.from) })
	out := s.pauses[:0]
	for _, p := range s.pauses {
		n := len(out)
		switch {
		case n == 0:
			out = append(out, p)
		case p.from <= out[n-1].to:
			out[n-1].to = max(out[n-1].to, p.to)
		default:
			last := &out[n-1]
			p.before = last.before + last.to - last.from
			p.area = last.areaAt(p.from)
			out = append(out, p)
		}
	}
	s.pauses = out
}

// areaAt returns twice the integral of the stopped time until t, which lies between this pause's beginning and the next
// one's.
func (p *pause) areaAt(t int64) uint128 {
	dt := t - p.from
	in := min(dt, p.to-p.from)
	return p.area.plus(mulInt64(2*p.before, dt)).plus(mulInt64(in, in)).plus(mulInt64(2*in, dt-in))
}

// lastBefore returns the last pause that begins before t, nil if there is none.
func (s *stops) lastBefore(t int64) *pause {
	i, _ := slices.BinarySearchFunc(s.pauses, t, func(p pause, t int64) int { return cmp.Compare(p.from, t) })
	if i == 0 {
		return nil
	}
	return &s.pauses[i-1]
}

// stoppedSpans returns the times in which the world was stopped.
func (s *stops) stoppedSpans() (out metrics.Spans) {
	for _, p := range s.pauses {
		out = out.Add(p.from, p.to)
	}
	return out
}

// stoppedBefore returns the time (ns) that the world was stopped before t.
func (s *stops) stoppedBefore(t int64) int64 {
	p := s.lastBefore(t)
	if p == nil {
		return 0
	}
	return p.before + min(t, p.to) - p.from
}

func (s *stops) areaUntil(t int64) uint128 {
	p := s.lastBefore(t)
	if p == nil {
		return uint128{}
	}
	return p.areaAt(t)
}

func (s *stops) stoppedWithin(from, to int64) int64 {
	if len(s.pauses) == 0 {
		return 0
	}
	return s.stoppedBefore(to) - s.stoppedBefore(from)
}

// meanStopped returns the time (ns) of [from, to) that the world was stopped: the mean over all positions that the clocks
// allow.
func (s *stops) meanStopped(from, to int64) int64 {
	if len(s.pauses) == 0 || to <= from {
		return 0
	}
	if s.hi == s.lo {
		return s.stoppedWithin(from, to)
	}
	later := s.areaUntil(to + s.hi).minus(s.areaUntil(to + s.lo))
	earlier := s.areaUntil(from + s.hi).minus(s.areaUntil(from + s.lo))
	return min(int64(later.minus(earlier).toFloat()/2/float64(s.hi-s.lo)), to-from)
}

// stoppedExtremes returns the least and the most (ns) of [from, to) that can have been stopped. As the span moves, the
// overlap begins to shrink only with the span's beginning inside a pause, and stops shrinking when it has passed the
// pause: every plateau at the top has a position where from meets a pause's beginning, and every one at the bottom a
// position where it meets an end.
func (s *stops) stoppedExtremes(from, to int64) (least, most int64) {
	least = s.stoppedWithin(from+s.lo, to+s.lo)
	most = least
	if s.hi == s.lo || len(s.pauses) == 0 {
		return least, most
	}
	try := func(d int64) {
		if d > s.lo && d <= s.hi {
			o := s.stoppedWithin(from+d, to+d)
			least, most = min(least, o), max(most, o)
		}
	}
	try(s.hi)
	first, _ := slices.BinarySearchFunc(s.pauses, from+s.lo, func(p pause, t int64) int { return cmp.Compare(p.to, t) })
	for i, p := range s.pauses[first:] {
		if p.from > to+s.hi {
			break
		}
		if i == mostPauses {
			return 0, to - from
		}
		try(p.from - from)
		try(p.to - from)
	}
	return least, most
}

// mostPauses is how many pauses within reach of one request are considered one by one.
const mostPauses = 4096

// typicalPause returns the length (ns) of the pause in which half of the stopped time is reached, shorter ones first: many
// short stops, such as those that a look at all threads takes, do not hide the long ones.
func (s *stops) typicalPause() int64 {
	lengths := make([]int64, len(s.pauses))
	var all int64
	for i, p := range s.pauses {
		lengths[i] = p.to - p.from
		all += lengths[i]
	}
	slices.Sort(lengths)
	var sum int64
	for _, ns := range lengths {
		if sum += ns; 2*sum >= all {
			return ns
		}
	}
	return 0
}

// placedTime is a part of a request's time, what of it was charged to pauses, and whether it had no state.
type placedTime struct {
	from, to, paused int64
	unobserved       bool
}

// stoppedBounds returns the least and the most of the slow requests' time that the pauses can have cost, over the positions
// that the clocks allow. A wait with an unknown place can have hidden the pauses or, if they came at its end, none of them.
// What was charged always lies between them.
func (l *Ledger) stoppedBounds() (low, high float64) {
	var parts []placedTime
	for _, row := range l.Slow {
		var labelled int64
		if parts, labelled = l.appendPlaced(parts[:0], row); len(parts) == 0 {
			continue
		}
		l.walkStates(row, func(at int64, _ *evidence.Segment, c *Charges, by derivation) {
			if by == fromReplay || c[StopTheWorld] == 0 {
				return
			}
			i := len(parts) - 1
			for i > 0 && parts[i].from > at {
				i--
			}
			parts[i].paused += c[StopTheWorld]
		})
		for _, p := range parts {
			if !p.unobserved && p.paused == 0 {
				continue
			}
			least, most := l.stops.stoppedExtremes(p.from, p.to)
			ran := 1 - l.withheld.Part(p.from, p.to)
			low += min(float64(p.paused), ran*float64(max(0, least-labelled)))
			high += max(float64(p.paused), ran*float64(most))
		}
	}
	return low, high
}

// appendPlaced appends the parts of a request whose places are known; all of it is one part where it has waits without a
// place, whose sum is labelled.
func (l *Ledger) appendPlaced(parts []placedTime, row int) (_ []placedTime, labelled int64) {
	r := &l.b.Requests
	end := r.End.At(row)
	began := end - r.Latency(row)
	path := r.Path(row)
	labelled, loose := l.hasUnplacedWaits(path)
	if loose || isPlaced(path) {
		return append(parts, placedTime{from: max(r.Start.At(row), l.sentAt(row)), to: end, unobserved: true}), labelled
	}
	at := r.Start.At(row)
	if at == 0 {
		at = began
	}
	var s evidence.Segment
	for path.Next(&s) {
		next := min(at+max(0, s.Dur), end)
		if from := max(at, began); next > from {
			parts = append(parts, placedTime{from: from, to: next, unobserved: s.Kind == evidence.Unobserved})
		}
		at = next
	}
	if from := max(at, began); from < end {
		parts = append(parts, placedTime{from: from, to: end, unobserved: true})
	}
	return parts, 0
}
