package text

import (
	"slices"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// writeRoutes writes what is known of the requests of each route.
func (p *page) writeRoutes(d *diagnose.Diagnosis) {
	if len(d.Routes) < 2 {
		return
	}
	shown := p.shownCount(len(d.Routes), p.at.routes)
	rows := sentence.Routes(d, shown)
	rows[0][0] = "ROUTES"
	rows = p.dropForTitles(rows)
	p.writeColumns(rows, 0, p.Width)
	for _, l := range p.moreLine(len(d.Routes) + d.RoutesLeft - shown) {
		p.writeLine("  " + l)
	}
}

// dropForTitles leaves out the rate, then the median, where a line is too narrow for them and for what took most of the slow time, which is
// what the table is read for.
func (p *page) dropForTitles(rows [][]string) [][]string {
	last := len(rows[0]) - 1
	for _, title := range []string{"rate", "p50"} {
		least, n := 0, slices.Index(rows[0], title)
		for i := 1; i < len(rows[0]); i++ {
			width := 0
			for _, row := range rows {
				cell := p.cleanText(row[i])
				if i == last {
					cell = dispensable.Replace(cell)
				}
				width = max(width, textWidth(cell))
			}
			least += width + 2
		}
		if least <= p.Width || n < 0 || rows[0][last] != "main slow time" {
			break
		}
		for i := range rows {
			rows[i] = slices.Delete(rows[i], n, n+1)
		}
		last--
	}
	return rows
}
