package goheap

import (
	"errors"
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/stats"
)

// met is the quantile of the requests that met a cycle by which the model is calibrated: the longest of them wait for other
// things, too, or are too few.
const met = .9

// fitParameters searches for the parameters with which the model reproduces the recording.
func (l *Latencies) fitParameters() error {
	p50, p99 := l.Fit.P50.Observed, l.Fit.P99.Observed
	seen := l.rest.seen[meets]
	want := p99
	if len(seen) >= MinFree {
		want = stats.Quantile(seen, met)
	}
	var is int64
	var of shares
	try := func(slower float64) (float64, error) {
		var t typical
		var marked, span float64
		l.rest.model = byPhase{}
		err := l.playAll(l.markingFor(slower, 1, 1), func(out *played) {
			l.subtractUnseen(out)
			t.addRun(out.drawn.arrive, out.Latency, l.r.Cycles)
			l.placeLatencies(&l.rest.model, out)
			marked, span = marked+out.Marked, span+out.Span
		})
		if err != nil {
			return 0, err
		}
		of = l.rest.model.phaseShares()
		l.rest.model.sortPhases()
		l.Slower, l.Mark = slower, marked/span
		// Time spent elsewhere cannot be negative; then the p50 does not fit.
		l.Beside = max(0, float64(p50-t.quantileAt(.5)))
		l.rest.beside = int64(l.Beside)
		l.Fit.P50.Model = t.quantileAt(.5) + int64(l.Beside)
		l.Fit.P99.Model = t.quantileAt(.99) + int64(l.Beside)
		is = l.Fit.P99.Model
		if model := l.rest.model[meets]; len(seen) >= MinFree && len(model) >= MinFree {
			is = stats.Quantile(model, met) + int64(l.Beside)
		}
		return float64(is), nil
	}
	if err := findSlower(float64(want), try); err != nil {
		return err
	}
	l.now = of
	l.Whole = float64(p99) / l.rest.carriedQuantile(&l.rest.seen, &l.rest.model, of, .99)
	return l.checkFit(want, is)
}

// mostTries is how many values of Slower are tried at most; four to six mostly suffice.
const mostTries = 13

// findSlower tries values of Slower until the latency that the replay comes to is the sought one, and ends with the value that it tried last: with 1
// if that takes too long already, and with the largest one if even that takes too little. In between it takes the point where a line through both
// ends hits, of the latencies' logarithms, as requests may pile up near the largest value. Of an end that stays, half counts the next time (the
// Illinois method: Dowell & Jarratt, A modified regula falsi method for computing the root of an equation, BIT 11, 1971).
func findSlower(want float64, try func(slower float64) (is float64, err error)) error {
	const near = .005 // of the sought value: closer is chance
	miss := func(slower float64) (off float64, found bool, err error) {
		is, err := try(slower)
		return math.Log(max(is, 1) / max(want, 1)), math.Abs(is-want) <= near*want, err
	}
	low, high := 1., float64(mostSlower)
	below, found, err := miss(low)
	if err != nil || found || below >= 0 {
		return err
	}
	above, found, err := miss(high)
	if err != nil || found || above <= 0 {
		return err
	}
	for n, last := 2, 0.; n < mostTries; n++ {
		at := low + (high-low)*below/(below-above)
		off, found, err := miss(at)
		if err != nil || found {
			return err
		}
		if off < 0 {
			if low, below = at, off; last < 0 {
				above /= 2
			}
		} else {
			if high, above = at, off; last > 0 {
				below /= 2
			}
		}
		last = off
	}
	return nil
}

// placeLatencies adds the latencies of a run of the model to the phases in which its requests arrived.
func (l *Latencies) placeLatencies(to *byPhase, out *played) {
	last := -1
	for i, v := range out.Latency {
		at := out.drawn.arrive[i]
		if l.r.Seen {
			at += out.Unseen[i]
		}
		var p phase
		p, last = l.reach.phaseOf(out.Marks, at, last)
		to[p] = append(to[p], v)
	}
}

// canCarryOver reports whether the residuals to carry over are known.
func (l *Latencies) canCarryOver() bool {
	return len(l.rest.seen[meets]) >= MinFree && len(l.rest.seen[apart]) >= MinFree && len(l.rest.model[meets]) >= MinFree
}

// checkFit reports whether the calibrated model may be used, given the targets and results of its calibration. What it does
// not explain is carried over if it is known of which requests; else it must be small.
func (l *Latencies) checkFit(want, is int64) error {
	f := &l.Fit
	e50, e99 := queue.Off(f.P50.Observed, f.P50.Model), queue.Off(f.P99.Observed, f.P99.Model)
	f.Error = max(e50, e99)
	switch {
	case l.Slower == 1 && is > want && queue.Off(want, is) > queue.Tolerance && !(l.canCarryOver() && (l.r.Seen || l.r.Clients)):
		err := fmt.Errorf("%s, %w", queue.NotReproduced("p99", f.P99.Observed, f.P99.Model), ErrTooSlow)
		f.Why = err.Error()
		return err
	case !l.canCarryOver() && e99 > queue.Tolerance && l.Slower >= mostSlower-.01:
		f.Why = queue.NotReproduced("p99", f.P99.Observed, f.P99.Model) + ": GC alone does not explain the latency"
	case !l.canCarryOver() && e99 > queue.Tolerance:
		f.Why = queue.NotReproduced("p99", f.P99.Observed, f.P99.Model)
	case !l.canCarryOver() && e50 > queue.Tolerance:
		f.Why = queue.NotReproduced("p50", f.P50.Observed, f.P50.Model)
	case l.r.Marking > 0 && math.Abs(l.Mark/l.r.Marking-1) > markingMiss:
		f.Why = fmt.Sprintf("in the replay GC marks for %.0f %% of the time, but %.0f %% was observed", 100*l.Mark, 100*l.r.Marking)
	default:
		f.Used = true
		return nil
	}
	return errors.New(f.Why)
}
