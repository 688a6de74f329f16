// Package text renders a diagnosis for a terminal: the verdict first, then the
// figures it rests on, then what to do, then what was ruled out and what could
// not be seen. It fits 80 columns.
//
// Its opinion: an engineer on call reads the first three lines; everything that
// would change their mind must be on the same screen.
package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/report/sentence"
)

// Report renders a diagnosis as suits w.
func Report(w io.Writer, d *diagnose.Diagnosis) error { return For(w).Report(w, d) }

// Report renders a diagnosis.
func (o Options) Report(w io.Writer, d *diagnose.Diagnosis) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	supported, open, ruledOut := sentence.Split(d)
	p.header(d)
	p.blank()
	if len(supported) > 0 {
		p.headlines(d, supported)
	} else {
		p.nothing(d, open, ruledOut)
	}
	p.blank()
	p.requests(d)
	p.loads(d)
	if len(supported) == 0 {
		p.ruledOut(ruledOut, len(ruledOut))
		p.notSeen(open, d.NotSeen)
	}
	p.blank()
	p.where(d)
	p.through(d.Through)
	p.blank()
	for _, t := range d.Threads() {
		about := ""
		if len(d.Threads()) > 1 {
			about = t.Subject
		}
		p.threads(t.Summary, about, topGroups)
		p.blank()
	}
	for i := range supported {
		if len(supported) > 1 {
			p.line(p.paint(bold, fmt.Sprintf("%d  %s", i+1, p.clean(supported[i].Cause))))
		}
		p.why(&supported[i])
		p.fix(&supported[i])
		if len(supported) > 1 {
			p.blank()
		}
	}
	if len(supported) > 0 {
		p.ruledOut(ruledOut, 8)
		p.notSeen(open, d.NotSeen)
	}
	p.blank()
	p.warnings(d.Warnings)
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

// header says what was looked at, and when.
func (p *page) header(d *diagnose.Diagnosis) {
	when := p.clean(sentence.Window(d.Window))
	for i, t := range d.Targets {
		name, about := sentence.Target(t)
		name = p.clean(name)
		indent := width(name) + 2
		if indent > p.Width/2 {
			p.line(p.paint(bold, name))
			p.block("", "", 2, p.flow(about, 2))
			continue
		}
		lines := p.flow(about, indent)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if gap := p.Width - indent - width(lines[0]) - width(when); i == 0 && when != "" && gap >= 2 {
			lines[0] += strings.Repeat(" ", gap) + when
			when = ""
		}
		p.block(name, bold, indent, lines)
	}
	if when != "" {
		p.line(when)
	}
	if len(d.Sources) == 0 {
		return
	}
	var read []string
	for _, s := range sentence.Sources(d.Sources) {
		read = append(read, s.Name+" ("+s.How+")")
	}
	p.block("from", dim, 5, p.flow(read, 5))
}

// headlines says which causes hold and what they cost.
func (p *page) headlines(d *diagnose.Diagnosis, supported []diagnose.Verdict) {
	indent := 0
	for _, v := range supported {
		indent = max(indent, width(v.Cause)+3)
	}
	beside := indent <= 30
	if !beside {
		indent = 4
	}
	savings := 0
	for _, v := range supported {
		lines := p.wrap(v.Title, indent)
		if v.Subject != "" && sentence.Several(d) {
			lines = append(lines, p.wrap("In "+v.Subject+".", indent)...)
		}
		if cost := sentence.Cost(d, &v); cost != "" {
			savings++
			lines = append(lines, p.wrap(cost, indent)...)
		} else if v.Summary != "" {
			lines = append(lines, p.wrap(v.Summary, indent)...)
		}
		if beside {
			p.block(p.clean(v.Cause), alarm, indent, lines)
		} else {
			p.line(p.paint(alarm, p.clean(v.Cause)))
			p.block("", "", indent, lines)
		}
	}
	if savings > 1 {
		p.block("", "", indent, p.wrap("Causes overlap: their savings do not add up.", indent))
	}
}

// nothing says that no cause holds, and how much that is worth.
func (p *page) nothing(d *diagnose.Diagnosis, open, ruledOut []diagnose.Verdict) {
	label, s := sentence.None(d), calm
	if !sentence.Healthy(d) {
		s = bold
	}
	indent := width(label) + 3
	p.block(label, s, indent, p.wrap(sentence.Nothing(d, open, ruledOut), indent))
}

// labels is the width of the column of labels.
const labels = 11

// requests says what the figures are about and what counts as slow.
func (p *page) requests(d *diagnose.Diagnosis) {
	const indent = labels
	r := d.Requests
	if r == nil {
		p.block("REQUESTS", bold, indent, p.wrap(sentence.NoRequests(d)+":", indent))
		p.line(strings.Repeat(" ", indent) + sentence.AddRequests(d))
		return
	}
	p.block("REQUESTS", bold, indent, p.flow(sentence.Requests(r), indent))
	p.block("SLOW", bold, indent, p.flow(sentence.Slow(r), indent))
}

// loads says what load generators saw from outside.
func (p *page) loads(d *diagnose.Diagnosis) {
	for _, l := range sentence.Loads(d) {
		p.block("LOAD", bold, labels, p.flow(sentence.Load(l), labels))
	}
}
