package check

import (
	"slices"
)

// Decision is how a verdict came about: the questions of the policy with what was compared for each, and the rule that decided.
type Decision struct {
	Answer string  `json:"answer"` // of the rule that decided: "too_little"
	Says   string  `json:"says"`
	Steps  []Asked `json:"steps"` // the questions in their order: those with figures, and the one that decided, but for those that no figure was compared for
}

// Asked is one question of a decision.
type Asked struct {
	Question Question   `json:"question"`
	Decides  bool       `json:"decides"`
	Compared []Compared `json:"compared"`
}

// Compared is a figure and the threshold that it was held against.
type Compared struct {
	Name      string   `json:"name"`      // of the threshold: what is compared
	Figure    *float64 `json:"figure"`    // null: unknown
	Threshold float64  `json:"threshold"` // its value
	Unit      string   `json:"unit"`      // of both
	Reached   bool     `json:"reached"`

	Of Threshold `json:"-"` // with its reason and source, which `unstall causes` gives
}

// weighed is a figure that a question was answered by.
type weighed struct {
	question Question
	Compared
}

func compare(q Question, figure float64, t Threshold) weighed {
	return weighed{q, Compared{t.Name, Number(figure), t.Value, t.Unit, figure >= t.Value, t}}
}

// Weigh keeps a figure that the verdict is decided by, and its threshold: what is weighed again is weighed anew.
func (v *Verdict) Weigh(figure float64, t Threshold) { v.weigh(AskMaterial, figure, t) }

// Counted is [Verdict.Weigh] of how much evidence there is.
func (v *Verdict) Counted(figure float64, t Threshold) { v.weigh(AskEvidence, figure, t) }

// Missed is [Verdict.Weigh] of how much was not seen.
func (v *Verdict) Missed(figure float64, t Threshold) { v.weigh(AskCovered, figure, t) }

func (v *Verdict) weigh(q Question, figure float64, t Threshold) {
	v.weighed = keep(slices.Clip(v.weighed), compare(q, figure, t))
}

// keep adds what was compared, in place of what was compared with the same threshold before.
func keep(all []weighed, x weighed) []weighed {
	if i := slices.IndexFunc(all, func(y weighed) bool { return y.Of == x.Of }); i >= 0 {
		all = slices.Clone(all)
		all[i] = x
		return all
	}
	return append(all, x)
}

// ask remembers what a question that is the same for all checks was answered by.
func (c *Case) ask(q Question, figure float64, t Threshold) {
	c.asked = keep(c.asked, compare(q, figure, t))
}

// Forget begins a new check: what the one before asked is none of its steps.
func (c *Case) Forget() { c.asked = nil }

// Decision is how a verdict of the check that was asked last came about.
func (c *Case) Decision(v *Verdict) Decision {
	d := Decision{Answer: v.Answer, Says: v.Says}
	all := slices.Concat(c.asked, v.weighed)
	for _, q := range Questions {
		s := Asked{Question: q, Decides: q == v.Question, Compared: []Compared{}}
		for _, x := range all {
			if x.question == q {
				s.Compared = append(s.Compared, x.Compared)
			}
		}
		if s.Decides || len(s.Compared) > 0 {
			d.Steps = append(d.Steps, s)
		}
	}
	return d
}

// Deciding is the question that decided; "" of a decision of a version that knows others.
func (d *Decision) Deciding() Question {
	i := slices.IndexFunc(d.Steps, func(s Asked) bool { return s.Decides })
	if i < 0 {
		return ""
	}
	return d.Steps[i].Question
}
