package goheap

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/stats"
)

// Recorded is a recorded run of a program with its requests, on which the latency model is calibrated. Times are ns.
type Recorded struct {
	Processors int
	// Arrive and Latency cover all requests, in order of arrival.
	Arrive, Latency []int64
	// Seen means that Arrive is when the program found the requests, by its own trace, and Latency counts from then. While
	// all processors are busy the program does not look, so requests are found in batches, and batches follow the cycles.
	Seen bool
	// Clients means that Latency is the clients' wait since the intended time of sending. A log that the process writes may
	// leave out the wait for a handler, and then shows less than the model.
	Clients bool
	// Unfinished counts requests without a known end; the other fields do not include them.
	Unfinished int
	// Work is the time on a processor of requests that met no cycle, and Free the latency of such requests. They need not
	// be the same requests; the model draws from both. Without a trace Work is unknown: nil takes it from Free.
	Work, Free []int64
	// Placed are the requests with a known place beside the cycles, in order of arrival, and Gaps the times from the end of
	// one cycle to the next. Nil: nothing besides the collector can be carried over.
	Placed []Placed
	Gaps   []float64

	Cycles   float64 // begun per second
	Marking  float64 // share of the time
	MarkWork float64 // mean time on processors of a cycle's marking, on any thread
	// MarkWorks is MarkWork of each cycle, as far as known. Nil: all take the mean.
	MarkWorks []float64
	Stop      float64 // of the world at either end of a cycle
	// Runway is the allocation that the pacer expects while a cycle marks, as a part of the allocation from cycle to cycle.
	// 0: unknown.
	Runway float64
}

// mostRunway is the largest part of the headroom that the pacer reserves for allocation while a cycle marks
// (minTriggerRatioDistance in https://go.dev/src/runtime/mgcpacer.go).
const mostRunway = .3

// Latencies predicts the latency of requests for another behaviour of the collector. It runs the recorded arrivals through
// the model of a [Program] again, with the cycles of another setting, and carries over what the model does not explain of
// the recorded latencies, see [rest].
//
// Two of its parameters cannot be read from a recording: the time that every request spends elsewhere, and how much slower
// work is while a cycle marks. They are set so that the model reproduces the recorded p50, and the p90 of the requests that
// met a cycle (the p99 of all where those are unknown). The model is not fitted to the share of the time in which cycles
// mark, so that its agreement there tells whether to believe the model.
type Latencies struct {
	Slower float64 // factor by which own work takes longer while a cycle marks
	Beside float64 // ns of each request that are neither work nor waiting for a processor
	Fit    queue.Fit
	Mark   float64 // share of the time in which cycles mark, by the model
	// Whole is the recorded p99 of usual stretches divided by the replay's with the rest carried over, under the recorded
	// cycles: the remaining scale.
	Whole float64

	r     Recorded
	reach reach
	rest  *rest
	needs []need  // by their work
	now   shares  // of the replay under the recorded cycles; zero before there is one
	every float64 // ns of own work from cycle to cycle
	kept  [draws]drawing
}

// need is a request's work, and the rest of the latency of a free request of that rank, ns.
type need struct{ work, extra int64 }

// Reasons why latencies cannot be predicted.
var (
	errNoCycles = errors.New("no GC cycles to calibrate on")
	// ErrTooSlow means that requests took less than the model's minimum, even if nothing is slower while a cycle marks.
	ErrTooSlow = errors.New("even if nothing runs slower while GC marks")
)

// Bounds of Slower, and how far the share of marking may be off.
const (
	mostSlower  = 6
	markingMiss = .35
)

// NewLatencies calibrates the model. An error says in a clause why it cannot be used.
func NewLatencies(r Recorded) (*Latencies, error) {
	l := &Latencies{r: r}
	switch {
	case r.Processors < 1:
		return nil, errors.New("the number of CPUs is unknown")
	case len(r.Arrive) < fewest || len(r.Arrive) != len(r.Latency):
		return nil, fmt.Errorf("a p99 needs at least %d requests, and there are %d", fewest, len(r.Arrive))
	case float64(r.Unfinished) >= .01*float64(len(r.Arrive)+r.Unfinished):
		return nil, fmt.Errorf("%d requests never finished, and the p99 is among them", r.Unfinished)
	case fallsBehind(r.Latency):
		return nil, errors.New("requests pile up in the recording: their latency grows throughout")
	case len(r.Free) < MinFree:
		return nil, fmt.Errorf("only %d requests ran without a GC cycle, too few to tell how long one takes without GC", len(r.Free))
	case !(r.Cycles > 0) || !(r.MarkWork > 0):
		return nil, errNoCycles
	}
	l.pairNeeds()
	l.reach, l.rest = reachOf(r.Gaps, r.Free), newRest(r.Placed)
	l.r.Placed = nil // they take as much memory as all other figures of requests
	span := float64(r.Arrive[len(r.Arrive)-1]-r.Arrive[0]) / 1e9
	if span <= 0 {
		return nil, errors.New("all requests arrived at the same time")
	}
	l.every = l.meanWork() * float64(len(r.Arrive)) / span / r.Cycles
	var t typical
	t.addRun(r.Arrive, r.Latency, r.Cycles)
	l.Fit.P50.Observed, l.Fit.P99.Observed = t.quantileAt(.5), t.quantileAt(.99)
	if err := l.fitParameters(); err != nil {
		return nil, err
	}
	return l, nil
}

