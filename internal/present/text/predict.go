package text

import (
	"io"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Predict renders a prediction: what was asked for, else what there is to choose from.
func (o Options) Predict(w io.Writer, a *model.Answer) error {
	if o.Width == 0 {
		o.Width = 80
	}
	t := &page{Options: o}
	t.writeLine(t.applyStyle(bold, t.cleanText(a.Subject)))
	t.writeBlock("", "", 2, t.flowItems(sentence.Basis(a), 2))
	t.writeBlank()
	for i := range a.Rows {
		t.writeSituation(&a.Rows[i])
	}
	switch {
	case a.Frontier == nil:
	case len(a.Rows) > 0:
		t.writeBlock("KNEE", advice, labels, t.wrapText(a.Frontier.Brief, labels))
	default:
		t.writeFrontier(a.Frontier)
	}
	for _, n := range a.Notes {
		t.writeBlock("NOTE", bold, labels, t.wrapText(n, labels))
	}
	_, err := io.WriteString(w, strings.TrimRight(t.out.String(), "\n")+"\n")
	return err
}

// writeSituation writes one situation: figures now and then, with their ranges.
func (p *page) writeSituation(r *model.Row) {
	p.writeLine(p.applyStyle(advice, p.cleanText(r.Text)))
	titles := 0
	for _, e := range r.Effects {
		titles = max(titles, textWidth(e.Title))
	}
	for _, f := range r.Facts {
		titles = max(titles, textWidth(f.Name))
	}
	for _, e := range r.Effects {
		p.writeLine("  " + padRight(p.cleanText(e.Title), titles) + "  " + p.cleanText(sentence.Effect(e)))
	}
	for _, f := range r.Facts {
		s := style("")
		if f.Caution {
			s = alarm
		}
		p.writeBlock("  "+padRight(p.cleanText(f.Name), titles), s, titles+4, p.wrapText(f.Text, titles+4))
	}
	p.writeBlank()
}

// writeFrontier writes a line for each point, with a bar for the first figure that is drawn.
func (p *page) writeFrontier(f *model.Frontier) {
	p.writeLine(p.applyStyle(bold, p.cleanText(strings.ToUpper(f.Title))))
	var columns []int // those of which something is known
	drawn, most := -1, 0.
	for k, c := range f.Columns {
		if !f.Any(k) {
			continue
		}
		columns = append(columns, k)
		if c.Drawn && drawn < 0 {
			drawn = k
			for _, point := range f.Points {
				most = max(most, point.Values[k].Value)
			}
		}
	}
	cell := func(i, k int) string { return p.cleanText(sentence.Cell(f, i, k)) }
	point := func(i int) string {
		text := p.cleanText(f.Points[i].Text)
		if mark := f.Marked(i); mark != "" {
			text += "  " + mark
		}
		return text
	}
	widths, last := make([]int, len(f.Columns)), 0
	for _, k := range columns {
		widths[k] = textWidth(p.cleanText(sentence.Head(f.Columns[k])))
	}
	taken := 0
	for i := range f.Points {
		for _, k := range columns {
			widths[k] = max(widths[k], textWidth(cell(i, k)))
		}
		last = max(last, textWidth(point(i)))
	}
	for _, k := range columns {
		taken += 2 + widths[k]
	}
	bars := min(max(p.Width-taken-2-2-last, 4), 12)
	line := func(text func(k int) string, share float64, end string) string {
		s := ""
		for _, k := range columns {
			s += "  " + padLeft(text(k), widths[k])
			if k == drawn {
				b := p.drawBar(share, bars)
				s += "  " + p.applyStyle(bar, b) + strings.Repeat(" ", max(0, bars-textWidth(b)))
			}
		}
		return strings.TrimRight(s+"  "+end, " ")
	}
	p.writeLine(p.applyStyle(dim, line(func(k int) string { return p.cleanText(sentence.Head(f.Columns[k])) }, 0, "")))
	for i := range f.Points {
		share := 0.
		if drawn >= 0 {
			share = f.Points[i].Values[drawn].Value / math.Max(most, 1e-12)
		}
		l := line(func(k int) string { return cell(i, k) }, share, point(i))
		if i == f.Knee {
			l = p.applyStyle(advice, l)
		}
		p.writeLine(l)
	}
	p.writeBlank()
	p.writeBlock("KNEE", advice, labels, p.wrapText(f.Text, labels))
	for _, x := range f.Facts {
		p.writeBlock(p.cleanText(strings.ToUpper(x.Name)), bold, labels, p.wrapText(x.Text, labels))
	}
}
