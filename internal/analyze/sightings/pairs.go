package sightings

import (
	"cmp"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Late is how much (ns) the row of a client, or of the service's log, may begin and end before and after its traced request where the service saw
// both ends: a service that a quota stops reads 100 ms after the sending.
const Late = 200e6

// coarse is the resolution (ns) of a clock from which times cannot separate two requests, but latencies may.
const coarse = 10e6

// How many rows are tried for a traced request, with a clock that separates them and with one that does not, and how many candidates are kept. A
// row's beginning counts up to sharp (ns): a request that waits long before it is served may begin at any time.
const (
	mostTried       = 256
	mostTriedCoarse = 4096
	mostKept        = 8
	sharp           = 5e6
	atOnce          = 1 << 17 // traced requests with candidates in memory at a time
)

// grainOfLogs is how much (ns) a proxy's line may seem to begin later, or to end earlier, than the request it passed on: each of its durations is
// cut to a millisecond.
const grainOfLogs = 2e6

// Pair is a traced request with its row.
type Pair struct{ Traced, Row int }

// Match is the pairing of traced requests and rows.
type Match struct {
	Pairs  []Pair
	Behind int64 // ns that the rows' clock is behind the traces', by the pairs: no client has an answer before it was given
	Before int64 // ns that usually pass before the service sees a request, over those that began within a trace
	Served int64 // ns that a request usually takes in the service without waits in queues
	Keyed  int   // pairs by ids that both sources have
}

// Pairs finds the rows of traced requests: each row is of one request, and the nearest pair up. Both are of one subject, and their clocks are
// anchored. A client's row may begin any time before the service sees the request; a row of the service's own log may begin later, because the
// log's clock starts with the handler.
func Pairs(b *evidence.Bundle, traced, rows []int) (m Match) {
	p := pairing{b: b, r: &b.Requests, rows: rows, routes: routesOf(&b.Requests, rows)}
	p.indexRows()
	p.coarse = p.coarse || len(traced) > 0 && b.Clocks[p.r.Clock.At(traced[0])].Resolution >= coarse
	p.findKeys(traced)
	m = p.pairRequests(traced)
	if p.findKin(m.Pairs) {
		m = p.pairRequests(traced)
	}
	if p.behind = p.foundBehind(m.Pairs); p.behind > 0 {
		m = p.pairRequests(traced)
		m.Behind = p.behind
	}
	if p.clients && !p.coarse && len(m.Pairs) >= leastMatched && p.b.VantageOf(traced[0]) == evidence.FromKernel {
		m = p.chooseEnd(m, traced)
	}
	return m
}

// chooseEnd pairs requests that the kernel saw also by their beginnings, and returns the pairing whose nearer ends differ by less. A request that waits for its
// connection to be accepted has arrived long before, and its answer is with the client at once; one whose answer waits to be sent, or read, came at once, and its
// client has the answer long after.
func (p *pairing) chooseEnd(byEnd Match, traced []int) Match {
	late := p.meanApart(byEnd.Pairs, p.lagTime)
	if late < leastApart {
		return byEnd
	}
	p.byBegin = true
	byBegin := p.pairRequests(traced)
	byBegin.Behind = byEnd.Behind
	if len(byBegin.Pairs) < len(byEnd.Pairs) || 2*p.meanApart(byBegin.Pairs, p.leadTime) > late {
		return byEnd
	}
	return byBegin
}

// leastApart is the mean distance (ns) of the ends of pairs from which on their beginnings are tried.
const leastApart = 200_000

// meanApart returns the mean of a distance of pairs, ns, of which each counts up to [sharp].
func (p *pairing) meanApart(pairs []Pair, distance func(i, row int) int64) int64 {
	var sum int64
	for _, x := range pairs {
		sum += min(abs(distance(x.Traced, x.Row)), sharp)
	}
	return sum / int64(max(1, len(pairs)))
}

// mostBeside is how many pairings run beside each other: each takes memory for all of its rows.
const mostBeside = 2

// PairsOf is [Pairs] with several sources of rows, each by itself, in their order.
func PairsOf(b *evidence.Bundle, traced []int, sources [][]int) []Match {
	out := make([]Match, len(sources))
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(mostBeside, len(sources), runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(sources)); n = next.Add(1) - 1 {
				out[n] = Pairs(b, traced, sources[n])
			}
		})
	}
	running.Wait()
	return out
}

