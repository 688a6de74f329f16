// Package checktest holds what must be so of every decision: the figures that it keeps are those that decided. So whoever reads a verdict step by step
// can follow it, and sees what would have changed it.
package checktest

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// byFigure are the answers that a figure on the wrong side of its threshold gives.
var byFigure = []string{check.TooFew.Answer, check.NotSlow.Answer, check.Brief.Answer, check.Unnoticed.Answer, check.TooLittle.Answer, check.OnTheEdge.Answer, check.Happens.Answer}

// Faults returns what does not add up in a decision about a verdict of a state: a cause that is supported though a figure speaks against it, or one that
// a figure should have decided, of which there is none.
func Faults(state string, d *check.Decision) (faults []string) {
	if d.Deciding() == "" {
		faults = append(faults, "no question decided")
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		switch {
		case state == check.Supported && !s.Passed():
			faults = append(faults, fmt.Sprintf("supported, though %q was not passed: %s", s.Question, formatStep(s)))
		case s.Decides && slices.Contains(byFigure, d.Answer) && s.Passed():
			faults = append(faults, fmt.Sprintf("%s: no figure of %q speaks against it: %s", d.Answer, s.Question, formatStep(s)))
		case s.Decides && state == check.RuledOut && d.OfUnknown():
			faults = append(faults, fmt.Sprintf("%s: no known figure of %q speaks against it: %s", d.Answer, s.Question, formatStep(s)))
		case s.Decides && d.Answer == check.Matters.Answer && !slices.ContainsFunc(s.Compared, func(x check.Compared) bool { return x.Joined != check.Beside }):
			faults = append(faults, fmt.Sprintf("supported, and no figure of %q was needed: %s", s.Question, formatStep(s)))
		}
	}
	return faults
}

// formatStep writes the comparisons of a question.
func formatStep(s *check.Asked) (out string) {
	for i, x := range s.Compared {
		if i > 0 {
			out += "; "
		}
		figure := "unknown"
		if x.Figure != nil {
			figure = fmt.Sprint(*x.Figure)
		}
		out += fmt.Sprintf("%s: %s, %s %v (%s)", x.Name, figure, x.Speaks, x.Threshold, x.Joined)
	}
	return out
}
