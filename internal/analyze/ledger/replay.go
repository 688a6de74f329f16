package ledger

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Replay is the result of running a ledger's requests through a queue with the pauses and without (package queue). The
// time that pauses stop requests directly is seen. The later wait behind a pause's backlog is not seen; a replay can say
// how much of it would not have been. It splits only time without a state:
//
//   - The time before Start, where the source says when a request was meant to be sent and when work on it began. Demands
//     are then observed (from Start to End, less the pauses), and so is the number of servers: the largest number of
//     requests worked on at once. The model predicts when each begins.
//   - The unlabelled time of logs that have only a duration. Their demands are not observed. Giving each request the
//     demand that its own latency implies in first-come order would reproduce any log exactly and so prove nothing.
//     Therefore demands are drawn at random from those of the route's requests that ran far from a pause, the servers are
//     the process's processors, and the run must also reproduce the total time of the requests near pauses. A draw says
//     nothing of one request: the figure is that of all. The model fails, and the time stays unobserved, where requests
//     mostly wait for something else than processors or come in an order that the stamps do not show. The time of
//     requests with labelled waits, and of logs whose stamps are coarser than a pause, stays unobserved too.
//
// Observations bound what it moves: a request cannot have waited longer than it took.
type Replay struct {
	Used    bool
	Why     string // why the replay is not used, "" if it is
	Splits  Mechanism
	Servers int
	Fit     queue.Fit
}

// amplified is what a replay moves of one request, ns.
type amplified struct{ ns, low, high int64 }

// runReplay runs the model where it is allowed.
func (l *Ledger) runReplay() {
	reach, typical := l.stops.hi-l.stops.lo, l.stops.typicalPause()
	switch {
	case typical == 0:
		l.Replay.Why = "no pauses are known at the time of the requests"
	case reach > typical:
		l.Replay.Why = fmt.Sprintf("the clocks of requests and pauses may differ by %s, which is more than a pause lasts (%s)", units.Time(float64(reach)), units.Time(float64(typical)))
	case l.ownCPUs >= overloadedFrom:
		l.Replay.Why = fmt.Sprintf("the service's own work keeps %.0f %% of the CPUs busy: requests queue for CPUs, with or without pauses", 100*l.ownCPUs)
	case len(l.Rows) < queue.MinReplay:
		l.Replay.Why = fmt.Sprintf("a replay needs at least %d requests, and there are %d", queue.MinReplay, len(l.Rows))
	case l.hasQueuedRequests():
		l.replayQueue()
	case l.Traced:
		l.Replay.Why = "not needed: the states of every request are known"
	default:
		if l.replayLog(); !l.Replay.Used && l.Replay.Servers > 0 {
			l.moved = nil
			l.replayWork()
		}
	}
	if !l.Replay.Used {
		l.moved = nil
	}
}

// overloadedFrom is the part of the processors left by others from which a service's own work alone makes the queue grow:
// then it is overload, and a pause costs only its own time.
const overloadedFrom = .9

// ownCPUShare returns the part of the processors, of those that others leave, that the service's own work without the
// collector's pauses keeps busy; 0 where that was not watched.
func (l *Ledger) ownCPUShare() float64 {
	cpu, host := l.cpuAndHost()
	cores := float64(l.b.CPUsOf(l.Subject))
	w := metrics.Window{From: l.From, Until: l.To}
	used := cpu.Over(w)
	if cores == 0 || l.To <= l.From || !used.MostlyKnown() {
		return 0
	}
	own := used.Number - l.sumCollectorCPU()(l.From, l.To)/w.Seconds()
	return max(0, min(1, own/host.Left(cores, w)))
}

// hasQueuedRequests reports whether requests are known to have waited before Start.
func (l *Ledger) hasQueuedRequests() bool {
	r := &l.b.Requests
	return slices.ContainsFunc(l.Rows, func(i int) bool { return r.Intended.At(i) != 0 && r.Start.At(i) > r.Intended.At(i) })
}

// replayed is a model's input, in order of arrival.
type replayed struct {
	rows                     []int
	arrive, demand, observed []int64
}

func (l *Ledger) listArrivals() (m replayed) {
	m.rows = slices.Clone(l.Rows)
	slices.SortFunc(m.rows, func(i, j int) int { return cmp.Or(cmp.Compare(l.sentAt(i), l.sentAt(j)), cmp.Compare(i, j)) })
	m.demand = make([]int64, len(m.rows))
	for _, i := range m.rows {
		m.arrive = append(m.arrive, l.sentAt(i))
		m.observed = append(m.observed, l.b.Requests.End.At(i)-l.sentAt(i))
	}
	return m
}

