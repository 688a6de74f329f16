package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
)

// traffic adds requests of a route, one each 100 ms, with the latencies given.
func (s source) traffic(route string, latencies ...int64) {
	for i, d := range latencies {
		at := epoch + int64(i)*100*ms
		s.Request(evidence.Request{Subject: s.subject, Route: s.Name(route), Start: at, End: at + d})
	}
}

func repeat(n int, d int64) (v []int64) {
	for range n {
		v = append(v, d)
	}
	return v
}

// TestFewerSlow makes requests of two routes shorter, each of which has its own threshold.
func TestFewerSlow(t *testing.T) {
	for _, tt := range []struct {
		name      string
		slo       time.Duration
		less      int64
		now, then float64 // of 40 + 40
	}{
		{"each route's threshold", 0, 20 * ms, 12. / 80, 8. / 80}, // of 6 ms and of 150
		{"not enough", 0, 19 * ms, 12. / 80, 12. / 80},
		{"objective", 160 * time.Millisecond, 11 * ms, 8. / 80, 0},
	} {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "access.log", coarse(1000*ms), 0)
		s.traffic("slow", append(repeat(32, 50*ms), repeat(8, 171*ms)...)...)
		s.traffic("fast", append(repeat(36, 2*ms), repeat(4, 26*ms)...)...)
		l := one(t, b, Options{SLO: tt.slo})
		if now, then := l.FewerSlow(func(int) int64 { return tt.less }); now != tt.now || then != tt.then {
			t.Errorf("%s: %g become %g, want %g and %g", tt.name, now, then, tt.now, tt.then)
		}
	}
}

// TestKin has routes with one request each beside one with many that is far quicker: they are held
// to what those below the same path take, and functions, of which nothing tells that they
// belong together, to the route with most requests.
func TestKin(t *testing.T) {
	for name, x := range map[string]struct {
		route string
		slow  int
	}{
		"one path":        {"GET /city/%s", 3},
		"one path deeper": {"GET /of/%s/city", 3},
		"root":            {"GET /%s", 30},
		"functions":       {"main.city%s", 30},
	} {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "access.log", coarse(ms/1000), 0)
		s.traffic("GET /health", repeat(40, ms/10)...)
		for i := range 30 {
			d := 40 * ms
			if i < 3 {
				d = 200 * ms
			}
			s.traffic(fmt.Sprintf(x.route, strings.Repeat("x", i+1)), d)
		}
		if l := one(t, b, Options{}); len(l.Slow) != x.slow {
			t.Errorf("%s: %d slow, want %d", name, len(l.Slow), x.slow)
		}
	}
}

// TestLongRoutes has a route that takes 30 ms beside one that takes 0.1: it is held to that one's
// floor if it computes, stands alone, and is not rare or takes much of the processors.
func TestLongRoutes(t *testing.T) {
	for name, x := range map[string]struct {
		kind         evidence.Kind
		usual, every int64
		apart        int64 // ns between requests
		slow         int
		unjudged     int // routes
	}{
		"computes":               {evidence.Running, ms / 10, 20, 50 * ms, 20, 0},
		"computes, one in 50":    {evidence.Running, ms / 10, 50, 50 * ms, 0, 1},
		"… and takes half a CPU": {evidence.Running, ms / 10, 20, 3 * ms, 20, 0},
		"awaits":                 {evidence.NetWait, ms / 10, 20, 2 * ms, 0, 0},
		"others take 2 ms":       {evidence.Running, 2 * ms, 20, 2 * ms, 0, 0},
		"computes for 12 ms":     {evidence.Running, ms / 10, 20, 50 * ms, 20, 0},
		"a third of the traffic": {evidence.Running, ms / 10, 3, 50 * ms, 0, 0},
	} {
		b := newBundle(evidence.Subject{CPUs: 2})
		s := newSource(b, "trace", exact, 0)
		for i := range int64(400) {
			route, kind, dur := "GET /word", evidence.Running, x.usual
			if i%x.every == 0 {
				route, kind, dur = "GET /solve", x.kind, 30*ms+i%7*ms
				if strings.HasSuffix(name, "12 ms") {
					dur = 12*ms + i%7*ms/10
				}
			}
			at := epoch + i*x.apart
			s.Request(evidence.Request{Subject: s.subject, Route: s.Name(route), Start: at, End: at + dur, Path: path(state(kind, dur))})
		}
		if l := one(t, b, Options{}); len(l.Slow) != x.slow || l.Long != x.slow || len(l.Unjudged) != x.unjudged {
			t.Errorf("%s: %d are slow, %d of long routes, want %d; %d routes not judged, want %d", name, len(l.Slow), l.Long, x.slow, len(l.Unjudged), x.unjudged)
		}
		if l := one(t, b, Options{SLO: 50 * time.Millisecond}); len(l.Slow) != 0 || l.Long != 0 || len(l.Unjudged) != 0 {
			t.Errorf("%s: %d are slow beside an objective", name, len(l.Slow))
		}
	}
}

