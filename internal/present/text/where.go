package text

import (
	"math"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// writeLedger writes the ledger as bars.
func (p *page) writeLedger(d *diagnose.Diagnosis) {
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
		r.Title, r.Note = p.cleanText(r.Title), p.cleanText(r.Note)
		figures[i] = p.cleanText(amount(*r))
		titles, values, notes = max(titles, textWidth(r.Title)), max(values, textWidth(figures[i])), max(notes, textWidth(r.Note))
		most = max(most, r.Ms)
	}
	const longest, shortest, gaps = 16, 6, 2 + 2 + 2 + 2
	bars := min(max(p.Width-gaps-titles-values-notes, shortest), longest)
	titles = max(min(titles, p.Width-gaps-values-bars-notes), 20)

	where := "WHERE " + strings.Replace(sentence.Where(d, total), "of slow requests went", "OF SLOW REQUESTS WENT", 1)
	if textWidth(where) > p.Width {
		where = strings.Replace(where, " on average", "", 1)
	}
	p.writeLine(p.applyStyle(bold, p.cleanText(where)))
	for i, r := range rows {
		lines := p.wrapText(r.Title, p.Width-titles)
		drawn := p.drawBar(r.Ms/most, bars)
		p.writeLine("  " + padRight(lines[0], titles) + "  " + padLeft(figures[i], values) + "  " +
			p.applyStyle(bar, drawn) + strings.Repeat(" ", max(0, bars-textWidth(drawn))) + "  " + p.applyStyle(dim, r.Note))
		for _, l := range lines[1:] {
			p.writeLine("    " + l)
		}
	}
	for _, l := range p.wrapText(sentence.Reconciled(d), 2) {
		p.writeLine("  " + p.applyStyle(dim, l))
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
