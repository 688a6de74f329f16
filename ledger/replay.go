package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/stats"
)

// Replay is what became of running a ledger's requests through a queue with the
// pauses and without (package predict). What pauses stop directly is seen; what
// waits afterwards, behind a pause's backlog, is not, and a replay can say how
// much of it would not have been. It splits only time without a state:
//
//   - The time before Start, where the source says when a request was meant to
//     be sent and when work on it began. Demands are then observed (from Start
//     to End, less the pauses), and so is the number of servers: how many were
//     ever worked on at once. When each begins is what the model predicts.
//   - The unlabelled time of logs that have a duration only. Their demands are
//     not observed. Taking each request's own latency apart in first-come order
//     would reproduce any log exactly and so prove nothing; therefore every
//     request of a route is given one demand, the median latency of those that
//     ran far from a pause, and the servers are the process's processors. That
//     reproduces a log's p50 and p99 only where pauses and the queue behind them
//     are what makes its tail. Routes of widely varying work, work outside the
//     process, and waits for an upstream therefore end in "not used", and their
//     time stays unobserved. Logs whose stamps are coarser than a pause are
//     never replayed.
//
// What it moves is bounded by what was observed: a request cannot have waited
// longer than it took.
type Replay struct {
	Used    bool
	Why     string // why it is not used, "" if it is
	Splits  Mechanism
	Servers int
	Fit     predict.Fit
}

// amplified is what a replay moves of one request, ns.
type amplified struct{ ns, low, high int64 }

// replay runs the model where it is allowed.
func (l *Ledger) replay() {
	reach, typical := l.stops.hi-l.stops.lo, l.stops.typical()
	switch {
	case typical == 0:
		l.Replay.Why = "no pause is known on the requests' timeline"
	case reach > typical:
		l.Replay.Why = fmt.Sprintf("the clocks of requests and pauses may be %v apart, and a pause lasts %v", time.Duration(reach), time.Duration(typical))
	case len(l.Rows) < predict.MinReplay:
		l.Replay.Why = fmt.Sprintf("a replay needs at least %d requests, there are %d", predict.MinReplay, len(l.Rows))
	case l.queues():
		l.replayQueue()
	case l.Traced:
		l.Replay.Why = "every request's states are known"
	default:
		l.replayLog()
	}
	if !l.Replay.Used {
		l.moved = nil
	}
}

// queues says whether requests are known to have waited before Start.
func (l *Ledger) queues() bool {
	r := &l.b.Requests
	return slices.ContainsFunc(l.Rows, func(i int) bool { return r.Intended[i] != 0 && r.Start[i] > r.Intended[i] })
}

// replayed is a model's input, in order of arrival.
type replayed struct {
	rows                     []int
	arrive, demand, observed []int64
}

func (l *Ledger) arrivals() (m replayed) {
	r := &l.b.Requests
	began := func(i int) int64 { return r.End[i] - r.Latency(i) }
	m.rows = slices.Clone(l.Rows)
	slices.SortFunc(m.rows, func(i, j int) int { return cmp.Or(cmp.Compare(began(i), began(j)), cmp.Compare(i, j)) })
	m.demand = make([]int64, len(m.rows))
	for _, i := range m.rows {
		m.arrive = append(m.arrive, began(i))
		m.observed = append(m.observed, r.Latency(i))
	}
	return m
}

// run replays with the pauses moved by −d, that is with every request moved by d.
func (l *Ledger) run(m *replayed, d int64) (predict.Replay, bool) {
	q := predict.Queue{Servers: l.Replay.Servers, Stops: make([]predict.Stop, len(l.stops.pauses))}
	for i, p := range l.stops.pauses {
		q.Stops[i] = predict.Stop{From: p.from - d, To: p.to - d}
	}
	out, err := q.Replay(m.arrive, m.demand, m.observed)
	if err != nil {
		l.Replay.Why = err.Error()
		return out, false
	}
	return out, true
}

// shifts are the positions tried: the middle one is what is charged, the
// others widen the bounds.
func (l *Ledger) shifts() []int64 {
	if l.stops.lo == l.stops.hi {
		return []int64{l.stops.lo}
	}
	return []int64{(l.stops.lo + l.stops.hi) / 2, l.stops.lo, l.stops.hi}
}

// note records what one run moves; the first run is what is charged.
func (l *Ledger) note(rows []int, first bool, moved func(n int) int64) {
	if first {
		l.moved = make(map[int]amplified)
	}
	for n, row := range rows {
		v := moved(n)
		a, ok := l.moved[row]
		switch {
		case first && v > 0:
			l.moved[row] = amplified{v, v, v}
		case !first && (ok || v > 0):
			l.moved[row] = amplified{a.ns, min(a.low, v), max(a.high, v)}
		}
	}
}