// sentAt returns when a request was sent (ns), which may be later than intended.
func (l *Ledger) sentAt(row int) int64 {
	r := &l.b.Requests
	return min(r.End.At(row), r.End.At(row)-r.Latency(row)+sendLag(r.Path(row)))
}

// sendLag returns how late (ns) a generator sent a request.
func sendLag(p evidence.Path) (ns int64) {
	var s evidence.Segment
	if p.Next(&s) && s.Kind == evidence.SentLate {
		return s.Dur
	}
	return 0
}

// isPlaced reports whether every known part of a request has a known place in it: nothing is known, or only how late it
// was sent, or how much of it passed outside the service.
func isPlaced(p evidence.Path) bool {
	var s evidence.Segment
	for p.Next(&s) {
		outside := (s.Kind == evidence.BeforeService || s.Kind == evidence.AfterService) && s.Cause == 0
		if s.Kind != evidence.SentLate && s.Kind != evidence.Unobserved && !outside {
			return false
		}
	}
	return true
}

// replayShifted replays with the pauses moved by −d, that is with every request moved by d.
func (l *Ledger) replayShifted(m *replayed, d int64) (queue.Replay, bool) {
	q := queue.Queue{Servers: l.Replay.Servers, Stops: make([]queue.Stop, len(l.stops.pauses))}
	for i, p := range l.stops.pauses {
		q.Stops[i] = queue.Stop{From: p.from - d, To: p.to - d}
	}
	var left []queue.Stop
	for _, p := range l.left.pauses {
		left = append(left, queue.Stop{From: p.from - d, To: p.to - d})
	}
	out, err := q.Replay(m.arrive, m.demand, m.observed, left)
	if err != nil {
		l.Replay.Why = err.Error()
		return out, false
	}
	return out, true
}

// listShifts returns the positions to try (ns): the first is charged, the others widen the bounds.
func (l *Ledger) listShifts() []int64 {
	if l.stops.lo == l.stops.hi {
		return []int64{l.stops.lo}
	}
	return []int64{(l.stops.lo + l.stops.hi) / 2, l.stops.lo, l.stops.hi}
}

// recordMoved records what one run moves; the first run is charged.
func (l *Ledger) recordMoved(rows []int, first bool, moved func(n int) int64) {
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
	m := l.listArrivals()
	queued := make([]int64, len(m.rows))
	var waited, busy, most int64
	var edges []int64 // twice the time at which a request's work begins (odd) or ends
	for n, i := range m.rows {
		start := min(max(r.Start.At(i), m.arrive[n]), r.End.At(i))
		queued[n] = start - m.arrive[n]
		waited += queued[n]
		if r.End.At(i) > start {
			edges = append(edges, 2*start+1, 2*r.End.At(i))
		}
	}
	if waited == 0 {
		l.Replay.Why = "no request queued before it started"
		return
	}
	slices.Sort(edges)
	for _, e := range edges {
		busy += 2*(e&1) - 1
		most = max(most, busy)
	}
	l.Replay.Servers = int(max(most, 1))
	for k, d := range l.listShifts() {
		for n, i := range m.rows {
			start := m.arrive[n] + queued[n]
			m.demand[n] = r.End.At(i) - start - l.stops.stoppedWithin(start+d, r.End.At(i)+d)
		}
		out, ok := l.replayShifted(&m, d)
		if !ok {
			return
		}
		var model int64
		for _, w := range out.With.Wait {
			model += w
		}
		if k == 0 && !l.acceptFit(out, waited, model, "time queued before the start is") {
			return
		}
		l.recordMoved(m.rows, k == 0, func(n int) int64 {
			return min(queued[n], max(0, out.With.Wait[n]-out.Without.Wait[n]))
		})
	}
}

// acceptFit reports whether the replay is used. It takes the model's fit and asks for more, because p50 and p99 agree
// with any queue where pauses meet few requests: the total of the time to split must agree as well.
func (l *Ledger) acceptFit(out queue.Replay, observed, model int64, what string) bool {
	l.Replay.Fit, l.Replay.Why = out.Fit, out.Fit.Why
	if !out.Fit.Used {
		return false
	}
	off := math.Abs(float64(model-observed)) / float64(max(observed, 1))
	if off > queue.Tolerance {
		l.Replay.Why = fmt.Sprintf("in the replay the %s %s, but %s was observed: more than %.0f %% off", what, units.Time(float64(model)), units.Time(float64(observed)), 100*queue.Tolerance)
		return false
	}
	l.Replay.Fit.Error = max(l.Replay.Fit.Error, off)
	l.Replay.Used = true
	return true
}

