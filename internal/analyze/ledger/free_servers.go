package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/evidence"
)

// What shows that requests queued before a service because its servers were taken, and how far a replay of that queue may be off.
const (
	nearlyAllServers = .9  // of the most requests that were in service at a time
	waitedForServers = .6  // part of the time before the service in which so many were in it
	queueReproduced  = .25 // relative error of the time that all requests waited before the service
)

// FreeServers returns how much shorter (ns) requests would wait before the service if each were shorter within it by what less returns for its
// row (ns). A thread that waits for a lock or a connection serves no other request: without that wait it takes the next one earlier. Requests are
// replayed through a queue with as many servers as there were requests in service at a time, where the replay reproduces how long they waited;
// else the wait shrinks as the service times do. It is 0 for all where requests did not wait for servers.
func (l *Ledger) FreeServers(less func(row int) int64) func(row int) int64 {
	none := func(int) int64 { return 0 }
	m := l.listArrivals()
	before, saved := make([]int64, len(m.rows)), make([]int64, len(m.rows))
	var waited, served, left int64
	for n, i := range m.rows {
		before[n] = min(l.BeforeService(i), m.observed[n])
		m.demand[n] = m.observed[n] - before[n]
		saved[n] = min(max(0, less(i)), m.demand[n])
		waited, served, left = waited+before[n], served+m.demand[n], left+m.demand[n]-saved[n]
	}
	if waited == 0 || left == served {
		return none
	}
	servers, full := serversOf(&m, before)
	if full < waitedForServers {
		return none
	}
	shorter := make(map[int]int64, len(m.rows))
	q := queue.Queue{Servers: servers}
	with, err := q.Open(m.arrive, m.demand)
	for n := range m.demand {
		m.demand[n] -= saved[n]
	}
	without, err2 := q.Open(m.arrive, m.demand)
	if err != nil || err2 != nil {
		return none
	}
	var model int64
	for _, w := range with.Wait {
		model += w
	}
	fits := queue.Off(waited, model) <= queueReproduced
	for n, i := range m.rows {
		part := 1 - float64(left)/float64(served)
		if fits && with.Wait[n] > 0 {
			part = max(0, 1-float64(without.Wait[n])/float64(with.Wait[n]))
		}
		shorter[i] = int64(part * float64(before[n]))
	}
	return func(row int) int64 { return shorter[row] }
}

// BeforeService returns how long (ns) a request waited before the service read it.
func (l *Ledger) BeforeService(row int) (ns int64) {
	var s evidence.Segment
	for p := l.b.Requests.Path(row); p.Next(&s); {
		switch s.Kind {
		case evidence.SentLate:
		case evidence.BeforeService:
			ns += s.Dur
		default:
			return ns
		}
	}
	return ns
}

// serversOf returns how many requests were in service at a time at most, and in which part of the time that requests waited before it
// nearly as many were.
func serversOf(m *replayed, before []int64) (servers int, full float64) {
	type edge struct {
		at            int64
		served, waits int64
	}
	var edges []edge
	for n, at := range m.arrive {
		begun, end := at+before[n], at+m.observed[n]
		edges = append(edges, edge{at, 0, 1}, edge{begun, 1, -1}, edge{end, -1, 0})
	}
	slices.SortFunc(edges, func(a, b edge) int { // a request that is done leaves before the next begins
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.served, b.served))
	})
	var in, most int64
	for _, e := range edges {
		in += e.served
		most = max(most, in)
	}
	in = 0
	var waits, last int64
	var all, there float64
	for _, e := range edges {
		took := float64(waits) * float64(e.at-last)
		all += took
		if float64(in) >= nearlyAllServers*float64(most) {
			there += took
		}
		in, waits, last = in+e.served, waits+e.waits, e.at
	}
	if all == 0 {
		return int(most), 0
	}
	return int(most), there / all
}
