package exchanges

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Signs of a limit within the program on how many requests are served at a time, such as a bulkhead, a semaphore or a queue with some workers:
// requests that were read do nothing until another one is answered, and begin their first call then. While some wait, always as many others are
// between their first call and their answer.
const (
	admittedWait  = int64(5e6) // ns that a request waits before its first call, to count
	admittedLeast = 20         // requests that wait so
	admittedPart  = .8         // of them: that begin right after another one's answer
	admittedFull  = .9         // of the time in which requests wait: in which as many as the limit are served, hand-overs included
	admittedAbove = .05        // of that time: in which more are, at most
	admittedBusy  = .5         // of the time of a wait: in which the loop that reads requests is busy, at most
	admittedRoute = .2         // of the requests of a route: that wait so, for the limit to be one of the route
	admittedTwo   = 2          // places: a limit of one is a lock, or a turn
)

// admission is a request that passes a limit.
type admission struct {
	request   int32
	call      int // its first
	from      int64
	at, until int64 // when its first call begins, and when it is answered
	waits     bool
}

// findAdmissionLimits finds, for each port, a limit on how many requests are served at a time, and charges requests with their waits for it. The
// requests of programs in Go are left out: their goroutines are looked at where they wait.
func (p *parser) findAdmissionLimits(loops *loops) {
	ports := make(map[int64][]admission)
	for _, a := range p.listAdmissions(loops) {
		port := p.requests[a.request].port
		ports[port] = append(ports[port], a)
	}
	for _, port := range slices.Sorted(maps.Keys(ports)) {
		routes := make(map[evidence.NameID][]admission)
		for _, a := range ports[port] {
			what := p.requests[a.request].what
			routes[what] = append(routes[what], a)
		}
		var names []evidence.NameID // of routes that wait
		var all []admission
		for what, of := range routes {
			waits := 0
			for i := range of {
				if of[i].waits {
					waits++
				}
			}
			if what != 0 && waits >= admittedLeast/2 && float64(waits) >= admittedRoute*float64(len(of)) {
				names = append(names, what)
				all = append(all, of...)
			}
		}
		slices.SortFunc(names, func(a, b evidence.NameID) int { return cmp.Compare(p.b.Text(a), p.b.Text(b)) })
		if p.chargeAdmissions(names, all) || len(names) < 2 {
			continue
		}
		for _, what := range names {
			p.chargeAdmissions([]evidence.NameID{what}, routes[what])
		}
	}
}

// listAdmissions lists the requests that make calls, with the first of these.
func (p *parser) listAdmissions(loops *loops) (all []admission) {
	first := make(map[int32]int) // by request
	for i := range p.calls {
		x := &p.calls[i]
		if x.request < 0 || x.behind || x.lookup {
			continue
		}
		if k, known := first[x.request]; !known || x.begun < p.calls[k].begun {
			first[x.request] = i
		}
	}
	for _, request := range slices.Sorted(maps.Keys(first)) {
		r, call := &p.requests[request], first[request]
		if r.goroutines[0] > 0 || r.isStreamed() {
			continue
		}
		a := admission{request: request, call: call, from: r.begun, at: p.calls[call].begun, until: r.first}
		if a.until == 0 {
			a.until = p.endOf(r)
		}
		if a.at < a.from || a.until < a.at {
			continue
		}
		took := a.at - a.from
		a.waits = took >= admittedWait && float64(loops.busyFor(r.thread, a.from, a.at)) < admittedBusy*float64(took)
		all = append(all, a)
	}
	return all
}

// chargeAdmissions charges the requests of routes with their waits for a limit that they share, and reports whether there is one. Requests that call
// one peer alone may wait for a pool of its connections, which is told by its own signs.
func (p *parser) chargeAdmissions(routes []evidence.NameID, all []admission) bool {
	peers := make(map[evidence.NameID]int64) // ns in calls of those that are served
	pooled, waits := 0, 0
	served := make(map[int32]bool)
	for i := range all {
		served[all[i].request] = true
		if all[i].waits {
			waits++
			if p.calls[all[i].call].pooled > 0 {
				pooled++
			}
		}
	}
	for i := range p.calls {
		if x := &p.calls[i]; served[x.request] && !x.behind {
			peers[x.what] += p.doneAt(x) - x.begun
		}
	}
	if waits < admittedLeast || len(peers) == 1 && 2*pooled >= waits {
		return false
	}
	places := p.countPlaces(all)
	if places < admittedTwo {
		return false
	}
	slowest := evidence.NameID(0)
	for peer, ns := range peers {
		if slowest == 0 || ns > peers[slowest] || ns == peers[slowest] && p.b.Text(peer) < p.b.Text(slowest) {
			slowest = peer
		}
	}
	texts := make([]string, 0, len(routes))
	for _, what := range routes {
		texts = append(texts, p.b.Text(what))
	}
	name := p.b.TellWait(fmt.Sprintf("a limit of %s at a time: %s", units.Plural(places, "request"), strings.Join(texts, ", ")),
		evidence.Wait{Kind: evidence.RequestLimit, Of: p.b.Text(slowest), Places: places})
	for i := range all {
		if a := &all[i]; a.waits {
			x := &p.calls[a.call]
			x.pool, x.pooled, x.held = name, a.at-a.from, slowest
		}
	}
	return true
}

// countPlaces returns how many requests a limit lets through at a time, 0 if there is no limit.
func (p *parser) countPlaces(all []admission) int {
	type edge struct {
		at             int64
		served, waited int
	}
	edges := make([]edge, 0, 4*len(all))
	ends := make([]int64, 0, len(all))
	for i := range all {
		a := &all[i]
		edges = append(edges, edge{a.at, 1, 0}, edge{a.until, -1, 0})
		ends = append(ends, a.until)
		if a.waits {
			edges = append(edges, edge{a.from, 0, 1}, edge{a.at, 0, -1})
		}
	}
	slices.Sort(ends)
	var rests []int64 // from the last answer to a first call
	for i := range all {
		if a := &all[i]; a.waits {
			if n, _ := slices.BinarySearch(ends, a.at+1); n > 0 {
				rests = append(rests, a.at-ends[n-1])
			}
		}
	}
	over := 0
	for _, ns := range rests {
		if ns <= handOver {
			over++
		}
	}
	waits := float64(len(rests))
	chance := min(1, float64(len(ends))*float64(handOver)/float64(max(1, p.until-p.from)))
	if len(rests) < admittedLeast || float64(over) < admittedPart*waits || float64(over) < min(.95, notByChance*chance)*waits {
		return 0
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.served, b.served)) })
	usual := stats.QuantileOf(rests, .5)
	times := make(map[int]int64) // ns in which requests wait, by how many are served
	served, waiting := 0, 0
	var total int64
	for i, e := range edges {
		served, waiting = served+e.served, waiting+e.waited
		if i+1 == len(edges) || waiting == 0 {
			continue
		}
		ns := edges[i+1].at - e.at
		if e.served < 0 { // until the next one begins
			ns -= min(ns, max(usual, handOver))
		}
		times[served] += ns
		total += ns
	}
	places := 0
	for n, ns := range times {
		if ns > times[places] || ns == times[places] && n < places {
			places = n
		}
	}
	above := int64(0)
	for n, ns := range times {
		if n > places {
			above += ns
		}
	}
	if float64(times[places]) < admittedFull*float64(total) || float64(above) > admittedAbove*float64(total) {
		return 0
	}
	return places
}
