package timeline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/suggest"
)

// Life is what one request spent its time on, in order.
type Life struct {
	Request // with few states: neighbours are drawn together

	Process  string
	Anchored bool // At is a time of day
	Followed bool // its states were observed; else they come from what is known of the process at that time
	Limit    int64
	Usual    int64 // ns: the median of its route; 0 of too few
	Rank, Of int   // it is the n-th slowest of so many
	First    bool  // it is the slowest of its route
	Charges  []Charge
}

// Charge is a mechanism's part of a request's time; charges are sorted by time, longest first.
type Charge struct {
	Mechanism string
	Title     string
	Dur       int64 // ns
}

// Slowest is the name for the slowest of the requests that are called slow.
const Slowest = "slowest"

// ErrNoRequest is wrapped by errors for requests that are not in the evidence.
var ErrNoRequest = errors.New("no such request")

// LifeOf returns the life of one request that a ledger charges: the slowest, the one with an id
// (its own or its trace's), the one at a place in a file ("access.log:4711"), or the slowest of a
// route. It has at most the given number of states.
func LifeOf(b *evidence.Bundle, ledgers []*ledger.Ledger, which string, states int) (*Life, error) {
	l, row, err := findRequest(b, ledgers, which)
	if err != nil {
		return nil, err
	}
	lay := &layout{b: b, t: &Timeline{}, subject: l.Subject, ledger: l, titles: b.Titles()}
	lay.frames.stacks = platform.ByID(b.Subjects[l.Subject].Runtime).Stacks
	lay.findSources()
	lay.placeClocks()
	lay.chooseRequests()
	r := &b.Requests
	life := &Life{Request: lay.buildRequest(row, MaxStates, true), Process: lay.titles[l.Subject], Anchored: b.Clocks[r.Clock.At(row)].Anchored(),
		Followed: r.Path(row).Followed(), Limit: l.Limit(row), Rank: 1, First: true, Of: len(l.Rows)}
	var route []int64
	for _, i := range l.Rows {
		latency := r.Latency(i)
		if latency > life.Latency {
			life.Rank++
		}
		if r.Route.At(i) == r.Route.At(row) {
			route = append(route, latency)
			life.First = life.First && latency <= life.Latency
		}
	}
	if len(route) >= ledger.MinRequests {
		slices.Sort(route)
		life.Usual = route[len(route)/2]
	}
	charges := l.Of(row)
	for m, v := range charges {
		if v > 0 {
			mechanism := ledger.Mechanism(m)
			life.Charges = append(life.Charges, Charge{mechanism.String(), l.TitleFor(row, mechanism, lay.laneNoun()), v})
		}
	}
	sorting.Short(life.Charges, func(a, b Charge) int { return cmp.Compare(b.Dur, a.Dur) })
	life.dropEntrances(b.Names)
	if states < MaxStates {
		life.joinStates(states)
	}
	return life, nil
}

// dropEntrances drops the names of queues before the service from states that are charged to something else: a request that has
// arrived and is not read because all CPUs are busy waits for a CPU, not for the queue.
func (l *Life) dropEntrances(names *evidence.Names) {
	for i := range l.States {
		s := &l.States[i]
		switch names.Wait(names.Lookup(s.What)).Kind {
		case evidence.ArrivedAt, evidence.AcceptQueueOf, evidence.UnreadAt:
			if s.Mechanism != ledger.Queued.String() {
				s.What = ""
			}
		}
	}
}

// leastStep is the part of a request's time below which a state is no step of a short account.
const leastStep = .01

// joinStates makes a short account: it joins neighbours that are charged to the same mechanism, gives states of next to no time
// to a neighbour, and then, until there are no more than most, the shortest to the longer of its neighbours.
func (l *Life) joinStates(most int) {
	for {
		l.joinAlike()
		shortest := -1
		for i := range l.States {
			if shortest < 0 || l.States[i].Dur < l.States[shortest].Dur {
				shortest = i
			}
		}
		n := len(l.States)
		if n < 2 || n <= most && float64(l.States[shortest].Dur) >= leastStep*float64(l.Latency) {
			return
		}
		i := shortest // of the two that become one
		if i == n-1 || i > 0 && l.States[i-1].Dur >= l.States[i+1].Dur {
			i--
		}
		l.States[i].mergeNext(&l.States[i+1])
		l.States = slices.Delete(l.States, i+1, i+2)
	}
}

