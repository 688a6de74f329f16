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
	p.writeLinef("## %s", escapeText(a.Subject))
	p.writeLinef("\n%s", escapeText(strings.Join(sentence.Basis(a), " · ")))
	for _, r := range a.Rows {
		p.writeSection(escapeText(r.Text))
		p.writeLinef("| | now → then |\n|---|---|")
		for _, e := range r.Effects {
			p.writeRow(e.Title, sentence.Effect(e))
		}
		p.writeFacts(r.Facts)
	}
	switch {
	case a.Frontier == nil:
	case len(a.Rows) > 0:
		p.writeLinef("\nKnee: %s", escapeText(a.Frontier.Brief))
	default:
		p.writeFrontier(a.Frontier)
	}
	if len(a.Notes) > 0 {
		p.writeSection("Notes")
		for _, n := range a.Notes {
			p.writeLinef("- %s", escapeText(n))
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(p.String(), "\n")+"\n")
	return err
}

func (p *page) writeFacts(all []model.Fact) {
	for _, f := range all {
		p.writeRow(sentence.Capital(f.Name), f.Text)
	}
}

// writeFrontier writes a table of the frontier's points, and which one to take.
func (p *page) writeFrontier(f *model.Frontier) {
	p.writeSection(escapeText(sentence.Capital(f.Title)))
	head, rule := "| setting |", "|---|"
	for _, c := range f.Columns {
		head += " " + escapeText(sentence.Head(c)) + " |"
		rule += "---:|"
	}
	p.writeLinef("%s\n%s", head, rule)
	for i, point := range f.Points {
		text := formatCode(point.Text)
		switch f.Marked(i) {
		case "now":
			text += " now"
		case "knee":
			text = "**" + text + " knee**"
		}
		line := "| " + text + " |"
		for k := range f.Columns {
			line += " " + escapeText(sentence.Cell(f, i, k)) + " |"
		}
		p.writeLinef("%s", line)
	}
	p.writeLinef("\n| | |\n|---|---|")
	p.writeRow("Knee", f.Text)
	p.writeFacts(f.Facts)
}
