package goheap

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/model/queue"
	"github.com/unstall/unstall/stats"
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
	work  []int64 // sorted
	extra []int64 // what a free request of that rank takes beside its work
	every float64 // ns of own work from cycle to cycle
}

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
		return nil, errors.New("the number of CPUs is not known")
	case len(r.Arrive) < fewest || len(r.Arrive) != len(r.Latency):
		return nil, fmt.Errorf("a p99 needs at least %d requests, and there are %d", fewest, len(r.Arrive))
	case float64(r.Unfinished) >= .01*float64(len(r.Arrive)+r.Unfinished):
		return nil, fmt.Errorf("%d requests never finished: the p99 is among those", r.Unfinished)
	case fallsBehind(r.Latency):
		return nil, errors.New("requests pile up in the recording: what they take grows for as long as one watches")
	case len(r.Free) < MinFree:
		return nil, fmt.Errorf("only %d requests ran without a GC cycle, too few to tell how long one takes without GC", len(r.Free))
	case !(r.Cycles > 0) || !(r.MarkWork > 0):
		return nil, errNoCycles
	}
	l.distributions()
	l.reach, l.rest = reachOf(r.Gaps, r.Free), newRest(r.Placed)
	span := float64(r.Arrive[len(r.Arrive)-1]-r.Arrive[0]) / 1e9
	if span <= 0 {
		return nil, errors.New("all requests arrived at the same time")
	}
	l.every = l.meanWork() * float64(len(r.Arrive)) / span / r.Cycles
	var t typical
	t.add(r.Arrive, r.Latency, r.Cycles)
	l.Fit.P50.Observed, l.Fit.P99.Observed = t.at(.5), t.at(.99)
	if err := l.calibrate(); err != nil {
		return nil, err
	}
	return l, nil
}

// MinFree is how many requests must have met no cycle.
const MinFree = 20

// fewest is of how many requests three are beyond the p99: of fewer it is likely that the
// recording holds none of those that decide it (e^−3 is 5 %).
const fewest = 300

// distributions pairs what a request works and what else it takes by rank: one that
// works longer than nine of ten also takes longer than nine of ten.
func (l *Latencies) distributions() {
	free := slices.Sorted(slices.Values(l.r.Free))
	if len(l.r.Work) == 0 {
		l.work, l.extra = free, make([]int64, len(free))
		return
	}
	l.work = slices.Sorted(slices.Values(l.r.Work))
	l.extra = make([]int64, len(l.work))
	for i := range l.work {
		q := (float64(i) + .5) / float64(len(l.work))
		l.extra[i] = max(0, stats.Quantile(free, q)-l.work[i])
	}
}

func (l *Latencies) meanWork() float64 {
	sum := 0.
	for _, v := range l.work {
		sum += float64(v)
	}
	return sum / float64(len(l.work))
}

// draws is how many times the work of the requests and the place of the cycles among
// them are drawn.
const draws = 8

// play runs the arrivals once with what draw n gives; latencies are in order of
// arrival, without Beside.
func (l *Latencies) play(n uint64, m Marking) (out Served, arrive []int64, err error) {
	chance := rand.New(rand.NewPCG(n, 0x6c6174))
	work, extra := make([]int64, len(l.r.Arrive)), make([]int64, len(l.r.Arrive))
	for i := range work {
		k := chance.IntN(len(l.work))
		work[i], extra[i] = l.work[k], l.extra[k]
	}
	m.Phase = (float64(n) + chance.Float64()) / draws
	m.Works = l.works(chance, m.Work)
	arrive = l.arrivals(chance)
	out, err = Program{Processors: l.r.Processors, Marking: m}.Serve(arrive, work)
	for i := range out.Latency {
		out.Latency[i] += extra[i]
	}
	return out, arrive, err
}

