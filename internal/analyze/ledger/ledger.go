package ledger

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Options are what the user decides.
type Options struct {
	SLO      time.Duration           // latency above which a request is slow; 0: found from the requests themselves
	Requests []string                // artifacts the user named as those with the requests
	Baseline Baseline                // without an SLO: usual latencies by route, from a healthy service
	Stacks   threads.Readers         // of runtimes whose stacks tell what threads do
	Threads  func() *threads.Threads // reads the bundle by Stacks when it is first called; nil: Build does
	Joined   []sightings.Joined
	// OnThreads reports whether requests of a runtime keep an OS thread until they are answered; nil: those of all runtimes do.
	OnThreads func(runtime string) bool
}

// Methods by which an entry is measured.
const (
	MethodTrace   = "trace"
	MethodOverlap = "overlap"
	MethodSpan    = "span" // a duration that the requests' own source gives
	MethodReplay  = "replay"
	MethodShare   = "share"
	MethodBacklog = "backlog" // from the answers of busy processors; only for counterfactual figures ([Savings])
	MethodSample  = "sample"  // from similar requests that were traced; these were not
	MethodSampled = "sampled" // from sampled states: each look stands for the time around it
)

// Entry is slow request time with one mechanism and, where known, the lock, pool or dependency on which requests spent it.
type Entry struct {
	Mechanism Mechanism
	Detail    evidence.NameID
	Ns        int64
	Sample    int64           // ns of it that come from similar requests ([MethodSample])
	Interval  *stats.Interval // ns
	Basis     string          // what Interval is: "sampling", "bound", ""
	Method    string
}

// Requests sums up all requests of a service.
type Requests struct {
	Source     evidence.ArtifactID
	Files      []evidence.ArtifactID // the artifacts that have them, in order: of several load generators or traces each its own
	Count      int
	Unfinished int
	Failed     int     // answered with an error, or not answered
	TimedOut   int     // of the failed, given up by the client
	From, To   int64   // ns: the time they were watched
	Rate       float64 // per second, 0 unknown
	P50        int64   // ns
	P99        int64
	P999       int64 // 0: too few requests
}

