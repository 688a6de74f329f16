package text

import (
	"strings"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/report/sentence"
)

// through shows where the time of requests went, from the web server to what its workers call: by steps of
// journeys where users went on some, else by routes.
func (p *page) through(t *diagnose.Through) {
	v := sentence.Stack(t)
	if v == nil {
		return
	}
	p.blank()
	p.line(p.paint(bold, "THROUGH THE STACK") + "  " + p.clean(v.Of))
	rows := [][]string{append([]string{v.By}, v.Columns...)}
	for _, r := range v.Rows {
		row := []string{p.clean(r.Name)}
		for _, cell := range r.Cells {
			row = append(row, p.clean(cell))
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	room := p.Width - 2
	for _, w := range widths[1:] {
		room -= w + 2
	}
	apart := widths[0] > room && room < leastName // names have lines of their own
	widths[0] = max(0, min(widths[0], room))
	for n, row := range rows {
		name := row[0]
		if apart {
			p.line("  " + p.cut(name, p.Width-2))
			name = ""
		}
		line := "  " + pad(p.cut(name, widths[0]), widths[0])
		for i, cell := range row[1:] {
			line += "  " + padLeft(cell, widths[i+1])
		}
		if n == 0 {
			line = p.paint(dim, line)
		}
		p.line(strings.TrimRight(line, " "))
	}
	for _, said := range v.Notes {
		for _, l := range p.wrap(p.clean(said), 2) {
			p.line("  " + p.paint(dim, l))
		}
	}
}

// leastName is how many columns of a line a name needs to be told from others.
const leastName = 24

// cut is a text that has room for so many characters.
func (p *page) cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		dots := p.clean("…")
		return string(r[:max(0, most-width(dots))]) + dots
	}
	return s
}