// pairRequests pairs in three steps. A request whose end was traced gets the row with the same end, however long that waited before. A request of
// which only the beginning was traced gets the row that was sent the usual time before. Requests under way from a trace's first moment to its last
// are paired in the order of their ends: all of them waited, so an exchange among them does no harm.
func (p *pairing) pairRequests(traced []int) (m Match) {
	p.paired, p.taken = evidence.NewRows(p.r.Len()), evidence.NewRows(p.r.Len())
	var ends, begins, lasts []int
	for _, i := range traced {
		switch began, ended := Whole(p.b, i); {
		case ended:
			ends = append(ends, i)
		case began:
			begins = append(begins, i)
		default:
			lasts = append(lasts, i)
		}
	}
	m.Pairs = p.byKeys(traced)
	m.Keyed = len(m.Pairs)
	var all []candidate
	for some := range slices.Chunk(ends, atOnce) {
		all = all[:0]
		if p.byBegin {
			for _, i := range some {
				all = p.byTheirBegin(all, i, 0)
			}
			m.Pairs = p.takeNearest(m.Pairs, all)
			continue
		}
		for _, i := range some {
			all = p.byTheirEnd(all, i, 1, p.taken)
		}
		taken := slices.Clone(p.taken)
		m.Pairs = p.takeInOrder(m.Pairs, queueFirsts(all, func(i int) []candidate { return p.byTheirEnd(nil, i, mostKept, taken) }))
	}
	m.Before, m.Served = p.usualTimes(m.Pairs)
	all = all[:0]
	for _, i := range begins {
		all = p.byTheirBegin(all, i, m.Before)
	}
	m.Pairs = p.pairThroughout(p.takeNearest(m.Pairs, all), lasts)
	return m
}

// takeNearest takes the nearest candidates, each traced request and each row once. The candidates of a request stand together.
func (p *pairing) takeNearest(out []Pair, all []candidate) []Pair {
	return p.takeInOrder(out, queueNearest(all))
}

func (p *pairing) takeInOrder(out []Pair, q *nearest) []Pair {
	for c, ok := q.takeNearest(); ok; c, ok = q.takeNearest() {
		switch {
		case p.paired.Has(c.Traced):
		case p.taken.Has(c.Row):
			q.askOn()
		default:
			p.paired.Add(c.Traced)
			p.taken.Add(c.Row)
			out = append(out, c.Pair)
		}
	}
	return out
}

// A route of rows does not belong to a traced route if its pairs are at most this part of the number expected if the routes were unrelated, over at
// least this many pairs. The remaining routes must have most of the pairs. Pairs by time alone sometimes exchange requests that ran at once, but
// rarely the same ones.
const (
	kinPart  = .5
	kinLeast = 5
	kinAll   = .7
)

// findKin derives from pairs which routes of rows may be which traced routes of other names, and reports whether some pairs join routes that do not
// belong together.
func (p *pairing) findKin(pairs []Pair) (mixed bool) {
	counts, inners, outers := make(map[[2]evidence.NameID]int), make(map[evidence.NameID]int), make(map[evidence.NameID]int)
	all := 0
	for _, x := range pairs {
		inner, outer := p.r.Route.At(x.Traced), p.r.Route.At(x.Row)
		if inner == 0 || outer == 0 || p.routes[inner] {
			continue
		}
		counts[[2]evidence.NameID{inner, outer}]++
		inners[inner]++
		outers[outer]++
		all++
	}
	for inner, n := range inners {
		strangers, kept := make(map[evidence.NameID]bool), n
		for outer, m := range outers {
			k := counts[[2]evidence.NameID{inner, outer}]
			if chance := float64(n) * float64(m) / float64(all); chance >= kinLeast && float64(k) < kinPart*chance {
				strangers[outer] = true
				kept -= k
			}
		}
		if n < leastMatched || len(strangers) == 0 || float64(kept) < kinAll*float64(n) {
			continue
		}
		if p.strangers == nil {
			p.strangers = make(map[evidence.NameID]map[evidence.NameID]bool)
		}
		p.strangers[inner] = strangers
		mixed = mixed || kept < n
	}
	return mixed
}

