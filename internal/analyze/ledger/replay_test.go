package ledger

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/evidence"
)

// queueing is a service of c servers whose demands are known here and nowhere in
// the evidence: requests arrive at random, pauses of a length come at intervals.
type queueing struct {
	servers      int
	seed         uint64
	load         float64
	demand       func(r *rand.Rand) int64
	pause, every int64
	clock        evidence.Clock // of the log
	cpus         int            // as the evidence has it
	started      bool           // the log says when work began
	slo          int64
	elsewhere    int64 // ns that each request waits for something else
}

const queueSpan = 60_000 * ms

// build returns the bundle, and what slow requests waited behind pauses, other
// than while they were stopped themselves (ns; the whole effect on the time
// before Start if that is in the log).
func (q queueing) build() (b *evidence.Bundle, truth int64) {
	r := rand.New(rand.NewPCG(q.seed, 77))
	b = newBundle(evidence.Subject{CPUs: q.cpus})
	log, gc := newSource(b, "access.log", q.clock, 0), newSource(b, "gc.log", exact, 0)
	model := queue.Queue{Servers: q.servers}
	for at := q.every; at < queueSpan; at += q.every {
		model.Stops = append(model.Stops, queue.Stop{From: at, To: at + q.pause})
		gc.pause(at, at+q.pause)
	}
	gc.watched(evidence.CoverGC, 0, queueSpan)
	var mean float64
	for range 10000 {
		mean += float64(q.demand(r)) / 10000
	}
	var arrive, demand []int64
	for at := 0.; at < float64(queueSpan); at += r.ExpFloat64() * mean / (q.load * float64(q.servers)) {
		arrive, demand = append(arrive, int64(at)), append(demand, q.demand(r))
	}
	out, err := model.Replay(arrive, demand, make([]int64, len(arrive)), nil)
	if err != nil {
		panic(err)
	}
	var seen stops
	for _, s := range model.Stops {
		seen.pauses = append(seen.pauses, pause{from: s.From, to: s.To})
	}
	seen.mergePauses()
	for i, at := range arrive {
		latency := out.With.Latency[i] + q.elsewhere
		stamp := at + latency
		if res := q.clock.Resolution; res > 0 {
			stamp = (epoch+stamp)/res*res - epoch
		}
		x := evidence.Request{Start: epoch + stamp - latency, End: epoch + stamp}
		if q.started {
			x.Intended, x.Start = x.Start, x.Start+out.With.Wait[i]
		}
		log.Request(x)
		switch {
		case latency <= q.slo:
		case q.started:
			truth += out.With.Wait[i] - out.Without.Wait[i]
		default:
			truth += out.With.Latency[i] - out.Without.Latency[i] - seen.stoppedWithin(at, at+latency)
		}
	}
	return b, truth
}

func constant(d int64) func(*rand.Rand) int64 { return func(*rand.Rand) int64 { return d } }

func uniform(from, to int64) func(*rand.Rand) int64 {
	return func(r *rand.Rand) int64 { return from + r.Int64N(to-from) }
}

func replayEntry(l *Ledger) *Entry {
	i := slices.IndexFunc(l.Entries, func(e Entry) bool { return e.Method == MethodReplay })
	if i < 0 {
		return nil
	}
	return &l.Entries[i]
}

func TestReplaySplitsTheTimeBeforeStart(t *testing.T) {
	for _, servers := range []int{1, 2, 4} {
		for seed := range uint64(5) {
			q := queueing{servers: servers, seed: seed, load: .6, demand: uniform(2*ms, 20*ms), pause: 300 * ms, every: 2000 * ms, started: true, slo: 50 * ms}
			b, truth := q.build()
			l := one(t, b, Options{SLO: time.Duration(q.slo)})
			if !l.Replay.Used || l.Replay.Splits != Queued || l.Replay.Servers != servers {
				t.Fatalf("%d servers: %+v", servers, l.Replay)
			}
			e := replayEntry(l)
			if e == nil || e.Mechanism != StopTheWorld || e.Ns != truth || e.Basis != "bound" || !e.Interval.Contains(float64(truth)) {
				t.Errorf("%d servers, seed %d: %d ns were waited for pauses, the ledger says %+v", servers, seed, truth, e)
			}
			if l.Charges[Queued] <= 0 {
				t.Errorf("%d servers, seed %d: no waiting is left to the load", servers, seed)
			}
		}
	}
}

func exponential(mean int64) func(*rand.Rand) int64 {
	return func(r *rand.Rand) int64 { return int64(float64(mean) * r.ExpFloat64()) }
}

func oneInTen(d, rare int64) func(*rand.Rand) int64 {
	return func(r *rand.Rand) int64 {
		if r.IntN(10) == 0 {
			return rare
		}
		return d
	}
}

