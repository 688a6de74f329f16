package text

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/report/sentence"
)

// why lists the evidence: the figures in a column, what they are, and where
// they are from.
func (p *page) why(v *diagnose.Verdict, label string) {
	begin := width(label) + 2
	shown := v.Evidence[:p.most(len(v.Evidence), mostEvidence)]
	common := sentence.Origin(shown)
	column := 0
	for i := range shown {
		column = max(column, width(p.clean(sentence.Figure(&shown[i]))))
	}
	indent := begin
	if column > 0 {
		indent += column + 2
	}
	var lines []string
	for i, e := range shown {
		text := e.Text
		if e.Origin != "" && common == "" {
			text = strings.TrimSpace(text + " " + p.origin(e.Origin))
		}
		if common != "" && i == len(shown)-1 {
			if from := p.origin(common); from != "" {
				text += " [all: " + strings.TrimPrefix(from, "[")
			}
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
	p.block(label, bold, begin, append(lines, p.more(len(v.Evidence)-len(shown))...))
}

// fix shows the first fix, then the alternatives, each with what it would do.
func (p *page) fix(v *diagnose.Verdict, label string) {
	indent := width(label) + 2
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
		lines = append(lines, p.flow(sentence.Predictions(v, i), indent)...)
	}
	if len(v.Fix) == 0 {
		lines = p.flow(sentence.Predictions(v, 0), indent)
	}
	p.block(label, bold, indent, lines)
}

// So much is shown of a list by default; the rest is behind --verbose.
const (
	mostEvidence = 6
	mostRuledOut = 8
	mostUnseen   = 5
)

// most is how many of n are shown: one more than most is no reason to leave any out.
func (p *page) most(n, most int) int {
	if p.Verbose || n <= most+1 {
		return n
	}
	return most
}

// more is the line about those that are not shown.
func (p *page) more(n int) []string {
	if n <= 0 {
		return nil
	}
	return []string{p.paint(dim, "and "+figure.Count(n)+" more: --verbose")}
}

// ruledOut lists what it was not, those with a figure first.
func (p *page) ruledOut(verdicts []diagnose.Verdict) {
	var with, without []diagnose.Verdict
	for _, v := range verdicts {
		if v.Summary == "" {
			without = append(without, v)
		} else {
			with = append(with, v)
		}
	}
	all := append(with, without...)
	all = all[:p.most(len(all), mostRuledOut)]
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
	p.block("RULED OUT", bold, labels, append(lines, p.more(len(verdicts)-len(all))...))
}

// notSeen lists what could not be judged or recorded, and then what would change that, each command once.
func (p *page) notSeen(verdicts []diagnose.Verdict, unseen []diagnose.NotSeen) {
	const indent = labels
	var says []string
	var do []diagnose.Need
	want := func(n diagnose.Need) {
		if !slices.ContainsFunc(do, func(o diagnose.Need) bool { return o.Command == n.Command }) {
			do = append(do, n)
		}
	}
	for _, u := range unseen {
		says = append(says, sentence.Unseen(u))
		if u.Do != "" {
			want(diagnose.Need{Command: u.Do})
		}
	}
	for _, g := range sentence.NotSeen(verdicts) {
		text := strings.Join(g.Causes, ", ")
		if g.Summary != "" {
			text += ": " + g.Summary
		}
		for _, n := range g.Needs {
			if n.Command == "" {
				text += "; it takes " + n.What
				continue
			}
			want(n)
		}
		says = append(says, text)
	}
	shown := p.most(len(says), mostUnseen)
	var lines []string
	for _, s := range says[:shown] {
		lines = append(lines, p.wrap(s, indent)...)
	}
	lines = append(lines, p.more(len(says)-shown)...)
	for _, n := range do {
		if n.What != "" {
			lines = append(lines, p.wrap(n.What+":", indent)...)
		}
		lines = append(lines, "  "+p.paint(advice, p.clean(n.Command))) // on one line, so that it can be copied
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
