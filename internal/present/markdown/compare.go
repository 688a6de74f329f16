package markdown

import (
	"io"
	"strings"

	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Compare renders a comparison, for a pull request.
func Compare(w io.Writer, c *compare.Comparison) error {
	p := new(page)
	p.writeLinef("## %s", escapeText(sentence.Compared(c)))
	for _, remark := range sentence.Remarks(c) {
		p.writeLinef("\n%s", escapeText(remark))
	}
	switch {
	case len(c.Causes) > 0:
		p.writeLinef("\n| cause | before → after | before | after |\n|---|---|---|---|")
		for i := range c.Causes {
			x := &c.Causes[i]
			p.writeLinef("| %s | %s | %s | %s |", formatCodeCell(x.Cause), escapeText(sentence.CauseChanged(x)), escapeText(x.BeforeSummary), escapeText(x.AfterSummary))
		}
	case c.Diagnosed:
		p.writeLinef("\n%s.", sentence.Capital(sentence.NoCauses))
	}
	if len(c.Metrics) > 0 {
		both, change := sentence.Columns(c)
		p.writeLinef("\n| metric | %s | %s | result |\n|---|---:|---:|---|", both, change)
		for i := range c.Metrics {
			m := &c.Metrics[i]
			result := sentence.ResultWord(c, m)
			if m.Result == compare.Improved || m.Result == compare.Regressed {
				result = "**" + result + "**"
			}
			p.writeLinef("| %s | %s | %s | %s |", escapeText(m.Title), escapeText(sentence.Both(m)), escapeText(sentence.Changed(m)), result)
		}
	}
	p.writeLinef("\n| | |\n|---|---|")
	p.writeLinef("| Before | %s · %s |", formatCodeCell(c.Before), escapeText(strings.Join(sentence.Side(&c.Loads.Before), " · ")))
	p.writeLinef("| After | %s · %s |", formatCodeCell(c.After), escapeText(strings.Join(sentence.Side(&c.Loads.After), " · ")))
	p.writeRow("Pairs", sentence.Pairs(c))
	if c.Comparable == nil && c.Why != "" {
		p.writeRow("Loads", c.Why)
	}
	for _, d := range sentence.Doubts(c) {
		p.writeRow("Unclear", d.String())
	}
	if len(c.Warnings) > 0 {
		p.writeSection("Warnings")
		for _, warning := range c.Warnings {
			p.writeLinef("- %s", escapeText(warning))
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(p.String(), "\n")+"\n")
	return err
}
