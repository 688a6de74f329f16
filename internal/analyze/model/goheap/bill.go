package goheap

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Bill is what the collector cost requests. Its parts are counterfactual:
//
//	direct   assists and other waits for the collector, waiting for a processor
//	         that mark workers held, stop-the-world pauses of cycles; all of it also of
//	         those who held a lock or a pool that the request waited for
//	knock-on waiting behind other requests while a cycle marked, beyond what
//	         requests that met no cycle wait
//	pool     waiting for a pool whose places are kept for longer while the collector works
//	slower   running longer while a cycle marked than requests that met none
//	         (write barriers, caches, memory bandwidth)
type Bill struct {
	Direct, KnockOn, Slower int64   // ns of all slow requests
	Pool                    int64   // ns of them that the replay of a pool gives
	Behind                  *Behind // that pool; nil: none
	Slow                    []int64 // ns of each of them
	InMark                  int64   // ns of slow requests' time that lies inside cycles
	Overlap, Free           int     // requests that met a cycle, and that met none
	MeanOverlap, MeanFree   float64 // ns
	less                    perRow
}

// perRow is a time (ns) for each of some requests, by their rows; zero for others. A map of all of a recording's requests
// would take several times as much memory.
type perRow struct {
	first int
	ns    []int64
}

func perRowOf(rows []int) perRow {
	if len(rows) == 0 {
		return perRow{}
	}
	first := slices.Min(rows)
	return perRow{first, make([]int64, slices.Max(rows)-first+1)}
}

func (p *perRow) timeOf(row int) int64 {
	if i := row - p.first; i >= 0 && i < len(p.ns) {
		return p.ns[i]
	}
	return 0
}

// Total returns the sum of all parts.
func (b *Bill) Total() int64 { return b.Direct + b.KnockOn + b.Slower + b.Pool }

// markSpans returns the marking phases as seen by the artifact that g was read from: another artifact's clock may be off
// by more than a phase.
func (g *Process) markSpans() metrics.Spans { return g.marksIn(nil) }

// marksIn returns the phases that lie in some cycles; nil: in any.
func (g *Process) marksIn(cycles []metrics.Cycle) metrics.Spans {
	v := &g.Bundle.Intervals
	want, _ := g.Origin.Artifact()
	var out metrics.Spans
	for _, i := range v.Select(evidence.GCMark, g.Subject) {
		if a, _ := v.Origin.At(i).Artifact(); a != want || cycles != nil && !liesInCycle(cycles, v.Start[i]) {
			continue
		}
		out = out.Add(v.Start[i], v.End[i])
	}
	return out
}

// liesInCycle reports whether a moment lies in one of some cycles, which are sorted.
func liesInCycle(cycles []metrics.Cycle, at int64) bool {
	n, began := slices.BinarySearchFunc(cycles, at, func(x metrics.Cycle, at int64) int { return cmp.Compare(x.From, at) })
	return began || n > 0 && at <= cycles[n-1].To
}

// countMeeting counts a request as meeting a cycle or not, and reports which.
func (b *Bill) countMeeting(marks metrics.Spans, from, to int64) bool {
	if marks.Within(from, to) > 0 {
		b.Overlap++
		b.MeanOverlap += (float64(to-from) - b.MeanOverlap) / float64(b.Overlap)
		return true
	}
	b.Free++
	b.MeanFree += (float64(to-from) - b.MeanFree) / float64(b.Free)
	return false
}

// Bill charges the collector. It needs traced requests.
func (g *Process) Bill() *Bill { return g.buildBill(g.markSpans(), true) }

// BillOf charges only some cycles, which are sorted: their cost while they mark, and nothing behind a pool.
func (g *Process) BillOf(cycles []metrics.Cycle) *Bill { return g.buildBill(g.marksIn(cycles), false) }

