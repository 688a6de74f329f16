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
			p.writeDecision(v)
		}
	}
	if p.out.Len() == 0 {
		p.writeLine(cause + " was not asked: it does not apply to what was recorded.")
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

func (p *page) writeDecision(v *diagnose.Verdict) {
	head := v.Cause
	if v.Subject != "" {
		head += " of " + v.Subject
	}
	p.writeLine(p.applyStyle(bold, p.cleanText(head+": "+sentence.Outcome(v.Verdict))))
	for _, l := range p.wrapText(v.Summary, 0) {
		p.writeLine(l)
	}
	p.writeBlank()
	var from []sentence.Comparison
	for n, s := range sentence.Steps(v) {
		answer := s.Answer
		if s.Decides {
			answer = strings.ToUpper(sentence.Outcome(v.Verdict)) + strings.TrimPrefix(answer, sentence.Outcome(v.Verdict))
		}
		style := dim
		if s.Decides {
			style = bold
		}
		lines := p.wrapText(answer, answers)
		p.writeBlock(fmt.Sprintf("%d %s", n+1, s.Question), style, answers, lines)
		for _, c := range s.Compared {
			p.writeCompared(c)
			if !slices.Contains(from, c) {
				from = append(from, c)
			}
		}
	}
	p.writeThresholds(from)
}

// answers is the column in which the answers to the questions begin.
const answers = 25

// writeCompared writes a line: what is compared, the figure, and its threshold.
func (p *page) writeCompared(c sentence.Comparison) {
	figure := p.cleanText(fmt.Sprintf("%s %s %s", c.Figure, c.Relation, c.Threshold))
	lines := p.wrapText(c.Name, 4+2+textWidth(figure))
	for i, l := range lines {
		if i == len(lines)-1 {
			l = padRight(l, p.Width-4-textWidth(figure)) + figure
		}
		p.writeLine("    " + l)
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
