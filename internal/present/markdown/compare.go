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
	p.linef("## %s", escape(sentence.Compared(c)))
	if len(c.Metrics) > 0 {
		p.linef("\n| metric | medians | change, pair by pair | result |\n|---|---:|---:|---|")
		for i := range c.Metrics {
			m := &c.Metrics[i]
			result := m.Result
			if m.Result == compare.Improved || m.Result == compare.Regressed {
				result = "**" + result + "**"
			}
			p.linef("| %s | %s | %s | %s |", escape(m.Title), escape(sentence.Both(m)), escape(sentence.Changed(m)), result)
		}
	}
	p.linef("\n| | |\n|---|---|")
	p.linef("| Before | %s · %s |", cell(c.Before), escape(strings.Join(sentence.Side(&c.Loads.Before), " · ")))
	p.linef("| After | %s · %s |", cell(c.After), escape(strings.Join(sentence.Side(&c.Loads.After), " · ")))
	p.row("Pairs", sentence.Pairs(c))
	if c.Comparable == nil && c.Why != "" {
		p.row("Loads", c.Why)
	}
	for _, d := range sentence.Doubts(c) {
		p.row("Unclear", d.String())
	}
	if len(c.Warnings) > 0 {
		p.section("Warnings")
		for _, warning := range c.Warnings {
			p.linef("- %s", escape(warning))
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(p.String(), "\n")+"\n")
	return err
}
