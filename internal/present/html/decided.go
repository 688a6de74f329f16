package html

import (
	"slices"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/present/sentence"
)

// decidedView is how a verdict was decided, folded up.
type decidedView struct {
	Of      string // the cause, where it does not stand above
	Steps   []sentence.Step
	Changes []string // what would give another verdict
}

// newDecidedView returns the questions of a verdict that have figures, and the one that decided;
// nil if the diagnosis does not tell.
func newDecidedView(v diagnose.Verdict) *decidedView {
	x := &decidedView{Steps: slices.DeleteFunc(sentence.Steps(&v), func(s sentence.Step) bool { return !s.Decides && len(s.Compared) == 0 })}
	if len(x.Steps) == 0 {
		return nil
	}
	x.Changes = sentence.Changes(&v)
	if v.Verdict == check.Inconclusive {
		x.Of = v.Cause
	}
	return x
}
