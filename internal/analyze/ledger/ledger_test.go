package ledger

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
)

// epoch is when the tests happen; ms is the unit they count in.
const (
	epoch = int64(1_700_000_000e9)
	ms    = int64(1e6)
)

// source is one artifact of a test's bundle.
type source struct {
	*evidence.Builder
	subject evidence.SubjectID
}

func newSource(b *evidence.Bundle, name string, clock evidence.Clock, subject evidence.SubjectID) source {
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name}), name)
	*p.Clock() = clock
	return source{p, subject}
}

func newBundle(subjects ...evidence.Subject) *evidence.Bundle {
	b := evidence.NewBundle()
	b.Subjects = subjects
	return b
}

// exact is a clock without error; coarse truncates its stamps.
var exact = evidence.Clock{Name: "unix"}

func coarse(resolution int64) evidence.Clock {
	return evidence.Clock{Name: "unix", Resolution: resolution, Stamp: evidence.StampCompletion}
}

// request adds a request by its offsets from the epoch.
func (s source) request(start, end int64, p evidence.Path) {
	s.Request(evidence.Request{Subject: s.subject, Route: s.Name("GET /"), Start: epoch + start, End: epoch + end, Path: p})
}

func (s source) pause(from, to int64) {
	s.Interval(evidence.Interval{Subject: s.subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: epoch + from, End: epoch + to, Origin: s.Origin(1)})
}

func (s source) watched(kind string, from, until int64) {
	s.Cover(evidence.Coverage{Subject: s.subject, Kind: kind, From: epoch + from, Until: epoch + until})
}

func (s source) fact(key string, v float64) {
	s.Builder.Fact(evidence.Fact{Subject: s.subject, Key: key, Number: v})
}

func path(segments ...evidence.Segment) (p evidence.Path) {
	for _, s := range segments {
		p = p.Append(s)
	}
	return p
}

func state(k evidence.Kind, dur int64) evidence.Segment { return evidence.Segment{Kind: k, Dur: dur} }

// one builds the only ledger of a bundle.
func one(t *testing.T, b *evidence.Bundle, opt Options) *Ledger {
	t.Helper()
	all := Build(b, opt)
	if len(all) != 1 {
		t.Fatalf("%d ledgers, want 1", len(all))
	}
	checkSums(t, all[0])
	return all[0]
}

// checkSums asserts what holds of every ledger: nothing is lost or counted twice.
func checkSums(t *testing.T, l *Ledger) {
	t.Helper()
	r := &l.b.Requests
	var all Charges
	var total int64
	for _, row := range l.Rows {
		latency := r.Latency(row)
		at := r.End.At(row) - latency
		var sum int64
		l.Walk(row, func(from int64, s evidence.Segment, c *Charges) {
			if from != at || s.Dur <= 0 {
				t.Fatalf("request %d: a state begins at %d and lasts %d, the one before ended at %d", row, from, s.Dur, at)
			}
			for m, v := range c {
				if v < 0 {
					t.Fatalf("request %d: %d ns of %v", row, v, Mechanism(m))
				}
			}
			if c.Sum() != s.Dur {
				t.Fatalf("request %d: %d ns charged of a state of %d (%+v: %v)", row, c.Sum(), s.Dur, s, *c)
			}
			at += s.Dur
			sum += s.Dur
		})
		if of := l.Of(row); sum != latency || of.Sum() != latency {
			t.Fatalf("request %d: its states sum to %d, its charges to %d, its latency is %d", row, sum, of.Sum(), latency)
		}
	}
	for _, row := range l.Slow {
		c := l.Of(row)
		all.Add(&c)
		total += r.Latency(row)
	}
	var entries int64
	for _, e := range l.Entries {
		entries += e.Ns
		if e.Ns <= 0 {
			t.Fatalf("an entry without time: %+v", e)
		}
		if e.Basis == "bound" && (e.Interval.Low > float64(e.Ns) || e.Interval.High < float64(e.Ns)-1) {
			t.Fatalf("%v: %d ns is not within its bounds %v", e.Mechanism, e.Ns, *e.Interval)
		}
		if (e.Interval == nil) != (e.Basis == "") {
			t.Fatalf("%v: basis %q of the interval %v", e.Mechanism, e.Basis, e.Interval)
		}
	}
	if all != l.Charges || total != l.Total || entries != l.Total {
		t.Fatalf("slow time is %d ns, the ledger says %d, its entries sum to %d, its charges to %d", total, l.Total, entries, l.Charges.Sum())
	}
}

