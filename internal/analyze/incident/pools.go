package incident

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
)

// workerPool is a pool of workers to which other services pass requests on.
type workerPool struct {
	subject evidence.SubjectID
	wait    evidence.NameID // names the wait for one of its workers
	name    string

	callers []int // rows of the other services' requests that were passed on to it
	served  []int // rows of its own record of these requests
}

// followWorkerPools follows requests through a pool of workers. A web server's log says how long its upstream took;
// the pool's log says how long its workers worked on each request. The difference is the wait for a worker, because
// each worker serves one request at a time and waiting requests stand in the socket's backlog, where PHP counts no
// time. Looks at the workers tell how they spent their time.
//
// The two logs share no request id, and the pool's log has whole seconds. But all waiting requests stand in one queue,
// whatever they ask for, so that requests that arrive at about the same time wait for about as long: the time that they
// take beyond the pool's average for such requests. All waits of a time together are the callers' time less the pool's
// own, so that a time in which the pool's work itself takes longer adds no wait.
//
// It returns the subjects whose requests were followed from their callers.
func followWorkerPools(b *evidence.Bundle) (passedOn map[evidence.SubjectID]bool) {
	pools := poolsOf(b)
	if len(pools) == 0 {
		return nil
	}
	paths := make(map[int]evidence.Path)
	passedOn = make(map[evidence.SubjectID]bool)
	for _, p := range pools {
		if p.followRequests(b, paths) {
			passedOn[p.subject] = true
		}
	}
	if len(paths) > 0 {
		b.Requests.SetPaths(func(i int) evidence.Path { return paths[i] })
	}
	return passedOn
}

// poolsOf returns the pools whose listening address is known, with the requests that came there.
func poolsOf(b *evidence.Bundle) (all []*workerPool) {
	at := make(map[evidence.NameID]*workerPool)
	of := make(map[evidence.SubjectID][]*workerPool)
	for i := range b.Facts {
		f := &b.Facts[i]
		name, address, ok := strings.Cut(f.Value, evidence.Link)
		id := b.Names.Lookup(address)
		if f.Key != evidence.FactListens || !ok || id == 0 || at[id] != nil || !platform.ByID(b.Subjects[f.Subject].Runtime).Workers {
			continue
		}
		p := &workerPool{subject: f.Subject, name: name}
		at[id], of[f.Subject] = p, append(of[f.Subject], p)
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil
	}
	r := &b.Requests
	for i := range r.Len() {
		if !b.Clocks[r.Clock.At(i)].Anchored() || !r.Timed(i) {
			continue
		}
		if pools := of[r.Subject.At(i)]; len(pools) == 1 && r.Lane.At(i) == 0 && r.Intended.At(i) == 0 { // the log of several pools does not name the pool of a request
			pools[0].served = append(pools[0].served, i)
			continue
		}
		if _, p := findUpstreamPool(r.Path(i), at); p != nil && p.subject != r.Subject.At(i) {
			p.callers = append(p.callers, i)
		}
	}
	return slices.DeleteFunc(all, func(p *workerPool) bool {
		p.wait = b.Names.WaitID(evidence.Wait{Kind: evidence.WorkerPool, By: platform.ByID(b.Subjects[p.subject].Runtime).Title, Of: p.name})
		return len(p.callers) < leastPassed
	})
}

// findUpstreamPool returns the pool that a request was passed on to, by the address it waited for,
// and how long it waited for the answer, ns; nil if it was passed on to none.
func findUpstreamPool(path evidence.Path, at map[evidence.NameID]*workerPool) (ns int64, p *workerPool) {
	for s := range path.All {
		if x := at[s.Cause]; s.Kind == evidence.NetWait && x != nil {
			ns, p = ns+s.Dur, x
		}
	}
	return ns, p
}

const (
	// With fewer requests the mean means nothing.
	leastPassed = 20
	// The two logs must agree on the number of requests up to this factor: else the pool has other callers, or a part of its log is missing.
	aboutAll = 1.25
	// Means are compared over this time (ns): the pool's log has whole seconds, so that a shorter bin would hold a part
	// of the next one's requests.
	binWidth = 2e9
	// A request's wait is the median over this many requests before and after it in the queue.
	together = 7
)

// bin holds the requests that ended within one stretch of time.
type bin struct {
	passed, served         int
	passedTime, servedTime int64 // ns
	likely                 int64 // ns that its requests probably waited, estimated from their neighbours
}

