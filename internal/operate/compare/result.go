package compare

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// compareMetric compares a metric over the pairs in which both runs have it; false if there is no such pair.
func compareMetric(m Metric, before, after []Run, opt Options) (Result, bool) {
	level := opt.Level
	var b, a []float64
	var at []int
	for i := range before {
		x, ok := before[i].Metrics[m.Name]
		y, too := after[i].Metrics[m.Name]
		if ok && too && isValidFigure(x) && isValidFigure(y) {
			b, a, at = append(b, x), append(a, y), append(at, i)
		}
	}
	if len(b) == 0 {
		return Result{}, false
	}
	r := Result{Name: m.Name, Title: m.Title, Unit: m.Unit, Better: m.Better, Pairs: len(b), MinEffect: m.MinEffect, Floor: m.Floor, Gate: m.Gate, Result: Unclear}
	r.Before, r.After = stats.FiniteOrNil(stats.Median(b)), stats.FiniteOrNil(stats.Median(a))
	factor, iv, ok := stats.RatioInterval(b, a, level, 1)
	r.Change = stats.FiniteOrNil(factor - 1)
	diffs := make([]float64, len(b))
	for i := range b {
		diffs[i] = a[i] - b[i]
	}
	apart, decided := stats.SignFlipInterval(diffs, level, 1)
	if ok {
		basis := BasisPairs
		r.Low, r.High, r.Basis, r.Level = stats.FiniteOrNil(iv.Low-1), stats.FiniteOrNil(iv.High-1), &basis, &level
	} else if w, ok := fromRequests(m.Name, before, after, at); ok && !decided {
		basis, nominal := BasisWithin, .95
		r.Low, r.High, r.Basis, r.Level = stats.FiniteOrNil(w.Low-1), stats.FiniteOrNil(w.High-1), &basis, &nominal
	}
	switch {
	case !decided && !opt.InTurn && r.decideFewRuns(m, before, after, at, opt):
	case !decided:
		r.Why = formatFewPairs(len(b), level)
	case ok:
		r.decideByInterval(m, factor-1, stats.Interval{Low: iv.Low - 1, High: iv.High - 1}, apart)
	default: // too many runs have zero for ratios; only differences remain
		r.decideByInterval(m, math.Inf(1), stats.Interval{Low: apart.Low, High: apart.High}, apart)
	}
	if r.Change == nil { // none before: the interval of a ratio has no meaning
		r.Low, r.High = nil, nil
		if decided {
			basis := BasisPairs
			r.setDifference(apart, basis, level)
		}
	}
	return r, true
}

// decideByInterval sets the result from a change and its interval. apart is the interval of the absolute
// differences.
func (r *Result) decideByInterval(m Metric, change float64, iv, apart stats.Interval) {
	relative := !math.IsInf(change, 0)
	small := apart.Low == 0 && apart.High == 0 ||
		m.Floor > 0 && apart.Low >= -m.Floor && apart.High <= m.Floor ||
		relative && iv.Low >= -m.MinEffect && iv.High <= m.MinEffect
	least := "the smallest change that counts"
	switch {
	case small:
		r.Result = Same
	case iv.Contains(0):
		r.Why = "no larger than the differences between runs"
	case relative && math.Abs(change) < m.MinEffect:
		r.Why = fmt.Sprintf("smaller than %s (%.3g %%)", least, 100*m.MinEffect)
	case math.Abs(*r.After-*r.Before) < m.Floor:
		r.Why = fmt.Sprintf("smaller than %s (%s)", least, units.Of(m.Floor, m.Unit))
	case (iv.Low > 0) == (m.Better == Higher):
		r.Result = Improved
	default:
		r.Result = Regressed
	}
}

// setDifference sets the interval of after minus before.
func (r *Result) setDifference(iv stats.Interval, basis string, level float64) {
	r.DifferenceLow, r.DifferenceHigh, r.Basis, r.Level = stats.FiniteOrNil(iv.Low), stats.FiniteOrNil(iv.High), &basis, &level
}

// formatFewPairs returns the text that there are too few pairs to decide.
func formatFewPairs(n int, level float64) string {
	return fmt.Sprintf("%s of runs, at least %d needed", units.Plural(n, "pair"), minDecidingPairs(level))
}

// minDecidingPairs returns the least number of pairs that can decide at a level.
func minDecidingPairs(level float64) int {
	need := stats.MinPairs
	for (1-level)/2*math.Exp2(float64(need)) < 1-1e-9 {
		need++
	}
	return need
}

// fromRequests returns the interval of the factor that the requests within each run give. It computes the limits
// of the pairs' mean logarithm by the method of variance estimates recovery (Zou & Donner, Construction of
// Confidence Limits about Effect Measures, Statistics in Medicine 27, 2008).
func fromRequests(name string, before, after []Run, at []int) (stats.Interval, bool) {
	var mean, down, up float64
	for _, i := range at {
		b, a := before[i].Metrics[name], after[i].Metrics[name]
		x, ok := before[i].Within[name]
		y, too := after[i].Within[name]
		if !ok || !too || !(x.Low > 0 && y.Low > 0 && b > 0 && a > 0) {
			return stats.Interval{}, false
		}
		mean += math.Log(a / b)
		square := func(v float64) float64 { return v * v }
		down += square(math.Log(a/y.Low)) + square(math.Log(x.High/b))
		up += square(math.Log(y.High/a)) + square(math.Log(b/x.Low))
	}
	n := float64(len(at))
	return stats.Interval{Low: math.Exp((mean - math.Sqrt(down)) / n), High: math.Exp((mean + math.Sqrt(up)) / n)}, len(at) > 0
}

func isValidFigure(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && v >= 0 }
