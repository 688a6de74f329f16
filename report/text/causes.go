package text

import (
	"strings"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/report/figure"
	"github.com/unstall/unstall/report/sentence"
)

// why lists the evidence: the figures in a column, what they are, and where
// they are from.
func (p *page) why(v *diagnose.Verdict) {
	const label = 6
	common := sentence.Origin(v.Evidence)
	column := 0
	for i := range v.Evidence {
		column = max(column, width(p.clean(sentence.Figure(&v.Evidence[i]))))
	}
	indent := label
	if column > 0 {
		indent += column + 2
	}
	var lines []string
	for i, e := range v.Evidence {
		text := e.Text
		if e.Origin != "" && common == "" {
			text += " [" + e.Origin + "]"
		}
		if common != "" && i == len(v.Evidence)-1 {
			text += " [all: " + common + "]"
		}
		for n, l := range p.wrap(text, indent) {
			lead := ""
			if n == 0 {
				lead = p.clean(sentence.Figure(&e))
			}
			if column > 0 {
				l = padLeft(lead, column) + "  " + l
			}
			lines = append(lines, l)
		}
	}
	p.block("WHY", bold, label, lines)
}

// fix shows the first fix with what it would do, then the alternatives.
func (p *page) fix(v *diagnose.Verdict) {
	const indent = 6
	var lines []string
	for i, f := range v.Fix {
		if i > 0 {
			lines = append(lines, "or")
		}
		if f.Setting != "" {
			lines = append(lines, p.paint(advice, p.clean(f.Setting)))
		}
		lines = append(lines, p.wrap(f.Text, indent)...)
		for l := range strings.Lines(f.Code) {
			// Code keeps its line breaks and its indentation.
			text := strings.TrimRight(l, "\r\n")
			inner := strings.TrimLeft(text, " \t")
			tabs := strings.ReplaceAll(text[:len(text)-len(inner)], "\t", "    ")
			lines = append(lines, p.paint(advice, "  "+tabs+p.clean(inner)))
		}
		if i == 0 {
			lines = append(lines, p.flow(sentence.Predictions(v), indent)...)
		}
	}
	if len(v.Fix) == 0 {
		lines = p.flow(sentence.Predictions(v), indent)
	}
	p.block("FIX", bold, indent, lines)
}

// ruledOut lists what it was not, those with a figure first.
func (p *page) ruledOut(verdicts []diagnose.Verdict, most int) {
	const indent = labels
	var with, without []string
	for _, v := range verdicts {
		if v.Summary == "" {
			without = append(without, v.Cause)
		} else {
			with = append(with, v.Cause+" "+v.Summary)
		}
	}
	items := append(with, without...)
	if len(items) > most+1 {
		items = append(items[:most:most], "and "+figure.Count(len(items)-most)+" more (--format json)")
	}
	p.block("RULED OUT", bold, indent, p.flow(items, indent))
}

// notSeen lists what could not be judged and what would change that.
func (p *page) notSeen(verdicts []diagnose.Verdict) {
	const indent = labels
	var lines []string
	for _, g := range sentence.NotSeen(verdicts) {
		text := strings.Join(g.Causes, ", ")
		if g.Summary != "" {
			text += ": " + g.Summary
		}
		lines = append(lines, p.wrap(text, indent)...)
		for _, need := range g.Needs {
			// A command stays on one line, so that it can be copied.
			words, command := need, ""
			if i := strings.LastIndex(need, ": "); i >= 0 && strings.ContainsAny(need[i:], "-/=") {
				words, command = need[:i+1], need[i+2:]
			}
			for _, l := range p.wrap(words, indent+2) {
				lines = append(lines, "  "+l)
			}
			if command != "" {
				lines = append(lines, "  "+p.paint(advice, p.clean(command)))
			}
		}
	}
	p.block("NOT SEEN", bold, indent, lines)
}

func (p *page) warnings(warnings []diagnose.Warning) {
	const indent = labels
	var lines []string
	for _, w := range warnings {
		lines = append(lines, p.wrap(warning(w.Text, w.Count, w.Origin), indent)...)
	}
	p.block("WARNINGS", bold, indent, lines)
}