// joinAlike joins neighbours that are charged to the same mechanism, unless each waited for something else.
func (l *Life) joinAlike() {
	out := l.States[:0]
	for _, s := range l.States {
		if n := len(out); n > 0 && out[n-1].Mechanism == s.Mechanism && (out[n-1].What == s.What || out[n-1].Number > 1 || s.Number > 1) {
			out[n-1].mergeNext(&s)
			continue
		}
		out = append(out, s)
	}
	l.States = out
}

// mergeNext adds the state after it. The result is of the longer one's mechanism.
func (s *State) mergeNext(o *State) {
	at, dur, number := s.At, s.Dur+o.Dur, max(1, s.Number)+max(1, o.Number)
	if o.Dur > s.Dur {
		*s = *o
	}
	s.At, s.Dur, s.Number, s.Parts = at, dur, number, nil
}

// Title returns the title of a state's mechanism.
func (l *Life) Title(mechanism string) string {
	i := slices.IndexFunc(l.Charges, func(c Charge) bool { return c.Mechanism == mechanism })
	if i < 0 {
		return mechanism
	}
	return l.Charges[i].Title
}

// findRequest returns the request that which names, and the ledger that charges it. Of several it is the slowest that is called
// slow: a long poll may last longer and be as it should.
func findRequest(b *evidence.Bundle, ledgers []*ledger.Ledger, which string) (*ledger.Ledger, int, error) {
	r := &b.Requests
	key := evidence.KeyOf([]byte(which))
	position, err := strconv.ParseInt(which[strings.LastIndexByte(which, ':')+1:], 10, 64)
	placed := err == nil
	var of *ledger.Ledger
	best, bestSlow := -1, false
	routes := make(map[string]bool)
	for _, l := range ledgers {
		slow := make(map[int]bool, len(l.Slow))
		for _, row := range l.Slow {
			slow[row] = true
		}
		for _, row := range l.Rows {
			route := b.Names.Text(r.Route.At(row))
			routes[route] = true
			switch {
			case which == Slowest, which == route, key != 0 && r.Key.At(row) == key:
			case placed && r.Origin.At(row).Position() == position && which == b.OriginText(r.Origin.At(row)):
				return l, row, nil
			default:
				continue
			}
			if best < 0 || slow[row] && !bestSlow || slow[row] == bestSlow && r.Latency(row) > r.Latency(best) {
				of, best, bestSlow = l, row, slow[row]
			}
		}
	}
	switch {
	case best >= 0:
		return of, best, nil
	case len(routes) == 0:
		return nil, 0, fmt.Errorf("%w: there are no requests in the evidence", ErrNoRequest)
	}
	delete(routes, "")
	names := slices.Sorted(maps.Keys(routes))
	if route := withMethod(which, names); route != "" {
		return findRequest(b, ledgers, route)
	}
	if meant := suggest.Nearest(which, names); meant != "" {
		return nil, 0, fmt.Errorf("%w: %q: did you mean the route %q?", ErrNoRequest, which, meant)
	}
	if most := 5; len(names) > most {
		names = append(names[:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return nil, 0, fmt.Errorf("%w: %q is no id, no FILE:LINE and no route of the evidence; routes: %s", ErrNoRequest, which, strings.Join(names, ", "))
}

// withMethod returns the only route of a path, "GET /play" for "/play"; "" if there is none or are several.
func withMethod(path string, routes []string) (found string) {
	for _, route := range routes {
		if _, of, ok := strings.Cut(route, " "); !ok || of != path {
			continue
		}
		if found != "" {
			return ""
		}
		found = route
	}
	return found
}
