package check

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A question is passed if all that must hold do, and one of those of which one suffices; what was not needed stands aside.
func TestPassed(t *testing.T) {
	of := Threshold{Name: "what is compared", Value: 10, Unit: "count"}
	other := func(name string) Threshold { x := of; x.Name = name; return x }
	for about, x := range map[string]struct {
		weigh  func(v *Verdict)
		passes bool
	}{
		"nothing":                          {func(v *Verdict) {}, true},
		"at the threshold":                 {func(v *Verdict) { v.Weigh(10, of) }, true},
		"just below":                       {func(v *Verdict) { v.Weigh(9.99, of) }, false},
		"unknown":                          {func(v *Verdict) { v.Weigh(math.NaN(), of) }, false},
		"must be below, and is":            {func(v *Verdict) { v.WeighBelow(9.99, of) }, true},
		"must be below, and is at it":      {func(v *Verdict) { v.WeighBelow(10, of) }, false},
		"must be below, and is unknown":    {func(v *Verdict) { v.WeighBelow(math.NaN(), of) }, false},
		"one of two":                       {func(v *Verdict) { v.WeighOne(3, of); v.WeighOne(12, other("b")) }, true},
		"none of two":                      {func(v *Verdict) { v.WeighOne(3, of); v.WeighOne(9, other("b")) }, false},
		"one of two, and one that must":    {func(v *Verdict) { v.WeighOne(3, of); v.WeighOne(12, other("b")); v.Weigh(4, other("c")) }, false},
		"the last figure of a threshold":   {func(v *Verdict) { v.Weigh(3, of); v.Weigh(12, of) }, true},
		"the last way to compare with one": {func(v *Verdict) { v.Weigh(12, of); v.WeighBelow(12, of) }, false},
	} {
		for _, r := range []Rule{TooLittle, Matters} {
			v := Verdict{Rule: r}
			x.weigh(&v)
			c := &Case{Bundle: evidence.NewBundle()}
			d := c.Decision(&v)
			if len(d.Steps) != 1 || d.Deciding() != AskMaterial {
				t.Fatalf("%s: %+v", about, d)
			}
			want := x.passes || r.Supported() && about != "none of two" // what must hold was not needed where the cause is found all the same
			if got := d.Steps[0].Passed(); got != want {
				t.Errorf("%s, %s: passed %v, want %v", about, r.Answer, got, want)
			}
		}
	}
}

// The amount of evidence and what was not seen are questions of their own; time not seen speaks for a verdict where it is little.
func TestQuestionsOfFigures(t *testing.T) {
	v := Verdict{Rule: Unseen}
	v.Counted(12, MinRequests)
	v.Missed(.4, MaterialUnseen)
	v.Weigh(.1, Material)
	c := &Case{Bundle: evidence.NewBundle()}
	d := c.Decision(&v)
	if len(d.Steps) != 3 || d.Deciding() != AskCovered {
		t.Fatalf("%+v", d)
	}
	for i, passed := range []bool{false, false, false} {
		if d.Steps[i].Passed() != passed {
			t.Errorf("%q: passed %v", d.Steps[i].Question, !passed)
		}
	}
	seen := Verdict{Rule: TooLittle}
	seen.Missed(.2, MaterialUnseen)
	if d := c.Decision(&seen); !d.Steps[0].Passed() || d.Steps[0].Decides {
		t.Errorf("%+v", d.Steps)
	}
}

// A figure with the value of another in the verdict's evidence is from there, whatever their units; no 0 is.
func TestOrigins(t *testing.T) {
	length := Threshold{Name: "length", Value: 1, Unit: "s"}
	for want, x := range map[string]struct{ figure, evidence float64 }{"gc.log:7": {1.5, 1500}, "": {1.5, 1600}} {
		v := Verdict{Rule: Matters, Evidence: []Evidence{{ID: "gc.longest_pause_ms", Value: &x.evidence, Unit: "ms", Origin: "gc.log:7"}}}
		v.Weigh(x.figure, length)
		c := &Case{Bundle: evidence.NewBundle()}
		if got := c.Decision(&v).Steps[0].Compared[0].Origin; got != want {
			t.Errorf("%v s beside %v ms is from %q, want %q", x.figure, x.evidence, got, want)
		}
	}
	zero := 0.
	v := Verdict{Rule: TooLittle, Evidence: []Evidence{{Value: &zero, Unit: "s", Origin: "gc.log:7"}}}
	v.Weigh(0, length)
	if got := (&Case{Bundle: evidence.NewBundle()}).Decision(&v).Steps[0].Compared[0].Origin; got != "" {
		t.Errorf("a 0 is from %q", got)
	}
}

// A figure that is not known clears nothing, unless a known one of the same question does.
func TestOfUnknown(t *testing.T) {
	of := Threshold{Name: "what is compared", Value: 10, Unit: "count"}
	other := Threshold{Name: "another", Value: 10, Unit: "count"}
	for about, x := range map[string]struct {
		rule  Rule
		weigh func(v *Verdict)
		want  bool
	}{
		"unknown":                         {TooLittle, func(v *Verdict) { v.Weigh(math.NaN(), of) }, true},
		"known":                           {TooLittle, func(v *Verdict) { v.Weigh(9, of) }, false},
		"unknown, and a known one":        {TooLittle, func(v *Verdict) { v.Weigh(math.NaN(), of); v.WeighOne(9, other) }, false},
		"unknown, and one that is enough": {TooLittle, func(v *Verdict) { v.Weigh(math.NaN(), of); v.Weigh(11, other) }, true},
		"unknown in another question":     {NotSlow, func(v *Verdict) { v.Weigh(math.NaN(), of) }, false},
		"none":                            {Absent, func(v *Verdict) {}, false},
	} {
		v := Verdict{Rule: x.rule}
		x.weigh(&v)
		d := (&Case{Bundle: evidence.NewBundle()}).Decision(&v)
		if got := d.OfUnknown(); got != x.want {
			t.Errorf("%s: %v, want %v: %+v", about, got, x.want, d.Steps)
		}
	}
}
