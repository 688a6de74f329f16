package ledger

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// poolQueue separates requests without a thread whose work waits in the queue of the runtime's pool from those that wait
// for something else: of 110 requests while 100 work items are queued, at least 10 wait for something else. It is a share
// of all and says nothing of a single request.
type poolQueue struct {
	steps
	items []float64
	cpus  float64
	pool  *metrics.Curve // its threads; nil: not known
}

// buildPoolQueue returns nil where the length of the pool's queue was not recorded or always 0.
func (l *Ledger) buildPoolQueue() *poolQueue {
	s := metrics.CurveOf(l.b, l.Subject, evidence.SeriesPoolQueue, metrics.Window{From: l.From, Until: l.To})
	if !s.Known() || !slices.ContainsFunc(s.V, func(v float64) bool { return v >= 1 }) {
		return nil
	}
	awaiting, outside := l.countAwaiting(), func(int64) float64 { return 0 }
	if l.Joined != nil {
		outside = l.countOutside()
	}
	q := &poolQueue{steps: steps{t: s.T}, items: s.V, cpus: float64(max(1, l.b.CPUsOf(l.Subject))),
		pool: metrics.CurveOf(l.b, l.Subject, evidence.SeriesPoolThreads, metrics.Window{From: l.From, Until: l.To})}
	for i, v := range s.V {
		q.share = append(q.share, v/max(1, v, float64(awaiting(s.T[i]))+outside(s.T[i])))
	}
	return q
}

// chargeCPUsWhileUnread moves the part of a wait for a thread of the runtime's pool, or to be read from a connection, in which the process kept
// the CPUs busy: the threads that would take the request up were ready then and did not run.
func (l *Ledger) chargeCPUsWhileUnread(s *evidence.Segment, c *Charges) {
	switch {
	case c[PoolThread] > 0 && !l.isWaitOf(s.Cause, evidence.EventLoop):
		l.moveToCPUs(c, PoolThread)
	case c[Queued] > 0 && l.isWaitOf(s.Cause, evidence.UnreadAt):
		l.moveToCPUs(c, Queued)
	}
}

func (l *Ledger) moveToCPUs(c *Charges, from Mechanism) {
	part := int64(l.Unread.Part * float64(c[from]))
	c[from], c[RequestsCPU] = c[from]-part, c[RequestsCPU]+part
}

// lengthAt returns the number of work items in the queue at a moment, interpolated between readings; 0 where unknown.
func (q *poolQueue) lengthAt(at int64) float64 {
	if q == nil {
		return 0
	}
	i, found := slices.BinarySearch(q.t, at)
	switch {
	case found:
		return q.items[i]
	case i == 0:
		return q.items[0]
	case i == len(q.t):
		return q.items[i-1]
	}
	part := float64(at-q.t[i-1]) / float64(q.t[i]-q.t[i-1])
	return q.items[i-1] + part*(q.items[i]-q.items[i-1])
}

// threadsAt returns the number of threads of the pool at a moment; the number of processors where that is not known.
func (q *poolQueue) threadsAt(at int64) float64 {
	if !q.pool.Known() {
		return q.cpus
	}
	i, found := slices.BinarySearch(q.pool.T, at)
	if !found {
		i = max(0, i-1)
	}
	return max(1, q.pool.V[i])
}

// isStandingAt reports whether more work items than running threads could take at once waited in the queue before and
// after a moment. Then the queue does not empty in between, and new items are behind others.
func (q *poolQueue) isStandingAt(at int64) bool {
	if q == nil {
		return false
	}
	i, found := slices.BinarySearch(q.t, at)
	if !found {
		i = max(0, i-1)
	}
	return q.items[i] >= q.cpus && q.items[min(i+1, len(q.items)-1)] >= q.cpus
}

// stretch is a time in ns.
type stretch struct{ from, to int64 }

// splitAtReadings splits a time at the readings of the queue's length.
func (q *poolQueue) splitAtReadings(from, to int64) (out []stretch) {
	if q != nil {
		for _, t := range q.t {
			if t > from && t < to {
				out = append(out, stretch{from, t})
				from = t
			}
		}
	}
	return append(out, stretch{from, to})
}
