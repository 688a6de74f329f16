package ledger

import (
	"cmp"
	"slices"
	"sync"

	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// occupancy splits the time that clients wait for a service by what the service's
// threads were seen doing with its requests, where nobody followed each of them: if of
// 125 requests in flight 37 are on a thread that waits for a task, then 37 of each 125
// seconds are that (Little's law, J. Little, Operations Research 9, 1961). Who is not on
// a thread while no thread of the pool is without work waits for one. It says nothing of
// a single request, and what it gives is a share.
//
// A burst of looks speaks for the time around it, as long as it met requests of the kind at
// all: slow ones, and others. Between bursts that met none, what requests did is taken to be
// what they did when looks met some ([occupancy.sumLooksByKind]).
type occupancy struct {
	cells  []cell
	slow   evidence.Rows // nil: not known yet
	met    [2][]share    // of the time of other requests, and of slow ones, in all looks that met some
	unseen bool          // only threads on a processor were looked at
	serves float64       // of the looks at threads that ran or were ready, those at who serves requests
	gate   *gate         // the limit at which requests wait; nil: none by which time is split
	waits  []share       // at it, in all looks
}

// cell is the time around one burst of looks.
type cell struct {
	from, to    int64
	first, last int64 // of the looks; 0: nobody looked
	parts       []share
	met         [2]bool // other requests, and slow ones, were under way then
}

// share is the part of the time of all requests in flight that is one mechanism, in one state.
type share struct {
	mechanism        Mechanism
	evidence.Segment // of a thread in that state; no duration, and of holders no lane
	part             float64
}

// isSameAs says whether two shares have the same mechanism, cause and holder.
func (s *share) isSameAs(o *share) bool {
	return s.mechanism == o.mechanism && s.Cause == o.Cause && s.HolderKind == o.HolderKind && s.HolderCause == o.HolderCause && s.Via == o.Via
}

// A burst stands for the time up to the middle between it and the next, at most for
// farthest (ns); before the first and after the last of them for fringe.
const (
	farthest = int64(5e9)
	fringe   = int64(1e9)
)

// hasPoolWaits says whether requests were seen to wait for a thread around a time of a request.
func (o *occupancy) hasPoolWaits(row int, at, dur int64) bool {
	return o != nil && slices.ContainsFunc(o.sharesOver(row, at, dur), func(x share) bool { return x.mechanism == PoolThread && x.part > 0 })
}

// hasLockWaits says whether looks at threads saw requests wait for locks.
func (o *occupancy) hasLockWaits() bool {
	return o != nil && slices.ContainsFunc(slices.Concat(o.met[0], o.met[1]), func(x share) bool { return x.mechanism == Lock && x.part > 0 })
}

// hasWaits says whether looks at threads saw requests wait for each other in any way.
func (o *occupancy) hasWaits() bool {
	return o != nil && slices.ContainsFunc(slices.Concat(o.met[0], o.met[1]), func(x share) bool {
		return x.part > 0 && slices.Contains([]Mechanism{Lock, Pool, PoolThread, Goroutine}, x.mechanism)
	})
}

// usedUp is the part of a pool's threads that must stand still for requests without a thread
// to wait for one: else what is not on a thread is elsewhere.
const usedUp = .5

// wayAndBack times as long as what the service saw of its requests may be the way to it and
// back; clients who wait for longer wait for something else.
const wayAndBack = 1.5

// buildOccupancy reads off the looks what the subject's threads did while the requests of the
// source were in flight. It returns nil without looks, or if their time of day is not known, where
// the pool's queue tells nothing either.
func (l *Ledger) buildOccupancy(stacks threads.Readers) *occupancy {
	if !l.b.Clocks[l.b.Requests.Clock.At(l.Rows[0])].Anchored() {
		return nil
	}
	t := threads.Of(l.b, stacks)
	bursts := t.Moments(l.Subject)
	if len(bursts) > 0 && (bursts[0][0][0].Time == 0 || !slices.ContainsFunc(l.b.Covered(l.Subject, evidence.CoverThreads), func(c evidence.Coverage) bool { return l.b.Clocks[c.Clock].Anchored() })) {
		bursts = nil
	}
	if len(bursts) == 0 && l.queued == nil {
		return nil
	}
	o := &occupancy{unseen: t.WaitsUnseen(l.Subject)}
	m := l.newMeanwhile()
	if m.clients { // what the service did before they came is not about them
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

// meanShares returns what requests in flight did at the moments of a burst: one at which ten of
// them were tells of ten times as much of their time as one that met a single one, and one that
// met none tells nothing.
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

// servingShare returns, of the looks at threads that ran, the part at threads that serve requests.
// It holds for threads that are ready as well, which look the same.
func servingShare(bursts [][][]threads.Sample) float64 {
	of := make(map[evidence.LaneID]bool) // a thread that polls does what comes by itself, too, and a pool what requests hand it
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

// addShare adds a share to the one it is the same as, or appends it.
func addShare(parts []share, s share) []share {
	for i := range parts {
		if parts[i].isSameAs(&s) {
			parts[i].part += s.part
			return parts
		}
	}
	return append(parts, s)
}

// inOrder puts shares in the order in which a request meets them.
func inOrder(parts []share) {
	slices.SortStableFunc(parts, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.mechanism, b.mechanism), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.HolderKind, b.HolderKind), cmp.Compare(a.HolderCause, b.HolderCause), cmp.Compare(a.Via, b.Via))
	})
}

