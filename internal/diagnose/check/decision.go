package check

import (
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/stats"
)

// Decision is how a verdict was reached: the policy's questions with the figures compared for each, and the rule that decided.
type Decision struct {
	Answer string  `json:"answer"` // outcome of the rule that decided: "too_little"
	Says   string  `json:"says"`
	Steps  []Asked `json:"steps"` // the questions in order: those with compared figures, and the one that decided
}

// Asked is one question of a decision.
type Asked struct {
	Question Question   `json:"question"`
	Decides  bool       `json:"decides"`
	Compared []Compared `json:"compared"`
}

// Compared is a figure with the threshold it was compared with.
type Compared struct {
	Name      string   `json:"name"`      // of the threshold: the compared quantity
	Figure    *float64 `json:"figure"`    // null: unknown
	Threshold float64  `json:"threshold"` // its value
	Unit      string   `json:"unit"`      // of both
	Reached   bool     `json:"reached"`
	Speaks    Side     `json:"speaks"` // which side of the threshold speaks for the cause
	Joined    Joint    `json:"joined"` // how it works together with the others of its question

	Origin string `json:"-"` // where the figure is from, as an [Evidence] has it, or the file with the slow requests; "" unknown

	Of Threshold `json:"-"` // the threshold with its reason and source, which `unstall causes` prints
}

// Side is a side of a threshold.
type Side string

// The sides.
const (
	Above Side = "above" // at the threshold or above
	Below Side = "below"
)

// Joint says how a comparison works together with the others of its question.
type Joint string

// The joints. A question is passed if all of [All] hold, and one of [One] if there are any.
const (
	All    Joint = "all"    // it must hold
	One    Joint = "one"    // one of these suffices
	Beside Joint = "beside" // the verdict did not need it
)

// Holds reports whether the figure is on the side that speaks for the cause; one that is unknown is not. A diagnosis by an earlier version does not say
// which side that is: it is above.
func (x *Compared) Holds() bool { return x.Figure != nil && x.Reached == (x.Speaks != Below) }

// weighed is a figure that answered a question.
type weighed struct {
	question Question
	Compared
}

func newWeighed(q Question, figure float64, t Threshold) weighed {
	w := weighed{q, Compared{Name: t.Name, Figure: stats.FiniteOrNil(figure), Threshold: t.Value, Unit: t.Unit, Reached: figure >= t.Value, Speaks: Above, Joined: All, Of: t}}
	if q == AskCovered { // of time that was not seen
		w.Speaks = Below
	}
	return w
}

// Weigh records a figure that decides the verdict and that must reach its threshold; it replaces an earlier figure for the same threshold.
func (v *Verdict) Weigh(figure float64, t Threshold) {
	v.recordComparison(newWeighed(AskMaterial, figure, t))
}

// WeighOne is [Verdict.Weigh] for figures of which one that reaches its threshold suffices.
func (v *Verdict) WeighOne(figure float64, t Threshold) {
	w := newWeighed(AskMaterial, figure, t)
	w.Joined = One
	v.recordComparison(w)
}

// WeighBelow is [Verdict.Weigh] for a figure that must be below its threshold.
func (v *Verdict) WeighBelow(figure float64, t Threshold) {
	w := newWeighed(AskMaterial, figure, t)
	w.Speaks = Below
	v.recordComparison(w)
}

// Counted is [Verdict.Weigh] for the amount of evidence.
func (v *Verdict) Counted(figure float64, t Threshold) {
	v.recordComparison(newWeighed(AskEvidence, figure, t))
}

// Noticed is [Verdict.Weigh] for what requests notice.
func (v *Verdict) Noticed(figure float64, t Threshold) {
	v.recordComparison(newWeighed(AskSlow, figure, t))
}

// Missed is [Verdict.WeighBelow] for the unobserved amount.
func (v *Verdict) Missed(figure float64, t Threshold) {
	v.recordComparison(newWeighed(AskCovered, figure, t))
}

func (v *Verdict) recordComparison(w weighed) {
	v.weighed = replaceByThreshold(slices.Clip(v.weighed), w)
}

