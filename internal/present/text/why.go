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
			p.blank()
			p.decision(v)
		}
	}
	if p.out.Len() == 0 {
		p.line(cause + " was not asked: it does not apply to what was recorded.")
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

func (p *page) decision(v *diagnose.Verdict) {
	head := v.Cause
	if v.Subject != "" {
		head += " of " + v.Subject
	}
	p.line(p.paint(bold, p.clean(head+": "+sentence.Outcome(v.Verdict))))
	for _, l := range p.wrap(v.Summary, 0) {
		p.line(l)
	}
	p.blank()
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
		lines := p.wrap(answer, answers)
		p.block(fmt.Sprintf("%d %s", n+1, s.Question), style, answers, lines)
		for _, c := range s.Compared {
			p.compared(c)
			if !slices.Contains(from, c) {
				from = append(from, c)
			}
		}
	}
	p.thresholds(from)
}

// answers is the column in which the answers to the questions begin.
const answers = 25

// compared is a line: what is compared, the figure, and its threshold.
func (p *page) compared(c sentence.Comparison) {
	figure := p.clean(fmt.Sprintf("%s %s %s", c.Figure, c.Relation, c.Threshold))
	lines := p.wrap(c.Name, 4+2+width(figure))
	for i, l := range lines {
		if i == len(lines)-1 {
			l = pad(l, p.Width-4-width(figure)) + figure
		}
		p.line("    " + l)
	}
}

// thresholds says of each why it is what it is, and where that is from.
func (p *page) thresholds(all []sentence.Comparison) {
	if len(all) == 0 {
		return
	}
	p.blank()
	p.line(p.paint(bold, "WHY THESE THRESHOLDS"))
	column := 0
	for _, c := range all {
		column = max(column, width(p.clean(c.Threshold)))
	}
	for _, c := range all {
		text := fmt.Sprintf("%s: %s [%s]", c.Name, c.Why, c.Source)
		for i, l := range p.wrap(text, column+4) {
			lead := ""
			if i == 0 {
				lead = p.clean(c.Threshold)
			}
			p.line("  " + padLeft(lead, column) + "  " + l)
		}
	}
}