// works puts what the recorded cycles took in another order, mean on average.
func (l *Latencies) works(chance *rand.Rand, mean float64) []float64 {
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

// arrivals are when the requests arrive. Those a trace shows in a batch came one by one
// before: within the time from cycle to cycle they are drawn anew, so that the load's
// own changes stay and the batches of the recorded cycles do not.
func (l *Latencies) arrivals(chance *rand.Rand) []int64 {
	if !l.r.Seen {
		return l.r.Arrive
	}
	length := int64(1e9 / l.r.Cycles)
	first, last := l.r.Arrive[0], l.r.Arrive[len(l.r.Arrive)-1]
	all := make([]int64, len(l.r.Arrive))
	for i, at := range l.r.Arrive {
		from := first + (at-first)/length*length
		all[i] = from + chance.Int64N(max(1, min(length, last-from)))
	}
	slices.Sort(all)
	return all
}

// shown are the latencies as the recording would show them.
func (l *Latencies) shown(out Served) []int64 {
	if !l.r.Seen {
		return out.Latency
	}
	all := slices.Clone(out.Latency)
	for i := range all {
		all[i] -= out.Unseen[i]
	}
	return all
}

func (l *Latencies) marking(slower, cycles, work float64) Marking {
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

// met is the part of the requests that met a cycle by which the model is calibrated: the
// longest of them wait for other things, too, or are too few.
const met = .9

// calibrate looks for the parameters under which the model gives what was recorded.
func (l *Latencies) calibrate() error {
	p50, p99 := l.Fit.P50.Observed, l.Fit.P99.Observed
	seen := l.rest.seen[meets]
	want := p99
	if len(seen) >= MinFree {
		want = stats.Quantile(seen, met)
	}
	var is int64
	var of shares
	try := func(slower float64) (miss float64, err error) {
		var t typical
		var marked, span float64
		l.rest.model = byPhase{}
		for n := range uint64(draws) {
			out, arrive, err := l.play(n, l.marking(slower, 1, 1))
			if err != nil {
				return 0, err
			}
			t.add(arrive, l.shown(out), l.r.Cycles)
			l.place(&l.rest.model, out, arrive)
			marked, span = marked+out.Marked, span+out.Span
		}
		of = l.rest.model.shares()
		l.rest.model.sort()
		l.Slower, l.Mark = slower, marked/span
		// Time that nobody needs cannot be negative; then the p50 does not fit.
		l.Beside = max(0, float64(p50-t.at(.5)))
		l.rest.beside = int64(l.Beside)
		l.Fit.P50.Model = t.at(.5) + int64(l.Beside)
		l.Fit.P99.Model = t.at(.99) + int64(l.Beside)
		is = l.Fit.P99.Model
		if model := l.rest.model[meets]; len(seen) >= MinFree && len(model) >= MinFree {
			is = stats.Quantile(model, met) + int64(l.Beside)
		}
		return float64(is - want), nil
	}
	const near = .005 // of what is looked for: closer is chance
	low, high := 1., float64(mostSlower)
	miss, err := try(low)
	for n := 0; err == nil && (miss < 0 || n > 0) && math.Abs(miss) > near*float64(want) && n < 12; n++ {
		if n > 0 && miss >= 0 {
			high = l.Slower
		} else {
			low = l.Slower
		}
		miss, err = try((low + high) / 2)
	}
	if err != nil {
		return err
	}
	l.Whole = float64(p99) / l.rest.quantile(&l.rest.seen, &l.rest.model, of, .99)
	return l.judge(want, is)
}

// place puts what a run of the model gave its requests to where they lie beside its cycles.
func (l *Latencies) place(to *byPhase, out Served, arrive []int64) {
	for i, v := range l.shown(out) {
		at := arrive[i]
		if l.r.Seen {
			at += out.Unseen[i]
		}
		p, _ := l.reach.of(out.Marks, at)
		to[p] = append(to[p], v)
	}
}

// carries says whether it is known what to carry over.
func (l *Latencies) carries() bool {
	return len(l.rest.seen[meets]) >= MinFree && len(l.rest.seen[apart]) >= MinFree && len(l.rest.model[meets]) >= MinFree
}

// judge says whether the calibrated model may be used, given what its calibration looked
// for and came to. What it does not explain is carried over if it is known of which
// requests; else it must not be much.
func (l *Latencies) judge(want, is int64) error {
	f := &l.Fit
	e50, e99 := queue.Off(f.P50.Observed, f.P50.Model), queue.Off(f.P99.Observed, f.P99.Model)
	f.Error = max(e50, e99)
	switch {
	case l.Slower == 1 && is > want && queue.Off(want, is) > queue.Tolerance && !(l.carries() && (l.r.Seen || l.r.Clients)):
		err := fmt.Errorf("%s, %w", queue.NotReproduced("p99", f.P99.Observed, f.P99.Model), ErrTooSlow)
		f.Why = err.Error()
		return err
	case !l.carries() && e99 > queue.Tolerance && l.Slower >= mostSlower-.01:
		f.Why = queue.NotReproduced("p99", f.P99.Observed, f.P99.Model) + ": GC alone does not explain the latency"
	case !l.carries() && e99 > queue.Tolerance:
		f.Why = queue.NotReproduced("p99", f.P99.Observed, f.P99.Model)
	case !l.carries() && e50 > queue.Tolerance:
		f.Why = queue.NotReproduced("p50", f.P50.Observed, f.P50.Model)
	case l.r.Marking > 0 && math.Abs(l.Mark/l.r.Marking-1) > markingMiss:
		f.Why = fmt.Sprintf("in the replay GC marks for %.0f %% of the time, but %.0f %% was observed", 100*l.Mark, 100*l.r.Marking)
	default:
		f.Used = true
		return nil
	}
	return errors.New(f.Why)
}

// What the range of a prediction is made of besides what was recorded by chance.
const (
	// farther is the standard deviation of the logarithm of measured p99s by predicted ones
	// that nothing recorded explains: a host's speed from one minute to the next, and the
	// model (docs/predictions.md; half of its settings were looked at for this figure).
	farther = .3
	// unexplained is the part of what the replay misses of now that it may miss of a change,
	// too, where nothing can be carried over.
	unexplained = .5
	// longer is how many times as long cycles may mark, or as short: with GOGC=400 those of
	// one service took half as long again as with GOGC=100, and the model says a third.
	longer = 1.25
	// asNow is how far (of the way, in logarithm) a p99 under fewer cycles is moved to what it
	// would be if each cycle cost as much as now (docs/predictions.md, the same half).
	asNow = .33
	// vague is how far (in logarithm) a range may reach to either side of a figure: one that
	// spans more than a factor of ten says no more than its upper end.
	vague = 1.15
	// ninety are the standard deviations on either side that hold 90 % of a normal
	// distribution.
	ninety = 1.645
)

// nearFull is the part of the processors from which on no p99 is promised: waiting goes with
// 1/(1−ρ) (Kingman, The single server queue in heavy traffic, Mathematical Proceedings 57,
// 1961), so that there a demand that is 5 % off is half of the wait.
const nearFull = .9

// At returns the p99 (ms) that the recorded requests would have under another outcome, with
// a range that should hold nine of ten. Now is the model's outcome of the recorded run: only
// what differs between the two counts. Where requests and the collector would leave next to
// nothing of the processors, or pile up without end, there is no figure; then more
// cycles than now give the bound below, which is the p99 of now.
func (l *Latencies) At(now, then Outcome) model.Estimate {
	if !now.Cycles.Known() || !then.Cycles.Known() || now.Cycles.Value <= 0 || then.Limiter {
		return model.Unknown
	}
	cycles, work := then.Cycles.Value/now.Cycles.Value, 1.
	if per := now.Collector.Value / now.Cycles.Value; then.Cycles.Value > 0 && per > 0 && then.Collector.Known() {
		work = then.Collector.Value / then.Cycles.Value / per
	}
	var all byPhase
	behind, marked, span := 0, 0., 0.
	for n := range uint64(draws) {
		out, arrive, err := l.play(n, l.marking(l.Slower, cycles, work))
		if err != nil {
			return model.Unknown
		}
		if fallsBehind(out.Latency) {
			behind++
		}
		marked, span = marked+out.Marked, span+out.Span
		l.place(&all, out, arrive)
	}
	of := all.shares()
	all.sort()
	if cycles == 1 && work == 1 {
		p99 := l.Whole * l.rest.quantile(&l.rest.seen, &all, of, .99) / 1e6
		return model.Between(p99, p99*(1-queue.Tolerance), p99*(1+queue.Tolerance))
	}
	if 2*behind > draws || l.overloads(then, marked/span) {
		bound := model.Unknown
		if cycles > 1 {
			bound.Low = float64(l.Fit.P99.Observed) / 1e6
		}
		return bound
	}
	return l.between(&all, of, then.Cycles, cycles < 1)
}

// between gives the p99 (ms) of a replay, and the range that its parts give together: what
// is independent adds up by squares (Guide to the Expression of Uncertainty in Measurement,
// JCGM 100:2008, section 5.1), here of logarithms.
//
// Rarer cycles need fewer assists, so the model makes shorter what a request takes that meets
// one. Nothing recorded shows whether it was the assists that made it long: it may also have
// been what the collector's other threads keep from the kernel, the network and the clients.
// So fewer cycles are also taken to cost those that meet them as much as now, and the figure
// lies between the two, see [asNow].
func (l *Latencies) between(all *byPhase, of shares, cycles model.Estimate, fewer bool) model.Estimate {
	quantile := func(of shares) float64 { return math.Log(max(l.rest.quantile(&l.rest.seen, all, of, .99), 1)) }
	p99, variance := quantile(of), farther*farther
	add := func(sd float64) {
		if !math.IsNaN(sd) {
			variance += sd * sd
		}
	}
	add(l.rest.spread(all, of, .99))
	long := longer
	if cycles.Ranged() && cycles.Low > 0 {
		long *= math.Sqrt(cycles.High / cycles.Low)
	}
	add((quantile(of.times(long)) - quantile(of.times(1/long))) / (2 * ninety))
	if fewer && l.carries() {
		same := math.Log(max(l.rest.quantile(&l.rest.seen, &l.rest.model, of, .99), 1))
		add((same - p99) / math.Sqrt(12)) // anywhere between the two
		p99 += asNow * (same - p99)
	}
	// What is left may be the service's or the recording's.
	left := math.Log(l.Whole) / 2
	add(left)
	if !l.carries() {
		add(unexplained * math.Log(float64(l.Fit.P99.Observed)/float64(l.Fit.P99.Model)))
	}
	p99 += left
	wide := ninety * math.Sqrt(variance)
	if wide > vague {
		return model.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.Exp(p99+wide) / 1e6}
	}
	return model.Between(math.Exp(p99)/1e6, math.Exp(p99-wide)/1e6, math.Exp(p99+wide)/1e6)
}

// overloads says whether requests, which take longer while cycles mark, and the
// collector need nearly all of the processors. A ratio lets the heap grow with what
// waits. Under a limit what waits takes the collector's room, so that a backlog feeds
// itself: there the upper end of what it may take must fit, too.
func (l *Latencies) overloads(then Outcome, marked float64) bool {
	collector := then.Collector.Value
	if then.Bound == ByLimit && then.Collector.Ranged() {
		collector = then.Collector.High
	}
	requests := l.every * l.r.Cycles / 1e9 * (1 + (l.Slower-1)*min(marked, 1))
	return requests+collector >= nearFull*float64(l.r.Processors)
}
