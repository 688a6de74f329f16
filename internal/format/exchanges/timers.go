package exchanges

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Signs that a timer takes up what requests hand over, such as a queue of jobs that is looked at once a second: calls begin in batches at equal
// distances, as many as requests have waited since the batch before, and each of these requests is answered when such a call has ended. Requests that wait for an event, as in a long poll, are answered without a call for each.
// Clients of queues also vary their distances on purpose, by up to a half, so that workers do not look together; then all calls are of one worker.
const (
	timedLeast = 20          // such calls
	timedTicks = 8           // batches
	timedGap   = int64(50e6) // ns between the calls of two batches, at least
	timedPart  = .25         // of the usual time between batches: calls that begin within it are of one batch
	timedNear  = .15         // the relative difference that the times between batches may have
	timedMost  = .8          // part of the batches at such distances, of the requests and calls that match, and of the requests that wait for one batch only
	timedWaits = .25         // part of the time between batches that the median request waits, at least
	timedEarly = .5          // of the median distance between the batches of one worker is what the others take at least
	timedLate  = 1.6         // and at most
	timedVary  = .9          // part of the distances that lie so: of those of events that come at any time .38 do
)

// operationAt is what calls ask for, and whom.
type operationAt struct{ to, operation evidence.NameID }

// batch is calls that begin together, in the order of their beginnings.
type batch struct {
	at    int64
	calls []int
}

// timedWait is a request that hands something over, until it is answered.
type timedWait struct {
	request     int32
	from, until int64
}

// findTimers finds requests whose work a timer takes up, until when each waits for it, and the calls that are made for them then.
func (p *parser) findTimers() {
	kinds := make(map[operationAt][]int)
	for i := range p.calls {
		if x := &p.calls[i]; !x.behind && !x.lookup && x.first > 0 {
			k := operationAt{x.what, x.operation}
			kinds[k] = append(kinds[k], i)
		}
	}
	if len(kinds) == 0 {
		return
	}
	routes := p.listHandingOver()
	sortedKinds := slices.SortedFunc(maps.Keys(kinds), func(a, b operationAt) int {
		return cmp.Or(cmp.Compare(p.b.Text(a.to), p.b.Text(b.to)), cmp.Compare(p.b.Text(a.operation), p.b.Text(b.operation)))
	})
	charge := func(batches []batch, apart int64, each string) bool {
		for _, route := range routes.sortKeys() {
			if p.chargeTimer(batches, apart, each, routes[route]) {
				delete(routes, route)
				return true
			}
		}
		return false
	}
	for _, kind := range sortedKinds {
		batches := p.findBatches(kinds[kind])
		if apart := evenlyApart(batches); apart > 0 && charge(batches, apart, "each ") {
			continue
		}
		for _, calls := range p.callsOfWorkers(kinds[kind]) {
			batches := p.findBatches(calls)
			if apart := evenlyApart(batches); apart > 0 && charge(batches, apart, "each ") {
				continue
			}
			if apart := roughlyApart(batches); apart > 0 {
				charge(batches, apart, "about each ")
			}
		}
	}
}

// callsOfWorkers returns the calls of each goroutine or thread that has served no request.
func (p *parser) callsOfWorkers(calls []int) (of [][]int) {
	type worker struct{ thread, goroutine int64 }
	serves := make(map[worker]bool)
	by := make(map[worker][]int)
	var order []worker
	for _, i := range calls {
		x := &p.calls[i]
		w := worker{goroutine: x.goroutines[0]}
		if w.goroutine == 0 {
			w.thread = x.thread
		}
		if serves[w] = serves[w] || x.served; by[w] == nil {
			order = append(order, w)
		}
		by[w] = append(by[w], i)
	}
	if len(order) < 2 { // they were asked together
		return nil
	}
	for _, w := range order {
		if !serves[w] {
			of = append(of, by[w])
		}
	}
	return of
}

// listHandingOver lists the requests that wait after their last call, by route.
func (p *parser) listHandingOver() routeRows {
	routes := make(routeRows)
	for i := range p.requests {
		if x := &p.requests[i]; x.first > 0 && x.what != 0 && x.turn == 0 && !x.isStreamed() {
			routes[portRoute{x.port, x.what}] = append(routes[portRoute{x.port, x.what}], i)
		}
	}
	return routes
}

