package ledger

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
)

func TestMeanAndExtremesAgreeWithTryingEveryPosition(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := stops{lo: -r.Int64N(40), hi: r.Int64N(120)}
		for at := r.Int64N(50); len(s.pauses) < r.IntN(8); at += r.Int64N(40) {
			s.pauses = append(s.pauses, pause{from: at, to: at + 1 + r.Int64N(20)})
		}
		s.mergePauses()
		from := r.Int64N(150)
		to := from + 1 + r.Int64N(60)
		slow := func(d int64) (n int64) {
			for at := from + d; at < to+d; at++ {
				if slices.ContainsFunc(s.pauses, func(p pause) bool { return p.from <= at && at < p.to }) {
					n++
				}
			}
			return n
		}
		least, most, sum := int64(math.MaxInt64), int64(0), 0.
		for d := s.lo; d <= s.hi; d++ {
			o := slow(d)
			least, most, sum = min(least, o), max(most, o), sum+float64(o)
			if d == s.lo || d == s.hi {
				sum -= float64(o) / 2 // trapezoids: the overlap is linear between whole ns
			}
		}
		mean := float64(slow(s.lo))
		if s.hi > s.lo {
			mean = sum / float64(s.hi-s.lo)
		}
		gotLeast, gotMost := s.stoppedExtremes(from, to)
		if gotLeast != least || gotMost != most {
			t.Fatalf("seed %d: [%d, %d) moved by %d…%d over %v: %d…%d, want %d…%d", seed, from, to, s.lo, s.hi, s.pauses, gotLeast, gotMost, least, most)
		}
		if got := s.meanStopped(from, to); got != int64(mean+1e-9) {
			t.Fatalf("seed %d: mean %d, want %g", seed, got, mean)
		}
	}
}

func TestMeanOfALongRecordingIsExact(t *testing.T) {
	// 30 days, a pause of 100 ms each second, positions within 1 s: every request
	// of 50 ms is stopped for 5 ms in the mean.
	var s stops
	s.hi = 1000 * ms
	for i := range int64(30 * 86400) {
		s.pauses = append(s.pauses, pause{from: epoch + i*1000*ms, to: epoch + i*1000*ms + 100*ms})
	}
	s.mergePauses()
	for _, at := range []int64{10, 86400, 29 * 86400} {
		from := epoch + at*1000*ms + 123*ms
		if got := s.meanStopped(from, from+50*ms); got != 5*ms {
			t.Errorf("after %d s: %d ns stopped, want 5 ms", at, got)
		}
	}
}

func TestWhosePausesCount(t *testing.T) {
	type seen struct {
		name  string
		clock evidence.Clock
		at    []int64 // ms; each lasts 10
		from  int64   // watched, ms
		until int64
	}
	for _, tt := range []struct {
		name    string
		log     evidence.Clock
		others  []seen
		stopped int64 // ms of a request from 0 to 1000
		lo, hi  int64
	}{
		{"one log", exact, []seen{{"gc", exact, []int64{100, 300}, 0, 1000}}, 20, 0, 0},
		{"two logs of one pause, 4 ms apart", exact,
			[]seen{{"worse", evidence.Clock{Error: ms}, []int64{104}, 0, 1000}, {"better", exact, []int64{100}, 0, 1000}}, 10, -ms, ms},
		{"a second log adds what the first did not watch", exact,
			[]seen{{"worse", evidence.Clock{Error: ms}, []int64{104, 700}, 0, 1000}, {"better", exact, []int64{100}, 0, 500}}, 20, -ms, ms},
		{"a log that cannot be placed", exact, []seen{{"gc", evidence.Clock{Error: evidence.Unanchored}, []int64{100}, 0, 1000}}, 0, 0, 0},
		{"requests that cannot be placed", evidence.Clock{Error: evidence.Unanchored}, []seen{{"gc", exact, []int64{100}, 0, 1000}}, 0, 0, 0},
		{"both clocks are off", evidence.Clock{Error: 2 * ms}, []seen{{"gc", evidence.Clock{Error: 3 * ms}, []int64{500}, 0, 1000}}, 10, -5 * ms, 5 * ms},
		{"both clocks truncate", coarse(7 * ms), []seen{{"gc", coarse(4 * ms), []int64{500}, 0, 1000}}, 10, -4*ms + 1, 7*ms - 1},
	} {
		b := newBundle(evidence.Subject{})
		log := newSource(b, "access.log", tt.log, 0)
		log.request(0, 1000*ms, nil)
		for _, o := range tt.others {
			g := newSource(b, o.name, o.clock, 0)
			for _, at := range o.at {
				g.pause(at*ms, (at+10)*ms)
			}
			g.watched(evidence.CoverGC, o.from*ms, o.until*ms)
		}
		l := one(t, b, Options{SLO: 1})
		if got := l.Charges[StopTheWorld]; got != tt.stopped*ms {
			t.Errorf("%s: %d ns stopped, want %d ms", tt.name, got, tt.stopped)
		}
		if l.stops.lo != tt.lo || l.stops.hi != tt.hi {
			t.Errorf("%s: requests may have to be moved by %d…%d ns, want %d…%d", tt.name, l.stops.lo, l.stops.hi, tt.lo, tt.hi)
		}
	}
}