// replaceByThreshold appends a comparison, or puts it in place of an earlier one with the same
// threshold.
func replaceByThreshold(all []weighed, x weighed) []weighed {
	if i := slices.IndexFunc(all, func(y weighed) bool { return y.Of == x.Of }); i >= 0 {
		all = slices.Clone(all)
		all[i] = x
		return all
	}
	return append(all, x)
}

// recordAnswer records the figure that answered a question that all checks share.
func (c *Case) recordAnswer(q Question, figure float64, t Threshold) {
	c.asked = replaceByThreshold(c.asked, newWeighed(q, figure, t))
}

// Forget drops the answers recorded for the previous check.
func (c *Case) Forget() { c.asked = nil }

// Decision returns how the verdict of the check that ran last was reached.
func (c *Case) Decision(v *Verdict) Decision {
	d := Decision{Answer: v.Answer, Says: v.Says}
	all := slices.Concat(c.asked, v.weighed)
	if brief := v.Answer == Brief.Answer || v.Answer == Unnoticed.Answer; brief && c.Ledger != nil && !slices.ContainsFunc(all, isNoticed) {
		all = append(all, newWeighed(AskSlow, float64(Once(c, slowRequestsP99)), Noticeable))
	}
	one := make(map[Question]bool) // in which one of several holds
	for i := range all {
		x := &all[i].Compared
		x.Origin = c.originOf(v, x)
		one[all[i].question] = one[all[i].question] || x.Joined == One && x.Holds()
	}
	sight := v.Answer == StandsAlone.Answer || v.Answer == OutOfSight.Answer // shares need not tell of it
	for i := range all {
		switch x := &all[i].Compared; {
		case v.Supported() && x.Joined == All && !x.Holds():
			x.Joined = Beside
		case sight && x.Joined == One && !one[all[i].question]:
			x.Joined = Beside
		}
	}
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

// isNoticed says whether a comparison is about whether slow requests are noticed, by how long they take.
func isNoticed(x weighed) bool { return x.question == AskSlow && x.Unit == "ns" }

// originOf returns where a compared figure is from: that of the verdict's evidence with the same figure, else the file whose slow
// requests the ledger charges, if it is a figure of these.
func (c *Case) originOf(v *Verdict, x *Compared) string {
	for i := range v.Evidence {
		if e := &v.Evidence[i]; e.Value != nil && x.Figure != nil && isSameFigure(*e.Value, e.Unit, *x.Figure, x.Unit) {
			return e.Origin
		}
	}
	if c.Ledger == nil || !strings.Contains(x.Name, "slow") && !strings.Contains(x.Name, "requests") {
		return ""
	}
	return c.Bundle.Artifacts[c.Ledger.Source].Name
}

// sameFigure is the part of a figure by which it may differ from itself as it is written in another unit.
const sameFigure = .001

// isSameFigure says whether two figures are the same, whatever their units. None is the same as a 0, which many figures are.
func isSameFigure(a float64, unit string, b float64, other string) bool {
	in := map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
	if x, y := in[unit], in[other]; x > 0 && y > 0 {
		a, b = a*x, b*y
	} else if unit != other {
		return false
	}
	return a != 0 && math.Abs(a-b) <= sameFigure*math.Abs(a)
}

// Passed reports whether the comparisons of a question speak for the cause.
func (s *Asked) Passed() bool {
	alternatives, one := false, false
	for i := range s.Compared {
		x := &s.Compared[i]
		switch x.Joined {
		case One:
			alternatives, one = true, one || x.Holds()
		case Beside:
		default:
			if !x.Holds() {
				return false
			}
		}
	}
	return one || !alternatives
}

// OfUnknown reports whether figures speak against the cause, and none of those that do in the deciding question is known: that clears nothing.
func (d *Decision) OfUnknown() bool {
	unknown := false
	for i := range d.Steps {
		for k := range d.Steps[i].Compared {
			switch x := &d.Steps[i].Compared[k]; {
			case !d.Steps[i].Decides || x.Joined == Beside || x.Holds():
			case x.Figure != nil:
				return false
			default:
				unknown = true
			}
		}
	}
	return unknown
}

// Deciding returns the question that decided; "" if a version with other questions made the
// decision.
func (d *Decision) Deciding() Question {
	i := slices.IndexFunc(d.Steps, func(s Asked) bool { return s.Decides })
	if i < 0 {
		return ""
	}
	return d.Steps[i].Question
}