// meanwhile are the requests charged, and those that the service itself saw, at any moment.
type meanwhile struct {
	clients     bool                   // those charged are as their clients saw them: the service has not begun with all of them
	first, last int64                  // between which some were in flight: who looked before or after saw none of their time
	inFlight    func(at int64) float64 // of those charged
	begun       func(at int64) float64 // of them, at most, those that the service has begun with; nil: it does not tell
	awaiting    func(at int64) float64 // that the service has begun with and that hold no thread
}

func (l *Ledger) newMeanwhile() meanwhile {
	starts, ends := l.underWay(l.Rows)
	awaiting := sync.OnceValue(l.countAwaiting) // few ask
	m := meanwhile{
		clients: l.b.Requests.Lane.At(l.Rows[0]) == 0,
		first:   starts[0], last: ends[len(ends)-1],
		inFlight: func(at int64) float64 { // those at the entrance apart
			return max(0, float64(countBefore(starts, at+1)-countBefore(ends, at))-l.entrance.connectionsAt(at))
		},
		awaiting: func(at int64) float64 { return float64(awaiting()(at)) },
	}
	if from, to := l.servedTimes(); len(from) > 0 {
		m.begun = func(at int64) float64 { return float64(countBefore(from, at+1) - countBefore(to, at)) }
	}
	return m
}

// servedTimes returns when the service began and ended requests by its own account, where the
// requests charged are those of its clients; each sorted.
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

// newServingFilter returns a function that says whether a thread is of a pool that works on
// requests from others, where a runtime has several; if none was seen to, all may. Threads of the
// runtime's own, of which only those that run were seen, are no pool of which it could be told
// that all its threads are busy.
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

// isCrowded says whether clients waited for far more than the requests whose states were seen:
// then the seen ones are not what the trouble is about.
func (l *Ledger) isCrowded(source evidence.ArtifactID, clients, followed []int) bool {
	from, until := int64(0), int64(0)
	for _, c := range l.b.Covered(l.Subject, evidence.CoverStates) {
		if a, ok := c.Origin.Artifact(); c.Sampled > 0 && ok && a == l.Source {
			from, until = c.From, c.Until
		}
	}
	for _, c := range l.b.Covered(l.Subject, evidence.CoverRequests) { // which may be a moment now and then
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

// underWay are when requests began and ended, each sorted.
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

// countAwaiting returns a function that counts, of the requests whose states were seen, those that
// held no thread at a moment.
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