func TestATraceKnowsItsPausesEvenIfItCannotBePlaced(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "trace", evidence.Clock{Error: evidence.Unanchored}, 0)
	s.request(0, 100*ms, path(state(evidence.Running, 20*ms), state(evidence.Unobserved, 80*ms)))
	s.pause(50*ms, 60*ms)
	s.watched(evidence.CoverGC, 0, 100*ms)
	other := newSource(b, "gc.log", exact, 0)
	other.pause(70*ms, 80*ms)
	l := one(t, b, Options{SLO: 1})
	want := Charges{Own: 20 * ms, StopTheWorld: 10 * ms, Unobserved: 70 * ms}
	if d := cmp.Diff(want, l.Of(0)); d != "" {
		t.Error(d)
	}
}

// truth is what a simulated service really did.
type truth struct {
	stopped  int64 // of slow requests, ns
	requests int
}

// service simulates requests that pauses lengthen and logs them by a clock.
// With wait > 0, that long a call of each lies at a random place within it, and
// a pause within the call costs only what it lasts beyond it.
func service(b *evidence.Bundle, seed uint64, clock evidence.Clock, slo, wait int64) (want truth) {
	r := rand.New(rand.NewPCG(seed, 9))
	log, gc := newSource(b, "access.log", clock, 0), newSource(b, "gc.log", exact, 0)
	const span = 60_000 * ms
	type span_ struct{ from, to int64 }
	var pauses []span_
	for at := int64(0); at < span; {
		at += 100*ms + r.Int64N(400*ms)
		p := span_{at, at + 20*ms + r.Int64N(20*ms)}
		pauses = append(pauses, p)
		gc.pause(p.from, p.to)
		at = p.to
	}
	gc.watched(evidence.CoverGC, 0, span)
	// run is when work of a duration that begins at a time ends, and what it was
	// stopped for.
	run := func(at, work int64) (end, stopped int64) {
		end = at + work
		for _, p := range pauses {
			if p.to <= at || p.from >= end {
				continue
			}
			d := p.to - max(p.from, at)
			stopped += d
			end += d
		}
		return end, stopped
	}
	for range 3000 {
		start := 1000*ms + r.Int64N(span-2000*ms)
		work := 2*ms + r.Int64N(10*ms)
		before := r.Int64N(work)
		end, cost := run(start, before)
		called := int64(0)
		if wait > 0 {
			answered := end + wait
			noticed, tail := run(answered, 0)
			for _, p := range pauses { // an answer during a pause is noticed after it
				if p.from <= answered && answered < p.to {
					noticed, tail = p.to, p.to-answered
				}
			}
			called, end, cost = noticed-end, noticed, cost+tail
		}
		end, stopped := run(end, work-before)
		cost += stopped
		stamp := end
		if res := clock.Resolution; res > 0 {
			stamp = (epoch+end)/res*res - epoch
		}
		var p evidence.Path
		if wait > 0 {
			p = path(state(evidence.NetWait, called), state(evidence.Unobserved, end-start-called))
		}
		log.request(stamp-(end-start), stamp, p)
		if end-start > slo {
			want.stopped += cost
			want.requests++
		}
	}
	return want
}

