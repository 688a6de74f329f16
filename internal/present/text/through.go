package text

import (
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// writeRequestPath writes where the time of requests went, from the web server to what its workers
// call: by steps of journeys where users went on some, else by routes.
func (p *page) writeRequestPath(t *diagnose.RequestPath) {
	v := sentence.Stack(t)
	if v == nil {
		return
	}
	p.writeBlank()
	p.writeLine(p.applyStyle(bold, "THROUGH THE STACK") + "  " + p.cleanText(v.Of))
	rows := [][]string{append([]string{v.By}, v.Columns...)}
	for _, r := range v.Rows {
		rows = append(rows, append([]string{r.Name}, r.Cells...))
	}
	p.writeColumns(rows, 2, p.Width)
	for _, said := range v.Notes {
		for _, l := range p.wrapText(p.cleanText(said), 2) {
			p.writeLine("  " + p.applyStyle(dim, l))
		}
	}
}