// Requests that fail at once are no floor of those that are served, unless most fail.
func TestFailingAtOnceIsNoFloor(t *testing.T) {
	for name, x := range map[string]struct {
		failed, served int64
		slow           int
	}{"a third fails": {100, 200, 0}, "most fail": {200, 100, 100}, "none fails": {0, 300, 0}} {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "access.log", coarse(ms), 0)
		for i := range x.failed + x.served {
			at := epoch + i*40*ms
			r := evidence.Request{Subject: s.subject, Route: s.Name("GET /"), Start: at, End: at + 26*ms}
			if i < x.failed {
				r.End, r.Outcome = at+2*ms, evidence.Failed
			}
			s.Request(r)
		}
		if l := one(t, b, Options{}); len(l.Slow) != x.slow {
			t.Errorf("%s: %d are slow, want %d", name, len(l.Slow), x.slow)
		}
	}
}

func TestWhatIsSlow(t *testing.T) {
	type route struct {
		name      string
		latencies []int64
	}
	for _, tt := range []struct {
		name      string
		slo       time.Duration
		routes    []route
		rule      string
		threshold int64
		slow      []int64 // latencies, by end
	}{
		{"objective", 10 * time.Millisecond, []route{{"a", []int64{10 * ms, 10*ms + 1, 40 * ms}}}, RuleSLO, 10 * ms, []int64{10*ms + 1, 40 * ms}},
		{"three times the floor", 0, []route{{"a", append(repeat(30, 4*ms), 12*ms, 12*ms+1)}}, RuleFloor, 12 * ms, []int64{12*ms + 1}},
		{"each route has its floor", 0, []route{{"slow", append(repeat(30, 50*ms), 140*ms)}, {"fast", append(repeat(40, 2*ms), 7*ms)}},
			RuleFloor, 6 * ms, []int64{7 * ms}},
		{"a route with few requests is held to the largest's", 0, []route{{"rare", repeat(19, 20*ms)}, {"usual", repeat(40, 10*ms)}},
			RuleFloor, 30 * ms, nil},
		{"a rare route above it", 0, []route{{"rare", []int64{40 * ms}}, {"usual", repeat(40, 10*ms)}}, RuleFloor, 30 * ms, []int64{40 * ms}},
		{"rare requests that all take long", 0, []route{{"rare", append(repeat(9, 60*ms), 181*ms)}, {"usual", repeat(300, 10*ms)}}, RuleFloor, 30 * ms, []int64{181 * ms}},
		{"rare requests far longer than others", 0, []route{{"rare", repeat(9, 100*ms)}, {"usual", repeat(300, 10*ms)}}, RuleFloor, 30 * ms, repeat(9, 100*ms)},
		{"rare requests of which some take long", 0, []route{{"rare", append(repeat(5, 10*ms), repeat(5, 100*ms)...)}, {"usual", repeat(300, 10*ms)}}, RuleFloor, 30 * ms, repeat(5, 100*ms)},
		{"of two routes alike the first named", 0, []route{{"a", repeat(20, 5*ms)}, {"b", repeat(20, 9*ms)}}, RuleFloor, 15 * ms, nil},
		{"durations in whole ms: 0 is less than 1", 0, []route{{"a", append(repeat(30, 0), ms, 2*ms, 3*ms, 4*ms)}}, RuleFloor, 3 * ms, []int64{4 * ms}},
		{"durations in whole s", 0, []route{{"a", append(repeat(30, 0), 1000*ms, 4000*ms)}}, RuleFloor, 3000 * ms, []int64{4000 * ms}},
		{"handlers of some µs", 0, []route{{"a", append(repeat(30, 8e3), 30e3, 990e3, 1010e3)}}, RuleFloor, LeastSlow, []int64{1010e3}},
		{"durations in µs beside stamps of 1 s", 0, []route{{"a", append(repeat(30, 400e3), 1199e3, 1201e3)}}, RuleFloor, 1200e3, []int64{1201e3}},
	} {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "access.log", coarse(1000*ms), 0)
		for _, r := range tt.routes {
			s.traffic(r.name, r.latencies...)
		}
		l := one(t, b, Options{SLO: tt.slo})
		var slow []int64
		for _, i := range l.Slow {
			slow = append(slow, b.Requests.Latency(i))
		}
		if l.Rule != tt.rule || l.Threshold != tt.threshold {
			t.Errorf("%s: %s %d, want %s %d", tt.name, l.Rule, l.Threshold, tt.rule, tt.threshold)
		}
		if d := cmp.Diff(tt.slow, slow); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func TestTheFloorOfATracedRouteIsWhatItNeeds(t *testing.T) {
	// All requests wait 20 ms for others; none was ever fast. What they need is
	// 2 ms of work and 3 of a dependency.
	b := newBundle(evidence.Subject{})
	s := newSource(b, "trace", exact, 0)
	for i := range int64(40) {
		s.request(i*100*ms, i*100*ms+25*ms, path(state(evidence.Running, 2*ms), state(evidence.NetWait, 3*ms),
			evidence.Segment{Kind: evidence.Runnable, Dur: 20 * ms, Held: evidence.Shares{evidence.HeldByRequests: 20 * ms}}))
	}
	if l := one(t, b, Options{}); len(l.Slow) != 40 || l.Threshold != 15*ms {
		t.Errorf("%d of 40 are slow over %d ns, want all over 15 ms", len(l.Slow), l.Threshold)
	}
}

func TestUnfinishedRequestsAreLowerBounds(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "trace", exact, 0)
	add := func(at, dur int64, o evidence.Outcome) {
		s.Request(evidence.Request{Start: epoch + at, End: epoch + at + dur, Outcome: o, Path: path(state(evidence.Running, dur))})
	}
	for i := range int64(30) {
		add(i*100*ms, 10*ms, evidence.OK)
	}
	for i := range int64(50) {
		add(5000*ms+i, ms, evidence.Unfinished) // cut off after 1 ms: no floor
	}
	add(5000*ms, 500*ms, evidence.Unfinished) // at least 500 ms: slow
	l := one(t, b, Options{})
	if l.Threshold != 30*ms || len(l.Slow) != 1 || l.Total != 500*ms || l.Requests.Unfinished != 51 || l.Requests.Count != 81 {
		t.Errorf("threshold %d, %d slow, %d ns, %d of %d unfinished", l.Threshold, len(l.Slow), l.Total, l.Requests.Unfinished, l.Requests.Count)
	}
	if l.Requests.P99 != 500*ms {
		t.Errorf("p99 %d leaves out what did not finish", l.Requests.P99)
	}
}