func TestReplayOfALogWithDurationsOnly(t *testing.T) {
	for _, tt := range []struct {
		name   string
		demand func(*rand.Rand) int64
		clock  evidence.Clock
		least  int     // of 10 runs the model must be usable in
		off    float64 // how far the figure may be below the truth: clamping it to what was observed only takes away
	}{
		{"constant work", constant(5 * ms), exact, 10, .05},
		{"constant work, stamps of 1 ms", constant(5 * ms), coarse(ms), 10, .15},
		{"work that varies by half", uniform(3*ms, 7*ms), exact, 10, .15},
		{"exponential work", exponential(5 * ms), exact, 7, .30},
		{"one in ten takes eight times as long", oneInTen(3*ms, 25*ms), exact, 7, .35},
	} {
		used := 0
		for _, servers := range []int{1, 2} {
			for seed := range uint64(5) {
				q := queueing{servers: servers, seed: seed, load: .4, demand: tt.demand, pause: 400 * ms, every: 3000 * ms, clock: tt.clock, cpus: servers, slo: 30 * ms}
				b, truth := q.build()
				l := one(t, b, Options{SLO: time.Duration(q.slo)})
				e := replayEntry(l)
				if !l.Replay.Used {
					continue
				}
				used++
				if e == nil || l.Replay.Splits != Unobserved || e.Mechanism != StopTheWorld || !e.Interval.Contains(float64(truth)) {
					t.Errorf("%s, %d servers, seed %d: %.1f ms were waited behind pauses, the ledger says %+v (%v)", tt.name, servers, seed, float64(truth)/1e6, e, e.Interval)
					continue
				}
				if off := float64(e.Ns-truth) / float64(truth); off < -tt.off || off > .1 {
					t.Errorf("%s, %d servers, seed %d: %.0f %% off the truth", tt.name, servers, seed, 100*off)
				}
			}
		}
		if used < tt.least {
			t.Errorf("%s: used in %d of 10 runs, want %d", tt.name, used, tt.least)
		}
	}
}

func TestWhereReplayIsNotUsed(t *testing.T) {
	log := queueing{servers: 1, load: .4, demand: constant(5 * ms), pause: 400 * ms, every: 3000 * ms, cpus: 1, slo: 30 * ms}
	started := log
	started.started = true
	with := func(q queueing, change func(*queueing)) queueing { change(&q); return q }
	for _, tt := range []struct {
		name   string
		q      queueing
		change func(*evidence.Bundle)
		why    string
	}{
		{"stamps of 1 s beside pauses of .4 s", with(log, func(q *queueing) { q.clock = coarse(1000 * ms) }), nil, "may differ by 1 s, which is more than a pause lasts (400 ms)"},
		{"the same with a beginning", with(started, func(q *queueing) { q.clock = coarse(1000 * ms) }), nil, "may differ by 1 s"},
		{"clocks that cannot be joined", with(log, func(q *queueing) { q.clock.Error = evidence.Unanchored }), nil, "no pauses are known"},
		{"no pause", with(log, func(q *queueing) { q.every = 2 * queueSpan }), nil, "no pauses are known"},
		{"processors unknown", with(log, func(q *queueing) { q.cpus = 0 }), nil, "the number of CPUs is unknown"},
		{"few requests", with(log, func(q *queueing) { q.load = .005 }), nil, "at least 100 requests"},
		{"always near a pause", with(log, func(q *queueing) { q.every, q.pause, q.load = 500*ms, 260*ms, .1 }), nil, "far from any pause"},
		{"work that varies widely, pauses that hardly matter", with(log, func(q *queueing) {
			q.demand = exponential(5 * ms)
			q.pause, q.cpus, q.servers = 10*ms, 4, 4
		}), nil, "latency of requests near pauses"},
		{"requests that wait elsewhere", with(log, func(q *queueing) { q.elsewhere = 40 * ms; q.load = .5 }), nil, "the replay's p50"},
		{"waits before the beginning that are no queue", with(started, func(q *queueing) { q.load = .05 }), func(b *evidence.Bundle) {
			for i, t := range b.Requests.Intended.All() {
				b.Requests.Intended.Set(i, t-30*ms)
			}
		}, "the replay's p50"},
		{"short waits that are no queue, before long work", with(started, func(q *queueing) {
			q.servers, q.load, q.demand, q.pause, q.slo = 8, .06, constant(200*ms), 20*ms, 100*ms
		}), func(b *evidence.Bundle) {
			for i, t := range b.Requests.Intended.All() {
				b.Requests.Intended.Set(i, t-10*ms)
			}
		}, "queued before the start"},
	} {
		tt.q.seed = 1
		b, _ := tt.q.build()
		if tt.change != nil {
			tt.change(b)
		}
		l := one(t, b, Options{SLO: time.Duration(tt.q.slo)})
		if l.Replay.Used || !strings.Contains(l.Replay.Why, tt.why) {
			t.Errorf("%s: %+v, want %q", tt.name, l.Replay, tt.why)
		}
		if e := replayEntry(l); e != nil {
			t.Errorf("%s: an entry all the same: %+v", tt.name, e)
		}
	}
}

func TestReplayLeavesWaitsForAnUpstreamAlone(t *testing.T) {
	b, _ := queueing{servers: 1, load: .4, demand: constant(5 * ms), pause: 400 * ms, every: 3000 * ms, cpus: 1}.build()
	p := path(state(evidence.NetWait, ms), state(evidence.Unobserved, 4*ms))
	full := newBundle(evidence.Subject{CPUs: 1})
	log, gc := newSource(full, "access.log", exact, 0), newSource(full, "gc.log", exact, 0)
	for i := range b.Requests.Len() {
		q := b.Requests.Row(i)
		q.Origin = 0
		if i == 7 {
			q.Path = p
		}
		log.Request(q)
	}
	gc.pause(3000*ms, 3400*ms)
	if l := one(t, full, Options{}); l.Replay.Used || !strings.Contains(l.Replay.Why, "the time of the wait within the request is unknown") {
		t.Errorf("%+v", l.Replay)
	}
}

func TestReplayLeavesKnownStatesAlone(t *testing.T) {
	b := newBundle(evidence.Subject{CPUs: 1})
	s := newSource(b, "trace", exact, 0)
	for i := range int64(200) {
		s.request(i*100*ms, i*100*ms+10*ms, path(state(evidence.Running, 10*ms)))
	}
	s.pause(1005*ms, 1050*ms)
	if l := one(t, b, Options{SLO: 1}); l.Replay.Used || l.Replay.Why != "not needed: the states of every request are known" {
		t.Errorf("%+v", l.Replay)
	}
}