func TestMechanismOfEachState(t *testing.T) {
	held := func(h evidence.Shares) evidence.Segment {
		return evidence.Segment{Kind: evidence.Runnable, Dur: h.Sum(), Held: h}
	}
	holder := func(k, holds evidence.Kind) evidence.Segment {
		return evidence.Segment{Kind: k, Dur: 9, Holder: 7, HolderKind: holds}
	}
	short := held(evidence.Shares{evidence.HeldByCollector: 9})
	short.Dur = 10
	for _, tt := range []struct {
		name string
		s    evidence.Segment
		want Charges
	}{
		{"running", state(evidence.Running, 9), Charges{Own: 9}},
		{"system call", state(evidence.Syscall, 9), Charges{Kernel: 9}},
		{"network", state(evidence.NetWait, 9), Charges{Dependency: 9}},
		{"client", state(evidence.ClientWait, 9), Charges{Client: 9}},
		{"channel", state(evidence.SyncWait, 9), Charges{Goroutine: 9}},
		{"sleep", state(evidence.SleepWait, 9), Charges{Timer: 9}},
		{"assist", state(evidence.GCAssist, 9), Charges{MarkAssist: 9}},
		{"assist wait", state(evidence.GCAssistWait, 9), Charges{MarkAssist: 9}},
		{"sweep", state(evidence.GCSweep, 9), Charges{MarkAssist: 9}},
		{"gc wait", state(evidence.GCWait, 9), Charges{MarkAssist: 9}},
		{"paused", state(evidence.Paused, 9), Charges{StopTheWorld: 9}},
		{"unobserved", state(evidence.Unobserved, 9), Charges{Unobserved: 9}},
		{"unknown", state(evidence.KindUnknown, 9), Charges{Unexplained: 9}},
		{"not a state of a lane", state(evidence.GCCycle, 9), Charges{Unexplained: 9}},
		{"a kind of a later version", state(200, 9), Charges{Unexplained: 9}},
		{"ready, by holder", held(evidence.Shares{1, 2, 4, 8, 16, 32, 64}),
			Charges{CollectorCPU: 3, RequestsCPU: 4, BackgroundCPU: 24, StopTheWorld: 32, Wakeup: 64}},
		{"ready, nobody knows who held", state(evidence.Runnable, 9), Charges{Unexplained: 9}},
		{"ready, shares that do not add up", short, Charges{Unexplained: 10}},
		{"lock", holder(evidence.LockWait, evidence.Running), Charges{Lock: 9}},
		{"lock of one that waits for a dependency", holder(evidence.LockWait, evidence.NetWait), Charges{Lock: 9}},
		{"lock of one that assists", holder(evidence.LockWait, evidence.GCAssist), Charges{MarkAssist: 9}},
		{"lock of one that waits for the collector", holder(evidence.LockWait, evidence.GCWait), Charges{MarkAssist: 9}},
		{"lock of one that is stopped", holder(evidence.LockWait, evidence.Paused), Charges{StopTheWorld: 9}},
		{"lock of nobody known", state(evidence.LockWait, 9), Charges{Lock: 9}},
		{"pool", holder(evidence.PoolWait, evidence.Running), Charges{Pool: 9}},
		{"pool whose holder sweeps", holder(evidence.PoolWait, evidence.GCSweep), Charges{MarkAssist: 9}},
		{"pool whose holder is stopped", holder(evidence.PoolWait, evidence.Paused), Charges{StopTheWorld: 9}},
	} {
		got := Charges{Own: 1}
		chargeSegment(&tt.s, &got)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func TestPrecedence(t *testing.T) {
	// Waits for 5, then: running 3, a network wait 6, unobserved 4, and 2 that no
	// state covers. Pauses at 2–4 (in the queue), 10–12 (inside the wait), 15–17
	// and 19–21 (in time without a state).
	b := newBundle(evidence.Subject{})
	s := newSource(b, "trace", exact, 0)
	s.Request(evidence.Request{Intended: epoch, Start: epoch + 5*ms, End: epoch + 20*ms,
		Path: path(state(evidence.Running, 3*ms), state(evidence.NetWait, 6*ms), state(evidence.Unobserved, 4*ms))})
	for _, at := range []int64{2, 10, 15, 19} {
		s.pause(at*ms, (at+2)*ms)
	}
	s.watched(evidence.CoverGC, 0, 30*ms)
	l := one(t, b, Options{SLO: time.Millisecond})
	want := Charges{Queued: 5 * ms, Own: 3 * ms, Dependency: 6 * ms, StopTheWorld: 3 * ms, Unobserved: 3 * ms}
	if d := cmp.Diff(want, l.Of(0)); d != "" {
		t.Error(d)
	}
}

func TestAPauseInATracedWaitCostsOnlyItsTail(t *testing.T) {
	// The answer came at 10, in the middle of a pause from 8 to 12.
	b := newBundle(evidence.Subject{})
	s := newSource(b, "trace", exact, 0)
	s.request(0, 15*ms, path(
		state(evidence.NetWait, 10*ms),
		evidence.Segment{Kind: evidence.Runnable, Dur: 2 * ms, Held: evidence.Shares{evidence.HeldByStop: 2 * ms}},
		state(evidence.Running, 3*ms)))
	s.pause(8*ms, 12*ms)
	want := Charges{Dependency: 10 * ms, StopTheWorld: 2 * ms, Own: 3 * ms}
	if d := cmp.Diff(want, one(t, b, Options{SLO: 1}).Of(0)); d != "" {
		t.Error(d)
	}
}

func TestRequestsThatContradictThemselves(t *testing.T) {
	running := path(state(evidence.Running, 10*ms))
	for _, tt := range []struct {
		name string
		q    evidence.Request
		want Charges
	}{
		{"meant to be sent after it began: clocks differ", evidence.Request{Intended: epoch + 4*ms, Start: epoch, End: epoch + 10*ms, Path: running}, Charges{Own: 6 * ms}},
		{"states longer than the request", evidence.Request{Start: epoch, End: epoch + 8*ms, Path: running}, Charges{Own: 8 * ms}},
		{"states shorter than the request", evidence.Request{Start: epoch, End: epoch + 12*ms, Path: running}, Charges{Own: 10 * ms, Unobserved: 2 * ms}},
		{"began after its end", evidence.Request{Intended: epoch, Start: epoch + 9*ms, End: epoch + 8*ms, Path: running}, Charges{Queued: 8 * ms}},
		{"when work began is not known", evidence.Request{Intended: epoch, End: epoch + 8*ms}, Charges{Unobserved: 8 * ms}},
		{"shares are cut, too", evidence.Request{Intended: epoch + 5, Start: epoch, End: epoch + 9,
			Path: path(evidence.Segment{Kind: evidence.Runnable, Dur: 9, Held: evidence.Shares{evidence.HeldByCollector: 5, evidence.HeldByRequests: 4}})},
			Charges{CollectorCPU: 3, RequestsCPU: 1}},
	} {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "trace", exact, 0)
		s.Request(tt.q)
		if d := cmp.Diff(tt.want, one(t, b, Options{SLO: 1}).Of(0)); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func TestRequestsWithoutALatencyAreLeftOut(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "access.log", exact, 0)
	s.request(0, 5*ms, nil)
	s.Request(evidence.Request{End: epoch})                             // neither beginning is known
	s.Request(evidence.Request{Intended: epoch + 5, End: epoch + 4})    // ends before it was sent
	s.Request(evidence.Request{Start: epoch + 5*ms, End: epoch + 5*ms}) // took no time: that is a latency
	l := one(t, b, Options{SLO: time.Millisecond})
	if len(l.Rows) != 2 || l.Requests.Count != 2 || l.Total != 5*ms {
		t.Errorf("%d rows, %d requests, %d ns slow; want 2, 2, 5 ms", len(l.Rows), l.Requests.Count, l.Total)
	}
	if len(b.Warnings) != 1 || b.Warnings[0].Count != 2 {
		t.Errorf("warnings: %+v, want one, counted twice", b.Warnings)
	}
}

// randomPath is any sequence of states for a request of a duration, well formed
// or not.
func randomPath(r *rand.Rand, dur int64) (p evidence.Path) {
	for left := dur; left > 0 && r.IntN(12) > 0; {
		s := evidence.Segment{Kind: evidence.Kind(r.IntN(int(evidence.Serves) + 2)), Dur: 1 + r.Int64N(left), Cause: evidence.NameID(r.IntN(3))}
		if r.IntN(30) == 0 {
			s.Dur = left + r.Int64N(10) // longer than the request
		}
		if r.IntN(2) == 0 {
			s.Holder, s.HolderKind = evidence.LaneID(r.IntN(4)), evidence.Kind(r.IntN(int(evidence.Serves)+2))
		}
		if s.Kind == evidence.Runnable && r.IntN(5) > 0 {
			for rest := s.Dur; rest > 0; {
				v := 1 + r.Int64N(rest)
				s.Held[r.IntN(len(s.Held))] += v
				rest -= v
			}
			if r.IntN(10) == 0 {
				s.Held[0]++
			}
		}
		p = p.Append(s)
		left -= s.Dur
	}
	return p
}

func TestEveryRequestSumsToItsLatency(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBundle(evidence.Subject{CPUs: r.IntN(3)})
		clock := []evidence.Clock{exact, coarse(ms), coarse(1000 * ms), {Error: 3 * ms}, {Error: evidence.Unanchored}}[r.IntN(5)]
		s := newSource(b, "requests", clock, 0)
		g := s
		if r.IntN(2) == 0 {
			g = newSource(b, "gc.log", evidence.Clock{Error: r.Int64N(2 * ms)}, 0)
		}
		var span int64 = 5000 * ms
		for at := int64(0); at < span; {
			at += 1 + r.Int64N(400*ms)
			g.pause(at, at+r.Int64N(60*ms)) // they may overlap
		}
		statesKnown, pathsKnown := r.IntN(2) == 0, r.IntN(3) > 0
		for range 1 + r.IntN(200) {
			q := evidence.Request{Route: evidence.NameID(r.IntN(4)), Outcome: evidence.Outcome(r.IntN(4))}
			dur := r.Int64N(100 * ms)
			q.Start = epoch + r.Int64N(span)
			q.End = q.Start + dur
			if r.IntN(3) == 0 {
				q.Intended = q.Start - r.Int64N(50*ms) + 5*ms
			}
			if r.IntN(20) == 0 {
				q.Start = 0
			}
			switch {
			case statesKnown:
				q.Path = randomPath(r, dur)
			case pathsKnown && dur > 3:
				pool, net := r.Int64N(dur/2), r.Int64N(dur/2)
				q.Path = path(state(evidence.PoolWait, pool), state(evidence.NetWait, net), state(evidence.Unobserved, dur-pool-net))
			}
			s.Request(q)
		}
		if r.IntN(2) == 0 {
			s.fact(evidence.FactShortCalls, 1000)
			s.fact(evidence.FactShortCallMedian, 1)
			s.fact(evidence.FactShortCallMean, 1+10*r.Float64())
			s.fact(evidence.FactRunTime, 1000)
			s.fact(evidence.FactLongRuns, 1500*r.Float64())
		}
		for _, l := range Build(b, Options{SLO: time.Duration(r.IntN(2)) * 20 * time.Millisecond}) {
			checkSums(t, l)
		}
	}
}

func TestStarvedHost(t *testing.T) {
	build := func(mean, longRuns float64, slowOwn int64) *Ledger {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "trace", exact, 0)
		for i := range int64(100) {
			own := 2 * ms
			if i%2 == 0 {
				own = slowOwn
			}
			at := i * 100 * ms
			s.request(at, at+own+3*ms, path(state(evidence.Running, own), state(evidence.NetWait, 2*ms),
				evidence.Segment{Kind: evidence.Runnable, Dur: ms, Held: evidence.Shares{evidence.HeldByNobody: ms}}))
		}
		s.fact(evidence.FactShortCalls, 1000)
		s.fact(evidence.FactShortCallMedian, 2000)
		s.fact(evidence.FactShortCallMean, mean)
		s.fact(evidence.FactRunTime, 1e9)
		s.fact(evidence.FactLongRuns, longRuns*1e9)
		return one(t, b, Options{SLO: time.Millisecond})
	}
	quiet := build(3000, 0, 2*ms)
	if quiet.Host.Starved() || !quiet.Host.Known || quiet.Charges[HostCPU] != 0 || quiet.Charges[Own] != 200*ms {
		t.Errorf("calls take 1.5 × their median: %+v, %v", quiet.Host, quiet.Charges)
	}
	peer := build(20000, 0, 2*ms)
	if peer.Host.Starved() {
		t.Errorf("only the calls are slow, not the work: %+v", peer.Host)
	}
	starved := build(20000, .3, 20*ms) // work takes (20+2)/2 ÷ 2 = 5.5 × its quarter, calls 10 ×
	h := starved.Host
	if truth := 1 - 1/5.5; h.Share > truth || h.Low > h.Share || h.High < truth {
		t.Errorf("share %+v, want at most %.2f, and that within its bounds", h, truth)
	}
	c := starved.Charges
	if c[Wakeup] != 0 || c[Dependency] != 200*ms || c[Own]+c[HostCPU] != 1100*ms+100*ms {
		t.Errorf("charges %v: all wake-ups and part of running belong to the host, network waits do not", c)
	}
	if c[Own] < 200*ms {
		t.Errorf("%d ns of own work remain, each request needs 2 ms", c[Own])
	}
	worst := build(8000, .95, 2*ms) // 4 × in calls, nearly all runs long
	if h := worst.Host; h.High < h.Share || h.Low > h.Share {
		t.Errorf("bounds do not hold the share: %+v", h)
	}
}

