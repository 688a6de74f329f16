package ledger

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// occupancy splits the time that clients wait for a service by what the service's threads were seen doing with its
// requests, where no single request was followed: if 37 of 125 requests in flight are on a thread that waits for a task,
// then 37 of each 125 seconds are that wait (Little's law, J. Little, Operations Research 9, 1961). A request without a
// thread waits for one while all threads of the pool are busy. The result is a share and says nothing of a single request.
//
// A burst of looks speaks for the time around it if it met requests of the kind, slow ones or others. Between bursts that
// met none, requests count as doing what they did in looks that met some ([occupancy.sumLooksByKind]).
type occupancy struct {
	cells   []cell
	slow    evidence.Rows // nil: not known yet
	met     [2][]share    // of the time of other requests, and of slow ones, over all looks that met some
	unseen  bool          // the looks cover only threads on a processor
	serves  float64       // of the looks at running or ready threads, the part at threads that serve requests
	gate    *gate         // the limit at which requests wait; nil: none that splits time
	waits   []share       // waits at the gate, over all looks
	threads *threadLooks  // at the threads of single requests; nil: it is not known which thread served which
}

// cell is the time around one burst of looks.
type cell struct {
	from, to    int64
	first, last int64 // of the looks; 0: no look
	parts       []share
	met         [2]bool // whether other requests, and slow ones, were under way
}

// share is the part of the time of all requests in flight that is one mechanism in one state.
type share struct {
	mechanism        Mechanism
	evidence.Segment // of a thread in that state; without a duration and without holders' lanes
	part             float64
}

// isSameAs reports whether two shares have the same mechanism, cause and holder.
func (s *share) isSameAs(o *share) bool {
	return s.mechanism == o.mechanism && s.Cause == o.Cause && s.HolderKind == o.HolderKind && s.HolderCause == o.HolderCause && s.Via == o.Via
}

// A burst stands for the time up to halfway to the next one, at most for farthest (ns); before the first burst and after
// the last for at most fringe (ns).
const (
	farthest = int64(5e9)
	fringe   = int64(1e9)
)

// hasPoolWaits reports whether requests were seen to wait for a thread around a time of a request.
func (o *occupancy) hasPoolWaits(row int, at, dur int64) bool {
	return o != nil && slices.ContainsFunc(o.sharesOver(row, at, dur), func(x share) bool { return x.mechanism == PoolThread && x.part > 0 })
}

// hasLockWaits reports whether looks at threads saw requests wait for locks.
func (o *occupancy) hasLockWaits() bool {
	return o != nil && slices.ContainsFunc(slices.Concat(o.met[0], o.met[1]), func(x share) bool { return x.mechanism == Lock && x.part > 0 })
}

// hasLockOverCall reports whether looks at threads saw more requests wait for locks than for dependencies: as where one calls and the others wait
// for its lock.
func (o *occupancy) hasLockOverCall() bool {
	if o == nil {
		return false
	}
	var lock, call float64
	for _, met := range o.met {
		for _, x := range met {
			switch x.mechanism {
			case Lock:
				lock += x.part
			case Dependency:
				call += x.part
			}
		}
	}
	return lock > call
}

// hasWaits reports whether looks at threads saw requests wait for each other in any way.
func (o *occupancy) hasWaits() bool {
	return o != nil && slices.ContainsFunc(slices.Concat(o.met[0], o.met[1]), func(x share) bool {
		return x.part > 0 && slices.Contains([]Mechanism{Lock, Pool, PoolThread, Goroutine}, x.mechanism)
	})
}

// usedUp is the part of a pool's threads that must be blocked for requests without a thread to count as waiting for one:
// else such requests are elsewhere.
const usedUp = .5

// wayAndBack times as long as the service saw its requests may be the way to the service and back; clients that wait for
// longer wait for something else.
const wayAndBack = 1.5

