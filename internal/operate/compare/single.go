package compare

import (
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Quarters is the number of parts in which a run is measured to see how steady it was.
const Quarters = 4

// runsVary is the relative difference assumed between two runs of the same service under the same load, where
// neither their own drift nor earlier captures show more: a restart, another heap layout, another neighbour. It
// is a choice, not a measurement, and each result states it.
const runsVary = .20

// noisy is the relative variation between runs from which on it is not worth a figure: a change by less than half
// could not be told from more than twice as much.
const noisy = 1.

// fewEarlier is the number of earlier runs from which on their spread replaces [runsVary]; fewer only widen it.
const fewEarlier = 4

// steadiest is the least variation assumed between runs, even if the earlier ones varied less.
const steadiest = .05

// measureQuarters measures the quarters of a run. They show how much each figure moves without a change. It
// returns nil if a quarter is shorter than a second.
func measureQuarters(read *evidence.Bundle, name string, from, until int64, opt MeasureOptions) (parts []map[string]float64) {
	length := (until - from) / Quarters
	if length < int64(time.Second) {
		return nil
	}
	opt.Parts = false
	for k := range int64(Quarters) {
		opt.Since, opt.Until = time.Unix(0, from+k*length).UTC(), time.Unix(0, from+(k+1)*length).UTC()
		for _, r := range Measure(read, name, opt) {
			parts = append(parts, maps.Clone(r.Metrics))
		}
	}
	return parts
}

// decideFewRuns decides a metric that has too few runs for a test over pairs; false if its runs give no
// interval. The interval comes from the requests or the quarters of each run. On top of it, two runs of the
// same service may differ by an allowed amount. Only a change beyond both counts, and a figure that was 0 before
// also needs an interval of the difference. "same" is a result only if both figures are below the floor, or if
// the whole interval is within the smallest change that counts.
func (r *Result) decideFewRuns(m Metric, before, after []Run, at []int, opt Options) bool {
	least := max(m.Floor, 1e-12) // figures below the floor are equally good
	within, ok := fromParts(m.Name, before, after, at, least, opt.Level)
	if w, requests := fromRequests(m.Name, before, after, at); requests {
		within, ok = atLevel(w, opt.Level), true
	}
	if !ok {
		return false
	}
	allowed := allowedVariation(m.Name, before, after, at, opt, least)
	r.Allowed = &allowed
	basis := BasisWithin
	if r.Low == nil {
		r.Low, r.High, r.Basis, r.Level = stats.FiniteOrNil(within.Low-1), stats.FiniteOrNil(within.High-1), &basis, &opt.Level
		if c := r.Change; c != nil && r.Low != nil && r.High != nil { // the floor replaced figures below it
			*r.Low, *r.High = min(*r.Low, *c), max(*r.High, *c)
		}
	}
	if *r.Before == 0 && *r.After > m.Floor {
		difference, ok := differenceOfParts(m.Name, before, after, at, opt.Level)
		if !ok || difference.Low <= m.Floor {
			r.Allowed, r.Why = nil, "none before, and too few readings after to tell it from chance; "+formatFewPairs(len(at), opt.Level)
			return true
		}
		r.setDifference(difference, basis, opt.Level)
	}
	low, high := within.Low/(1+allowed), within.High*(1+allowed)
	apart := math.Abs(*r.After - *r.Before)
	less, more := high < 1-m.MinEffect, low > 1+m.MinEffect
	switch {
	case *r.Before <= m.Floor && *r.After <= m.Floor, within.Low >= 1-m.MinEffect && within.High <= 1+m.MinEffect:
		r.Result, r.Why = Same, ""
	case apart < m.Floor:
		r.Why = fmt.Sprintf("smaller than the smallest change that counts (%s)", units.Of(m.Floor, m.Unit))
	case !less && !more && allowed > noisy:
		r.Why = fmt.Sprintf("too noisy to decide: it varies by more than %g %% without a change; %d pairs of runs may decide", 100*float64(noisy), minDecidingPairs(opt.Level))
	case !less && !more:
		r.Why = fmt.Sprintf("no larger than two runs may differ; %d pairs of runs decide smaller changes", minDecidingPairs(opt.Level))
	case more == (m.Better == Higher):
		r.Result, r.Why = Improved, ""
	default:
		r.Result, r.Why = Regressed, ""
	}
	return true
}

// differenceOfParts returns the interval of after minus before from the quarters of each run: a t interval of the mean
// difference. Quarters that all have the same figure show no variation, so that they give no interval.
func differenceOfParts(name string, before, after []Run, at []int, level float64) (stats.Interval, bool) {
	var mean, spread float64
	for _, i := range at {
		for k, run := range []*Run{&before[i], &after[i]} {
			var figures []float64
			for _, p := range run.Parts {
				if v, ok := p[name]; ok && isValidFigure(v) {
					figures = append(figures, v)
				}
			}
			if len(figures) < Quarters-1 {
				return stats.Interval{}, false
			}
			mean += float64(2*k-1) * run.Metrics[name]
			half := studentCriticalValue(level, len(figures)-1) * standardDeviation(figures) / math.Sqrt(float64(len(figures)))
			spread += half * half
		}
	}
	n := float64(len(at))
	mean, half := mean/n, math.Sqrt(spread)/n
	return stats.Interval{Low: mean - half, High: mean + half}, half > 0
}

// fromParts returns the interval of the factor from the quarters of each run: a t interval of the
// mean logarithm, as a run has few quarters.
func fromParts(name string, before, after []Run, at []int, least, level float64) (stats.Interval, bool) {
	var mean, spread float64
	n := 0
	for _, i := range at {
		for k, run := range []*Run{&before[i], &after[i]} {
			logs := logsOfParts(run.Parts, name, least)
			if len(logs) < Quarters-1 {
				return stats.Interval{}, false
			}
			sign := float64(2*k - 1)
			mean += sign * math.Log(max(run.Metrics[name], least))
			half := studentCriticalValue(level, len(logs)-1) * standardDeviation(logs) / math.Sqrt(float64(len(logs)))
			spread += half * half
		}
		n++
	}
	if n == 0 {
		return stats.Interval{}, false
	}
	mean, half := mean/float64(n), math.Sqrt(spread)/float64(n)
	return stats.Interval{Low: math.Exp(mean - half), High: math.Exp(mean + half)}, true
}

// allowedVariation returns the relative amount by which two runs of the same service may differ in a figure. It
// is [runsVary] or the spread of earlier runs, and at least what the drift between the quarters of these runs
// implies.
func allowedVariation(name string, before, after []Run, at []int, opt Options, least float64) float64 {
	allowed := runsVary
	var earlier []float64
	for i := range opt.Earlier {
		if v, ok := opt.Earlier[i].Metrics[name]; ok && isValidFigure(v) {
			earlier = append(earlier, math.Log(max(v, least)))
		}
	}
	if len(earlier) >= 2 {
		spread := math.Exp(studentCriticalValue(opt.Level, len(earlier)-1)*standardDeviation(earlier)*math.Sqrt2) - 1
		if len(earlier) >= fewEarlier || spread > allowed {
			allowed = max(spread, steadiest)
		}
	}
	for _, i := range at {
		for _, run := range []*Run{&before[i], &after[i]} {
			allowed = max(allowed, math.Exp(normalCriticalValue(opt.Level)*math.Sqrt2*quarterDrift(run, name, least))-1)
		}
	}
	return allowed
}

// quarterDrift returns the standard deviation of a figure's logarithm between quarters, beyond the chance that
// comes from having few requests. The interval of the whole run gives that chance. It returns 0 for a figure
// without such an interval.
func quarterDrift(run *Run, name string, least float64) float64 {
	logs := logsOfParts(run.Parts, name, least)
	iv, ok := run.Within[name]
	if !ok || len(logs) < Quarters-1 || !(iv.Low > 0) {
		return 0
	}
	chance := math.Log(iv.High/iv.Low) / 2 / normalCriticalValue(.95) * math.Sqrt(float64(len(logs)))
	spread := standardDeviation(logs)
	return math.Sqrt(max(0, spread*spread-chance*chance))
}

func logsOfParts(parts []map[string]float64, name string, least float64) (logs []float64) {
	for _, p := range parts {
		if v, ok := p[name]; ok && isValidFigure(v) {
			logs = append(logs, math.Log(max(v, least)))
		}
	}
	return logs
}

// standardDeviation returns the standard deviation of a sample.
func standardDeviation(v []float64) float64 {
	var sum, squares float64
	for _, x := range v {
		sum += x
	}
	mean := sum / float64(len(v))
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	return math.Sqrt(squares / float64(max(1, len(v)-1)))
}

// atLevel converts a 95 % interval of a factor to another level of confidence.
func atLevel(iv stats.Interval, level float64) stats.Interval {
	wider := normalCriticalValue(level) / normalCriticalValue(.95)
	middle := math.Log(iv.Low*iv.High) / 2
	half := math.Log(iv.High/iv.Low) / 2 * wider
	if math.IsInf(middle, 0) || math.IsNaN(half) {
		return iv
	}
	return stats.Interval{Low: math.Exp(middle - half), High: math.Exp(middle + half)}
}

// normalCriticalValue returns how many standard deviations on each side of the mean hold a share
// of a normal distribution.
func normalCriticalValue(level float64) float64 { return math.Sqrt2 * math.Erfinv(level) }

// studentCriticalValue is [normalCriticalValue] for Student's t distribution: exact for one and
// two degrees of freedom, else by the expansion around the normal distribution (Abramowitz &
// Stegun, 26.7.5).
func studentCriticalValue(level float64, freedom int) float64 {
	switch freedom {
	case 1:
		return math.Tan(math.Pi * level / 2)
	case 2:
		return level * math.Sqrt(2/(1-level*level))
	}
	z, v := normalCriticalValue(level), float64(freedom)
	z2 := z * z
	return z * (1 + (z2+1)/(4*v) + ((5*z2+16)*z2+3)/(96*v*v) + (((3*z2+19)*z2+17)*z2-15)/(384*v*v*v))
}

// Allowed returns the least and the largest difference between runs that was allowed for where single runs decided; false if
// only pairs decided.
func (c *Comparison) Allowed() (least, most float64, single bool) {
	for _, m := range c.Metrics {
		if m.Allowed == nil || m.Result != Improved && m.Result != Regressed {
			continue
		}
		if !single {
			least = *m.Allowed
		}
		least, most, single = min(least, *m.Allowed), max(most, *m.Allowed), true
	}
	return least, most, single
}

// Alike says whether two runs have the same load, as far as it is known.
func Alike(a, b *Run) bool {
	g := &guard{before: []Run{*a}, after: []Run{*b}}
	g.compareLoads()
	return len(g.differ) == 0
}