func TestChoiceOfSource(t *testing.T) {
	type src struct {
		name      string
		n, traced int
		pool      bool
		hidden    bool // most of each traced one
	}
	for _, tt := range []struct {
		name           string
		sources        []src
		source, widest evidence.ArtifactID
		traced         bool
	}{
		{"a trace beside a longer log", []src{{name: "log", n: 500}, {name: "trace", n: 50, traced: 50}}, 1, 0, true},
		{"too few traced", []src{{name: "log", n: 500}, {name: "trace", n: 5, traced: 5}}, 0, 0, false},
		{"a few traced and nothing else", []src{{name: "trace", n: 5, traced: 5}}, 0, 0, true},
		{"a trace that lost most states", []src{{name: "log", n: 500}, {name: "trace", n: 100, traced: 40}}, 0, 0, false},
		{"the longer of two traces", []src{{name: "a", n: 30, traced: 30}, {name: "b", n: 60, traced: 60}}, 1, 1, true},
		{"the shorter of two traces, if it knows more states", []src{{name: "a", n: 60, traced: 60, hidden: true}, {name: "b", n: 30, traced: 30}}, 1, 0, true},
		{"a log with waits for its upstream and their queue has no states", []src{{name: "haproxy", n: 500, pool: true}}, 0, 0, false},
		{"of two alike the first", []src{{name: "a", n: 30}, {name: "b", n: 30}}, 0, 0, false},
	} {
		b := newBundle(evidence.Subject{})
		for _, x := range tt.sources {
			s := newSource(b, x.name, exact, 0)
			for i := range int64(x.n) {
				var p evidence.Path
				switch {
				case x.hidden:
					p = path(state(evidence.Unobserved, 4*ms), state(evidence.Running, ms))
				case int(i) < x.traced:
					p = path(state(evidence.Running, 5*ms))
				case x.pool:
					p = path(state(evidence.PoolWait, ms), state(evidence.NetWait, 3*ms), state(evidence.Unobserved, ms))
				}
				s.request(i*10*ms, i*10*ms+5*ms, p)
			}
		}
		l := one(t, b, Options{SLO: time.Millisecond})
		if l.Source != tt.source || l.Requests.Source != tt.widest || l.Traced != tt.traced {
			t.Errorf("%s: charges source %d, figures of %d, traced %v; want %d, %d, %v", tt.name, l.Source, l.Requests.Source, l.Traced, tt.source, tt.widest, tt.traced)
		}
		if l.Requests.Count != tt.sources[tt.widest].n || len(l.Rows) != tt.sources[tt.source].n {
			t.Errorf("%s: %d requests, %d rows", tt.name, l.Requests.Count, len(l.Rows))
		}
	}
}