// buildOccupancy derives from the looks what the subject's threads did while the source's requests were in flight. It
// returns nil without looks, or if their time of day is not known, unless the pool's queue tells something.
func (l *Ledger) buildOccupancy(read func() *threads.Threads) *occupancy {
	if !l.b.Clocks[l.b.Requests.Clock.At(l.Rows[0])].Anchored() {
		return nil
	}
	t := read()
	bursts := t.Moments(l.Subject)
	if len(bursts) > 0 && (bursts[0][0][0].Time == 0 || !slices.ContainsFunc(l.b.Covered(l.Subject, evidence.CoverThreads), func(c evidence.Coverage) bool { return l.b.Clocks[c.Clock].Anchored() })) {
		bursts = nil
	}
	if len(bursts) == 0 && l.queued == nil {
		return nil
	}
	o := &occupancy{unseen: t.WaitsUnseen(l.Subject), threads: l.collectThreadLooks(bursts)}
	m := l.newMeanwhile()
	if m.clients { // what the service did before these clients came is not about them
		bursts = slices.DeleteFunc(bursts, func(moments [][]threads.Sample) bool { return endOf(moments) < m.first || startOf(moments) > m.last })
	}
	if len(bursts) == 0 && l.queued == nil {
		return nil
	}
	serve := newServingFilter(bursts, o.unseen)
	for i, moments := range bursts {
		at, last := startOf(moments), endOf(moments)
		c := cell{from: at - fringe, to: last + fringe, first: at, last: last}
		if i > 0 {
			c.from = max(at-farthest, (startOf(bursts[i-1])+at)/2, o.cells[i-1].to)
		}
		if i+1 < len(bursts) {
			c.to = min(last+farthest, (at+startOf(bursts[i+1]))/2)
		}
		c.to = max(c.to, c.from)
		c.parts = l.meanShares(moments, serve, m)
		inOrder(c.parts)
		o.cells = append(o.cells, c)
	}
	if o.gate = l.findGate(t, o.cells, m); o.gate != nil {
		o.waits = mixShares(o.cells, func(m Mechanism) bool { return m == Pool })
	}
	o.interpolateCells(l, m)
	o.serves = servingShare(bursts)
	return o
}

// meanShares returns what requests in flight did over the moments of a burst, weighted by the requests that each moment
// met: a moment with ten requests counts ten times as much as one with a single request.
func (l *Ledger) meanShares(moments [][]threads.Sample, serve func(*threadstack.View) bool, m meanwhile) (parts []share) {
	weigh := func(at int64) float64 { return m.inFlight(at) }
	if !slices.ContainsFunc(moments, func(looks []threads.Sample) bool { return weigh(looks[0].Time) > 0 }) {
		weigh = func(int64) float64 { return 1 }
	}
	var sum float64
	for _, looks := range moments {
		n := weigh(looks[0].Time)
		if n <= 0 {
			continue
		}
		sum += n
		parts = addTimes(parts, l.sharesOf(looks, serve, m), n)
	}
	for i := range parts {
		parts[i].part /= sum
	}
	return parts
}

// servingShare returns the part of the looks at running threads that met threads which serve requests. It also holds for
// ready threads, which look the same.
func servingShare(bursts [][][]threads.Sample) float64 {
	of := make(map[evidence.LaneID]bool) // a polling thread also does work that arrives by itself, and a pool work that requests hand it
	ran, served := 0, 0
	count := func(each func(*threads.Sample)) {
		for _, moments := range bursts {
			for _, looks := range moments {
				for i := range looks {
					each(&looks[i])
				}
			}
		}
	}
	count(func(l *threads.Sample) {
		if v := &l.View; v.Request || v.Accepts || v.Role == threadstack.IO || v.Role == threadstack.Worker {
			of[l.Lane] = true
		}
	})
	count(func(l *threads.Sample) {
		if l.View.State == evidence.Running {
			if ran++; of[l.Lane] {
				served++
			}
		}
	})
	if ran == 0 {
		return 1
	}
	return float64(served) / float64(ran)
}

func startOf(moments [][]threads.Sample) int64 { return moments[0][0].Time }

func endOf(moments [][]threads.Sample) int64 {
	last := moments[len(moments)-1]
	return last[len(last)-1].Time
}

