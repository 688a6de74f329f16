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
	_, err := io.WriteString(w, o.renderFitted(func(p *page) { p.writeReport(d) }))
	return err
}

func (p *page) writeReport(d *diagnose.Diagnosis) {
	supported, open, ruledOut := sentence.Split(d)
	supported = sentence.Once(supported)
	p.writeHeader(d)
	p.writeBlank()
	if len(supported) > 0 {
		p.writeHeadlines(d, supported)
	} else {
		p.writeNothing(d, open, ruledOut)
	}
	for i := range supported {
		p.writeFixes(&supported[i], numberLabel("FIX", i, len(supported)), i == 0)
	}
	p.writeBlank()
	p.writeRequests(d)
	p.writeLoads(d)
	p.writeRoutes(d)
	if len(supported) == 0 {
		p.ruledOut(ruledOut)
		p.notSeen(open, d.NotSeen)
	}
	p.writeGap()
	p.writeLedger(d)
	p.writeRequestPath(d.Through)
	p.writeGap()
	for i := range supported {
		p.writeEvidence(&supported[i], numberLabel("WHY", i, len(supported)), i == 0)
	}
	p.writeGap()
	for _, t := range d.Threads() {
		about := ""
		if len(d.Threads()) > 1 {
			about = t.Subject
		}
		if p.at.threads > 0 {
			p.writeThreads(t.Summary, about, p.at.threads)
			p.writeBlank()
		}
	}
	if len(supported) > 0 {
		p.ruledOut(ruledOut)
		p.notSeen(open, d.NotSeen)
	}
	p.writeGap()
	warnings := d.Warnings
	if streams := sentence.Streams(d); streams != "" && d.Outcome == diagnose.NotExplained { // the first lines say it
		warnings = slices.DeleteFunc(slices.Clone(warnings), func(w diagnose.Warning) bool { return w.Text == streams })
	}
	p.writeWarnings(warnings)
	if d.Dashboard != "" {
		p.writeBlank()
		p.writeLine(p.applyStyle(bold, padRight("GRAFANA", labels)) + p.cleanText(d.Dashboard)) // whole, so that it can be followed
	}
	p.writeGap()
	p.writeBlock("MORE", bold, labels, p.flowCommands(sentence.More(d), labels))
}

// writeGap writes an empty line, where there is room.
func (p *page) writeGap() {
	if !p.at.tight {
		p.writeBlank()
	}
}

// writeHeader writes what was looked at, and when.
func (p *page) writeHeader(d *diagnose.Diagnosis) {
	when := p.cleanText(sentence.Window(d.Window))
	for i, t := range d.Targets {
		if t.Kind == "host" && i > 0 && !p.Verbose && (p.at.plain || sameCPUs(t, d.Targets[:i])) {
			continue // it says nothing that its processes do not
		}
		name, about := sentence.Target(t)
		name = p.cleanText(name)
		indent := textWidth(name) + 2
		if indent > p.Width/2 {
			p.writeLine(p.applyStyle(bold, name))
			p.writeBlock("", "", 2, p.flowItems(about, 2))
			continue
		}
		lines := p.flowItems(about, indent)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if gap := p.Width - indent - textWidth(lines[0]) - textWidth(when); i == 0 && when != "" && gap >= 2 {
			lines[0] += strings.Repeat(" ", gap) + when
			when = ""
		}
		p.writeBlock(name, bold, indent, lines)
	}
	if when != "" {
		p.writeLine(when)
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
			read[i] = p.shortenSources(read[i])
		}
	}
	p.writeBlock("from", dim, 5, p.chooseSources(sources, read))
}

// chooseSources returns the lines that name what was read: all of it or, where that is too long, what the report refers to.
func (p *page) chooseSources(sources []sentence.Source, read []string) []string {
	lines := p.flowItems(read, 5)
	if len(lines) <= p.at.sources {
		return lines
	}
	var cited []string
	for i := range sources {
		if number := strconv.Itoa(i + 1); p.cited[number] {
			cited = append(cited, "["+number+"] "+p.shortenSources(sources[i].Name))
		}
	}
	if len(cited) > 0 {
		return p.flowItems(append(cited, "and "+units.Count(len(read)-len(cited))+" more"), 5)
	}
	n := len(read)
	for n > 1 && len(p.flowItems(read[:n], 5)) > p.at.sources {
		n--
	}
	return p.flowItems(append(read[:n:n], "and "+units.Count(len(read)-n)+" more"), 5)
}

// sameCPUs says whether all that is known of a host is its number of CPUs, which its processes
// have, too.
func sameCPUs(host diagnose.Target, targets []diagnose.Target) bool {
	return host.CPUs != nil && host.Version == "" && host.Container == "" && host.MemLimit == nil &&
		!slices.ContainsFunc(targets, func(t diagnose.Target) bool { return t.CPUs == nil || *t.CPUs != *host.CPUs })
}

