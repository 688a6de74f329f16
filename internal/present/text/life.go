package text

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// LifeStates is how many states of a request a screenful of ten lines has room for.
const LifeStates = 5

// leastTold: a state of one part in so many of a request's time is told with whole lines.
const leastTold = 10

// importPath is the path of a Go package before its name: that of a host and what follows.
var importPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b[a-z0-9-]+(?:\.[a-z0-9-]+)+/(?:[\w.~-]+/)*?([\w-]+(?:/v\d+)?\.[\w(])`)
})

// Life renders what one request spent its time on: which request it was, then its states in order,
// then the sums.
func (o Options) Life(w io.Writer, l *timeline.Life) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	p.lifeHead(l)
	starts, times, titles := make([]string, len(l.States)), make([]string, len(l.States)), make([]string, len(l.States))
	var columns [3]int
	for i := range l.States {
		s := &l.States[i]
		starts[i], times[i], titles[i] = "+"+p.cleanText(units.Time(float64(s.At-l.At))), p.cleanText(units.Time(float64(s.Dur))), p.cleanText(stateTitle(l, s))
		columns[0], columns[1], columns[2] = max(columns[0], textWidth(starts[i])), max(columns[1], textWidth(times[i])), max(columns[2], textWidth(titles[i]))
	}
	columns[2] = min(columns[2], p.Width*2/5)
	for i := range l.States {
		lead := "  " + padLeft(starts[i], columns[0]) + "  " + padLeft(times[i], columns[1]) + "  "
		indent := textWidth(lead)
		note := p.cleanText(stateNote(l, &l.States[i]))
		if !p.Verbose {
			note = importPath().ReplaceAllString(note, "$1")
		}
		lines := p.foldText(titles[i], indent)
		switch beside := indent + columns[2] + 2; {
		case note == "":
		case textWidth(titles[i]) <= columns[2] && textWidth(note) <= p.Width-beside:
			lines = []string{padRight(titles[i], columns[2]) + "  " + note}
		case p.Verbose || l.States[i].Dur*leastTold >= l.Latency:
			for _, line := range p.foldText(note, indent+2) {
				lines = append(lines, "  "+line)
			}
		default:
			if lines = p.wrapText(titles[i]+": "+note, indent); len(lines) > 1 { // a short state has one line, in which its title is whole
				lines = []string{p.shortenToLine(titles[i]+": "+note, max(20, p.Width-indent))}
			}
		}
		for n, line := range lines {
			if n > 0 {
				lead = strings.Repeat(" ", indent)
			}
			p.writeLine(lead + line)
		}
	}
	p.lifeSums(l)
	_, err := io.WriteString(w, p.out.String())
	return err
}

// lifeHead writes which request it is, and how it compares with others.
func (p *page) lifeHead(l *timeline.Life) {
	route := l.Route
	if route == "" {
		route = "a request without a known route"
	}
	judged := "not slow"
	if l.Slow {
		judged = "slow"
	}
	if l.Limit > 0 {
		judged += " (slow is above " + units.Time(float64(l.Limit)) + ")"
	}
	items := []string{route + " took " + units.Time(float64(l.Latency)), judged}
	if l.Outcome != "ok" && l.Outcome != "" {
		items = append(items, l.Outcome)
	}
	for i, line := range p.foldLines(p.flowItems(items, 0), 0) {
		if i == 0 {
			line = p.applyStyle(bold, line)
		}
		p.writeLine(line)
	}
	rank := "the slowest"
	if l.Rank > 1 {
		rank = fmt.Sprintf("number %s by time", units.Count(l.Rank))
		if l.First && l.Usual > 0 {
			rank = "the slowest of its route, " + rank
		}
	}
	about := []string{fmt.Sprintf("%s of %s", rank, units.Plural(l.Of, "request"))}
	if l.Usual > 0 {
		about = append(about, "half of its route take at most "+units.Time(float64(l.Usual)))
	}
	if l.Anchored {
		about = append(about, "began "+time.Unix(0, l.At).UTC().Format("15:04:05.000 UTC"))
	}
	about = append(about, l.Process, l.Origin)
	if !l.Followed {
		about = append(about, "its own states were not observed: what is known of its process at that time")
	}
	for _, line := range p.foldLines(p.flowItems(about, 2), 2) {
		p.writeLine("  " + p.applyStyle(dim, line))
	}
}

// lifeSums writes what the time of the request was spent on in all.
func (p *page) lifeSums(l *timeline.Life) {
	var items []string
	for _, c := range l.Charges {
		if part := float64(c.Dur) / float64(max(1, l.Latency)); part >= .005 {
			items = append(items, units.Percent(part)+" "+c.Title)
		}
	}
	lines := p.foldLines(p.flowItems(items, 2), 2)
	if !p.Verbose && len(lines) > 1 {
		lines = lines[:1]
	}
	for _, line := range lines {
		p.writeLine("  " + line)
	}
}

// stateTitle returns what a request did or waited for in a state.
func stateTitle(l *timeline.Life, s *timeline.State) string {
	title := l.Title(s.Mechanism)
	if s.What != "" {
		title += ": " + strings.TrimPrefix(s.What, "futex ")
	}
	if s.Number > 1 {
		title += fmt.Sprintf(" and more, in %d steps", s.Number)
	}
	return title
}

// stateNote returns where a request was in a state, and what held the resource it waited for: two places, so that neither is taken for the
// other's.
func stateNote(l *timeline.Life, s *timeline.State) string {
	var parts []string
	if s.Where != "" {
		parts = append(parts, "in "+s.Where)
	}
	if holder, processors := strings.CutPrefix(s.Holder, "CPUs: "); processors {
		if strings.Contains(holder, "%") || !strings.Contains(l.Title(s.Mechanism), holder) { // the title has it
			parts = append(parts, "CPUs: "+holder)
		}
	} else if call := evidence.NetWait.String(); holder == call && s.Kind == call {
		parts = append(parts, "the call of another request, behind which this one waits")
	} else if strings.ContainsAny(holder, "0123456789") {
		parts = append(parts, "held by "+holder)
	} else if holder != "" { // what it does is known, not which it is
		parts = append(parts, "its holder: "+holder)
	}
	return strings.Join(parts, "; ")
}
