package queue

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpenByHand(t *testing.T) {
	for _, tt := range []struct {
		name            string
		q               Queue
		arrive, demand  []int64
		waits, latences []int64
	}{
		{"D/D/1 below capacity never waits", Queue{Servers: 1},
			[]int64{0, 10, 20, 30}, []int64{10, 10, 10, 10}, []int64{0, 0, 0, 0}, []int64{10, 10, 10, 10}},
		{"D/D/1 above capacity grows by the excess", Queue{Servers: 1},
			[]int64{0, 10, 20, 30}, []int64{13, 13, 13, 13}, []int64{0, 3, 6, 9}, []int64{13, 16, 19, 22}},
		{"one pause pushes a queue before it", Queue{1, []Stop{{20, 50}}},
			[]int64{0, 10, 20, 30, 40, 50, 60, 70, 80}, []int64{5, 5, 5, 5, 5, 5, 5, 5, 5},
			[]int64{0, 0, 30, 25, 20, 15, 10, 5, 0}, []int64{5, 5, 35, 30, 25, 20, 15, 10, 5}},
		{"a pause in the middle of a service", Queue{1, []Stop{{20, 50}}},
			[]int64{18, 51}, []int64{5, 5}, []int64{0, 2}, []int64{35, 7}},
		{"work that ends as the pause begins ends before it", Queue{1, []Stop{{20, 50}}},
			[]int64{15, 20}, []int64{5, 0}, []int64{0, 30}, []int64{5, 30}},
		{"two pauses that touch", Queue{1, []Stop{{20, 30}, {30, 40}}},
			[]int64{19, 25}, []int64{2, 2}, []int64{0, 16}, []int64{22, 18}},
		{"a long service spans several pauses", Queue{1, []Stop{{10, 20}, {30, 40}, {45, 50}}},
			[]int64{0}, []int64{27}, []int64{0}, []int64{52}},
		{"two servers: the third waits for the first to end", Queue{Servers: 2},
			[]int64{0, 1, 2, 3}, []int64{10, 3, 4, 1}, []int64{0, 0, 2, 5}, []int64{10, 3, 6, 6}},
		{"two servers and a pause", Queue{2, []Stop{{5, 105}}},
			[]int64{0, 1, 2}, []int64{10, 3, 4}, []int64{0, 0, 2}, []int64{110, 3, 106}},
		{"a burst at one instant is served in order", Queue{Servers: 2},
			[]int64{7, 7, 7, 7}, []int64{4, 2, 4, 2}, []int64{0, 0, 2, 4}, []int64{4, 2, 6, 6}},
		{"nothing", Queue{Servers: 3}, nil, nil, []int64{}, []int64{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.q.Open(tt.arrive, tt.demand)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(Times{tt.waits, tt.latences}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// poisson returns n arrivals at a rate and exponential demands with a mean; a
// time unit is 1e6.
func poisson(n int, seed uint64, rate, mean float64) (arrive, demand []int64) {
	r := rand.New(rand.NewPCG(seed, 1))
	at := 0.
	for range n {
		at += r.ExpFloat64() / rate
		arrive = append(arrive, int64(1e6*at))
		demand = append(demand, int64(1e6*mean*r.ExpFloat64()))
	}
	return arrive, demand
}

func TestMeanWaitOfMarkovQueues(t *testing.T) {
	// Erlang's C formula: the probability of waiting with c servers and load a;
	// the mean wait is C ÷ (c·μ − λ).
	erlangC := func(c int, a float64) float64 {
		b := 1. // Erlang B by its recursion
		for k := 1; k <= c; k++ {
			b = a * b / (float64(k) + a*b)
		}
		return b / (1 - a/float64(c)*(1-b))
	}
	for _, tt := range []struct {
		servers int
		load    float64 // of each server
	}{{1, .5}, {1, .8}, {2, .7}, {4, .8}, {16, .8}} {
		rate := tt.load * float64(tt.servers)
		arrive, demand := poisson(400_000, 42, rate, 1)
		got, err := Queue{Servers: tt.servers}.Open(arrive, demand)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.
		for _, w := range got.Wait {
			sum += float64(w)
		}
		mean := sum / 1e6 / float64(len(arrive))
		want := erlangC(tt.servers, rate) / (float64(tt.servers) - rate)
		if math.Abs(mean-want) > .05*want {
			t.Errorf("M/M/%d at load %g: mean wait %.4f, theory says %.4f", tt.servers, tt.load, mean, want)
		}
	}
}

func TestMeanTimeWithRandomStops(t *testing.T) {
	// M/M/1 whose server stops at rate f, idle or not, for a mean of 1/r, and then
	// resumes its work (White & Christie, Queuing with Preemptive Priorities or
	// with Breakdown, Operations Research 6, 1958). An arrival finds N requests, by
	// Little λ·E[T], each of which takes k = 1+f/r times its work, and with
	// probability f/(f+r) a stop that lasts another 1/r:
	// E[T]·(1 − λk) = k + f/(r·(f+r)), with μ = 1.
	const f, r, load = .01, .1, .6 // one stop per 100 time units up, 10 long
	arrive, demand := poisson(1_000_000, 7, load, 1)
	g := rand.New(rand.NewPCG(9, 9))
	var stops []Stop
	for at := 0.; at*1e6 < float64(arrive[len(arrive)-1]); {
		at += g.ExpFloat64() / f
		from := int64(1e6 * at)
		at += g.ExpFloat64() / r
		stops = append(stops, Stop{from, int64(1e6 * at)})
	}
	got, err := Queue{1, stops}.Open(arrive, demand)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.
	for _, l := range got.Latency {
		sum += float64(l)
	}
	mean := sum / 1e6 / float64(len(arrive))
	k := 1 + f/r
	want := (k + f/(r*(f+r))) / (1 - load*k)
	if math.Abs(mean-want) > .08*want {
		t.Errorf("mean time in the system %.3f, theory says %.3f", mean, want)
	}
}

// randomQueue is small, so that ties and touching stops are common.
func randomQueue(r *rand.Rand) (q Queue, arrive, demand []int64) {
	q.Servers = 1 + r.IntN(5)
	var at int64
	for range r.IntN(6) {
		from := at + r.Int64N(30)
		at = from + r.Int64N(30)
		q.Stops = append(q.Stops, Stop{from, at})
	}
	at = 0
	for range r.IntN(40) {
		at += r.Int64N(10)
		arrive, demand = append(arrive, at), append(demand, r.Int64N(25))
	}
	return q, arrive, demand
}

func TestOpenAgreesWithSteppingThroughTime(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 2000 {
		q, arrive, demand := randomQueue(r)
		got, err := q.Open(arrive, demand)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(stepped(q, arrive, demand), got); d != "" {
			t.Fatalf("case %d: %+v arrive %v demand %v\n%s", n, q, arrive, demand, d)
		}
	}
}

// stepped is the queue of the definition, one ns at a time.
func stepped(q Queue, arrive, demand []int64) Times {
	t := Times{make([]int64, len(arrive)), make([]int64, len(arrive))}
	left := slices.Clone(demand)
	var serving []int
	next, done := 0, 0
	stop := func(at int64) bool {
		return slices.ContainsFunc(q.Stops, func(s Stop) bool { return s.From <= at && at < s.To })
	}
	for at := int64(0); done < len(arrive); at++ {
		for again := true; again; {
			again = false
			serving = slices.DeleteFunc(serving, func(i int) bool {
				if left[i] > 0 {
					return false
				}
				t.Latency[i] = at - arrive[i]
				done++
				return true
			})
			for !stop(at) && next < len(arrive) && arrive[next] <= at && len(serving) < q.Servers {
				t.Wait[next] = at - arrive[next]
				serving = append(serving, next)
				again = again || left[next] == 0
				next++
			}
		}
		if !stop(at) {
			for _, i := range serving {
				left[i]--
			}
		}
	}
	return t
}

func TestWithoutStopsNothingIsLater(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		q, arrive, demand := randomQueue(r)
		got, err := q.Replay(arrive, demand, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range arrive {
			with, without := got.With.Latency[i], got.Without.Latency[i]
			if without > with || got.Without.Wait[i] > got.With.Wait[i] {
				t.Fatalf("case %d, request %d: %d ns without stops, %d with: %+v %v %v", n, i, without, with, q, arrive, demand)
			}
			if without < demand[i] {
				t.Fatalf("case %d, request %d: done in %d ns, needs %d", n, i, without, demand[i])
			}
		}
	}
}

func TestMoreServersNeverWaitLonger(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	for range 1000 {
		q, arrive, demand := randomQueue(r)
		few, _ := q.Open(arrive, demand)
		q.Servers++
		more, _ := q.Open(arrive, demand)
		for i := range arrive {
			if more.Wait[i] > few.Wait[i] {
				t.Fatalf("request %d waits %d with one server more, %d before", i, more.Wait[i], few.Wait[i])
			}
		}
	}
}

func TestFit(t *testing.T) {
	line := func(n int, scale float64) (v []int64) {
		for i := range n {
			v = append(v, int64(scale*float64(1000*(i+1))))
		}
		return v
	}
	tail := func(v []int64, factor float64) []int64 {
		v = slices.Clone(v)
		for i := len(v) * 9 / 10; i < len(v); i++ {
			v[i] = int64(factor * float64(v[i]))
		}
		return v
	}
	for _, tt := range []struct {
		name            string
		observed, model []int64
		used            bool
		why             string
	}{
		{"the same", line(200, 1), line(200, 1), true, ""},
		{"9 % longer", line(200, 1), line(200, 1.09), true, ""},
		{"9 % shorter", line(200, 1), line(200, .91), true, ""},
		{"11 % longer", line(200, 1), line(200, 1.11), false, "the replay's p50 is 111 µs, but 100 µs was observed: more than 10 % off"},
		{"another tail", line(200, 1), tail(line(200, 1), 1.2), false, "the replay's p99 is 238 µs, but 198 µs was observed: more than 10 % off"},
		{"too few", line(99, 1), line(99, 1), false, "a replay needs at least 100 requests, and there are 99"},
		{"not the same requests", line(200, 1), line(100, 1), false, "a replay needs at least 100 requests, there are 100"},
		{"nothing observed takes time", make([]int64, 200), line(200, 1), false, "the replay's p50 is 100 µs, but 0 s was observed: more than 10 % off"},
	} {
		f := FitOf(tt.observed, tt.model)
		if f.Used != tt.used || f.Why != tt.why && len(tt.observed) == len(tt.model) {
			t.Errorf("%s: used %v, %q; want %v, %q", tt.name, f.Used, f.Why, tt.used, tt.why)
		}
	}
	mixed := line(200, 1)
	slices.Reverse(mixed)
	if f := FitOf(mixed, line(200, 1)); !f.Used || f.Error != 0 || mixed[0] != 200000 {
		t.Errorf("the order of requests matters: %+v", f)
	}
}

func TestBadQueues(t *testing.T) {
	one := []int64{1}
	for _, tt := range []struct {
		name           string
		q              Queue
		arrive, demand []int64
		want           error
	}{
		{"no server", Queue{}, one, one, ErrServers},
		{"stops overlap", Queue{1, []Stop{{0, 5}, {4, 9}}}, one, one, ErrStops},
		{"a stop ends before it begins", Queue{1, []Stop{{5, 4}}}, one, one, ErrStops},
		{"no demand", Queue{Servers: 1}, one, nil, ErrLengths},
		{"arrivals run backwards", Queue{Servers: 1}, []int64{2, 1}, []int64{1, 1}, ErrOrder},
		{"negative demand", Queue{Servers: 1}, one, []int64{-1}, ErrDemand},
	} {
		if _, err := tt.q.Open(tt.arrive, tt.demand); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	const n = 1_000_000
	arrive, demand := poisson(n, 1, .9*8, 1)
	var stops []Stop
	for at := int64(0); at < arrive[n-1]; at += 100e6 {
		stops = append(stops, Stop{at, at + 5e6})
	}
	for _, bb := range []struct {
		name string
		q    Queue
	}{{"c=8", Queue{Servers: 8}}, {"c=8,stops", Queue{8, stops}}, {"c=256", Queue{Servers: 256}}} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(16 * n) // an arrival and a demand
			for b.Loop() {
				if _, err := bb.q.Open(arrive, demand); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/request")
		})
	}
}