func TestTwoSubjectsHaveTwoLedgers(t *testing.T) {
	b := newBundle(evidence.Subject{Name: "a"}, evidence.Subject{Name: "nothing"}, evidence.Subject{Name: "b"})
	first, second := newSource(b, "a.log", exact, 0), newSource(b, "b.log", exact, 2)
	for i := range int64(30) {
		first.request(i*100*ms, i*100*ms+20*ms, nil)
		second.request(i*100*ms, i*100*ms+40*ms, nil)
	}
	first.pause(5*ms, 15*ms) // stops only the first
	all := Build(b, Options{SLO: 10 * time.Millisecond})
	if len(all) != 2 || all[0].Subject != 0 || all[1].Subject != 2 {
		t.Fatalf("%d ledgers, want those of subjects 0 and 2", len(all))
	}
	for _, l := range all {
		checkSums(t, l)
	}
	if all[0].Charges[StopTheWorld] != 10*ms || all[1].Charges[StopTheWorld] != 0 || all[1].Total != 30*40*ms {
		t.Errorf("stopped %d and %d ns, the second's slow time %d ns", all[0].Charges[StopTheWorld], all[1].Charges[StopTheWorld], all[1].Total)
	}
}

func TestSamplingIntervals(t *testing.T) {
	build := func(n int64) *Ledger {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "trace", exact, 0)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range n {
			at, own := i*100*ms, 10*ms+r.Int64N(10*ms)
			s.request(at, at+own+3*ms, path(state(evidence.Running, own),
				evidence.Segment{Kind: evidence.NetWait, Dur: 2 * ms, Cause: s.Name("a")}, evidence.Segment{Kind: evidence.NetWait, Dur: ms, Cause: s.Name("b")}))
		}
		return one(t, b, Options{SLO: time.Millisecond})
	}
	entry := func(l *Ledger, m Mechanism) Entry {
		i := slices.IndexFunc(l.Entries, func(e Entry) bool { return e.Mechanism == m })
		return l.Entries[i]
	}
	long := build(400) // 40 s in blocks of 5 × 23 ms
	e := entry(long, Own)
	if e.Basis != "sampling" || !e.Interval.Contains(float64(e.Ns)) {
		t.Errorf("own work: %d ns, %q %v", e.Ns, e.Basis, e.Interval)
	}
	if w := e.Interval.High - e.Interval.Low; w <= 0 || w > .1*float64(e.Ns) {
		t.Errorf("own work of 400 requests is known to %.3g of it", w/float64(e.Ns))
	}
	if d := entry(long, Dependency); d.Interval != nil {
		t.Errorf("one of two dependencies has the interval of both: %v", d.Interval)
	}
	if e := entry(build(21), Own); e.Interval != nil {
		t.Errorf("21 requests in 2.1 s, fewer than 20 blocks, have an interval: %v", e.Interval)
	}
	if e := entry(build(19), Own); e.Interval != nil {
		t.Errorf("19 requests have an interval: %v", e.Interval)
	}
}

