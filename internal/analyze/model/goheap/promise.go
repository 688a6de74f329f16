package goheap

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/queue"
)

// What the range of a prediction is made of besides what was recorded by chance.
const (
	// farther is the standard deviation of the logarithm of measured p99s by predicted ones
	// that nothing recorded explains: a host's speed from one minute to the next, and the
	// model. Chosen by two grids of settings measured before that of dev/grid/predictions.md.
	farther = .3
	// unexplained is the part of what the replay misses of now that it may miss of a change,
	// too, where nothing can be carried over.
	unexplained = .5
	// longer is how many times as long cycles may mark, or as short: with GOGC=400 those of
	// one service took half as long again as with GOGC=100, and the model says a third.
	longer = 1.25
	// asNow is how far (of the way, in logarithm) a p99 under fewer cycles is moved to what it
	// would be if each cycle cost as much as now. By the same grids, and by pairs of
	// recordings of a service before and after.
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
// cycles than now give the bound below, which is the p99 of now. Where too few requests were
// recorded to tell a p99 from one ten times as long there is the bound above.
func (l *Latencies) At(now, then Outcome) model.Estimate {
	if !now.Cycles.Known() || !then.Cycles.Known() || now.Cycles.Value <= 0 || then.Limiter {
		return model.Unknown
	}
	cycles, work := then.Cycles.Value/now.Cycles.Value, 1.
	if per := now.Collector.Value / now.Cycles.Value; then.Cycles.Value > 0 && per > 0 && then.Collector.Known() {
		work = then.Collector.Value / then.Cycles.Value / per
	}
	if of := l.now; of != (shares{}) && cycles == 1 && work == 1 { // it was replayed to calibrate by
		return l.estimateUnchanged(&l.rest.model, of)
	}
	var all byPhase
	behind, marked, span := 0, 0., 0.
	err := l.playAll(l.markingFor(l.Slower, cycles, work), func(out *played) {
		if fallsBehind(out.Latency) {
			behind++
		}
		marked, span = marked+out.Marked, span+out.Span
		l.subtractUnseen(out)
		l.placeLatencies(&all, out)
	})
	if err != nil {
		return model.Unknown
	}
	of := all.phaseShares()
	all.sortPhases()
	if cycles == 1 && work == 1 {
		return l.estimateUnchanged(&all, of)
	}
	if 2*behind > draws || l.isOverloaded(then, marked/span) {
		bound := model.Unknown
		if cycles > 1 {
			bound.Low = float64(l.Fit.P99.Observed) / 1e6
		}
		return bound
	}
	return l.estimateChanged(&all, of, then.Cycles, cycles < 1)
}

// estimateUnchanged gives the p99 (ms) under the recorded cycles.
func (l *Latencies) estimateUnchanged(all *byPhase, of shares) model.Estimate {
	p99 := l.Whole * l.rest.carriedQuantile(&l.rest.seen, all, of, .99) / 1e6
	return model.Between(p99, p99*(1-queue.Tolerance), p99*(1+queue.Tolerance))
}

// estimateChanged gives the p99 (ms) of a replay, and the range that its parts give together: what
// is independent adds up by squares (Guide to the Expression of Uncertainty in Measurement, JCGM
// 100:2008, section 5.1), here of logarithms.
//
// Rarer cycles need fewer assists, so the model makes shorter what a request takes that meets one.
// Nothing recorded shows whether it was the assists that made it long: it may also have been what
// the collector's other threads keep from the kernel, the network and the clients. So fewer cycles
// are also taken to cost those that meet them as much as now, and the figure lies between the two,
// see [asNow].
func (l *Latencies) estimateChanged(all *byPhase, of shares, cycles model.Estimate, fewer bool) model.Estimate {
	quantile := func(of shares) float64 { return math.Log(max(l.rest.carriedQuantile(&l.rest.seen, all, of, .99), 1)) }
	p99, variance := quantile(of), farther*farther
	add := func(sd float64) {
		if !math.IsNaN(sd) {
			variance += sd * sd
		}
	}
	add(l.rest.quantileSpread(all, of, .99))
	long := longer
	if cycles.Ranged() && cycles.Low > 0 {
		long *= math.Sqrt(cycles.High / cycles.Low)
	}
	add((quantile(of.scaleCycles(long)) - quantile(of.scaleCycles(1/long))) / (2 * ninety))
	if fewer && l.canCarryOver() {
		same := math.Log(max(l.rest.carriedQuantile(&l.rest.seen, &l.rest.model, of, .99), 1))
		add((same - p99) / math.Sqrt(12)) // anywhere between the two
		p99 += asNow * (same - p99)
	}
	// What is left may be the service's or the recording's.
	left := math.Log(l.Whole) / 2
	add(left)
	if !l.canCarryOver() {
		add(unexplained * math.Log(float64(l.Fit.P99.Observed)/float64(l.Fit.P99.Model)))
	}
	p99 += left
	wide := ninety * math.Sqrt(variance)
	if wide > vague {
		return model.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.Exp(p99+wide) / 1e6}
	}
	return model.Between(math.Exp(p99)/1e6, math.Exp(p99-wide)/1e6, math.Exp(p99+wide)/1e6)
}

// isOverloaded says whether requests, which take longer while cycles mark, and the collector need
// nearly all of the processors. A ratio lets the heap grow with what waits. Under a limit what
// waits takes the collector's room, so that a backlog feeds itself: there the upper end of what it
// may take must fit, too.
func (l *Latencies) isOverloaded(then Outcome, marked float64) bool {
	collector := then.Collector.Value
	if then.Bound == ByLimit && then.Collector.Ranged() {
		collector = then.Collector.High
	}
	requests := l.every * l.r.Cycles / 1e9 * (1 + (l.Slower-1)*min(marked, 1))
	return requests+collector >= nearFull*float64(l.r.Processors)
}
