package goheap

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model/queue"
)

const ms = 1_000_000

func serve(t *testing.T, p Program, arrive, work []int64) Served {
	t.Helper()
	out, err := p.Serve(arrive, work)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestServeByHand(t *testing.T) {
	// A cycle begins at once, and no second one comes.
	marking := func(work, runway float64) Marking {
		return Marking{Every: 1e12, Phase: 1, Work: work * ms, Runway: runway * ms}
	}
	slow := marking(20, 0)
	slow.Slower = 1.5
	stops := marking(0, 0)
	stops.Stop = 3 * ms
	for _, tt := range []struct {
		name                  string
		p                     Program
		arrive, work, want    []float64 // ms
		marked, assist, quota float64   // ms
	}{
		{"one processor serves in order", Program{Processors: 1}, []float64{0, 1, 2}, []float64{5, 3, 1}, []float64{5, 7, 7}, 0, 0, 0},
		{"a quantum lets a short request pass a long one", Program{Processors: 1}, []float64{0, 1}, []float64{25, 1}, []float64{26, 10}, 0, 0, 0},
		// Processor 1 is free at 4 and takes both that came; processor 0 takes one of them.
		{"who is free takes all that came, and another half of that", Program{Processors: 2}, []float64{0, 0, 1, 2}, []float64{5, 4, 9, 9}, []float64{5, 4, 12, 12}, 0, 0, 0},
		// Processor 1 takes what came meanwhile before what waits in the other's queue.
		{"a late one overtakes", Program{Processors: 2}, []float64{0, 0, 1, 2, 3, 6}, []float64{9, 4, 3, 3, 3, 1}, []float64{9, 4, 6, 8, 10, 4}, 0, 0, 0},
		{"a quarter of each of two processors marks", Program{Processors: 2, Marking: marking(20, 0)}, []float64{0, 0}, []float64{30, 30}, []float64{40, 40}, 40, 0, 20},
		{"an idle processor marks", Program{Processors: 2, Marking: marking(20, 0)}, []float64{0}, []float64{30}, []float64{34}, 16, 0, 4},
		{"own work takes longer beside it", Program{Processors: 2, Marking: slow}, []float64{0, 0}, []float64{30, 30}, []float64{50, 50}, 40, 0, 20},
		// What is left to mark over what is left to allocate is 2: of each ms on a
		// processor a quarter is the worker's, and 5/9 of the rest pays debts.
		{"requests help to mark", Program{Processors: 2, Marking: marking(20, 10)}, []float64{0, 0}, []float64{30, 30}, []float64{40, 40}, 15, 12.5, 7.5},
		{"one of four processors marks", Program{Processors: 4, Marking: marking(30, 0)}, []float64{0, 0, 0}, []float64{9, 8, 7}, []float64{9, 8, 7}, 9, 0, 9},
		{"the world stops twice", Program{Processors: 2, Marking: stops}, []float64{0}, []float64{5}, []float64{11}, 3, 0, 0},
		{"nothing", Program{Processors: 3}, nil, nil, nil, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := func(v []float64) (out []int64) {
				for _, x := range v {
					out = append(out, int64(x*ms))
				}
				return out
			}
			got := serve(t, tt.p, in(tt.arrive), in(tt.work))
			for i, want := range in(tt.want) {
				if d := got.Latency[i] - want; d < -1000 || d > 1000 {
					t.Errorf("request %d took %.3f ms, want %.3f", i, float64(got.Latency[i])/ms, float64(want)/ms)
				}
			}
			near := func(what string, got, want float64) {
				if math.Abs(got/ms-want) > .01 {
					t.Errorf("%s %.3f ms, want %.3f", what, got/ms, want)
				}
			}
			near("marked", got.Marked, tt.marked)
			near("assists", got.Assist, tt.assist)
			near("workers", got.Workers, tt.quota)
		})
	}
}

