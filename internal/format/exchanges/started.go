package exchanges

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/gostack"
)

// started are the looks at goroutines that requests' goroutines have started.
type started struct {
	by     map[int64][]look   // by the request's goroutine, in order of time
	of     map[int64][]look   // by the started goroutine, in order of time
	during map[int64][2]int64 // by the number of the started one: when it was seen first and last
}

// collectStarted sorts all looks, and collects those at started goroutines; nil if there are none.
func (p *parser) collectStarted() *started {
	slices.SortStableFunc(p.looks, func(a, b look) int { return cmp.Compare(a.at, b.at) })
	if !slices.ContainsFunc(p.looks, func(l look) bool { return l.origin != 0 }) {
		return nil
	}
	s := &started{by: make(map[int64][]look), of: make(map[int64][]look), during: make(map[int64][2]int64)}
	for _, l := range p.looks {
		if l.origin == 0 {
			continue
		}
		s.by[l.origin] = append(s.by[l.origin], l)
		s.of[l.goroutine] = append(s.of[l.goroutine], l)
		seen, known := s.during[l.id]
		if !known {
			seen[0] = l.at
		}
		s.during[l.id] = [2]int64{seen[0], l.at}
	}
	return s
}

// originOf returns the request's goroutine that has started one which did something in a stretch of time, and when the started one was seen first and last; 0 where
// it was not seen then, and not both before and after.
func (s *started) originOf(goroutine, from, until int64) (origin int64, seen [2]int64) {
	if s == nil {
		return 0, seen
	}
	all := s.of[goroutine]
	i, _ := slices.BinarySearchFunc(all, from, func(l look, at int64) int { return cmp.Compare(l.at, at) })
	if i == len(all) || all[i].at > until && (i == 0 || all[i-1].id != all[i].id) {
		return 0, seen
	}
	return all[i].origin, s.during[all[i].id]
}

// followStarted returns the look that says what a request's goroutine waits for: if it waits for goroutines that it has started, the look in the same round
// at the one of them that was seen last; else its own. Those that were there before the request, or are there after it, are not waited for.
func (s *goroutineLooks) followStarted(x *exchange, l look) look {
	if s.started == nil || !l.isWaiting() || !s.waitsForOthers(l.stack) {
		return l
	}
	all := s.started.by[l.goroutine]
	i, _ := slices.BinarySearchFunc(all, l.at, func(o look, at int64) int { return cmp.Compare(o.at, at) })
	best, last := l, int64(0)
	for ; i < len(all) && all[i].at == l.at; i++ {
		o := all[i]
		seen := s.started.during[o.id]
		if seen[0] < x.begun || seen[1] > s.p.endOf(x) || o.isWaiting() && !s.saysWhy(o.stack) {
			continue
		}
		if seen[1] > last || seen[1] == last && o.id < best.id {
			best, last = o, seen[1]
		}
	}
	return best
}

// saysWhy says whether a parked goroutine shows why another one waits for it: not if it waits for others itself, or for the client, as the one that watches
// whether the client is still there.
func (s *goroutineLooks) saysWhy(stack evidence.StackID) bool {
	kind := s.meaningOf(stack).Kind
	return kind != 0 && kind != evidence.ClientWait && !s.waitsForOthers(stack)
}

// waitsForOthers says whether a goroutine with some stack is parked until another one has done something, and not for a lock, a place or an answer.
func (s *goroutineLooks) waitsForOthers(stack evidence.StackID) bool {
	is, known := s.joins[stack]
	if !known {
		funcs := s.p.functionsOf(stack)
		reason := gostack.ParkedFor(funcs)
		of := gostack.WaitOf(funcs).For
		is = of == gostack.Join || of == gostack.Nothing && (reason == gostack.ParkedForReceive || reason == gostack.ParkedForSelect || reason == gostack.ParkedForOthers)
		s.joins[stack] = is
	}
	return is
}
