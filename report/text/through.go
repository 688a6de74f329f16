package text

import (
	"strings"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/figure"
)

// through shows where the time of each route's requests went, from the web server to what its workers call.
func (p *page) through(t *diagnose.Through) {
	if t == nil || len(t.Routes) == 0 {
		return
	}
	p.blank()
	head := []string{"", "all", t.Title, "wait", "run", "calls", "kernel", "else"}
	rows := [][]string{head}
	for _, r := range t.Routes {
		if r.MeanMs < leastShown {
			continue
		}
		row := []string{p.clean(r.Route)}
		for _, ms := range []float64{r.MeanMs, r.FrontMs, r.WaitMs, r.RunMs, r.CallMs, r.KernelMs, r.OtherMs} {
			row = append(row, amountOf(ms))
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(head))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	room := p.Width - 2
	for _, w := range widths[1:] {
		room -= w + 2
	}
	widths[0] = max(12, min(widths[0], room))
	p.line(p.paint(bold, "THROUGH THE STACK") + "  ms of a request, in the mean")
	for n, row := range rows {
		if width(row[0]) > widths[0] {
			row[0] = string([]rune(row[0])[:widths[0]-1]) + "…"
		}
		line := "  " + pad(row[0], widths[0])
		for i, cell := range row[1:] {
			line += "  " + padLeft(cell, widths[i+1])
		}
		if n == 0 {
			line = p.paint(dim, line)
		}
		p.line(strings.TrimRight(line, " "))
	}
	for _, l := range p.wrap("wait: for one of "+p.clean(t.Pool)+"; then what these did: run, wait for whom they called, be in the kernel, wait for anything else (by looks at all of them, whatever route they were at)", 2) {
		p.line("  " + p.paint(dim, l))
	}
}

// leastShown is the least that is told, ms: web servers count in whole ones.
const leastShown = .01

// amountOf is a figure in ms; what is too small to be told is left out.
func amountOf(ms float64) string {
	if ms < leastShown {
		return "–"
	}
	return figure.Num(ms)
}
