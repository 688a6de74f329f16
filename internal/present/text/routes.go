package text

import (
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// routes shows what is known of the requests of each route.
func (p *page) routes(d *diagnose.Diagnosis) {
	if len(d.Routes) < 2 {
		return
	}
	shown := p.most(len(d.Routes), p.at.routes)
	rows := sentence.Routes(d, shown)
	rows[0][0] = "ROUTES"
	p.columns(rows, 0, p.Width)
	for _, l := range p.more(len(d.Routes) + d.RoutesLeft - shown) {
		p.line("  " + l)
	}
}
