package sentence

import (
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Step is a question of a decision in words.
type Step struct {
	Place    int // 1 for the first question
	Question string
	Answer   string // "did not decide", "no figure compared", or what follows and why
	Decides  bool
	Compared []Comparison
}

// Comparison is a figure and the threshold that it was compared with.
type Comparison struct {
	Name      string // what is compared
	Figure    string
	Relation  string // "≥" or "<"
	Threshold string
	From      string // where the figure is from, "" unknown
	Why       string
	Source    string
	Margin    string // [Margin]
}

// Steps returns all questions of a verdict in their order; a diagnosis by a version that did not keep
// them has none.
func Steps(v *diagnose.Verdict) (out []Step) {
	if v.Decision == nil {
		return nil
	}
	for i, q := range check.Questions {
		s := Step{Place: i + 1, Question: string(q), Answer: "no figure compared"}
		for k := range v.Decision.Steps {
			x := &v.Decision.Steps[k]
			if x.Question != q {
				continue
			}
			s.Answer, s.Decides = "did not decide", x.Decides
			if x.Decides {
				s.Answer = Outcome(v.Verdict) + ": " + v.Decision.Says
			}
			for j := range x.Compared {
				s.Compared = append(s.Compared, newComparison(v.Cause, &x.Compared[j]))
			}
		}
		out = append(out, s)
	}
	return out
}

func newComparison(cause string, x *check.Compared) Comparison {
	of := check.Threshold{Unit: x.Unit}
	c := Comparison{Name: x.Name, Relation: "<", Threshold: of.Of(x.Threshold), From: x.Origin, Why: x.Of.Why, Source: x.Of.Source, Margin: Margin(cause, x.Of)}
	switch {
	case x.Figure == nil:
		c.Figure, c.Relation = "unknown", "/"
		return c
	case x.Reached:
		c.Relation = "≥"
	}
	c.Figure = of.Of(*x.Figure)
	return c
}

// Outcome returns a verdict in words: "supported", "left open", "ruled out".
func Outcome(verdict string) string {
	switch verdict {
	case check.Inconclusive:
		return "left open"
	case check.RuledOut:
		return "ruled out"
	}
	return verdict
}
