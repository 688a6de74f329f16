package markdown

import (
	"io"
	"strings"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Predict renders a prediction, for a ticket.
func Predict(w io.Writer, a *model.Answer) error {
	p := new(page)
	p.linef("## %s", escape(a.Subject))
	p.linef("\n%s", escape(strings.Join(sentence.Basis(a), " · ")))
	for _, r := range a.Rows {
		p.section(escape(r.Text))
		p.linef("| | now → then |\n|---|---|")
		for _, e := range r.Effects {
			p.row(e.Title, sentence.Effect(e))
		}
		p.facts(r.Facts)
	}
	switch {
	case a.Frontier == nil:
	case len(a.Rows) > 0:
		p.linef("\nKnee: %s", escape(a.Frontier.Brief))
	default:
		p.frontier(a.Frontier)
	}
	if len(a.Notes) > 0 {
		p.section("Notes")
		for _, n := range a.Notes {
			p.linef("- %s", escape(n))
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(p.String(), "\n")+"\n")
	return err
}

func (p *page) facts(all []model.Fact) {
	for _, f := range all {
		p.row(sentence.Capital(f.Name), f.Text)
	}
}

// frontier is a table of its points, and what to take.
func (p *page) frontier(f *model.Frontier) {
	p.section(escape(sentence.Capital(f.Title)))
	head, rule := "| setting |", "|---|"
	for _, c := range f.Columns {
		head += " " + escape(sentence.Head(c)) + " |"
		rule += "---:|"
	}
	p.linef("%s\n%s", head, rule)
	for i, point := range f.Points {
		text := code(point.Text)
		switch f.Marked(i) {
		case "now":
			text += " now"
		case "knee":
			text = "**" + text + " knee**"
		}
		line := "| " + text + " |"
		for k := range f.Columns {
			line += " " + escape(sentence.Cell(f, i, k)) + " |"
		}
		p.linef("%s", line)
	}
	p.linef("\n| | |\n|---|---|")
	p.row("Knee", f.Text)
	p.facts(f.Facts)
}
