package goheap

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Behind is what the collector cost through a pool. Requests wait for a place behind requests that keep theirs for longer while the
// collector works, and near a pool's limit its queue grows far more than that (Little's law gives the places it needs). The holder of a
// place is known for a part of the waits only, and some pools give out places in no order. So the pool is replayed as a queue for its
// places, with the times that requests kept one, and again with these times without the collector.
type Behind struct {
	Name     string
	Places   int     // places in use while others waited
	Observed int64   // ns that all requests waited for it
	Replayed int64   // ns that they do in the replay
	Without  int64   // ns that they do in the replay without the collector
	Part     float64 // collector's part of the time that places were kept

	saved map[int]int64 // ns by row
}

// fills is the collector's part of the time that a pool's places are kept from which it is a reason for their being used up. Below, it would be
// blamed for any pool that is too small.
const fills = .1

// place is one request on its way through a pool.
type place struct {
	row        int
	came       int64
	waited     int64
	from, till int64 // it kept a place
	known      bool  // its return of the place is known: it ended another request's wait
}

// replayPool replays the pool that requests waited for longest, for what the collector cost there;
// nil where there is none, where the replay does not give the time that was waited, or where the
// collector took little of the time that places were kept.
func (g *Process) replayPool() *Behind {
	name, all := g.listPlaces()
	if len(all) < queue.MinReplay {
		return nil
	}
	b := &Behind{Name: g.Bundle.Names.Text(name), Places: countTaken(all), saved: make(map[int]int64)}
	var came, kept, left []int64
	var keeps, collects float64
	for i := range all {
		p := &all[i]
		var gc int64
		g.Ledger.Walk(p.row, func(at int64, s evidence.Segment, ch *ledger.Charges) {
			if at < p.from || at >= p.till || s.Kind == evidence.PoolWait && s.Cause == name {
				return
			}
			part := float64(min(at+s.Dur, p.till)-at) / float64(max(1, s.Dur))
			gc += int64(part * float64(ch[ledger.MarkAssist]+ch[ledger.CollectorCPU]+ch[ledger.StopTheWorld]))
		})
		came, kept = append(came, p.came), append(kept, p.till-p.from)
		left = append(left, max(0, p.till-p.from-gc))
		b.Observed += p.waited
		keeps += float64(p.till - p.from)
		collects += float64(gc)
	}
	b.Part = collects / max(1, keeps)
	q := queue.Queue{Servers: max(1, b.Places)}
	with, err := q.Open(came, kept)
	if err != nil {
		return nil
	}
	without, err := q.Open(came, left)
	if err != nil {
		return nil
	}
	for i := range all {
		b.Replayed += with.Wait[i]
		b.Without += without.Wait[i]
	}
	if b.Part < fills || queue.Off(b.Observed, b.Replayed) > queue.Tolerance {
		return nil
	}
	// The order in which places are given out is unknown, so each request is spared in proportion.
	spared := max(0, 1-float64(b.Without)/float64(max(1, b.Replayed)))
	for i := range all {
		b.saved[all[i].row] = max(0, int64(spared*float64(all[i].waited))-g.holderGCTime(all[i].row, name))
	}
	return b
}

// savedTime returns the time (ns) that a request waited for the pool because of the collector,
// beyond the part of it in which its holder is known to have waited for the collector.
func (b *Behind) savedTime(row int) int64 {
	if b == nil {
		return 0
	}
	return b.saved[row]
}

// holderGCTime returns how long (ns) the holders of a pool that a request waited for are known to
// have waited for the collector, or behind others.
func (g *Process) holderGCTime(row int, pool evidence.NameID) (ns int64) {
	g.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
		if s.Kind == evidence.PoolWait && s.Cause == pool {
			root := ledger.Rooted(&s, ch)
			ns += root[ledger.MarkAssist] + root[ledger.CollectorCPU] + root[ledger.StopTheWorld] + root[ledger.RequestsCPU]
		}
	})
	return ns
}

// listPlaces returns the requests of the pool that was waited for longest, by when they came to
// it. Requests of a route go through it if some of the route waited there.
func (g *Process) listPlaces() (name evidence.NameID, all []place) {
	l, r := g.Ledger, &g.Bundle.Requests
	sums := make(map[evidence.NameID]int64)
	type through struct{ pool, route evidence.NameID }
	routes := make(map[through]bool)
	gave := make(map[evidence.LaneID][]int64) // when a lane ended another request's wait
	for _, row := range l.KnownRows() {
		at := r.Begins(row)
		for s := range r.Path(row).All {
			at += s.Dur
			if s.Kind == evidence.PoolWait && s.Cause != 0 {
				sums[s.Cause] += s.Dur
				routes[through{s.Cause, r.Route.At(row)}] = true
			}
		}
	}
	for k, v := range sums {
		if v > sums[name] || v == sums[name] && k < name {
			name = k
		}
	}
	for _, row := range l.KnownRows() {
		if r.Outcome.At(row) == evidence.Unfinished || !routes[through{name, r.Route.At(row)}] {
			continue
		}
		p := place{row: row, came: r.Begins(row), from: r.Begins(row), till: r.End.At(row)}
		at := r.Begins(row)
		var by evidence.LaneID
		for s := range r.Path(row).All {
			if s.Kind == evidence.PoolWait && s.Cause == name {
				if p.waited == 0 {
					p.came = at
				}
				p.waited += s.Dur
				p.from, by = at+s.Dur, s.Holder
			}
			at += s.Dur
		}
		if p.waited > 0 && by != 0 {
			gave[by] = append(gave[by], p.from)
		}
		all = append(all, p)
	}
	findGivenBack(r, all, gave)
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.came, b.came), cmp.Compare(a.row, b.row)) })
	return name, all
}

// findGivenBack finds when places were returned: when the request ended another's wait. Other requests return theirs as early, in proportion, as
// the median of these.
func findGivenBack(r *evidence.Requests, all []place, gave map[evidence.LaneID][]int64) {
	for _, at := range gave {
		slices.Sort(at)
	}
	var parts []float64
	for i := range all {
		p := &all[i]
		at := gave[r.Lane.At(p.row)]
		n, _ := slices.BinarySearch(at, p.from+1)
		if n < len(at) && at[n] <= p.till {
			parts = append(parts, float64(at[n]-p.from)/float64(p.till-p.from))
			p.till, p.known = at[n], true
		}
	}
	if len(parts) == 0 {
		return
	}
	slices.Sort(parts)
	usual := parts[len(parts)/2]
	for i := range all {
		if p := &all[i]; !p.known {
			p.till = p.from + int64(usual*float64(p.till-p.from))
		}
	}
}

// countTaken returns how many places were taken at once while a request waited for one, in the
// median of that time: where there is a limit, it is always the same.
func countTaken(all []place) int {
	type edge struct {
		at            int64
		waits, places int
	}
	var edges []edge
	for i := range all {
		p := &all[i]
		edges = append(edges, edge{p.from, 0, 1}, edge{p.till, 0, -1})
		if p.waited > 0 {
			edges = append(edges, edge{p.came, 1, 0}, edge{p.from, -1, 0})
		}
	}
	sorting.Short(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	times := make(map[int]int64)
	var waiting, places int
	var last, while int64
	for _, e := range edges {
		if waiting > 0 {
			times[places] += e.at - last
			while += e.at - last
		}
		waiting, places, last = waiting+e.waits, places+e.places, e.at
	}
	var sum int64
	for n := range math.MaxInt16 {
		if sum += times[n]; 2*sum >= while {
			return n
		}
	}
	return 0
}
