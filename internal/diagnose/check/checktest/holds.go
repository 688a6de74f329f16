package checktest

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// Holds reports what no verdict of a check may have. Its decision may have no faults and compare only with thresholds that the check lists. Each
// figure has the unit that its id says and an origin, and a share lies within 0…1. A cause that is found has a fix, and one that is left open has a need.
func Holds(t testing.TB, about string, k *check.Check, c *check.Case, v *check.Verdict) {
	t.Helper()
	fault := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s, %s (%s): "+format, append([]any{k.ID, about, v.Answer, v.Summary}, args...)...)
	}
	d := Decides(t, k.ID+": "+about, c, v)
	for _, s := range d.Steps {
		for _, x := range s.Compared {
			if !slices.ContainsFunc(k.Thresholds, func(y check.Threshold) bool { return y.Name == x.Name }) {
				fault("compares with %q, which it does not list", x.Name)
			}
		}
	}
	for _, e := range v.Evidence {
		switch want := check.UnitOf(e.ID); {
		case e.ID == "" && e.Value == nil:
		case e.ID == "" || e.Unit != want && !(want == "count" && slices.Contains([]string{"1", "", "threads"}, e.Unit)):
			fault("%q is %q in %q", e.Text, e.ID, e.Unit)
		case e.Value == nil: // it is unknown
		case e.Origin == "":
			fault("%s has no origin", e.ID)
		case strings.HasSuffix(e.ID, "_share") && (*e.Value < 0 || *e.Value > 1+1e-9):
			fault("%s is %v", e.ID, *e.Value)
		}
	}
	if v.Summary == "" {
		fault("says nothing: %q", v.Title)
	}
	for _, said := range Unworded(v) {
		fault("says %q", said)
	}
	switch {
	case v.Supported() && (len(v.Fix) == 0 || v.Saves == nil && !(v.Weight > 0) && k.Step != check.StepRest):
		fault("is found, helps with %v, saves %v and weighs %v", v.Fix, v.Saves, v.Weight)
	case v.Saves != nil && (v.Saves.Low != nil && *v.Saves.Low > v.Saves.Value || v.Saves.High != nil && *v.Saves.High < v.Saves.Value):
		fault("saves %v, from %v to %v", v.Saves.Value, *v.Saves.Low, *v.Saves.High)
	}
}

// unworded matches a gap in a text: a figure or a name that was not known.
var unworded = regexp.MustCompile(`NaN|[+-]Inf|%!|(^|[a-z×] |\()\?( [a-zA-Zµ%]|/s|[.,;:]|$)|  | \(\)|""| [,.;]( |$)|:[.;]|[:,] ?$|\b(in|of)( :|[.,])`)

// Unworded returns the texts of a verdict that have a gap where a figure or a name was not known.
func Unworded(v *check.Verdict) []string {
	all := []string{v.Title, v.Summary}
	for _, e := range v.Evidence {
		all = append(all, e.Text)
	}
	for _, n := range v.Needs {
		all = append(all, n.What)
	}
	for _, f := range v.Fix {
		all = append(all, f.Text)
	}
	return slices.DeleteFunc(all, func(s string) bool { return !unworded.MatchString(s) })
}

// Decides reports what does not add up in how a verdict was reached (see [Faults]), and returns it; the next verdict of the case begins anew.
func Decides(t testing.TB, about string, c *check.Case, v *check.Verdict) check.Decision {
	t.Helper()
	d := c.Decision(v)
	c.Forget()
	for _, f := range Faults(v.State, &d) {
		t.Errorf("%s: %s (%s)", about, f, v.Summary)
	}
	return d
}

// Figure returns the figure of a verdict with an id, NaN if it has none.
func Figure(v *check.Verdict, id string) float64 {
	for _, e := range v.Evidence {
		if e.ID == id && e.Value != nil {
			return *e.Value
		}
	}
	return math.NaN()
}

// Row is what is wanted of a verdict.
type Row struct {
	About  string
	Rule   check.Rule // that decides
	ID     string     // of a figure; "": none
	Figure float64    // within a hundredth
	Says   string     // a part of its title, summary, needs, fixes or figures
}

// Judged reports what differs from what is wanted, and what [Holds] does.
func (r *Row) Judged(t testing.TB, k *check.Check, c *check.Case, v *check.Verdict) {
	t.Helper()
	Holds(t, r.About, k, c, v)
	if v.Answer != r.Rule.Answer {
		t.Errorf("%s: %s: %s, want %s: %s %s", k.ID, r.About, v.Answer, r.Rule.Answer, v.Title, v.Summary)
		return
	}
	if got := Figure(v, r.ID); r.ID != "" && !(math.Abs(got-r.Figure) <= .01*math.Abs(r.Figure)) {
		t.Errorf("%s: %s: %s is %v, want %v", k.ID, r.About, r.ID, got, r.Figure)
	}
	if said := Said(v); !strings.Contains(said, r.Says) {
		t.Errorf("%s: %s: nothing says %q:\n%s", k.ID, r.About, r.Says, said)
	}
}

// Said returns all texts of a verdict, a line each.
func Said(v *check.Verdict) string {
	all := []string{v.Title, v.Summary}
	for _, e := range v.Evidence {
		all = append(all, e.Text)
	}
	for _, n := range v.Needs {
		all = append(all, n.String())
	}
	for _, f := range v.Fix {
		all = append(all, f.Text, f.Setting, f.Code)
	}
	return strings.Join(all, "\n")
}