// addShare adds a share to the one of the same state, or appends it.
func addShare(parts []share, s share) []share {
	for i := range parts {
		if parts[i].isSameAs(&s) {
			parts[i].part += s.part
			return parts
		}
	}
	return append(parts, s)
}

// inOrder sorts shares in the order in which a request meets them.
func inOrder(parts []share) {
	slices.SortStableFunc(parts, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.mechanism, b.mechanism), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.HolderKind, b.HolderKind), cmp.Compare(a.HolderCause, b.HolderCause), cmp.Compare(a.Via, b.Via))
	})
}

// meanwhile counts the charged requests, and those that the service itself saw, at any moment.
type meanwhile struct {
	clients     bool                   // the charged requests are as their clients saw them: the service has not begun with all of them
	first, last int64                  // the time in which some were in flight; looks outside it saw none of their time
	inFlight    func(at int64) float64 // charged requests, and those of other clients
	begun       func(at int64) float64 // upper bound on those that the service has begun with; nil: not known
	awaiting    func(at int64) float64 // those that the service has begun with and that hold no thread
	stalls      func(at int64) bool    // whether several are in flight, and none is answered around that moment though some would be by chance
	stalled     func(at int64) float64 // those of routes of which the same holds
}

const (
	stallExpected = 5.   // answers that come on average in the time without any: by chance none comes in 0.7 % of such times (Poisson, e⁻⁵)
	stallLeast    = 4.   // requests in flight meanwhile
	stallShortest = 10e6 // ns: less is the time of some requests
)

func (l *Ledger) newMeanwhile() meanwhile {
	starts, ends := l.underWay(l.Rows)
	first, last := starts[0], ends[len(ends)-1]
	if len(l.others) > 0 {
		starts, ends = l.allUnderWay()
	}
	awaiting := sync.OnceValue(l.countAwaiting) // lazy, as few callers need it
	m := meanwhile{
		clients: l.b.Requests.Lane.At(l.Rows[0]) == 0,
		first:   first, last: last,
		inFlight: func(at int64) float64 { // without those at the entrance
			return max(0, float64(countBefore(starts, at+1)-countBefore(ends, at))-l.entrance.connectionsAt(at))
		},
		awaiting: func(at int64) float64 { return float64(awaiting()(at)) },
	}
	around := int64(max(stallShortest, stallExpected*float64(m.last-m.first)/float64(len(ends))) / 2)
	m.stalls = func(at int64) bool {
		return at-around >= m.first && at+around <= m.last && m.inFlight(at) >= stallLeast && countBefore(ends, at+around) == countBefore(ends, at-around)
	}
	routes := sync.OnceValue(l.listRouteTimes)
	m.stalled = func(at int64) (n float64) {
		for _, of := range routes() {
			if at-of.around < m.first || at+of.around > m.last || countBefore(of.ends, at+of.around) != countBefore(of.ends, at-of.around) {
				continue
			}
			if in := float64(countBefore(of.starts, at+1) - countBefore(of.ends, at)); in >= stallLeast {
				n += in
			}
		}
		return n
	}
	if from, to := l.servedTimes(); len(from) > 0 {
		m.begun = func(at int64) float64 { return float64(countBefore(from, at+1) - countBefore(to, at)) }
	}
	return m
}

// routeTimes is when requests of a route began and ended, each sorted, and the time (ns) to either side of a moment in which some would end by chance.
type routeTimes struct {
	starts, ends []int64
	around       int64
}

// listRouteTimes lists the routes of the charged requests.
func (l *Ledger) listRouteTimes() (all []routeTimes) {
	rows := make(map[evidence.NameID][]int)
	for _, row := range l.Rows {
		route := l.b.Requests.Route.At(row)
		rows[route] = append(rows[route], row)
	}
	for _, route := range slices.Sorted(maps.Keys(rows)) {
		if len(rows[route]) < MinRequests {
			continue
		}
		starts, ends := l.underWay(rows[route])
		span := float64(ends[len(ends)-1] - starts[0])
		all = append(all, routeTimes{starts, ends, int64(max(stallShortest, stallExpected*span/float64(len(ends))) / 2)})
	}
	return all
}