func TestMarkWorkers(t *testing.T) {
	// startCycle: 25 % of the processors, whole ones where that is within 30 %.
	for procs, want := range map[int]struct {
		dedicated int
		fraction  float64
	}{1: {0, .25}, 2: {0, .25}, 3: {0, .25}, 4: {1, 0}, 5: {1, 0}, 6: {1, .5 / 6}, 8: {2, 0}, 16: {4, 0}} {
		d, f := markWorkers(procs)
		if d != want.dedicated || math.Abs(f-want.fraction) > 1e-9 {
			t.Errorf("%d processors: %d whole and %.3f of each, want %+v", procs, d, f, want)
		}
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

// few are requests so close together that ties are common.
func few(r *rand.Rand) (arrive, demand []int64) {
	var at int64
	for range r.IntN(40) {
		at += r.Int64N(10)
		arrive, demand = append(arrive, at), append(demand, r.Int64N(25))
	}
	return arrive, demand
}

// With one processor the order is that of arrival, whatever the scheduler does.
func TestServeIsAQueueOnOneProcessor(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for n := range 500 {
		arrive, demand := few(r)
		want, err := queue.Queue{Servers: 1}.Open(arrive, demand)
		if err != nil {
			t.Fatal(err)
		}
		got := serve(t, Program{Processors: 1}, arrive, demand)
		for i := range arrive {
			if d := got.Latency[i] - want.Latency[i]; d < -1 || d > 1 {
				t.Fatalf("case %d: request %d of %v %v took %d, want %d", n, i, arrive, demand, got.Latency[i], want.Latency[i])
			}
		}
	}
}

// The mean wait does not depend on the order of service: Erlang's formula holds for
// the scheduler's queues, too.
func TestServeMeanWaitOfMarkovQueues(t *testing.T) {
	erlangC := func(c int, a float64) float64 {
		b := 1.
		for k := 1; k <= c; k++ {
			b = a * b / (float64(k) + a*b)
		}
		return b / (1 - a/float64(c)*(1-b))
	}
	for _, tt := range []struct {
		processors int
		load       float64
	}{{1, .6}, {2, .7}, {4, .7}} {
		rate := tt.load * float64(tt.processors)
		arrive, work := poisson(100_000, 11, rate, 1)
		got := serve(t, Program{Processors: tt.processors, Quantum: 1e18}, arrive, work)
		var wait float64
		for i, l := range got.Latency {
			wait += float64(l - work[i])
		}
		wait /= 1e6 * float64(len(arrive))
		want := erlangC(tt.processors, rate) / (float64(tt.processors) - rate)
		if math.Abs(wait-want) > .06*want {
			t.Errorf("%d processors at load %g: mean wait %.4f, theory says %.4f", tt.processors, tt.load, wait, want)
		}
	}
}

// A world that stops while there is work is M/G/1 with breakdowns: a request of work S
// takes C = S + D for each stop within it, which comes with probability S/every, and
// the mean wait is that of Pollaczek and Khinchine, λ·E[C²]/(2·(1−λ·E[C])).
func TestServeStopsAreBreakdowns(t *testing.T) {
	const rate, every, stop = .3, 40., 3. // stops of 2·3 time units
	arrive, work := poisson(250_000, 5, rate, 1)
	got := serve(t, Program{Processors: 1, Quantum: 1e18, Marking: Marking{Every: every * 1e6, Stop: stop * 1e6}}, arrive, work)
	var mean float64
	for _, l := range got.Latency {
		mean += float64(l)
	}
	mean /= 1e6 * float64(len(arrive))
	const d = 2 * stop
	c1 := 1 + d/every                 // E[S] = 1
	c2 := 2 + 2*d*2/every + d*d/every // E[S²] = 2
	want := c1 + rate*c2/(2*(1-rate*c1))
	if math.Abs(mean-want) > .06*want {
		t.Errorf("mean time %.3f, theory says %.3f", mean, want)
	}
}

// Processors do what there is: own work, and marking, and no more than they can.
func TestServeConserves(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for n := range 200 {
		procs := 1 + r.IntN(8)
		arrive, work := poisson(400, uint64(n), .4*float64(procs), 1)
		m := Marking{Every: 1e6 * (5 + 50*r.Float64()), Work: 1e6 * 10 * r.Float64(), Slower: 1 + r.Float64(), Phase: r.Float64()}
		m.Runway = m.Every * .3 * r.Float64()
		out := serve(t, Program{Processors: procs, Marking: m}, arrive, work)
		if busy := out.Assist + out.Workers + out.Idle; busy > float64(procs)*out.Marked*1.0001 {
			t.Fatalf("case %d: marked %g in %g on %d processors", n, busy, out.Marked, procs)
		}
		if done, all := out.Assist+out.Workers+out.Idle, float64(out.Cycles)*m.Work; done > all*1.0001 || done < all-m.Work*1.0001 {
			t.Fatalf("case %d: %d cycles of %g marked %g", n, out.Cycles, m.Work, done)
		}
		for i, l := range out.Latency {
			if l < work[i]-1 {
				t.Fatalf("case %d: request %d took %d and needs %d", n, i, l, work[i])
			}
		}
		if again := serve(t, Program{Processors: procs, Marking: m}, arrive, work); !slices.Equal(again.Latency, out.Latency) {
			t.Fatalf("case %d: not the same again", n)
		}
	}
}

func TestServeRefuses(t *testing.T) {
	for _, tt := range []struct {
		p            Program
		arrive, work []int64
		want         error
	}{
		{Program{}, nil, nil, queue.ErrServers},
		{Program{Processors: 1}, []int64{1}, nil, queue.ErrLengths},
		{Program{Processors: 1}, []int64{2, 1}, []int64{1, 1}, queue.ErrOrder},
		{Program{Processors: 1}, []int64{1}, []int64{-1}, queue.ErrDemand},
	} {
		if _, err := tt.p.Serve(tt.arrive, tt.work); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.p, err, tt.want)
		}
	}
}

func BenchmarkServe(b *testing.B) {
	arrive, work := poisson(100_000, 1, 1, 1)
	p := Program{Processors: 2, Marking: Marking{Every: 60e6, Work: 30e6, Runway: 20e6, Slower: 2}}
	for b.Loop() {
		if _, err := p.Serve(arrive, work); err != nil {
			b.Fatal(err)
		}
	}
}
