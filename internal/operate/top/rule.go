package top

import (
	"fmt"
	"time"

	"github.com/unstall/unstall/internal/base/units"
)

// Rule says how to read a counter that matters.
type Rule struct {
	ID   string // ID of the counter
	Text string // when to look, in one short line

	// Holds returns what the rule found, "" for nothing. If it is nil, the rule is only its text, because no
	// value of the counter is wrong by itself.
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

// saturated is the CPU use, in percent of all processors, from which waiting for a processor explains slow requests.
// Requests that arrive at random queue long before the last processor is busy.
const saturated = 90

// ruleOf returns a counter's rule and its rank; rules that decide first have a lower rank. It returns nil if there
// is no rule.
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

// alertAbove returns the condition of a rule that holds if a value was above a bound for a time. what is the text of
// the alert.
func alertAbove(bound float64, over time.Duration, what string) func(View) string {
	return func(v View) string {
		if !v.holdsFor(over, func(x float64) bool { return x > bound }) {
			return ""
		}
		return what
	}
}

// alertGrowing returns the condition of a rule that holds if a value grew at least at a rate per second over a time
// and hardly fell.
func alertGrowing(perSecond float64, over time.Duration, what string) func(View) string {
	return func(v View) string {
		rate := v.growthRate(over)
		if rate < perSecond || !v.risesFor(over) {
			return ""
		}
		return fmt.Sprintf("grows by %s/s: %s", units.Num(rate), what)
	}
}

// risesFor says whether at most a fifth of the steps of the newest part of a given length went down.
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
