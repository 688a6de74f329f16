package top

import (
	"fmt"
	"time"

	"github.com/unstall/unstall/internal/base/units"
)

// Rule is how a counter that matters is read.
type Rule struct {
	ID   string // of the counter
	Text string // when to look, in one short line

	// Holds says what it found, "" for nothing; nil: the text is all there is, since
	// no figure by itself is wrong.
	Holds func(v View) string
}

// View is a board as the rule of one of its counters sees it.
type View struct {
	*history
	Board *Board
}

// Of returns another counter's newest value, NaN if it has none.
func (v View) Of(id string) float64 {
	if r := v.Board.rows[id]; r != nil {
		return r.newestValue()
	}
	return nan
}

// cpuPercent returns the CPU the process uses in percent of all it may use, NaN unknown.
func (v View) cpuPercent() float64 { return v.Of(cpuID) / v.Board.availableCores() }

// saturated is from where on, in percent of all processors, waiting for a
// processor explains what is slow: a load that comes as it pleases queues long
// before the last one is busy.
const saturated = 90

// ruleOf returns a counter's rule and its rank, which is lower for rules that decide first; nil if
// there is none.
func (s *Subject) ruleOf(id string) (*Rule, int) {
	rank := 0
	for _, rules := range [][]Rule{ProcRules, s.Rules} {
		for i := range rules {
			if rules[i].ID == id {
				return &rules[i], rank
			}
			rank++
		}
	}
	return nil, rank
}

// alertAbove returns the condition of a rule that holds while a value was above a bound for a
// time; what is the alert's text.
func alertAbove(bound float64, over time.Duration, what string) func(View) string {
	return func(v View) string {
		if !v.holdsFor(over, func(x float64) bool { return x > bound }) {
			return ""
		}
		return what
	}
}

// alertGrowing returns the condition of a rule that holds while a value grew at least so much per
// second over a time and hardly fell.
func alertGrowing(perSecond float64, over time.Duration, what string) func(View) string {
	return func(v View) string {
		rate := v.growthRate(over)
		if rate < perSecond || !v.risesFor(over) {
			return ""
		}
		return fmt.Sprintf("grows by %s/s: %s", units.Num(rate), what)
	}
}

// risesFor says whether at most a fifth of the steps of the newest stretch went down.
func (h *history) risesFor(over time.Duration) bool {
	n := len(h.value)
	steps, falls := 0, 0
	for i := n - 1; i > 0 && h.at[n-1].Sub(h.at[i-1]) <= over; i-- {
		steps++
		if h.value[i] < h.value[i-1] {
			falls++
		}
	}
	return steps > 0 && falls*5 <= steps
}
