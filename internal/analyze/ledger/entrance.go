package ledger

import (
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// entrance is the part of the requests that clients wait for, and that the service has not seen, that waits at one of its
// sockets: of 100 such requests while 94 connections are in the queue of a socket, 94 wait there (Little's law). It is a
// share of all requests and says nothing of a single one.
type entrance struct {
	queues []entranceQueue   // connections that wait to be accepted
	unread []entranceQueue   // connections that are accepted and not read, for time of which nothing else is known
	inside map[int64]float64 // connections in the queues, by the time of the count
	t      []int64
}

// entranceQueue is the queue of one socket, as a share of the requests outside.
type entranceQueue struct {
	cause evidence.NameID
	steps
}

// steps are shares, each of which holds until the next moment.
type steps struct {
	t     []int64 // ns: from when on
	share []float64
}

// meanShare returns the mean share over the time from at, dur long. The first share also holds before the first moment.
func (q *steps) meanShare(at, dur int64) float64 {
	if dur <= 0 || len(q.t) == 0 {
		return 0
	}
	i, found := slices.BinarySearch(q.t, at)
	if !found {
		i = max(0, i-1)
	}
	var sum float64
	for end := at + dur; at < end; i++ {
		until := end
		if i+1 < len(q.t) {
			until = min(end, max(at, q.t[i+1]))
		}
		sum += q.share[i] * float64(until-at)
		at = until
	}
	return sum / float64(dur)
}

// entranceOf returns nil where the recording has no counts of waiting connections or no rows from outside the service, and where no connection waits.
func (l *Ledger) entranceOf() *entrance {
	if !l.FromOutside() || !l.b.Clocks[l.b.Requests.Clock.At(l.Rows[0])].Anchored() {
		return nil
	}
	all := metrics.ListenQueues(l.b, l.Subject)
	if !slices.ContainsFunc(all, func(q metrics.ListenQueue) bool { return q.Most() >= 1 || q.MostUnread() >= 1 }) {
		return nil
	}
	outside := l.countOutside()
	e := &entrance{inside: make(map[int64]float64)}
	shares := func(kind evidence.WaitKind, address string, c *metrics.Curve) entranceQueue {
		x := entranceQueue{cause: l.b.Names.WaitID(evidence.Wait{Kind: kind, Of: address})}
		for k, t := range c.T {
			x.t, x.share = append(x.t, t), append(x.share, min(1, c.V[k]/math.Max(1, math.Max(c.V[k], outside(t)))))
		}
		return x
	}
	for i := range all {
		q := &all[i]
		e.queues = append(e.queues, shares(evidence.AcceptQueueOf, q.Address, q.Waiting))
		for k, t := range q.Waiting.T {
			e.inside[t] += q.Waiting.V[k]
		}
		if q.Unread.Known() {
			e.unread = append(e.unread, shares(evidence.UnreadAt, q.Address, q.Unread))
		}
	}
	for t := range e.inside {
		e.t = append(e.t, t)
	}
	slices.Sort(e.t)
	return e
}

// isUnread reports whether requests outside are in accepted connections that the service has not read, for most of a time.
func (e *entrance) isUnread(at, dur int64) bool {
	return e != nil && slices.ContainsFunc(e.unread, func(q entranceQueue) bool { return q.meanShare(at, dur) >= mostQueued })
}

// hasQueue reports whether one of the queues has a name.
func (e *entrance) hasQueue(cause evidence.NameID) bool {
	of := func(q entranceQueue) bool { return q.cause == cause }
	return e != nil && cause != 0 && (slices.ContainsFunc(e.queues, of) || slices.ContainsFunc(e.unread, of))
}

// countOutside returns a function that counts the requests at a moment that the service has not seen: those before the
// service where their states are known, else all that are under way.
func (l *Ledger) countOutside() func(at int64) float64 {
	var starts, ends []int64
	r := &l.b.Requests
	for _, row := range l.Rows {
		from, to := l.sentAt(row), r.End.At(row)
		if l.byKernel || l.Joined != nil && r.Path(row).Followed() {
			to = from
			var s evidence.Segment
			for p := r.Path(row); p.Next(&s); {
				if s.Kind == evidence.BeforeService {
					to = from + s.Dur
					break
				}
				if s.Kind != evidence.SentLate {
					break
				}
			}
		}
		if to > from {
			starts, ends = append(starts, from), append(ends, to)
		}
	}
	slices.Sort(starts)
	slices.Sort(ends)
	return func(at int64) float64 { return float64(countBefore(starts, at+1) - countBefore(ends, at)) }
}

// isWaitOf reports whether a cause names a wait of a kind.
func (l *Ledger) isWaitOf(cause evidence.NameID, kind evidence.WaitKind) bool {
	return cause != 0 && l.b.Names.Wait(cause).Kind == kind
}

// connectionsAt returns how many connections wait at a moment.
func (e *entrance) connectionsAt(at int64) float64 {
	if e == nil {
		return 0
	}
	i, found := slices.BinarySearch(e.t, at)
	if !found {
		i = max(0, i-1)
	}
	return e.inside[e.t[i]]
}

// chargeEntrance charges the queues at the entrance for the beginning of a time before the service, or of which nothing
// is known. It leaves out stop-the-world time; the shares refer to the whole time, including what was already charged.
func (w *walker) chargeEntrance(queues []entranceQueue, f *freeTime) {
	for i := range queues {
		q := &queues[i]
		w.chargeBeginning(f, evidence.Segment{Kind: evidence.BeforeService, Cause: q.cause}, int64(q.meanShare(f.began, f.took)*float64(f.took-f.stopped)), Queued)
	}
}