// Ledger is where the slow requests of one subject spent their time.
type Ledger struct {
	Subject  evidence.SubjectID
	Requests Requests            // of the artifact that saw most of them
	Source   evidence.ArtifactID // the artifact whose requests the ledger charges
	Joined   *sightings.Joined   // the source whose states these requests took over; nil: they have none, or their own
	Seen     []sightings.Joined  // how all sources saw the requests, from the outermost to the innermost
	From, To int64               // ns: the time they were watched
	Traced   bool                // the requests' states are known
	Looked   bool                // looks at goroutines from outside tell some of the states
	Sampled  bool                // the states come from samples: running and ready look the same

	Rule      string            // "slo", "3x_route_floor", "baseline", "unfinished", "timed_out"
	Threshold int64             // ns; if routes have their own, that of the route with most requests
	Several   bool              // routes have thresholds that differ
	Long      int               // requests of routes that always compute for long and are held to the others' floor
	Unjudged  []evidence.NameID // routes that always compute for long but are rare and take little of the processors: no fault without an objective
	Slow      []int             // rows of the bundle's requests, by time
	Held      []int             // rows of requests that are slow only because the recorder held them
	HeldTime  int64             // ns: how long it held these
	Apart     []int             // rows of requests as long as slow ones, but from before or after the rest of the recording
	Total     int64             // ns: the latency of all slow requests
	Charges   Charges
	Entries   []Entry // in order of time; they sum to Total
	Rows      []int   // all requests of the source, by time
	Host      HostShare
	Replay    Replay
	All       *Ledger // tells which of all requests were slow: itself where all are charged, else a ledger that charges none

	b                      *evidence.Bundle
	chargedFrom, chargedTo int64 // ns: see [Ledger.ChargedTime]; 0: as From and To

	others []int                     // rows of requests that other clients made meanwhile; nil: none is known
	traces []evidence.ArtifactID     // artifacts that tell of the requests' states
	way    int64                     // ns of the usual way to the service and back, without queues
	sample *tracedSample             // nil: all requests are traced, or none
	limits map[evidence.NameID]int64 // ns: the limit by route; other routes have the threshold of all
	// Unread is how full the process kept the processors while data had arrived that no thread read; nil: not known, or not full.
	Unread *BusyWhileUnread

	stops     stops
	holds     stops                     // times in which the recorder held the process
	left      stops                     // stops that a counterfactual leaves in place; none in the ledger itself
	stalled   *allocStalls              // nil: the requests' states are known, or no thread waited for memory
	awaiteds  []share                   // what requests await, as shares; nil: not known
	awaitGate *gate                     // the limit by which awaiteds are split; nil: none
	alike     *similarRequests          // nil: no single request's awaits are known
	onThreads bool                      // a request holds one thread until it is answered
	collector float64                   // the collector's part of the process's CPU time, by a profile; 0 where traces show who held the CPUs, or unknown
	ownCPUs   float64                   // the part of the processors, of those that others leave, that the service's own work keeps busy; 0 where not watched
	byKernel  bool                      // the requests' paths tell what happened before the service read them
	entrance  *entrance                 // nil: nothing waits at the service's sockets, or not known
	queued    *poolQueue                // nil: nothing waited for a thread of the pool, or not watched
	occupancy *occupancy                // nil: the requests' states are known, or threads were not sampled
	withheld  metrics.Withheld          // of the stops
	clock     *onCPU                    // nil: no samples of running threads were recorded with the requests
	denied    *denials                  // nil: the goroutines of requests were not looked at from outside
	ready     *runQueue                 // nil: threads were not sampled, or their run-queue times were not recorded
	quota     bool                      // a CPU quota kept slow requests from running, not the host
	timers    *loopTimers               // nil: no requests are known to wait for a timer of an event loop
	kernel    *kernelWaits              // nil: the requests' states are not traced, or the kernel recorded nothing
	inside    map[evidence.NameID]int64 // by route: its floor (ns) where the service itself saw it
	moved     map[int]amplified         // by row: what the replay moves to StopTheWorld
	charged   *charged                  // nil while the ledger is built, and where there are too many requests
}

// MinRequests is how many requests a figure about requests needs.
const MinRequests = 20

// Thresholds for choosing which of several sources' requests to charge.
const (
	aboutAsMany = 1.25 // × the requests of another source still count as about as many
	mostTraced  = .5   // of a source's requests must have states for these to be charged; instant ones need none
)

// tailRequests is how many requests a p99.9 needs.
const tailRequests = 1000

// Build returns one ledger for every subject with requests, in order of the subjects.
func Build(b *evidence.Bundle, opt Options) []*Ledger {
	if opt.Threads == nil {
		opt.Threads = sync.OnceValue(func() *threads.Threads { return threads.Of(b, opt.Stacks) })
	}
	bySubject := bySource(b)
	var out []*Ledger
	for s := range b.Subjects {
		if sources := bySubject[evidence.SubjectID(s)]; sources != nil {
			withoutStreams(b, evidence.SubjectID(s), sources)
			if opt.SLO == 0 {
				withoutPolls(b, evidence.SubjectID(s), sources, opt.Threads)
			}
			if len(sources) == 0 {
				continue
			}
			joinConcurrentLoads(b, sources)
			out = append(out, buildLedger(b, evidence.SubjectID(s), sources, opt))
		}
	}
	return out
}