// servedTimes returns when the service began and ended requests by its own record, each sorted, where the charged
// requests come from its clients.
func (l *Ledger) servedTimes() (starts, ends []int64) {
	r := &l.b.Requests
	for i := range r.Len() {
		if a, ok := r.Origin.At(i).Artifact(); r.Subject.At(i) == l.Subject && r.Lane.At(i) != 0 && ok && a != l.Source {
			starts, ends = append(starts, r.Start.At(i)), append(ends, r.End.At(i))
		}
	}
	stats.SortInts(starts)
	stats.SortInts(ends)
	return starts, ends
}

// newServingFilter returns a function that reports whether a thread is of a pool that works on requests from outside,
// where a runtime has several pools; if no pool was seen to, every thread may. The runtime's own threads, of which looks
// show only the running ones, are no pool: looks cannot tell that all of them are busy.
func newServingFilter(bursts [][][]threads.Sample, onlyRunning bool) func(v *threadstack.View) bool {
	pools := make(map[string]bool)
	for _, moments := range bursts {
		for _, looks := range moments {
			for i := range looks {
				if v := &looks[i].View; v.Role == threadstack.Worker && v.Request {
					pools[v.Pool] = true
				}
			}
		}
	}
	return func(v *threadstack.View) bool {
		return v.Role == threadstack.Worker && !(onlyRunning && v.Virtual) && (len(pools) == 0 || pools[v.Pool])
	}
}

// isCrowded reports whether clients waited far longer than the requests with known states: then those requests do not
// show the trouble.
func (l *Ledger) isCrowded(source evidence.ArtifactID, clients, followed []int) bool {
	from, until := int64(0), int64(0)
	for _, c := range l.b.Covered(l.Subject, evidence.CoverStates) {
		if a, ok := c.Origin.Artifact(); c.Sampled > 0 && ok && a == l.Source {
			from, until = c.From, c.Until
		}
	}
	for _, c := range l.b.Covered(l.Subject, evidence.CoverRequests) { // which may be single moments
		if a, ok := c.Origin.Artifact(); ok && a == l.Source && until > from {
			from, until = max(from, c.From), min(until, c.Until)
		}
	}
	if until <= from || !sightings.ByClients(l.b, clients[0]) && l.b.Requests.Lane.At(clients[0]) != 0 {
		return false
	}
	within := func(rows []int) (ns float64) {
		r := &l.b.Requests
		for _, i := range rows {
			ns += float64(max(0, min(r.End.At(i), until)-max(r.End.At(i)-r.Latency(i), from)))
		}
		return ns
	}
	return within(clients) > wayAndBack*within(followed)
}

// allUnderWay returns when the charged requests and those of other clients began and ended, each sorted.
func (l *Ledger) allUnderWay() (starts, ends []int64) {
	return l.underWay(slices.Concat(l.Rows, l.others))
}

// underWay returns when requests began and ended, each sorted.
func (l *Ledger) underWay(rows []int) (starts, ends []int64) {
	r := &l.b.Requests
	starts, ends = make([]int64, len(rows)), make([]int64, len(rows))
	for n, i := range rows {
		starts[n], ends[n] = r.End.At(i)-r.Latency(i), r.End.At(i)
	}
	stats.SortInts(starts)
	stats.SortInts(ends)
	return starts, ends
}

func countBefore(at []int64, t int64) int {
	n, _ := slices.BinarySearch(at, t)
	return n
}

// countAwaiting returns a function that counts the requests with known states that held no thread at a moment.
func (l *Ledger) countAwaiting() func(at int64) int {
	var starts, ends []int64
	r := &l.b.Requests
	for i := range r.Len() {
		if r.Subject.At(i) != l.Subject || r.Lane.At(i) == 0 {
			continue
		}
		at := r.Start.At(i)
		var s evidence.Segment
		for p := r.Path(i); p.Next(&s); {
			if s.Kind == evidence.Awaiting {
				starts, ends = append(starts, at), append(ends, at+s.Dur)
			}
			at += s.Dur
		}
	}
	stats.SortInts(starts)
	stats.SortInts(ends)
	return func(at int64) int { return countBefore(starts, at+1) - countBefore(ends, at) }
}
