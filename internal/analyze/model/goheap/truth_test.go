package goheap

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/stats"
)

// world is a service that works otherwise than the model: two servers, first come first
// served, that a cycle halts every few ms for as long, and requests that wait for other
// things, too. Whatever its cycles do, what its requests take is known exactly.
type world struct {
	load   float64 // of a server
	slices float64 // ms that a cycle halts the servers and lets them go
	slow   float64 // part of the requests that wait 7 ms for somebody else
	hiccup float64 // ms that the host stops, every 700 ms or so
}

const (
	worldWork = .5 // ms of a server, the mean
	worldMark = 40 // ms
)

// run gives what requests of so many seconds take with so many cycles per second.
func (w world) run(seconds, cycles float64, seed uint64) (r Recorded) {
	chance := rand.New(rand.NewPCG(seed, 17))
	rate := 2 * w.load / (worldWork / 1e3)
	r.Processors, r.Cycles, r.Clients = 2, cycles, true
	var demand []int64
	for at := 1e9; at < 1e9+seconds*1e9; at += chance.ExpFloat64() * 1e9 / rate {
		r.Arrive = append(r.Arrive, int64(at))
		demand = append(demand, int64(worldWork*ms*(.4+1.2*chance.Float64())))
	}
	var marks, stops []queue.Stop
	for at := 1e9 + 1e9/cycles*chance.Float64(); at < 1e9+seconds*1e9; at += 1e9 / cycles * (.8 + .4*chance.Float64()) {
		long := worldMark * (.7 + .6*chance.Float64())
		marks = append(marks, queue.Stop{From: int64(at), To: int64(at + long*ms)})
		for t := 0.; t < long; t += 2 * w.slices {
			stops = append(stops, queue.Stop{From: int64(at + t*ms), To: int64(at + (t+w.slices)*ms)})
		}
		r.MarkWorks = append(r.MarkWorks, long*ms*(.5+1.5*max(0, 1-2*w.load)))
		r.Marking += long / 1e3 / seconds
	}
	for at := 1e9; w.hiccup > 0 && at < 1e9+seconds*1e9; at += 700 * ms * (.5 + chance.Float64()) {
		stops = append(stops, queue.Stop{From: int64(at), To: int64(at + w.hiccup*ms)})
	}
	slices.SortFunc(stops, func(a, b queue.Stop) int { return int(a.From - b.From) })
	for i := 1; i < len(stops); i++ {
		stops[i].From = max(stops[i].From, stops[i-1].To)
		stops[i].To = max(stops[i].To, stops[i].From)
	}
	out, err := queue.Queue{Servers: 2, Stops: stops}.Open(r.Arrive, demand)
	if err != nil {
		panic(err)
	}
	r.Latency = out.Latency
	for i := range r.Latency {
		r.Latency[i] += ms / 10
		if chance.Float64() < w.slow {
			r.Latency[i] += 7 * ms
		}
	}
	for i := 1; i < len(marks); i++ {
		r.Gaps = append(r.Gaps, float64(marks[i].From-marks[i-1].To))
	}
	r.MarkWork = stats.Median(r.MarkWorks)
	half := int64(.5 * stats.Median(r.Gaps))
	for k := 1; k < len(marks); k++ {
		for i, at := range r.Arrive {
			if at >= marks[k].From-half && at+r.Latency[i] < marks[k].From {
				r.Free, r.Work = append(r.Free, r.Latency[i]), append(r.Work, demand[i])
			}
		}
	}
	if len(r.Free) == 0 {
		return r
	}
	reach := reachOf(r.Gaps, r.Free)
	last := -1
	for i, at := range r.Arrive {
		var p phase
		p, last = reach.phaseOf(marks, at, last)
		r.Placed = append(r.Placed, Placed{Arrive: at, Latency: r.Latency[i], Cycle: last, phase: p})
	}
	return r
}

// p99 is that of usual stretches over a long run.
func (w world) p99(cycles float64) float64 {
	r := w.run(40, cycles, 99)
	var t typical
	t.addRun(r.Arrive, r.Latency, cycles)
	return float64(t.quantileAt(.99)) / ms
}

// What is predicted from twelve seconds of each of several such services, held against what
// is true of them.
func TestLatenciesOfServicesThatAreOtherwise(t *testing.T) {
	var errs []float64
	held, n := 0, 0
	worst := map[string]float64{}
	for k, w := range []world{
		{load: .15, slices: 2}, {load: .3, slices: 5}, {load: .4, slices: 3}, {load: .3, slices: 3, slow: .05},
		{load: .15, slices: 4, hiccup: 10}, {load: .4, slices: 3, hiccup: 8, slow: .01},
	} {
		const now = 6.
		r := w.run(12, now, uint64(k))
		l, err := NewLatencies(r)
		name := fmt.Sprintf("%+v", w)
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		for _, cycles := range []float64{9, 3, 1.5, .4} {
			q := l.At(outcome(now, now*r.MarkWork/1e9), outcome(cycles, cycles*r.MarkWork/1e9))
			is := w.p99(cycles)
			t.Logf("%s: %4.1f cycles/s: %.1f ms (%.1f–%.1f), is %.1f", name, cycles, q.Value, q.Low, q.High, is)
			if !q.Known() {
				continue
			}
			n++
			errs = append(errs, math.Abs(q.Value/is-1))
			worst[name] = max(worst[name], errs[len(errs)-1])
			if q.Low <= is && is <= q.High {
				held++
			}
		}
	}
	median := stats.Median(errs)
	t.Logf("%d predictions, %.0f %% off in the median, %d of %d ranges hold; %v", n, 100*median, held, n, worst)
	if n < 20 || median > .25 || float64(held) < .8*float64(n) {
		t.Errorf("%d predictions are %.0f %% off in the median, %d ranges hold the truth", n, 100*median, held)
	}
}