// followRequests adds to paths where the requests that were passed on spent their time. It returns false where the
// evidence cannot tell.
func (p *workerPool) followRequests(b *evidence.Bundle, paths map[int]evidence.Path) bool {
	r := &b.Requests
	n, m := float64(len(p.callers)), float64(len(p.served))
	if m < leastPassed || max(n, m) > aboutAll*min(n, m) {
		return false
	}
	bins := make(map[int64]*bin)
	in := func(row int) *bin {
		k := r.End.At(row) / binWidth
		if bins[k] == nil {
			bins[k] = &bin{}
		}
		return bins[k]
	}
	took := make(map[int]int64, len(p.callers))
	for _, row := range p.callers {
		for s := range r.Path(row).All {
			if s.Kind == evidence.NetWait {
				took[row] += s.Dur
			}
		}
		x := in(row)
		x.passed++
		x.passedTime += took[row]
	}
	var whole bin
	for _, row := range p.served {
		x := in(row)
		x.served++
		x.servedTime += r.Latency(row)
	}
	likely := p.estimateWaits(b, took)
	for row, ns := range likely {
		in(row).likely += ns
	}
	for _, x := range bins {
		whole.likely += x.likely
		whole.passed, whole.served = whole.passed+x.passed, whole.served+x.served
		whole.passedTime, whole.servedTime = whole.passedTime+x.passedTime, whole.servedTime+x.servedTime
	}
	spent := workersSpent(b, p.subject)
	all := make([]service, 0, len(p.callers))
	for _, row := range p.callers {
		x := in(row)
		if x.passed < leastPassed || x.served < leastPassed {
			x = &whole
		}
		wait := min(x.estimateWait(likely[row]), took[row])
		all = append(all, service{row: row, route: r.Route.At(row), wait: wait, from: r.End.At(row) - (took[row] - wait), until: r.End.At(row), grain: b.Clocks[r.Clock.At(row)].Resolution})
	}
	parts := spent.shareLooks(all)
	for k, x := range all {
		row, wait := x.row, x.wait
		path := spent.appendWait(nil, r.End.At(row)-r.Latency(row), wait, p.wait)
		left := took[row] - wait
		for _, s := range parts[k] {
			s.Dur = min(int64(s.part*float64(took[row]-wait)), left)
			left -= s.Dur
			path = path.Append(s.Segment)
		}
		path = path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: r.Latency(row) - wait - (took[row] - wait - left)})
		paths[row] = path
	}
	return true
}

// appendWait appends a wait for a worker to a path, split by what the workers did during the wait. Where a worker was
// idle, that worker or the host was late, and the wait stays unobserved.
func (s *spending) appendWait(path evidence.Path, began, wait int64, pool evidence.NameID) evidence.Path {
	if s.hadIdleWorker(began, began+wait) { // an idle worker means that it, or the host, was late
		return path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: wait})
	}
	left := wait
	for _, x := range s.statesBetween(began, began+wait) {
		d := min(int64(x.part*float64(wait)), left)
		left -= d
		path = path.Append(evidence.Segment{Kind: evidence.PoolWait, Dur: d, Cause: pool, HolderKind: x.Kind, HolderCause: x.Cause})
	}
	return path.Append(evidence.Segment{Kind: evidence.PoolWait, Dur: left, Cause: pool})
}

// estimateWait scales the probable wait of a request (ns) so that the requests of its bin together waited for the time
// that callers saw beyond the pool's work.
func (x *bin) estimateWait(likely int64) int64 {
	mean := max(0, x.passedTime/int64(x.passed)-x.servedTime/int64(x.served))
	if x.likely == 0 {
		return mean
	}
	return int64(float64(likely) * float64(mean) * float64(x.passed) / float64(x.likely))
}

// estimateWaits returns by row how much longer (ns) each request took than the pool's average for its route, as the
// median over the requests that ended at about the same time. It returns nil where the pool's log names routes
// differently.
func (p *workerPool) estimateWaits(b *evidence.Bundle, took map[int]int64) map[int]int64 {
	r := &b.Requests
	type mean struct{ sum, n int64 }
	work := make(map[evidence.NameID]mean)
	for _, row := range p.served {
		x := work[r.Route.At(row)]
		work[r.Route.At(row)] = mean{x.sum + r.Latency(row), x.n + 1}
	}
	rows := slices.Clone(p.callers)
	slices.SortFunc(rows, func(i, j int) int { return cmp.Or(cmp.Compare(r.End.At(i), r.End.At(j)), cmp.Compare(i, j)) })
	longer := make([]int64, len(rows))
	for k, row := range rows {
		x := work[r.Route.At(row)]
		if x.n == 0 {
			return nil
		}
		longer[k] = took[row] - x.sum/x.n
	}
	out := make(map[int]int64, len(rows))
	for k, row := range rows {
		near := slices.Clone(longer[max(0, k-together):min(len(longer), k+together+1)])
		slices.Sort(near)
		out[row] = max(0, near[len(near)/2])
	}
	// All requests of a route together waited for their time beyond the pool's work.
	beyond := make(map[evidence.NameID]mean)
	for k, row := range rows {
		x := beyond[r.Route.At(row)]
		beyond[r.Route.At(row)] = mean{x.sum + longer[k] - out[row], x.n + 1}
	}
	for _, row := range rows {
		if x := beyond[r.Route.At(row)]; x.n >= leastPassed && work[r.Route.At(row)].n >= leastPassed {
			out[row] = max(0, out[row]+x.sum/x.n)
		}
	}
	return out
}
