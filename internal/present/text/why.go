package text

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Why shows how each verdict about a cause came about: the questions in their order, the figures that were compared, and where the
// thresholds are from.
func (o Options) Why(w io.Writer, d *diagnose.Diagnosis, cause string) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	for i := range d.Verdicts {
		if v := &d.Verdicts[i]; v.Cause == cause {
			p.writeBlank()
			p.writeDecision(d, v)
		}
	}
	if p.out.Len() == 0 {
		p.writeLine(cause + " was not asked: it does not apply to what was recorded.")
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

func (p *page) writeDecision(d *diagnose.Diagnosis, v *diagnose.Verdict) {
	head := v.Cause
	if v.Subject != "" {
		head += " of " + v.Subject
	}
	p.writeLine(p.applyStyle(bold, p.cleanText(head+": "+sentence.Outcome(v.Verdict))))
	for _, l := range p.wrapText(v.Summary, 0) {
		p.writeLine(l)
	}
	if share, interval := sentence.Share(d, v); v.IsSupported() && interval != "" {
		p.writeLine("Accounts for " + share + " of the slow time (" + interval + ").")
	}
	if likely := sentence.WhyLikely(d, v); likely != "" {
		p.writeLine(likely)
	}
	p.writeBlank()
	for _, l := range p.wrapText("Each step must be passed, in this order. ▶ marks the one that decided; ✓ and ✗ say whether a figure lets its step pass.", 0) {
		p.writeLine(p.applyStyle(dim, l))
	}
	p.writeBlank()
	var from []sentence.Comparison
	var silent, after []string // steps without a figure, before the one that decided and after it
	decided := false
	for _, s := range sentence.Steps(v) {
		question := fmt.Sprintf("%d %s", s.Place, s.Question)
		if !s.Decides && len(s.Compared) == 0 {
			if decided {
				after = append(after, question)
			} else {
				silent = append(silent, question)
			}
			continue
		}
		decided = decided || s.Decides
		answer, style := s.Answer, dim
		if s.Decides {
			answer = strings.ToUpper(sentence.Outcome(v.Verdict)) + strings.TrimPrefix(answer, sentence.Outcome(v.Verdict))
			question, style = "▶ "+question, bold
		}
		p.writeBlock(question, style, answers, p.wrapText(answer, answers))
		for _, c := range s.Compared {
			p.writeCompared(c)
			if !slices.ContainsFunc(from, func(other sentence.Comparison) bool { return other.Name == c.Name && other.Threshold == c.Threshold }) {
				from = append(from, c)
			}
		}
		if s.Decides && len(s.Compared) == 0 && v.Summary != "" {
			for _, l := range p.wrapText("no threshold: "+v.Summary, 4) {
				p.writeLine("    " + l)
			}
		}
	}
	if len(silent) > 0 {
		p.writeBlock("No figure needed", dim, answers, p.flowItems(silent, answers))
	}
	if len(after) > 0 {
		p.writeBlock("Not asked after it", dim, answers, p.flowItems(after, answers))
	}
	p.writeChanges(v)
	p.writeFigures(v)
	p.writeThresholds(from)
}

// writeChanges writes what would have given another verdict, what to record for it, and from which evidence the cause is supported.
func (p *page) writeChanges(v *diagnose.Verdict) {
	changes := sentence.Changes(v)
	if len(changes) > 0 {
		p.writeBlank()
		p.writeLine(p.applyStyle(bold, "WHAT WOULD CHANGE IT"))
		for _, x := range changes {
			p.writeIndented(x)
		}
		for _, n := range v.Needs {
			if !v.IsSupported() {
				p.writeIndented(strings.TrimSuffix("record: "+n.What, ":"))
				if n.Command != "" {
					p.writeLine("    " + p.applyStyle(advice, p.cleanText(n.Command))) // on one line, so that it can be copied
				}
			}
		}
	}
	if least := sentence.Least(v.Cause); least != "" {
		p.writeBlank()
		p.writeLine(p.applyStyle(bold, "LEAST EVIDENCE FROM WHICH IT IS FOUND"))
		p.writeIndented(least)
	}
}

// writeIndented writes a text below a title.
func (p *page) writeIndented(text string) {
	for _, l := range p.wrapText(text, 2) {
		p.writeLine("  " + l)
	}
}

// writeFigures writes the figures of a verdict in a column, with what they are and the files and lines they are from. Those of a
// supported cause are in the report's WHY.
func (p *page) writeFigures(v *diagnose.Verdict) {
	if len(v.Evidence) == 0 {
		return
	}
	p.writeBlank()
	title := "FIGURES"
	if v.IsSupported() {
		title += ", as in WHY of the report"
	}
	p.writeLine(p.applyStyle(bold, title))
	column := 0
	for i := range v.Evidence {
		column = max(column, textWidth(p.cleanText(sentence.Figure(&v.Evidence[i]))))
	}
	for i := range v.Evidence {
		e := &v.Evidence[i]
		text := e.Text
		if e.Origin != "" {
			text += " [" + e.Origin + "]"
		}
		figure := p.cleanText(sentence.Figure(e))
		for _, l := range p.wrapText(text, column+4) {
			lead := "  " + padLeft(figure, column) + "  "
			if figure == "" {
				lead = lead[:min(len(lead), max(2, p.Width-textWidth(l)))] // the name of a file is not broken
			}
			p.writeLine(lead + l)
			figure = ""
		}
	}
}

// answers is the column in which the answers to the questions begin.
const answers = 25

// writeCompared writes a line: what is compared, the figure, and its threshold.
func (p *page) writeCompared(c sentence.Comparison) {
	figure := p.cleanText(fmt.Sprintf("%s %s %s", c.Figure, c.Relation, c.Threshold))
	name := c.Name
	switch {
	case c.Join == "not needed":
		name += " (not needed)"
	case c.Join != "":
		name = c.Join + " " + name
	}
	if c.From != "" {
		name += " [" + c.From + "]"
	}
	lines := p.wrapText(name, 4+2+textWidth(figure))
	if last := lines[len(lines)-1]; 4+textWidth(last)+2+textWidth(figure) > p.Width { // the name of a file is not broken
		lines = append(lines, "")
	}
	lead := "  ✗ "
	if c.Holds {
		lead = "  ✓ "
	}
	for i, l := range lines {
		if i == len(lines)-1 {
			l = padRight(l, p.Width-4-textWidth(figure)) + figure
		}
		p.writeLine(lead + l)
		lead = "    "
	}
}

// writeThresholds writes the reason and the source of each threshold, and where other recordings lie.
func (p *page) writeThresholds(all []sentence.Comparison) {
	if len(all) == 0 {
		return
	}
	p.writeBlank()
	p.writeLine(p.applyStyle(bold, "WHY THESE THRESHOLDS"))
	column := 0
	for _, c := range all {
		column = max(column, textWidth(p.cleanText(c.Threshold)))
	}
	for _, c := range all {
		text := fmt.Sprintf("%s: %s [%s]", c.Name, c.Why, c.Source)
		if c.Margin != "" {
			text += "; " + c.Margin
		}
		for i, l := range p.wrapText(text, column+4) {
			lead := ""
			if i == 0 {
				lead = p.cleanText(c.Threshold)
			}
			p.writeLine("  " + padLeft(lead, column) + "  " + l)
		}
	}
}
