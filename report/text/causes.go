package text

import (
	"strings"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/figure"
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
	var with, without []diagnose.Verdict
	for _, v := range verdicts {
		if v.Summary == "" {
			without = append(without, v)
		} else {
			with = append(with, v)
		}
	}
	all := append(with, without...)
	more := 0
	if len(all) > most+1 {
		all, more = all[:most], len(all)-most
	}
	column := 0
	for _, v := range all {
		column = max(column, width(v.Cause)+2)
	}
	column = min(column, 30)
	var lines []string
	for _, v := range all {
		id := p.clean(v.Cause)
		for i, l := range p.wrap(v.Summary, labels+column) {
			if i > 0 {
				id = ""
			}
			lines = append(lines, pad(id, column-1)+" "+l)
		}
		if v.Summary == "" {
			lines = append(lines, id)
		}
	}
	if more > 0 {
		lines = append(lines, "and "+figure.Count(more)+" more: see --format json")
	}
	p.block("RULED OUT", bold, labels, lines)
}

// notSeen lists what could not be judged or recorded and what would change that.
func (p *page) notSeen(verdicts []diagnose.Verdict, unseen []diagnose.NotSeen) {
	const indent = labels
	var lines []string
	for _, u := range unseen {
		lines = append(lines, p.wrap(sentence.Unseen(u), indent)...)
		if u.Do != "" {
			lines = append(lines, "  "+p.paint(advice, p.clean(u.Do)))
		}
	}
	for _, g := range sentence.NotSeen(verdicts) {
		text := strings.Join(g.Causes, ", ")
		if g.Summary != "" {
			text += ": " + g.Summary
		}
		lines = append(lines, p.wrap(text, indent)...)
		for _, n := range g.Needs {
			words := n.What
			if n.Command != "" {
				words += ":"
			}
			for _, l := range p.wrap(words, indent+2) {
				lines = append(lines, "  "+l)
			}
			if n.Command != "" { // stays on one line, so that it can be copied
				lines = append(lines, "  "+p.paint(advice, p.clean(n.Command)))
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
