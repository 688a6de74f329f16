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
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Report renders a diagnosis.
func (o Options) Report(w io.Writer, d *diagnose.Diagnosis) error {
	if o.Width == 0 {
		o.Width = 80
	}
	_, err := io.WriteString(w, o.fitted(func(p *page) { p.report(d) }))
	return err
}

func (p *page) report(d *diagnose.Diagnosis) {
	supported, open, ruledOut := sentence.Split(d)
	supported = sentence.Once(supported)
	p.header(d)
	p.blank()
	if len(supported) > 0 {
		p.headlines(d, supported)
	} else {
		p.nothing(d, open, ruledOut)
	}
	for i := range supported {
		p.fix(&supported[i], numbered("FIX", i, len(supported)), i == 0)
	}
	p.blank()
	p.requests(d)
	p.loads(d)
	p.routes(d)
	if len(supported) == 0 {
		p.ruledOut(ruledOut)
		p.notSeen(open, d.NotSeen)
	}
	p.apart()
	p.where(d)
	p.through(d.Through)
	p.apart()
	for i := range supported {
		p.why(&supported[i], numbered("WHY", i, len(supported)), i == 0)
	}
	p.apart()
	for _, t := range d.Threads() {
		about := ""
		if len(d.Threads()) > 1 {
			about = t.Subject
		}
		if p.at.threads > 0 {
			p.threads(t.Summary, about, p.at.threads)
			p.blank()
		}
	}
	if len(supported) > 0 {
		p.ruledOut(ruledOut)
		p.notSeen(open, d.NotSeen)
	}
	p.apart()
	p.warnings(d.Warnings)
	if d.Dashboard != "" {
		p.blank()
		p.line(p.paint(bold, pad("GRAFANA", labels)) + p.clean(d.Dashboard)) // whole, so that it can be followed
	}
	p.apart()
	p.block("MORE", bold, labels, p.flow(sentence.More(d), labels))
}

// apart sets what follows off, where there is room.
func (p *page) apart() {
	if !p.at.tight {
		p.blank()
	}
}

// header says what was looked at, and when.
func (p *page) header(d *diagnose.Diagnosis) {
	when := p.clean(sentence.Window(d.Window))
	for i, t := range d.Targets {
		if t.Kind == "host" && i > 0 && !p.Verbose && sameCPUs(t, d.Targets[:i]) {
			continue // it says nothing that its processes do not
		}
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
	sources := sentence.Sources(d.Sources)
	for i, s := range sources {
		number, label := "", ""
		if len(sources) > 1 {
			number = strconv.Itoa(i + 1)
			label = "[" + number + "] "
		}
		read = append(read, label+s.Name+" ("+s.How+")")
		for _, name := range s.Names {
			p.sources = append(p.sources, source{name, number})
		}
	}
	if !p.Verbose {
		for i := range read {
			read[i] = p.short(read[i])
		}
	}
	lines := p.flow(read, 5)
	if more := len(lines) - p.at.sources; more > 0 {
		n := len(read)
		for n > 1 && len(p.flow(read[:n], 5)) > p.at.sources {
			n--
		}
		lines = p.flow(append(read[:n:n], "and "+units.Count(len(read)-n)+" more"), 5)
	}
	p.block("from", dim, 5, lines)
}

// sameCPUs says whether all that is known of a host is how many CPUs it has, which its processes say.
func sameCPUs(host diagnose.Target, targets []diagnose.Target) bool {
	return host.CPUs != nil && host.Version == "" && host.Container == "" && host.MemLimit == nil &&
		!slices.ContainsFunc(targets, func(t diagnose.Target) bool { return t.CPUs == nil || *t.CPUs != *host.CPUs })
}

// numbered is a label for one of several causes: "FIX 2".
func numbered(label string, i, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s %d", label, i+1)
	}
	return label
}

// headlines says what is wrong in a sentence, and which causes hold and what they cost.
func (p *page) headlines(d *diagnose.Diagnosis, supported []diagnose.Verdict) {
	state := strings.ToUpper(sentence.State(d))
	p.block(state, alarm, width(state)+2, p.wrap(sentence.Answer(d, &supported[0]), width(state)+2))
	indent := 0
	for i, v := range supported {
		indent = max(indent, width(numbered(p.clean(v.Cause), i, len(supported)))+2)
	}
	beside := indent <= 32
	if !beside {
		indent = 4
	}
	savings := 0
	for i, v := range supported {
		cost := sentence.Cost(d, &v)
		if cost != "" {
			savings++
		}
		var says []string
		switch {
		case i > 0:
			says = append(says, v.Title)
		default:
			cost = sentence.Amount(d, &v) // its title and share were said
		}
		if v.Subject != "" && sentence.Several(d) {
			says = append(says, "In "+v.Subject+".")
		}
		if share, _ := sentence.Share(d, &v); i > 0 && p.at.short {
			cost = ""
			if share != "" {
				says[0] = share + " of the slow time: " + says[0]
			}
		} else if cost == "" {
			cost = v.Summary
		}
		var lines []string
		for _, s := range append(says, cost) {
			lines = append(lines, p.wrap(s, indent)...)
		}
		if len(lines) == 0 {
			lines = []string{""}
		}
		label := p.clean(v.Cause)
		if len(supported) > 1 {
			label = fmt.Sprintf("%d %s", i+1, label)
		}
		if beside {
			p.block(label, alarm, indent, lines)
		} else {
			p.line(p.paint(alarm, label))
			p.block("", "", indent, lines)
		}
	}
	if savings > 1 {
		p.block("", "", indent, p.wrap("Causes overlap, so their shares do not add up.", indent))
	}
}

// nothing says that no cause holds, and how much that is worth.
func (p *page) nothing(d *diagnose.Diagnosis, open, ruledOut []diagnose.Verdict) {
	label, s := strings.ToUpper(sentence.State(d)), calm
	if !sentence.Healthy(d) {
		s = bold
	}
	indent := width(label) + 2
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
		p.worst(d)
		return
	}
	joined := sentence.Joined(r)
	if p.at.shorter && len(joined) > 1 {
		joined = joined[:1]
	}
	p.block("REQUESTS", bold, indent, p.flow(append(sentence.Requests(r), joined...), indent))
	p.block("SLOW", bold, indent, p.flow(sentence.Slow(r), indent))
	if since := sentence.Since(d); since != "" && (sentence.Begins(d) || !p.at.short) { // else it is the window
		p.block("SINCE", bold, indent, p.told(since, indent, p.at.shorter))
	}
	p.worst(d)
}

// worst says what the worst stretches show by themselves.
func (p *page) worst(d *diagnose.Diagnosis) {
	for _, s := range sentence.Stretches(d) {
		p.block("WORST", bold, labels, p.told(s, labels, p.at.shorter))
	}
}

// loads says what load generators saw from outside.
func (p *page) loads(d *diagnose.Diagnosis) {
	for _, l := range sentence.Loads(d) {
		lines := p.flow(sentence.Load(d, l), labels)
		if p.at.shorter {
			lines = lines[:1]
		}
		p.block("LOAD", bold, labels, lines)
	}
}