func TestSamplingCountsTheLastRequest(t *testing.T) {
	// The last request, whose end is the window's, is longer than any block's rest.
	b := newBundle(evidence.Subject{})
	s := newSource(b, "trace", exact, 0)
	for i := range int64(2000) {
		own := 2 * ms
		if i == 1999 {
			own = 90 * ms
		}
		s.request(i*10*ms, i*10*ms+own, path(state(evidence.Running, own)))
	}
	l := one(t, b, Options{SLO: time.Millisecond})
	if e := l.Entries[0]; e.Interval == nil || !(e.Interval.High > float64(e.Ns)) {
		t.Errorf("the last request is outside the window: %d ns, %v", e.Ns, e.Interval)
	}
}

func BenchmarkBuild(b *testing.B) {
	bundle := newBundle(evidence.Subject{})
	s := newSource(bundle, "trace", exact, 0)
	r := rand.New(rand.NewPCG(1, 2))
	kinds := []evidence.Kind{evidence.Running, evidence.Runnable, evidence.Running, evidence.NetWait, evidence.Runnable, evidence.Running,
		evidence.GCAssist, evidence.Running, evidence.Syscall, evidence.LockWait, evidence.Runnable, evidence.Running}
	const n = 1_000_000
	var bytes int64
	for i := range int64(n) {
		var p evidence.Path
		var dur int64
		for _, k := range kinds {
			x := state(k, 1+r.Int64N(100_000))
			if i%50 == 0 {
				x.Dur *= 10
			}
			switch k {
			case evidence.Runnable:
				x.Held = evidence.Shares{evidence.HeldByCollector: x.Dur / 3, evidence.HeldByRequests: x.Dur - x.Dur/3}
			case evidence.LockWait:
				x.Holder, x.HolderKind = 3, evidence.Running
			}
			dur += x.Dur
			p = p.Append(x)
		}
		bytes += int64(len(p))
		s.Request(evidence.Request{Route: evidence.NameID(1 + i%20), Start: epoch + i*ms, End: epoch + i*ms + dur, Path: p})
	}
	for i := range int64(10_000) {
		s.pause(i*100*ms, i*100*ms+ms/5)
	}
	b.SetBytes(bytes)
	for b.Loop() {
		if l := Build(bundle, Options{}); len(l[0].Slow) == 0 {
			b.Fatal("nothing is slow")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/request")
}
