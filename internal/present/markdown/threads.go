package markdown

import (
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// topGroups is how many groups of threads are shown.
const topGroups = 5

// writeThreads writes what threads did, in groups of those that do the same.
func (p *page) writeThreads(d *diagnose.Diagnosis) {
	for _, t := range d.Threads() {
		title := "Threads"
		if len(d.Threads()) > 1 {
			title += " of " + escapeText(t.Subject)
		}
		p.writeSection(title)
		all, groups, rest := sentence.Threads(t.Summary, topGroups)
		p.writeLinef("%s\n", escapeText(all))
		for _, g := range groups {
			p.writeLinef("- %s  \n  %s", escapeText(g.Line), formatCode(g.Stack))
		}
		if rest != "" {
			p.writeLinef("- %s", escapeText(rest))
		}
	}
}