// findBatches returns the batches in which calls begin, nil if there are too few.
func (p *parser) findBatches(calls []int) (all []batch) {
	if len(calls) < timedLeast {
		return nil
	}
	slices.SortFunc(calls, func(a, b int) int { return cmp.Or(cmp.Compare(p.calls[a].begun, p.calls[b].begun), cmp.Compare(a, b)) })
	var gaps []int64
	for n := 1; n < len(calls); n++ {
		if gap := p.calls[calls[n]].begun - p.calls[calls[n-1]].begun; gap >= timedGap {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) < timedTicks-1 {
		return nil
	}
	within := int64(timedPart * float64(stats.QuantileOf(gaps, .9)))
	last := int64(0)
	for _, i := range calls {
		at := p.calls[i].begun
		if len(all) == 0 || at-last >= within {
			all = append(all, batch{at: at})
		}
		all[len(all)-1].calls = append(all[len(all)-1].calls, i)
		last = at
	}
	if len(all) < timedTicks {
		return nil
	}
	return all
}

// distancesOf returns the times (ns) between batches.
func distancesOf(all []batch) []int64 {
	between := make([]int64, 0, len(all))
	for n := 1; n < len(all); n++ {
		between = append(between, all[n].at-all[n-1].at)
	}
	return between
}

// evenlyApart returns the usual time (ns) between batches; 0 if they do not begin at equal distances.
func evenlyApart(all []batch) int64 {
	between := distancesOf(all)
	apart, even := stats.EvenDistances(between, timedNear, 2) // a batch may be empty
	if apart < 2*timedGap || float64(even) < timedMost*float64(len(between)) {
		return 0
	}
	return apart
}

// roughlyApart returns the usual time (ns) between batches that vary by hardly more than a half; 0 if they vary more.
func roughlyApart(all []batch) int64 {
	between := distancesOf(all)
	if len(between) == 0 {
		return 0
	}
	apart, near := stats.QuantileOf(slices.Clone(between), .5), 0
	for _, ns := range between {
		if float64(ns) >= timedEarly*float64(apart) && float64(ns) <= timedLate*float64(apart) {
			near++
		}
	}
	if apart < 2*timedGap || float64(near) < timedVary*float64(len(between)) {
		return 0
	}
	return apart
}

// chargeTimer charges requests of a route with their waits for the batch in which their work is done, and links them with its calls. It reports whether
// the batches are of this route.
func (p *parser) chargeTimer(batches []batch, apart int64, each string, rows []int) bool {
	ofBatch := make(map[int]bool)
	for n := range batches {
		for _, i := range batches[n].calls {
			ofBatch[i] = true
		}
	}
	last := make(map[int32]int64) // by request: when its last call before a batch ended
	for i := range p.calls {
		if x := &p.calls[i]; x.request >= 0 && !x.behind && !ofBatch[i] {
			last[x.request] = max(last[x.request], p.doneAt(x))
		}
	}
	took := make([][]timedWait, len(batches))
	all, once := 0, 0
	var waits []int64
	for _, i := range rows {
		x := &p.requests[i]
		w := timedWait{int32(i), max(x.begun, last[int32(i)]), x.first}
		n, _ := slices.BinarySearchFunc(batches, w.until, func(b batch, at int64) int { return cmp.Compare(b.at, at) })
		if n == 0 || w.until-w.from < admittedWait {
			continue
		}
		n--
		took[n] = append(took[n], w)
		all++
		waits = append(waits, max(0, batches[n].at-w.from))
		if n == 0 || batches[n-1].at <= w.from {
			once++
		}
	}
	calls, matched := 0, 0
	for n := range batches {
		calls += len(batches[n].calls)
		matched += min(len(batches[n].calls), len(took[n]))
	}
	if all < timedLeast || float64(matched) < timedMost*float64(max(calls, all)) || float64(once) < timedMost*float64(all) ||
		float64(stats.QuantileOf(waits, .5)) < timedWaits*float64(apart) {
		return false
	}
	links := make(map[int32]int) // by request: the call
	for n := range batches {
		p.matchBatch(&batches[n], took[n], links)
	}
	if float64(len(links)) < timedMost*float64(all) {
		return false
	}
	name := p.b.TellWait("a timer that takes up what requests hand over, "+each+units.Time(float64(apart)), evidence.Wait{Kind: evidence.TimedStart, Of: fmt.Sprint(apart)})
	for n := range batches {
		for _, w := range took[n] {
			if k, known := links[w.request]; known {
				p.calls[k].request = w.request
			}
			x := &p.requests[w.request]
			x.turn, x.timer = batches[n].at, name
		}
	}
	return true
}

// matchBatch finds for each request the call of a batch that is linked to it, or that ended right before its answer.
func (p *parser) matchBatch(b *batch, waits []timedWait, links map[int32]int) {
	var byEnd []int
	known := make(map[int32]bool)
	for _, w := range waits {
		known[w.request] = true
	}
	for _, i := range b.calls {
		if r := p.calls[i].request; r >= 0 && known[r] {
			links[r] = i
		} else if r < 0 {
			byEnd = append(byEnd, i)
		}
	}
	slices.SortFunc(byEnd, func(x, y int) int { return cmp.Compare(p.doneAt(&p.calls[x]), p.doneAt(&p.calls[y])) })
	slices.SortFunc(waits, func(x, y timedWait) int { return cmp.Compare(x.until, y.until) })
	next := 0
	for _, w := range waits {
		if _, linked := links[w.request]; linked {
			continue
		}
		for next < len(byEnd) && w.until-p.doneAt(&p.calls[byEnd[next]]) > sharedEnd {
			next++
		}
		if next < len(byEnd) && p.doneAt(&p.calls[byEnd[next]]) <= w.until && p.calls[byEnd[next]].begun >= w.from {
			links[w.request] = byEnd[next]
			next++
		}
	}
}
