package sentence

import (
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// Split sorts verdicts by what was found and keeps their order; those ruled out come in the order
// of the questions. Verdicts that are only listed say which subject they are about if there are
// several.
func Split(d *diagnose.Diagnosis) (supported, open, ruledOut []diagnose.Verdict) {
	for _, v := range d.Verdicts {
		if v.Verdict != "supported" && v.Subject != "" && Several(d) {
			v.Summary = strings.TrimSuffix(v.Subject+": "+v.Summary, ": ")
		}
		switch v.Verdict {
		case "supported":
			supported = append(supported, v)
		case "ruled_out":
			ruledOut = append(ruledOut, v)
		default:
			open = append(open, v)
		}
	}
	sortRuledOut(ruledOut)
	return supported, open, ruledOut
}

// Once removes from each verdict what the ones before it told: fixes that are the same, and from
// the first of a chain the figures of its root. Predictions stay with the fixes they are of. What a fix is about is left out where it is no
// code and the title names it.
func Once(all []diagnose.Verdict) []diagnose.Verdict {
	out := slices.Clone(all)
	defer func() {
		for i := range out {
			out[i].Fix = slices.Clone(out[i].Fix)
			for k := range out[i].Fix {
				if f := &out[i].Fix[k]; isNoun(f.Code) && strings.Contains(out[i].Title, strings.TrimPrefix(f.Code, "a thread of ")) {
					f.Code = ""
				}
			}
		}
	}()
	told := make(map[diagnose.Fix]bool)
	for i := range out {
		v := &out[i]
		if v.Root != nil {
			for _, root := range all {
				if root.Cause == v.Root.Cause && root.Subject == v.Root.Subject {
					v.Evidence = slices.DeleteFunc(slices.Clone(v.Evidence), func(e diagnose.Evidence) bool { return slices.ContainsFunc(root.Evidence, sameFigure(e)) })
				}
			}
		}
		at := make(map[int]int)
		var fixes []diagnose.Fix
		for k, f := range v.Fix {
			if !told[f] {
				at[k] = len(fixes)
				fixes = append(fixes, f)
			}
		}
		for _, f := range fixes {
			told[f] = true
		}
		if len(fixes) == len(v.Fix) {
			continue
		}
		var predicted []diagnose.Prediction
		for _, p := range v.Prediction {
			if p.Fix != nil {
				k, kept := at[*p.Fix]
				if !kept {
					continue
				}
				p.Fix = &k
			}
			predicted = append(predicted, p)
		}
		v.Fix, v.Prediction = fixes, predicted
	}
	return out
}

// isNoun says whether what a fix is about is a thing in words, such as a pool, and no code.
func isNoun(code string) bool {
	return (strings.HasPrefix(code, "a ") || strings.HasPrefix(code, "the ") || strings.HasPrefix(code, "connections ")) && !strings.ContainsAny(code, "()\n")
}

func sameFigure(e diagnose.Evidence) func(diagnose.Evidence) bool {
	return func(o diagnose.Evidence) bool {
		return e.ID == o.ID && e.Text == o.Text && e.Origin == o.Origin && (e.Value == nil) == (o.Value == nil) && (e.Value == nil || *e.Value == *o.Value)
	}
}

// Figure returns the figure of a piece of evidence, "" if it has none.
func Figure(e *diagnose.Evidence) string {
	if e.Value == nil {
		return ""
	}
	if e.Unit == "1" && strings.HasSuffix(e.ID, "_share") { // a ratio of 1 does not say that it is all
		return units.Percent(*e.Value)
	}
	if e.Unit == "CPUs" && strings.HasPrefix(e.Text, "CPUs ") { // the words have it
		return units.Num(*e.Value)
	}
	return units.Of(*e.Value, e.Unit)
}

// Proof returns the figures that decided, with their origins, and then what to change, a line
// each.
func Proof(v *diagnose.Verdict) (lines []string) {
	for i := range v.Evidence {
		e := &v.Evidence[i]
		line := strings.TrimSpace(Figure(e) + " " + e.Text)
		if e.Origin != "" {
			line += " [" + e.Origin + "]"
		}
		lines = append(lines, line)
	}
	for _, f := range v.Fix {
		lines = append(lines, "Change: "+strings.TrimSpace(f.Setting+" "+f.Text))
	}
	return lines
}

// Origin returns where all of the evidence is from, "" if that differs or there is only one piece.
func Origin(evidence []diagnose.Evidence) string {
	for _, e := range evidence {
		if e.Origin != evidence[0].Origin {
			return ""
		}
	}
	if len(evidence) < 2 {
		return ""
	}
	return evidence[0].Origin
}

// Predictions lists what one of the fixes would change: "p99 6.4 → 2.7 ms (2.3–3.4)". The
// first fix has also the predictions that belong to no fix.
func Predictions(v *diagnose.Verdict, fix int) []string {
	var items []string
	for _, x := range v.Prediction {
		if of := x.Fix; of == nil && fix != 0 || of != nil && *of != fix || !Noticed(&x) {
			continue
		}
		items = append(items, x.Metric+" "+units.Change(x.Now, x.Then, x.Low, x.High, x.Unit))
	}
	return items
}

// Noticed says whether a prediction changes its figure by so much that it is worth telling.
func Noticed(x *diagnose.Prediction) bool {
	return x.Now == nil || x.Then == nil || math.IsInf(*x.Now, 0) || !(math.Abs(*x.Then-*x.Now) <= alike*math.Abs(*x.Now)) // NaN is unknown
}

// Open is a group of causes that could not be judged because the same evidence is missing.
type Open struct {
	Causes  []string
	Summary string
	Needs   []diagnose.Need
	// Verdicts are those that miss it.
	Verdicts []diagnose.Verdict
}

// NotSeen groups inconclusive verdicts by what they miss: those with the same reason and needs, and those with the same reason whose needs are
// all commands. Needs with the same command become one
// need; where their words differ, only the words they begin with stay.
func NotSeen(verdicts []diagnose.Verdict) (groups []Open) {
	for _, v := range verdicts {
		i := slices.IndexFunc(groups, func(g Open) bool {
			return g.Summary == v.Summary && (slices.EqualFunc(g.Needs, v.Needs, sameNeed) || v.Summary != "" && areCommands(g.Needs) && areCommands(v.Needs))
		})
		if i < 0 {
			groups = append(groups, Open{Causes: []string{v.Cause}, Summary: v.Summary, Needs: slices.Clone(v.Needs), Verdicts: []diagnose.Verdict{v}})
			continue
		}
		g := &groups[i]
		g.Verdicts = append(g.Verdicts, v)
		if !slices.Contains(g.Causes, v.Cause) {
			g.Causes = append(g.Causes, v.Cause)
		}
		for _, n := range v.Needs {
			if j := slices.IndexFunc(g.Needs, func(o diagnose.Need) bool { return sameNeed(o, n) }); j >= 0 {
				g.Needs[j].What = commonStart(g.Needs[j].What, n.What)
			} else {
				g.Needs = append(g.Needs, n)
			}
		}
	}
	return groups
}

// areCommands says whether all needs are commands, which a report lists apart from the causes that have them.
func areCommands(needs []diagnose.Need) bool {
	return !slices.ContainsFunc(needs, func(n diagnose.Need) bool { return n.Command == "" })
}

func sameNeed(a, b diagnose.Need) bool {
	return a == b || a.Command != "" && a.Command == b.Command
}

// commonStart returns the words that two texts begin with, and … for the rest.
func commonStart(a, b string) string {
	if a == b {
		return a
	}
	x, y := strings.Fields(strings.TrimSuffix(a, " …")), strings.Fields(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return strings.Join(append(x[:n:n], "…"), " ")
}

// Several says whether there are several processes, so that verdicts must name theirs.
func Several(d *diagnose.Diagnosis) bool {
	n := 0
	for _, t := range d.Targets {
		if t.Kind == "process" {
			n++
		}
	}
	return n > 1
}