// canBeRoute says whether a traced request of one route may be a row of another.
func (p *pairing) canBeRoute(inner, outer evidence.NameID) bool {
	if p.routes[inner] {
		return inner == outer
	}
	return !p.strangers[inner][outer]
}

// findKeys indexes rows by their ids if these are the traced requests' ids: at least half of the ids on the side with fewer must match.
func (p *pairing) findKeys(traced []int) {
	keys := make(map[evidence.RequestKey][]int)
	for _, row := range p.byEnd {
		if k := p.r.Key.At(row); k != 0 {
			keys[k] = append(keys[k], row)
		}
	}
	if len(keys) == 0 {
		return
	}
	have, found := make(map[evidence.RequestKey]bool), 0
	for _, i := range traced {
		if k := p.r.Key.At(i); k != 0 && !have[k] {
			have[k] = true
			if len(keys[k]) > 0 {
				found++
			}
		}
	}
	if found > 0 && 2*found >= min(len(have), len(keys)) {
		p.keys = keys
	}
}

// byKeys pairs requests by id; of several with one id, those with the nearest ends.
func (p *pairing) byKeys(traced []int) (out []Pair) {
	if p.keys == nil {
		return nil
	}
	var all []candidate
	for _, i := range traced {
		if k := p.r.Key.At(i); k != 0 {
			for _, row := range p.keys[k][:min(mostKept, len(p.keys[k]))] {
				all = append(all, candidate{Pair{i, row}, abs(p.lagTime(i, row))})
			}
		}
		if len(all) >= mostKept*atOnce {
			out, all = p.takeNearest(out, all), all[:0]
		}
	}
	return p.takeNearest(out, all)
}

// usualTimes returns the median time before the service sees a request, and the median time in the service without waits in queues, ns.
func (p *pairing) usualTimes(pairs []Pair) (before, served int64) {
	var ahead, inside []int64
	for _, x := range pairs {
		if began, _ := Whole(p.b, x.Traced); began {
			ahead = append(ahead, max(0, p.leadTime(x.Traced, x.Row)))
		}
		took := int64(0)
		for s := range p.r.Path(x.Traced).All {
			if !s.Kind.Queues() {
				took += s.Dur
			}
		}
		inside = append(inside, took)
	}
	return stats.QuantileOf(ahead, .5), stats.QuantileOf(inside, .5)
}

// leadTime and lagTime return how much (ns) a row begins before a traced request and ends after
// it.
func (p *pairing) leadTime(i, row int) int64 { return p.r.Start.At(i) - Sent(p.r, row) - p.behind }
func (p *pairing) lagTime(i, row int) int64  { return p.r.End.At(row) + p.behind - p.r.End.At(i) }

// So many pairs must end too early to show that a clock is behind; a lag below leastBehind (ns) is ignored.
const (
	earlyPart   = .1
	leastBehind = 50_000
)

// foundBehind returns how much the clients' clock is behind: most answers cannot arrive before they are given.
func (p *pairing) foundBehind(pairs []Pair) int64 {
	if !p.outside || p.coarse {
		return 0
	}
	late := make([]int64, 0, len(pairs))
	for _, x := range pairs {
		if _, ended := Whole(p.b, x.Traced); ended {
			late = append(late, p.r.End.At(x.Row)-p.r.End.At(x.Traced))
		}
	}
	if len(late) < leastMatched {
		return 0
	}
	if d := -stats.QuantileOf(late, earlyPart); d >= leastBehind {
		return min(d, p.slack)
	}
	return 0
}

// pairing finds the rows of traced requests.
type pairing struct {
	b         *evidence.Bundle
	r         *evidence.Requests
	rows      []int
	routes    map[evidence.NameID]bool                     // of the rows
	strangers map[evidence.NameID]map[evidence.NameID]bool // by a traced request's route: the rows' routes that it is not
	byEnd     []int                                        // rows
	bySent    []int
	ends      []int64                       // ns, of byEnd
	sents     []int64                       // ns, of byEnd
	names     []evidence.NameID             // routes, of byEnd
	keys      map[evidence.RequestKey][]int // rows by id, where most ids match; nil: they do not
	paired    evidence.Rows                 // traced requests
	taken     evidence.Rows
	slack     int64 // ns that the rows' clock may be off
	coarse    bool
	clients   bool
	outside   bool  // rows were seen from outside: by clients, proxies
	behind    int64 // ns
	byBegin   bool  // requests with a known end are paired by their beginnings
}

