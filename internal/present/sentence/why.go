package sentence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/all"
)

// Step is a question of a decision in words.
type Step struct {
	Place    int // 1 for the first question
	Question string
	Answer   string // "passed", "not passed", "nothing to compare", or what follows and why
	Decides  bool
	Compared []Comparison
}

// Comparison is a figure and the threshold that it was compared with.
type Comparison struct {
	Join      string // how it follows the comparison before: "", "and", "or"; "not needed" if the verdict did not need it
	Holds     bool   // it speaks for the cause
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
		s := Step{Place: i + 1, Question: string(q), Answer: "nothing to compare"}
		for k := range v.Decision.Steps {
			x := &v.Decision.Steps[k]
			if x.Question != q {
				continue
			}
			s.Decides = x.Decides
			switch {
			case x.Decides:
				s.Answer = Outcome(v.Verdict) + ": " + v.Decision.Says
			case x.Passed():
				s.Answer = "passed"
			default:
				s.Answer = "not passed, but another step decided"
			}
			s.Compared = joinComparisons(v.Cause, x.Compared)
		}
		out = append(out, s)
	}
	return out
}

// joinComparisons returns the comparisons of a question: those that must all hold, then those of which one suffices, then those that the
// verdict did not need.
func joinComparisons(cause string, all []check.Compared) (out []Comparison) {
	for _, joint := range []check.Joint{check.All, check.One, check.Beside} {
		first := true
		for i := range all {
			x := &all[i]
			if jointOf(x) != joint {
				continue
			}
			c := newComparison(cause, x)
			switch {
			case joint == check.Beside:
				c.Join = "not needed"
			case joint == check.One && !first:
				c.Join = "or"
			case len(out) > 0:
				c.Join = "and"
			}
			out, first = append(out, c), false
		}
	}
	return out
}

// jointOf returns how a comparison works together with others; a diagnosis by a version that did not keep it says that it must hold.
func jointOf(x *check.Compared) check.Joint {
	if x.Joined == "" {
		return check.All
	}
	return x.Joined
}

func newComparison(cause string, x *check.Compared) Comparison {
	of := check.Threshold{Unit: x.Unit}
	c := Comparison{Name: x.Name, Relation: "<", Threshold: of.Of(x.Threshold), From: x.Origin, Why: x.Of.Why, Source: x.Of.Source, Margin: Margin(cause, x.Of), Holds: x.Holds()}
	switch {
	case x.Figure == nil:
		c.Figure, c.Relation = "unknown", "/"
		return c
	case x.Reached:
		c.Relation = "≥"
	}
	if c.Figure = of.Of(*x.Figure); c.Figure == c.Threshold && *x.Figure != x.Threshold {
		c.Figure = map[bool]string{true: "just over ", false: "just under "}[*x.Figure > x.Threshold] + c.Figure
	}
	return c
}

// Changes says what would have given another verdict: for a supported cause the figure that is closest to its threshold, for another one what
// each figure that speaks against it would have to be.
func Changes(v *diagnose.Verdict) (out []string) {
	d := v.Decision
	if d == nil {
		return nil
	}
	if v.IsSupported() {
		return changesOfSupported(v)
	}
	var others []string
	for k := range d.Steps {
		if s := &d.Steps[k]; s.Decides {
			out = append(out, listLacking(s)...)
		} else {
			others = append(others, listLacking(s)...)
		}
	}
	apart := v.Verdict == check.Inconclusive && len(out) > 0 && len(others) > 0 // the first decide it, and the others then rule it out
	if apart {
		out[0], others[0] = "to decide it, "+out[0], "to find it, "+others[0]
	}
	out = append(out, others...)
	for i := range out {
		if i > 0 {
			out[i] = "and " + out[i]
		}
	}
	if i := slices.IndexFunc(check.Policy, func(r check.Rule) bool { return r.Answer == d.Answer }); i >= 0 && !slices.ContainsFunc(d.Steps, func(s check.Asked) bool { return s.Decides && !s.Passed() }) {
		out = append([]string{check.Policy[i].Changes}, out...)
	}
	return out
}

// listLacking says what the figures of a question that speak against a cause would have to be.
func listLacking(s *check.Asked) (out []string) {
	var one []string
	passed := false
	for i := range s.Compared {
		x := &s.Compared[i]
		c := newComparison("", x)
		says := fmt.Sprintf("%s: %s %s needed, %s found", c.Name, sideOf(x.Speaks), c.Threshold, c.Figure)
		switch {
		case jointOf(x) == check.One && c.Holds:
			passed = true
		case c.Holds, jointOf(x) == check.Beside:
		case jointOf(x) == check.One:
			one = append(one, says)
		default:
			out = append(out, says)
		}
	}
	if !passed && len(one) > 0 {
		out = append(out, strings.Join(one, "; or "))
	}
	return out
}

// sideOf returns a side of a threshold in words, as it stands before the threshold.
func sideOf(s check.Side) string {
	if s == check.Below {
		return "below"
	}
	return "at least"
}

// changesOfSupported says which figure of a supported cause is closest to its threshold, and what would follow on its other side.
func changesOfSupported(v *diagnose.Verdict) (out []string) {
	var closest *check.Compared
	least, banded, compared := math.Inf(1), false, 0
	for k := range v.Decision.Steps {
		for i := range v.Decision.Steps[k].Compared {
			x := &v.Decision.Steps[k].Compared[i]
			banded = banded || x.Name == check.Material.Name
			if jointOf(x) != check.All || !x.Holds() || x.Threshold <= 0 {
				continue
			}
			compared++
			if far := math.Abs(math.Log(math.Max(*x.Figure, 1e-9) / x.Threshold)); far < least {
				closest, least = x, far
			}
		}
	}
	if closest != nil {
		c := newComparison("", closest)
		other := "below"
		if closest.Speaks == check.Below {
			other = "at or above"
		}
		found := fmt.Sprintf("%s found, %s × the threshold", c.Figure, units.Num(*closest.Figure/closest.Threshold))
		if compared > 1 {
			found += "; the other figures are further from theirs"
		}
		out = append(out, fmt.Sprintf("%s: %s %s (%s)", c.Name, other, c.Threshold, found))
	}
	if k := causeOf(v.Cause); banded && k != nil && slices.Contains(k.Thresholds, check.Edge) { // others ask more below it
		out = append(out, fmt.Sprintf("its share of slow time: below %v left open, below %v ruled out", check.Material, check.Arguable))
	}
	if len(out) == 0 {
		if i := slices.IndexFunc(check.Policy, func(r check.Rule) bool { return r.Answer == v.Decision.Answer }); i >= 0 {
			out = append(out, check.Policy[i].Changes)
		}
	}
	return out
}

// Least says from which evidence a cause is supported, "" unknown.
func Least(cause string) string {
	if k := causeOf(cause); k != nil {
		return k.Least
	}
	return ""
}

func causeOf(id string) *check.Check {
	for i := range all.Causes {
		if all.Causes[i].ID == id {
			return &all.Causes[i]
		}
	}
	return nil
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
