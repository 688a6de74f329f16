package exchanges

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// linkDelegated links calls that threads of a client make for a request whose own thread waits for them, as those of the JDK's HttpClient do: the call begins soon
// after an act of the request and ends soon before its next, and the request shows no act in between. This must hold for [awaitedMost] of the waits of a
// route that are long, and more often than by chance.
func (p *parser) linkDelegated() {
	ended := func(x *exchange) int64 { return max(x.first, x.last) }
	var calls []int32 // that belong to no request, and are as long as such waits
	for i := range p.calls {
		if x := &p.calls[i]; x.request < 0 && !x.behind && !x.lookup && !x.shared && x.goroutines == [2]int64{} && x.first > 0 && ended(x)-x.begun >= awaitedLeast {
			calls = append(calls, int32(i))
		}
	}
	if len(calls) == 0 {
		return
	}
	slices.SortFunc(calls, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.calls[a].begun, p.calls[b].begun), cmp.Compare(a, b))
	})
	waits := p.findUnseen(true)
	type route struct {
		long   int           // waits
		found  map[int32]int // by call: its wait
		chance float64       // how many would be found by chance
	}
	routes := make(map[evidence.NameID]*route)
	of := func(u *unseen) *route {
		name := p.requests[u.request].what
		if routes[name] == nil {
			routes[name] = &route{found: make(map[int32]int)}
		}
		return routes[name]
	}
	for i := range waits {
		if u := &waits[i]; u.until-u.from >= awaitedLeast {
			r := of(u)
			r.long++
			r.chance += min(1, float64(len(calls))*float64(sharedEnd)/float64(max(1, p.until-p.from)))
		}
	}
	taken := make([]bool, len(waits))
	for _, k := range calls {
		x := &p.calls[k]
		first, _ := slices.BinarySearchFunc(waits, x.begun-sharedEnd, func(u unseen, at int64) int { return cmp.Compare(u.from, at) })
		best, least := -1, 2*sharedEnd+1
		for i := first; i < len(waits) && waits[i].from <= x.begun; i++ {
			after := waits[i].until - ended(x)
			if apart := x.begun - waits[i].from + after; !taken[i] && after >= 0 && after <= sharedEnd && apart < least {
				best, least = i, apart
			}
		}
		if best >= 0 {
			taken[best] = true
			of(&waits[best]).found[k] = best
		}
	}
	for _, r := range routes {
		if n := float64(len(r.found)); n < awaitedTimes || n < awaitedMost*float64(r.long) || n < notByChance*r.chance {
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(r.found)) {
			p.calls[k].request, p.calls[k].byTime = waits[r.found[k]].request, true
		}
	}
}
