package sentence

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// compared is a figure compared with a threshold of 10 of a count.
func compared(name string, figure float64, speaks check.Side, joined check.Joint) check.Compared {
	return check.Compared{Name: name, Figure: &figure, Threshold: 10, Unit: "count", Reached: figure >= 10, Speaks: speaks, Joined: joined}
}

// verdictBy is a verdict that some question decided, with the figures of its material and its evidence.
func verdictBy(r check.Rule, evidence, material []check.Compared) *diagnose.Verdict {
	v := &diagnose.Verdict{Cause: "go.gc-rate", Verdict: r.State, Decision: &check.Decision{Answer: r.Answer, Says: r.Says}}
	figures := map[check.Question][]check.Compared{check.AskEvidence: evidence, check.AskMaterial: material}
	for _, q := range check.Questions {
		if all := figures[q]; len(all) > 0 || q == r.Question {
			v.Decision.Steps = append(v.Decision.Steps, check.Asked{Question: q, Decides: q == r.Question, Compared: all})
		}
	}
	return v
}

// What would have changed a verdict is each figure on the wrong side of its threshold: all that must hold, one of those of which one suffices, and none
// of those that were not needed.
func TestChanges(t *testing.T) {
	some := []check.Compared{compared("samples", 12, check.Above, check.All)}
	few := []check.Compared{compared("samples", 3, check.Above, check.All)}
	for about, x := range map[string]struct {
		v    *diagnose.Verdict
		want []string // each in the line of its place
	}{
		"one that must hold does not": {verdictBy(check.TooLittle, some, []check.Compared{compared("cycles", 4, check.Above, check.All), compared("marking", 20, check.Above, check.All)}),
			[]string{"cycles: at least 10 needed, 4 found"}},
		"two that must hold do not": {verdictBy(check.TooLittle, some, []check.Compared{compared("cycles", 4, check.Above, check.All), compared("marking", 5, check.Above, check.All)}),
			[]string{"cycles: at least 10 needed, 4 found", "and marking: at least 10 needed, 5 found"}},
		"neither of two of which one suffices": {verdictBy(check.TooLittle, some, []check.Compared{compared("cycles", 4, check.Above, check.One), compared("marking", 5, check.Above, check.One)}),
			[]string{"cycles: at least 10 needed, 4 found; or marking: at least 10 needed, 5 found"}},
		"one of two suffices, another must hold": {verdictBy(check.TooLittle, some, []check.Compared{compared("cycles", 4, check.Above, check.One), compared("marking", 50, check.Above, check.One), compared("share", 1, check.Above, check.All)}),
			[]string{"share: at least 10 needed, 1 found"}},
		"it must be below": {verdictBy(check.TooLittle, nil, []check.Compared{compared("room", 11, check.Below, check.All)}),
			[]string{"room: below 10 needed, 11 found"}},
		"too few, and too little of it": {verdictBy(check.TooFew, few, []check.Compared{compared("cycles", 4, check.Above, check.All)}),
			[]string{"samples: at least 10 needed, 3 found", "and to find it, cycles: at least 10 needed, 4 found"}},
		"another cause explains it":        {verdictBy(check.Explained, some, []check.Compared{compared("cycles", 40, check.Above, check.All)}), []string{check.Explained.Changes}},
		"nothing of it":                    {verdictBy(check.Absent, nil, nil), []string{check.Absent.Changes}},
		"found, by a figure near its edge": {verdictBy(check.Matters, []check.Compared{compared("samples", 900, check.Above, check.All)}, []check.Compared{compared("cycles", 12, check.Above, check.All), compared("marking", 3, check.Above, check.Beside)}), []string{"cycles: below 10 (12 found, 1.2 × the threshold; the other figures are further from theirs)"}},
		"found by a single sight":          {verdictBy(check.StandsAlone, nil, nil), []string{check.StandsAlone.Changes}},
	} {
		got := Changes(x.v)
		if len(got) != len(x.want) {
			t.Errorf("%s: %q, want %q", about, got, x.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], x.want[i]) {
				t.Errorf("%s: %q, want %q", about, got[i], x.want[i])
			}
		}
	}
	if got := Changes(&diagnose.Verdict{Cause: "go.gc-rate", Verdict: check.Supported}); got != nil {
		t.Errorf("a diagnosis that does not say how it was decided tells %q", got)
	}
}

// Steps say of each figure whether it speaks for the cause, and how it follows the one before.
func TestSteps(t *testing.T) {
	v := verdictBy(check.Matters, []check.Compared{compared("samples", 12, check.Above, check.All)}, []check.Compared{
		compared("marking", 3, check.Above, check.One), compared("share", 30, check.Above, check.All), compared("cycles", 10.04, check.Above, check.One), compared("length", 2, check.Above, check.Beside)})
	steps := Steps(v)
	if len(steps) != len(check.Questions) || steps[0].Answer != "passed" || steps[1].Answer != "nothing to compare" || !steps[3].Decides || !strings.HasPrefix(steps[3].Answer, "supported: ") {
		t.Fatalf("%+v", steps)
	}
	var got []string
	for _, c := range steps[3].Compared {
		holds := "no"
		if c.Holds {
			holds = "yes"
		}
		got = append(got, strings.TrimSpace(c.Join+" "+c.Name)+" "+c.Figure+" "+c.Relation+" "+holds)
	}
	want := "share 30 ≥ yes, and marking 3 < no, or cycles just over 10 ≥ yes, not needed length 2 < no"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("%s, want %s", all, want)
	}
	v = verdictBy(check.HoldersWait, nil, []check.Compared{compared("share", 3, check.Above, check.All)})
	if steps := Steps(v); steps[3].Answer != "not passed, but another step decided" || !steps[5].Decides {
		t.Errorf("%+v", steps)
	}
}

// A cause whose interval reaches below what is material is called likely, and the steps of its verdict say why.
func TestWhyLikely(t *testing.T) {
	of := func(low float64) *diagnose.Diagnosis {
		high := 96.
		return &diagnose.Diagnosis{Requests: &diagnose.Requests{Slow: 9, SlowTotalMs: 100}, Verdicts: []diagnose.Verdict{
			{Cause: "x.ruled", Verdict: "ruled_out"}, {Cause: "x.y", Verdict: "supported", Saves: &diagnose.Saves{Value: 28, Low: &low, High: &high}}}}
	}
	for low, want := range map[float64]string{0: "The report calls it likely: by that interval its share may be below 25 %.", 26: ""} {
		d := of(low)
		if got := WhyLikely(d, &d.Verdicts[1]); got != want {
			t.Errorf("from %g %%: %q", low, got)
		}
		if got := WhyLikely(d, &d.Verdicts[0]); got != "" {
			t.Errorf("not supported: %q", got)
		}
	}
	d := of(0)
	d.Verdicts[1].Saves = nil
	if got := WhyLikely(d, &d.Verdicts[1]); got != "The report calls it likely: its share of the slow time is not known." {
		t.Errorf("unknown: %q", got)
	}
}