// bySource returns the requests with a latency, by subject and by artifact. It counts them before it allocates: for a
// log of millions, growing slices would leave several times that memory behind.
func bySource(b *evidence.Bundle) map[evidence.SubjectID]map[evidence.ArtifactID][]int {
	type source struct {
		s evidence.SubjectID
		a evidence.ArtifactID
	}
	of := func(i int) (x source) {
		x.s = b.Requests.Subject.At(i)
		x.a, _ = b.Requests.Origin.At(i).Artifact()
		return x
	}
	n := make(map[source]int)
	eachRun(b.Requests.Len(), of, func(x source, from, until int) {
		for i := from; i < until; i++ {
			if b.Requests.Timed(i) {
				n[x]++
			} else {
				b.Warnf(evidence.NewOrigin(x.a, 0), "skipped a request that has no start or ends before it starts")
			}
		}
	})
	out := make(map[evidence.SubjectID]map[evidence.ArtifactID][]int)
	for x, n := range n {
		if out[x.s] == nil {
			out[x.s] = make(map[evidence.ArtifactID][]int)
		}
		out[x.s][x.a] = make([]int, 0, n)
	}
	eachRun(b.Requests.Len(), of, func(x source, from, until int) {
		rows := out[x.s][x.a]
		for i := from; i < until; i++ {
			if b.Requests.Timed(i) {
				rows = append(rows, i)
			}
		}
		if len(rows) > 0 {
			out[x.s][x.a] = rows
		}
	})
	return out
}

// eachRun yields each run [from, until) of consecutive rows with the same subject and artifact.
func eachRun[K comparable](rows int, of func(i int) K, yield func(x K, from, until int)) {
	for from := 0; from < rows; {
		x, until := of(from), from+1
		for until < rows && of(until) == x {
			until++
		}
		yield(x, from, until)
		from = until
	}
}

func buildLedger(b *evidence.Bundle, subject evidence.SubjectID, sources map[evidence.ArtifactID][]int, opt Options) *Ledger {
	l := &Ledger{Subject: subject, b: b, onThreads: opt.OnThreads == nil || opt.OnThreads(b.Subjects[subject].Runtime)}
	in := &input{sources: sources, opt: opt}
	for _, r := range readings {
		if r.of == nil || r.of(l) {
			r.read(l, in)
		}
	}
	l.charged = newCharged(l.Rows)
	return l
}

