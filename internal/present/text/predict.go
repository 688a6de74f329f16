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
	t.line(t.paint(bold, t.clean(a.Subject)))
	t.block("", "", 2, t.flow(sentence.Basis(a), 2))
	t.blank()
	for i := range a.Rows {
		t.row(&a.Rows[i])
	}
	switch {
	case a.Frontier == nil:
	case len(a.Rows) > 0:
		t.block("KNEE", advice, labels, t.wrap(a.Frontier.Brief, labels))
	default:
		t.frontier(a.Frontier)
	}
	for _, n := range a.Notes {
		t.block("NOTE", bold, labels, t.wrap(n, labels))
	}
	_, err := io.WriteString(w, strings.TrimRight(t.out.String(), "\n")+"\n")
	return err
}

// row shows one situation: now, then, and in which range.
func (p *page) row(r *model.Row) {
	p.line(p.paint(advice, p.clean(r.Text)))
	titles := 0
	for _, e := range r.Effects {
		titles = max(titles, width(e.Title))
	}
	for _, f := range r.Facts {
		titles = max(titles, width(f.Name))
	}
	for _, e := range r.Effects {
		p.line("  " + pad(p.clean(e.Title), titles) + "  " + p.clean(sentence.Effect(e)))
	}
	for _, f := range r.Facts {
		s := style("")
		if f.Caution {
			s = alarm
		}
		p.block("  "+pad(p.clean(f.Name), titles), s, titles+4, p.wrap(f.Text, titles+4))
	}
	p.blank()
}

// frontier shows a line for each point, with a bar for the first figure that is drawn.
func (p *page) frontier(f *model.Frontier) {
	p.line(p.paint(bold, p.clean(strings.ToUpper(f.Title))))
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
	cell := func(i, k int) string { return p.clean(sentence.Cell(f, i, k)) }
	point := func(i int) string {
		text := p.clean(f.Points[i].Text)
		if mark := f.Marked(i); mark != "" {
			text += "  " + mark
		}
		return text
	}
	widths, last := make([]int, len(f.Columns)), 0
	for _, k := range columns {
		widths[k] = width(p.clean(sentence.Head(f.Columns[k])))
	}
	taken := 0
	for i := range f.Points {
		for _, k := range columns {
			widths[k] = max(widths[k], width(cell(i, k)))
		}
		last = max(last, width(point(i)))
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
				s += "  " + p.paint(bar, b) + strings.Repeat(" ", max(0, bars-width(b)))
			}
		}
		return strings.TrimRight(s+"  "+end, " ")
	}
	p.line(p.paint(dim, line(func(k int) string { return p.clean(sentence.Head(f.Columns[k])) }, 0, "")))
	for i := range f.Points {
		share := 0.
		if drawn >= 0 {
			share = f.Points[i].Values[drawn].Value / math.Max(most, 1e-12)
		}
		l := line(func(k int) string { return cell(i, k) }, share, point(i))
		if i == f.Knee {
			l = p.paint(advice, l)
		}
		p.line(l)
	}
	p.blank()
	p.block("KNEE", advice, labels, p.wrap(f.Text, labels))
	for _, x := range f.Facts {
		p.block(p.clean(strings.ToUpper(x.Name)), bold, labels, p.wrap(x.Text, labels))
	}
}