// replayQueue splits the time before Start.
func (l *Ledger) replayQueue() {
	r := &l.b.Requests
	l.Replay.Splits = Queued
	m := l.arrivals()
	queued := make([]int64, len(m.rows))
	var waited, busy, most int64
	var edges []int64 // twice the time at which a request's work begins (odd) or ends
	for n, i := range m.rows {
		start := min(max(r.Start[i], m.arrive[n]), r.End[i])
		queued[n] = start - m.arrive[n]
		waited += queued[n]
		if r.End[i] > start {
			edges = append(edges, 2*start+1, 2*r.End[i])
		}
	}
	if waited == 0 {
		l.Replay.Why = "no request waited before it began"
		return
	}
	slices.Sort(edges)
	for _, e := range edges {
		busy += 2*(e&1) - 1
		most = max(most, busy)
	}
	l.Replay.Servers = int(max(most, 1))
	for k, d := range l.shifts() {
		for n, i := range m.rows {
			start := m.arrive[n] + queued[n]
			m.demand[n] = r.End[i] - start - l.stops.overlap(start+d, r.End[i]+d)
		}
		out, ok := l.run(&m, d)
		if !ok {
			return
		}
		if k == 0 && !l.reproduces(out, waited) {
			return
		}
		l.note(m.rows, k == 0, func(n int) int64 {
			return min(queued[n], max(0, out.With.Wait[n]-out.Without.Wait[n]))
		})
	}
}

// reproduces takes the fit, and asks for more: latencies that consist of service
// agree with any queue, so the waits must agree as well.
func (l *Ledger) reproduces(out predict.Replay, waited int64) bool {
	l.Replay.Fit, l.Replay.Why = out.Fit, out.Fit.Why
	if !out.Fit.Used {
		return false
	}
	var model int64
	for _, w := range out.With.Wait {
		model += w
	}
	off := math.Abs(float64(model-waited)) / float64(waited)
	if off > predict.Tolerance {
		l.Replay.Why = fmt.Sprintf("the replay's requests wait %.1f ms before they begin where %.1f ms were observed: more than %.0f %% off",
			float64(model)/1e6, float64(waited)/1e6, 100*predict.Tolerance)
		return false
	}
	l.Replay.Fit.Error = max(l.Replay.Fit.Error, off)
	l.Replay.Used = true
	return true
}

// replayLog splits the unlabelled time of requests that have a duration only.
func (l *Ledger) replayLog() {
	r := &l.b.Requests
	l.Replay.Splits = Unobserved
	l.Replay.Servers = l.b.Subjects[l.Subject].CPUs
	if l.Replay.Servers == 0 {
		l.Replay.Why = "the number of processors is not known"
		return
	}
	if slices.ContainsFunc(l.Rows, func(i int) bool { return len(r.Path(i)) > 0 }) {
		l.Replay.Why = "requests wait for something whose place in them is not known"
		return
	}
	m := l.arrivals()
	quiet, all := l.quiet(&m)
	if len(all) < MinRequests {
		l.Replay.Why = fmt.Sprintf("%d requests ran far from any pause, too few to know what a request needs", len(all))
		return
	}
	for k, q := range []float64{.5, .25, .75} {
		for n, i := range m.rows {
			v := quiet[r.Route[i]]
			if len(v) < MinRequests {
				v = all
			}
			m.demand[n] = stats.Quantile(v, q)
		}
		for j, d := range l.shifts() {
			out, ok := l.run(&m, d)
			if !ok {
				return
			}
			first := k+j == 0
			if first {
				l.Replay.Fit, l.Replay.Used, l.Replay.Why = out.Fit, out.Fit.Used, out.Fit.Why
				if !out.Fit.Used {
					return
				}
			}
			l.note(m.rows, first, func(n int) int64 {
				stopped := l.stops.mean(r.Start[m.rows[n]], r.End[m.rows[n]])
				without := out.Without.Latency[n]
				return max(0, min(out.With.Latency[n]-without, m.observed[n]-without)-stopped)
			})
		}
	}
}

// quiet are the latencies of requests that no pause can have met, nor the
// backlog of one: none begins within the longest pause after one. They are
// sorted, by route and in all.
func (l *Ledger) quiet(m *replayed) (byRoute map[evidence.NameID][]int64, all []int64) {
	var longest int64
	for _, p := range l.stops.pauses {
		longest = max(longest, p.to-p.from)
	}
	byRoute = make(map[evidence.NameID][]int64)
	r := &l.b.Requests
	for n, i := range m.rows {
		if r.Outcome[i] != evidence.Unfinished && l.stops.overlap(m.arrive[n]+l.stops.lo-longest, r.End[i]+l.stops.hi) == 0 {
			byRoute[r.Route[i]] = append(byRoute[r.Route[i]], m.observed[n])
			all = append(all, m.observed[n])
		}
	}
	for _, v := range byRoute {
		slices.Sort(v)
	}
	slices.Sort(all)
	return byRoute, all
}

// movedBounds is the least and the most of the slow requests' time that the
// replay can move: over the positions that the clocks allow and, for logs, over
// the quartiles of what a request needs, and wider by how far it misses what
// was observed.
func (l *Ledger) movedBounds() (low, high float64) {
	for _, row := range l.Slow {
		a := l.moved[row]
		low += float64(a.low)
		high += float64(a.high)
	}
	return low * (1 - l.Replay.Fit.Error), high * (1 + l.Replay.Fit.Error)
}
