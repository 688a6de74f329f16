package goheap

import (
	"go/version"
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Thresholds that separate a limit from GOGC.
const (
	leastLive = 2 << 20 // bytes: the least heap is 4 MiB × GOGC/100, whatever is live
	mostGoal  = 1 << 42 // bytes: a larger value is no goal, GOGC is off
	tellingOf = 3       // least number of cycles whose goals decide
	crowded   = .95     // of the goal: so large a live heap has less room than GOGC gives
	oneInFive = 5       // of the cycles, in which that was so, are a limit's doing: one alone is a burst
	early     = .85     // of the goal: cycles that end below were started for another reason
	better    = 2       // × as far off is the model that does not hold
	rounding  = .005    // of the goal: error that both models may have
	step      = 25.     // per cent: what people set GOGC to is a multiple of it, and
	wideStep  = 50.     // of this above
	wide      = 250.    // this
	nearStep  = 3.      // per cent: how far off that may be seen
	usual     = 1.9     // goal by live below which it is a limit's: GOGC=100 gives 2 and stacks
)

// firstLimited is the first release with memory limits (https://go.dev/doc/go1.19#runtime).
const firstLimited = "go1.19"

// Limited reports whether the goal follows a memory limit rather than GOGC.
//
// Under GOGC the goal is live·(1 + GOGC/100) plus a share of stacks and
// globals; under a limit it is the limit less everything that is not heap, and
// a larger live heap lowers nothing. Both models are fitted to consecutive
// cycles; the one that leaves less unexplained wins. Where the live heap hardly
// changes both fit, and the ratio decides: GOGC is set to round numbers. Before Go 1.19 there are no limits.
func (g *Process) Limited() (limited, known bool) {
	if f, ok := g.findFact(evidence.FactVersionBelow); ok && version.Compare(f.Value, firstLimited) <= 0 {
		return false, true
	}
	var ratio, goals, lives, ended []float64
	above := 0
	for i := 1; i < len(g.Cycles); i++ {
		prev, x := g.Cycles[i-1], g.Cycles[i]
		if x.Number > prev.Number+1 {
			continue // the goal comes from a cycle that is not in the log
		}
		if !(prev.Live >= leastLive) || !(x.Goal > 0 && x.Goal <= mostGoal) {
			continue
		}
		ratio = append(ratio, x.Goal/prev.Live)
		goals = append(goals, x.Goal)
		lives = append(lives, prev.Live)
		if x.After > 0 {
			ended = append(ended, x.After/x.Goal)
		}
		if prev.Live >= crowded*x.Goal {
			above++ // the limit asks for less than what is live
		}
	}
	if g.Off() {
		return true, true
	}
	if len(ratio) < tellingOf {
		return false, false
	}
	if g.explainedByGOGC(stats.Median(ratio)) {
		return false, true
	}
	if short := stats.Median(ended); short > 0 && short < early {
		return true, true // cycles end well below the goal that GOGC sets
	}
	if above*oneInFive >= len(ratio) {
		return true, true
	}
	m := stats.Median(ratio)
	var byGOGC, byLimit []float64
	goal := stats.Median(goals)
	for i := range ratio {
		byGOGC = append(byGOGC, math.Abs(goals[i]-m*lives[i]))
		byLimit = append(byLimit, math.Abs(goals[i]-goal))
	}
	a, b := stats.Median(byGOGC), stats.Median(byLimit)
	switch {
	case a > better*b+rounding*goal:
		return true, true
	case b > better*a+rounding*goal:
		return false, true
	}
	gogc := (m - 1) * 100
	nearest := math.Round(gogc/step) * step
	if nearest > 0 && math.Abs(gogc-nearest) <= nearStep {
		return false, true
	}
	return m < usual, true
}

// nearSet is the factor by which the goal may exceed what GOGC gives for the live heap: stacks and globals count too.
const nearSet = 1.25

// explainedByGOGC reports whether a known setting of GOGC explains the goal for the live heap.
func (g *Process) explainedByGOGC(ratio float64) bool {
	f, ok := g.Bundle.Fact(g.Subject, evidence.FactGOGC)
	if !ok || !(f.Number > 0) {
		return false
	}
	asked := 1 + f.Number/100
	return ratio >= asked/nearSet && ratio <= asked*nearSet
}

// minorVersion returns the least minor version the evidence allows, 0 unknown.
func (g *Process) minorVersion() int {
	release := g.Bundle.Subjects[g.Subject].Version
	if version.Compare(g.AtLeast, release) > 0 {
		release = g.AtLeast
	}
	release, _, _ = strings.Cut(release, " ") // without its experiments
	minor, _ := strconv.Atoi(strings.TrimPrefix(version.Lang(release), "go1."))
	return minor
}
