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

// threads shows what the threads of a process did, those that do the same together.
func (p *page) threads(s *threads.Summary, about string, most int) {
	all, groups, rest := sentence.Threads(s, most)
	if about != "" {
		all = about + ": " + all
	}
	p.block("THREADS", bold, labels, p.wrap(all, labels))
	for _, g := range groups {
		p.block("", "", 2, p.wrap(g.Line, 2))
		for _, l := range p.told(g.Stack, 4, p.at.short) {
			p.line("    " + p.paint(dim, l))
		}
	}
	p.block("", "", 2, p.wrap(rest, 2))
}