// chooseRequests picks the requests to charge. It prefers requests with known states if there are enough of them; of
// several traces, the one with known states for most time, because the trouble shows there. Else it picks the artifact
// with most requests. It also returns the artifact that saw most, or that the user named, for the figures about all
// requests.
func (l *Ledger) chooseRequests(sources map[evidence.ArtifactID][]int, opt Options) (widest evidence.ArtifactID) {
	l.uniteTraces(sources)
	ids := slices.Sorted(maps.Keys(sources))
	isNamed := func(a evidence.ArtifactID) bool { return slices.Contains(opt.Requests, l.b.Artifacts[a].Name) }
	widest = slices.MaxFunc(ids, func(x, y evidence.ArtifactID) int {
		if a, b := isNamed(x), isNamed(y); a != b {
			if a {
				return 1
			}
			return -1
		}
		// Of two sources with about as many requests, the clients' side counts: no server's log has the requests
		// that wait to be accepted. It has fewer requests if clients still wait when the recording ends, or if the
		// service has other clients.
		n, m := len(sources[x]), len(sources[y])
		if a, b := l.sourceSide(sources[x]), l.sourceSide(sources[y]); a != b && float64(max(n, m)) <= aboutAsMany*float64(min(n, m)) {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(n, m)
	})
	l.Source = widest
	l.Seen = sightings.Chain(opt.Joined, l.Subject, widest, sightings.ByClients(l.b, sources[widest][0]))
	if l.Joined = sightings.Of(opt.Joined, l.Subject, widest, sightings.ByClients(l.b, sources[widest][0])); l.Joined != nil {
		l.Traced, l.traces = true, l.Joined.Traces
		l.Rows = sources[widest]
		l.byEnd()
		return widest
	}
	best := int64(-1)
	for _, a := range ids {
		rows := sources[a]
		traced := l.countFollowed(rows)
		enough := traced >= MinRequests || a == widest && traced > 0
		if !enough || float64(traced) < mostTraced*float64(len(rows)-l.countInstant(rows)) {
			continue
		}
		if spent := l.knownTime(rows); spent > best {
			l.Source, l.Traced, best = a, true, spent
		}
	}
	if l.Source != widest && l.isCrowded(widest, sources[widest], sources[l.Source]) {
		l.Source, l.Traced = widest, false
	}
	if l.traces == nil {
		l.traces = []evidence.ArtifactID{l.Source}
	}
	l.Rows = sources[l.Source]
	l.byEnd()
	return widest
}

// sourceSide returns how far outside the service a source saw requests. Traces and spans rank alike, as both leave out
// what happens before the service's own log begins: of these the source with more requests counts.
func (l *Ledger) sourceSide(rows []int) sightings.Side {
	return max(sightings.ByLog, sightings.SideOf(l.b, rows[0]))
}

// uniteTraces makes the requests of several traces one source, named after the first: each trace covers its own seconds.
// Traces that overlap may have a request twice, and stay apart.
func (l *Ledger) uniteTraces(sources map[evidence.ArtifactID][]int) {
	windows := slices.Clone(l.b.Covered(l.Subject, evidence.CoverStates))
	windows = slices.DeleteFunc(windows, func(c evidence.Coverage) bool {
		a, ok := c.Origin.Artifact()
		return !ok || c.Sampled > 0 || sources[a] == nil || !l.b.Clocks[c.Clock].Anchored() || l.b.Requests.Lane.At(sources[a][0]) == 0
	})
	slices.SortFunc(windows, func(x, y evidence.Coverage) int { return cmp.Compare(x.From, y.From) })
	for k := 1; k < len(windows); k++ {
		if a, _ := windows[k].Origin.Artifact(); windows[k].From < windows[k-1].Until && !isFrom(windows[k-1].Origin, a) {
			return
		}
	}
	for _, c := range windows {
		a, _ := c.Origin.Artifact()
		if l.traces = append(l.traces, a); a != l.traces[0] {
			sources[l.traces[0]] = append(sources[l.traces[0]], sources[a]...)
			delete(sources, a)
		}
	}
	if len(l.traces) > 0 {
		l.traces = slices.Compact(slices.Sorted(slices.Values(l.traces)))
	}
}

// byEnd sorts requests by their end.
func (l *Ledger) byEnd() {
	r := &l.b.Requests
	slices.SortFunc(l.Rows, func(i, j int) int { return cmp.Or(cmp.Compare(r.End.At(i), r.End.At(j)), cmp.Compare(i, j)) })
}

// FromOutside reports whether the charged requests come from their clients, or from the kernel with the time before the
// service saw them.
func (l *Ledger) FromOutside() bool {
	side := sightings.SideOf(l.b, l.Rows[0])
	return side == sightings.ByLoad || side == sightings.ByKernel
}

// knownTime returns the time (ns) for which the states of requests are known.
func (l *Ledger) knownTime(rows []int) (ns int64) {
	for _, i := range rows {
		var s evidence.Segment
		for p := l.b.Requests.Path(i); p.Next(&s); {
			if s.Kind != evidence.Unobserved {
				ns += s.Dur
			}
		}
	}
	return ns
}

// P99 returns the p99 of the charged requests, ns.
func (l *Ledger) P99() float64 {
	lat := make([]int64, 0, len(l.Rows))
	for _, i := range l.Rows {
		lat = append(lat, l.b.Requests.Latency(i))
	}
	return float64(stats.QuantileOf(lat, .99))
}

// SlowP99 returns the p99 (ns) with 0 for all requests that are not slow: routes that always take long do not make slow
// requests visible.
func (l *Ledger) SlowP99() float64 {
	took := make([]int64, len(l.Rows))
	for n, i := range l.Slow[:min(len(l.Slow), len(took))] {
		took[n] = l.b.Requests.Latency(i)
	}
	return float64(stats.QuantileOf(took, .99))
}

// countFollowed counts the requests whose states are known. Where the kernel alone saw them it knows only what some wait for, by looks now and then.
func (l *Ledger) countFollowed(rows []int) (n int) {
	if len(l.b.Covered(l.Subject, evidence.CoverStates)) == 0 && len(l.b.Covered(l.Subject, evidence.CoverExchanges)) > 0 {
		return 0
	}
	for _, i := range rows {
		if l.b.Requests.Path(i).Followed() {
			n++
		}
	}
	return n
}

// countInstant counts the requests without states that took no longer than the resolution of their clock, such as files
// that a web server sends itself.
func (l *Ledger) countInstant(rows []int) (n int) {
	for _, i := range rows {
		if l.b.Requests.Latency(i) <= l.b.Clocks[l.b.Requests.Clock.At(i)].Resolution && !l.b.Requests.Path(i).Followed() {
			n++
		}
	}
	return n
}

func (l *Ledger) summarizeRequests(a evidence.ArtifactID, rows []int) Requests {
	r := &l.b.Requests
	s := Requests{Source: a, Count: len(rows)}
	lat := make([]int64, 0, len(rows))
	for _, i := range rows {
		switch r.Outcome.At(i) {
		case evidence.Unfinished:
			s.Unfinished++
		case evidence.Failed:
			s.Failed++
		case evidence.TimedOut:
			s.Failed++
			s.TimedOut++
		}
		lat = append(lat, r.Latency(i)) // a lower bound if the request is unfinished
		if of, ok := r.Origin.At(i).Artifact(); ok && !slices.Contains(s.Files, of) {
			s.Files = append(s.Files, of)
		}
		if s.From == 0 || r.End.At(i) < s.From {
			s.From = r.End.At(i)
		}
		s.To = max(s.To, r.End.At(i))
	}
	watched := s.To - s.From
	if spans := l.watchedSpans(a); len(l.traces) > 1 && a == l.traces[0] && len(spans) > 0 {
		s.From, s.To, watched = spans[0].From, spans[len(spans)-1].To, spans.Time()
	} else if n := len(spans); n > 0 { // a runtime's own events may restart: earlier spans are its start
		s.From, s.To = spans[n-1].From, spans[n-1].To
		watched = s.To - s.From
	}
	if watched > 0 && len(rows) >= LeastOfRate {
		s.Rate = float64(len(rows)) / (float64(watched) / 1e9)
	}
	if len(lat) > 0 {
		s.P50, s.P99 = stats.QuantileOf(lat, .5), stats.QuantileOf(lat, .99)
	}
	if len(lat) >= tailRequests {
		s.P999 = stats.QuantileOf(lat, .999)
	}
	slices.Sort(s.Files)
	return s
}

// LeastOfRate is the number of requests from which a rate is told, as of collections: of fewer it is off by more than a half. A source of
// requests alone tells of the time from the first to the last: with one request, of no more than that request.
const LeastOfRate = 5

// watchedSpans returns the times in which a source recorded requests.
func (l *Ledger) watchedSpans(a evidence.ArtifactID) (spans metrics.Spans) {
	of := []evidence.ArtifactID{a}
	if slices.Contains(l.traces, a) {
		of = l.traces
	}
	windows := slices.DeleteFunc(slices.Clone(l.b.Coverage), func(c evidence.Coverage) bool {
		o, ok := c.Origin.Artifact()
		return !ok || !slices.Contains(of, o) || c.Kind != evidence.CoverRequests || c.Until <= c.From
	})
	slices.SortFunc(windows, func(x, y evidence.Coverage) int { return cmp.Compare(x.From, y.From) })
	for _, c := range windows {
		spans = spans.Add(c.From, c.Until)
	}
	return spans
}

// chargeSlow fills the entries from the slow requests.
func (l *Ledger) chargeSlow() {
	type key struct {
		m      Mechanism
		detail evidence.NameID
		replay bool
	}
	type sum struct{ ns, sample int64 }
	sums := make(map[key]sum)
	var unnamed [fromSample + 1][NumMechanisms]int64 // most states have no name
	added := func(k key, v int64, by derivation) {
		x := sums[k]
		x.ns += v
		if by == fromSample {
			x.sample += v
		}
		sums[k] = x
	}
	var longest int64
	for _, row := range l.Slow {
		longest = max(longest, l.b.Requests.Latency(row))
	}
	block, observed := BlockOf*longest, MethodTrace
	if l.Sampled {
		observed = MethodSampled
	}
	over := l.newTimeline(block)
	var request, known Charges
	add := func(_ int64, s *evidence.Segment, c *Charges, by derivation) {
		request.Add(c)
		if by != fromSample {
			known.Add(c)
		}
		for m, v := range c {
			switch m := Mechanism(m); {
			case v == 0:
			case m.Named(), m == PoolThread && (l.isWaitOf(s.Cause, evidence.EventLoop) || l.isWaitOf(s.Cause, evidence.Carrier)):
				added(key{m, s.Cause, by == fromReplay}, v, by)
			default:
				unnamed[by][m] += v
			}
		}
	}
	for n, row := range l.Slow {
		request, known = Charges{}, Charges{}
		l.walkStates(row, add)
		l.Charges.Add(&request)
		over.addCharges(n, l.b.Requests.End.At(row), &known)
	}
	for by, of := range unnamed {
		for m, v := range of {
			if v != 0 {
				added(key{m: Mechanism(m), replay: derivation(by) == fromReplay}, v, derivation(by))
			}
		}
	}
	bound := func(ns int64, low, high float64) (string, *stats.Interval) { // less may be moved than a replay says: no more than there is
		return "bound", &stats.Interval{Low: min(low, float64(ns)), High: max(float64(ns), min(high, float64(l.Total)))}
	}
	for k, v := range sums {
		e := Entry{Mechanism: k.m, Detail: k.detail, Ns: v.ns, Sample: v.sample, Method: observed}
		switch {
		case k.replay:
			e.Method = MethodReplay
			low, high := l.movedBounds()
			e.Basis, e.Interval = bound(v.ns, low, high)
		case k.m == HostCPU && l.Host.Starved():
			e.Method = MethodShare
			low, high := l.Host.scaleBounds(v.ns)
			e.Basis, e.Interval = bound(v.ns, low, high)
		case l.queued != nil && k.m == PoolThread, l.stalled != nil && k.m == AllocationStall:
			e.Method = MethodShare
		case k.m == Queued && l.entrance.hasQueue(k.detail):
			e.Method = MethodShare
		case 2*v.sample > v.ns:
			e.Method = MethodSample
		case l.Traced:
		case l.occupancy != nil && k.m != StopTheWorld && k.m != Unobserved && k.m != Queued && k.m != GeneratorLag:
			e.Method = MethodShare
		case k.m == StopTheWorld:
			e.Method = MethodOverlap
			low, high := l.stoppedBounds()
			e.Basis, e.Interval = bound(v.ns, low, high)
		case k.m == Dependency, k.m == Pool, k.m == Queued && k.detail != 0, k.m == Delivery, k.m == Client:
			e.Method = MethodSpan
		default:
			e.Method = MethodOverlap
		}
		l.Entries = append(l.Entries, e)
	}
	slices.SortStableFunc(l.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(a.Mechanism, b.Mechanism), cmp.Compare(a.Detail, b.Detail))
	})
	l.estimateIntervals(over, block)
}

// hasSampledStates reports whether the states of the charged requests come from samples.
func (l *Ledger) hasSampledStates() bool {
	return slices.ContainsFunc(l.b.Covered(l.Subject, evidence.CoverStates), func(c evidence.Coverage) bool {
		a, ok := c.Origin.Artifact()
		return c.Sampled > 0 && ok && slices.Contains(l.traces, a)
	})
}

// isFrom reports whether an origin is in an artifact.
func isFrom(o evidence.Origin, a evidence.ArtifactID) bool {
	of, ok := o.Artifact()
	return ok && of == a
}
