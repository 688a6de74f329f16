package text

import (
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
	p.writeColumns(rows, 0, p.Width)
	for _, l := range p.moreLine(len(d.Routes) + d.RoutesLeft - shown) {
		p.writeLine("  " + l)
	}
}