// numberLabel returns a label with a number if there are several: "FIX 2".
func numberLabel(label string, i, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s %d", label, i+1)
	}
	return label
}

// writeHeadlines writes what is wrong in a sentence, and which causes hold and what they cost.
func (p *page) writeHeadlines(d *diagnose.Diagnosis, supported []diagnose.Verdict) {
	state := strings.ToUpper(sentence.State(d))
	p.writeBlock(state, alarm, textWidth(state)+2, p.wrapText(p.shortenNames(sentence.Answer(d, &supported[0])), textWidth(state)+2))
	indent := 0
	for i, v := range supported {
		indent = max(indent, textWidth(numberLabel(p.cleanText(v.Cause), i, len(supported)))+2)
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
			says = append(says, p.shortenNames(sentence.Title(d, &v)))
		default:
			cost = sentence.Amount(d, &v) // the headline has its title and share
		}
		if v.Subject != "" && sentence.Several(d) {
			says = append(says, "In "+v.Subject+".")
		}
		if share, _ := sentence.Share(d, &v); i > 0 && p.at.short {
			cost = ""
			if share != "" {
				says[0] = p.shortenNames(sentence.Claim(v.Title, share))
			}
		} else if cost == "" {
			cost = v.Summary
		}
		var lines []string
		for _, s := range append(says, cost) {
			if i > 0 && p.at.plain {
				lines = append(lines, p.wrapWithin(s, indent, 2)...)
				continue
			}
			lines = append(lines, p.wrapText(s, indent)...)
		}
		if len(lines) == 0 {
			lines = []string{""}
		}
		label := p.cleanText(v.Cause)
		if len(supported) > 1 {
			label = fmt.Sprintf("%d %s", i+1, label)
		}
		if beside {
			p.writeBlock(label, alarm, indent, lines)
		} else {
			p.writeLine(p.applyStyle(alarm, label))
			p.writeBlock("", "", indent, lines)
		}
	}
	if savings > 1 && !p.at.plain {
		p.writeBlock("", "", indent, p.wrapText("Causes overlap, so their shares do not add up.", indent))
	}
}

// writeNothing writes that no cause was found, and what that rests on.
func (p *page) writeNothing(d *diagnose.Diagnosis, open, ruledOut []diagnose.Verdict) {
	label, s := strings.ToUpper(sentence.State(d)), calm
	if !sentence.Healthy(d) {
		s = bold
	}
	indent := textWidth(label) + 2
	p.writeBlock(label, s, indent, p.wrapText(sentence.Nothing(d, open, ruledOut), indent))
}

// labels is the width of the column of labels.
const labels = 11

// writeRequests writes what the figures are about and what counts as slow.
func (p *page) writeRequests(d *diagnose.Diagnosis) {
	const indent = labels
	r := d.Requests
	if r == nil {
		p.writeBlock("REQUESTS", bold, indent, p.wrapText(sentence.NoRequests(d)+":", indent))
		p.writeLine(strings.Repeat(" ", indent) + sentence.AddRequests(d))
		p.writeWorst(d)
		return
	}
	joined := sentence.Joined(r)
	if p.at.shorter && len(joined) > 1 {
		joined = joined[:1]
	}
	slow := p.flowItems(sentence.Slow(r), indent)
	if p.at.plain {
		joined, slow = nil, slow[:min(len(slow), 2)]
	}
	p.writeBlock("REQUESTS", bold, indent, p.flowItems(append(sentence.Requests(r), joined...), indent))
	p.writeBlock("SLOW", bold, indent, slow)
	if since := sentence.Since(d); since != "" && (sentence.Begins(d) || !p.at.short) { // else it is the window
		p.writeBlock("SINCE", bold, indent, p.wrapText(since, indent))
	}
	p.writeWorst(d)
}

// writeWorst writes a line about each of the worst stretches of time.
func (p *page) writeWorst(d *diagnose.Diagnosis) {
	for _, s := range sentence.Stretches(d) {
		p.writeBlock("WORST", bold, labels, p.wrapText(s, labels))
	}
}

// writeLoads writes what load generators measured.
func (p *page) writeLoads(d *diagnose.Diagnosis) {
	for _, l := range sentence.Loads(d) {
		items := sentence.Load(d, l)
		if p.at.measured {
			if sentence.IsLoadAsRequests(d, l) || p.at.plain && len(d.Routes) > 1 { // REQUESTS has it, or ROUTES
				continue
			}
			items = items[:len(items)-1]
		}
		p.writeBlock("LOAD", bold, labels, p.flowItems(items, labels))
	}
}
