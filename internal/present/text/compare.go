package text

import (
	"io"
	"strings"

	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Compare renders a comparison: what came of it, the metrics, then under which
// loads.
func (o Options) Compare(w io.Writer, c *compare.Comparison) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	for _, l := range p.wrap(sentence.Compared(c), 0) {
		p.line(p.paint(verdictStyle(c), l))
	}
	p.blank()
	p.metrics(c)
	p.blank()
	p.block("BEFORE", bold, labels, append(p.wrap(c.Before, labels), p.flow(sentence.Side(&c.Loads.Before), labels)...))
	p.block("AFTER", bold, labels, append(p.wrap(c.After, labels), p.flow(sentence.Side(&c.Loads.After), labels)...))
	p.block("PAIRS", bold, labels, p.wrap(sentence.Pairs(c), labels))
	if c.Comparable == nil && c.Why != "" {
		p.block("LOADS", bold, labels, p.wrap(c.Why, labels))
	}
	var lines []string
	for _, d := range sentence.Doubts(c) {
		lines = append(lines, p.wrap(d.String(), labels)...)
	}
	p.block("UNCLEAR", bold, labels, lines)
	lines = nil
	for _, warning := range c.Warnings {
		lines = append(lines, p.wrap(warning, labels)...)
	}
	p.block("WARNINGS", bold, labels, lines)
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

// verdictStyle is red for what fails a comparison, green for what improved.
func verdictStyle(c *compare.Comparison) style {
	switch {
	case c.Refused() || len(c.Regressed()) > 0:
		return alarm
	default:
		for _, m := range c.Metrics {
			if m.Gate && m.Result == compare.Improved {
				return calm
			}
		}
	}
	return bold
}

// metrics shows a line for each: before → after, change, result.
func (p *page) metrics(c *compare.Comparison) {
	var columns [3]int
	rows := make([][3]string, len(c.Metrics))
	for i := range c.Metrics {
		m := &c.Metrics[i]
		rows[i] = [3]string{p.clean(m.Title), p.clean(sentence.Both(m)), p.clean(sentence.Changed(m))}
		for k, cell := range rows[i] {
			columns[k] = max(columns[k], width(cell))
		}
	}
	if len(rows) == 0 {
		return
	}
	head := [3]string{"", p.clean("medians"), p.clean("change, pair by pair")}
	columns[2] = max(columns[2], width(head[2]))
	const longest = len("regressed")
	wide := 2+columns[0]+2+columns[1]+2+columns[2]+2+longest <= p.Width
	if wide {
		p.line(p.paint(dim, "  "+pad(head[0], columns[0])+"  "+pad(head[1], columns[1])+"  "+head[2]))
	}
	for i, r := range rows {
		m := &c.Metrics[i]
		result := p.paint(map[string]style{compare.Improved: calm, compare.Regressed: alarm, compare.Same: dim, compare.Unclear: dim}[m.Result], m.Result)
		if wide {
			p.line("  " + pad(r[0], columns[0]) + "  " + pad(r[1], columns[1]) + "  " + pad(r[2], columns[2]) + "  " + result)
			continue
		}
		p.line("  " + pad(r[0], p.Width-2-longest-2) + "  " + result)
		p.line("    " + pad(r[1], columns[1]) + "  " + r[2])
	}
}
