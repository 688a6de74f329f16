package incident

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// spending is how the workers of a pool spent the time in which they had work.
type spending struct {
	bins   map[int64]*tally
	whole  *tally
	rounds []round // of looks, by time
	looks  []look  // at workers with work, by time
}

// With at least this many looks in a time, these tell how workers spent it; else all looks of the recording do.
const leastLooks = 20

// look is one observation of a worker with work.
type look struct {
	at    int64 // ns
	state evidence.Segment
	n     float64
}

// round is one observation of all workers at once.
type round struct {
	at   int64 // ns
	free int   // workers without work
}

// hadIdleWorker reports whether some worker was idle in most rounds of a time: requests then waited for something other
// than a worker. It returns false where no round is within the time.
func (s *spending) hadIdleWorker(from, until int64) bool {
	k, _ := slices.BinarySearchFunc(s.rounds, from, func(x round, at int64) int { return cmp.Compare(x.at, at) })
	n, free := 0, 0
	for ; k < len(s.rounds) && s.rounds[k].at <= until; k++ {
		n++
		if s.rounds[k].free > 0 {
			free++
		}
	}
	return 2*free > n
}

// tally counts looks by the state seen.
type tally struct {
	looks int
	by    map[evidence.Segment]int
}

// workersSpent sums up the looks at the workers of a service.
func workersSpent(b *evidence.Bundle, subject evidence.SubjectID) *spending {
	s := &spending{bins: make(map[int64]*tally), whole: &tally{by: make(map[evidence.Segment]int)}}
	for _, l := range threads.Of(b, platform.Stacks()).Samples(subject) {
		v := &l.View
		if n := len(s.rounds); l.Time != 0 && (n == 0 || s.rounds[n-1].at != l.Time) {
			s.rounds = append(s.rounds, round{at: l.Time})
		}
		if l.Time != 0 && (!v.Request || v.State == evidence.Idle) {
			s.rounds[len(s.rounds)-1].free++
		}
		if !v.Request || v.State == evidence.Idle || l.Time == 0 {
			continue
		}
		x := evidence.Segment{Kind: v.State}
		if v.State != evidence.Running {
			x.Cause = b.Names.ID(waitsFor(v))
		}
		s.looks = append(s.looks, look{l.Time, x, float64(max(1, l.Count))})
		k := l.Time / binWidth
		if s.bins[k] == nil {
			s.bins[k] = &tally{by: make(map[evidence.Segment]int)}
		}
		for _, t := range []*tally{s.bins[k], s.whole} {
			t.looks += max(1, l.Count)
			t.by[x] += max(1, l.Count)
		}
	}
	sorting.Short(s.looks, func(x, y look) int { return cmp.Compare(x.at, y.at) })
	sorting.Short(s.rounds, func(x, y round) int { return cmp.Compare(x.at, y.at) })
	return s
}

// waitsFor returns the peer that a worker waits for over the network, else how it waits.
func waitsFor(v *threadstack.View) string {
	if v.State == evidence.NetWait {
		return cmp.Or(v.Waits.Of, strings.TrimPrefix(v.Pattern, "sync I/O: "))
	}
	return v.Pattern
}

// partOf is a state with its part of the time.
type partOf struct {
	evidence.Segment
	part float64
}

// statesBetween returns the states in which workers spent a time, the longest first; nil where
// there are too few looks.
func (s *spending) statesBetween(from, until int64) (parts []partOf) {
	t := &tally{by: make(map[evidence.Segment]int)}
	for k := from / binWidth; k <= until/binWidth && k-from/binWidth < 1000; k++ {
		if x := s.bins[k]; x != nil {
			t.looks += x.looks
			for seg, n := range x.by {
				t.by[seg] += n
			}
		}
	}
	if t.looks < leastLooks {
		t = s.whole
	}
	if t.looks < leastLooks {
		return nil
	}
	for seg, n := range t.by {
		parts = append(parts, partOf{seg, float64(n) / float64(t.looks)})
	}
	sorting.Short(parts, func(x, y partOf) int {
		return cmp.Or(cmp.Compare(y.part, x.part), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Cause, y.Cause))
	})
	return parts
}