func TestNothingFinished(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "trace", exact, 0)
	s.Request(evidence.Request{Start: epoch, End: epoch + 900*ms, Outcome: evidence.Unfinished, Path: path(state(evidence.Running, 900*ms))})
	if l := one(t, b, Options{}); l.Total != 900*ms {
		t.Errorf("%d ns are slow where no request ended and one took 900 ms", l.Total)
	}
}

// TestAServiceThatFinishesNextToNothing has no floor to be seen: those few that end
// take longer than a third of what the others have waited.
func TestAServiceThatFinishesNextToNothing(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "load", exact, 0)
	add := func(dur int64, o evidence.Outcome) {
		s.Request(evidence.Request{Start: epoch, End: epoch + dur, Outcome: o})
	}
	for i := range int64(3) {
		add((7+i)*1000*ms, evidence.OK)
	}
	for i := range 125 {
		add(10_000*ms, []evidence.Outcome{evidence.Unfinished, evidence.TimedOut}[i%2])
	}
	for range 5 {
		add(20*ms, evidence.Unfinished) // just begun
	}
	s.watched(evidence.CoverRequests, 0, 10_000*ms)
	if l := one(t, b, Options{}); l.Rule != RuleUnfinished || l.Threshold != 1000*ms || len(l.Slow) != 128 {
		t.Errorf("%d of 133 are slow over %d ns by %s, want 128 over 1 s", len(l.Slow), l.Threshold, l.Rule)
	}
	if l := one(t, b, Options{Baseline: Baseline{"": 700 * time.Millisecond}}); l.Rule != RuleBaseline || l.Threshold != 700*ms {
		t.Errorf("%s %d ns, want the baseline", l.Rule, l.Threshold)
	}
}