// buildBill charges the collector's work while it marks and, if all cycles are charged, its other work.
func (g *Process) buildBill(marks metrics.Spans, all bool) *Bill {
	l := g.Ledger
	r := &g.Bundle.Requests
	b := &Bill{less: perRowOf(l.Rows)}

	// Needs of a route's requests that met no cycle.
	type control struct{ n, own, queue float64 }
	free := make(map[evidence.NameID]*control)
	for _, row := range l.Rows {
		if !l.Known(row) || b.countMeeting(marks, r.Begins(row), r.End.At(row)) {
			continue
		}
		charges := l.OfRoots(row)
		k := free[r.Route.At(row)]
		if k == nil {
			k = &control{}
			free[r.Route.At(row)] = k
		}
		k.n++
		k.own += float64(charges[ledger.Own])
		k.queue += float64(charges[ledger.RequestsCPU])
	}

	slow := evidence.NewRows(r.Len())
	for _, row := range l.Slow {
		slow.Add(row)
	}
	if all {
		b.Behind = g.replayPool()
	}
	for _, row := range l.Rows {
		in := marks.Within(r.Begins(row), r.End.At(row))
		if !l.Known(row) || in == 0 && b.Behind.savedTime(row) == 0 {
			continue
		}
		var direct, queue, own, ownIn int64
		l.Walk(row, func(at int64, s evidence.Segment, ch *ledger.Charges) {
			root := ledger.Rooted(&s, ch) // holders of a lock or a pool wait for the collector, too
			gc := root[ledger.MarkAssist] + root[ledger.CollectorCPU] + root[ledger.StopTheWorld]
			if all {
				direct += gc
			}
			own += ch[ledger.Own]
			if root[ledger.RequestsCPU]+ch[ledger.Own]+gc == 0 || s.Dur == 0 {
				return
			}
			part := float64(marks.Within(at, at+s.Dur)) / float64(s.Dur)
			if !all {
				direct += int64(part * float64(gc))
			}
			queue += int64(part * float64(root[ledger.RequestsCPU]))
			ownIn += int64(part * float64(ch[ledger.Own]))
		})
		var knockOn, slower int64
		if k := free[r.Route.At(row)]; k != nil && k.n >= ledger.MinRequests {
			knockOn = max(0, queue-int64(k.queue/k.n))
			slower = max(0, min(ownIn, own-int64(k.own/k.n)))
		}
		pool := b.Behind.savedTime(row)
		b.less.ns[row-b.less.first] = direct + knockOn + slower + pool
		if slow.Has(row) {
			b.Direct += direct
			b.KnockOn += knockOn
			b.Slower += slower
			b.Pool += pool
			b.InMark += in
		}
	}
	b.forAll(l)
	return b
}

// forAll extrapolates from traced slow requests to the bill of all slow ones.
func (b *Bill) forAll(l *ledger.Ledger) {
	b.Slow = make([]int64, len(l.Slow))
	likely := l.Likely(b.less.timeOf)
	var known, all int64
	for n, row := range l.Slow {
		b.Slow[n] = likely(row)
		known, all = known+b.less.timeOf(row), all+b.Slow[n]
	}
	for n, row := range l.Slow {
		b.less.ns[row-b.less.first] = b.Slow[n]
	}
	if by := float64(all) / float64(max(1, known)); all > known {
		for _, part := range []*int64{&b.Direct, &b.KnockOn, &b.Slower, &b.Pool, &b.InMark} {
			*part = int64(float64(*part) * by)
		}
	}
}

// byChance is the part of the time between cycles from which on clocks are too far apart to tell which requests met one.
const byChance = .1

// Meetings compares requests without known states by whether a cycle marked while they ran; nil where the clocks do not
// allow it. Its bill is the time by which slow requests that met a cycle exceeded those of their route that met none: an
// upper bound, because long requests meet more of everything.
func (g *Process) Meetings() *Bill {
	l := g.Ledger
	if l == nil || len(l.Rows) < 2*ledger.MinRequests {
		return nil
	}
	marks := g.markSpans()
	r := &g.Bundle.Requests
	slack := g.Bundle.Clocks[r.Clock.At(l.Rows[0])].Slack()
	want, _ := g.Origin.Artifact()
	for _, w := range g.Bundle.Covered(g.Subject, evidence.CoverGC) {
		if a, _ := w.Origin.Artifact(); a == want {
			slack = max(slack, g.Bundle.Clocks[w.Clock].Slack())
		}
	}
	if len(marks) < ledger.MinRequests || g.Rate.Number == 0 || float64(slack) > byChance*1e9/g.Rate.Number {
		return nil
	}
	b := &Bill{}
	free := make(map[evidence.NameID][2]float64)
	for _, row := range l.Rows {
		if b.countMeeting(marks, r.Begins(row), r.End.At(row)) {
			continue
		}
		f := free[r.Route.At(row)]
		free[r.Route.At(row)] = [2]float64{f[0] + 1, f[1] + float64(r.Latency(row))}
	}
	if b.Overlap < ledger.MinRequests || b.Free < ledger.MinRequests {
		return nil
	}
	for _, row := range l.Slow {
		if f := free[r.Route.At(row)]; f[0] >= ledger.MinRequests && marks.Within(r.Begins(row), r.End.At(row)) > 0 {
			b.Direct += max(0, r.Latency(row)-int64(f[1]/f[0]))
		}
	}
	return b
}

// Without returns by how much each request would be shorter with another outcome of the collector.
func (b *Bill) Without(now, then Outcome) func(row int) int64 {
	left := remainingShare(now, then)
	return func(row int) int64 { return int64(float64(b.less.timeOf(row)) * (1 - left)) }
}

// mostLeft bounds how much longer a request may become: the recording says little of a collector that works twice as much.
const mostLeft = 2

// remainingShare returns the part of the collector's work that remains.
func remainingShare(now, then Outcome) float64 {
	left := then.Collector.Value / now.Collector.Value
	if math.IsNaN(left) || left < 0 {
		return 1
	}
	return min(left, mostLeft)
}