func (p *pairing) indexRows() {
	r := p.r
	p.byEnd, p.bySent = slices.Clone(p.rows), slices.Clone(p.rows)
	slices.SortFunc(p.bySent, func(i, j int) int { return cmp.Or(cmp.Compare(Sent(r, i), Sent(r, j)), cmp.Compare(i, j)) })
	slices.SortFunc(p.byEnd, func(i, j int) int { return cmp.Or(cmp.Compare(r.End.At(i), r.End.At(j)), cmp.Compare(i, j)) })
	clock := p.b.Clocks[r.Clock.At(p.rows[0])]
	p.clients = ByClients(p.b, p.rows[0])
	p.outside = p.clients || p.b.VantageOf(p.rows[0]) >= evidence.FromKernel
	p.ends, p.sents, p.names = make([]int64, len(p.rows)), make([]int64, len(p.rows)), make([]evidence.NameID, len(p.rows))
	for k, row := range p.byEnd {
		p.ends[k], p.sents[k], p.names[k] = r.End.At(row), Sent(r, row), r.Route.At(row)
	}
	p.slack, p.coarse = clock.Slack(), clock.Resolution >= coarse
}

// clockRoom returns how far (ns) the clocks of a traced request and a row may differ, and how much a row may end before the service is done.
func (p *pairing) clockRoom(i int) (slack, before int64) {
	slack = p.b.Clocks[p.r.Clock.At(i)].Slack() + p.slack
	if p.behind > 0 { // what the clocks differ by is known
		slack = leastBehind + p.behind/4
	}
	if p.clients {
		if p.b.VantageOf(i) == evidence.FromKernel { // its answer is out when the sending call returns: the reader may be quicker
			return slack, slack + sharp
		}
		return slack, slack
	}
	if p.outside {
		return slack, slack + grainOfLogs
	}
	return slack, slack + sharp // a log's line is written before the last of the answer
}

// canPair reports whether a row may be a traced request: of its route, and begun before it. The service's own record may begin with its handler.
func (p *pairing) canPair(i, row int, slack int64) bool {
	if !p.canBeRoute(p.r.Route.At(i), p.r.Route.At(row)) {
		return false
	}
	if p.keys != nil && p.r.Key.At(i) != 0 && p.r.Key.At(row) != 0 { // paired by them
		return false
	}
	early := p.leadTime(i, row)
	return early >= -slack-p.mostLater()
}

// mostLater returns how much (ns) a row may begin after its traced request, beyond the difference of clocks.
func (p *pairing) mostLater() int64 {
	switch {
	case p.clients:
		return 0
	case p.outside:
		return grainOfLogs
	}
	return Late
}

// byTheirEnd adds the rows that a traced request with a known end may be, up to so many, the nearest first. They are none of those taken.
func (p *pairing) byTheirEnd(all []candidate, i, kept int, taken evidence.Rows) []candidate {
	slack, before := p.clockRoom(i)
	began, _ := Whole(p.b, i)
	start, end, route := p.r.Start.At(i)-p.behind, p.r.End.At(i)-p.behind, p.r.Route.At(i)
	from, _ := slices.BinarySearch(p.ends, end-before)
	most, first := mostTried, len(all)
	if p.coarse {
		most = mostTriedCoarse
	}
	keyed := p.keys != nil && p.r.Key.At(i) != 0
	latest := slack + p.mostLater()
	for k := from; k < len(p.ends) && k-from < most && p.ends[k]-end <= slack+Late; k++ {
		if !p.coarse && len(all)-first == kept && p.ends[k]-end > all[len(all)-1].off { // all further ones end even later
			break
		}
		if start-p.sents[k] < -latest || !p.canBeRoute(route, p.names[k]) {
			continue
		}
		row := p.byEnd[k]
		if taken.Has(row) || keyed && p.r.Key.At(row) != 0 { // paired by it
			continue
		}
		c := candidate{Pair{i, row}, abs(p.ends[k] - end)}
		switch {
		case p.coarse && began:
			c.off = abs(p.r.Latency(row) - p.r.Latency(i))
		case began:
			c.off += min(abs(start-p.sents[k]), sharp)
		}
		all = keepNearest(all, first, c, kept)
	}
	return all
}

