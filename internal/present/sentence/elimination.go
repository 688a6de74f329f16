package sentence

import (
	"cmp"

	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// sortRuledOut sorts what was ruled out by steps: first one of each, so that every question has
// its answer among the first lines, then the others. Where figures are from several files, each
// summary names its file.
func sortRuledOut(verdicts []diagnose.Verdict) {
	last := check.StepRest.Place()
	asked := make(map[int]bool)
	type ranked struct {
		v    diagnose.Verdict
		rank [2]int
	}
	all := make([]ranked, len(verdicts))
	sources := make(map[string]bool)
	for i, v := range verdicts {
		step := v.Step.Place()
		again := 0
		if v.Summary == "" || step == last || asked[step] {
			again = 1
		} else {
			asked[step] = true
		}
		all[i] = ranked{v, [2]int{again, step}}
		if s := decidedBy(&v); s != "" {
			sources[s] = true
		}
	}
	sorting.Short(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.rank[0], b.rank[0]), cmp.Compare(a.rank[1], b.rank[1]))
	})
	for i := range all {
		v := all[i].v
		if s := decidedBy(&v); len(sources) > 1 && s != "" && v.Summary != "" {
			v.Summary += " [" + s + "]"
		}
		verdicts[i] = v
	}
}

// decidedBy returns the file that most of a verdict's figures are from.
func decidedBy(v *diagnose.Verdict) (best string) {
	n := make(map[string]int)
	for _, e := range v.Evidence {
		if s := e.Source; s != "" {
			if n[s]++; n[s] > n[best] || best == "" {
				best = s
			}
		}
	}
	return best
}
