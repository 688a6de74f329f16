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
	for _, l := range p.wrapText(sentence.Compared(c), 0) {
		p.writeLine(p.applyStyle(verdictStyle(c), l))
	}
	for _, remark := range sentence.Remarks(c) {
		for _, l := range p.wrapText(remark, 0) {
			p.writeLine(l)
		}
	}
	p.writeBlank()
	p.writeCauseChanges(c)
	p.writeMetrics(c)
	p.writeBlank()
	p.writeBlock("BEFORE", bold, labels, append(p.wrapText(c.Before, labels), p.flowItems(sentence.Side(&c.Loads.Before), labels)...))
	p.writeBlock("AFTER", bold, labels, append(p.wrapText(c.After, labels), p.flowItems(sentence.Side(&c.Loads.After), labels)...))
	p.writeBlock("PAIRS", bold, labels, p.wrapText(sentence.Pairs(c), labels))
	if c.Comparable == nil && c.Why != "" {
		p.writeBlock("LOADS", bold, labels, p.wrapText(c.Why, labels))
	}
	var lines []string
	for _, d := range sentence.Doubts(c) {
		lines = append(lines, p.wrapText(d.String(), labels)...)
	}
	p.writeBlock("UNCLEAR", bold, labels, lines)
	lines = nil
	for _, warning := range c.Warnings {
		lines = append(lines, p.wrapText(warning, labels)...)
	}
	p.writeBlock("WARNINGS", bold, labels, lines)
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

// writeCauseChanges writes the causes that either run's diagnosis names, before → after.
func (p *page) writeCauseChanges(c *compare.Comparison) {
	if !c.Diagnosed {
		return
	}
	var lines []string
	for i := range c.Causes {
		x := &c.Causes[i]
		lines = append(lines, p.wrapText(x.Cause+"  "+sentence.CauseChanged(x), labels)...)
		for _, figure := range sentence.CauseFigures(x) {
			for _, l := range p.wrapText(figure, labels+2) {
				lines = append(lines, "  "+l)
			}
		}
	}
	if len(lines) == 0 {
		lines = []string{sentence.NoCauses}
	}
	p.writeBlock("CAUSES", bold, labels, lines)
	p.writeBlank()
}

// verdictStyle returns red for a comparison that fails, green for one that improved.
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

// writeMetrics writes a line for each metric: before → after, change, result.
func (p *page) writeMetrics(c *compare.Comparison) {
	var columns [3]int
	rows := make([][3]string, len(c.Metrics))
	for i := range c.Metrics {
		m := &c.Metrics[i]
		rows[i] = [3]string{p.cleanText(m.Title), p.cleanText(sentence.Both(m)), p.cleanText(sentence.Changed(m))}
		for k, cell := range rows[i] {
			columns[k] = max(columns[k], textWidth(cell))
		}
	}
	if len(rows) == 0 {
		return
	}
	both, change := sentence.Columns(c)
	head := [3]string{"", p.cleanText(both), p.cleanText(change)}
	columns[1] = max(columns[1], textWidth(head[1]))
	columns[2] = max(columns[2], textWidth(head[2]))
	const longest = len("regressed")
	wide := 2+columns[0]+2+columns[1]+2+columns[2]+2+longest <= p.Width
	if wide {
		p.writeLine(p.applyStyle(dim, "  "+padRight(head[0], columns[0])+"  "+padRight(head[1], columns[1])+"  "+head[2]))
	}
	for i, r := range rows {
		m := &c.Metrics[i]
		result := p.applyStyle(map[string]style{compare.Improved: calm, compare.Regressed: alarm, compare.Same: dim, compare.Unclear: dim}[m.Result], sentence.ResultWord(c, m))
		if wide {
			p.writeLine("  " + padRight(r[0], columns[0]) + "  " + padRight(r[1], columns[1]) + "  " + padRight(r[2], columns[2]) + "  " + result)
			continue
		}
		p.writeLine("  " + padRight(r[0], p.Width-2-longest-2) + "  " + result)
		p.writeLine("    " + padRight(r[1], columns[1]) + "  " + r[2])
	}
}