// MinFree is the least number of requests without a cycle.
const MinFree = 20

// fewest is the number of requests of which three are beyond the p99: with fewer, the recording probably has none of those
// that decide it (e^−3 is 5 %).
const fewest = 300

// pairNeeds pairs requests' work with their other time by rank: a request that works longer than nine of ten also takes longer
// otherwise than nine of ten.
func (l *Latencies) pairNeeds() {
	free, work := slices.Clone(l.r.Free), slices.Clone(l.r.Work)
	stats.SortInts(free)
	stats.SortInts(work)
	if len(work) == 0 {
		work = free
	}
	l.needs = make([]need, len(work))
	for i, w := range work {
		l.needs[i].work = w
		if len(l.r.Work) > 0 {
			q := (float64(i) + .5) / float64(len(work))
			l.needs[i].extra = max(0, stats.Quantile(free, q)-w)
		}
	}
}

func (l *Latencies) meanWork() float64 {
	sum := 0.
	for i := range l.needs {
		sum += float64(l.needs[i].work)
	}
	return sum / float64(len(l.needs))
}

// draws is how many times the requests' work and the cycles' place among them are drawn.
const draws = 8

// played is the result of a draw.
type played struct {
	Served
	drawn drawing
	// Needs are kept for the next draw to overwrite, as the others are: there are millions of them.
	work, extra []int64
}

// playAll runs all draws in parallel, and passes the results to take, in order. A result is valid until take returns.
func (l *Latencies) playAll(m Marking, take func(*played)) error {
	var errs [draws]error
	var next atomic.Int64
	turns := make([]chan struct{}, draws+1)
	for n := range turns {
		turns[n] = make(chan struct{})
	}
	close(turns[0])
	var running sync.WaitGroup
	for range min(draws, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			var out played
			for n := next.Add(1) - 1; n < draws; n = next.Add(1) - 1 {
				errs[n] = l.playDraw(uint64(n), m, &out)
				<-turns[n]
				if errs[n] == nil {
					take(&out)
				}
				close(turns[n+1])
			}
		})
	}
	running.Wait()
	return errors.Join(errs[:]...)
}

// playDraw runs the arrivals once with draw n; latencies are in order of arrival, without Beside.
func (l *Latencies) playDraw(n uint64, m Marking, out *played) (err error) {
	d := l.drawingOf(n, out.drawn)
	out.drawn = d
	out.work, out.extra = withLength(out.work, len(d.needs)), withLength(out.extra, len(d.needs))
	for i, k := range d.needs {
		need := &l.needs[k]
		out.work[i], out.extra[i] = need.work, need.extra
	}
	m.Phase, m.Works = d.phase, l.orderWorks(d.order, m.Work)
	out.Served, err = Program{Processors: l.r.Processors, Marking: m}.serveReusing(d.arrive, out.work, out.Served)
	for i := range out.Latency {
		out.Latency[i] += out.extra[i]
	}
	return err
}

// withLength returns v with n arbitrary values; it allocates only where v has no room.
func withLength[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

// subtractUnseen reduces the latencies to what the recording would show.
func (l *Latencies) subtractUnseen(out *played) {
	if !l.r.Seen {
		return
	}
	for i := range out.Latency {
		out.Latency[i] -= out.Unseen[i]
	}
}

func (l *Latencies) markingFor(slower, cycles, work float64) Marking {
	m := Marking{Work: l.r.MarkWork * work, Slower: slower, Stop: l.r.Stop}
	if cycles > 0 {
		m.Every = l.every / cycles
	}
	m.Runway = mostRunway * m.Every
	if l.r.Runway > 0 {
		m.Runway = min(m.Runway, l.r.Runway*l.every)
	}
	return m
}
