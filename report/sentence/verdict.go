package sentence

import (
	"slices"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/report/figure"
)

// Split sorts verdicts by what was found, keeping their order.
func Split(verdicts []diagnose.Verdict) (supported, open, ruledOut []diagnose.Verdict) {
	for _, v := range verdicts {
		switch v.Verdict {
		case "supported":
			supported = append(supported, v)
		case "ruled_out":
			ruledOut = append(ruledOut, v)
		default:
			open = append(open, v)
		}
	}
	return supported, open, ruledOut
}

// Figure writes the figure of a piece of evidence, "" if it has none.
func Figure(e *diagnose.Evidence) string {
	if e.Value == nil {
		return ""
	}
	return figure.Of(*e.Value, e.Unit)
}

// Origin is where all of the evidence is from, "" if that differs.
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

// Predictions lists what the first fix would change: "p99 6.4 → 2.7 ms
// (2.3–3.4)".
func Predictions(v *diagnose.Verdict) []string {
	var items []string
	for _, x := range v.Prediction {
		items = append(items, x.Metric+" "+figure.Change(x.Now, x.Then, x.Low, x.High, x.Unit))
	}
	return items
}

// Open is what could not be judged: causes that miss the same thing.
type Open struct {
	Causes  []string
	Summary string
	Needs   []string
}

// NotSeen groups inconclusive verdicts by what they miss.
func NotSeen(verdicts []diagnose.Verdict) (groups []Open) {
	for _, v := range verdicts {
		i := slices.IndexFunc(groups, func(g Open) bool { return g.Summary == v.Summary && slices.Equal(g.Needs, v.Needs) })
		if i < 0 {
			groups = append(groups, Open{Summary: v.Summary, Needs: v.Needs})
			i = len(groups) - 1
		}
		if !slices.Contains(groups[i].Causes, v.Cause) {
			groups[i].Causes = append(groups[i].Causes, v.Cause)
		}
	}
	return groups
}
