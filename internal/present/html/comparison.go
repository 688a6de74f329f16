package html

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/sentence"
)

// comparisonView is a comparison in the words of the reports.
type comparisonView struct {
	ID, Title             string
	Lead                  bool
	Label, Answer, Tone   string
	Rest                  string // of the answer, below the headline
	Sides                 []sideView
	Both, Change, Scale   string // titles of columns
	Host, NoCauses        string
	Causes                []causeChangeView
	Metrics               []metricView
	Before, After         string
	BeforeLoad, AfterLoad []string
	Pairs, Loads          string
	Doubts, Warnings      []string
}

// sideView is the answer of a side's diagnosis.
type sideView struct{ Label, Text, Tone string }

type metricView struct {
	Title, Both, Change, Result, Class string
	Plot                               *effectView
}

// causeChangeView is a cause before and after a change.
type causeChangeView struct {
	Cause, Change string
	Figures       []string
}

// effectView is a change on a scale from −100 % to +100 %, in percent of its
// width. What is beyond is drawn at its end.
type effectView struct {
	Low, At, High, Zero string
	Reach               bool // it has an interval
	Class, Aria         string
}

func (p Compared) addTo(doc *document) error {
	c := p.Comparison
	doc.compare++
	v := &comparisonView{ID: cmp.Or(p.ID, fmt.Sprintf("compare-%d", doc.compare)), Title: cmp.Or(p.Title, c.Before+" → "+c.After), Lead: p.Lead, Answer: sentence.Compared(c),
		Before: c.Before, After: c.After, BeforeLoad: sentence.Side(&c.Loads.Before), AfterLoad: sentence.Side(&c.Loads.After),
		Pairs: sentence.Pairs(c), Warnings: c.Warnings, Scale: "−100 % … +100 %", Label: "before and after"}
	if v.Lead {
		v.Answer, v.Rest = splitAnswer(v.Answer)
	}
	v.Both, v.Change = sentence.Columns(c)
	v.Host = sentence.HostChange(c)
	for i := range c.Causes {
		x := &c.Causes[i]
		v.Causes = append(v.Causes, causeChangeView{x.Cause, sentence.CauseChanged(x), sentence.CauseFigures(x)})
	}
	if c.Diagnosed && len(c.Causes) == 0 {
		v.NoCauses = sentence.NoCauses
	}
	switch {
	case c.Refused():
		v.Tone = "plain"
	case len(c.Regressed()) > 0:
		v.Tone = "found"
	case hasImprovement(c):
		v.Tone = "calm"
	default:
		v.Tone = "plain"
	}
	if c.Comparable == nil && c.Why != "" {
		v.Loads = c.Why
		if more := sentence.ForVerdict(c); more != "" {
			v.Loads += ". " + more
		}
	} else {
		v.Loads = sentence.ForVerdict(c)
	}
	for _, x := range sentence.Doubts(c) {
		v.Doubts = append(v.Doubts, x.String())
	}
	for i := range c.Metrics {
		v.Metrics = append(v.Metrics, newMetricView(c, &c.Metrics[i]))
	}
	for _, s := range []struct {
		name string
		d    *diagnose.Diagnosis
	}{{"before", p.Before}, {"after", p.After}} {
		if s.d != nil {
			label, text := shortAnswer(s.d)
			tone := "plain" // not judged or not explained is no good news
			switch s.d.Outcome {
			case diagnose.Found:
				tone = "found"
			case diagnose.NothingFound:
				tone = "calm"
			}
			v.Sides = append(v.Sides, sideView{s.name + ": " + label, text, tone})
		}
	}
	doc.Parts = append(doc.Parts, partView{Comparison: v})
	if p.Lead && len(v.Sides) > 0 {
		var contents []Link
		if len(v.Metrics) > 0 {
			contents = append(contents, Link{v.ID + "-metrics", "Before and after"})
		}
		for i, s := range v.Sides {
			contents = append(contents, Link{fmt.Sprintf("diagnosis-%d", doc.diagnoses+i), sentence.Capital(s.Label)})
		}
		doc.Parts = append(doc.Parts, partView{Contents: contents})
	}
	return nil
}

// splitAnswer splits the answer after its first clause, the verdict with its figures: a headline of several sentences is not read.
func splitAnswer(text string) (first, rest string) {
	first, rest = firstSentence(text)
	if verdict, more, found := strings.Cut(first, "; "); found {
		first, rest = verdict+".", strings.TrimSpace(sentence.Capital(more)+" "+rest)
	}
	return first, rest
}

func hasImprovement(c *compare.Comparison) bool {
	for _, m := range c.Metrics {
		if m.Gate && m.Result == compare.Improved {
			return true
		}
	}
	return false
}

func newMetricView(c *compare.Comparison, m *compare.Result) metricView {
	v := metricView{Title: m.Title, Both: sentence.Both(m), Change: sentence.Changed(m), Result: sentence.ResultWord(c, m),
		Class: map[string]string{compare.Improved: "good", compare.Regressed: "bad"}[m.Result]}
	if m.Change == nil || math.IsNaN(*m.Change) {
		return v
	}
	e := &effectView{At: scalePosition(*m.Change), Zero: scalePosition(0), Class: m.Result, Aria: m.Title + " " + v.Change}
	if m.Low != nil && m.High != nil {
		e.Low, e.High, e.Reach = scalePosition(*m.Low), scalePosition(*m.High), true
	}
	v.Plot = e
	return v
}

// scalePosition returns where a relative change is on the scale, in percent of its width.
func scalePosition(change float64) string {
	return fmt.Sprintf("%.4g", 50+48*max(-1, min(1, change)))
}
