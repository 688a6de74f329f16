package markdown

import (
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// topGroups is how many groups of threads are shown.
const topGroups = 5

// threads shows what threads did, those that do the same together.
func (p *page) threads(d *diagnose.Diagnosis) {
	for _, t := range d.Threads() {
		title := "Threads"
		if len(d.Threads()) > 1 {
			title += " of " + escape(t.Subject)
		}
		p.section(title)
		all, groups, rest := sentence.Threads(t.Summary, topGroups)
		p.linef("%s\n", escape(all))
		for _, g := range groups {
			p.linef("- %s  \n  %s", escape(g.Line), code(g.Stack))
		}
		if rest != "" {
			p.linef("- %s", escape(rest))
		}
	}
}
