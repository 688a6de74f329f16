package compare

import (
	"slices"

	"github.com/unstall/unstall/internal/diagnose"
)

// CauseChange is what the diagnoses of both runs say about a cause.
type CauseChange struct {
	Cause   string `json:"cause"`
	Subject string `json:"subject"` // the process, as the diagnosis that names the cause calls it
	Title   string `json:"title"`   // what happens, in the words of the diagnosis that names it

	// Before and After are verdicts: supported | ruled_out | inconclusive; null: the cause was not asked for, as it does not apply
	// to what was recorded.
	Before *string `json:"before"`
	After  *string `json:"after"`

	// BeforeSummary and AfterSummary are the clauses with the deciding figure of each; "" where there is none.
	BeforeSummary string `json:"before_summary"`
	AfterSummary  string `json:"after_summary"`
}

// SetCauses lists the causes that either diagnosis names, in their order: those before the change, then those that only came with it.
func (c *Comparison) SetCauses(before, after *diagnose.Diagnosis) {
	if before == nil || after == nil || c.Refused() {
		return
	}
	c.Diagnosed = true
	for _, d := range []*diagnose.Diagnosis{before, after} {
		for i := range d.Verdicts {
			v := &d.Verdicts[i]
			known := slices.ContainsFunc(c.Causes, func(x CauseChange) bool { return x.Cause == v.Cause })
			if !v.IsSupported() || known {
				continue
			}
			x := CauseChange{Cause: v.Cause, Subject: v.Subject, Title: v.Title}
			x.Before, x.BeforeSummary = strongestVerdict(before, v.Cause)
			x.After, x.AfterSummary = strongestVerdict(after, v.Cause)
			c.Causes = append(c.Causes, x)
		}
	}
}

// strongestVerdict returns a diagnosis's verdict about a cause: of several services the one that is supported, else the one left
// open.
func strongestVerdict(d *diagnose.Diagnosis, cause string) (verdict *string, summary string) {
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		if v.Cause == cause && (verdict == nil || diagnose.Strength(v.Verdict) > diagnose.Strength(*verdict)) {
			verdict, summary = &v.Verdict, v.Summary
		}
	}
	return verdict, summary
}
