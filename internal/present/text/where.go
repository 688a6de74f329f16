package text

import (
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// where shows the ledger as bars.
func (p *page) where(d *diagnose.Diagnosis) {
	rows, total := sentence.Ledger(d)
	if len(rows) == 0 {
		return
	}
	if !p.Verbose {
		rows = sentence.Shorter(rows, total, p.at.ledger)
	}
	amount := sentence.Amounts(total)
	var titles, values, notes int
	var most float64
	figures := make([]string, len(rows))
	for i := range rows {
		r := &rows[i]
		r.Title, r.Note = p.clean(r.Title), p.clean(r.Note)
		figures[i] = p.clean(amount(*r))
		titles, values, notes = max(titles, width(r.Title)), max(values, width(figures[i])), max(notes, width(r.Note))
		most = max(most, r.Ms)
	}
	const longest, shortest, gaps = 16, 6, 2 + 2 + 2 + 2
	bars := min(max(p.Width-gaps-titles-values-notes, shortest), longest)
	titles = max(min(titles, p.Width-gaps-values-bars-notes), 20)

	p.line(p.paint(bold, p.clean("WHERE "+units.Ms(total)+" OF SLOW REQUESTS WENT")))
	for i, r := range rows {
		lines := p.wrap(r.Title, p.Width-titles)
		drawn := p.drawBar(r.Ms/most, bars)
		p.line("  " + pad(lines[0], titles) + "  " + padLeft(figures[i], values) + "  " +
			p.paint(bar, drawn) + strings.Repeat(" ", max(0, bars-width(drawn))) + "  " + p.paint(dim, r.Note))
		for _, l := range lines[1:] {
			p.line("    " + l)
		}
	}
	for _, l := range p.wrap(sentence.Reconciled(d), 2) {
		p.line("  " + p.paint(dim, l))
	}
}

// drawBar draws a share of a bar in eighths of a character.
func (p *page) drawBar(share float64, cells int) string {
	eighths := int(math.Round(share * float64(cells) * 8))
	if p.ASCII {
		return strings.Repeat("#", (eighths+4)/8)
	}
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string(rune('█' + 8 - rest)) // ▉ (seven eighths) to ▏ (one)
	}
	return s
}