// byTheirBegin adds the rows that a traced request may be by its beginning, which comes a usual time (ns) after the sending: it had not ended with its trace, or its
// end tells less.
func (p *pairing) byTheirBegin(all []candidate, i int, usual int64) []candidate {
	slack, before := p.clockRoom(i)
	at := sort.Search(len(p.bySent), func(k int) bool { return p.leadTime(i, p.bySent[k]) <= usual })
	first := len(all)
	for _, way := range []int{-1, 1} {
		k := at
		if way < 0 {
			k--
		}
		for n := 0; n < mostTried && k >= 0 && k < len(p.bySent); n, k = n+1, k+way {
			row := p.bySent[k]
			if !p.taken.Has(row) && p.canPair(i, row, slack) && p.lagTime(i, row) >= -before {
				all = keepNearest(all, first, candidate{Pair{i, row}, abs(p.leadTime(i, row) - usual)}, mostKept)
			}
		}
	}
	return all
}

// pairThroughout pairs requests that were under way from the first moment of their trace to the
// last with rows that were, too, in the order of their ends.
func (p *pairing) pairThroughout(out []Pair, traced []int) []Pair {
	next := 0
	for _, i := range traced {
		slack, before := p.clockRoom(i)
		next = max(next, sort.Search(len(p.byEnd), func(k int) bool { return p.lagTime(i, p.byEnd[k]) >= -before }))
		for k := next; k < len(p.byEnd); k++ {
			row := p.byEnd[k]
			if !p.taken.Has(row) && p.canPair(i, row, slack) {
				p.taken.Add(row)
				out = append(out, Pair{i, row})
				break
			}
		}
	}
	return out
}

// ByClients says whether a row is a request as its client saw it: a load generator recorded it.
func ByClients(b *evidence.Bundle, row int) bool { return Clients(b)(row) }

// Clients answers [ByClients] for many rows.
func Clients(b *evidence.Bundle) func(row int) bool {
	loads := make(map[evidence.ArtifactID]bool)
	for _, l := range b.Loads {
		if a, ok := l.Origin.Artifact(); ok {
			loads[a] = true
		}
	}
	r := &b.Requests
	return func(row int) bool {
		a, ok := r.Origin.At(row).Artifact()
		return r.Intended.At(row) != 0 || ok && loads[a]
	}
}

func abs(v int64) int64 { return max(v, -v) }

// routesOf are the routes of rows. A traced request with one of these routes is no row of another; a request named differently, by its
// handler, may be any row.
func routesOf(r *evidence.Requests, rows []int) map[evidence.NameID]bool {
	known := make(map[evidence.NameID]bool)
	for _, j := range rows {
		if route := r.Route.At(j); route != 0 {
			known[route] = true
		}
	}
	return known
}

// Whole says whether the beginning and the end of a traced request lie within the trace.
func Whole(b *evidence.Bundle, row int) (began, ended bool) {
	r := &b.Requests
	if r.Outcome.At(row) != evidence.Unfinished {
		return true, true
	}
	a, _ := r.Origin.At(row).Artifact()
	for _, c := range b.Coverage {
		if o, ok := c.Origin.Artifact(); ok && o == a && c.Kind == evidence.CoverRequests {
			return r.Start.At(row) > c.From, r.End.At(row) < c.Until
		}
	}
	return false, false
}

// Sent returns when a row's request was sent, or received.
func Sent(r *evidence.Requests, row int) int64 {
	if r.Start.At(row) != 0 {
		return r.Start.At(row)
	}
	at := r.Intended.At(row)
	for s := range r.Path(row).All {
		if s.Kind == evidence.SentLate {
			at += s.Dur
		}
		break
	}
	return at
}