func TestBoundsHoldTheTruth(t *testing.T) {
	for _, tt := range []struct {
		name  string
		clock evidence.Clock
		wait  int64
		width float64 // at most, as a share of all slow time
		least float64 // at least: a narrow bound would be a lie
	}{
		{"exact stamps", exact, 0, 0, 0},
		{"stamps of 1 ms", coarse(ms), 0, .06, .001},
		{"stamps of 1 s", coarse(1000 * ms), 0, 1, .3},
		{"exact stamps, a call of 30 ms somewhere", exact, 30 * ms, 1, .1},
		{"stamps of 1 s, a call of 30 ms somewhere", coarse(1000 * ms), 30 * ms, 1, .2},
	} {
		for seed := range uint64(10) {
			b := newBundle(evidence.Subject{})
			slo := 15*ms + tt.wait
			want := service(b, seed, tt.clock, slo, tt.wait)
			l := one(t, b, Options{SLO: time.Duration(slo)})
			if len(l.Slow) != want.requests {
				t.Fatalf("%s: %d slow requests, want %d", tt.name, len(l.Slow), want.requests)
			}
			i := slices.IndexFunc(l.Entries, func(e Entry) bool { return e.Mechanism == StopTheWorld })
			if i < 0 {
				t.Fatalf("%s: no time was stopped", tt.name)
			}
			e := l.Entries[i]
			if e.Method != MethodOverlap || e.Basis != "bound" || !e.Interval.Contains(float64(want.stopped)) {
				t.Errorf("%s, seed %d: %.1f ms were stopped, the ledger says %.1f (%.1f–%.1f, %s %s)", tt.name, seed,
					float64(want.stopped)/1e6, float64(e.Ns)/1e6, e.Interval.Low/1e6, e.Interval.High/1e6, e.Method, e.Basis)
			}
			width := (e.Interval.High - e.Interval.Low) / float64(l.Total)
			if width > tt.width || width < tt.least {
				t.Errorf("%s, seed %d: the bounds are %.3f of slow time wide, want %g to %g", tt.name, seed, width, tt.least, tt.width)
			}
		}
	}
}

func TestAPauseInAWaitOfUnknownPlace(t *testing.T) {
	// 100 ms, of which a call took 60 somewhere; stopped for 80 of them.
	b := newBundle(evidence.Subject{})
	log, gc := newSource(b, "access.log", exact, 0), newSource(b, "gc.log", exact, 0)
	log.request(0, 100*ms, path(evidence.Segment{Kind: evidence.PoolWait, Dur: 10 * ms, Cause: 1}, evidence.Segment{Kind: evidence.NetWait, Dur: 50 * ms, Cause: 1}, state(evidence.Unobserved, 40*ms)))
	gc.pause(10*ms, 90*ms)
	l := one(t, b, Options{SLO: 1})
	want := Charges{Pool: 10 * ms, Dependency: 50 * ms, StopTheWorld: 32 * ms, Unobserved: 8 * ms}
	if d := cmp.Diff(want, l.Of(0)); d != "" {
		t.Error(d)
	}
	methods := map[Mechanism]string{}
	for _, e := range l.Entries {
		methods[e.Mechanism] = e.Method
		if e.Mechanism == StopTheWorld && (e.Interval.Low != 20e6 || e.Interval.High != 80e6) {
			t.Errorf("bounds %v: the waits can have hidden 60 of 80 ms or nothing", *e.Interval)
		}
	}
	if d := cmp.Diff(map[Mechanism]string{Pool: MethodSpan, Dependency: MethodSpan, StopTheWorld: MethodOverlap, Unobserved: MethodOverlap}, methods); d != "" {
		t.Error(d)
	}
	// Where the wait's place is known it takes its pauses.
	b = newBundle(evidence.Subject{})
	log, gc = newSource(b, "spans", exact, 0), newSource(b, "gc.log", exact, 0)
	log.request(0, 100*ms, path(state(evidence.Unobserved, 20*ms), state(evidence.NetWait, 60*ms), state(evidence.Unobserved, 20*ms)))
	gc.pause(10*ms, 90*ms)
	l = one(t, b, Options{SLO: 1})
	want = Charges{Dependency: 60 * ms, StopTheWorld: 20 * ms, Unobserved: 20 * ms}
	if d := cmp.Diff(want, l.Of(0)); d != "" {
		t.Error(d)
	}
}

// Looks at all threads stop the world for a moment each; the collector's pauses are what clocks must be exact for.
func TestTypicalPause(t *testing.T) {
	s := stops{}
	if got := s.typicalPause(); got != 0 {
		t.Errorf("without pauses: %d", got)
	}
	for i := range int64(100) {
		s.pauses = append(s.pauses, pause{from: i * 100 * ms, to: i*100*ms + 2*ms})
	}
	if got := s.typicalPause(); got != 2*ms {
		t.Errorf("short ones alone: %d", got)
	}
	for i := range int64(20) {
		s.pauses = append(s.pauses, pause{from: i*500*ms + 10*ms, to: i*500*ms + 50*ms})
	}
	if got := s.typicalPause(); got != 40*ms {
		t.Errorf("twenty of 40 ms among a hundred of 2 ms: %d", got)
	}
}