// Requests of which most fail after one and the same time were timed out, so those that succeed tell no baseline.
func TestTimedOutRequests(t *testing.T) {
	for name, c := range map[string]struct {
		failed, ok int           // requests
		spread     time.Duration // of the failed ones
		at         time.Duration
		rule       string
		slow       int
	}{
		"most after 2 s":         {90, 30, time.Millisecond, 2 * time.Second, RuleTimedOut, 90 + 30},
		"all after 300 ms":       {60, 0, 200 * time.Microsecond, 300 * time.Millisecond, RuleTimedOut, 60},
		"some":                   {30, 90, time.Millisecond, 2 * time.Second, RuleFloor, 0},
		"most, each at its time": {90, 30, 50 * time.Millisecond, 2 * time.Second, RuleFloor, 39},
		"most at once":           {90, 30, 0, time.Millisecond, RuleFloor, 30},
	} {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "load", exact, 0)
		add := func(dur time.Duration, o evidence.Outcome) {
			s.Request(evidence.Request{Start: epoch, End: epoch + dur.Nanoseconds(), Outcome: o})
		}
		for i := range c.failed {
			add(c.at+time.Duration(i)*c.spread, evidence.Failed)
		}
		for range c.ok {
			add(1500*time.Millisecond, evidence.OK)
		}
		s.watched(evidence.CoverRequests, 0, 10_000*ms)
		if l := one(t, b, Options{}); l.Rule != c.rule || len(l.Slow) != c.slow {
			t.Errorf("%s: %d are slow over %d ns by %s, want %d by %s", name, len(l.Slow), l.Threshold, l.Rule, c.slow, c.rule)
		}
	}
}

func TestWhatARequestAwaitsIsItsOwn(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "trace", exact, 0)
	for i := range int64(40) {
		k := []evidence.Kind{evidence.Awaiting, evidence.TaskWait}[i%2]
		s.request(i*1000*ms, i*1000*ms+510*ms, path(state(evidence.Running, 10*ms), state(k, 500*ms)))
	}
	s.Cover(evidence.Coverage{Kind: evidence.CoverStates, From: epoch, Until: epoch + 40_000*ms, Sampled: ms})
	if l := one(t, b, Options{}); len(l.Slow) != 0 {
		t.Errorf("%d are slow over %d ns: waiting 500 ms for what it asked for is what a request needs", len(l.Slow), l.Threshold)
	}
	l := one(t, b, Options{SLO: 100 * time.Millisecond})
	for _, e := range l.Entries {
		if e.Method != MethodSampled {
			t.Errorf("%s by %s, want %s", e.Mechanism, e.Method, MethodSampled)
		}
	}
}
