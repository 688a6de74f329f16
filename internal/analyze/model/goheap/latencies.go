package goheap

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/stats"
)

// Recorded is a run of a program with its requests, as a recording shows it: what
// the model of latencies is calibrated on. Times are ns.
type Recorded struct {
	Processors int
	// Arrive and Latency are those of all requests, in order of arrival.
	Arrive, Latency []int64
	// Seen says that Arrive is when the program found the requests, as its own trace
	// tells it, and Latency what they took from then on. While all processors are busy
	// nobody looks, so they are found in batches, and batches follow the cycles.
	Seen bool
	// Clients says that Latency is what clients waited, from when they meant to send. A log
	// that the process writes may leave out what a request waited for its handler, and then
	// shows less than the model says.
	Clients bool
	// Unfinished are requests that nobody saw end; they are not among the others.
	Unfinished int
	// Work is the time on a processor of requests that met no cycle, and Free the
	// latency of such requests. They need not be the same ones, and are drawn from.
	// Without a trace Work is not known: nil takes it from Free.
	Work, Free []int64
	// Placed are the requests of which it is known where they lie beside the cycles, in
	// order of arrival, and Gaps the times from the end of one cycle to the next. Nil:
	// nothing besides the collector can be carried over.
	Placed []Placed
	Gaps   []float64

	Cycles   float64 // begun per second
	Marking  float64 // share of the time
	MarkWork float64 // time on processors that a cycle takes, whoever marks; the mean
	// MarkWorks is that of each cycle, as far as it is known. Nil: all take the mean.
	MarkWorks []float64
	Stop      float64 // of the world at either end of a cycle
	// Runway is how much is to be allocated while a cycle marks, as the pacer sees it,
	// as a part of what is allocated from cycle to cycle. 0: not known.
	Runway float64
}

// mostRunway is the part of the headroom that the pacer leaves to be allocated while
// a cycle marks, at most (minTriggerRatioDistance in
// https://go.dev/src/runtime/mgcpacer.go).
const mostRunway = .3

// Latencies predicts what requests would take if the collector did something else.
// The recorded arrivals are run through the model of a [Program] once more, with the
// cycles of another setting, and what the model does not explain of the recorded
// latencies is carried over, see [rest].
//
// Two of its parameters cannot be read from a recording and are set so that the model
// gives the recorded p50, and the p90 of the requests that met a cycle (the p99 of all
// where those are not known): what every request spends elsewhere, and how much slower
// work is while a cycle marks. That the share of the time in which cycles mark comes out
// right was not asked for, and is what tells whether to believe the model.
type Latencies struct {
	Slower float64 // own work takes that many times as long while a cycle marks
	Beside float64 // ns of each request that are neither work nor waiting for a processor
	Fit    queue.Fit
	Mark   float64 // share of the time in which cycles mark, by the model
	// Whole is the recorded p99 of usual stretches by that of the replay with the rest
	// carried over, under the recorded cycles: what is left to scale.
	Whole float64

	r     Recorded
	reach reach
	rest  *rest
	needs []need  // by their work
	now   shares  // of the replay under the recorded cycles; zero before there is one
	every float64 // ns of own work from cycle to cycle
}

// need is what a request works, and what a free one of that rank takes beside its work, ns.
type need struct{ work, extra int64 }

// What keeps latencies from being predicted.
var (
	errNoCycles = errors.New("no GC cycles to calibrate on")
	// ErrTooSlow says that requests took less than they must have in the model, even if
	// nothing is slower while a cycle marks.
	ErrTooSlow = errors.New("even if nothing runs slower while GC marks")
)

// bounds of Slower, and how far the share of marking may be off.
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
	l.r.Placed = nil // they are as much as all else that is known of requests
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

// MinFree is how many requests must have met no cycle.
const MinFree = 20

// fewest is of how many requests three are beyond the p99: of fewer it is likely that the
// recording holds none of those that decide it (e^−3 is 5 %).
const fewest = 300

// pairNeeds pairs what a request works and what else it takes by rank: one that works longer than
// nine of ten also takes longer than nine of ten.
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

// draws is how many times the work of the requests and the place of the cycles among
// them are drawn.
const draws = 8

// played is what came of a draw.
type played struct {
	Served
	arrive []int64
	// What requests need is kept for the next draw to be written over, as the others are: there are millions of them.
	work, extra []int64
}

// playAll runs all draws, each for itself, and gives what came of them to take, in order. It is valid until take returns.
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

// playDraw runs the arrivals once with what draw n gives; latencies are in order of arrival,
// without Beside.
func (l *Latencies) playDraw(n uint64, m Marking, out *played) (err error) {
	chance := rand.New(rand.NewPCG(n, 0x6c6174))
	out.work, out.extra = withLength(out.work, len(l.r.Arrive)), withLength(out.extra, len(l.r.Arrive))
	for i := range out.work {
		need := &l.needs[chance.IntN(len(l.needs))]
		out.work[i], out.extra[i] = need.work, need.extra
	}
	m.Phase = (float64(n) + chance.Float64()) / draws
	m.Works = l.shuffleWorks(chance, m.Work)
	out.arrive = l.drawArrivals(chance, out.arrive)
	out.Served, err = Program{Processors: l.r.Processors, Marking: m}.serveReusing(out.arrive, out.work, out.Served)
	for i := range out.Latency {
		out.Latency[i] += out.extra[i]
	}
	return err
}

// withLength returns v with n values, which may be any; it allocates only where v has no room.
func withLength(v []int64, n int) []int64 {
	if cap(v) < n {
		return make([]int64, n)
	}
	return v[:n]
}

// shuffleWorks puts what the recorded cycles took in another order, mean on average.
func (l *Latencies) shuffleWorks(chance *rand.Rand, mean float64) []float64 {
	sum := 0.
	for _, w := range l.r.MarkWorks {
		sum += w
	}
	if !(sum > 0) {
		return nil
	}
	all := make([]float64, len(l.r.MarkWorks))
	for i, k := range chance.Perm(len(all)) {
		all[i] = mean / sum * float64(len(all)) * l.r.MarkWorks[k]
	}
	return all
}

// drawArrivals returns when the requests arrive. Those a trace shows in a batch came one by one
// before: within the time from cycle to cycle they are drawn anew, so that the load's own changes
// stay and the batches of the recorded cycles do not. They are written over all, where that has
// room.
func (l *Latencies) drawArrivals(chance *rand.Rand, all []int64) []int64 {
	if !l.r.Seen {
		return l.r.Arrive
	}
	length := int64(1e9 / l.r.Cycles)
	first, last := l.r.Arrive[0], l.r.Arrive[len(l.r.Arrive)-1]
	all = withLength(all, len(l.r.Arrive))
	for i, at := range l.r.Arrive {
		from := first + (at-first)/length*length
		all[i] = from + chance.Int64N(max(1, min(length, last-from)))
	}
	stats.SortInts(all)
	return all
}

// subtractUnseen makes the latencies what the recording would show of them.
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
