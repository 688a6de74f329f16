package text

import (
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/present/sentence"
)

// How many groups of threads are shown: of a diagnosis the largest, of what files hold
// nearly all.
const (
	topGroups = 3
	allGroups = 40
)

// writeThreads writes what the threads of a process did, in groups of those that do the same.
func (p *page) writeThreads(s *threads.Summary, about string, most int) {
	all, groups, rest := sentence.Threads(s, most)
	if about != "" {
		all = about + ": " + all
	}
	p.writeBlock("THREADS", bold, labels, p.wrapText(all, labels))
	for _, g := range groups {
		p.writeBlock("", "", 2, p.wrapText(g.Line, 2))
		for _, l := range p.foldLines(p.wrapOrShorten(g.Stack, 4, p.at.brief), 4) {
			p.writeLine("    " + p.applyStyle(dim, l))
		}
	}
	p.writeBlock("", "", 2, p.wrapText(rest, 2))
}