// replayLog splits the unlabelled time of requests that have only a duration.
func (l *Ledger) replayLog() {
	r := &l.b.Requests
	l.Replay.Splits = Unobserved
	l.Replay.Servers = l.b.CPUsOf(l.Subject)
	if l.Replay.Servers == 0 {
		l.Replay.Why = "the number of CPUs is unknown"
		return
	}
	if slices.ContainsFunc(l.Rows, func(i int) bool { return !isPlaced(r.Path(i)) }) {
		l.Replay.Why = "requests wait for something, but the time of the wait within the request is unknown"
		return
	}
	m := l.listArrivals()
	quiet := l.quietDemands(&m)
	if len(quiet.all) < MinRequests {
		l.Replay.Why = fmt.Sprintf("only %d requests ran far from any pause, too few to tell how long one takes without pauses", len(quiet.all))
		return
	}
	for draw := range uint64(draws) {
		for n, i := range m.rows {
			v := quiet.demandsOf(r.Route.At(i))
			m.demand[n] = v[drawNumber(draw<<32|uint64(n), len(v))]
		}
		for j, d := range l.listShifts() {
			out, ok := l.replayShifted(&m, d)
			if !ok {
				return
			}
			first := draw == 0 && j == 0
			if first && !l.acceptFit(out, sumNear(m.observed, quiet.near), sumNear(out.With.Latency, quiet.near), "total latency of requests near pauses is") {
				return
			}
			l.recordMoved(m.rows, first, func(n int) int64 {
				i := m.rows[n]
				stopped := l.stops.meanStopped(l.sentAt(i), r.End.At(i))
				least := stats.Quantile(quiet.demandsOf(r.Route.At(i)), floorPart)
				return max(0, min(out.With.Latency[n]-out.Without.Latency[n], m.observed[n]-least)-stopped)
			})
		}
	}
}

// draws is how many times demands are drawn: the first draw is charged, the others widen the bounds.
const draws = 4

// quiet holds the demands of requests that cannot have met a pause or its backlog: none begins within the longest pause
// after one. Each demand is the latency less the wait for the first server that an earlier request left. They are sorted.
// Near tells which requests are not among them.
type quiet struct {
	byRoute map[evidence.NameID][]int64
	all     []int64
	near    []bool
}

func (l *Ledger) quietDemands(m *replayed) quiet {
	var longest int64
	for _, p := range l.stops.pauses {
		longest = max(longest, p.to-p.from)
	}
	q := quiet{byRoute: make(map[evidence.NameID][]int64), near: make([]bool, len(m.rows))}
	r := &l.b.Requests
	free := make([]int64, l.Replay.Servers) // when each server becomes free
	for n, i := range m.rows {
		first := 0
		for k := range free {
			if free[k] < free[first] {
				first = k
			}
		}
		demand := m.observed[n] - min(max(0, free[first]-m.arrive[n]), m.observed[n])
		free[first] = r.End.At(i)
		q.near[n] = l.stops.stoppedWithin(m.arrive[n]+l.stops.lo-longest, r.End.At(i)+l.stops.hi) > 0
		if !q.near[n] && r.Outcome.At(i) != evidence.Unfinished {
			q.byRoute[r.Route.At(i)] = append(q.byRoute[r.Route.At(i)], demand)
			q.all = append(q.all, demand)
		}
	}
	for _, v := range q.byRoute {
		slices.Sort(v)
	}
	slices.Sort(q.all)
	return q
}

// demandsOf returns the demands of a route's requests, or of all requests if too few of the route are known.
func (q *quiet) demandsOf(route evidence.NameID) []int64 {
	if v := q.byRoute[route]; len(v) >= MinRequests {
		return v
	}
	return q.all
}

// sumNear sums the latencies of requests near pauses.
func sumNear(latency []int64, near []bool) (sum int64) {
	for n, v := range latency {
		if near[n] {
			sum += v
		}
	}
	return sum
}

// movedBounds returns the least and the most of the slow requests' time that the replay can move, over the positions that
// the clocks allow and over the draws of demands, widened by the accepted error of the model.
func (l *Ledger) movedBounds() (low, high float64) {
	for _, row := range l.Slow {
		a := l.moved[row]
		low += float64(a.low)
		high += float64(a.high)
	}
	return low * (1 - queue.Tolerance), high * (1 + queue.Tolerance)
}

// drawNumber returns a number in [0, n) that is always the same for a seed (SplitMix64).
func drawNumber(seed uint64, n int) int {
	z := (seed + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	hi, _ := bits.Mul64(z^z>>31, uint64(n))
	return int(hi)
}
