package text

import (
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// through shows where the time of requests went, from the web server to what its workers call: by steps of
// journeys where users went on some, else by routes.
func (p *page) through(t *diagnose.RequestPath) {
	v := sentence.Stack(t)
	if v == nil {
		return
	}
	p.blank()
	p.line(p.paint(bold, "THROUGH THE STACK") + "  " + p.clean(v.Of))
	rows := [][]string{append([]string{v.By}, v.Columns...)}
	for _, r := range v.Rows {
		rows = append(rows, append([]string{r.Name}, r.Cells...))
	}
	p.columns(rows, 2, p.Width)
	for _, said := range v.Notes {
		for _, l := range p.wrap(p.clean(said), 2) {
			p.line("  " + p.paint(dim, l))
		}
	}
}
